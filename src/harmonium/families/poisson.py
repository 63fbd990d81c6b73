"""Counts without an upper bound."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import pdtrik

from harmonium.core.distributions import Distribution, PoissonDistribution
from harmonium.families.counts import LENGTH_NORMALIZE, OTHER_UNITS, Counts, LengthNormalize, are_counts
from harmonium.families.protocol.domain import Domain
from harmonium.families.protocol.extra_parameters import NO_EXTRA, Extra
from harmonium.kernels.sampling.inversion import invert_survival

# a convention: exp(-rate) is still far from underflow, and sums of more terms are slower than the closed form
_LARGE_RATE = 50.0


class Poisson(Counts):
    """Family of counts from 0 up, with the log-rate as natural parameter.

    Parameters
    ----------
    length_normalize : bool or "auto", default="auto"
        Whether rows of different totals (texts of different lengths) are brought to one scale: the coupling of a row
        with the hidden units is multiplied by √(mean total / total of the row), at most 4. The total of
        a row is then a covariate of its distribution, which sums to 1 over all rows and not over those of this total;
        densities of rows with different totals belong to different distributions. "auto" levels rows
        in models whose head sees the hidden means (not `LabelView`) or whose units only raise features, if the view has
        at least 20 columns and at most half of its cells are above zero.

    Examples
    --------
    >>> Poisson().mean(np.array([[0.0]])).tolist()
    [[1.0]]
    """

    meant_for = "counts"
    # the upper limit is a convention: rates up to e¹², about 160,000
    domain = Domain(
        upper=12.0,
        needs_bounded_units=f"its log-partition exp(θ + W h) outgrows the -h²/2 of the units; {OTHER_UNITS}",
    )

    settings = {"length_normalize": LENGTH_NORMALIZE}

    def __init__(self, length_normalize: LengthNormalize = "auto") -> None:
        self.length_normalize = length_normalize

    @classmethod
    def suits(cls, summary: Any, bounded: bool) -> int:
        """Return 2 for counts with bounded units, which they can be normalised with."""
        return 2 if bounded and are_counts(summary) else 0

    def distribution(self, extra: Extra = NO_EXTRA, columns: np.ndarray | None = None) -> Distribution:
        """Return the Poisson distribution."""
        return PoissonDistribution()

    def natural_from_mean(self, mean: np.ndarray) -> np.ndarray:
        """Return the logarithm of the mean."""
        return np.log(np.maximum(mean, 1e-6))

    def tail_factor(self) -> float:
        """Return 1, as P(x > 0) = 1 - exp(-rate) <= rate."""
        return 1.0

    def tail_quantile(self, uniform: np.ndarray, natural: np.ndarray) -> np.ndarray:
        """Invert the survival function.

        Small rates are inverted term by term, large ones by the closed form.
        """
        rate = np.exp(natural.astype(np.float64))
        small = np.minimum(rate, _LARGE_RATE)
        counts = invert_survival(uniform, np.exp(-small), small, 0.0, 2.0)
        large = rate > _LARGE_RATE
        if large.any():
            counts[large] = np.maximum(np.ceil(pdtrik(1.0 - uniform[large].astype(np.float64), rate[large])), 0)
        return counts
