"""Projection for log-partitions with a pole at zero, which are finite only below it."""

from __future__ import annotations

import numpy as np

from harmonium.kernels.reductions import positive_row_sums

# how far below zero projected natural parameters stay; a convention, well above the rounding of float32 sums
_MARGIN = 1e-3


def keep_below_pole(weights: np.ndarray, bias: np.ndarray, largest: float) -> None:
    """Move each feature, in place, to the half-space where its natural is negative for every hidden state.

    The natural is largest when every unit with a positive weight is at its largest value: θ + M Σ max(W, 0). The step
    is the Euclidean projection for the weights that are positive now. It is repeated, as weights may cross zero; what
    is left after three rounds is taken from the bias alone.

    Parameters
    ----------
    weights : ndarray of shape (features, units)
        Weights of the view.
    bias : ndarray of shape (features,)
        Bias of the view.
    largest : float
        Largest value M of a unit, times the largest weight of a row; the smallest is 0.
    """
    rows = np.flatnonzero(bias + largest * positive_row_sums(weights) + _MARGIN > 0)
    for _ in range(3):
        if not len(rows):
            return
        part = weights[rows]
        positive = part > 0
        excess = bias[rows] + largest * np.where(positive, part, 0).sum(axis=1) + _MARGIN
        share = np.maximum(excess, 0) / (1.0 + largest**2 * positive.sum(axis=1))
        bias[rows] -= share
        weights[rows] = part - positive * np.minimum(part, (largest * share)[:, None])
        rows = rows[bias[rows] + largest * np.maximum(weights[rows], 0).sum(axis=1) + _MARGIN > 0]
    excess = bias[rows] + largest * np.maximum(weights[rows], 0).sum(axis=1) + _MARGIN
    bias[rows] -= np.maximum(excess, 0)
