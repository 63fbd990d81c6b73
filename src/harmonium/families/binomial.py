"""Counts with a known upper bound: pixel levels, successes out of n trials."""

from __future__ import annotations

from typing import Self

import numpy as np
from scipy.special import gammaln

from harmonium.families.base import NOTHING, Own
from harmonium.families.counts import Counts
from harmonium.families.inversion import invert_survival
from harmonium.kernels.elementwise import logistic, softplus
from harmonium.support import Support
from harmonium.validation import check_whole


class Binomial(Counts):
    """Counts 0 … n; the natural parameter is the log-odds of a success.

    Parameters
    ----------
    n : int
        Number of trials.

    Examples
    --------
    >>> Binomial(16).mean(np.array([[0.0]])).tolist()
    [[8.0]]
    """

    meant_for = "counts with an upper bound"

    def __init__(self, n: int) -> None:
        self.n = n

    def bind(self, summary: object) -> Self:
        """Check n."""
        check_whole("Binomial", "n", self.n, remedy="pass the largest count")
        return super().bind(summary)

    @property
    def support(self) -> Support:
        """Whole numbers 0 … n."""
        return Support(f"whole numbers from 0 to {self.n}", 0, self.n, integer=True)

    def log_base(self, values: np.ndarray, own: Own = NOTHING, columns: np.ndarray | None = None) -> np.ndarray:
        """log C(n, x)."""
        one = values.dtype.type(1)
        n = values.dtype.type(self.n)
        return gammaln(n + one) - gammaln(values + one) - gammaln(n - values + one)

    def log_partition(self, natural: np.ndarray, own: Own = NOTHING, size: np.ndarray | None = None) -> np.ndarray:
        """N log(1 + exp(natural))."""
        return self.n * softplus(natural)

    def mean(self, natural: np.ndarray, own: Own = NOTHING, size: np.ndarray | None = None) -> np.ndarray:
        """N times the logistic function."""
        return self.n * logistic(natural)

    def sample(
        self, natural: np.ndarray, rng: np.random.Generator, own: Own = NOTHING, size: np.ndarray | None = None
    ) -> np.ndarray:
        """Binomial counts."""
        return rng.binomial(int(self.n), logistic(natural.astype(np.float64))).astype(natural.dtype)

    def mode(self, natural: np.ndarray, own: Own = NOTHING, size: np.ndarray | None = None) -> np.ndarray:
        """Largest whole number not above (n + 1) p (and not above n)."""
        return np.minimum(np.floor((self.n + 1) * logistic(natural)), self.n)

    def natural_from_mean(self, mean: np.ndarray) -> np.ndarray:
        """Log-odds of mean / n."""
        p = np.clip(mean / self.n, 1e-6, 1 - 1e-6)
        return np.log(p) - np.log1p(-p)

    def tail_factor(self) -> float:
        """P(x > 0) <= n p."""
        return float(self.n)

    def tail_quantile(self, uniform: np.ndarray, natural: np.ndarray) -> np.ndarray:
        """Inversion of the survival function, from the nearer end so that the first term does not underflow."""
        wide = np.clip(natural.astype(np.float64), *self.natural_limits)
        flipped = wide > 0
        odds = np.exp(-np.abs(wide))
        tail = np.where(flipped, 1.0 - uniform, uniform)
        n = self.n
        counts = invert_survival(tail, np.exp(-n * np.log1p(odds)), lambda k: odds * max(n - k + 1, 0) / k)
        return np.where(flipped, np.float32(n) - counts, counts)
