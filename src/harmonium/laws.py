"""Laws of one number, stated once for features of views and for hidden units.

    p(x | natural) = exp(natural · x + log_base(x) - log_partition(natural))

All elementwise, in the precision of what is passed. A family adds how data become such numbers and how naturals are
kept where the law is finite; a hidden layer adds how units are read.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from harmonium.kernels.elementwise import logistic, softplus
from harmonium.support import Support

_LOG_TWO_PI = float(np.log(2 * np.pi))


class Law:
    """What a law must be able to say."""

    @property
    def support(self) -> Support:
        """Values the number may take."""
        raise NotImplementedError

    def log_base(self, values: np.ndarray) -> np.ndarray:
        """Logarithm of the base measure."""
        return np.zeros_like(values)

    def log_partition(self, natural: np.ndarray) -> np.ndarray:
        """Log-normaliser."""
        raise NotImplementedError

    def mean(self, natural: np.ndarray) -> np.ndarray:
        """Expectation: the derivative of the log-partition."""
        raise NotImplementedError

    def variance(self, natural: np.ndarray) -> np.ndarray:
        """Variance: the derivative of the mean."""
        raise NotImplementedError

    def sample(self, natural: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """One draw per entry."""
        raise NotImplementedError

    def mode(self, natural: np.ndarray) -> np.ndarray:
        """Most probable value."""
        raise NotImplementedError


@dataclass(frozen=True)
class BernoulliLaw(Law):
    """0 or 1; the natural parameter is the log-odds."""

    @property
    def support(self) -> Support:
        """0 and 1."""
        return Support("0 or 1", 0, 1, integer=True)

    def log_partition(self, natural: np.ndarray) -> np.ndarray:
        """log(1 + exp(natural))."""
        return softplus(natural)

    def mean(self, natural: np.ndarray) -> np.ndarray:
        """Logistic function."""
        return logistic(natural)

    def variance(self, natural: np.ndarray) -> np.ndarray:
        """P (1 - p)."""
        mean = logistic(natural)
        return mean * (1 - mean)

    def sample(self, natural: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Coin flips."""
        return (rng.random(natural.shape, dtype=np.float32) < logistic(natural)).astype(natural.dtype)

    def mode(self, natural: np.ndarray) -> np.ndarray:
        """1 where it is the more probable value."""
        return (natural > 0).astype(natural.dtype)


@dataclass(frozen=True)
class BinomialLaw(Law):
    """Whole numbers 0 … n; the natural parameter is the log-odds of each of n trials."""

    n: int

    @property
    def support(self) -> Support:
        """Whole numbers 0 … n."""
        return Support(f"whole numbers from 0 to {self.n}", 0, self.n, integer=True)

    def log_base(self, values: np.ndarray) -> np.ndarray:
        """log C(n, x)."""
        one = values.dtype.type(1)
        n = values.dtype.type(self.n)
        return gammaln(n + one) - gammaln(values + one) - gammaln(n - values + one)

    def log_partition(self, natural: np.ndarray) -> np.ndarray:
        """N log(1 + exp(natural))."""
        return self.n * softplus(natural)

    def mean(self, natural: np.ndarray) -> np.ndarray:
        """N times the logistic function."""
        return self.n * logistic(natural)

    def variance(self, natural: np.ndarray) -> np.ndarray:
        """N p (1 - p)."""
        p = logistic(natural)
        return self.n * p * (1 - p)

    def sample(self, natural: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Numbers of successes."""
        return rng.binomial(int(self.n), logistic(natural)).astype(natural.dtype)

    def mode(self, natural: np.ndarray) -> np.ndarray:
        """Largest whole number not above (n + 1) p, and not above n (eq. 5 of Gehler et al. 2006)."""
        return np.minimum(np.floor((self.n + 1) * logistic(natural)), self.n)


@dataclass(frozen=True)
class NormalLaw(Law):
    """Real numbers with a variance σ² and mean σ² · natural; one log-variance, or one for each column."""

    log_variance: np.ndarray | float

    @property
    def support(self) -> Support:
        """The real line."""
        return Support("finite real numbers")

    @property
    def deviation(self) -> np.ndarray | float:
        """σ."""
        return self._scale_to_the(1.0)

    def _scale_to_the(self, power: float) -> np.ndarray | float:
        """σ to some power; a plain number leaves the precision of arrays as it is."""
        exponent = 0.5 * power * self.log_variance
        return np.exp(exponent) if isinstance(exponent, np.ndarray) else math.exp(exponent)

    def log_base(self, values: np.ndarray) -> np.ndarray:
        """-x² / 2σ²."""
        return -0.5 * np.square(values) * self._scale_to_the(-2.0)

    def log_partition(self, natural: np.ndarray) -> np.ndarray:
        """σ² natural² / 2 + log(2πσ²) / 2."""
        return 0.5 * (np.square(natural) * self._scale_to_the(2.0) + self.log_variance + _LOG_TWO_PI)

    def mean(self, natural: np.ndarray) -> np.ndarray:
        """σ² natural."""
        return natural * self._scale_to_the(2.0)

    def variance(self, natural: np.ndarray) -> np.ndarray:
        """σ²."""
        return np.full_like(natural, self._scale_to_the(2.0))

    def sample(self, natural: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Normal numbers."""
        noise = rng.standard_normal(natural.shape, dtype=np.float32).astype(natural.dtype, copy=False)
        return self.mean(natural) + self.deviation * noise

    def mode(self, natural: np.ndarray) -> np.ndarray:
        """The mean."""
        return self.mean(natural)


@dataclass(frozen=True)
class PoissonLaw(Law):
    """Counts 0, 1, 2, …; the natural parameter is the log-rate."""

    @property
    def support(self) -> Support:
        """Whole numbers from 0 up."""
        return Support("whole numbers from 0 up", 0, integer=True)

    def log_base(self, values: np.ndarray) -> np.ndarray:
        """-log x!."""
        return -gammaln(values + values.dtype.type(1))

    def log_partition(self, natural: np.ndarray) -> np.ndarray:
        """The rate."""
        return np.exp(natural)

    def mean(self, natural: np.ndarray) -> np.ndarray:
        """The rate."""
        return np.exp(natural)

    def variance(self, natural: np.ndarray) -> np.ndarray:
        """The rate."""
        return np.exp(natural)

    def sample(self, natural: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Poisson counts."""
        return rng.poisson(np.exp(natural)).astype(natural.dtype)

    def mode(self, natural: np.ndarray) -> np.ndarray:
        """Largest whole number not above the rate (eq. 4 of Gehler et al. 2006)."""
        return np.floor(np.exp(natural))


@dataclass(frozen=True)
class NegativeBinomialLaw(Law):
    """Counts with P(x) = C(x + r - 1, x) p^x (1 - p)^r; the natural parameter is log p, below 0."""

    r: float

    @property
    def support(self) -> Support:
        """Whole numbers from 0 up."""
        return Support("whole numbers from 0 up", 0, integer=True)

    def log_base(self, values: np.ndarray) -> np.ndarray:
        """log C(x + r - 1, x)."""
        one = values.dtype.type(1)
        r = values.dtype.type(self.r)
        return gammaln(values + r) - gammaln(r) - gammaln(values + one)

    def log_partition(self, natural: np.ndarray) -> np.ndarray:
        """-r log(1 - exp(natural)); infinite from 0 on."""
        negative = np.minimum(natural, 0)
        with np.errstate(divide="ignore"):
            value = -self.r * np.log(-np.expm1(negative))
        return np.where(natural < 0, value, np.inf).astype(natural.dtype)

    def mean(self, natural: np.ndarray) -> np.ndarray:
        """R p / (1 - p)."""
        return (-self.r * np.exp(natural) / np.expm1(natural)).astype(natural.dtype)

    def variance(self, natural: np.ndarray) -> np.ndarray:
        """R p / (1 - p)²."""
        return self.mean(natural) / -np.expm1(natural)

    def sample(self, natural: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Counts (NumPy's p is the probability of what ends the count)."""
        return rng.negative_binomial(self.r, -np.expm1(natural.astype(np.float64))).astype(natural.dtype)

    def mode(self, natural: np.ndarray) -> np.ndarray:
        """Largest whole number not above (r - 1) p / (1 - p), and 0 for r <= 1."""
        return np.floor(max(self.r - 1.0, 0.0) / self.r * self.mean(natural))
