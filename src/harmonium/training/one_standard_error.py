"""One-standard-error rule: comparison of errors of the same held-out rows."""

from __future__ import annotations

import numpy as np


def mean_error(errors: np.ndarray, weight: np.ndarray) -> float:
    """Return the weighted mean of the errors; 0 if no row counts."""
    return float(np.average(errors, weights=weight)) if weight.any() else 0.0


def is_better(errors: np.ndarray, others: np.ndarray, weight: np.ndarray, by: float = 1.0) -> bool:
    """Return whether errors are smaller than others by more than one standard error of their differences.

    ``by`` is the number of standard errors that it takes.

    Examples
    --------
    >>> is_better(np.zeros(4), np.array([1.0, 1.0, 1.0, 0.0]), np.ones(4))
    True
    >>> is_better(np.zeros(4), np.array([1.0, 0.0, 0.0, 0.0]), np.ones(4))
    True
    >>> is_better(np.array([0.0, 1.0, 0.0]), np.array([1.0, 0.0, 0.0]), np.ones(3))
    False
    """
    gain = others - errors
    mean = mean_error(gain, weight)
    spread = mean_error(np.square(gain - mean), weight)
    # as many rows of equal weight tell as much
    rows = weight.sum() ** 2 / max(float(np.square(weight).sum()), 1e-300)
    return bool(mean > by * np.sqrt(spread / max(rows, 1.0)))
