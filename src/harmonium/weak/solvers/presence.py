"""Multinomial logistic regression with classes whose weights are non-negative, or zero.

Minimised over weights w and biases b is  ½‖w‖² + C Σ_i v_i [ log Σ_c exp s_ic − s_{i,y_i} ]  with scores
s_ic = w_c·m_i + b_c. With a default class its scores are zero, and the weights of all others are at least 0: what a
sample holds can only speak for them. The problem is convex, and bounded where classes are separable.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp, softmax

# The largest derivative by a weight at the end, in units of C, and the largest number of steps: conventions.
_PRECISION = 1e-5
_MOST_STEPS = 2000


def objective(
    flat: np.ndarray, features: np.ndarray, labels: np.ndarray, sample_weight: np.ndarray, C: float, n_classes: int
) -> tuple[float, np.ndarray]:
    """Return what is minimised, and its gradient, for weights and biases in one flat array."""
    table = flat.reshape(n_classes, -1)
    weights, biases = table[:, :-1], table[:, -1]
    scores = features @ weights.T + biases
    rows = np.arange(len(labels))
    losses = logsumexp(scores, axis=1) - scores[rows, labels]
    residual = softmax(scores, axis=1)
    residual[rows, labels] -= 1
    residual *= C * sample_weight[:, None]
    gradient = np.hstack([weights + residual.T @ features, residual.sum(axis=0)[:, None]])
    return float(0.5 * (weights**2).sum() + C * sample_weight @ losses), gradient.ravel()


def learn_presence(
    features: np.ndarray,
    labels: np.ndarray,
    sample_weight: np.ndarray,
    C: float,
    n_classes: int,
    default: int | None,
) -> tuple[np.ndarray, np.ndarray]:
    """Return weights of shape (n_classes, n_features) and biases of shape (n_classes,).

    ``default`` is the class whose scores are zero, or None if there is no such class.
    """
    n_columns = features.shape[1]
    lower = np.full((n_classes, n_columns + 1), -np.inf)
    upper = np.full_like(lower, np.inf)
    if default is not None:
        lower[:, :-1] = 0
        lower[default] = upper[default] = 0
    found = minimize(
        objective,
        np.zeros(lower.size),
        (features, labels, sample_weight, C, n_classes),
        method="L-BFGS-B",
        jac=True,
        bounds=list(zip(lower.ravel(), upper.ravel(), strict=True)),
        options={"maxiter": _MOST_STEPS, "maxfun": 2 * _MOST_STEPS, "gtol": _PRECISION * C, "ftol": 1e-12},
    )
    table = found.x.reshape(n_classes, -1)
    return table[:, :-1].copy(), table[:, -1].copy()
