"""From scores to probabilities, by what held-out rows show."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize, minimize_scalar
from scipy.special import expit, log_expit, logsumexp


def fit_temperature(scores: np.ndarray, classes: np.ndarray, weight: np.ndarray) -> float:
    """Return the factor a for which softmax(a · scores) makes the held-out classes most probable; class -1 is unknown.

    Examples
    --------
    >>> from scipy.special import softmax
    >>> scores = np.array([[1.0, 0.0]] * 4)
    >>> a = fit_temperature(scores, np.array([0, 0, 0, 1]), np.ones(4))
    >>> np.round(softmax(a * scores, axis=1)[0], 2).tolist()
    [0.75, 0.25]
    """
    rows = np.flatnonzero((classes >= 0) & (weight > 0))
    if not len(rows):
        return 1.0
    scores = scores[rows] - scores[rows].max(axis=1, keepdims=True)
    truth = scores[np.arange(len(rows)), classes[rows]]

    def loss(log_factor: float) -> float:
        factor = np.exp(log_factor)
        return float(weight[rows] @ (logsumexp(factor * scores, axis=1) - factor * truth))

    # factors of up to e⁷, or about 1,000: a convention that only keeps classes without any mistake from infinity
    return float(np.exp(minimize_scalar(loss, bounds=(-7.0, 7.0), method="bounded").x))


def fit_sigmoid(
    scores: np.ndarray, labels: np.ndarray, weight: np.ndarray, positive_weight: float = 1.0
) -> tuple[float, float]:
    """Return factor a and shift b, shared by all labels, for which σ(a s + b) makes held-out labels most probable.

    ``positive_weight`` is the weight of labels that are present, as in the loss that the scores come from: the shift
    must not undo what it did.
    """
    use = ~np.isnan(labels) & (weight[:, None] > 0)
    values, signs = scores[use].astype(np.float64), 2 * labels[use] - 1
    weights = np.broadcast_to(weight[:, None], scores.shape)[use] * np.where(signs > 0, positive_weight, 1.0)

    def loss(point: np.ndarray) -> tuple[float, np.ndarray]:
        factor, shift = np.exp(point[0]), point[1]
        margin = signs * (factor * values + shift)
        slope = -weights * signs * expit(-margin)
        return -float(weights @ log_expit(margin)), np.array([factor * (slope @ values), slope.sum()])

    if not len(values):
        return 1.0, 0.0
    # bounds by convention, as above: they only keep labels without any mistake from infinity
    result = minimize(loss, np.zeros(2), jac=True, method="L-BFGS-B", bounds=[(-7.0, 7.0), (-20.0, 20.0)])
    return float(np.exp(result.x[0])), float(result.x[1])
