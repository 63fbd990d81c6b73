"""Texts, and columns by name, as tables: ``fit(texts)``, ``fit({"text": texts, "price": prices})``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from harmonium.exceptions import InvalidViewError

#: name of the column that bare texts become
TEXT = "text"


def as_table(X: Any) -> pd.DataFrame | None:
    """Return a list, array or series of texts, or a dict of columns with texts among them, as a data frame.

    Parameters
    ----------
    X : object
        What a user passed as X.

    Returns
    -------
    DataFrame or None
        A table, whose only column is called "text" if X is texts alone; None if X is something else. Rows of series go
        by their labels; where a column has none, all go by their order.

    Examples
    --------
    >>> as_table(["red wine", "white wine"]).columns.tolist(), as_table([[1, 2]])
    (['text'], None)
    """
    columns = X if isinstance(X, Mapping) else {TEXT: X}
    if not any(_are_texts(values) for values in columns.values()) or not all(map(_is_column, columns.values())):
        return None
    labels = [values.index for values in columns.values() if isinstance(values, pd.Series)]
    if len(labels) < len(columns):
        lengths = sorted({len(values) for values in columns.values()})
        if len(lengths) > 1 or not all(one.equals(labels[0]) for one in labels):
            found = "other labels" if len(lengths) == 1 else f"{lengths[0]} and {lengths[-1]} rows"
            raise InvalidViewError(f"Columns of X must have the same rows; got {found}; pass values for each row.")
    index = labels[0] if 0 < len(labels) < len(columns) else None
    return pd.DataFrame({str(name): _column(values, index) for name, values in columns.items()})


def _is_column(values: Any) -> bool:
    return isinstance(values, list | tuple) or getattr(values, "ndim", len(getattr(values, "shape", ()))) == 1


def _are_texts(values: Any) -> bool:
    """Tell whether something has one dimension, and its first value that is there is a text."""
    if isinstance(values, str | bytes) or not _is_column(values):
        return False
    return isinstance(next((value for value in values if not _is_missing(value)), None), str)


def _is_missing(value: Any) -> bool:
    return value is None or value is pd.NA or (isinstance(value, float) and np.isnan(value))


def _column(values: Any, index: pd.Index | None) -> pd.Series:
    if isinstance(values, pd.Series):
        return values
    is_typed = isinstance(values, np.ndarray) and values.dtype != object
    return pd.Series(list(values), index=index, dtype=None if is_typed else object)
