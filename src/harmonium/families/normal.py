"""Base of the families of real numbers: features that are normal and independent given the hidden units."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from harmonium.core.distributions import NormalDistribution
from harmonium.core.support import Support
from harmonium.families.base import Family
from harmonium.families.protocol.domain import Domain
from harmonium.families.protocol.extra_parameters import NO_EXTRA, Extra, ExtraParameters


class RealLine(Domain):
    """All natural parameters, with log-partitions that grow as their squares."""

    def curvature(self, weights: np.ndarray, extra: Extra) -> np.ndarray | None:
        """Return Wᵀ diag(σ²) W."""
        return (weights * np.exp(extra["log_variance"])[:, None]).T @ weights


@dataclass(frozen=True)
class LogVariances(ExtraParameters):
    """Logarithms of the variances of features given the hidden units: where they begin, and how far they may go."""

    n_features: int
    start: float
    lower: float
    upper: float

    @property
    def bounds(self) -> dict[str, tuple[float, float]]:
        """Limits of the log-variances."""
        return {"log_variance": (self.lower, self.upper)}

    @property
    def initial(self) -> dict[str, np.ndarray]:
        """Initial log-variances."""
        return {"log_variance": np.full(self.n_features, self.start)}

    def from_residuals(self, variance: np.ndarray) -> dict[str, np.ndarray]:
        """Return the logarithms of the variances, within the limits."""
        return {"log_variance": np.clip(np.log(np.maximum(variance, 1e-300)), self.lower, self.upper)}

    def statistics(
        self,
        mean: np.ndarray,
        extra: Extra,
        inferred: bool | np.ndarray,
        columns: np.ndarray | None = None,
    ) -> dict[str, np.ndarray]:
        """Return E[x²] / 2σ², the derivative of -x² / 2σ² by log σ²."""
        value = -_distribution(extra, columns).log_base(mean)
        return {"log_variance": np.where(inferred, value + value.dtype.type(0.5), value)}


class Normal(Family):
    """Base of families whose statistic is normal, with mean σ² · natural and variance σ² given the hidden units.

    A subclass says what the statistic is, and how far log-variances, its `extra_parameters`, may go.
    """

    role = "family"  # named here, as this is no family by itself
    meant_for = "real numbers"

    @property
    def support(self) -> Support:
        """All finite real numbers."""
        return NormalDistribution(0.0).support

    def distribution(self, extra: Extra = NO_EXTRA, columns: np.ndarray | None = None) -> NormalDistribution:
        """Return the normal distribution with the variance of each feature."""
        return _distribution(extra, columns)

    def natural_from_mean(self, mean: np.ndarray) -> np.ndarray:
        """Return mean / σ² at the initial variance."""
        return mean * np.exp(-self.extra_parameters.initial["log_variance"])

    def saturated_natural(
        self, statistic: np.ndarray, natural: np.ndarray, extra: Extra, size: np.ndarray | None = None
    ) -> np.ndarray:
        """Return the value divided by the present variance."""
        return statistic * np.exp(-extra["log_variance"])


def _distribution(extra: Extra, columns: np.ndarray | None) -> NormalDistribution:
    log_variance = extra["log_variance"]
    return NormalDistribution(log_variance if columns is None else log_variance[columns])
