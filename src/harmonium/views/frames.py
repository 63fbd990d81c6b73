"""Data frames of any library as eager frames of narwhals."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np
import scipy.sparse
from narwhals.exceptions import DuplicateError

from harmonium.core.extras import require
from harmonium.core.notices import notice
from harmonium.exceptions import InvalidViewError


def as_frame(name: str, view: Any) -> nw.DataFrame | None:
    """Return a table of any library as a narwhals frame; None if it is something else.

    Frames of pandas, polars and pyarrow stay what they are. A series becomes a frame of one column. Lazy frames
    (polars, DuckDB, …) are collected, of which a notice tells. Whatever else has the Arrow PyCapsule interface
    (``__arrow_c_stream__``) is read by pyarrow.

    Parameters
    ----------
    name : str
        Name of the view, for messages, and for the column of a series that has no name.
    view : object
        Anything.

    Returns
    -------
    narwhals.DataFrame or None
        The frame, which shares its data with the view where the library allows it.

    Examples
    --------
    >>> import pandas as pd
    >>> as_frame("age", pd.Series([30, 40])).columns
    ['age']
    """
    if isinstance(view, np.ndarray) or scipy.sparse.issparse(view):
        return None  # the common case, which is decided quickly
    try:
        table = nw.from_native(view, allow_series=True, pass_through=True)
    except DuplicateError:
        raise InvalidViewError(
            f"View {name!r} must have columns of different names; some occur twice; rename them."
        ) from None
    if isinstance(table, nw.Series):
        return (table if table.name not in (None, "") else table.rename(name)).to_frame()
    if isinstance(table, nw.LazyFrame):
        notice(
            f"View {name!r} is a lazy frame and is read into memory, as rows are visited many times; collect it "
            "beforehand to do so once."
        )
        return table.collect()
    if isinstance(table, nw.DataFrame):
        return table
    return _from_arrow(name, view) if hasattr(type(view), "__arrow_c_stream__") else None


def is_frame(view: Any) -> bool:
    """Tell whether a view is a table of two dimensions that `as_frame` takes, without reading it."""
    if isinstance(view, np.ndarray) or scipy.sparse.issparse(view):
        return False
    try:
        table = nw.from_native(view, allow_series=True, pass_through=True)
    except DuplicateError:
        return True
    if isinstance(table, nw.Series):
        return False
    return isinstance(table, nw.DataFrame | nw.LazyFrame) or hasattr(type(view), "__arrow_c_stream__")


def _from_arrow(name: str, view: Any) -> nw.DataFrame:
    pyarrow = require("pyarrow", f"View {name!r}, a {type(view).__name__}", "pass a pandas frame")
    try:
        return nw.from_arrow(view, backend=pyarrow)
    except (TypeError, ValueError) as error:
        raise InvalidViewError(
            f"View {name!r} must be a table of Arrow columns; got a {type(view).__name__} that is none ({error}); pass "
            "a data frame."
        ) from None
