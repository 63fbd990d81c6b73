"""Counts without an upper bound."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import pdtrik

from harmonium.families.base import NOTHING, Own
from harmonium.families.counts import Counts, are_counts, without_bound
from harmonium.families.inversion import invert_survival
from harmonium.laws import Law, PoissonLaw
from harmonium.support import Support

_LARGE_RATE = 50.0  # exp(-rate) is still far from underflow, and longer sums are slower than the closed form


class Poisson(Counts):
    """Counts 0, 1, 2, …; the natural parameter is the log-rate.

    Examples
    --------
    >>> Poisson().mean(np.array([[0.0]])).tolist()
    [[1.0]]
    """

    meant_for = "counts"
    natural_limits = (-30.0, 12.0)

    @classmethod
    def suits(cls, summary: Any, bounded: bool) -> int:
        """Counts, with units they can be normalised with."""
        return 2 if bounded and are_counts(summary) else 0

    def conflict(self, units: Support) -> str | None:
        """Rates grow exponentially with the units."""
        return without_bound(units, "its log-partition exp(θ + W h) outgrows the -h²/2 of the units")

    def law(self, own: Own = NOTHING, columns: np.ndarray | None = None) -> Law:
        """Poisson counts."""
        return PoissonLaw()

    def natural_from_mean(self, mean: np.ndarray) -> np.ndarray:
        """Logarithm."""
        return np.log(np.maximum(mean, 1e-6))

    def tail_factor(self) -> float:
        """P(x > 0) = 1 - exp(-rate) <= rate."""
        return 1.0

    def tail_quantile(self, uniform: np.ndarray, natural: np.ndarray) -> np.ndarray:
        """Inversion of the survival function: term by term for small rates, by its closed form for large ones."""
        rate = np.exp(natural.astype(np.float64))
        small = np.minimum(rate, _LARGE_RATE)
        counts = invert_survival(uniform, np.exp(-small), lambda k: small / k)
        large = rate > _LARGE_RATE
        if large.any():
            counts[large] = np.maximum(np.ceil(pdtrik(1.0 - uniform[large].astype(np.float64), rate[large])), 0)
        return counts
