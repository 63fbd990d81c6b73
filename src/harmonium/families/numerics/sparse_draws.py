"""Sparse draws of a view, block by block of features, with products taken while a block's weights are in the cache."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from harmonium.kernels.runtime.threads import block_bounds, run_blocks
from harmonium.kernels.sparse.csr import CSCArrays, SparseRows, add_columns_times_dense
from harmonium.kernels.sparse.products import feature_blocks

# few, as the projections of all blocks must be added up; results do not depend on it but for rounding
_MOST_BLOCKS = 4


class SparseDraw(NamedTuple):
    """Statistics drawn for some rows and, where they came for free, their products with the weights."""

    statistic: SparseRows
    projection: np.ndarray | None = None


def draw_in_blocks(
    weights: np.ndarray, n_columns: int, n_rows: int, draw: Callable[[int, int], tuple[CSCArrays, ...]]
) -> SparseDraw:
    """Return a draw put together from blocks that may be drawn in any order and on any thread.

    Parameters
    ----------
    weights : ndarray of shape (features, units)
        Weights of the view. Its features are those of all columns, in one group or in several that follow each other.
    n_columns : int
        Number of features of a group.
    n_rows : int
        Number of rows to draw.
    draw : callable
        Function of the first column and the end of a range of columns, which returns what it drew for them: one block
        for each group of features.

    Returns
    -------
    SparseDraw
        Statistics of all rows, and their products with the weights.
    """
    n_blocks = min(feature_blocks(weights, n_rows), _MOST_BLOCKS)
    groups = weights.reshape(-1, n_columns, weights.shape[1])
    drawn: list[tuple[CSCArrays, ...]] = [()] * n_blocks
    projections = np.zeros((n_blocks, n_rows, weights.shape[1]), dtype=weights.dtype)

    def task(block: int) -> None:
        first, last = block_bounds(n_columns, n_blocks, block)
        drawn[block] = draw(first, last)
        for columns, group in zip(drawn[block], groups, strict=True):
            add_columns_times_dense(*columns, group[first:last], projections[block])

    run_blocks(task, n_blocks)
    in_order = [block[group] for group in range(len(groups)) for block in drawn]
    projection = projections[0] if n_blocks == 1 else projections.sum(axis=0)
    return SparseDraw(SparseRows.from_column_blocks(in_order, n_rows), projection)
