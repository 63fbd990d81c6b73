"""What a model draws, as data of the kind that its view was given as."""

from __future__ import annotations

import numpy as np

from harmonium.families import Family
from harmonium.views.sequences import Sequences


def as_data(
    statistic: np.ndarray, family: Family, size: np.ndarray | None, names: list[str], rng: np.random.Generator
) -> np.ndarray | Sequences:
    """Drawn statistics as an array in float32, or as `Sequences` if that is what the family is about.

    Parameters
    ----------
    statistic : ndarray of shape (rows, features)
    family : Family
        Bound.
    size : ndarray of shape (rows,), optional
        Lengths of sequences.
    names : list of str
        Names of the features.
    rng : numpy.random.Generator
        Decides among the sequences that have the same counts, which are equally probable.
    """
    if family.data == "sequences":
        return Sequences.from_counts(statistic, size, rng, names[: family.n_columns])
    return np.asarray(family.decode_sample(statistic), dtype=np.float32)
