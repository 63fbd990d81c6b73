"""Matrix products of a harmonium, for dense and sparse statistics, in blocks that do not depend on the threads.

- statistic @ weights: naturals of the hidden units
- hidden @ weights^T: naturals of the features, the one large dense product
- statistic^T @ hidden: the gradient of the weights
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np

from harmonium.kernels.runtime.threads import block_bounds, block_count, run_blocks, scratch
from harmonium.kernels.sparse.csr import (
    SparseRows,
    add_gradient_rows,
    add_row_sums,
    add_rows_times_dense,
    dot_at_entries,
)
from harmonium.kernels.sparse.matrix import Matrix

# About this many multiplications per block make handing it to a thread cheap; more blocks than threads only cost time.
# Both are conventions.
_BLOCK_WORK = 20_000_000
_MAX_BLOCKS = 16
# A multiplication of a sparse product is taken to cost as much as this many of a dense one.
_SPARSE_COST = 16
# Part of a result that should stay in the processor's cache.
_CACHE_BYTES = 2**19
# BLAS kernels for small arrays may read memory beyond the arrays and discard what they compute from it. If that memory
# happens to hold an infinity, NumPy warns about an invalid value in a product that has none.
_ignore_invalid = partial(np.errstate, invalid="ignore")


def _blocks(items: int, work_per_item: float) -> int:
    """Return the number of blocks, a power of two, so that two, four or eight threads get equally many."""
    wanted = min(items * work_per_item / _BLOCK_WORK, items, _MAX_BLOCKS)
    return 1 << max(0, round(math.log2(wanted))) if wanted > 1 else 1


def add_statistic_times_weights(statistic: Matrix, weights: np.ndarray, out: np.ndarray) -> None:
    """Compute out += statistic @ weights, in blocks of rows."""
    n_rows = statistic.shape[0]
    if isinstance(statistic, SparseRows):
        n_blocks = _blocks(n_rows, 2 * _SPARSE_COST * statistic.nnz / max(n_rows, 1) * weights.shape[1])
        indptr, indices, data = statistic.indptr, statistic.indices, statistic.data

        def sparse_task(block: int) -> None:
            first, last = block_bounds(n_rows, n_blocks, block)
            add_rows_times_dense(indptr, indices, data, weights, out, first, last)

        run_blocks(sparse_task, n_blocks)
        return
    n_blocks = _blocks(n_rows, weights.size)

    def dense_task(block: int) -> None:
        rows = slice(*block_bounds(n_rows, n_blocks, block))
        with _ignore_invalid():
            out[rows] += statistic[rows] @ weights

    run_blocks(dense_task, n_blocks)


def feature_blocks(weights: np.ndarray, n_rows: int) -> int:
    """Return the number of blocks of features for products with ``weights`` of shape (features, units)."""
    return _blocks(weights.shape[0], weights.shape[1] * n_rows)


def hidden_times_weights(hidden: np.ndarray, weights: np.ndarray, bias: np.ndarray) -> np.ndarray:
    """Return bias + hidden @ weights^T of shape (rows, features), computed and stored feature by feature."""
    result = np.empty((weights.shape[0], len(hidden)), dtype=np.result_type(weights, hidden))
    n_blocks = feature_blocks(weights, len(hidden))

    def task(block: int) -> None:
        features = slice(*block_bounds(len(weights), n_blocks, block))
        with _ignore_invalid():
            np.dot(weights[features], hidden.T, out=result[features])
        result[features] += bias[features, None]

    run_blocks(task, n_blocks)
    return result.T


def sum_over_features(
    hidden: np.ndarray, weights: np.ndarray, bias: np.ndarray, function: Callable[[np.ndarray], np.ndarray]
) -> np.ndarray:
    """Return the sum over features of an elementwise function of bias + hidden @ weights^T, by row, in float64.

    The function may overwrite its argument, which is a part of the product that stays in the cache.
    """
    n_features, n_rows = len(weights), len(hidden)
    dtype = np.result_type(weights, hidden)
    n_blocks = block_count(n_features * n_rows * dtype.itemsize, _CACHE_BYTES)
    totals = np.zeros((n_blocks, n_rows))

    def task(block: int) -> None:
        features = slice(*block_bounds(n_features, n_blocks, block))
        product = scratch("product", (features.stop - features.start, n_rows), dtype.type)
        with _ignore_invalid():
            np.dot(weights[features], hidden.T, out=product)
        product += bias[features, None]
        function(product).sum(axis=0, dtype=np.float64, out=totals[block])

    run_blocks(task, n_blocks)
    result: np.ndarray = totals.sum(axis=0)
    return result


def products_at_entries(statistic: SparseRows, hidden: np.ndarray, weights: np.ndarray, bias: np.ndarray) -> np.ndarray:
    """Return bias + hidden @ weights^T where a sparse matrix has its entries."""
    result = np.empty(statistic.nnz, dtype=np.result_type(weights, hidden))
    dot_at_entries(statistic.indptr, statistic.indices, hidden, weights, bias, result)
    return result


def add_gradients(
    terms: list[tuple[Matrix, np.ndarray, float]], outer: np.ndarray, sums: np.ndarray, active_rows: np.ndarray
) -> None:
    """Add the gradients of weights and biases by terms of (statistic, hidden values, sign), in one pass.

    Compute outer += Σ statistic^T @ hidden and sums += Σ sign * (sums of columns), and set ``active_rows`` to True for
    columns with an entry, block by block of features.
    """
    n_features = len(outer)
    work = 0.0
    sparse, dense = [], []
    for statistic, hidden, sign in terms:
        if isinstance(statistic, SparseRows):
            work += _SPARSE_COST * statistic.nnz * hidden.shape[1] / n_features
            columns = statistic.T
            sparse.append((columns.indptr, columns.indices, columns.data, hidden, sign))
        else:
            work += hidden.size
            dense.append((statistic.T, hidden, sign))
    # a block of the result stays in the cache while all terms are added to it
    n_blocks = max(_blocks(n_features, work), min(outer.nbytes // _CACHE_BYTES, 64))

    def task(block: int) -> None:
        first, last = block_bounds(n_features, n_blocks, block)
        for term in sparse:
            add_gradient_rows(*term, outer, sums, active_rows, first, last)
        for by_feature, hidden, sign in dense:
            part = by_feature[first:last]
            with _ignore_invalid():
                outer[first:last] += part @ hidden
            sums[first:last] += sign * part.sum(axis=1)
            active_rows[first:last] = True

    run_blocks(task, n_blocks)


def add_outer_products(pairs: list[tuple[Matrix, np.ndarray]], out: np.ndarray) -> None:
    """Compute out += Σ statistic^T @ hidden over the pairs, in one pass over blocks of features."""
    unused = np.zeros(len(out), dtype=out.dtype), np.zeros(len(out), dtype=bool)
    add_gradients([(statistic, hidden, 0.0) for statistic, hidden in pairs], out, *unused)


def add_column_sums(statistic: Matrix, sign: float, out: np.ndarray) -> None:
    """Compute out += sign * (sum of every column)."""
    if isinstance(statistic, SparseRows):
        columns = statistic.T
        add_row_sums(columns.indptr, columns.data, sign, out)
    else:
        out += sign * statistic.sum(axis=0)
