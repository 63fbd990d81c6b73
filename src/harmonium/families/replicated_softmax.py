"""Word counts whose total is given: only the mixture of words is modelled, not the length of the document."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.special import gammaln, logsumexp, softmax

from harmonium.families.base import NOTHING, Family, Own
from harmonium.kernels.sampling import draw_tokens
from harmonium.kernels.sparse import SparseRows
from harmonium.support import Support

_MANY_TOKENS = 100_000


class ReplicatedSoftmax(Family):
    """Multinomial counts given the row's total N (Salakhutdinov and Hinton, 2009).

    The base measure is 1 / Πx!, so the log-partition is N log Σ exp(natural) - log N!. Unlike there, the bias of the
    hidden units is not multiplied by N. Totals are not modelled, so densities of rows with different totals belong to
    different distributions.

    Examples
    --------
    >>> family = ReplicatedSoftmax().restore(2, {"typical_size": np.array(10.0)})
    >>> family.mean(np.zeros((1, 2)), size=np.array([6.0])).tolist()
    [[3.0, 3.0]]
    """

    exclusive = True
    whole_rows = True
    samples_rows = True
    typical_size_: np.ndarray

    @property
    def support(self) -> Support:
        """Whole numbers from 0 up."""
        return Support("whole numbers from 0 up", 0, integer=True)

    def bind(self, summary: Any) -> Self:
        """Remember the mean total, the size of rows that are not observed."""
        typical = np.array(max(1.0, round(float(summary.mean.sum()))))
        return self.bound(n_features_=summary.n_columns, typical_size_=typical)

    def constants(self) -> dict[str, np.ndarray]:
        """Mean total."""
        return {"typical_size": self.typical_size_}

    @property
    def n_sites(self) -> int:
        """The whole row."""
        return 1

    def missing_sites(self, statistic: np.ndarray) -> np.ndarray:
        """A row is missing if all of it is; a total cannot be had from some of the counts."""
        missing = np.isnan(statistic)
        partly = missing.any(axis=1) & ~missing.all(axis=1)
        if partly.any():
            raise ValueError(
                "A ReplicatedSoftmax view needs rows that are observed or missing as a whole; "
                f"row {int(np.argmax(partly))} has some NaN cells; use Poisson() if single counts may be missing."
            )
        return missing.all(axis=1, keepdims=True)

    def spread(self, sites: np.ndarray) -> np.ndarray:
        """Repeat over the row."""
        return np.broadcast_to(sites, (len(sites), self.n_features_))

    def log_base(self, values: np.ndarray, own: Own = NOTHING, columns: np.ndarray | None = None) -> np.ndarray:
        """-log x!."""
        return -gammaln(values + values.dtype.type(1))

    def log_partition(self, natural: np.ndarray, own: Own = NOTHING, size: np.ndarray | None = None) -> np.ndarray:
        """N log Σ exp(natural) - log N!."""
        assert size is not None
        total = size * logsumexp(natural, axis=1) - gammaln(size + 1)
        return total[:, None].astype(natural.dtype, copy=False)

    def mean(self, natural: np.ndarray, own: Own = NOTHING, size: np.ndarray | None = None) -> np.ndarray:
        """N times the softmax."""
        assert size is not None
        return (size[:, None] * softmax(natural, axis=1)).astype(natural.dtype, copy=False)

    def sample(
        self, natural: np.ndarray, rng: np.random.Generator, own: Own = NOTHING, size: np.ndarray | None = None
    ) -> np.ndarray:
        """Multinomial counts."""
        assert size is not None
        if size.max(initial=0) <= _MANY_TOKENS:
            return self.sample_rows(natural, rng, size).dense().astype(natural.dtype, copy=False)
        # token by token would take too long: word by word, each binomial given the words before
        probabilities = softmax(natural.astype(np.float64), axis=1)
        probabilities /= probabilities.sum(axis=1, keepdims=True)
        return rng.multinomial(size.astype(np.int64), probabilities).astype(natural.dtype)

    def sample_rows(self, natural: np.ndarray, rng: np.random.Generator, size: np.ndarray | None) -> SparseRows:
        """Multinomial counts, token by token."""
        assert size is not None
        if size.max(initial=0) > _MANY_TOKENS:
            return SparseRows.from_dense(self.sample(natural, rng, size=size))
        rows = np.ascontiguousarray(natural, dtype=np.float32)
        key = np.uint32(rng.integers(2**32))
        return SparseRows(*draw_tokens(rows, size.astype(np.int64), key), natural.shape[1])

    def mode(self, natural: np.ndarray, own: Own = NOTHING, size: np.ndarray | None = None) -> np.ndarray:
        """Multinomial mode: give the N tokens out one by one, each where p / (count + 1) is largest."""
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
        """Log-share, centred (adding a constant changes nothing)."""
        # a view of zeros only has no shares, and any will do
        natural = np.log(np.maximum(mean, max(1e-6 * mean.sum(), 1e-12)))
        return natural - natural.mean()

    def sizes(self, totals: np.ndarray) -> np.ndarray | None:
        """The totals."""
        return totals

    def typical_sizes(self, n_rows: int) -> np.ndarray | None:
        """The mean total of the training data."""
        return np.full(n_rows, float(self.typical_size_))
