"""Binary features: presence of words, tags, mutations."""

from __future__ import annotations

from typing import Any

import numpy as np

from harmonium.core.distributions import BernoulliDistribution, Distribution
from harmonium.families.counts import LENGTH_NORMALIZE, Counts, LengthNormalize, are_binary
from harmonium.families.protocol.extra_parameters import NO_EXTRA, Extra
from harmonium.kernels.sampling.inversion import bernoulli


class Bernoulli(Counts):
    """Family of zeros and ones, with the log-odds as natural parameter.

    Parameters
    ----------
    length_normalize : bool or "auto", default="auto"
        Whether rows of different totals (texts of different lengths) are brought to one scale: the coupling of a row
        with the hidden units is multiplied by √(mean total / total of the row), at most 4. Totals are then given and
        not modelled, and densities of rows with different totals belong to different distributions. "auto" levels rows
        in models whose head sees the hidden means (not `LabelView`) or whose units only raise features, if the view has
        at least 20 columns and at most half of its cells are above zero.

    Examples
    --------
    >>> Bernoulli().mean(np.array([[0.0]])).tolist()
    [[0.5]]
    """

    meant_for = "zeros and ones"

    settings = {"length_normalize": LENGTH_NORMALIZE}

    def __init__(self, length_normalize: LengthNormalize = "auto") -> None:
        self.length_normalize = length_normalize

    @classmethod
    def suits(cls, summary: Any, bounded: bool) -> int:
        """Return 3 for zeros and ones, which no other family suits better."""
        return 3 if are_binary(summary) else 0

    def distribution(self, extra: Extra = NO_EXTRA, columns: np.ndarray | None = None) -> Distribution:
        """Return the distribution of a coin flip."""
        return BernoulliDistribution()

    def natural_from_mean(self, mean: np.ndarray) -> np.ndarray:
        """Return the log-odds."""
        inside = np.clip(mean, 1e-6, 1 - 1e-6)
        return np.log(inside) - np.log1p(-inside)

    def tail_factor(self) -> float:
        """Return 1, as P(x = 1) <= exp(natural)."""
        return 1.0

    def tail_quantile(self, uniform: np.ndarray, natural: np.ndarray) -> np.ndarray:
        """Return 1 where the uniform number is below the mean, and 0 elsewhere."""
        return bernoulli(uniform, natural)
