"""Arrays of anything as arrays of numbers, or one sentence about the first cell that is none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from harmonium.exceptions import InvalidViewError

# what to do about cells that are no numbers, by the kind of their NumPy type
_REMEDIES = {
    "M": "pass numbers, such as the days since the first of them",
    "m": "pass numbers, such as seconds",
    "c": "pass real and imaginary parts as columns",
}
_REMEDY = "encode it first (text: harmonium.features.text, categories: integer codes)"


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
    if array.dtype.kind == "O":
        return object_numbers(name, array)
    if array.dtype.kind not in "biuf":
        where = _place(np.zeros(array.ndim, dtype=int)) if array.size else "no cell"
        found = f"{array.flat[0].item()!r} at {where}" if array.size else f"an empty array of {array.dtype}"
        raise InvalidViewError(
            f"View {name!r} must hold real numbers; found {found}; {_REMEDIES.get(array.dtype.kind, _REMEDY)}."
        )
    return array.astype(np.float32) if array.dtype == np.float16 else array


def object_numbers(name: str, array: np.ndarray) -> np.ndarray:
    """Return an array of objects as numbers in double precision; refuse the first that is none."""
    missing = np.asarray(pd.isna(array)).reshape(array.shape)
    is_number = np.frompyfunc(lambda value: isinstance(value, int | float | np.number | np.bool_), 1, 1)
    strange = np.argwhere(~(missing | is_number(array).astype(bool)))
    # Decimal, Fraction and tensors are numbers, too, if they say so
    for place in strange:
        value = array[tuple(place)]
        if isinstance(value, str | bytes) or not hasattr(value, "__float__"):
            raise InvalidViewError(
                f"View {name!r} must hold real numbers; found {str(value)[:40]!r}, of type {type(value).__name__}, at "
                f"{_place(place)}; {_REMEDY}."
            )
    return np.where(missing, np.nan, array).astype(np.float64)


def _place(place: np.ndarray) -> str:
    return ", ".join(f"{axis} {number}" for axis, number in zip(("row", "column", "layer"), place, strict=False))
