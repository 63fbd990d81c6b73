"""Intervals of predicted numbers that hold for new rows as often as they say, by the errors of held-out rows.

Split-conformal prediction: if new rows are like the held-out ones, an interval that reaches as far to both sides as the
⌈(n + 1) p⌉-th smallest of n absolute errors holds with a probability of at least p, whatever the model and the law of
the errors are, and of at most p + 1 / (n + 1) if no two errors are the same.

References: Vovk, Gammerman & Shafer (2005), Algorithmic learning in a random world; Lei, G'Sell, Rinaldo, Tibshirani &
Wasserman (2018), Distribution-free predictive inference for regression; Tibshirani, Barber, Candès & Ramdas (2019),
Conformal prediction under covariate shift, for weights.
"""

from __future__ import annotations

import numpy as np


def conformal_quantile(errors: np.ndarray, weight: np.ndarray, level: float) -> float:
    """Return the error that a new row does not exceed with a probability of at least ``level``.

    The new row has the mean weight of the others, and an error that may be larger than all of theirs.

    Parameters
    ----------
    errors : ndarray of shape (rows,)
        Absolute errors of held-out rows, in ascending order.
    weight : ndarray of shape (rows,)
        Weights of the rows; those of weight 0 do not count.
    level : float
        A probability.

    Returns
    -------
    float
        One of the errors; infinity if there are too few rows for such a level.

    Examples
    --------
    >>> conformal_quantile(np.arange(1.0, 20.0), np.ones(19), 0.9)  # the 18th of 19
    18.0
    >>> conformal_quantile(np.arange(1.0, 20.0), np.ones(19), 0.99)
    inf
    """
    used = weight > 0
    errors, weight = errors[used], weight[used]
    if not len(errors):
        return np.inf
    below = np.cumsum(weight)
    # sums of equal terms differ by rounding errors
    place = int(np.searchsorted(below, level * (below[-1] + weight.mean()) * (1 - 1e-12)))
    return float(errors[place]) if place < len(errors) else np.inf
