"""Word counts whose total is given: only the mixture of words is modelled, not the length of the document."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.special import gammaln, logsumexp, softmax

from harmonium.core.support import Support
from harmonium.families.counts import are_counts
from harmonium.families.exclusive import Exclusive
from harmonium.families.numerics.sparse_draws import SparseDraw
from harmonium.families.protocol.codec import Codec, WholeRows
from harmonium.families.protocol.extra_parameters import NO_EXTRA, Extra
from harmonium.families.protocol.length import Length, Totals
from harmonium.kernels.sampling.multinomial import draw_multinomial
from harmonium.kernels.sparse.csr import SparseRows
from harmonium.kernels.sparse.products import hidden_times_weights

# a convention: rows with more tokens than this are drawn word by word instead of token by token
_MANY_TOKENS = 100_000


class CountRows(WholeRows):
    """Codec of counts with a total, which some of them do not give."""

    def missing_sites(self, statistic: np.ndarray) -> np.ndarray:
        """Tell which rows are missing, and refuse rows of which only a part is."""
        missing = np.isnan(statistic)
        partly = missing.any(axis=1) & ~missing.all(axis=1)
        if partly.any():
            raise ValueError(
                "A ReplicatedSoftmax view needs rows that are observed or missing as a whole; "
                f"row {int(np.argmax(partly))} has some NaN cells; use Poisson() if single counts may be missing."
            )
        return missing.all(axis=1, keepdims=True)


class ReplicatedSoftmax(Exclusive):
    """Family of word counts whose total N is given: multinomial counts.

    Only the mixture of words is modelled. Totals are not, so densities of rows with different totals belong to
    different distributions. A row is observed or missing as a whole.

    Notes
    -----
    The base measure is 1 / Πx!, so the log-partition is N log Σ exp(natural) - log N!. Unlike in the paper, the bias of
    the hidden units is not multiplied by N.

    References
    ----------
    Salakhutdinov & Hinton (2009), Replicated softmax: an undirected topic model.

    Examples
    --------
    >>> family = ReplicatedSoftmax().restore(2, {"typical_size": np.array(10.0)})
    >>> family.mean(np.zeros((1, 2)), size=np.array([6.0])).tolist()
    [[3.0, 3.0]]
    """

    meant_for = "counts"
    counts_something = True
    typical_size_: np.ndarray

    @classmethod
    def suits(cls, summary: Any, bounded: bool) -> int:
        """Return 2 for counts with unbounded units, which rule out Poisson."""
        return 2 if not bounded and are_counts(summary) else 0

    @property
    def support(self) -> Support:
        """All whole numbers from 0 up."""
        return Support("whole numbers from 0 up", 0, integer=True, whole_rows=True)

    def bind(self, summary: Any) -> Self:
        """Return a fitted copy that knows the mean total, assumed for missing rows."""
        typical = np.array(max(1.0, round(float(summary.mean.sum()))))
        return self.with_fitted(n_features_=summary.n_columns, typical_size_=typical)

    @property
    def codec(self) -> Codec:
        """The counts themselves, in rows that are observed or missing as a whole."""
        return CountRows(self.n_features_)

    @property
    def length(self) -> Length:
        """The totals."""
        return Totals(float(self.typical_size_))

    def log_base(self, values: np.ndarray, extra: Extra = NO_EXTRA, columns: np.ndarray | None = None) -> np.ndarray:
        """Return -log x!."""
        return -gammaln(values + values.dtype.type(1))

    def log_partition(self, natural: np.ndarray, extra: Extra = NO_EXTRA, size: np.ndarray | None = None) -> np.ndarray:
        """Return N log Σ exp(natural) - log N!."""
        assert size is not None
        total = size * logsumexp(natural, axis=1) - gammaln(size + 1)
        return total[:, None].astype(natural.dtype, copy=False)

    def mean(self, natural: np.ndarray, extra: Extra = NO_EXTRA, size: np.ndarray | None = None) -> np.ndarray:
        """Return N times the softmax."""
        assert size is not None
        return (size[:, None] * softmax(natural, axis=1)).astype(natural.dtype, copy=False)

    def sample(
        self, natural: np.ndarray, rng: np.random.Generator, extra: Extra = NO_EXTRA, size: np.ndarray | None = None
    ) -> np.ndarray:
        """Draw multinomial counts."""
        assert size is not None
        if size.max(initial=0) <= _MANY_TOKENS:
            return self._token_by_token(natural, rng, size).toarray().astype(natural.dtype, copy=False)
        # token by token would take too long, so the count of each word is drawn from a binomial given the words before
        probabilities = softmax(natural.astype(np.float64), axis=1)
        probabilities /= probabilities.sum(axis=1, keepdims=True)
        return rng.multinomial(size.astype(np.int64), probabilities).astype(natural.dtype)

    def sample_sparsely(
        self,
        weights: np.ndarray,
        bias: np.ndarray,
        hidden: np.ndarray,
        rng: np.random.Generator,
        size: np.ndarray | None = None,
    ) -> SparseDraw | None:
        """Draw the word of each token, and count."""
        assert size is not None
        natural = self.domain.clamp(hidden_times_weights(hidden, weights, bias))
        if size.max(initial=0) > _MANY_TOKENS:
            return SparseDraw(SparseRows.from_dense(self.sample(natural, rng, size=size)))
        return SparseDraw(self._token_by_token(natural, rng, size))

    @staticmethod
    def _token_by_token(natural: np.ndarray, rng: np.random.Generator, size: np.ndarray) -> SparseRows:
        rows = np.ascontiguousarray(natural, dtype=np.float32)
        key = np.uint32(rng.integers(2**32))
        return SparseRows(*draw_multinomial(rows, size.astype(np.int64), key), natural.shape[1])

    def mode(self, natural: np.ndarray, extra: Extra = NO_EXTRA, size: np.ndarray | None = None) -> np.ndarray:
        """Return the multinomial mode.

        The N tokens are given out one by one, each to the word with the largest p / (count + 1).
        """
        assert size is not None
        probabilities = softmax(natural, axis=1)
        counts = np.floor(size[:, None] * probabilities)
        rows = np.arange(len(counts))
        for _ in range(natural.shape[1]):
            short = counts.sum(axis=1) < size
            if not short.any():
                break
            best = np.argmax(probabilities / (counts + 1), axis=1)
            counts[rows[short], best[short]] += 1
        return counts.astype(natural.dtype)

    def natural_from_mean(self, mean: np.ndarray) -> np.ndarray:
        """Return the centred logarithms of the shares."""
        # a view of nothing but zeros has no shares, and any will do
        natural = np.log(np.maximum(mean, max(1e-6 * mean.sum(), 1e-12)))
        # adding a constant to all of them changes nothing
        return natural - natural.mean()

    def saturated_natural(
        self, statistic: np.ndarray, natural: np.ndarray, extra: Extra, size: np.ndarray | None = None
    ) -> np.ndarray:
        """Return the logarithms of the counts: those of the shares but for a constant."""
        return np.log(np.maximum(statistic, 1e-12))
