"""Dual coordinate descent for linear SVMs (classes, numbers, labels), which can start from an earlier dual solution.

All of them minimise  mean loss + ridge/2 ‖w‖²  over the rows, with the bias as the weight of a constant feature.
Divided by the ridge, that is an SVM with C_i = weight_i / (rows · ridge). The dual's box does not depend on the
features, so an earlier dual solution is still feasible after the features have changed: that is the warm start.

liblinear, which scikit-learn wraps as `LinearSVC` and `LinearSVR`, takes no earlier dual, no matrix of costs and no
labels that are missing in some outputs, and does not say how far it is from the optimum. From scratch it is several
times faster, because it leaves out rows that stay at their bounds.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from harmonium.kernels.runtime.jit import jit

# Passes stop after about this many multiplications (a few seconds), but their number lies between the two limits.
_MAX_WORK = 5e9
_MIN_PASSES, _MAX_PASSES = 1000, 20_000
# Passes between two checks of the duality gap, which costs about as much as a pass.
_CHECK_EVERY = 5
#: duality gap to stop at, relative to the objective: a convention. An objective near zero counts as this fraction of
#: the objective of weights of zero
TOLERANCE = 1e-4
_MIN_OBJECTIVE = 0.01


def _with_constant(features: np.ndarray) -> np.ndarray:
    return np.concatenate([features, np.ones((len(features), 1))], axis=1).astype(np.float64)


def _boxes(weight: np.ndarray, ridge: float) -> np.ndarray:
    return np.asarray(weight, dtype=np.float64) / (len(weight) * ridge)


def _descend(
    one_pass: Callable[[np.ndarray], None],
    objectives: Callable[[], tuple[float, float]],
    n_rows: int,
    n_weights: int,
    null_objective: float,
    tolerance: float,
) -> None:
    """Pass over the rows in changing order until the gap between primal and dual objective is small enough."""
    rng = np.random.default_rng(0)
    n_passes = int(np.clip(_MAX_WORK / (n_rows * n_weights), _MIN_PASSES, _MAX_PASSES))
    for number in range(1, n_passes + 1):
        one_pass(rng.permutation(n_rows))
        if number % _CHECK_EVERY == 0:
            primal, dual = objectives()
            if primal - dual <= tolerance * max(primal, _MIN_OBJECTIVE * null_objective):
                return


# ---- classes -----------------------------------------------------------------------------------------------------
def solve_crammer_singer(
    features: np.ndarray,
    classes: np.ndarray,
    weight: np.ndarray,
    cost: np.ndarray,
    ridge: float,
    dual: np.ndarray | None = None,
    tolerance: float = TOLERANCE,
) -> tuple[np.ndarray, np.ndarray]:
    """Return weights (features + 1, classes), the bias in the last row, and the dual (rows, classes).

    Rows of class -1 are not used.
    """
    x, n_classes = _with_constant(features), len(cost)
    boxes = _boxes(weight, ridge)
    used = np.flatnonzero((classes >= 0) & (boxes > 0))
    alpha = np.zeros((len(x), n_classes)) if dual is None else dual
    weights = np.ascontiguousarray(x.T @ alpha)
    norms = np.einsum("ij,ij->i", x, x)

    def objectives() -> tuple[float, float]:
        quadratic = 0.5 * float(np.square(weights).sum())
        scores = x[used] @ weights
        truth = classes[used]
        losses = (scores + cost[truth]).max(axis=1) - scores[np.arange(len(used)), truth]
        return quadratic + float(boxes[used] @ losses), -quadratic - float((cost[truth] * alpha[used]).sum())

    def one_pass(order: np.ndarray) -> None:
        _pass_crammer_singer(x, classes, boxes, cost, norms, used[order], alpha, weights)

    if len(used):
        null_objective = float(boxes[used] @ cost[classes[used]].max(axis=1))
        _descend(one_pass, objectives, len(used), weights.size, null_objective, tolerance)
    return weights, alpha


@jit()
def _pass_crammer_singer(
    x: np.ndarray,
    classes: np.ndarray,
    boxes: np.ndarray,
    cost: np.ndarray,
    norms: np.ndarray,
    order: np.ndarray,
    alpha: np.ndarray,
    weights: np.ndarray,
) -> None:
    n_features, n_classes = weights.shape
    linear, ordered = np.empty(n_classes), np.empty(n_classes)
    for i in order:
        norm, truth, box = norms[i], classes[i], boxes[i]
        linear[:] = cost[truth] - norm * alpha[i]
        for j in range(n_features):
            value = x[i, j]
            if value != 0:
                for m in range(n_classes):
                    linear[m] += weights[j, m] * value
        # minimise norm/2 ‖a‖² + linear·a subject to Σ a = 0, a <= box at the true class and <= 0 elsewhere
        for m in range(n_classes):
            value = linear[m] + norm * box if m == truth else linear[m]
            r = m
            while r > 0 and ordered[r - 1] < value:
                ordered[r] = ordered[r - 1]
                r -= 1
            ordered[r] = value
        level = ordered[0] - norm * box
        r = 1
        while r < n_classes and level < r * ordered[r]:
            level += ordered[r]
            r += 1
        level /= r
        for m in range(n_classes):
            limit = box if m == truth else 0.0
            value = min(limit, (level - linear[m]) / norm)
            change = value - alpha[i, m]
            if change != 0:
                alpha[i, m] = value
                for j in range(n_features):
                    weights[j, m] += change * x[i, j]


# ---- numbers -----------------------------------------------------------------------------------------------------
def solve_epsilon_insensitive(
    features: np.ndarray,
    targets: np.ndarray,
    weight: np.ndarray,
    epsilon: float,
    ridge: float,
    dual: np.ndarray | None = None,
    tolerance: float = TOLERANCE,
) -> tuple[np.ndarray, np.ndarray]:
    """Return weights (features + 1, outputs), the bias in the last row, and the dual (rows, outputs).

    Targets that are NaN are not used.
    """
    boxes = np.where(np.isnan(targets), 0.0, _boxes(weight, ridge)[:, None])
    return _solve_in_bounds(features, np.nan_to_num(targets), (-boxes, boxes), epsilon, dual, tolerance)


def _solve_in_bounds(
    features: np.ndarray,
    targets: np.ndarray,
    bounds: tuple[np.ndarray, np.ndarray],
    epsilon: float,
    dual: np.ndarray | None,
    tolerance: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Return weights and dual of the loss  max over b within bounds of  b (target - score) - epsilon |b|."""
    x, (lower, upper) = _with_constant(features), bounds
    beta = np.zeros(targets.shape) if dual is None else dual
    weights = np.ascontiguousarray(x.T @ beta)
    norms = np.einsum("ij,ij->i", x, x)

    def total_loss(residuals: np.ndarray) -> float:
        at_bounds = np.maximum(upper * (residuals - epsilon), lower * (residuals + epsilon))
        return float(np.maximum(at_bounds, 0).sum())

    def objectives() -> tuple[float, float]:
        quadratic = 0.5 * float(np.square(weights).sum())
        dual_loss = float((targets * beta - epsilon * abs(beta)).sum())
        return quadratic + total_loss(targets - x @ weights), -quadratic + dual_loss

    def one_pass(order: np.ndarray) -> None:
        _pass_in_bounds(x, targets, lower, upper, epsilon, norms, order, beta, weights)

    _descend(one_pass, objectives, len(x), weights.size, total_loss(targets), tolerance)
    return weights, beta


@jit()
def _pass_in_bounds(
    x: np.ndarray,
    targets: np.ndarray,
    lower: np.ndarray,
    upper: np.ndarray,
    epsilon: float,
    norms: np.ndarray,
    order: np.ndarray,
    beta: np.ndarray,
    weights: np.ndarray,
) -> None:
    n_features, n_outputs = weights.shape
    for i in order:
        for m in range(n_outputs):
            if lower[i, m] == upper[i, m]:
                continue
            score = 0.0
            for j in range(n_features):
                score += weights[j, m] * x[i, j]
            # the minimiser over b of a parabola of this norm + epsilon |b|, kept within its bounds
            value = beta[i, m] - (score - targets[i, m]) / norms[i]
            if epsilon > 0:
                value = np.sign(value) * max(abs(value) - epsilon / norms[i], 0.0)
            value = min(max(value, lower[i, m]), upper[i, m])
            change = value - beta[i, m]
            if change != 0:
                beta[i, m] = value
                for j in range(n_features):
                    weights[j, m] += change * x[i, j]


# ---- labels ------------------------------------------------------------------------------------------------------
def solve_binary_hinge(
    features: np.ndarray,
    labels: np.ndarray,
    weight: np.ndarray,
    positive_weight: float,
    ridge: float,
    dual: np.ndarray | None = None,
    tolerance: float = TOLERANCE,
) -> tuple[np.ndarray, np.ndarray]:
    """Return weights (features + 1, labels), the bias in the last row, and the dual (rows, labels).

    Labels that are NaN are not used. The hinge is the loss without epsilon of the targets ±1 whose dual has one sign,
    that of the target.
    """
    signs = np.where(labels > 0, 1.0, -1.0)
    boxes = np.where(labels > 0, positive_weight, 1.0) * _boxes(weight, ridge)[:, None]
    ends = signs * np.where(np.isnan(labels), 0.0, boxes)
    return _solve_in_bounds(features, signs, (np.minimum(ends, 0), np.maximum(ends, 0)), 0.0, dual, tolerance)
