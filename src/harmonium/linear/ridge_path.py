"""Ridge regression of sparse features for all values of C at once.

The ridges of one least-squares problem share their Krylov spaces: the space of a few steps of the bidiagonalisation of
Golub and Kahan holds the solutions of all of them, each that of a small bidiagonal problem. The steps, which pass over
the features, are taken once, and another C asks for a few more of them at most.

Reference: Paige & Saunders (1982), LSQR: an algorithm for sparse linear equations and sparse least squares, §2 and §5.3
(norms of what is left); Björck (1988), A bidiagonalization algorithm for solving large and sparse ill-posed systems.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import solveh_banded

from harmonium.linear.scaling import Features

# Steps at most, whatever is left then: a convention. It takes about fifty.
_MAX_STEPS = 1000


class RidgePath:
    """Ridges of one column of numbers: least squares plus half the squared norm of the weights divided by C.

    The intercept, which has no penalty, is solved for by centring the features without writing the centred ones down.

    Parameters
    ----------
    features : sparse array of shape (rows, features)
        Features.
    values : ndarray of shape (rows,)
        Numbers.
    weight : ndarray of shape (rows,)
        Weights of the rows.
    tolerance : float
        Largest gradient that may be left of the objective of the weights, in units of that at zero.

    Examples
    --------
    >>> import scipy.sparse
    >>> path = RidgePath(scipy.sparse.csr_array(np.eye(3)), np.array([0.0, 0.0, 3.0]), np.ones(3))
    >>> [path.solve(C)[0].ravel().round(2).tolist() for C in (1e-6, 1.0)]
    [[-0.0, -0.0, 0.0], [-0.5, -0.5, 1.0]]
    """

    def __init__(self, features: Features, values: np.ndarray, weight: np.ndarray, tolerance: float = 1e-3) -> None:
        self.tolerance = tolerance
        self._features, self._transposed, self._root = features, features.T, np.sqrt(weight)
        total = max(float(weight.sum()), 1e-300)
        self._centre, self._mean = self._transposed @ weight / total, float(weight @ values) / total
        # B: its diagonal, and what is below it; the last direction of the rows, and all of those of the features
        self._diagonal: list[float] = []
        self._below: list[float] = []
        self._directions: list[np.ndarray] = []
        self._row, self._length = _normed(self._root * (values - self._mean))
        self._add_direction(self._back(self._row))

    def solve(self, C: float) -> tuple[np.ndarray, float]:
        """Return the weights of the features, and the bias."""
        solution = self._small_solution(C)
        while self._left(solution) > self.tolerance and len(self._diagonal) < _MAX_STEPS:
            self._step()
            solution = self._small_solution(C)
        weights = np.zeros(self._features.shape[1])
        for direction, size in zip(self._directions, solution, strict=False):
            weights += size * direction
        return weights, self._mean - float(self._centre @ weights)

    def _step(self) -> None:
        """Add one direction to the space."""
        row = self._forth(self._directions[-1]) - self._diagonal[-1] * self._row
        self._row, length = _normed(row)
        self._below.append(length)
        self._add_direction(self._back(self._row) - length * self._directions[-1])

    def _add_direction(self, direction: np.ndarray) -> None:
        direction, length = _normed(direction)
        self._directions.append(direction)
        self._diagonal.append(length)

    def _forth(self, weights: np.ndarray) -> np.ndarray:
        """Return the products of centred features and weights, on the scale of least squares."""
        return self._root * (self._features @ weights - self._centre @ weights)

    def _back(self, rows: np.ndarray) -> np.ndarray:
        scaled = self._root * rows
        return self._transposed @ scaled - self._centre * scaled.sum()

    def _small_solution(self, C: float) -> np.ndarray:
        """Return the solution in the space of all complete directions: of (BᵀB + 1/C) y = Bᵀ b."""
        diagonal, below = np.array(self._diagonal[:-1]), np.array(self._below)
        if len(diagonal) < 2:
            return self._length * diagonal / (np.square(diagonal) + np.square(below) + 1 / C)
        banded = np.zeros((2, len(diagonal)))
        banded[1] = np.square(diagonal) + np.square(below) + 1 / C
        banded[0, 1:] = diagonal[1:] * below[:-1]
        target = np.zeros(len(diagonal))
        target[0] = diagonal[0] * self._length
        return np.asarray(solveh_banded(banded, target))

    def _left(self, solution: np.ndarray) -> float:
        """Return the length of the gradient that a solution leaves, in units of that at zero."""
        at_zero = self._diagonal[0] * self._length
        if at_zero == 0:
            return 0.0
        return abs(self._diagonal[-1] * self._below[-1] * solution[-1]) / at_zero if len(solution) else 1.0


def _normed(vector: np.ndarray) -> tuple[np.ndarray, float]:
    """Return a vector of length 1, or 0 if there is nothing of it, and its length."""
    length = float(np.linalg.norm(vector))
    return (vector / length if length > 0 else vector), length
