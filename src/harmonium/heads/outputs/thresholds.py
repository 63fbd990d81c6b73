"""Decision thresholds of labels: the cuts of their log-odds that are best by some measure on held-out rows.

Searches are exact: they try every cut that makes a difference. ``log_odds``, ``labels`` and ``weight`` have a row for
each held-out row and a column for each label; cells of weight 0 do not count. A cut lies half-way between the last
value that is above it and the first one that is not.

References: Lipton, Elkan & Naryanaswamy (2014), Optimal thresholding of classifiers to maximize F1 measure; Fan & Lin
(2007), A study on threshold selection for multi-label classification, on why those of rare labels need help.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
from scipy.special import expit

Measure = Literal["example_f1", "micro_f1", "macro_f1", "accuracy"]
# Rows that have a label, as many as the model's own probabilities of it count for when its cut is chosen: a convention.
_EXPECTED_ROWS = 10.0
# Standard errors by which a cut is clearly worse than another one, and the mean by which it is so however few rows
# there are: conventions. With fewer standard errors rows get more labels than they have, where labels are many.
_CLEARLY, _LARGEST_LOSS = 2.0, 0.01
# Weight of the loss beside a number of labels: it decides between cuts that are equally near to the true one.
_TIE = 1e-6


def of_accuracy(log_odds: np.ndarray, labels: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return cuts that make the fewest mistakes if probabilities are right: one half for each label.

    Examples
    --------
    >>> of_accuracy(np.zeros((2, 3)), np.ones((2, 3)), np.ones((2, 3))).tolist()
    [0.0, 0.0, 0.0]
    """
    return np.zeros(log_odds.shape[1])


def of_micro_f1(log_odds: np.ndarray, labels: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return one cut for all labels, of the largest F1 over all rows and labels together.

    Examples
    --------
    >>> of_micro_f1(np.array([[3.0, 1.0], [0.0, -2.0]]), np.array([[1.0, 1.0], [0.0, 0.0]]), np.ones((2, 2))).tolist()
    [0.5, 0.5]
    """
    return np.full(log_odds.shape[1], _cut_of_f1(log_odds.ravel(), labels.ravel(), weight.ravel()))


def of_macro_f1(log_odds: np.ndarray, labels: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return a cut for each label, of its largest F1; what few rows show is mixed with what the model expects.

    A label's truth is a mean of what was seen, which counts for as many rows as have the label, and of its probability,
    which counts for ten. So a label that no held-out row has is cut where its expected F1 is largest.

    Examples
    --------
    >>> of_macro_f1(np.array([[3.0], [1.0], [-4.0]]), np.array([[1.0], [1.0], [0.0]]), np.ones((3, 1))).tolist()
    [-1.5]
    """
    known = np.where(weight > 0, labels, 0.0)
    n_present = (known * weight).sum(axis=0)
    expected = (n_present * known + _EXPECTED_ROWS * expit(log_odds)) / (n_present + _EXPECTED_ROWS)
    return np.array([_cut_of_f1(*columns) for columns in zip(log_odds.T, expected.T, weight.T, strict=True)])


def of_example_f1(log_odds: np.ndarray, labels: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return one cut for all labels, of a large mean over rows of the F1 of a row's labels.

    Of all cuts whose mean is not clearly below the largest (by two standard errors of the difference, or by .01), it is
    the one that gives rows as many labels as they have, or nearly so. The F1 of a row that has no label is 1 if none is
    predicted, else 0.

    Examples
    --------
    >>> of_example_f1(np.array([[3.0, 1.0], [2.0, 0.0]]), np.array([[1.0, 1.0], [1.0, 0.0]]), np.ones((2, 2))).tolist()
    [0.5, 0.5]
    """
    counts = weight > 0
    order = np.argsort(np.where(counts, -log_odds, np.inf), axis=1, kind="stable")
    hits = np.take_along_axis(np.where(counts, labels, 0.0), order, axis=1)
    n_true, n_predicted = hits.sum(axis=1, keepdims=True), np.arange(1, hits.shape[1] + 1)
    # of each row, by the number of labels that are above the cut
    f1 = np.hstack([n_true == 0, 2 * np.cumsum(hits, axis=1) / (n_true + n_predicted)])
    by_row = weight.max(axis=1, keepdims=True)
    values, used = np.take_along_axis(log_odds, order, axis=1), np.take_along_axis(counts, order, axis=1)

    def gains(quantity: np.ndarray) -> np.ndarray:
        """What each label adds to the sum of a quantity over rows when the cut falls below it."""
        return (by_row * np.diff(quantity, axis=1))[used]

    best = _cut(values[used], [gains(f1)], lambda gain: gain)
    loss = np.take_along_axis(f1, ((values > best) & used).sum(axis=1, keepdims=True), axis=1) - f1
    at_first, square_at_first = (by_row.T @ loss[:, :1]).item(), (by_row.T @ loss[:, :1] ** 2).item()
    n_rows, n_labels = by_row.sum(), (by_row * n_true).sum()

    def quality(change: np.ndarray, change_of_square: np.ndarray, predicted: np.ndarray) -> np.ndarray:
        """How near the number of labels is to the true one, and between equals how small the loss is."""
        mean, square = (at_first + change) / n_rows, (square_at_first + change_of_square) / n_rows
        error = np.sqrt(np.maximum(square - mean**2, 0) / n_rows)
        close = mean <= np.minimum(_CLEARLY * error, _LARGEST_LOSS) + 1e-9
        return np.where(close, -np.abs(predicted - n_labels) - _TIE * mean, -np.inf)

    parts = [gains(loss), gains(loss**2), np.broadcast_to(by_row, used.shape)[used]]
    return np.full(log_odds.shape[1], _cut(values[used], parts, quality))


def _cut_of_f1(values: np.ndarray, truth: np.ndarray, weight: np.ndarray) -> float:
    """Return the cut of the largest F1; the truth may lie between 0 and 1."""
    used = weight > 0
    values, truth, weight = values[used], truth[used], weight[used]
    total = (weight * truth).sum()

    def f1(hits: np.ndarray, predicted: np.ndarray) -> np.ndarray:
        return 2 * hits / np.maximum(predicted + total, 1e-300)

    return _cut(values, [weight * truth, weight], f1)


def _cut(values: np.ndarray, parts: list[np.ndarray], measure: Callable[..., np.ndarray]) -> float:
    """Return the cut for which a measure of the sums of the parts above it is largest; of equals, the highest."""
    if not len(values):
        return 0.0
    order = np.argsort(-values, kind="stable")
    values = values[order]
    ends = np.append(np.flatnonzero(np.diff(values)), len(values) - 1)  # equal values are cut together
    sums = [np.concatenate([np.zeros(1), np.cumsum(part[order])[ends]]) for part in parts]
    best = int(np.argmax(np.round(measure(*sums), 12)))  # sums of the same terms differ by rounding errors
    edges = np.concatenate([values[:1] + 1, values[ends], values[-1:] - 1])
    return float((edges[best] + edges[best + 1]) / 2)


CUTS: dict[Measure, Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]] = {
    "example_f1": of_example_f1,
    "micro_f1": of_micro_f1,
    "macro_f1": of_macro_f1,
    "accuracy": of_accuracy,
}
