"""Measures of scikit-learn on targets of which some cells are unknown."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from harmonium.core.validation import few_of, shown

Measure = Callable[..., float]


def ignoring_unknown(measure: Measure | Mapping[Any, Measure]) -> Measure:
    """Return a measure that leaves unknown cells out, column by column.

    Parameters
    ----------
    measure : callable, or mapping of columns to callables
        A measure of (y_true, y_pred), such as ``sklearn.metrics.r2_score``; of several targets of different kinds, one
        for each column of y, by name. Columns that the mapping does not name do not count.

    Returns
    -------
    callable
        A measure of (y_true, y_pred, sample_weight=None). NaN and None of y_true are unknown, and so are cells of
        weight 0; weights of shape (n_rows,) or (n_rows, n_columns) are passed on. Several columns have the mean of
        their values; columns of which nothing is known do not count, and where nothing is known at all it is NaN.

    Examples
    --------
    >>> from sklearn.metrics import accuracy_score, make_scorer, mean_absolute_error
    >>> ignoring_unknown(mean_absolute_error)([1.0, np.nan, 4.0], [1.5, 7.0, 4.0])
    0.25
    >>> truth = pd.DataFrame({"stars": [1.0, None], "place": ["Rome", "Oslo"]})
    >>> predicted = pd.DataFrame({"stars": [2.0, 3.0], "place": ["Rome", "Rome"]})
    >>> ignoring_unknown({"stars": mean_absolute_error, "place": accuracy_score})(truth, predicted)
    0.75
    >>> scorer = make_scorer(ignoring_unknown(mean_absolute_error), greater_is_better=False)  # for cross_validate
    """

    def ignoring(y_true: Any, y_pred: Any, sample_weight: Any = None) -> float:
        truth, predicted = _frame(y_true), _frame(y_pred)
        if truth.shape != predicted.shape:
            raise ValueError(
                f"y_true and y_pred must have the same shape; got {truth.shape} and {predicted.shape}; pass the "
                "prediction of each cell."
            )
        named = measure if isinstance(measure, Mapping) else dict.fromkeys(truth.columns, measure)
        lost = [name for name in named if name not in truth.columns]
        if lost:
            raise ValueError(
                f"Measures must be those of columns of y, {few_of(truth.columns)}; got {shown(lost[0])}; "
                "correct the name."
            )
        weights = None if sample_weight is None else _weights(sample_weight, truth.shape)
        found = []
        for number, name in enumerate(truth.columns):
            if name in named:
                weight = None if weights is None else weights[:, number]
                found.append(_known(named[name], truth.iloc[:, number], predicted.iloc[:, number], weight))
        return float(np.nanmean(found)) if not np.isnan(found).all() else np.nan

    return ignoring


def _known(measure: Measure, truth: pd.Series, predicted: pd.Series, weight: np.ndarray | None) -> float:
    """Return a measure of the known cells of a column; NaN if there are none."""
    known = truth.notna().to_numpy()
    if weight is not None:
        known &= weight > 0
    if not known.any():
        return np.nan
    rows = [_cells(column[known].tolist()) for column in (truth, predicted)]
    return float(measure(*rows) if weight is None else measure(*rows, sample_weight=weight[known]))


def _cells(values: list[Any]) -> np.ndarray:
    """Return an array of values; lists of tags, whose lengths may differ, stay lists."""
    if not any(isinstance(value, list | tuple) for value in values):
        return np.array(values)
    cells = np.empty(len(values), dtype=object)
    cells[:] = values
    return cells


def _frame(y: Any) -> pd.DataFrame:
    """Return targets as a frame whose rows are counted."""
    values = y if isinstance(y, pd.DataFrame | pd.Series) else np.asarray(y)
    return pd.DataFrame(values).reset_index(drop=True)


def _weights(sample_weight: Any, shape: tuple[int, int]) -> np.ndarray:
    """Return a weight for each cell."""
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.shape not in (shape, shape[:1]):
        raise ValueError(
            f"sample_weight must have a number for each row or each cell of y, {shape}; got shape {weights.shape}; "
            "pass one of both."
        )
    return weights if weights.ndim == 2 else np.repeat(weights[:, None], shape[1], axis=1)
