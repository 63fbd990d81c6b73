"""Arrays of anything as arrays of numbers, or one sentence about the first cell that is none."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import numpy as np
import pandas as pd

from harmonium.exceptions import InvalidViewError
from harmonium.views.places import cell_place

_IN_DATES = "pass numbers, such as the days since the first of them"
_IN_TEXT = "encode it first (text: harmonium.features.text, categories: integer codes)"


def dense_numbers(name: str, view: Any) -> np.ndarray:
    """Return an array of real numbers, of any number of dimensions; refuse anything else.

    Masked cells, None and pandas' NA become NaN. Objects have to be numbers; texts are none, even if they spell some.
    """
    if isinstance(view, np.ma.MaskedArray):
        return np.ma.filled(view.astype(np.float64), np.nan)
    try:
        array = np.asarray(view)
    except ValueError:  # rows of different lengths
        raise InvalidViewError(
            f"View {name!r} must be a matrix with as many values in each row; got rows of different lengths; "
            "pass an array, a sparse matrix or a data frame."
        ) from None
    kind = array.dtype.kind
    if kind in "biuf":
        return array.astype(np.float32) if array.dtype == np.float16 else array
    if kind == "c":
        raise InvalidViewError(
            f"View {name!r} must hold real numbers (Complex data not supported); got {array.dtype}; pass real and "
            "imaginary parts as columns."
        )
    return object_numbers(name, array.astype(object))


def object_numbers(
    name: str, array: np.ndarray, columns: list[str] | None = None, index: pd.Index | None = None
) -> np.ndarray:
    """Return an array of objects as numbers in double precision; refuse the first that is none.

    Decimals, fractions and whatever else says what float it is are numbers.
    """
    missing = np.asarray(pd.isna(array)).reshape(array.shape)
    is_number = np.frompyfunc(lambda value: isinstance(value, int | float | np.number | np.bool_), 1, 1)
    for place in np.argwhere(~(missing | np.asarray(is_number(array), dtype=bool))):
        value = array[tuple(place)]
        is_date = isinstance(value, date | timedelta | np.datetime64 | np.timedelta64)
        if hasattr(value, "__float__") and not is_date:
            continue
        where = f"place {place.tolist()}"
        if array.ndim == 2:
            where = cell_place(int(place[0]), int(place[1]), columns, index)
        is_text = isinstance(value, str | bytes)
        raise InvalidViewError(
            f"View {name!r} must hold real numbers; found {str(value)[:40]!r}, a {type(value).__name__}, at {where}; "
            f"{_IN_DATES if is_date else _IN_TEXT}."
        ) from (None if is_date or is_text else TypeError("float() argument must be a string or a real number"))
    return np.where(missing, np.nan, array).astype(np.float64)
