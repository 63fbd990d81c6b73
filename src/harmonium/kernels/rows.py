"""One way to look at statistics, dense or sparse: the entries that are stored, and how to total what is made of them.

Code that goes over the cells of a `Matrix` asks for its `entries`. Their ``values`` are the whole array if it is dense
and the stored values if it is sparse, and ``columns`` are None or the columns of these values: what families take.
Cells that are not stored are zero, and observed unless their whole row is missing.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse

from harmonium.kernels.products import Matrix, hidden_times_weights, products_at_entries
from harmonium.kernels.sparse import SparseRows, gather_rows

#: numbers of some rows, and what is to be added to them
Fill = tuple[np.ndarray, np.ndarray]


class Entries:
    """The stored entries of a matrix. Arrays of ``terms`` have one term for each of the ``values``.

    Examples
    --------
    >>> matrix = np.array([[0.0, 2.0], [3.0, 0.0]])
    >>> weights = np.array([10.0, 1.0])
    >>> for cells in (entries(matrix), entries(SparseRows.from_dense(matrix))):
    ...     print(cells.row_totals(cells.values * cells.at(weights)).tolist())
    [2.0, 30.0]
    [2.0, 30.0]
    """

    values: np.ndarray
    columns: np.ndarray | None
    shape: tuple[int, int]

    def at(self, coefficients: np.ndarray) -> np.ndarray:
        """What is given by column, or for every cell, at each entry (dense: to be broadcast)."""
        raise NotImplementedError

    def products(self, hidden: np.ndarray, weights: np.ndarray, bias: np.ndarray) -> np.ndarray:
        """The product bias + hidden @ weights^T at each entry."""
        raise NotImplementedError

    def row_totals(self, terms: np.ndarray) -> np.ndarray:
        """Sum of the terms of every row, in float64."""
        raise NotImplementedError

    def column_totals(self, terms: np.ndarray) -> np.ndarray:
        """Sum of the terms of every column."""
        raise NotImplementedError

    def moments(self, about: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Of all cells of every column that are not NaN: number, sum of x - about and of its square, in float64."""
        raise NotImplementedError

    def extremes(self) -> tuple[np.ndarray, np.ndarray]:
        """Smallest and largest value of every column, in float64; infinite where none is known."""
        raise NotImplementedError

    def level(self) -> np.ndarray:
        """Values by column about which sums of squares are best taken: means; zeros if other cells are not stored."""
        raise NotImplementedError

    def mean_distance(self, centre: np.ndarray, left_out: np.ndarray | None = None) -> float:
        """Mean over rows of Σ |x - centre|; ``left_out`` marks cells that do not count."""
        raise NotImplementedError

    def mean_square_distance(self, centre: np.ndarray) -> float:
        """Mean over rows of ‖x - centre‖²."""
        raise NotImplementedError

    def first(self, marked: np.ndarray) -> tuple[int, int, float]:
        """Row, column and value of the first entry that is marked."""
        raise NotImplementedError

    def first_unstored(self) -> tuple[int, int, float] | None:
        """Row, column and value, which is zero, of the first cell that is not stored; None if all are."""
        raise NotImplementedError


class _DenseEntries(Entries):
    columns = None

    def __init__(self, matrix: np.ndarray) -> None:
        self.values = matrix
        self.shape = matrix.shape

    def at(self, coefficients: np.ndarray) -> np.ndarray:
        return coefficients

    def products(self, hidden: np.ndarray, weights: np.ndarray, bias: np.ndarray) -> np.ndarray:
        return hidden_times_weights(hidden, weights, bias)

    def row_totals(self, terms: np.ndarray) -> np.ndarray:
        return terms.sum(axis=1, dtype=np.float64)

    def column_totals(self, terms: np.ndarray) -> np.ndarray:
        return terms.sum(axis=0)

    def moments(self, about: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        seen = ~np.isnan(self.values)
        centred = np.where(seen, self.values.astype(np.float64, copy=False) - about, 0)
        return seen.sum(axis=0), centred.sum(axis=0), (centred**2).sum(axis=0)

    def extremes(self) -> tuple[np.ndarray, np.ndarray]:
        values = self.values.astype(np.float64, copy=False)
        low = np.fmin.reduce(values, axis=0, initial=np.inf)
        return low, np.fmax.reduce(values, axis=0, initial=-np.inf)

    def level(self) -> np.ndarray:
        values = self.values.astype(np.float64, copy=False)
        seen = ~np.isnan(values)
        return np.where(seen, values, 0).sum(axis=0) / np.maximum(seen.sum(axis=0), 1)

    def mean_distance(self, centre: np.ndarray, left_out: np.ndarray | None = None) -> float:
        distance = np.abs(self.values - centre)
        if left_out is not None:
            distance = np.where(left_out, 0, distance)
        return float(self.row_totals(distance).mean())

    def mean_square_distance(self, centre: np.ndarray) -> float:
        return float(self.row_totals(np.square(self.values - centre)).mean())

    def first(self, marked: np.ndarray) -> tuple[int, int, float]:
        row, column = (int(index) for index in np.argwhere(marked)[0])
        return row, column, float(self.values[row, column])

    def first_unstored(self) -> tuple[int, int, float] | None:
        return None


class _StoredEntries(Entries):
    columns: np.ndarray

    def __init__(self, matrix: SparseRows) -> None:
        self._matrix = matrix
        self.values, self.columns, self.shape = matrix.data, matrix.indices, matrix.shape

    def at(self, coefficients: np.ndarray) -> np.ndarray:
        if coefficients.ndim == 1:
            return coefficients[self.columns]
        return coefficients[self._matrix.row_of_entry(), self.columns]

    def products(self, hidden: np.ndarray, weights: np.ndarray, bias: np.ndarray) -> np.ndarray:
        return products_at_entries(self._matrix, hidden, weights, bias)

    def row_totals(self, terms: np.ndarray) -> np.ndarray:
        return self._matrix.row_totals(terms)

    def column_totals(self, terms: np.ndarray) -> np.ndarray:
        return np.bincount(self.columns, weights=terms, minlength=self.shape[1])

    def moments(self, about: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        n_rows, n_columns = self.shape
        values = self.values.astype(np.float64)
        total, square = self.column_totals(values), self.column_totals(values**2)
        return np.full(n_columns, n_rows), total - n_rows * about, square - (2 * total - n_rows * about) * about

    def extremes(self) -> tuple[np.ndarray, np.ndarray]:
        n_rows, n_columns = self.shape
        low, high = np.full(n_columns, np.inf), np.full(n_columns, -np.inf)
        values = self.values.astype(np.float64, copy=False)
        np.minimum.at(low, self.columns, values)
        np.maximum.at(high, self.columns, values)
        has_zero = np.bincount(self.columns, minlength=n_columns) < n_rows
        low[has_zero] = np.minimum(low[has_zero], 0)
        high[has_zero] = np.maximum(high[has_zero], 0)
        return low, high

    def level(self) -> np.ndarray:
        return np.zeros(self.shape[1])

    def mean_distance(self, centre: np.ndarray, left_out: np.ndarray | None = None) -> float:
        at = self.at(centre)
        stored = float((np.abs(self.values - at) - np.abs(at)).sum()) / max(1, self.shape[0])
        # what is left out are whole rows, which have no entries
        counting = 1.0 if left_out is None else 1.0 - float(left_out.all(axis=1).mean())
        return stored + counting * float(np.abs(centre).sum())

    def mean_square_distance(self, centre: np.ndarray) -> float:
        values = self.values.astype(np.float64)
        stored = float((values**2).sum() - 2 * (values * self.at(centre)).sum()) / max(1, self.shape[0])
        return stored + float((centre.astype(np.float64) ** 2).sum())

    def first(self, marked: np.ndarray) -> tuple[int, int, float]:
        entry = int(np.argmax(marked))
        return int(self._matrix.row_of_entry()[entry]), int(self.columns[entry]), float(self.values[entry])

    def first_unstored(self) -> tuple[int, int, float] | None:
        indptr, n_columns = self._matrix.indptr, self.shape[1]
        incomplete = np.flatnonzero(np.diff(indptr) < n_columns)
        if not len(incomplete):
            return None
        row = int(incomplete[0])
        stored = self.columns[indptr[row] : indptr[row + 1]]
        return row, int(np.setdiff1d(np.arange(n_columns), stored)[0]), 0.0


def entries(matrix: Matrix) -> Entries:
    """The stored entries of a matrix."""
    return _StoredEntries(matrix) if isinstance(matrix, SparseRows) else _DenseEntries(matrix)


def is_sparse(matrix: Matrix) -> bool:
    """Whether cells may go without being stored."""
    return isinstance(matrix, SparseRows)


def dense(matrix: Matrix) -> np.ndarray:
    """All cells as an array, which may be the matrix itself."""
    return matrix.dense() if isinstance(matrix, SparseRows) else matrix


def for_scipy(matrix: Matrix) -> np.ndarray | scipy.sparse.csr_array:
    """The matrix as SciPy knows it: sparse rows in its own class, which shares their memory, dense ones as they are."""
    if not isinstance(matrix, SparseRows):
        return matrix
    return scipy.sparse.csr_array((matrix.data, matrix.indices, matrix.indptr), shape=matrix.shape)


def dense_row(matrix: Matrix, row: int) -> np.ndarray:
    """The cells of one row, in float64."""
    if not isinstance(matrix, SparseRows):
        return matrix[row].astype(np.float64)
    values = np.zeros(matrix.shape[1])
    part = slice(matrix.indptr[row], matrix.indptr[row + 1])
    values[matrix.indices[part]] = matrix.data[part]
    return values


def take_rows(matrix: Matrix, rows: np.ndarray) -> Matrix:
    """Some of the rows, in the order given."""
    if isinstance(matrix, SparseRows):
        return SparseRows(*gather_rows(matrix.indptr, matrix.indices, matrix.data, rows), matrix.shape[1])
    return matrix[rows]


def rows_between(matrix: Matrix, first: int, last: int) -> Matrix:
    """The rows from ``first`` to ``last``, which share their memory with the matrix."""
    return matrix.part(first, last) if isinstance(matrix, SparseRows) else matrix[first:last]


def stacked_rows(parts: Sequence[Matrix]) -> Matrix:
    """Matrices one below the other: sparse if all of them are."""
    rows = [part for part in parts if isinstance(part, SparseRows)]
    if len(rows) < len(parts):
        return np.concatenate([dense(part) for part in parts])
    offsets = np.cumsum([0, *(part.n_stored for part in rows)])
    indptr = np.concatenate([[0], *(part.indptr[1:] + offset for part, offset in zip(rows, offsets, strict=False))])
    indices, values = (np.concatenate([getattr(part, name) for part in rows]) for name in ("indices", "data"))
    return SparseRows(indptr, indices, values, rows[0].shape[1])


def with_rows_added(
    matrix: Matrix, rows: np.ndarray, values: np.ndarray, empty: np.ndarray
) -> tuple[Matrix, Fill | None]:
    """The matrix with values added to some rows; a sparse one stays as it is, and rows that were ``empty`` go with it.

    ``empty`` tells for each of ``rows`` whether nothing of it is stored; a sparse matrix gets nothing for others.
    """
    if isinstance(matrix, SparseRows):
        return matrix, (rows[empty], values[empty])
    result = matrix.copy()
    result[rows] += values
    return result, None


def presence(matrix: Matrix) -> Matrix:
    """1 where a cell is above zero, and 0 elsewhere."""
    if isinstance(matrix, SparseRows):
        return SparseRows(matrix.indptr, matrix.indices, (matrix.data > 0).astype(matrix.dtype), matrix.shape[1])
    return (matrix > 0).astype(matrix.dtype)


def in_double(matrix: Matrix) -> Matrix:
    """Dense cells in double precision; stored entries, which products go through one by one, stay as they are."""
    return matrix if isinstance(matrix, SparseRows) else matrix.astype(np.float64)


def arrays_of(matrix: Matrix) -> list[np.ndarray]:
    """The arrays that hold the matrix, by which it is known again."""
    return [matrix.indptr, matrix.indices, matrix.data] if isinstance(matrix, SparseRows) else [matrix]
