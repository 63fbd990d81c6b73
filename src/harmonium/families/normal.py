"""Base of the families of real numbers: features that are normal and independent given the hidden units."""

from __future__ import annotations

import numpy as np

from harmonium.distributions import NormalDistribution
from harmonium.families.base import NOTHING, Family, Own
from harmonium.support import Support


class Normal(Family):
    """Base of families whose statistic is normal, with mean σ² · natural and variance σ² given the hidden units.

    A subclass says what the statistic is, and where the own parameter ``log_variance`` begins and how far it may go.
    """

    role = "family"  # named here, as this is no family by itself
    meant_for = "real numbers"

    @property
    def support(self) -> Support:
        """All finite real numbers."""
        return NormalDistribution(0.0).support

    def curvature(self, weights: np.ndarray, own: Own) -> np.ndarray | None:
        """Return Wᵀ diag(σ²) W."""
        return (weights * np.exp(own["log_variance"])[:, None]).T @ weights

    def own_from_residuals(self, variance: np.ndarray) -> dict[str, np.ndarray]:
        """Return the logarithms of the variances, within the limits of the log-variances."""
        lower, upper = self.own_bounds()["log_variance"]
        return {"log_variance": np.clip(np.log(np.maximum(variance, 1e-300)), lower, upper)}

    def distribution(self, own: Own = NOTHING, columns: np.ndarray | None = None) -> NormalDistribution:
        """Return the normal distribution with the variance of each feature."""
        log_variance = own["log_variance"]
        return NormalDistribution(log_variance if columns is None else log_variance[columns])

    def natural_from_mean(self, mean: np.ndarray) -> np.ndarray:
        """Return mean / σ² at the initial variance."""
        return mean * np.exp(-self.own_parameters()["log_variance"])

    def saturated_natural(
        self, statistic: np.ndarray, natural: np.ndarray, own: Own, size: np.ndarray | None = None
    ) -> np.ndarray:
        """Return the value divided by the present variance."""
        return statistic * np.exp(-own["log_variance"])

    def deviation(self, own: Own) -> np.ndarray:
        """Return σ for each feature."""
        return np.asarray(self.distribution(own).deviation)

    def own_statistics(
        self, mean: np.ndarray, own: Own, is_sample: bool, columns: np.ndarray | None = None
    ) -> dict[str, np.ndarray]:
        """Return E[x²] / 2σ², the derivative of -x² / 2σ² by log σ²."""
        value = -self.log_base(mean, own, columns)
        return {"log_variance": value if is_sample else value + value.dtype.type(0.5)}


def scales_of(variance: np.ndarray, mean: np.ndarray, is_sparse: bool) -> np.ndarray:
    """Return the standard deviation of each column, and 1 for columns that never vary."""
    scale = np.sqrt(variance)
    # a column whose spread is rounding error relative to its mean counts as constant; the rounding errors of sparse
    # columns are larger, as they are not centred before squares are summed
    rounding = 1e-6 if is_sparse else 1e-10
    return np.where(scale > rounding * np.maximum(np.abs(mean), 1e-30), scale, 1.0)
