"""Samples of a model, in the form in which the data of its views were given."""

from __future__ import annotations

import numpy as np

from harmonium.families import Family
from harmonium.views.sequences import Sequences


def as_data(
    statistic: np.ndarray, family: Family, size: np.ndarray | None, names: list[str], rng: np.random.Generator
) -> np.ndarray | Sequences:
    """Return drawn statistics as data.

    Parameters
    ----------
    statistic : ndarray of shape (rows, features)
        Drawn statistics.
    family : Family
        Fitted family of the view.
    size : ndarray of shape (rows,), optional
        Lengths of sequences.
    names : list of str
        Names of the features.
    rng : numpy.random.Generator
        Source of randomness that decides among sequences with the same counts, which are equally probable.

    Returns
    -------
    ndarray of float32, or Sequences
        The data, as `Sequences` if the family describes sequences.
    """
    if family.support.data == "sequences":
        return Sequences.from_counts(statistic, size, rng, names[: family.codec.n_columns])
    return np.asarray(family.codec.decode(statistic), dtype=np.float32)
