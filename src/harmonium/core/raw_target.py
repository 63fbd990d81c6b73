"""The target as users pass it, before its meaning is settled: values, names of columns, and order of categories."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import scipy.sparse
from narwhals.exceptions import DuplicateError
from sklearn.utils.validation import column_or_1d

# squares of numbers that are much larger are infinite in float64, and so would be their spread
_LARGEST = 1e150


@dataclass(frozen=True, eq=False)
class RawTarget:
    """The values of y, with what a frame or Series says of them.

    Attributes
    ----------
    values : ndarray of shape (rows,) or (rows, columns)
        Its values, as objects where no type of NumPy can hold them and what is missing; at least two columns, if any.
    names : tuple of str, optional
        Names of the columns of a data frame, or of the Series.
    order : tuple, optional
        The categories of the only column from the first to the last, if they have an order: those of an ordered pandas
        Categorical or of a polars Enum.
    """

    values: np.ndarray
    names: tuple[str, ...] | None = None
    order: tuple[Any, ...] | None = None


def read_raw_target(y: Any) -> RawTarget:
    """Return the content of a list, an array, or a Series or data frame of any library.

    Parameters
    ----------
    y : array-like of shape (rows,) or (rows, columns)
        Anything; what has no rows, rows of different lengths or more than two dimensions is refused.

    Returns
    -------
    RawTarget
        Values, names and order.

    Examples
    --------
    >>> read_raw_target(pd.DataFrame({"cat": [0, 1], "dog": [1, 1]})).names
    ('cat', 'dog')
    >>> read_raw_target(pd.Categorical(["low", "high"], categories=["low", "high"], ordered=True)).order
    ('low', 'high')
    """
    if y is None:
        raise ValueError(
            "y must be there: this estimator requires y to be passed, but the target y is None; pass one label per row."
        )
    raw = _read(y)
    values = raw.values
    if values.ndim not in (1, 2) or 0 in values.shape[1:]:
        raise ValueError(
            f"y must have one or two dimensions, and at least one column; got shape {values.shape}; pass one label (or "
            "row of labels) per row of X."
        )
    if values.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: y must hold real numbers; got {values.dtype}; convert it first.")
    if values.ndim == 2 and values.shape[1] == 1:
        values = column_or_1d(values, warn=True)
    return RawTarget(values, raw.names, raw.order)


def of_one_kind(seen: np.ndarray, remedy: str) -> np.ndarray:
    """Return labels as whole numbers (possibly stored as floats), texts or booleans; refuse everything else.

    ``remedy`` says what to do about numbers that are not whole.
    """
    if seen.dtype.kind == "O":
        texts = sum(isinstance(value, str) for value in seen)
        seen = seen if 0 < texts < len(seen) else plain(seen)
    if not len(seen):
        return seen
    if seen.ndim != 1 or seen.dtype.kind not in "biufU":
        raise ValueError(
            f"Unknown label type: classes must be whole numbers, texts or booleans, all of one kind; got "
            f"{', '.join(sorted({type(value).__name__ for value in seen.ravel()[:1000]}))}; convert y first."
        )
    if seen.dtype.kind == "f":
        check_finite(seen)
        broken = seen != np.round(seen)
        if broken.any():
            raise ValueError(
                f"Unknown label type: classes must be whole numbers, texts or booleans; got {seen[broken][0]:g}; "
                f"{remedy}."
            )
    return seen


def check_finite(values: np.ndarray) -> None:
    """Refuse numbers that are infinite, or whose squares are."""
    too_large = np.abs(np.asarray(values, dtype=np.float64)) > _LARGEST
    if too_large.any():
        raise ValueError(
            "Input y contains infinity or a value too large for dtype('float64'): labels must be finite, and squares "
            f"of them too; got {values[too_large][0]:g}; put NaN where they are unknown."
        )


def plain(values: np.ndarray) -> np.ndarray:
    """Return objects as an array of numbers or texts, if all are."""
    if values.dtype.kind != "O":
        return values
    try:
        return np.array(values.tolist())
    except ValueError:  # sequences of different lengths
        return values


def _read(y: Any) -> RawTarget:
    """Return the content of anything, whatever its shape."""
    arrow = nw.dependencies.get_pyarrow()
    if arrow is not None and isinstance(y, arrow.Array):
        y = arrow.chunked_array([y])
    if isinstance(y, pd.Index | pd.api.extensions.ExtensionArray):
        y = pd.Series(y)
    try:
        data = nw.from_native(y, eager_only=True, allow_series=True, pass_through=True)
    except DuplicateError:
        raise ValueError("y must have columns of different names; some occur twice; rename them.") from None
    if isinstance(data, nw.Series):
        values, order = _column(data)
        return RawTarget(values, (str(data.name),) if data.name not in (None, "") else None, order)
    if isinstance(data, nw.DataFrame):
        return _frame(data)
    if isinstance(y, np.ma.MaskedArray):
        return RawTarget(np.where(np.ma.getmaskarray(y), np.nan, y.data.astype(object)))
    try:
        values = y.toarray() if scipy.sparse.issparse(y) else np.asarray(y)
        # among texts NumPy makes texts of numbers and of NaN too
        is_changed = values.dtype.kind == "U" and not isinstance(y, np.ndarray)
        return RawTarget(np.asarray(y, dtype=object) if is_changed else values)
    except ValueError:
        raise ValueError(
            "y must have as many labels in every row; got rows of different lengths; pass an indicator matrix or "
            "a Series of lists for several labels at once."
        ) from None


def _frame(frame: nw.DataFrame[Any]) -> RawTarget:
    """Return the content of a data frame."""
    if not frame.columns:
        return RawTarget(np.empty((len(frame), 0)))
    columns, orders = zip(*map(_column, frame.iter_columns()), strict=True)
    if not all(column.dtype.kind in "biuf" for column in columns):
        # side by side, numbers would become texts
        columns = tuple(column.astype(object) for column in columns)
    return RawTarget(np.column_stack(columns), names_of_columns(frame), orders[0] if len(orders) == 1 else None)


def names_of_columns(frame: nw.DataFrame[Any]) -> tuple[str, ...] | None:
    """Return the names of the columns of a data frame; None if pandas has merely numbered them."""
    native = frame.to_native()
    numbered = isinstance(native, pd.DataFrame) and native.columns.equals(pd.RangeIndex(native.shape[1]))
    return None if numbered else tuple(str(name) for name in frame.columns)


def _column(column: nw.Series[Any]) -> tuple[np.ndarray, tuple[Any, ...] | None]:
    """Return the values of a column, and the order of its categories if they have one."""
    dtype = column.dtype
    order = tuple(dtype.categories) if isinstance(dtype, nw.Enum) else None
    has_categories = order is not None or dtype == nw.Categorical
    # NumPy has no missing whole numbers: floats in their place would round large ones; it has none of 128 bits, and
    # takes records for rows of numbers
    is_strange = dtype in (nw.Struct, nw.Int128, nw.UInt128)
    if has_categories or is_strange or ((dtype.is_integer() or dtype == nw.Boolean) and column.null_count()):
        values = np.empty(len(column), dtype=object)
        values[:] = column.to_list()
        return values, order
    native = column.to_native()
    # the fill value of sparse columns would make numbers wider
    sparse = isinstance(getattr(native, "dtype", None), pd.SparseDtype)
    return np.asarray(native, dtype=native.dtype.subtype if sparse else None), order
