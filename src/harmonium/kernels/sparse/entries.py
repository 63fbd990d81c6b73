"""Stored entries of a dense or sparse matrix, and sums of terms computed from them.

Code that goes over the cells of a `Matrix` asks for its `entries`. Their ``values`` are the whole array if it is dense
and the stored values if it is sparse, and ``columns`` are None or the columns of these values: what families take.
Cells that are not stored are zero, and observed unless their whole row is missing.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from harmonium.kernels.sparse.csr import SparseRows
from harmonium.kernels.sparse.matrix import Matrix
from harmonium.kernels.sparse.products import hidden_times_weights, products_at_entries


class Entries(Protocol):
    """The stored entries of a matrix. Arrays of ``terms`` have one term for each of the ``values``.

    Examples
    --------
    >>> matrix = np.array([[0.0, 2.0], [3.0, 0.0]])
    >>> weights = np.array([10.0, 1.0])
    >>> for cells in (entries(matrix), entries(SparseRows.from_dense(matrix))):
    ...     print(cells.row_sums(cells.values * cells.at(weights)).tolist())
    [2.0, 30.0]
    [2.0, 30.0]
    """

    values: np.ndarray
    columns: np.ndarray | None
    shape: tuple[int, int]

    def at(self, coefficients: np.ndarray) -> np.ndarray:
        """Return coefficients of columns, or of all cells, at each entry (dense: to be broadcast)."""

    def products(self, hidden: np.ndarray, weights: np.ndarray, bias: np.ndarray) -> np.ndarray:
        """Return bias + hidden @ weights^T at each entry."""

    def row_sums(self, terms: np.ndarray) -> np.ndarray:
        """Return the sum of the terms of every row, in float64."""

    def column_sums(self, terms: np.ndarray) -> np.ndarray:
        """Return the sum of the terms of every column."""

    def moments(self, shift: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return number, sum of x - shift and sum of its squares, over the known cells of every column, in float64."""

    def extremes(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the smallest and largest value of every column, in float64; infinite where none is known."""

    def default_shift(self) -> np.ndarray:
        """Return shifts by column that keep `moments` precise: means if dense; zeros if sparse, which stays sparse."""

    def mean_l1_distance(self, centre: np.ndarray, ignored: np.ndarray | None = None) -> float:
        """Return the mean over rows of Σ |x - centre|; ``ignored`` marks cells that do not count."""

    def mean_squared_distance(self, centre: np.ndarray) -> float:
        """Return the mean over rows of ‖x - centre‖²."""

    def first_where(self, mask: np.ndarray) -> tuple[int, int, float]:
        """Return row, column and value of the first entry where the mask is True."""

    def first_implicit_zero(self) -> tuple[int, int, float] | None:
        """Return row, column and value, which is zero, of the first cell that is not stored; None if all are."""


class _DenseEntries(Entries):
    columns = None

    def __init__(self, matrix: np.ndarray) -> None:
        self.values = matrix
        self.shape = matrix.shape

    def at(self, coefficients: np.ndarray) -> np.ndarray:
        return coefficients

    def products(self, hidden: np.ndarray, weights: np.ndarray, bias: np.ndarray) -> np.ndarray:
        return hidden_times_weights(hidden, weights, bias)

    def row_sums(self, terms: np.ndarray) -> np.ndarray:
        return terms.sum(axis=1, dtype=np.float64)

    def column_sums(self, terms: np.ndarray) -> np.ndarray:
        return terms.sum(axis=0)

    def moments(self, shift: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        seen = ~np.isnan(self.values)
        centred = np.where(seen, self.values.astype(np.float64, copy=False) - shift, 0)
        return seen.sum(axis=0), centred.sum(axis=0), (centred**2).sum(axis=0)

    def extremes(self) -> tuple[np.ndarray, np.ndarray]:
        values = self.values.astype(np.float64, copy=False)
        low = np.fmin.reduce(values, axis=0, initial=np.inf)
        return low, np.fmax.reduce(values, axis=0, initial=-np.inf)

    def default_shift(self) -> np.ndarray:
        values = self.values.astype(np.float64, copy=False)
        seen = ~np.isnan(values)
        return np.where(seen, values, 0).sum(axis=0) / np.maximum(seen.sum(axis=0), 1)

    def mean_l1_distance(self, centre: np.ndarray, ignored: np.ndarray | None = None) -> float:
        distance = np.abs(self.values - centre)
        if ignored is not None:
            distance = np.where(ignored, 0, distance)
        return float(self.row_sums(distance).mean())

    def mean_squared_distance(self, centre: np.ndarray) -> float:
        return float(self.row_sums(np.square(self.values - centre)).mean())

    def first_where(self, mask: np.ndarray) -> tuple[int, int, float]:
        row, column = (int(index) for index in np.argwhere(mask)[0])
        return row, column, float(self.values[row, column])

    def first_implicit_zero(self) -> tuple[int, int, float] | None:
        return None


class _SparseEntries(Entries):
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

    def row_sums(self, terms: np.ndarray) -> np.ndarray:
        return self._matrix.row_sums(terms)

    def column_sums(self, terms: np.ndarray) -> np.ndarray:
        return np.bincount(self.columns, weights=terms, minlength=self.shape[1])

    def moments(self, shift: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        n_rows, n_columns = self.shape
        values = self.values.astype(np.float64)
        total, square = self.column_sums(values), self.column_sums(values**2)
        return np.full(n_columns, n_rows), total - n_rows * shift, square - (2 * total - n_rows * shift) * shift

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

    def default_shift(self) -> np.ndarray:
        return np.zeros(self.shape[1])

    def mean_l1_distance(self, centre: np.ndarray, ignored: np.ndarray | None = None) -> float:
        at = self.at(centre)
        stored = float((np.abs(self.values - at) - np.abs(at)).sum()) / max(1, self.shape[0])
        # ignored cells are whole rows, which have no entries
        counted = 1.0 if ignored is None else 1.0 - float(ignored.all(axis=1).mean())
        return stored + counted * float(np.abs(centre).sum())

    def mean_squared_distance(self, centre: np.ndarray) -> float:
        values = self.values.astype(np.float64)
        stored = float((values**2).sum() - 2 * (values * self.at(centre)).sum()) / max(1, self.shape[0])
        return stored + float((centre.astype(np.float64) ** 2).sum())

    def first_where(self, mask: np.ndarray) -> tuple[int, int, float]:
        entry = int(np.argmax(mask))
        return int(self._matrix.row_of_entry()[entry]), int(self.columns[entry]), float(self.values[entry])

    def first_implicit_zero(self) -> tuple[int, int, float] | None:
        indptr, n_columns = self._matrix.indptr, self.shape[1]
        incomplete = np.flatnonzero(np.diff(indptr) < n_columns)
        if not len(incomplete):
            return None
        row = int(incomplete[0])
        stored = self.columns[indptr[row] : indptr[row + 1]]
        return row, int(np.setdiff1d(np.arange(n_columns), stored)[0]), 0.0


def entries(matrix: Matrix) -> Entries:
    """Return the stored entries of a matrix."""
    return _SparseEntries(matrix) if isinstance(matrix, SparseRows) else _DenseEntries(matrix)
