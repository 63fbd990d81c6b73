"""Validation of sparse input as CSR: kernels read memory where the indices point to, without checks."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np
import scipy.sparse

from harmonium.exceptions import InvalidViewError
from harmonium.kernels.sparse.csr import BAD_INDEX, BAD_INDPTR, DUPLICATES, validate_csr

# types that SciPy or the kernels do not know, and the type that holds all or nearly all of their values
_UPCAST = {np.dtype(np.float16): np.float32, np.dtype(np.longdouble): np.float64}


def checked_csr(what: str, view: Any) -> scipy.sparse.csr_array:
    """Return a sparse matrix as CSR without duplicates; the user's matrix stays as it is.

    The order of a row's entries is left as it is: it does not matter, and sorting would take longer than encoding. The
    refusal of a matrix whose indices do not fit its shape calls it ``what``.
    """
    check_real_dtype(what, view.dtype)
    check_sparse_indices(what, view)
    try:
        matrix = scipy.sparse.csr_array(view.astype(_UPCAST.get(view.dtype, view.dtype), copy=False))
    except ValueError as error:
        _refuse(what, str(error))
    if _validated(what, "row", "column", matrix, matrix.shape) == DUPLICATES:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    return matrix


def check_real_dtype(what: str, dtype: np.dtype) -> None:
    """Refuse anything but real numbers."""
    if dtype.kind not in "biuf":
        raise InvalidViewError(
            f"{what} must hold real numbers; got dtype {dtype}; encode it first (text: harmonium.features.text, "
            "categories: integer codes)."
        )


def check_sparse_indices(what: str, view: Any) -> None:
    """Refuse bad indices of a CSC, BSR or COO matrix, which SciPy would convert to CSR without checking them."""
    if view.ndim != 2 or view.format not in ("csc", "bsr", "coo"):
        return
    rows, columns = view.shape
    if view.format == "coo":
        for label, indices, size in zip(("row", "column"), view.coords, view.shape, strict=True):
            if len(indices) and not (indices.min() >= 0 and indices.max() < size):
                _refuse(what, f"an entry lies in {label} {_first_out_of_bounds(indices, size)} of {size}")
    elif view.format == "csc":
        _validated(what, "column", "row", view, (columns, rows))
    else:
        height, width = view.blocksize
        _validated(what, "block row", "block column", view, (rows // height, columns // width))


def _validated(what: str, major: str, minor: str, matrix: Any, shape: tuple[int, int]) -> int:
    """Return `VALID` or `DUPLICATES`, by one pass over the indices of a compressed matrix; refuse bad indices."""
    indptr, indices, (length, width) = matrix.indptr, matrix.indices, shape
    if indptr.dtype.kind not in "iu" or indices.dtype.kind not in "iu":
        _refuse(what, f"its indices are {indices.dtype} and its index pointers {indptr.dtype}")
    if len(indptr) != length + 1 or len(indices) != len(matrix.data):
        _refuse(
            what,
            f"there are {len(indptr)} index pointers for {length} {major}s, and {len(indices)} indices for "
            f"{len(matrix.data)} values",
        )
    result = validate_csr(indptr, indices, width)
    if result == BAD_INDPTR:
        _refuse(what, f"its index pointers do not rise from 0 to at most {len(indices)}, the number of entries")
    if result == BAD_INDEX:
        _refuse(what, f"an entry lies in {minor} {_first_out_of_bounds(indices[: indptr[-1]], width)} of {width}")
    return int(result)


def _first_out_of_bounds(indices: np.ndarray, size: int) -> int:
    return int(indices[(indices < 0) | (indices >= size)][0])


def _refuse(what: str, reason: str) -> NoReturn:
    raise InvalidViewError(
        f"{what} must be a sparse matrix whose indices fit its shape; {reason}; build it again from rows, columns and "
        "values."
    )
