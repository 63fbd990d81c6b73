"""Counts from uniform numbers, by inversion of the survival function term by term."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np


def invert_survival(
    uniform: np.ndarray, zero_probability: np.ndarray, ratio: Callable[[int], np.ndarray | float]
) -> np.ndarray:
    """Count the k >= 0 with P(x > k) > uniform.

    Parameters
    ----------
    uniform : ndarray
        Numbers in (0, 1).
    zero_probability : ndarray of float64
        P(x = 0), which must not underflow: for large means callers use a closed form.
    ratio : callable
        ``ratio(k)`` is P(x = k) / P(x = k - 1).

    Examples
    --------
    >>> invert_survival(np.array([0.9, 0.3, 0.01]), np.full(3, np.exp(-1.0)), lambda k: 1.0 / k)
    array([0., 1., 4.], dtype=float32)
    """
    counts = np.zeros(uniform.shape, dtype=np.float32)
    term = zero_probability
    survival = 1.0 - zero_probability
    active = survival > uniform
    k = 0
    while active.any():
        counts += active
        k += 1
        term = term * ratio(k)
        survival = survival - term
        # rounding may leave a tiny positive survival for ever, so vanished terms end the search as well
        active &= (survival > uniform) & (term > 1e-12 * survival)
    return counts
