"""Topics with a strength from 0 to M."""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln

from harmonium.hidden.base import HiddenLayer
from harmonium.kernels.elementwise import logistic, softplus
from harmonium.support import Support
from harmonium.validation import Whole


class BinomialUnits(HiddenLayer):
    """Units 0 … M: the topics of the Rate Adapting Poisson model (Gehler et al. 2006).

    Parameters
    ----------
    M : int, default=10
        Number of trials: a unit acts as M binary units that share their weights.
    n_units : int, optional
        Number of units; default: the estimator's ``n_components``.

    Examples
    --------
    >>> BinomialUnits(M=4).mean(np.zeros((1, 1))).tolist()
    [[2.0]]
    """

    settings = {**HiddenLayer.settings, "M": Whole(remedy="try 10")}

    def __init__(self, M: int = 10, n_units: int | None = None) -> None:
        super().__init__(n_units)
        self.M = M

    @property
    def support(self) -> Support:
        """Whole numbers 0 … M."""
        return Support(f"whole numbers from 0 to {self.M}", 0, self.M, integer=True)

    def log_base(self, values: np.ndarray) -> np.ndarray:
        """log C(M, h)."""
        return gammaln(self.M + 1.0) - gammaln(values + 1.0) - gammaln(self.M - values + 1.0)

    def log_partition(self, natural: np.ndarray) -> np.ndarray:
        """M log(1 + exp(natural))."""
        return self.M * softplus(natural)

    def mean(self, natural: np.ndarray) -> np.ndarray:
        """M times the logistic function."""
        return self.M * logistic(natural)

    def mean_derivative(self, natural: np.ndarray) -> np.ndarray:
        """M p (1 - p)."""
        p = logistic(natural)
        return self.M * p * (1 - p)

    def sample(self, natural: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Binomial counts."""
        return rng.binomial(int(self.M), logistic(natural)).astype(natural.dtype)

    def mode(self, natural: np.ndarray) -> np.ndarray:
        """Largest whole number not above (M + 1) p (eq. 5 of Gehler et al. 2006)."""
        return np.minimum(np.floor((self.M + 1) * logistic(natural)), self.M)
