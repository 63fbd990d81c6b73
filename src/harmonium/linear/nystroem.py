"""Resemblance to known rows: features by which a linear model can follow what is not linear in the inputs.

A row is described by how near it is to some training rows, the *landmarks*, in the sense of a Gaussian kernel. Linear
models of these features are those of the kernel, as far as the landmarks span its space (the Nyström method: Williams &
Seeger 2001, Using the Nyström method to speed up kernel machines).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.linalg import eigh

# Landmarks of a view: a convention. Held-out errors of least squares with 200 and 400 of them, and of machines with the
# whole kernel, on 300 to 1,450 training rows: mfeat .013, .009, .013; its views .031, .040, .024; .173, .169, .176;
# .173, .166, .156; Wikipedia .255, .255, .279 (there a kernel for each view helps); digits .018, .015, .017.
_MOST_LANDMARKS = 400
# Directions in which landmarks differ by less than this share of the largest are rounding errors.
_SMALLEST = 1e-7
# Places at which slopes are taken along a line: their sum is right to many digits, and the rest is shown for itself.
_NODES = 32


@dataclass(frozen=True, eq=False)
class Resemblance:
    """Gaussian kernels around landmarks.

    Attributes
    ----------
    landmarks : ndarray of shape (landmarks, inputs)
        Rows that others are compared with.
    precision : float
        Factor of the squared distance in the exponent.
    basis : ndarray of shape (landmarks, features)
        Combinations of the kernels that are orthonormal in the space of the kernel.

    Examples
    --------
    >>> rows = np.array([[0.0], [1.0], [3.0]])
    >>> found = Resemblance.learned(rows, precision=0.5).features(rows)
    >>> (found @ found.T).round(4).tolist()  # the kernel itself, as all rows are landmarks
    [[1.0, 0.6065, 0.0111], [0.6065, 1.0, 0.1353], [0.0111, 0.1353, 1.0]]
    """

    landmarks: np.ndarray
    precision: float
    basis: np.ndarray

    @classmethod
    def learned(cls, rows: np.ndarray, precision: float) -> Self:
        """Return kernels around some of the rows, which are spread evenly over all."""
        number = min(len(rows), _MOST_LANDMARKS)
        landmarks = np.unique(rows[np.linspace(0, len(rows) - 1, number).astype(int)], axis=0)
        values, vectors = eigh(_kernel(landmarks, landmarks, precision))
        kept = values > _SMALLEST * values[-1]
        return cls(landmarks, precision, vectors[:, kept] / np.sqrt(values[kept]))

    def features(self, rows: np.ndarray) -> np.ndarray:
        """Return how much each row resembles the landmarks, in coordinates whose products are the kernel."""
        return _kernel(rows, self.landmarks, self.precision) @ self.basis

    def shares(self, row: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return what each input adds on the straight line from zero to a row: integrated gradients.

        Parameters
        ----------
        row : ndarray of shape (inputs,)
            The row.
        weights : ndarray of shape (features, outputs)
            Weights of the features.

        Returns
        -------
        ndarray of shape (inputs, outputs)
            Shares that add up to the difference between the row and zero, but for the error of the quadrature.

        References
        ----------
        Sundararajan, Taly & Yan (2017), Axiomatic attribution for deep networks.
        """
        nodes, shares = np.polynomial.legendre.leggauss(_NODES)
        around = self.basis @ weights
        total = np.zeros((len(row), weights.shape[1]))
        for node, share in zip((nodes + 1) / 2, shares / 2, strict=True):
            place = node * row
            near = _kernel(place[None], self.landmarks, self.precision)[0]
            total += share * (-2 * self.precision) * ((place - self.landmarks) * near[:, None]).T @ around
        return row[:, None] * total


def _kernel(rows: np.ndarray, others: np.ndarray, precision: float) -> np.ndarray:
    from sklearn.metrics.pairwise import euclidean_distances

    return np.exp(-precision * euclidean_distances(rows, others, squared=True))
