"""The split into rows to learn from and rows to hold out, stratified by class."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

# fewer rows than this say nothing about a model
_FEWEST = 20


def split_rows(y: Any, test_size: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of rows to learn from and of rows to hold out.

    Parameters
    ----------
    y : array-like of shape (n_rows,) or (n_rows, n_columns)
        Targets. Rows whose target is unknown are learned from.
    test_size : float
        Share of the rows with a target to hold out; of classes with few rows none may be.
    seed : int
        Seed of the choice.

    Returns
    -------
    train, test : ndarray of int64
        Row numbers in order; none are held out if there would be fewer than 20.

    Examples
    --------
    >>> train, test = split_rows(["a", "b"] * 100, 0.2, seed=0)
    >>> len(train), len(test)
    (160, 40)
    """
    frame = target_frame(y)
    # column by column, as a frame of sparse columns would become one of Python objects
    labelled = np.flatnonzero(np.logical_or.reduce([column.notna().to_numpy() for _, column in frame.items()]))
    rng = np.random.default_rng(seed)
    drawn: list[int] = []
    for rows in _strata(frame, labelled):
        # one of a class is always learned from
        drawn += rng.permutation(rows)[: min(round(test_size * len(rows)), len(rows) - 1)].tolist()
    test = np.sort(np.array(drawn if len(drawn) >= _FEWEST else [], dtype=np.int64))
    return np.setdiff1d(np.arange(len(frame)), test), test


def target_frame(y: Any) -> pd.DataFrame:
    """Return targets as columns; those of frames stay as they are, as Python objects take far more memory."""
    if isinstance(y, pd.DataFrame | pd.Series):
        return pd.DataFrame(y)
    return pd.DataFrame(np.asarray(y, dtype=object).reshape(len(y), -1))


def _strata(frame: pd.DataFrame, labelled: np.ndarray) -> list[np.ndarray]:
    """Return rows of the same class; numbers and labels are one stratum."""
    if frame.shape[1] > 1 or frame.iloc[:, 0].nunique() > max(2, len(labelled) // _FEWEST):
        return [labelled]
    classes = frame.iloc[labelled, 0].astype(str).to_numpy()
    return [labelled[classes == name] for name in np.unique(classes)]
