"""Real-valued topics."""

from __future__ import annotations

import numpy as np

from harmonium.hidden.base import HiddenLayer
from harmonium.support import Support
from harmonium.validation import Number

_LOG_TWO_PI = float(np.log(2 * np.pi))


class GaussianUnits(HiddenLayer):
    """Real units with a fixed conditional variance s²: mean s² · natural.

    Parameters
    ----------
    variance : float, default=1.0
        Conditional variance s².
    n_units : int, optional
        Number of units; default: the estimator's ``n_components``.

    Examples
    --------
    >>> GaussianUnits(variance=2.0).mean(np.ones((1, 1))).tolist()
    [[2.0]]
    """

    settings = {**HiddenLayer.settings, "variance": Number(remedy="1.0 is usual")}
    linear = True

    def __init__(self, variance: float = 1.0, n_units: int | None = None) -> None:
        super().__init__(n_units)
        self.variance = variance

    @property
    def support(self) -> Support:
        """The real line."""
        return Support("finite real numbers")

    @property
    def conditional_variance(self) -> float:
        """s²."""
        return float(self.variance)

    def log_base(self, values: np.ndarray) -> np.ndarray:
        """-h² / 2s²."""
        return -0.5 * np.square(values) / self.variance

    def log_partition(self, natural: np.ndarray) -> np.ndarray:
        """s² natural² / 2 + log(2πs²) / 2."""
        return 0.5 * (self.variance * np.square(natural) + (_LOG_TWO_PI + float(np.log(self.variance))))

    def mean(self, natural: np.ndarray) -> np.ndarray:
        """s² natural."""
        return self.variance * natural

    def mean_derivative(self, natural: np.ndarray) -> np.ndarray:
        """s²."""
        return np.full_like(natural, self.variance)

    def sample(self, natural: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Normal numbers."""
        noise = rng.standard_normal(natural.shape, dtype=np.float32).astype(natural.dtype, copy=False)
        return self.variance * natural + float(np.sqrt(self.variance)) * noise

    def mode(self, natural: np.ndarray) -> np.ndarray:
        """The mean."""
        return self.mean(natural)
