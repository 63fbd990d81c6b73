"""A Langevin step of a matrix of weights: drift, noise, and what tuning wants to know of the gradient, in one pass."""

from __future__ import annotations

import numpy as np
from numba import njit

from harmonium.kernels.normal import fill_normal
from harmonium.kernels.threads import block_bounds, block_count, run_blocks, scratch

_BLOCK = 125_000


@njit(nogil=True, fastmath=True, cache=True)
def _step(
    value: np.ndarray,
    gradient: np.ndarray,
    noise: np.ndarray,
    scale: np.float32,
    mean: np.ndarray,
    precision: np.ndarray,
    squared_step: np.ndarray,
    squares: np.ndarray,
) -> None:
    n_units = value.shape[1]
    for i in range(len(value)):
        total = np.float32(0)
        for j in range(n_units):
            slope = -scale * gradient[i, j] - (value[i, j] - mean[i]) * precision[i]
            gradient[i, j] = slope
            total += slope * slope
        squares[i] = total / n_units
        # the drift may be twice as large as the noise, and no larger
        share = np.float32(4) / max(np.float32(4), np.sqrt(squared_step[i] * squares[i]))
        half = np.float32(0.5) * share * squared_step[i]
        excess = np.float32(0.25) * squared_step[i] * precision[i]
        whole = np.sqrt(squared_step[i] * max(np.float32(0), np.float32(1) - excess))
        for j in range(n_units):
            value[i, j] += half * gradient[i, j] + whole * noise[i, j]
            gradient[i, j] = 0


def langevin_step(
    value: np.ndarray,
    gradient: np.ndarray,
    scale: float,
    mean: np.ndarray,
    variance: np.ndarray,
    squared_step: np.ndarray,
    rng: np.random.Generator,
) -> np.ndarray:
    """value += ε²/2 · ∇ log posterior + ε · noise in place, with ε² given by feature; the gradient is zero afterwards.

    The drift is tamed: over the weights of a feature its root mean square is at most 2ε. Far from where it
    belongs, a chain would otherwise overshoot, and further with every step, as gradients grow with the weights.

    A finite step widens what a chain samples, by ε² / 4 times the precision of a normal density. The noise has so much
    less variance as would be right if there were the prior alone: weights of which the data say little are then drawn
    from the prior exactly, whatever the step. Without that, empirical Bayes would take its own excess for evidence.

    ``scale * gradient`` is the gradient of the negative log-likelihood, (features, units); the prior is normal with a
    mean and a variance for each feature. Returns the mean over units of the squared gradient of the log-posterior.
    """
    n_features = len(value)
    n_blocks = block_count(value.size, _BLOCK)
    squares = np.empty(n_features, dtype=np.float32)
    precision = 1 / variance
    key = np.uint32(rng.integers(2**32))

    def task(block: int) -> None:
        first, last = block_bounds(n_features, n_blocks, block)
        size = (last - first) * value.shape[1]
        flat = scratch("noise", (size + size % 2,), np.float32)
        fill_normal(flat, key, 2 * first * value.shape[1])  # twice, as a block of odd size takes one cell more
        noise = flat[:size].reshape(last - first, value.shape[1])
        part = slice(first, last)
        _step(
            value[part],
            gradient[part],
            noise,
            np.float32(scale),
            mean[part],
            precision[part],
            squared_step[part],
            squares[part],
        )

    run_blocks(task, n_blocks)
    return squares
