"""Ordered lists of binary vectors: which words each paragraph of a text has."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.special import gammaln

from harmonium.families.base import NOTHING, Family, Own
from harmonium.kernels.chain_samples import draw_chains
from harmonium.kernels.chains import LIMIT, chain_log_partition, chain_means
from harmonium.support import Support

# share of the positions that are taken to follow by chance, where means say nothing about rare features
_BY_CHANCE = 1e-3


class Chain(Family):
    """Sequences of P binary vectors in which each feature is a Markov chain given the hidden units.

    The log-potential of a feature is node · Σ_p x_p + edge · Σ_p x_p x_{p+1}, so its statistic is the number of
    positions that have it and the number of neighbouring pairs of positions that both have it: first all of the former,
    then all of the latter. P is given, as totals are for `ReplicatedSoftmax`, and densities are those of the sequence
    itself. An item is observed or missing as a whole.

    Data are `Sequences`; statistics of observed and sampled items stay sparse.

    References
    ----------
    Chen, Zhu, Sun & Xing (2012), Large-margin predictive latent subspace learning for multiview data analysis, §3.1
    and §5.4.

    Examples
    --------
    >>> family = Chain().restore(2, {"typical_size": np.array(3.0)})  # one feature
    >>> family.mean(np.array([[0.0, 0.0]]), size=np.array([4.0])).tolist()  # coins: half of 4, a quarter of 3 pairs
    [[2.0, 0.75]]
    >>> family.mean(np.array([[0.0, 2.0]]), size=np.array([4.0])).round(2).tolist()  # ones attract each other
    [[3.66, 2.63]]
    """

    ordered = True
    whole_rows = True
    natural_limits = (-LIMIT, LIMIT)
    typical_size_: np.ndarray

    @property
    def support(self) -> Support:
        """0 and 1."""
        return Support("0 or 1 in every row of a sequence", 0, 1, integer=True)

    def bind(self, summary: Any) -> Self:
        """Remember the mean length, that of items that are not observed."""
        typical = np.array(max(1.0, round(summary.mean_length)))
        return self.bound(n_features_=2 * summary.n_columns, typical_size_=typical)

    def constants(self) -> dict[str, np.ndarray]:
        """Mean length."""
        return {"typical_size": self.typical_size_}

    @property
    def n_sites(self) -> int:
        """The whole item."""
        return 1

    @property
    def n_columns(self) -> int:
        """Columns of the vectors; each has two statistics."""
        return self.n_features_ // 2

    def encode(self, values: np.ndarray) -> np.ndarray:
        """Statistic of items that are a single vector."""
        return np.concatenate([values, np.zeros_like(values)], axis=1)

    def missing_sites(self, statistic: np.ndarray) -> np.ndarray:
        """An item is missing as a whole."""
        return np.isnan(statistic[:, :1])

    def spread(self, sites: np.ndarray) -> np.ndarray:
        """Repeat over the row."""
        return np.broadcast_to(sites, (len(sites), self.n_features_))

    def feature_names(self, columns: list[str]) -> list[str]:
        """The columns, and each of them again from one position to the next."""
        return [*columns, *(f"{name} → {name}" for name in columns)]

    @property
    def feature_groups(self) -> dict[str, slice]:
        """Weights of being there and weights of going on."""
        return {"present": slice(self.n_columns), "continues": slice(self.n_columns, None)}

    # ---- the exponential family --------------------------------------------------------------------------------
    def log_partition(self, natural: np.ndarray, own: Own = NOTHING, size: np.ndarray | None = None) -> np.ndarray:
        """Logarithm of the sum over all sequences, by forward-backward."""
        return chain_log_partition(*self._halves(natural), _lengths(size))[:, None]

    def mean(self, natural: np.ndarray, own: Own = NOTHING, size: np.ndarray | None = None) -> np.ndarray:
        """Sums of node and of edge marginals, by forward-backward."""
        return chain_means(*self._halves(natural), _lengths(size)).T

    def sample(
        self, natural: np.ndarray, rng: np.random.Generator, own: Own = NOTHING, size: np.ndarray | None = None
    ) -> np.ndarray:
        """Counts of sequences, drawn position by position for the features that are there at all."""
        drawn = draw_chains(*self._halves(natural.astype(np.float32, copy=False)), _lengths(size), rng)
        return drawn.dense().astype(natural.dtype, copy=False)

    def mode(self, natural: np.ndarray, own: Own = NOTHING, size: np.ndarray | None = None) -> np.ndarray:
        """The best number of ones, with as many or as few neighbours among them as they can have."""
        node, edge = self._halves(natural)
        lengths = _lengths(size)
        best, ones, pairs = (np.zeros_like(node) for _ in range(3))
        for count in range(1, int(lengths.max(initial=0)) + 1):
            fewest = np.maximum(2 * count - 1 - lengths, 0).astype(natural.dtype)
            neighbours = np.where(edge > 0, count - 1, fewest)
            score = node * count + edge * neighbours
            better = (score > best) & (count <= lengths)
            best = np.where(better, score, best)
            ones, pairs = np.where(better, count, ones), np.where(better, neighbours, pairs)
        return np.concatenate([ones, pairs]).T.astype(natural.dtype, copy=False)

    def natural_from_mean(self, mean: np.ndarray) -> np.ndarray:
        """That of a long stationary chain with these frequencies; for rare features, neighbours shrink to chance."""
        length = float(self.typical_size_)
        one = np.clip(mean[: self.n_columns] / length, 1e-6, 1 - 1e-6)
        both = mean[self.n_columns :] / (length - 1) if length > 1 else one**2
        goes_on = np.clip((both + _BY_CHANCE * one) / (one + _BY_CHANCE), 1e-6, 1 - 1e-6)
        begins = np.clip(one * (1 - goes_on) / (1 - one), 1e-6, 1 - 1e-6)
        node = np.log1p(-goes_on) - 2 * np.log1p(-begins) + np.log(begins)
        edge = np.log(goes_on) - np.log1p(-goes_on) - np.log(begins) + np.log1p(-begins)
        return np.concatenate([node, edge])

    def statistic_variance(self, mean: np.ndarray, own: Own = NOTHING) -> np.ndarray:
        """Slope of each mean by its own natural parameter."""
        natural, step = self.natural_from_mean(mean.astype(np.float64)), 1e-3
        slopes = np.empty_like(natural)
        for group in self.feature_groups.values():
            shift = np.zeros_like(natural)
            shift[group] = step
            moved = np.stack([natural + shift, natural - shift])
            upper, lower = self.mean(moved, size=self.typical_sizes(2))
            slopes[group] = (upper - lower)[group] / (2 * step)
        return np.maximum(slopes, 0)

    # ---- sizes -------------------------------------------------------------------------------------------------
    def sizes(self, totals: np.ndarray) -> np.ndarray | None:
        """One, for rows that are no sequences."""
        return np.ones_like(totals)

    def typical_sizes(self, n_rows: int) -> np.ndarray | None:
        """The mean length of the training data."""
        return np.full(n_rows, float(self.typical_size_))

    def _halves(self, natural: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Node and edge naturals, (features, rows); no copy if naturals were computed feature by feature."""
        by_feature = np.ascontiguousarray(natural.T)
        return by_feature[: self.n_columns], by_feature[self.n_columns :]


def _lengths(size: np.ndarray | None) -> np.ndarray:
    assert size is not None
    return np.asarray(size).astype(np.int64)


def chain_states(length: int) -> tuple[np.ndarray, np.ndarray]:
    """All statistics a feature can have, (states, 2), and the logarithm of the number of sequences that have each.

    n ones with e neighbouring pairs make n - e runs: C(n - 1, e) ways to cut the ones into runs, times
    C(P - n + 1, n - e) places for them between the zeros.

    Examples
    --------
    >>> states, log_numbers = chain_states(3)
    >>> [(int(n), int(e), round(float(np.exp(number)))) for (n, e), number in zip(states, log_numbers)]
    [(0, 0, 1), (1, 0, 3), (2, 0, 1), (2, 1, 2), (3, 2, 1)]
    """
    ones, pairs = np.meshgrid(np.arange(length + 1.0), np.arange(max(length, 1.0)), indexing="ij")
    possible = (pairs <= np.maximum(ones - 1, 0)) & (pairs >= 2 * ones - 1 - length)
    n, e = ones[possible], pairs[possible]
    log_numbers = _log_choose(np.maximum(n - 1, 0), e) + _log_choose(length - n + 1, n - e)
    return np.stack([n, e], axis=1), log_numbers


def _log_choose(n: np.ndarray, k: np.ndarray) -> np.ndarray:
    return gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
