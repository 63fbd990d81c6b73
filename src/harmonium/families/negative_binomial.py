"""Counts with a longer tail than Poisson's: a word already used is more likely to be used again."""

from __future__ import annotations

from typing import Self

import numpy as np
from scipy.special import gammaln

from harmonium.families.base import NOTHING, Own
from harmonium.families.counts import Counts, without_bound
from harmonium.families.inversion import invert_survival
from harmonium.families.pole import keep_below_pole
from harmonium.support import Support
from harmonium.validation import check_real


class NegativeBinomial(Counts):
    """Counts with P(x) = C(x + r - 1, x) p^x (1 - p)^r; the natural parameter is log p, below 0.

    Parameters
    ----------
    r : float, default=1.0
        Number of failures; the smaller, the longer the tail (Poisson is the limit of large r).

    Examples
    --------
    >>> NegativeBinomial(r=2.0).mean(np.log([[0.5]])).tolist()
    [[2.0]]
    """

    meant_for = "counts with a long tail"
    natural_limits = (-30.0, -1e-4)

    def __init__(self, r: float = 1.0) -> None:
        self.r = r

    def bind(self, summary: object) -> Self:
        """Check r."""
        check_real("NegativeBinomial", "r", self.r, remedy="small values such as 0.5 give long tails")
        return super().bind(summary)

    @property
    def support(self) -> Support:
        """Whole numbers from 0 up."""
        return Support("whole numbers from 0 up", 0, integer=True)

    def conflict(self, units: Support) -> str | None:
        """Naturals must stay below the pole."""
        reason = "its natural parameter θ + W h must stay below 0, which unbounded units do not respect"
        return without_bound(units, reason)

    def project(self, weights: np.ndarray, bias: np.ndarray, own: Own, units: Support) -> None:
        """Keep every natural below 0."""
        keep_below_pole(weights, bias, units.upper)

    def log_base(self, values: np.ndarray, own: Own = NOTHING, columns: np.ndarray | None = None) -> np.ndarray:
        """log C(x + r - 1, x)."""
        one = values.dtype.type(1)
        r = values.dtype.type(self.r)
        return gammaln(values + r) - gammaln(r) - gammaln(values + one)

    def log_partition(self, natural: np.ndarray, own: Own = NOTHING, size: np.ndarray | None = None) -> np.ndarray:
        """-r log(1 - exp(natural)); infinite from 0 on."""
        negative = np.minimum(natural, 0)
        with np.errstate(divide="ignore"):
            value = -self.r * np.log(-np.expm1(negative))
        return np.where(natural < 0, value, np.inf).astype(natural.dtype)

    def mean(self, natural: np.ndarray, own: Own = NOTHING, size: np.ndarray | None = None) -> np.ndarray:
        """R p / (1 - p)."""
        return (-self.r * np.exp(natural) / np.expm1(natural)).astype(natural.dtype)

    def sample(
        self, natural: np.ndarray, rng: np.random.Generator, own: Own = NOTHING, size: np.ndarray | None = None
    ) -> np.ndarray:
        """Counts (NumPy's p is the probability of what ends the count)."""
        return rng.negative_binomial(self.r, -np.expm1(natural.astype(np.float64))).astype(natural.dtype)

    def mode(self, natural: np.ndarray, own: Own = NOTHING, size: np.ndarray | None = None) -> np.ndarray:
        """Largest whole number not above (r - 1) p / (1 - p), and 0 for r <= 1."""
        return np.floor(np.maximum(self.r - 1.0, 0.0) / self.r * self.mean(natural))

    def natural_from_mean(self, mean: np.ndarray) -> np.ndarray:
        """log(mean / (mean + r))."""
        inside = np.maximum(mean, 1e-6)
        return np.log(inside) - np.log(inside + self.r)

    def tail_factor(self) -> float:
        """P(x > 0) = 1 - (1 - p)^r <= max(r, 1) p."""
        return max(self.r, 1.0)

    def tail_quantile(self, uniform: np.ndarray, natural: np.ndarray) -> np.ndarray:
        """Inversion of the survival function, term by term."""
        p = np.exp(natural.astype(np.float64))
        return invert_survival(uniform, np.exp(self.r * np.log1p(-p)), lambda k: p * (k + self.r - 1.0) / k)
