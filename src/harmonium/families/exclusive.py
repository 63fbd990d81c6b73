"""Base of the families with mutually exclusive features: one-hot codes, tokens of a document."""

from __future__ import annotations

import numpy as np
from scipy.special import logsumexp

from harmonium.families.base import Family
from harmonium.families.protocol.extra_parameters import NO_EXTRA, Extra
from harmonium.families.protocol.sites import Rest


class Exclusive(Family):
    """Base of families in which each token of a site is exactly one of its features."""

    role = "family"  # named here, as this is no family by itself

    def statistic_variance(self, mean: np.ndarray, extra: Extra = NO_EXTRA) -> np.ndarray:
        """Return the variances of multinomial counts."""
        mean, size = mean.astype(np.float64), self.length.typical(1)
        total = 1.0 if size is None else float(size[0])
        return np.maximum(mean * (1 - mean / total), 0)

    def probe(
        self,
        values: np.ndarray,
        sites: np.ndarray,
        rest: Rest,
        rng: np.random.Generator,
        size: float | None = None,
    ) -> float:
        """Return the log-probability of one token given the others, times their number."""
        members = self.codec.spread(np.arange(self.codec.n_sites)[None, :])[0]
        observed = np.where(np.isin(members, sites), values, 0.0)
        total = observed.sum()
        if total == 0:  # an empty document has no token to ask about
            return 0.0
        token = int(rng.choice(len(observed), p=observed / total))
        rivals = np.flatnonzero(members == members[token])
        weights = rest.weights[rivals].astype(np.float64)
        score = rest.bias[rivals] + rest.log_hidden(rest.natural - rest.weights[token] + weights)
        return float(total * (score[rivals == token][0] - logsumexp(score)))
