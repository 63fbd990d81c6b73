"""Sums over rows and columns of weights, and the gradient of such sums, each in one pass over memory."""

from __future__ import annotations

import numpy as np

from harmonium.kernels.runtime.jit import jit


@jit(fastmath=True)
def positive_row_sums(matrix: np.ndarray) -> np.ndarray:
    """Return the sum of the positive entries of every row."""
    sums = np.zeros(len(matrix), dtype=matrix.dtype)
    for row in range(len(matrix)):
        for column in range(matrix.shape[1]):
            sums[row] += max(matrix[row, column], 0)
    return sums


@jit(fastmath=True)
def weighted_column_squares(weights: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Return Σ_i scale_i W_ik² for each column k, in float64."""
    total = np.zeros(weights.shape[1])
    for i in range(weights.shape[0]):
        for k in range(weights.shape[1]):
            total[k] += scale[i] * weights[i, k] * weights[i, k]
    return total


@jit(fastmath=True)
def add_scaled(gradient: np.ndarray, weights: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> None:
    """Compute gradient_ik += rows_i columns_k W_ik, the gradient of a function of `weighted_column_squares`."""
    for i in range(weights.shape[0]):
        for k in range(weights.shape[1]):
            gradient[i, k] += rows[i] * columns[k] * weights[i, k]
