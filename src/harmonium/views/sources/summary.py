"""Column statistics of a view: sums that are added up block by block, and what families make of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from harmonium.kernels.sparse.entries import entries
from harmonium.kernels.sparse.matrix import Matrix


@dataclass(frozen=True)
class Summary:
    """Column statistics of the observed values of a view, from which families take what they need to know.

    Attributes
    ----------
    n_columns : int
        Number of columns of the data.
    n_observed : ndarray of shape (columns,)
        Number of observed values.
    mean, variance, minimum, maximum : ndarray of shape (columns,)
        Statistics of the observed values, zero where there are none.
    is_sparse : bool
        Whether the data are sparse.
    whole : ndarray of bool of shape (columns,)
        Whether all observed values are whole numbers.
    zeros : ndarray of shape (columns,)
        Share of zeros in the observed values, zero where there are none.
    mean_length : float, optional
        Mean number of vectors of items that are sequences. The columns of the other statistics are then counts of
        vectors, followed by counts of neighbouring pairs.
    """

    n_columns: int
    n_observed: np.ndarray
    mean: np.ndarray
    variance: np.ndarray
    minimum: np.ndarray
    maximum: np.ndarray
    is_sparse: bool
    whole: np.ndarray
    zeros: np.ndarray
    mean_length: float | None = None

    @property
    def data(self) -> str:
        """What items are, in the words of `Family.data`."""
        return "matrix" if self.mean_length is None else "sequences"


class _Blocks(Protocol):
    """What is summed up: blocks of values, and the lengths of items that are sequences."""

    @property
    def lengths(self) -> np.ndarray | None: ...

    @property
    def rows(self) -> np.ndarray: ...

    def raw_blocks(self) -> Iterator[tuple[np.ndarray, Matrix]]: ...


class Sums:
    """Sums over the rows of a view, to which blocks are added one after the other, in one pass over the data.

    Parameters
    ----------
    width : int
        Number of columns of the blocks.

    Attributes
    ----------
    n_rows : int
        Number of rows that were added.
    n_missing : int
        Number of their cells that are missing.
    """

    def __init__(self, width: int) -> None:
        self._count, self._total, self._square, self._n_other = (np.zeros(width) for _ in range(4))
        self._low, self._high = np.full(width, np.inf), np.full(width, -np.inf)
        self._whole = np.ones(width, dtype=bool)
        self._shift: np.ndarray | None = None
        self._length: float | None = None
        self.n_rows = self.n_missing = 0

    def add_source(self, source: _Blocks) -> None:
        """Add all rows of a source that have the view."""
        for _, block in source.raw_blocks():
            self.add(block)
        if source.lengths is not None:
            self._length = (self._length or 0.0) + float(source.lengths[source.rows[source.rows >= 0]].sum())

    def add(self, block: Matrix) -> None:
        """Add some rows."""
        cells = entries(block)
        missing = np.isnan(cells.values)
        self.n_rows += cells.shape[0]
        self.n_missing += int(missing.sum())
        # sums about the first block's mean: variances of large values would otherwise cancel
        self._shift = cells.default_shift() if self._shift is None else self._shift
        for sums, more in zip((self._count, self._total, self._square), cells.moments(self._shift), strict=True):
            sums += more
        lowest, highest = cells.extremes()
        self._low, self._high = np.fmin(self._low, lowest), np.fmax(self._high, highest)
        self._n_other += cells.column_sums((cells.values != 0) & ~missing)
        broken = np.floor(cells.values) != cells.values
        if broken.any():  # which NaN is, too
            self._whole &= cells.column_sums(broken & ~missing) == 0

    def summary(self, n_columns: int, is_sparse: bool) -> Summary:
        """Return the statistics of what was added."""
        count = self._count
        safe = np.maximum(count, 1)
        mean = self._total / safe
        variance = np.maximum(self._square / safe - mean**2, 0)
        low, high = np.where(count > 0, self._low, 0), np.where(count > 0, self._high, 0)
        mean = mean + (0 if self._shift is None else self._shift)
        length = None if self._length is None else self._length / max(self.n_rows, 1)
        zeros = (count - self._n_other) / safe
        return Summary(n_columns, count, mean, variance, low, high, is_sparse, self._whole, zeros, length)
