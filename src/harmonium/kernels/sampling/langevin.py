"""A Langevin step of a matrix of weights in one pass: drift, noise, and the squared gradients that tuning needs."""

from __future__ import annotations

import numpy as np

from harmonium.kernels.runtime.jit import jit
from harmonium.kernels.runtime.threads import block_bounds, block_count, run_blocks, scratch
from harmonium.kernels.sampling.normal import fill_normal

# weights in a block: enough to make handing it to a thread cheap
_BLOCK = 125_000


@jit(fastmath=True)
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
        # the drift is at most twice as large as the noise
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
    """Take a step value += ε²/2 · ∇ log posterior + ε · noise in place, and set the gradient to zero.

    The step ε² is given for each feature, ``scale * gradient`` is the gradient of the negative log-likelihood, of shape
    (features, units), and the prior is normal with a mean and a variance for each feature. The mean over units of the
    squared gradient of the log-posterior is returned.

    The drift is limited: its root mean square over the weights of a feature is at most 2ε. A chain far from where it
    belongs would otherwise overshoot, and further with every step, because gradients grow with the weights.

    A finite step widens the distribution that a chain samples, for a normal density by the factor 1 / (1 - ε² precision
    / 4). The variance of the noise is reduced by what would be right for the prior alone. So weights about which the
    data say little are drawn exactly from the prior, whatever the step; otherwise empirical Bayes would take the excess
    for evidence.
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
        # cells are numbered twice as far apart as needed, because a block of odd size takes one more
        fill_normal(flat, key, 2 * first * value.shape[1])
        noise = flat[:size].reshape(last - first, value.shape[1])
        part = slice(first, last)
        by_feature = [array[part] for array in (mean, precision, squared_step, squares)]
        _step(value[part], gradient[part], noise, np.float32(scale), *by_feature)

    run_blocks(task, n_blocks)
    return squares
