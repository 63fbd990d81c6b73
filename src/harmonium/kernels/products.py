"""The three products a harmonium needs, for dense and sparse statistics, in blocks that do not depend on threads.

statistic @ weights       what the data tell the hidden units
hidden @ weights^T        what the hidden units tell the data (the one large dense product)
statistic^T @ hidden      the gradient of the weights
"""

from __future__ import annotations

import numpy as np

from harmonium.kernels.sparse import SparseRows, add_rows_times_dense
from harmonium.kernels.threads import block_bounds, block_count, run_blocks

Matrix = np.ndarray | SparseRows

# about this many multiplications a block: large enough that handing it to a thread is cheap
_BLOCK_WORK = 4_000_000


def _blocks(items: int, work_per_item: int) -> int:
    return min(block_count(items * max(work_per_item, 1), _BLOCK_WORK), max(items, 1))


def add_statistic_times_weights(statistic: Matrix, weights: np.ndarray, out: np.ndarray) -> None:
    """out += statistic @ weights, in blocks of rows."""
    n_rows = statistic.shape[0]
    if isinstance(statistic, SparseRows):
        n_blocks = _blocks(n_rows, 8 * len(statistic.data) // max(n_rows, 1) * weights.shape[1])

        def sparse_task(block: int) -> None:
            first, last = block_bounds(n_rows, n_blocks, block)
            add_rows_times_dense(statistic.indptr, statistic.indices, statistic.data, weights, out, first, last)

        run_blocks(sparse_task, n_blocks)
        return
    n_blocks = _blocks(n_rows, weights.size)

    def dense_task(block: int) -> None:
        rows = slice(*block_bounds(n_rows, n_blocks, block))
        out[rows] += statistic[rows] @ weights

    run_blocks(dense_task, n_blocks)


def feature_blocks(weights: np.ndarray, n_rows: int) -> int:
    """Number of blocks of features for products with ``weights`` (features, units)."""
    return _blocks(weights.shape[0], weights.shape[1] * n_rows)


def hidden_times_weights(hidden: np.ndarray, weights: np.ndarray, bias: np.ndarray) -> np.ndarray:
    """bias + hidden @ weights^T, shape (rows, features), computed and stored feature by feature."""
    result = np.empty((weights.shape[0], len(hidden)), dtype=weights.dtype)
    n_blocks = feature_blocks(weights, len(hidden))

    def task(block: int) -> None:
        features = slice(*block_bounds(len(weights), n_blocks, block))
        np.dot(weights[features], hidden.T, out=result[features])
        result[features] += bias[features, None]

    run_blocks(task, n_blocks)
    return result.T


def add_statistic_transposed_times_hidden(statistic: Matrix, hidden: np.ndarray, out: np.ndarray, sign: float) -> None:
    """out += sign * statistic^T @ hidden, in blocks of features."""
    signed = np.ascontiguousarray(sign * hidden, dtype=out.dtype)
    n_features = len(out)
    if isinstance(statistic, SparseRows):
        columns = statistic.by_column
        n_blocks = _blocks(n_features, 8 * len(statistic.data) // max(n_features, 1) * hidden.shape[1])

        def sparse_task(block: int) -> None:
            first, last = block_bounds(n_features, n_blocks, block)
            add_rows_times_dense(columns.indptr, columns.indices, columns.data, signed, out, first, last)

        run_blocks(sparse_task, n_blocks)
        return
    n_blocks = _blocks(n_features, hidden.size)

    def dense_task(block: int) -> None:
        features = slice(*block_bounds(n_features, n_blocks, block))
        out[features] += statistic[:, features].T @ signed

    run_blocks(dense_task, n_blocks)
