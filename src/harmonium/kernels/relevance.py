"""Passes over weights for the cost of units: weighted squares by column, and a scaled copy added to a gradient."""

from __future__ import annotations

import numpy as np

from harmonium.kernels.runtime.jit import jit


@jit(fastmath=True)
def column_squares(weights: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Return Σ_i scale_i W_ik² for each column k, in float64."""
    total = np.zeros(weights.shape[1])
    for i in range(weights.shape[0]):
        for k in range(weights.shape[1]):
            total[k] += scale[i] * weights[i, k] * weights[i, k]
    return total


@jit(fastmath=True)
def add_scaled(gradient: np.ndarray, weights: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> None:
    """Compute gradient_ik += rows_i columns_k W_ik."""
    for i in range(weights.shape[0]):
        for k in range(weights.shape[1]):
            gradient[i, k] += rows[i] * columns[k] * weights[i, k]
