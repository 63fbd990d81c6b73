"""Ordered lists of binary vectors: which words each paragraph of a text has."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.special import logsumexp

from harmonium.core.support import Support
from harmonium.families.base import Family
from harmonium.families.numerics.chain_states import best_naturals, chain_states
from harmonium.families.numerics.sparse_draws import SparseDraw, draw_in_blocks
from harmonium.families.protocol.codec import Codec, WholeRows
from harmonium.families.protocol.domain import Domain
from harmonium.families.protocol.extra_parameters import NO_EXTRA, Extra
from harmonium.families.protocol.length import Length, Totals
from harmonium.families.protocol.sites import Rest
from harmonium.kernels.chains.forward_backward import MAX_NATURAL, chain_log_partition, chain_means
from harmonium.kernels.chains.sampling import chain_keys, draw_chains, draw_chains_from_hidden
from harmonium.kernels.runtime.threads import scratch
from harmonium.kernels.sampling.candidates import flag_bytes
from harmonium.kernels.sparse.csr import CSCArrays
from harmonium.kernels.sparse.matrix import Matrix

# Pseudo-observations, as a share of all positions, after which a feature recurs as often as chance has it: the means
# of rare features say nothing about their neighbours. A convention.
_BY_CHANCE = 1e-3


class NodesAndEdges(WholeRows):
    """Codec of sequences: how many positions have a feature, and how many pairs of neighbours both have it."""

    is_affine = False
    rises_together = True

    @property
    def n_columns(self) -> int:
        """Number of columns of the vectors, each of which has two statistics."""
        return self.n_features // 2

    def encode(self, values: np.ndarray) -> np.ndarray:
        """Return the statistic of items that are a single vector."""
        return np.concatenate([values, np.zeros_like(values)], axis=1)

    def feature_names(self, columns: list[str]) -> list[str]:
        """Return the names of the columns, followed by ``name → name`` for each of them."""
        return [*columns, *(f"{name} → {name}" for name in columns)]

    @property
    def feature_groups(self) -> dict[str, slice]:
        """Features that say whether a column is present, and whether it continues."""
        return {"present": slice(self.n_columns), "continues": slice(self.n_columns, None)}


class Positions(Totals):
    """Lengths of sequences."""

    def sizes(self, statistic: Matrix) -> np.ndarray | None:
        """Return the length 1 of rows that are no sequences."""
        return np.ones(statistic.shape[0])


class Chain(Family):
    """Family of sequences of binary vectors, in which each feature is a Markov chain.

    The log-potential of a feature over the P positions of a sequence is node · Σ_p x_p + edge · Σ_p x_p x_{p+1}. Its
    statistics are therefore the number of positions that have it and the number of neighbouring pairs of positions
    that both have it; those of the first kind come first. P is given, as totals are for `ReplicatedSoftmax`, and
    densities are those of the sequence itself. An item is observed or missing as a whole.

    The data are `Sequences`. Statistics of observed and drawn items stay sparse.

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

    meant_for = "sequences"
    counts_something = True
    domain = Domain(-MAX_NATURAL, MAX_NATURAL)
    typical_size_: np.ndarray

    @property
    def support(self) -> Support:
        """The values 0 and 1."""
        description = "0 or 1 in every row of a sequence"
        return Support(description, 0, 1, integer=True, whole_rows=True, data="sequences")

    @classmethod
    def suits(cls, summary: Any, bounded: bool) -> int:
        """Return 1, as it is the only family of sequences."""
        return 1

    def bind(self, summary: Any) -> Self:
        """Return a fitted copy that knows the mean length, assumed for missing items."""
        typical = np.array(max(1.0, round(summary.mean_length)))
        return self.with_fitted(n_features_=2 * summary.n_columns, typical_size_=typical)

    @property
    def codec(self) -> Codec:
        """Numbers of positions, and of pairs of them, that have a feature."""
        return NodesAndEdges(self.n_features_)

    @property
    def length(self) -> Length:
        """Numbers of positions."""
        return Positions(float(self.typical_size_))

    # ---- the exponential family --------------------------------------------------------------------------------
    def log_base(self, values: np.ndarray, extra: Extra = NO_EXTRA, columns: np.ndarray | None = None) -> np.ndarray:
        """Return zeros."""
        return np.zeros_like(values)

    def log_partition(self, natural: np.ndarray, extra: Extra = NO_EXTRA, size: np.ndarray | None = None) -> np.ndarray:
        """Return the logarithm of the sum over all sequences, by forward-backward."""
        return chain_log_partition(*self._halves(natural), _lengths(size))[:, None]

    def mean(self, natural: np.ndarray, extra: Extra = NO_EXTRA, size: np.ndarray | None = None) -> np.ndarray:
        """Return the sums of node marginals and of edge marginals, by forward-backward."""
        return chain_means(*self._halves(natural), _lengths(size)).T

    def sample(
        self, natural: np.ndarray, rng: np.random.Generator, extra: Extra = NO_EXTRA, size: np.ndarray | None = None
    ) -> np.ndarray:
        """Draw sequences position by position, for features that occur at all, and count."""
        drawn = draw_chains(*self._halves(natural.astype(np.float32, copy=False)), _lengths(size), rng)
        return drawn.toarray().astype(natural.dtype, copy=False)

    def mode(self, natural: np.ndarray, extra: Extra = NO_EXTRA, size: np.ndarray | None = None) -> np.ndarray:
        """Return the best number of ones and of neighbouring pairs of each feature.

        For a given number of ones, the best number of pairs is the largest or the smallest that is possible.
        """
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
        """Return the natural parameters of a long stationary chain with these means.

        The number of neighbouring pairs of rare features is shrunk towards what chance gives.
        """
        length = float(self.typical_size_)
        one = np.clip(mean[: self.codec.n_columns] / length, 1e-6, 1 - 1e-6)
        both = mean[self.codec.n_columns :] / (length - 1) if length > 1 else one**2
        goes_on = np.clip((both + _BY_CHANCE * one) / (one + _BY_CHANCE), 1e-6, 1 - 1e-6)
        begins = np.clip(one * (1 - goes_on) / (1 - one), 1e-6, 1 - 1e-6)
        node = np.log1p(-goes_on) - 2 * np.log1p(-begins) + np.log(begins)
        edge = np.log(goes_on) - np.log1p(-goes_on) - np.log(begins) + np.log1p(-begins)
        return np.concatenate([node, edge])

    def saturated_natural(
        self, statistic: np.ndarray, natural: np.ndarray, extra: Extra, size: np.ndarray | None = None
    ) -> np.ndarray:
        """Return the best natural parameters within the limits, found numerically."""
        assert size is not None
        return best_naturals(statistic, size, (self.domain.lower, self.domain.upper))

    def sample_sparsely(
        self,
        weights: np.ndarray,
        bias: np.ndarray,
        hidden: np.ndarray,
        rng: np.random.Generator,
        size: np.ndarray | None = None,
    ) -> SparseDraw | None:
        """Draw the features that occur at all, block by block of columns."""
        n_rows, n_columns, lengths = len(hidden), self.codec.n_columns, _lengths(size)
        keys = chain_keys(lengths, rng)

        def draw(first: int, last: int) -> tuple[CSCArrays, CSCArrays]:
            nodes, edges = slice(first, last), slice(n_columns + first, n_columns + last)
            natural = scratch("natural", (2, last - first, n_rows), np.float32)
            flags = scratch("flags", (flag_bytes(natural[0].size),), np.uint8)
            parts, biases = (weights[nodes], weights[edges]), (bias[nodes], bias[edges])
            return draw_chains_from_hidden(parts, biases, hidden.T, lengths, keys, first * n_rows, natural, flags)

        return draw_in_blocks(weights, n_columns, n_rows, draw)

    def probe(
        self, values: np.ndarray, sites: np.ndarray, rest: Rest, rng: np.random.Generator, size: float | None = None
    ) -> float:
        """Return the log-probability of one feature's sequence given all others.

        A feature is drawn at random, and the result is multiplied by the number of features.
        """
        assert size is not None
        n_columns = self.codec.n_columns
        pair = int(rng.integers(n_columns)) + np.array([0, n_columns])
        weights = rest.weights[pair].astype(np.float64)
        states, log_numbers = chain_states(int(size))
        away = states - values[pair]
        score = away @ rest.bias[pair] + rest.log_hidden(rest.natural + away @ weights)
        observed = float(rest.log_hidden(rest.natural[None, :])[0])
        return n_columns * (observed - float(logsumexp(score + log_numbers)))

    def _halves(self, natural: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return node and edge naturals, each of shape (columns, rows), without a copy if they are stored so."""
        by_feature = np.ascontiguousarray(natural.T)
        return by_feature[: self.codec.n_columns], by_feature[self.codec.n_columns :]


def _lengths(size: np.ndarray | None) -> np.ndarray:
    assert size is not None
    return np.asarray(size).astype(np.int64)
