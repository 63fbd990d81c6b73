"""Real-valued features."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np

from harmonium.families.base import NOTHING, Family, Own
from harmonium.laws import NormalLaw
from harmonium.support import Support
from harmonium.validation import Number


class Gaussian(Family):
    """Real values. The statistic is the standardised value, so that features of any scale train alike.

    Given the hidden units, a standardised feature has mean σ² · natural and variance σ². Dense columns are centred and
    scaled; sparse ones are only scaled (centring would make them dense).

    Parameters
    ----------
    variance : float or "learn", default=1.0
        Conditional variance σ² of the standardised features: a number fixes it (1.0 means: that of the data), "learn"
        fits one for each feature in log space, between 0.01 and 1.

    Examples
    --------
    >>> Gaussian().mean(np.array([[2.0]]), {"log_variance": np.log([0.5])}).tolist()
    [[1.0]]
    """

    meant_for = "real numbers"
    natural_limits = (-1e4, 1e4)
    location_: np.ndarray
    scale_: np.ndarray

    settings = {"variance": Number(remedy="1.0 means: that of the data, or pass 'learn'", also=("learn",))}

    def __init__(self, variance: float | Literal["learn"] = 1.0) -> None:
        self.variance = variance

    @property
    def support(self) -> Support:
        """The real line."""
        return NormalLaw(0.0).support

    @classmethod
    def suits(cls, summary: Any, bounded: bool) -> int:
        """Any numbers, if nothing suits them better."""
        return 1

    def curvature(self, weights: np.ndarray, own: Own) -> np.ndarray | None:
        """Wᵀ diag(σ²) W."""
        return (weights * np.exp(own["log_variance"])[:, None]).T @ weights

    def bind(self, summary: Any) -> Self:
        """Keep location and scale of the columns; a column that never varies keeps scale 1."""
        scale = np.sqrt(summary.variance)
        # a column whose spread is rounding error relative to its size counts as constant; sparse ones are not centred
        # before squares are summed, so theirs is larger
        rounding = 1e-6 if summary.is_sparse else 1e-10
        scale = np.where(scale > rounding * np.maximum(np.abs(summary.mean), 1e-30), scale, 1.0)
        location = np.zeros_like(summary.mean) if summary.is_sparse else summary.mean
        return self.with_fitted(n_features_=summary.n_columns, location_=location, scale_=scale)

    def constants(self) -> dict[str, np.ndarray]:
        """Location and scale of the columns."""
        return {"location": self.location_, "scale": self.scale_}

    def encode(self, values: np.ndarray) -> np.ndarray:
        """Standardise."""
        return (values - self.location_) / self.scale_

    @property
    def keeps_zeros(self) -> bool:
        """Unless columns were centred."""
        return not self.location_.any()

    def encode_nonzeros(self, values: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Scale."""
        return values / self.scale_[columns]

    def decode(self, mean: np.ndarray) -> np.ndarray:
        """Back to the user's units."""
        return mean * self.scale_ + self.location_

    def log_volume(self) -> np.ndarray:
        """Minus the logarithm of the scale."""
        return -np.log(self.scale_)

    def own_parameters(self) -> dict[str, np.ndarray]:
        """Log-variances."""
        start = 0.5 if self.variance == "learn" else float(self.variance)
        return {"log_variance": np.full(self.n_features_, np.log(start))}

    def own_bounds(self) -> dict[str, tuple[float, float]]:
        """Learned variances stay between a hundredth of the data's and the data's."""
        if self.variance == "learn":
            return {"log_variance": (float(np.log(0.01)), 0.0)}
        fixed = float(np.log(self.variance))
        return {"log_variance": (fixed, fixed)}

    def law(self, own: Own = NOTHING, columns: np.ndarray | None = None) -> NormalLaw:
        """Normal numbers with the variance of each feature."""
        log_variance = own["log_variance"]
        return NormalLaw(log_variance if columns is None else log_variance[columns])

    def natural_from_mean(self, mean: np.ndarray) -> np.ndarray:
        """Mean / σ² at the start value of the variance."""
        return mean * np.exp(-self.own_parameters()["log_variance"])

    def saturated_natural(self, statistic: np.ndarray, own: Own, size: np.ndarray | None = None) -> np.ndarray:
        """The value / σ², at the variance there is now."""
        return statistic * np.exp(-own["log_variance"])

    def deviation(self, own: Own) -> np.ndarray:
        """σ."""
        return np.asarray(self.law(own).deviation)

    def own_statistics(
        self, mean: np.ndarray, own: Own, is_sample: bool, columns: np.ndarray | None = None
    ) -> dict[str, np.ndarray]:
        """E[x²] / 2σ², the derivative of -x² / 2σ² by log σ²."""
        value = -self.log_base(mean, own, columns)
        return {"log_variance": value if is_sample else value + value.dtype.type(0.5)}
