"""Inversion of survival functions: counts from uniform numbers, term by term."""

from __future__ import annotations

import numpy as np

from harmonium.kernels.elementwise import logistic_float32
from harmonium.kernels.runtime.jit import jit


@jit(fastmath=True, error_model="numpy")
def bernoulli(uniform: np.ndarray, natural: np.ndarray) -> np.ndarray:
    """Return 1 where a uniform number is below the logistic function of a natural parameter, and 0 elsewhere.

    Examples
    --------
    >>> bernoulli(np.array([0.4, 0.6], dtype=np.float32), np.zeros(2, dtype=np.float32))
    array([1., 0.], dtype=float32)
    """
    result = np.empty(len(uniform), dtype=np.float32)
    for cell in range(len(uniform)):
        result[cell] = uniform[cell] < logistic_float32(natural[cell])
    return result


#: smallest P(x = 0) from which terms can be summed up, far above where numbers of double precision underflow
MIN_ZERO_PROBABILITY = 1e-200


@jit()
def invert_survival(
    uniform: np.ndarray, zero_probability: np.ndarray, base: np.ndarray, slope: float, shift: float
) -> np.ndarray:
    """Count the k >= 0 with P(x > k) > uniform.

    The distributions are those with P(x = k) / P(x = k - 1) = base (slope k + shift - 1) / k.

    Poisson counts have a slope of 0, those of successes in n trials -1, negative binomial ones 1.

    Parameters
    ----------
    uniform : ndarray of shape (cells,)
        Numbers in (0, 1).
    zero_probability : ndarray of float64 of shape (cells,)
        P(x = 0), which must not underflow (`MIN_ZERO_PROBABILITY`): for large means callers use a closed form.
    base : ndarray of float64 of shape (cells,)
        Factor of the ratio of each cell.
    slope, shift : float
        Numbers in the ratio; where it becomes negative, it is taken to be 0.

    Returns
    -------
    ndarray of float32 of shape (cells,)
        The counts.

    Examples
    --------
    >>> invert_survival(np.array([0.9, 0.3, 0.01]), np.full(3, np.exp(-1.0)), np.ones(3), 0.0, 2.0)
    array([0., 1., 4.], dtype=float32)
    """
    counts = np.zeros(len(uniform), dtype=np.float32)
    for cell in range(len(uniform)):
        term = zero_probability[cell]
        survival = 1.0 - term
        goal, k, ratio = uniform[cell], 0, 1.0
        # rounding may leave a tiny positive survival for ever, so terms that have vanished on the right of the mode,
        # where each is smaller than the one before, end the search as well
        while survival > goal and (ratio >= 1.0 or term > 1e-12 * survival):
            k += 1
            ratio = base[cell] * max(slope * k + shift - 1.0, 0.0) / k
            term = term * ratio
            survival = survival - term
        counts[cell] = k
    return counts
