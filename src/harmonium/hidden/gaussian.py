"""Real-valued hidden units."""

from __future__ import annotations

import math

import numpy as np

from harmonium.distributions import Distribution, NormalDistribution
from harmonium.hidden.base import HiddenLayer
from harmonium.validation import Number


class GaussianUnits(HiddenLayer):
    """Hidden layer of real units with mean s² · natural and a fixed variance s².

    Parameters
    ----------
    variance : float, default=1.0
        Conditional variance s². The default is that of Chen et al. (2012); another one only rescales units and weights.
    n_units : int, optional
        Number of units. By default it is the ``n_components`` of the estimator.

    Examples
    --------
    >>> GaussianUnits(variance=2.0).mean(np.ones((1, 1))).tolist()
    [[2.0]]
    """

    settings = {**HiddenLayer.settings, "variance": Number(remedy="1.0 is usual")}
    linear_mean = True

    def __init__(self, variance: float = 1.0, n_units: int | None = None) -> None:
        super().__init__(n_units)
        self.variance = variance

    @property
    def distribution(self) -> Distribution:
        """Distribution of normal numbers with variance s²."""
        return NormalDistribution(math.log(self.variance))

    @property
    def conditional_variance(self) -> float:
        """Variance s² of a unit given its natural parameter."""
        return float(self.variance)

    def boltzmann_machine(
        self, weights: np.ndarray, view_bias: np.ndarray, bias: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the machine of the features alone, whose couplings are s² WWᵀ."""
        return machine_of_features(weights, view_bias, bias, float(self.variance))


def machine_of_features(
    weights: np.ndarray, view_bias: np.ndarray, bias: np.ndarray, covariance: np.ndarray | float
) -> tuple[np.ndarray, np.ndarray]:
    """Return bias and couplings of binary features, with normal units of some covariance summed out."""
    spread = weights @ covariance if isinstance(covariance, np.ndarray) else weights * covariance
    couplings = spread @ weights.T
    # as x² = x, the diagonal is a part of the bias
    features = view_bias + spread @ bias + 0.5 * np.diag(couplings)
    np.fill_diagonal(couplings, 0)
    return features, couplings
