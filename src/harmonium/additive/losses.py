"""Twice differentiable losses of scores, as Newton's method needs them: squares and likelihoods of classes and labels.

Each is made of the targets of some rows, and tells for given scores of the same rows what a step should aim at. A
*function* is what a step learns: one for each output, but of two classes one for both, which moves them apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from scipy.special import expit, logsumexp, softmax

# Smallest curvature of a row: below it, steps from probabilities of nearly 0 or 1 would be too long. A convention.
_SMALLEST = 1e-3


class Loss(Protocol):
    """A loss of the scores of some rows.

    Attributes
    ----------
    outputs : ndarray of shape (functions, outputs)
        By how much each function moves each output.
    """

    outputs: np.ndarray

    def losses(self, scores: np.ndarray) -> np.ndarray:
        """Return the loss of each row; 0 where the target is unknown."""

    def newton(self, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return slope and curvature of each row by each function, (rows, functions); 0 where it is unknown."""

    def take(self, rows: np.ndarray) -> Loss:
        """Return the loss of some of the rows."""


class Squares:
    """Half the squared distance to numbers; NaN is unknown.

    Examples
    --------
    >>> slope, curvature = Squares(np.array([[1.0], [np.nan]])).newton(np.array([[3.0], [3.0]]))
    >>> slope.ravel().tolist(), curvature.ravel().tolist()
    ([2.0, 0.0], [1.0, 0.0])
    """

    def __init__(self, values: np.ndarray) -> None:
        self.values = values
        self.outputs = np.eye(values.shape[1])

    def losses(self, scores: np.ndarray) -> np.ndarray:
        """Return half the squared distances, summed over outputs."""
        return 0.5 * np.square(self.newton(scores)[0]).sum(axis=1)

    def newton(self, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the distances, and 1."""
        known = ~np.isnan(self.values)
        return np.where(known, scores - self.values, 0.0), known.astype(np.float64)

    def take(self, rows: np.ndarray) -> Squares:
        """Return the loss of some of the rows."""
        return Squares(self.values[rows])


class Logistic:
    """Negative log-likelihood of labels, 0 or 1, whose log-odds are the scores; NaN is unknown."""

    def __init__(self, labels: np.ndarray) -> None:
        self.labels = labels
        self.outputs = np.eye(labels.shape[1])

    def losses(self, scores: np.ndarray) -> np.ndarray:
        """Return -log p of the labels, summed over outputs."""
        return np.nansum(np.logaddexp(0, scores) - self.labels * scores, axis=1)

    def newton(self, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return p - label, and p (1 - p)."""
        known, p = ~np.isnan(self.labels), expit(scores)
        return np.where(known, p - self.labels, 0.0), np.where(known, np.maximum(p * (1 - p), _SMALLEST), 0.0)

    def take(self, rows: np.ndarray) -> Logistic:
        """Return the loss of some of the rows."""
        return Logistic(self.labels[rows])


class Softmax:
    """Negative log-likelihood of classes, whose log-probabilities are the scores up to a constant.

    Columns of classes stand side by side, and a class of -1 is unknown.

    Examples
    --------
    >>> loss = Softmax(np.array([[1]]), [2])
    >>> loss.outputs.tolist(), [part.tolist() for part in loss.newton(np.zeros((1, 2)))]
    ([[-0.5, 0.5]], [[[-0.5]], [[0.25]]])
    """

    def __init__(self, classes: np.ndarray, n_classes: Sequence[int]) -> None:
        self.classes = classes
        self.n_classes = n_classes
        ends = np.cumsum(n_classes)
        self._columns = [slice(end - number, end) for end, number in zip(ends, n_classes, strict=True)]
        blocks = [np.array([[-0.5, 0.5]]) if number == 2 else np.eye(number) for number in n_classes]
        self.outputs = np.zeros((sum(map(len, blocks)), int(ends[-1])))
        first = 0
        for block, column in zip(blocks, self._columns, strict=True):
            self.outputs[first : first + len(block), column] = block
            first += len(block)

    def losses(self, scores: np.ndarray) -> np.ndarray:
        """Return -log p of the classes, summed over columns."""
        total = np.zeros(len(scores))
        for classes, column in zip(self.classes.T, self._columns, strict=True):
            rows = np.flatnonzero(classes >= 0)
            own = scores[rows, column]
            total[rows] += logsumexp(own, axis=1) - own[np.arange(len(rows)), classes[rows]]
        return total

    def newton(self, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return p - [class], and p (1 - p), of the second of two classes or of each class."""
        slopes, curvatures = [], []
        for classes, column, number in zip(self.classes.T, self._columns, self.n_classes, strict=True):
            p, own = softmax(scores[:, column], axis=1), np.arange(number)
            if number == 2:
                p, own = p[:, 1:], own[1:]
            known = (classes >= 0)[:, None]
            slopes.append(np.where(known, p - (classes[:, None] == own), 0.0))
            curvatures.append(np.where(known, np.maximum(p * (1 - p), _SMALLEST), 0.0))
        return np.hstack(slopes), np.hstack(curvatures)

    def take(self, rows: np.ndarray) -> Softmax:
        """Return the loss of some of the rows."""
        return Softmax(self.classes[rows], self.n_classes)
