"""Calibration: probabilities from scores, by temperature, margin and Platt scaling on held-out rows.

Targets are smoothed as by Platt (1999), Probabilistic outputs for support vector machines, §2.2: what was seen n times,
each time without mistake, is seen again with probability (n + 1) / (n + 2). So rows that scores separate perfectly make
no probabilities of 0 and 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize, minimize_scalar
from scipy.special import expit, log_expit, logsumexp

# Margin scaling, all by convention: bounds of log factors; bounds of powers, above -1 so that a larger margin is a
# larger probability; width of the prior of powers around 0; and the margin, in units of their mean, below which all
# are alike.
_LOG_FACTORS, _POWERS, _POWER_WIDTH, _SMALLEST_MARGIN = (-7.0, 7.0), (-0.9, 3.0), 0.5, 0.01
# Calibration of single labels, all by convention: where the widths of the prior start and may go, in log factors and
# log-odds; rounds of the EM algorithm at most, and the change below which it ends; bounds of log factors and shifts;
# how often a step that does not help is halved.
_FIRST_WIDTH = 0.5
_WIDTHS = (0.01, 5.0)
_ROUNDS = 15
_SETTLED = 1e-3
_BOUNDS = (np.array([-7.0, -20.0]), np.array([7.0, 20.0]))
_HALVINGS = 8


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

    # factors of up to e⁷, or about 1,000, as scores without any spread ask for infinite ones
    return float(np.exp(minimize_scalar(loss, bounds=_LOG_FACTORS, method="bounded").x))


@dataclass(frozen=True)
class MarginScaling:
    """Factor of the scores of a row that depends on its margin m, by which the largest is ahead: a (m / unit)^power.

    Scores that learn by margins, not by likelihoods, are no log-probabilities up to one factor: beyond some margin,
    rows are surer, or less sure, than in proportion to it. The order of a row's scores stays as it is.
    """

    factor: float = 1.0
    power: float = 0.0
    unit: float = 1.0

    def scaled(self, scores: np.ndarray) -> np.ndarray:
        """Return log-probabilities up to a number for each row, the largest being zero."""
        below = scores - scores.max(axis=1, keepdims=True)
        return self.factor * np.exp(self.power * self.log_margins(scores))[:, None] * below

    def log_margins(self, scores: np.ndarray) -> np.ndarray:
        """Return log(m / unit) of each row."""
        if scores.shape[1] < 2:
            return np.zeros(len(scores))
        second, first = np.partition(scores, -2, axis=1)[:, -2:].T
        return np.log(np.maximum((first - second) / self.unit, _SMALLEST_MARGIN))

    @classmethod
    def fitted(cls, scores: np.ndarray, classes: np.ndarray, weight: np.ndarray) -> MarginScaling:
        """Return the scaling that makes the held-out classes most probable; class -1 is unknown.

        Examples
        --------
        >>> scores = np.array([[1.0, 0.0]] * 400)
        >>> MarginScaling.fitted(scores, np.array([0, 0, 0, 1] * 100), np.ones(400)).scaled(scores)[0].round(1).tolist()
        [0.0, -1.1]
        """
        rows = np.flatnonzero((classes >= 0) & (weight > 0))
        factor = fit_temperature(scores, classes, weight)
        if not len(rows) or scores.shape[1] < 2:
            return cls(factor)
        scores, classes, weight = scores[rows].astype(np.float64), classes[rows], weight[rows]
        second, first = np.partition(scores, -2, axis=1)[:, -2:].T
        start = cls(factor, 0.0, float(np.average(first - second, weights=weight)) or 1.0)
        found = _most_probable_scaling(start, scores, smoothed_classes(classes, weight, scores.shape[1]), weight)
        return cls(float(np.exp(found[0])), float(found[1]), start.unit)


def _most_probable_scaling(
    start: MarginScaling, scores: np.ndarray, aims: np.ndarray, weight: np.ndarray
) -> np.ndarray:
    """Return log factor and power, most probable under a normal prior of the power."""
    log_margins = start.log_margins(scores)
    below = scores - scores.max(axis=1, keepdims=True)
    truth = (below * aims).sum(axis=1)

    def loss(point: np.ndarray) -> tuple[float, np.ndarray]:
        factor = np.exp(point[0] + point[1] * log_margins)
        scaled = factor[:, None] * below
        normaliser = logsumexp(scaled, axis=1)
        expected = (np.exp(scaled - normaliser[:, None]) * below).sum(axis=1)
        slope = weight * factor * (expected - truth)
        penalty = 0.5 * (point[1] / _POWER_WIDTH) ** 2
        gradient = np.array([slope.sum(), slope @ log_margins + point[1] / _POWER_WIDTH**2])
        return float(weight @ (normaliser - factor * truth)) + penalty, gradient

    first = np.array([np.log(start.factor), 0.0])
    return minimize(loss, first, jac=True, method="L-BFGS-B", bounds=[_LOG_FACTORS, _POWERS]).x


def fit_sigmoid(scores: np.ndarray, labels: np.ndarray, weight: np.ndarray) -> tuple[float, float]:
    """Return factor a and shift b, shared by all labels, for which σ(a s + b) makes held-out labels most probable."""
    cells = _Cells.of(labels, weight)
    values = scores.astype(np.float64)

    def loss(point: np.ndarray) -> tuple[float, np.ndarray]:
        factor, shift = np.exp(point[0]), point[1]
        log_odds = factor * values + shift
        slope = cells.weight * (expit(log_odds) - cells.aims)
        likelihood = cells.aims * log_expit(log_odds) + (1 - cells.aims) * log_expit(-log_odds)
        return -float((cells.weight * likelihood).sum()), np.array([factor * (slope * values).sum(), slope.sum()])

    if not cells.weight.any():
        return 1.0, 0.0
    # bounds by convention, as above
    result = minimize(loss, np.zeros(2), jac=True, method="L-BFGS-B", bounds=[(-7.0, 7.0), (-20.0, 20.0)])
    return float(np.exp(result.x[0])), float(result.x[1])


def fit_sigmoids(scores: np.ndarray, labels: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return a factor and a shift for each label, close to those of the other labels where it is rare.

    Parameters
    ----------
    scores : ndarray of shape (rows, labels)
        Scores of held-out rows.
    labels : ndarray of shape (rows, labels)
        0, 1, or NaN where a label is unknown.
    weight : ndarray of shape (rows,)
        Weights of the rows.

    Returns
    -------
    factors, shifts : ndarray of shape (labels,)
        a and b of σ(a s + b).

    Notes
    -----
    Over the labels, log a and b are normal around a common centre. The centre and the two widths are those that make
    the labels most probable, found by the EM algorithm with normal approximations of each label's posterior
    (empirical Bayes); a label's own values are then the most probable ones given both.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> scores = rng.normal(size=(2000, 3))
    >>> labels = (rng.random(scores.shape) < expit(2 * scores + [-2, 0, 2])).astype(float)
    >>> factors, shifts = fit_sigmoids(scores, labels, np.ones(2000))
    >>> factors.round().tolist(), shifts.round().tolist()
    ([2.0, 2.0, 2.0], [-2.0, 0.0, 2.0])
    """
    factor, shift = fit_sigmoid(scores, labels, weight)
    cells = _Cells.of(labels, weight)
    # measured from their mean, scores make factors and shifts nearly independent
    location = np.average(scores.astype(np.float64), weights=cells.weight)
    scores = scores - location
    centre, width = np.array([np.log(factor), shift + factor * location]), np.full(2, _FIRST_WIDTH)
    points = np.tile(centre, (scores.shape[1], 1))
    for _ in range(_ROUNDS):
        points, variance = most_probable(scores, cells.aims, cells.weight, centre, width, points)
        before = np.concatenate([centre, width])
        centre = points.mean(axis=0)
        width = np.sqrt((np.square(points - centre) + variance).mean(axis=0)).clip(*_WIDTHS)
        if np.abs(np.concatenate([centre, width]) - before).max() < _SETTLED:
            break
    points, _ = most_probable(scores, cells.aims, cells.weight, centre, width, points, n_steps=10)
    factors = np.exp(points[:, 0])
    return factors, points[:, 1] - factors * location


def most_probable(
    scores: np.ndarray,
    aims: np.ndarray,
    weight: np.ndarray,
    centre: np.ndarray,
    width: np.ndarray,
    start: np.ndarray,
    n_steps: int = 2,
) -> tuple[np.ndarray, np.ndarray]:
    """Return log a and b of each label, most probable under a normal prior, and their variances, by Newton's method.

    All arrays but ``centre`` and ``width`` (of log a and b) have a column for each label, ``start`` and the results a
    row.
    """
    precision = width**-2.0

    def losses(points: np.ndarray) -> np.ndarray:
        log_odds = np.exp(points[:, 0]) * scores + points[:, 1]
        # -aims log σ(u) - (1 - aims) log σ(-u), as log σ(u) - log σ(-u) = u
        loss = (weight * (np.logaddexp(0, log_odds) - aims * log_odds)).sum(axis=0)
        return loss + 0.5 * np.square((points - centre) / width).sum(axis=1)

    points, lowest = start, losses(start)
    for _ in range(n_steps):
        scaled = np.exp(points[:, 0]) * scores
        mean = expit(scaled + points[:, 1])
        slope, curvature = weight * (mean - aims), weight * mean * (1 - mean)
        gradient = np.stack([(slope * scaled).sum(axis=0), slope.sum(axis=0)], axis=1) + (points - centre) * precision
        across = (curvature * scaled).sum(axis=0)
        first = (curvature * np.square(scaled)).sum(axis=0) + precision[0]
        second = curvature.sum(axis=0) + precision[1]
        determinant = first * second - np.square(across)
        by_factor, by_shift = gradient.T
        steps = np.stack([second * by_factor - across * by_shift, first * by_shift - across * by_factor], axis=1)
        steps /= determinant[:, None]
        for _ in range(_HALVINGS):
            moved = points - steps
            loss = losses(moved.clip(*_BOUNDS))
            worse = ~(loss <= lowest)
            if not worse.any():
                break
            steps[worse] /= 2
        points = np.where(worse[:, None], points, moved.clip(*_BOUNDS))
        lowest = np.where(worse, lowest, loss)
    return points, np.stack([second, first], axis=1) / determinant[:, None]


@dataclass(frozen=True)
class _Cells:
    """What to aim at for each row and label, and its weight: 0 where the label is unknown."""

    aims: np.ndarray
    weight: np.ndarray

    @classmethod
    def of(cls, labels: np.ndarray, weight: np.ndarray) -> _Cells:
        weights = np.where(np.isnan(labels), 0.0, weight[:, None])
        present = labels > 0
        aims = np.where(present, smoothed(weights[present].sum()), 1 - smoothed(weights[~present].sum()))
        return cls(aims, weights)
