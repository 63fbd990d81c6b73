"""Normal densities of weights, and the moments of draws that they are estimated from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from harmonium.kernels.sampling.langevin import langevin_step
from harmonium.storage import serializable

#: smallest variance of a prior: below, weights are zero for all that single precision can tell
SMALLEST = 1e-12
# Share of the largest variance in any direction that there is at least in every other: what single precision can tell.
_LEAST_OF_LARGEST = 1e-5


@serializable
@dataclass
class Normal:
    """Mean and variance of the weights of each feature of a view, shape (features,), in float32."""

    mean: np.ndarray
    variance: np.ndarray

    def log_density(self, weights: np.ndarray) -> float:
        """Return the log-density of weights of shape (features, units), up to a constant."""
        square = np.square(weights - self.mean[:, None], dtype=np.float64)
        return -0.5 * float((square / self.variance[:, None]).sum())

    def slope(self, weights: np.ndarray) -> np.ndarray:
        """Return the gradient of the log-density by the weights."""
        return (self.mean[:, None] - weights) / self.variance[:, None]

    @property
    def precision(self) -> np.ndarray:
        """Inverse variance of each row of the coordinates in which `move` takes its steps."""
        return 1 / self.variance

    def in_coordinates(self, gradient: np.ndarray) -> np.ndarray:
        """Return a gradient by the weights as one by the coordinates in which `move` takes its steps."""
        return gradient

    def move(
        self,
        weights: np.ndarray,
        gradient: np.ndarray,
        scale: float,
        squared_step: np.ndarray,
        rng: np.random.Generator,
    ) -> np.ndarray:
        """Take a Langevin step in place and set the gradient to zero: see `langevin_step`."""
        return langevin_step(weights, gradient, scale, self.mean, self.variance, squared_step, rng)


@serializable
@dataclass
class JointNormal(Normal):
    """Mean and covariance of a column of weights, shapes (features,) and (features, features), in float32.

    Langevin steps are taken in the coordinates C^(-1/2) (W - mean), in which the prior is the standard normal.
    """

    covariance: np.ndarray

    def __post_init__(self) -> None:
        values, vectors = np.linalg.eigh(self.covariance.astype(np.float64))
        values = np.maximum(values, max(_LEAST_OF_LARGEST * values[-1], SMALLEST))
        self._root = ((vectors * np.sqrt(values)) @ vectors.T).astype(np.float32)
        self._inverse_root = ((vectors / np.sqrt(values)) @ vectors.T).astype(np.float32)

    @classmethod
    def of(cls, mean: np.ndarray, covariance: np.ndarray) -> Self:
        """Return the normal with a mean and a covariance."""
        variance = np.maximum(np.diag(covariance), SMALLEST)
        return cls(mean.astype(np.float32), variance.astype(np.float32), covariance.astype(np.float32))

    def _whitened(self, weights: np.ndarray) -> np.ndarray:
        return self._inverse_root @ (weights - self.mean[:, None])

    def log_density(self, weights: np.ndarray) -> float:
        """Return the log-density of weights of shape (features, units), up to a constant."""
        return -0.5 * float(np.square(self._whitened(weights), dtype=np.float64).sum())

    def slope(self, weights: np.ndarray) -> np.ndarray:
        """Return the gradient of the log-density by the weights."""
        return -self._inverse_root @ self._whitened(weights)

    @property
    def precision(self) -> np.ndarray:
        """Inverse variance of each row of the coordinates in which `move` takes its steps: 1."""
        return np.ones_like(self.variance)

    def in_coordinates(self, gradient: np.ndarray) -> np.ndarray:
        """Return a gradient by the weights as one by the coordinates in which `move` takes its steps."""
        return self._root @ gradient

    def move(
        self,
        weights: np.ndarray,
        gradient: np.ndarray,
        scale: float,
        squared_step: np.ndarray,
        rng: np.random.Generator,
    ) -> np.ndarray:
        """Take a Langevin step in place and set the gradient to zero: see `langevin_step`."""
        white, slope, ones = self._whitened(weights), self.in_coordinates(gradient), self.precision
        squares = langevin_step(white, slope, scale, np.zeros_like(ones), ones, squared_step, rng)
        weights[...] = self.mean[:, None] + self._root @ white
        gradient[...] = 0
        return squares


@serializable
@dataclass
class Moments:
    """Sums over draws, chains and units of the weights of each feature and of their squares."""

    total: np.ndarray
    squares: np.ndarray
    count: int = 0

    @classmethod
    def none(cls, n_features: int) -> Self:
        """Return sums over nothing."""
        return cls(np.zeros(n_features), np.zeros(n_features))

    def add(self, weights: np.ndarray) -> None:
        """Add one draw of the weights, shape (features, units)."""
        self.total += weights.sum(axis=1, dtype=np.float64)
        self.squares += np.square(weights, dtype=np.float64).sum(axis=1)
        self.count += weights.shape[1]


@serializable
@dataclass
class JointMoments(Moments):
    """Also sums of the products of weights of all pairs of features, and the number of units."""

    products: np.ndarray | None = None
    n_units: int = 0

    def add(self, weights: np.ndarray) -> None:
        """Add one draw of the weights, shape (features, units)."""
        super().add(weights)
        double = weights.astype(np.float64)
        product = double @ double.T
        self.products = product if self.products is None else self.products + product
        self.n_units = weights.shape[1]
