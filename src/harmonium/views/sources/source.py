"""One view's data as the user gave it, cut into float32 batches on demand: nothing is copied whole."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse

from harmonium.core.batch import ViewBatch
from harmonium.families import Family
from harmonium.kernels.sparse.csr import SparseRows, gather_rows
from harmonium.kernels.sparse.entries import entries
from harmonium.kernels.sparse.matrix import Matrix
from harmonium.views.places import column_place, row_place
from harmonium.views.sources.summary import Summary, Sums

# cells, or entries of sparse rows, that are looked at together in a pass over a view; it decides about memory and speed
# alone
_BLOCK_CELLS, _BLOCK_ENTRIES = 4_000_000, 1_000_000


@dataclass(frozen=True)
class Source:
    """A matrix, and which of its rows belong to the items.

    Attributes
    ----------
    matrix : ndarray or scipy.sparse.csr_array
        The user's array, of any numeric type. In dense arrays NaN marks a missing cell.
    rows : ndarray of int64 of shape (items,)
        Row of ``matrix`` for each item, -1 where the item lacks this view.
    columns : list of str, optional
        Names of the columns.
    features : list of str, optional
        Names of the features, where the family has several for each column and could only number them.
    family : Family, optional
        Family that whoever made the data has in mind; used where the user asks for none.
    lengths : ndarray of int64, optional
        For items that are sequences, the number of vectors that each row of ``matrix`` stands for. Its columns are then
        counts of the vectors that have each feature, followed by counts of neighbouring pairs that do.
    index : pandas.Index, optional
        Labels of the items.
    nonzeros : scipy.sparse.csr_array, optional
        The same as a dense ``matrix`` that is mostly zero, for what is faster with sparse rows.
    linear_only : bool, default=False
        Whether the view is an input of the linear part alone: no hidden unit sees it.
    """

    matrix: Any
    rows: np.ndarray
    columns: list[str] | None = None
    lengths: np.ndarray | None = None
    index: pd.Index | None = None
    features: list[str] | None = None
    family: Family | None = None
    nonzeros: scipy.sparse.csr_array | None = None
    linear_only: bool = False

    @property
    def is_sparse(self) -> bool:
        """Whether the data are sparse."""
        return scipy.sparse.issparse(self.matrix)

    @property
    def kind(self) -> str:
        """The kind of data in a word, for display."""
        return "ordered" if self.lengths is not None else "sparse" if self.is_sparse else "dense"

    @property
    def data(self) -> str:
        """What items are, in the words of `Support.data`."""
        return "matrix" if self.lengths is None else "sequences"

    def is_sparse_for(self, family: Family) -> bool:
        """Tell whether batches of this view are sparse: the data can be, and the family's statistic of zero is zero."""
        return self._sparse is not None and family.codec.keeps_zeros

    @property
    def _sparse(self) -> Any:
        """The data as sparse rows, if they are there as such."""
        return self.matrix if scipy.sparse.issparse(self.matrix) else self.nonzeros

    def cells_of_row(self, family: Family) -> float:
        """Return how many cells of an average row a batch stores."""
        if self.is_sparse_for(family):
            return float(self._sparse.nnz / max(1, self._sparse.shape[0]))
        return float(family.n_features_)

    @property
    def n_columns(self) -> int:
        """Number of columns of the data (not of the statistic)."""
        return self._width if self.lengths is None else self._width // 2

    @property
    def _width(self) -> int:
        return int(self.matrix.shape[1])

    @property
    def n_rows(self) -> int:
        """Number of items."""
        return len(self.rows)

    @property
    def lacks_rows(self) -> bool:
        """Whether some items lack this view."""
        return bool((self.rows < 0).any())

    @property
    def missing_share(self) -> float:
        """Share of the cells that are missing."""
        total = missing = 0
        for _, block in self.raw_blocks():
            cells = entries(block)
            total += cells.shape[0] * cells.shape[1]
            missing += int(np.isnan(cells.values).sum())
        absent = float((self.rows < 0).mean()) if len(self.rows) else 0.0
        return absent + (1 - absent) * missing / max(total, 1)

    def take(self, items: np.ndarray | slice) -> Source:
        """Return some of the items; the matrix is shared."""
        index = None if self.index is None else self.index[items]
        return replace(self, rows=self.rows[items], index=index)

    def copied(self) -> Source:
        """Return a source that holds the rows of its items alone."""
        present = self.rows >= 0
        kept = self.rows[present]
        if len(present) and not len(kept):  # some row stands for what all of them lack, as in any other source
            kept = np.arange(min(1, self.matrix.shape[0]))
        lengths, nonzeros = (None if part is None else part[kept] for part in (self.lengths, self.nonzeros))
        rows = np.where(present, np.cumsum(present) - 1, -1)
        return replace(self, matrix=self.matrix[kept], rows=rows, lengths=lengths, nonzeros=nonzeros)

    def row_place(self, item: int) -> str:
        """Return an item in words, for messages."""
        return row_place(item, self.index)

    def column_place(self, column: int) -> str:
        """Return a column in words, for messages."""
        return column_place(column, self.columns)

    def cell_place(self, item: int, column: int) -> str:
        """Return a cell in words, for messages."""
        return f"{self.row_place(item)}, {self.column_place(column)}"

    def raw_blocks(self) -> Iterator[tuple[np.ndarray, Matrix]]:
        """Yield item numbers, and values in float32 or wider, for blocks of the items that have this view."""
        present = np.flatnonzero(self.rows >= 0)
        sparse = self._sparse
        step = max(1, _BLOCK_CELLS // max(1, self.n_columns))
        if sparse is not None:
            step = max(1, _BLOCK_ENTRIES * sparse.shape[0] // max(1, sparse.nnz))
        for first in range(0, len(present), step):
            items = present[first : first + step]
            rows = self.rows[items]
            yield items, self._full_rows(rows) if sparse is None else self._sparse_rows(rows)

    def _full_rows(self, rows: np.ndarray) -> np.ndarray:
        block = self.matrix[rows]
        # double precision where single would round: values are centred before they are narrowed
        return block.astype(np.float32 if np.can_cast(block.dtype, np.float32) else np.float64, copy=False)

    def _sparse_rows(self, rows: np.ndarray) -> SparseRows:
        matrix = self._sparse
        consecutive = len(rows) > 0 and rows[0] >= 0 and bool((np.diff(rows) == 1).all())
        if consecutive and matrix.dtype == np.float32:
            # consecutive rows, as when encoding, need not be copied
            indptr = matrix.indptr[rows[0] : rows[-1] + 2]
            entries = slice(int(indptr[0]), int(indptr[-1]))
            return SparseRows(indptr - indptr[0], matrix.indices[entries], matrix.data[entries], self._width)
        return SparseRows(*gather_rows(matrix.indptr, matrix.indices, matrix.data, rows), self._width)

    def summary(self) -> Summary:
        """Return column statistics, computed in one pass over the observed values."""
        sums = Sums(self._width)
        sums.add_source(self)
        return sums.summary(self.n_columns, self.is_sparse)

    def batch(self, items: np.ndarray | slice, family: Family) -> ViewBatch:
        """Return the statistics of some items, in float32, with missing sites marked."""
        rows = self.rows[items]
        if self.is_sparse_for(family):
            return self._sparse_batch(rows, family)
        statistic = family.codec.encode(self._dense_rows(rows))
        statistic = np.array(statistic, dtype=np.float32, order="C")  # a copy: what is missing is filled in place
        missing = family.codec.missing_sites(statistic)
        if not missing.any():
            return ViewBatch(statistic, family.length.sizes(statistic))
        np.nan_to_num(statistic, copy=False, nan=0.0)
        size = family.length.sizes(statistic)
        return ViewBatch(statistic, _with_typical(size, missing, family), missing)

    def _dense_rows(self, rows: np.ndarray) -> np.ndarray:
        """Return the values of some rows; absent rows are NaN, as zero need not lie in the support."""
        values = self._sparse_rows(rows).toarray() if self.is_sparse else self._full_rows(rows)
        values[rows < 0] = np.nan
        return values

    def _sparse_batch(self, rows: np.ndarray, family: Family) -> ViewBatch:
        raw = self._sparse_rows(rows)
        values = family.codec.encode_nonzeros(raw.data, raw.indices, raw.indptr).astype(np.float32, copy=False)
        statistic = SparseRows(raw.indptr, raw.indices, values, raw.shape[1])
        size = family.length.sizes(statistic) if self.lengths is None else self.lengths[rows].astype(np.float64)
        absent = rows < 0
        if not absent.any():
            return ViewBatch(statistic, size)
        missing = np.broadcast_to(absent[:, None], (len(rows), family.codec.n_sites))
        return ViewBatch(statistic, _with_typical(size, missing, family), missing)


def _with_typical(size: np.ndarray | None, missing: np.ndarray, family: Family) -> np.ndarray | None:
    """Return sizes in which what is missing counts as in a typical row, as inference will fill something in there.

    Rows that lack the view have the typical size; those that lack some sites, that share of it beside what is observed.
    """
    if size is None:
        return None
    typical = family.length.typical(len(size))
    assert typical is not None
    share = missing.mean(axis=1)
    return np.where(share < 1, size + share * typical, typical)
