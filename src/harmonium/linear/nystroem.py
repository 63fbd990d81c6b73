"""Nystroem features of a Gaussian kernel, by which a linear model follows what is not linear in the inputs.

A row is described by its kernel with some training rows, the *landmarks*. Linear models of these features are those of
the kernel, as far as the landmarks span its space.

Reference: Williams & Seeger (2001), Using the Nyström method to speed up kernel machines.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.linalg import eigh

# Landmarks of a view: a convention, with which least squares are about as good as machines with the whole kernel.
_MAX_LANDMARKS = 400
# Directions in which landmarks differ by less than this part of the largest are rounding errors.
_SMALLEST = 1e-7
# Nodes of the quadrature of gradients along a line: the sum is right to many digits, and the rest is shown for itself.
_NODES = 32


@dataclass(frozen=True, eq=False)
class Nystroem:
    """Nystroem features: Gaussian kernels around landmarks.

    Attributes
    ----------
    landmarks : ndarray of shape (landmarks, inputs)
        Rows that others are compared with.
    gamma : float
        Factor of the squared distance in the exponent.
    basis : ndarray of shape (landmarks, features)
        Combinations of the kernels that are orthonormal in the space of the kernel.

    Examples
    --------
    >>> rows = np.array([[0.0], [1.0], [3.0]])
    >>> features = Nystroem.fitted(rows, gamma=0.5).transform(rows)
    >>> (features @ features.T).round(4).tolist()  # the kernel itself, as all rows are landmarks
    [[1.0, 0.6065, 0.0111], [0.6065, 1.0, 0.1353], [0.0111, 0.1353, 1.0]]
    """

    landmarks: np.ndarray
    gamma: float
    basis: np.ndarray

    @classmethod
    def fitted(cls, rows: np.ndarray, gamma: float) -> Self:
        """Return kernels around some of the rows, which are spread evenly over all."""
        number = min(len(rows), _MAX_LANDMARKS)
        landmarks = np.unique(rows[np.linspace(0, len(rows) - 1, number).astype(int)], axis=0)
        values, vectors = eigh(_kernel(landmarks, landmarks, gamma))
        kept = values > _SMALLEST * values[-1]
        return cls(landmarks, gamma, vectors[:, kept] / np.sqrt(values[kept]))

    def transform(self, rows: np.ndarray) -> np.ndarray:
        """Return the features of each row, whose products are the kernel."""
        return _kernel(rows, self.landmarks, self.gamma) @ self.basis

    def contributions(self, row: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return the integrated gradients of each input on the straight line from zero to a row.

        Parameters
        ----------
        row : ndarray of shape (inputs,)
            The row.
        weights : ndarray of shape (features, outputs)
            Weights of the features.

        Returns
        -------
        ndarray of shape (inputs, outputs)
            Contributions that add up to the difference between the row and zero, but for the error of the quadrature.

        References
        ----------
        Sundararajan, Taly & Yan (2017), Axiomatic attribution for deep networks.
        """
        nodes, node_weights = np.polynomial.legendre.leggauss(_NODES)
        by_landmark = self.basis @ weights
        total = np.zeros((len(row), weights.shape[1]))
        for node, node_weight in zip((nodes + 1) / 2, node_weights / 2, strict=True):
            point = node * row
            kernel = _kernel(point[None], self.landmarks, self.gamma)[0]
            total += node_weight * (-2 * self.gamma) * ((point - self.landmarks) * kernel[:, None]).T @ by_landmark
        return row[:, None] * total


def _kernel(rows: np.ndarray, others: np.ndarray, gamma: float) -> np.ndarray:
    from sklearn.metrics.pairwise import euclidean_distances

    return np.exp(-gamma * euclidean_distances(rows, others, squared=True))
