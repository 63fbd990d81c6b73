"""Sparse batches: plain arrays that kernels can walk, and the few fused loops over them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numba import njit


@dataclass(frozen=True)
class SparseRows:
    """Rows of a sparse matrix: row r has columns ``indices[indptr[r]:indptr[r+1]]`` with values ``data[...]``.

    The name of a plain compressed-row matrix without SciPy's checks, which cost more than a batch's arithmetic.
    """

    indptr: np.ndarray
    indices: np.ndarray
    data: np.ndarray
    n_columns: int

    @property
    def shape(self) -> tuple[int, int]:
        """Rows, columns."""
        return len(self.indptr) - 1, self.n_columns

    @property
    def dtype(self) -> np.dtype:
        """Type of the values."""
        return self.data.dtype

    @cached_property
    def by_column(self) -> SparseRows:
        """The transpose: rows of the result are columns of this matrix."""
        indptr, indices, data = _transpose(self.indptr, self.indices, self.data, self.n_columns)
        return SparseRows(indptr, indices, data, self.shape[0])

    @classmethod
    def from_columns(cls, columns: SparseRows) -> SparseRows:
        """The matrix whose transpose is given; the transpose is kept, as gradients ask for it."""
        rows = columns.by_column
        rows.__dict__["by_column"] = columns
        return rows

    def row_of_entry(self) -> np.ndarray:
        """Row number of every stored entry."""
        return np.repeat(np.arange(self.shape[0]), np.diff(self.indptr))

    def row_totals(self, values: np.ndarray | None = None) -> np.ndarray:
        """Sum of the stored values (or of other values at the same places) for each row, in float64."""
        values = self.data if values is None else values
        return np.bincount(self.row_of_entry(), weights=values, minlength=self.shape[0])

    def column_totals(self) -> np.ndarray:
        """Sum of the stored values for each column, in float64."""
        return np.bincount(self.indices, weights=self.data, minlength=self.n_columns)

    def dense(self) -> np.ndarray:
        """Dense copy; meant for batches."""
        result = np.zeros(self.shape, dtype=self.data.dtype)
        # entries may be repeated, in which case they add up
        np.add.at(result, (self.row_of_entry(), self.indices), self.data)
        return result


@njit(nogil=True, cache=True)
def _transpose(
    indptr: np.ndarray, indices: np.ndarray, data: np.ndarray, n_columns: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    start = np.zeros(n_columns + 1, dtype=np.int64)
    for entry in range(indptr[0], indptr[-1]):
        start[indices[entry] + 1] += 1
    for column in range(n_columns):
        start[column + 1] += start[column]
    place = start[:-1].copy()
    rows = np.empty(start[-1], dtype=np.int32)
    values = np.empty(start[-1], dtype=data.dtype)
    for row in range(len(indptr) - 1):
        for entry in range(indptr[row], indptr[row + 1]):
            column = indices[entry]
            rows[place[column]] = row
            values[place[column]] = data[entry]
            place[column] += 1
    return start, rows, values


@njit(nogil=True, cache=True)
def gather_rows(
    indptr: np.ndarray, indices: np.ndarray, data: np.ndarray, rows: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Copy the given rows of a compressed-row matrix, values in float32; row -1 stands for an empty one."""
    start = np.empty(len(rows) + 1, dtype=np.int64)
    start[0] = 0
    for i in range(len(rows)):
        length = indptr[rows[i] + 1] - indptr[rows[i]] if rows[i] >= 0 else 0
        start[i + 1] = start[i] + length
    columns = np.empty(start[-1], dtype=np.int32)
    values = np.empty(start[-1], dtype=np.float32)
    for i in range(len(rows)):
        source = indptr[rows[i]]
        for offset in range(start[i + 1] - start[i]):
            columns[start[i] + offset] = indices[source + offset]
            values[start[i] + offset] = data[source + offset]
    return start, columns, values


@njit(nogil=True, fastmath=True, cache=True)
def add_rows_times_dense(
    indptr: np.ndarray, indices: np.ndarray, data: np.ndarray, dense: np.ndarray, out: np.ndarray, first: int, last: int
) -> None:
    """out[first:last] += (sparse rows) @ dense."""
    n_units = dense.shape[1]
    for row in range(first, last):
        entry = indptr[row]
        stop = indptr[row + 1]
        # four at a time: the row of the result is loaded and stored a quarter as often
        while entry + 4 <= stop:
            a, b, c, d = data[entry], data[entry + 1], data[entry + 2], data[entry + 3]
            i, j, m, n = indices[entry], indices[entry + 1], indices[entry + 2], indices[entry + 3]
            for k in range(n_units):
                out[row, k] += a * dense[i, k] + b * dense[j, k] + c * dense[m, k] + d * dense[n, k]
            entry += 4
        while entry < stop:
            a = data[entry]
            i = indices[entry]
            for k in range(n_units):
                out[row, k] += a * dense[i, k]
            entry += 1
