"""Counts with a known upper bound: pixel levels, successes out of n trials."""

from __future__ import annotations

import numpy as np
from scipy.special import bdtrik

from harmonium.core.distributions import BinomialDistribution, Distribution
from harmonium.core.validation import Whole
from harmonium.families.counts import Counts
from harmonium.families.protocol.extra_parameters import NO_EXTRA, Extra
from harmonium.kernels.sampling.inversion import MIN_ZERO_PROBABILITY, invert_survival


class Binomial(Counts):
    """Family of counts from 0 to n, with log-odds as natural parameter.

    Parameters
    ----------
    n : int
        Number of trials.

    Notes
    -----
    Rows are not length-normalised, as those of other counts can be: a total of pixel levels is no length.

    Examples
    --------
    >>> Binomial(16).mean(np.array([[0.0]])).tolist()
    [[8.0]]
    """

    meant_for = "counts with an upper bound"

    settings = {"n": Whole(remedy="pass the largest count")}

    def __init__(self, n: int) -> None:
        self.n = n

    def distribution(self, extra: Extra = NO_EXTRA, columns: np.ndarray | None = None) -> Distribution:
        """Return the distribution of the number of successes out of n trials."""
        return BinomialDistribution(self.n)

    def natural_from_mean(self, mean: np.ndarray) -> np.ndarray:
        """Return the log-odds of mean / n."""
        p = np.clip(mean / self.n, 1e-6, 1 - 1e-6)
        return np.log(p) - np.log1p(-p)

    def tail_factor(self) -> float:
        """Return n, as P(x > 0) <= n p."""
        return float(self.n)

    def tail_quantile(self, uniform: np.ndarray, natural: np.ndarray) -> np.ndarray:
        """Invert the survival function, term by term.

        The terms start at the nearer end of the range, so that the first one does not underflow.
        """
        wide = self.domain.clamp(natural.astype(np.float64))
        flipped = wide > 0
        odds = np.exp(-np.abs(wide))
        tail = np.where(flipped, 1.0 - uniform, uniform)
        n = self.n
        zero = np.exp(-n * np.log1p(odds))
        counts = invert_survival(tail, zero, odds, -1.0, n + 2.0)
        vanished = zero < MIN_ZERO_PROBABILITY  # many trials
        if vanished.any():
            share = odds[vanished] / (1 + odds[vanished])
            counts[vanished] = np.ceil(bdtrik(1.0 - tail[vanished], n, share)).clip(0, n)
        return np.where(flipped, np.float32(n) - counts, counts)
