"""Dask collections in, dask arrays out: what a fitted model says of each chunk, computed when it is asked for."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import numpy as np

from harmonium.core.validation import check_fitted
from harmonium.exceptions import HarmoniumWarning
from harmonium.training import FittedModel
from harmonium.views import Shards, Views
from harmonium.views.container import absent_source
from harmonium.views.shards import as_shards


def map_blocks(estimator: Any, method: str, X: Any, *before: Any, **options: Any) -> Any:
    """Return the answer of a method about dask collections as a dask array; None if X is something else.

    Parameters
    ----------
    estimator : estimator
        A fitted estimator.
    method : str
        Name of the method.
    X : object
        What it was asked about.
    *before : object
        Arguments that come before X.
    **options : object
        Other arguments.

    Returns
    -------
    dask.array.Array or None
        A chunk for each chunk of X.
    """
    if isinstance(X, Shards):  # which are answered at once, as all of them are read anyway
        return None
    shards = as_shards(X)
    if shards is None:
        return None
    check_fitted(estimator)
    asked = partial(getattr(estimator, method), *before, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HarmoniumWarning)  # the row lacks every view, as it should
        like = asked(_unknown_row(estimator.fitted_, before))
    if not isinstance(like, np.ndarray):
        raise TypeError(
            f"{method} of dask collections returns one array; got {type(like).__name__}, several of them; pass one "
            "chunk after the other, or Shards.from_dask."
        )
    return shards.map_blocks(asked, like)


def _unknown_row(model: FittedModel, before: tuple[Any, ...]) -> Views:
    """Return one row that lacks every view, by which it is known what answers look like."""
    names = [name for name in model.input_names if name not in before] or model.input_names
    return Views._from_sources({name: absent_source(1, model.families[name]) for name in names}, model.table)
