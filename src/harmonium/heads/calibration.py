"""From scores to probabilities, by what held-out rows show.

Targets are smoothed as by Platt (1999), Probabilistic outputs for support vector machines, §2.2: what was seen n times,
each time without mistake, is seen again with probability (n + 1) / (n + 2). So rows that scores separate perfectly make
no probabilities of 0 and 1.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize, minimize_scalar
from scipy.special import expit, log_expit, logsumexp


def smoothed(counts: np.ndarray) -> np.ndarray:
    """Return the probability to aim at for what was seen so many times.

    Examples
    --------
    >>> smoothed(np.array([0, 1, 8])).round(2).tolist()
    [0.5, 0.67, 0.9]
    """
    return (counts + 1) / (counts + 2)


def smoothed_classes(classes: np.ndarray, weight: np.ndarray, n_classes: int) -> np.ndarray:
    """Return the probability of every class to aim at for each row; the other classes share what its own leaves.

    Examples
    --------
    >>> smoothed_classes(np.array([0, 0, 1]), np.ones(3), 2).round(2).tolist()
    [[0.75, 0.25], [0.75, 0.25], [0.33, 0.67]]
    """
    right = smoothed(np.bincount(classes, weight, n_classes))[classes]
    aims = np.repeat((1 - right)[:, None] / max(n_classes - 1, 1), n_classes, axis=1)
    aims[np.arange(len(classes)), classes] = right
    return aims


def fit_temperature(scores: np.ndarray, classes: np.ndarray, weight: np.ndarray) -> float:
    """Return the factor a for which softmax(a · scores) makes the held-out classes most probable; class -1 is unknown.

    Examples
    --------
    >>> from scipy.special import softmax
    >>> scores = np.array([[1.0, 0.0]] * 400)
    >>> a = fit_temperature(scores, np.array([0, 0, 0, 1] * 100), np.ones(400))
    >>> np.round(softmax(a * scores, axis=1)[0], 2).tolist()
    [0.75, 0.25]
    """
    rows = np.flatnonzero((classes >= 0) & (weight > 0))
    if not len(rows):
        return 1.0
    scores = scores[rows] - scores[rows].max(axis=1, keepdims=True)
    truth = (scores * smoothed_classes(classes[rows], weight[rows], scores.shape[1])).sum(axis=1)

    def loss(log_factor: float) -> float:
        factor = np.exp(log_factor)
        return float(weight[rows] @ (logsumexp(factor * scores, axis=1) - factor * truth))

    # factors of up to e⁷, or about 1,000: a convention, as scores without any spread ask for infinite ones
    return float(np.exp(minimize_scalar(loss, bounds=(-7.0, 7.0), method="bounded").x))


def fit_sigmoid(
    scores: np.ndarray, labels: np.ndarray, weight: np.ndarray, positive_weight: float = 1.0
) -> tuple[float, float]:
    """Return factor a and shift b, shared by all labels, for which σ(a s + b) makes held-out labels most probable.

    ``positive_weight`` is the weight of labels that are present, as in the loss that the scores come from: the shift
    must not undo what it did.
    """
    use = ~np.isnan(labels) & (weight[:, None] > 0)
    values, present = scores[use].astype(np.float64), labels[use] > 0
    weights = np.broadcast_to(weight[:, None], scores.shape)[use]
    aims = np.where(present, smoothed(weights[present].sum()), 1 - smoothed(weights[~present].sum()))
    weights = weights * np.where(present, positive_weight, 1.0)

    def loss(point: np.ndarray) -> tuple[float, np.ndarray]:
        factor, shift = np.exp(point[0]), point[1]
        log_odds = factor * values + shift
        slope = weights * (expit(log_odds) - aims)
        likelihood = aims * log_expit(log_odds) + (1 - aims) * log_expit(-log_odds)
        return -float(weights @ likelihood), np.array([factor * (slope @ values), slope.sum()])

    if not len(values):
        return 1.0, 0.0
    # bounds by convention, as above
    result = minimize(loss, np.zeros(2), jac=True, method="L-BFGS-B", bounds=[(-7.0, 7.0), (-20.0, 20.0)])
    return float(np.exp(result.x[0])), float(result.x[1])
