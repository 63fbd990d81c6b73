"""Sparse input as compressed rows that can be trusted: kernels read memory where the indices point to."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np
import scipy.sparse

from harmonium.exceptions import InvalidViewError
from harmonium.kernels.sparse import BROKEN_ROWS, DUPLICATES, OUTSIDE, examine

# types that SciPy or the kernels do not know, and what holds all or nearly all of their values
_WIDENED = {np.dtype(np.float16): np.float32, np.dtype(np.longdouble): np.float64}


def compressed_rows(what: str, view: Any) -> scipy.sparse.csr_array:
    """Return a sparse matrix as compressed rows without duplicates; the user's matrix stays as it is.

    The order of a row's entries is left as it is: it does not matter, and sorting would take longer than encoding. A
    matrix whose indices do not fit its shape is refused, in the words of ``what`` it is.
    """
    check_real(what, view.dtype)
    check_before_conversion(what, view)
    try:
        matrix = scipy.sparse.csr_array(view.astype(_WIDENED.get(view.dtype, view.dtype), copy=False))
    except ValueError as error:
        _refuse(what, str(error))
    if _examined(what, "row", "column", matrix, matrix.shape) == DUPLICATES:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    return matrix


def check_real(what: str, dtype: np.dtype) -> None:
    """Refuse anything but real numbers."""
    if dtype.kind not in "biuf":
        raise InvalidViewError(
            f"{what} must hold real numbers; got dtype {dtype}; encode it first (text: harmonium.features.text, "
            "categories: integer codes)."
        )


def check_before_conversion(what: str, view: Any) -> None:
    """Refuse a matrix in another format than compressed rows, which SciPy would read without looking to convert it."""
    if view.ndim != 2 or view.format not in ("csc", "bsr", "coo"):
        return
    rows, columns = view.shape
    if view.format == "coo":
        for label, places, size in zip(("row", "column"), view.coords, view.shape, strict=True):
            if len(places) and not (places.min() >= 0 and places.max() < size):
                _refuse(what, f"an entry lies in {label} {_first_outside(places, size)} of {size}")
    elif view.format == "csc":
        _examined(what, "column", "row", view, (columns, rows))
    else:
        height, width = view.blocksize
        _examined(what, "block row", "block column", view, (rows // height, columns // width))


def _examined(what: str, major: str, minor: str, matrix: Any, shape: tuple[int, int]) -> int:
    """Return what is known of a compressed matrix after one pass over its indices; refuse it if they do not fit."""
    indptr, indices, (length, width) = matrix.indptr, matrix.indices, shape
    if indptr.dtype.kind not in "iu" or indices.dtype.kind not in "iu":
        _refuse(what, f"its indices are {indices.dtype} and its index pointers {indptr.dtype}")
    if len(indptr) != length + 1 or len(indices) != len(matrix.data):
        _refuse(
            what,
            f"there are {len(indptr)} index pointers for {length} {major}s, and {len(indices)} indices for "
            f"{len(matrix.data)} values",
        )
    found = examine(indptr, indices, width)
    if found == BROKEN_ROWS:
        _refuse(what, f"its index pointers do not rise from 0 to at most {len(indices)}, the number of entries")
    if found == OUTSIDE:
        _refuse(what, f"an entry lies in {minor} {_first_outside(indices[: indptr[-1]], width)} of {width}")
    return int(found)


def _first_outside(places: np.ndarray, size: int) -> int:
    return int(places[(places < 0) | (places >= size)][0])


def _refuse(what: str, reason: str) -> NoReturn:
    raise InvalidViewError(
        f"{what} must be a sparse matrix whose indices fit its shape; {reason}; build it again from rows, columns and "
        "values."
    )
