"""Texts, and columns by name, as tables: ``fit(texts)``, ``fit({"text": texts, "price": prices})``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

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
        A table, whose only column is called "text" if X is texts alone; None if X is something else.

    Examples
    --------
    >>> as_table(["red wine", "white wine"]).columns.tolist(), as_table([[1, 2]])
    (['text'], None)
    """
    columns = X if isinstance(X, Mapping) else {TEXT: X}
    if not any(_are_texts(values) for values in columns.values()) or not all(map(_is_column, columns.values())):
        return None
    # series bring their labels, by which rows go
    return pd.DataFrame({str(name): _column(values) for name, values in columns.items()})


def _is_column(values: Any) -> bool:
    return isinstance(values, list | tuple) or getattr(values, "ndim", len(getattr(values, "shape", ()))) == 1


def _are_texts(values: Any) -> bool:
    """Tell whether something has one dimension, and its first value that is there is a text."""
    if isinstance(values, str | bytes) or not _is_column(values):
        return False
    return isinstance(next((value for value in values if not _is_missing(value)), None), str)


def _is_missing(value: Any) -> bool:
    return value is None or value is pd.NA or (isinstance(value, float) and np.isnan(value))


def _column(values: Any) -> Any:
    if isinstance(values, pd.Series):
        return values
    return pd.Series(list(values), dtype=None if isinstance(values, np.ndarray) and values.dtype != object else object)
