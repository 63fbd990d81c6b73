"""Distributions of one number, stated once for features of views and for hidden units.

    p(x | natural) = exp(natural · x + log_base(x) - log_partition(natural))

All of them work elementwise, in the precision of what is passed. A family adds how data become such numbers and how
naturals are kept where the distribution is finite; a hidden layer adds how units are read.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from harmonium.core.support import Support
from harmonium.kernels.elementwise import logistic, softplus

_LOG_TWO_PI = float(np.log(2 * np.pi))


class Distribution:
    """Base of the distributions: an exponential family of one number.

    A subclass defines all methods, elementwise and in the precision of what is passed. `log_base` is zero by default.

    See Also
    --------
    harmonium.families.Family.distribution : The distribution of the features of a view.
    harmonium.hidden.HiddenLayer.distribution : The distribution of a hidden unit.

    Examples
    --------
    >>> from harmonium.core.distributions import BernoulliDistribution
    >>> distribution = BernoulliDistribution()
    >>> distribution.mean(np.array([0.0])).tolist(), distribution.variance(np.array([0.0])).tolist()
    ([0.5], [0.25])
    """

    @property
    def support(self) -> Support:
        """Set of values that the number may take."""
        raise NotImplementedError

    @property
    def is_shared(self) -> bool:
        """Whether all features have the same one, as no parameter is an array."""
        return all(np.ndim(value) == 0 for value in vars(self).values())

    def log_base(self, values: np.ndarray) -> np.ndarray:
        """Return the logarithm of the base measure.

        Parameters
        ----------
        values : ndarray
            Values within the support.

        Returns
        -------
        ndarray of the shape of `values`
            Logarithms.
        """
        return np.zeros_like(values)

    def log_partition(self, natural: np.ndarray) -> np.ndarray:
        """Return the logarithm of the normaliser.

        Parameters
        ----------
        natural : ndarray
            Natural parameters.

        Returns
        -------
        ndarray of the shape of `natural`
            Logarithms, infinite where there is no normaliser.
        """
        raise NotImplementedError

    def mean(self, natural: np.ndarray) -> np.ndarray:
        """Return the expectation, the derivative of the log-partition.

        Parameters
        ----------
        natural : ndarray
            Natural parameters.

        Returns
        -------
        ndarray of the shape of `natural`
            Means.
        """
        raise NotImplementedError

    def variance(self, natural: np.ndarray) -> np.ndarray:
        """Return the variance, the derivative of the mean.

        Parameters
        ----------
        natural : ndarray
            Natural parameters.

        Returns
        -------
        ndarray of the shape of `natural`
            Variances.
        """
        raise NotImplementedError

    def sample(self, natural: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draw one number for each natural parameter.

        Parameters
        ----------
        natural : ndarray
            Natural parameters.
        rng : numpy.random.Generator
            Source of randomness.

        Returns
        -------
        ndarray of the shape of `natural`
            Numbers within the support.
        """
        raise NotImplementedError

    def mode(self, natural: np.ndarray) -> np.ndarray:
        """Return the most probable value.

        Parameters
        ----------
        natural : ndarray
            Natural parameters.

        Returns
        -------
        ndarray of the shape of `natural`
            Values within the support.
        """
        raise NotImplementedError


@dataclass(frozen=True)
class BernoulliDistribution(Distribution):
    """Distribution of zeros and ones, with the log-odds as natural parameter."""

    @property
    def support(self) -> Support:
        """The values 0 and 1."""
        return Support("0 or 1", 0, 1, integer=True)

    def log_partition(self, natural: np.ndarray) -> np.ndarray:
        """Return log(1 + exp(natural))."""
        return softplus(natural)

    def mean(self, natural: np.ndarray) -> np.ndarray:
        """Return p, the logistic function of the natural parameter."""
        return logistic(natural)

    def variance(self, natural: np.ndarray) -> np.ndarray:
        """Return p (1 - p)."""
        mean = logistic(natural)
        return mean * (1 - mean)

    def sample(self, natural: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Flip a coin for each natural parameter."""
        return (rng.random(natural.shape, dtype=np.float32) < logistic(natural)).astype(natural.dtype)

    def mode(self, natural: np.ndarray) -> np.ndarray:
        """Return 1 where it is more probable than 0, and 0 elsewhere."""
        return (natural > 0).astype(natural.dtype)


@dataclass(frozen=True)
class BinomialDistribution(Distribution):
    """Distribution of the number of successes in n trials, with their log-odds as natural parameter.

    n is a number, or one a column; values above the n of a column have no probability.
    """

    n: int | np.ndarray

    @property
    def support(self) -> Support:
        """All whole numbers from 0 to n, the largest one if columns differ."""
        largest = int(np.max(self.n))
        return Support(f"whole numbers from 0 to {largest}", 0, largest, integer=True)

    def log_base(self, values: np.ndarray) -> np.ndarray:
        """Return log C(n, x), minus infinity for x > n."""
        one = values.dtype.type(1)
        n = np.asarray(self.n, dtype=values.dtype)
        return gammaln(n + one) - gammaln(values + one) - gammaln(n - values + one)

    def log_partition(self, natural: np.ndarray) -> np.ndarray:
        """Return n log(1 + exp(natural))."""
        return np.asarray(self.n, dtype=natural.dtype) * softplus(natural)

    def mean(self, natural: np.ndarray) -> np.ndarray:
        """Return n p, with p the logistic function of the natural parameter."""
        return np.asarray(self.n, dtype=natural.dtype) * logistic(natural)

    def variance(self, natural: np.ndarray) -> np.ndarray:
        """Return n p (1 - p)."""
        p = logistic(natural)
        return np.asarray(self.n, dtype=natural.dtype) * p * (1 - p)

    def sample(self, natural: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draw numbers of successes."""
        return rng.binomial(self.n, logistic(natural)).astype(natural.dtype)

    def mode(self, natural: np.ndarray) -> np.ndarray:
        """Return the largest whole number not above (n + 1) p or n (eq. 5 of Gehler et al. 2006)."""
        n = np.asarray(self.n, dtype=natural.dtype)
        return np.minimum(np.floor((n + 1) * logistic(natural)), n)


@dataclass(frozen=True)
class NormalDistribution(Distribution):
    """Distribution of real numbers with variance σ² and mean σ² · natural; log σ² is a number, or one a column."""

    log_variance: np.ndarray | float

    @property
    def support(self) -> Support:
        """All finite real numbers."""
        return Support("finite real numbers")

    @property
    def deviation(self) -> np.ndarray | float:
        """Standard deviation σ."""
        return self._scale_to_the(1.0)

    def _scale_to_the(self, power: float) -> np.ndarray | float:
        """Return σ to some power; a plain number leaves the precision of arrays as it is."""
        exponent = 0.5 * power * self.log_variance
        return np.exp(exponent) if isinstance(exponent, np.ndarray) else math.exp(exponent)

    def log_base(self, values: np.ndarray) -> np.ndarray:
        """Return -x² / 2σ²."""
        return -0.5 * np.square(values) * self._scale_to_the(-2.0)

    def log_partition(self, natural: np.ndarray) -> np.ndarray:
        """Return σ² natural² / 2 + log(2πσ²) / 2."""
        return 0.5 * (np.square(natural) * self._scale_to_the(2.0) + self.log_variance + _LOG_TWO_PI)

    def mean(self, natural: np.ndarray) -> np.ndarray:
        """Return σ² natural."""
        return natural * self._scale_to_the(2.0)

    def variance(self, natural: np.ndarray) -> np.ndarray:
        """Return σ²."""
        return np.full_like(natural, self._scale_to_the(2.0))

    def sample(self, natural: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draw normal numbers."""
        noise = rng.standard_normal(natural.shape, dtype=np.float32).astype(natural.dtype, copy=False)
        return self.mean(natural) + self.deviation * noise

    def mode(self, natural: np.ndarray) -> np.ndarray:
        """Return the mean."""
        return self.mean(natural)


@dataclass(frozen=True)
class PoissonDistribution(Distribution):
    """Distribution of Poisson counts, with the log-rate as natural parameter."""

    @property
    def support(self) -> Support:
        """All whole numbers from 0 up."""
        return Support("whole numbers from 0 up", 0, integer=True)

    def log_base(self, values: np.ndarray) -> np.ndarray:
        """Return -log x!."""
        return -gammaln(values + values.dtype.type(1))

    def log_partition(self, natural: np.ndarray) -> np.ndarray:
        """Return the rate."""
        return np.exp(natural)

    def mean(self, natural: np.ndarray) -> np.ndarray:
        """Return the rate."""
        return np.exp(natural)

    def variance(self, natural: np.ndarray) -> np.ndarray:
        """Return the rate."""
        return np.exp(natural)

    def sample(self, natural: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draw Poisson counts."""
        return rng.poisson(np.exp(natural)).astype(natural.dtype)

    def mode(self, natural: np.ndarray) -> np.ndarray:
        """Return the largest whole number not above the rate (eq. 4 of Gehler et al. 2006)."""
        return np.floor(np.exp(natural))


@dataclass(frozen=True)
class NegativeBinomialDistribution(Distribution):
    """Distribution of counts with P(x) = C(x + r - 1, x) p^x (1 - p)^r; the natural parameter log p is below 0."""

    r: float

    @property
    def support(self) -> Support:
        """All whole numbers from 0 up."""
        return Support("whole numbers from 0 up", 0, integer=True)

    def log_base(self, values: np.ndarray) -> np.ndarray:
        """Return log C(x + r - 1, x)."""
        one = values.dtype.type(1)
        r = values.dtype.type(self.r)
        return gammaln(values + r) - gammaln(r) - gammaln(values + one)

    def log_partition(self, natural: np.ndarray) -> np.ndarray:
        """Return -r log(1 - exp(natural)), which is infinite where the natural parameter is not below 0."""
        negative = np.minimum(natural, 0)
        with np.errstate(divide="ignore"):
            value = -self.r * np.log(-np.expm1(negative))
        return np.where(natural < 0, value, np.inf).astype(natural.dtype)

    def mean(self, natural: np.ndarray) -> np.ndarray:
        """Return r p / (1 - p)."""
        return (-self.r * np.exp(natural) / np.expm1(natural)).astype(natural.dtype)

    def variance(self, natural: np.ndarray) -> np.ndarray:
        """Return r p / (1 - p)²."""
        return self.mean(natural) / -np.expm1(natural)

    def sample(self, natural: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draw counts; the p of NumPy is the probability of what ends the count, here 1 - p."""
        return rng.negative_binomial(self.r, -np.expm1(natural.astype(np.float64))).astype(natural.dtype)

    def mode(self, natural: np.ndarray) -> np.ndarray:
        """Return the largest whole number not above (r - 1) p / (1 - p), and 0 for r <= 1."""
        return np.floor(max(self.r - 1.0, 0.0) / self.r * self.mean(natural))
