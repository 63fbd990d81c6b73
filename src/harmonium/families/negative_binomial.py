"""Counts with a longer tail than Poisson's: a word already used is more likely to be used again."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import nbdtrik

from harmonium.core.distributions import Distribution, NegativeBinomialDistribution
from harmonium.core.support import Support
from harmonium.core.validation import Number
from harmonium.families.counts import LENGTH_NORMALIZE, OTHER_UNITS, Counts, LengthNormalize
from harmonium.families.numerics.pole import keep_below_pole
from harmonium.families.protocol.domain import Domain
from harmonium.families.protocol.extra_parameters import NO_EXTRA, Extra
from harmonium.kernels.sampling.inversion import MIN_ZERO_PROBABILITY, invert_survival


@dataclass(frozen=True)
class BelowZero(Domain):
    """Natural parameters below 0, whatever the values of the units and the weights of rows."""

    largest_row_weight: float = 1.0

    def project(self, weights: np.ndarray, bias: np.ndarray, units: Support) -> None:
        """Keep naturals below 0."""
        keep_below_pole(weights, bias, units.upper * self.largest_row_weight)


class NegativeBinomial(Counts):
    """Family of counts with a long tail, with log p as natural parameter.

    The probability of a count is P(x) = C(x + r - 1, x) p^x (1 - p)^r, so natural parameters must stay below 0.

    Parameters
    ----------
    r : float, default=1.0
        Number of failures. The smaller it is, the longer the tail; `Poisson` is the limit of large values. The default
        is a convention, the geometric distribution.
    length_normalize : bool or "auto", default="auto"
        Whether rows of different totals (texts of different lengths) are brought to one scale: the coupling of a row
        with the hidden units is multiplied by √(mean total / total of the row), at most 4. The total of
        a row is then a covariate of its distribution, which sums to 1 over all rows and not over those of this total;
        densities of rows with different totals belong to different distributions. "auto" levels rows
        in models whose head sees the hidden means (not `LabelView`) or whose units only raise features, if the view has
        at least 20 columns and at most half of its cells are above zero. Natural parameters have to stay
        below 0 at the largest of these factors, too, so weights above 0 have less room in a length-normalised view.

    Examples
    --------
    >>> NegativeBinomial(r=2.0).mean(np.log([[0.5]])).tolist()
    [[2.0]]
    """

    meant_for = "counts with a long tail"
    settings = {
        "r": Number(at_most=1e9, remedy="small values such as 0.5 give long tails"),
        "length_normalize": LENGTH_NORMALIZE,
    }

    def __init__(self, r: float = 1.0, length_normalize: LengthNormalize = "auto") -> None:
        self.r = r
        self.length_normalize = length_normalize

    @property
    def domain(self) -> Domain:
        """Natural parameters below 0."""
        reason = "its natural parameter θ + W h must stay below 0, which unbounded units do not respect"
        # the upper limit is a convention: means are at most about 10,000 r
        return BelowZero(-30.0, -1e-4, f"{reason}; {OTHER_UNITS}", self.length.largest_row_weight)

    def distribution(self, extra: Extra = NO_EXTRA, columns: np.ndarray | None = None) -> Distribution:
        """Return the negative binomial distribution."""
        return NegativeBinomialDistribution(self.r)

    def natural_from_mean(self, mean: np.ndarray) -> np.ndarray:
        """Return log(mean / (mean + r))."""
        inside = np.maximum(mean, 1e-6)
        return np.log(inside) - np.log(inside + self.r)

    def tail_factor(self) -> float:
        """Return max(r, 1), as P(x > 0) = 1 - (1 - p)^r <= max(r, 1) p."""
        return max(self.r, 1.0)

    def tail_quantile(self, uniform: np.ndarray, natural: np.ndarray) -> np.ndarray:
        """Invert the survival function, term by term."""
        p = np.exp(natural.astype(np.float64))
        zero = np.exp(self.r * np.log1p(-p))
        counts = invert_survival(uniform, zero, p, 1.0, float(self.r))
        vanished = zero < MIN_ZERO_PROBABILITY  # counts that are never small
        if vanished.any():
            tail = 1.0 - uniform[vanished].astype(np.float64)
            counts[vanished] = np.maximum(np.ceil(nbdtrik(tail, self.r, 1.0 - p[vanished])), 0)
        return counts
