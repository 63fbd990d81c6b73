"""Compressed sparse rows (CSR) as plain arrays for the kernels, and the loops over them."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from harmonium.kernels.runtime.jit import jit

#: index pointers, row indices and values of compressed sparse columns (CSC)
CSCArrays = tuple[np.ndarray, np.ndarray, np.ndarray]
#: results of `validate_csr`: no fault; a column twice in a row; index pointers that do not rise; a column out of bounds
VALID, DUPLICATES, BAD_INDPTR, BAD_INDEX = 0, 1, 2, 3


class SparseRows:
    """Rows of a sparse matrix: row r has the columns ``indices[indptr[r]:indptr[r+1]]``, and ``data`` their values.

    It is a CSR matrix without SciPy's checks, which would cost more than the arithmetic of a batch. It may also be made
    from its columns, as sampling does; each form is computed from the other when it is first needed.
    """

    def __init__(self, indptr: np.ndarray, indices: np.ndarray, data: np.ndarray, n_columns: int) -> None:
        # one type for all, as kernels are jit for each
        self.__dict__["_rows"] = (indptr.astype(np.int64, copy=False), indices, data)
        self.shape = (len(indptr) - 1, n_columns)
        self.dtype = data.dtype
        self.nnz = len(data)

    @classmethod
    def from_columns(cls, indptr: np.ndarray, indices: np.ndarray, data: np.ndarray, n_rows: int) -> SparseRows:
        """Return the matrix with these columns."""
        columns = cls(indptr, indices, data, n_rows)
        result = cls.__new__(cls)
        result.__dict__["T"] = columns
        result.shape = (n_rows, columns.shape[0])
        result.dtype, result.nnz = columns.dtype, columns.nnz
        return result

    @classmethod
    def from_column_blocks(cls, blocks: list[CSCArrays], n_rows: int) -> SparseRows:
        """Return the matrix with these blocks of columns."""
        if len(blocks) == 1:
            return cls.from_columns(*blocks[0], n_rows)
        starts, rows, values = zip(*blocks, strict=True)
        indptr = np.zeros(1 + sum(len(start) - 1 for start in starts), dtype=np.int64)
        column, entry = 1, 0
        for start in starts:
            np.add(start[1:], entry, out=indptr[column : column + len(start) - 1])
            column, entry = column + len(start) - 1, entry + int(start[-1])
        return cls.from_columns(indptr, np.concatenate(rows), np.concatenate(values), n_rows)

    @classmethod
    def from_dense(cls, matrix: np.ndarray) -> SparseRows:
        """Return the non-zeros of a dense matrix."""
        return cls(*_csr_from_dense(matrix), matrix.shape[1])

    def slice_rows(self, first: int, last: int) -> SparseRows:
        """Return the rows from ``first`` to ``last``, which share their memory with these."""
        indptr, indices, data = self._rows
        begin, end = indptr[first], indptr[last]
        return SparseRows(indptr[first : last + 1] - begin, indices[begin:end], data[begin:end], self.shape[1])

    @cached_property
    def _rows(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return _transpose(*self.T._rows, self.shape[0])

    @cached_property
    def T(self) -> SparseRows:
        """Transpose of the matrix, whose rows are the columns of this one."""
        return SparseRows(*_transpose(*self._rows, self.shape[1]), self.shape[0])

    @property
    def indptr(self) -> np.ndarray:
        """Index pointers: where each row begins."""
        return self._rows[0]

    @property
    def indices(self) -> np.ndarray:
        """Column of every stored entry."""
        return self._rows[1]

    @property
    def data(self) -> np.ndarray:
        """Value of every stored entry."""
        return self._rows[2]

    def row_of_entry(self) -> np.ndarray:
        """Return the row number of every stored entry."""
        return np.repeat(np.arange(self.shape[0]), np.diff(self.indptr))

    def row_sums(self, values: np.ndarray | None = None) -> np.ndarray:
        """Return the sum of each row in float64, of the stored values or of others at the same entries."""
        sums = np.zeros(self.shape[0])
        add_row_sums(self.indptr, self.data if values is None else values, 1.0, sums)
        return sums

    def toarray(self) -> np.ndarray:
        """Return a dense copy; meant for batches."""
        result = np.zeros(self.shape, dtype=self.dtype)
        result[self.row_of_entry(), self.indices] = self.data
        return result


@jit()
def add_row_sums(indptr: np.ndarray, values: np.ndarray, sign: float, out: np.ndarray) -> None:
    """Compute out += sign * (sum of the values of each row), summed in float64."""
    for row in range(len(indptr) - 1):
        total = 0.0
        for entry in range(indptr[row], indptr[row + 1]):
            total += values[entry]
        out[row] += sign * total


@jit()
def _csr_from_dense(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    n_rows, n_columns = matrix.shape
    start = np.zeros(n_rows + 1, dtype=np.int64)
    for row in range(n_rows):
        length = 0
        for column in range(n_columns):
            length += matrix[row, column] != 0
        start[row + 1] = start[row] + length
    columns = np.empty(start[-1], dtype=np.int32)
    values = np.empty(start[-1], dtype=matrix.dtype)
    place = 0
    for row in range(n_rows):
        for column in range(n_columns):
            if matrix[row, column] != 0:
                columns[place] = column
                values[place] = matrix[row, column]
                place += 1
    return start, columns, values


@jit()
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


@jit()
def validate_csr(indptr: np.ndarray, indices: np.ndarray, n_columns: int) -> int:
    """Return what is wrong with a CSR matrix: `VALID` (nothing), `DUPLICATES`, `BAD_INDPTR` or `BAD_INDEX`."""
    last_row = np.full(n_columns, -1, dtype=np.int64)
    result = VALID
    if indptr[0] != 0:
        return BAD_INDPTR
    for row in range(len(indptr) - 1):
        first, last = indptr[row], indptr[row + 1]
        if first > last or last > len(indices):
            return BAD_INDPTR
        for entry in range(first, last):
            column = indices[entry]
            if column < 0 or column >= n_columns:
                return BAD_INDEX
            if last_row[column] == row:
                result = DUPLICATES
            last_row[column] = row
    return result


@jit()
def eliminate_zeros(
    indptr: np.ndarray, columns: np.ndarray, values: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Remove the zero entries from a CSR matrix."""
    start = np.zeros_like(indptr)
    kept_columns = np.empty_like(columns)
    kept_values = np.empty_like(values)
    kept = 0
    for row in range(len(indptr) - 1):
        for entry in range(indptr[row], indptr[row + 1]):
            if values[entry] != 0:
                kept_columns[kept] = columns[entry]
                kept_values[kept] = values[entry]
                kept += 1
        start[row + 1] = kept
    return start, kept_columns[:kept], kept_values[:kept]


@jit()
def csc_from_coo(
    features: np.ndarray, rows: np.ndarray, values: np.ndarray, n_features: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the CSC arrays of entries given in any order, without those that are zero."""
    start = np.zeros(n_features + 1, dtype=np.int64)
    for entry in range(len(values)):
        start[features[entry] + 1] += values[entry] != 0
    for feature in range(n_features):
        start[feature + 1] += start[feature]
    place = start[:-1].copy()
    kept_rows = np.empty(start[-1], dtype=np.int32)
    kept_values = np.empty(start[-1], dtype=values.dtype)
    for entry in range(len(values)):
        if values[entry] != 0:
            target = place[features[entry]]
            place[features[entry]] += 1
            kept_rows[target] = rows[entry]
            kept_values[target] = values[entry]
    return start, kept_rows, kept_values


@jit()
def gather_rows(
    indptr: np.ndarray, indices: np.ndarray, data: np.ndarray, rows: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Copy the given rows of a CSR matrix, with values in float32; row -1 means an empty row."""
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


@jit(fastmath=True)
def add_rows_times_dense(
    indptr: np.ndarray, indices: np.ndarray, data: np.ndarray, dense: np.ndarray, out: np.ndarray, first: int, last: int
) -> None:
    """Compute out[first:last] += (sparse rows) @ dense."""
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


@jit()
def add_gradient_rows(
    indptr: np.ndarray,
    indices: np.ndarray,
    data: np.ndarray,
    dense: np.ndarray,
    sign: float,
    out: np.ndarray,
    sums: np.ndarray,
    active_rows: np.ndarray,
    first: int,
    last: int,
) -> None:
    """Do `add_rows_times_dense` and, with a sign, `add_row_sums`, and mark rows that are not empty as active."""
    for row in range(first, last):
        if indptr[row + 1] > indptr[row]:
            total = 0.0
            for entry in range(indptr[row], indptr[row + 1]):
                total += data[entry]
            sums[row] += sign * total
            active_rows[row] = True
            add_rows_times_dense(indptr, indices, data, dense, out, row, row + 1)


@jit(fastmath=True)
def add_columns_times_dense(
    indptr: np.ndarray, indices: np.ndarray, data: np.ndarray, dense: np.ndarray, out: np.ndarray
) -> None:
    """Compute out += X @ dense for a CSC matrix X; ``indices`` are rows of ``out``."""
    n_units = dense.shape[1]
    for column in range(len(indptr) - 1):
        for entry in range(indptr[column], indptr[column + 1]):
            value = data[entry]
            row = indices[entry]
            for k in range(n_units):
                out[row, k] += value * dense[column, k]


@jit(fastmath=True)
def dot_at_entries(
    indptr: np.ndarray, indices: np.ndarray, left: np.ndarray, right: np.ndarray, bias: np.ndarray, out: np.ndarray
) -> None:
    """Compute out = bias + left @ right^T at the entries of a CSR matrix."""
    for row in range(len(indptr) - 1):
        for entry in range(indptr[row], indptr[row + 1]):
            column = indices[entry]
            total = left[row, 0] * right[column, 0]
            for k in range(1, left.shape[1]):
                total += left[row, k] * right[column, k]
            out[entry] = total + bias[column]
