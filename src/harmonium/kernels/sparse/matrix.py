"""Matrices that are dense arrays or sparse rows: what can be asked of either without knowing which it is."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse

from harmonium.kernels.sparse.csr import SparseRows, gather_rows

#: statistics of some rows
Matrix = np.ndarray | SparseRows
#: numbers of some rows, and the values to add to them
RowAdditions = tuple[np.ndarray, np.ndarray]


def is_sparse(matrix: Matrix) -> bool:
    """Return whether the matrix stores only some of its cells."""
    return isinstance(matrix, SparseRows)


def to_dense(matrix: Matrix) -> np.ndarray:
    """Return all cells as an array, which may be the matrix itself."""
    return matrix.toarray() if isinstance(matrix, SparseRows) else matrix


def to_scipy(matrix: Matrix) -> np.ndarray | scipy.sparse.csr_array:
    """Return sparse rows as SciPy's `csr_array`, which shares their memory, and dense ones as they are."""
    if not isinstance(matrix, SparseRows):
        return matrix
    return scipy.sparse.csr_array((matrix.data, matrix.indices, matrix.indptr), shape=matrix.shape)


def dense_row(matrix: Matrix, row: int) -> np.ndarray:
    """Return the cells of one row, in float64."""
    if not isinstance(matrix, SparseRows):
        return matrix[row].astype(np.float64)
    values = np.zeros(matrix.shape[1])
    part = slice(matrix.indptr[row], matrix.indptr[row + 1])
    values[matrix.indices[part]] = matrix.data[part]
    return values


def take_rows(matrix: Matrix, rows: np.ndarray) -> Matrix:
    """Return some of the rows, in the order given."""
    if isinstance(matrix, SparseRows):
        return SparseRows(*gather_rows(matrix.indptr, matrix.indices, matrix.data, rows), matrix.shape[1])
    return matrix[rows]


def slice_rows(matrix: Matrix, first: int, last: int) -> Matrix:
    """Return the rows from ``first`` to ``last``, which share their memory with the matrix."""
    return matrix.slice_rows(first, last) if isinstance(matrix, SparseRows) else matrix[first:last]


def vstack(parts: Sequence[Matrix]) -> Matrix:
    """Stack matrices vertically: sparse if all of them are."""
    rows = [part for part in parts if isinstance(part, SparseRows)]
    if len(rows) < len(parts):
        return np.concatenate([to_dense(part) for part in parts])
    offsets = np.cumsum([0, *(part.nnz for part in rows)])
    indptr = np.concatenate([[0], *(part.indptr[1:] + offset for part, offset in zip(rows, offsets, strict=False))])
    indices, values = (np.concatenate([getattr(part, name) for part in rows]) for name in ("indices", "data"))
    return SparseRows(indptr, indices, values, rows[0].shape[1])


def add_to_rows(
    matrix: Matrix, rows: np.ndarray, values: np.ndarray, empty: np.ndarray
) -> tuple[Matrix, RowAdditions | None]:
    """Return a copy with values added to some rows; a sparse matrix is returned as it is, with what is to be added.

    ``empty`` says for each of ``rows`` whether nothing of it is stored; other rows of a sparse matrix get nothing.
    """
    if isinstance(matrix, SparseRows):
        return matrix, (rows[empty], values[empty])
    result = matrix.copy()
    result[rows] += values
    return result, None


def binarize(matrix: Matrix) -> Matrix:
    """Return 1 where a cell is above zero, and 0 elsewhere."""
    if isinstance(matrix, SparseRows):
        return SparseRows(matrix.indptr, matrix.indices, (matrix.data > 0).astype(matrix.dtype), matrix.shape[1])
    return (matrix > 0).astype(matrix.dtype)


def upcast_dense(matrix: Matrix) -> Matrix:
    """Return dense cells in double precision; sparse entries, which products take one by one, stay as they are."""
    return matrix if isinstance(matrix, SparseRows) else matrix.astype(np.float64)


def component_arrays(matrix: Matrix) -> list[np.ndarray]:
    """Return the arrays that hold the matrix: index pointers, indices and values if it is sparse."""
    return [matrix.indptr, matrix.indices, matrix.data] if isinstance(matrix, SparseRows) else [matrix]
