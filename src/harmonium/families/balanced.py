"""Features on a common scale: views of words and of numbers, large and small, that count the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np

from harmonium.families.counts import are_sparse_counts
from harmonium.families.normal import LogVariances, Normal, RealLine
from harmonium.families.protocol.codec import Codec, Standardized
from harmonium.families.protocol.scale import scales_of

# Limits of the variance of a feature given the hidden units, where that of the data is 1 on average, and where a
# learned one begins. Conventions: wide enough for one variance of all features of views that differ in width by a
# factor of a million.
_SMALLEST, _START, _LARGEST = 1e-6, 0.5, 1e6

_Kind = Literal["numbers", "weights", "counts"]
_KINDS: tuple[_Kind, ...] = ("numbers", "weights", "counts")


@dataclass(frozen=True)
class Comparable(Standardized):
    """Codec of features on a common scale; rows of weights and of counts are brought to the same length."""

    kind: _Kind
    is_affine = False

    @property
    def _levels_rows(self) -> bool:
        """Whether rows are brought to the same length."""
        return self.kind != "numbers"

    @property
    def _length(self) -> float:
        """Length of rows that are brought to one, by which features have a mean square of 1."""
        return float(np.sqrt(self.n_features))

    def encode(self, values: np.ndarray) -> np.ndarray:
        """Return standardised numbers, or weights in rows of the same length."""
        scaled = super().encode(self._weighed(values))
        if not self._levels_rows:
            return np.asarray(scaled)
        return np.asarray(scaled * self._stretch(np.nansum(np.square(scaled), axis=1))[:, None])

    def encode_nonzeros(self, values: np.ndarray, columns: np.ndarray, starts: np.ndarray) -> np.ndarray:
        """Return scaled numbers, or weights in rows of the same length."""
        scaled = super().encode_nonzeros(self._weighed(values), columns, starts)
        if not self._levels_rows:
            return np.asarray(scaled)
        rows = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        squares = np.bincount(rows, weights=np.square(scaled), minlength=len(starts) - 1)
        return np.asarray(scaled * self._stretch(squares)[rows])

    def _weighed(self, values: np.ndarray) -> np.ndarray:
        """Return 1 + log x of counts, which leaves zeros and ones as they are, and other values as they are."""
        if self.kind != "counts":
            return values
        return np.where(values > 1, 1 + np.log(np.maximum(values, 1.0)), values)

    def _stretch(self, squares: np.ndarray) -> np.ndarray:
        """Return by what rows with these sums of squares are multiplied; empty rows stay empty."""
        return self._length / np.sqrt(np.where(squares > 0, squares, 1.0))

    def decode(self, statistic: np.ndarray) -> np.ndarray:
        """Return numbers on the scale of the data, or weights in rows of length 1.

        Rare features are as they were before they were weighted.
        """
        return statistic * self.scale / self._length if self._levels_rows else super().decode(statistic)

    @property
    def log_volume(self) -> np.ndarray:
        """Logarithm of what numbers, or weights, are multiplied by."""
        return super().log_volume + (np.log(self._length) if self._levels_rows else 0.0)

    @property
    def data_scale(self) -> np.ndarray:
        """1 for all features: the statistic is on a common scale already."""
        return np.ones(self.n_features)


class PooledVariances(LogVariances):
    """Log-variances that features on a common scale share."""

    pools_variance = True


class Balanced(Normal):
    """Family of views that should count the same, whatever they hold.

    Views may hold words, tags, histograms or measurements; their values tell which. Columns of numbers are brought to
    mean 0 and variance 1. In views that are mostly zeros and never negative, zero means absence, and it matters which
    features a row has, not how much of them in all: whole numbers become 1 + log x, rare features weigh more than
    frequent ones (idf), and each row is brought to the same length. Other such values, which someone has weighted
    already, are brought to that length alone.

    See Also
    --------
    Gaussian : Real values in their own units, each with a variance of its own.
    harmonium.recipes.ClusterSpace : A space to cluster in, made of such views.

    Notes
    -----
    Features are normal given the hidden units, on a scale on which their variance is 1 on average over a view. Expected
    values and draws of views of words are weights in a row of length 1, before rare ones are weighted, and not counts;
    densities of such views are those of the weights.

    With `FactorUnits` and the driver `Spectral`, features have one variance given the units, and the model is
    probabilistic principal component analysis (Tipping & Bishop 1999): of one view of words, latent semantic analysis;
    of numbers, principal components of standardised columns. Several views have a total variance of d^¼ each, where d
    is the number of dimensions that a view varies in, 1 if all its columns say the same. That is halfway between equal
    variances and, with d^½, views whose products between items have the same norm, as STATIS has them (Lavit et al.
    1994): the first favours views that say one thing, the second those that say many.

    A view counts as mostly zeros if it has at least 20 columns and at most half of its cells are above zero, as in
    models that predict. How views are weighted was settled on mfeat, BDGP, Wikipedia, emoji and photographs, how words
    are on Reuters-21578 and 20 Newsgroups (``benchmarks/clusters``).

    References
    ----------
    Tipping & Bishop (1999), Probabilistic principal component analysis. Lavit, Escoufier, Sabatier & Traissac (1994),
    The ACT (STATIS method).

    Examples
    --------
    >>> from harmonium import Views
    >>> words = np.eye(20)[[0, 0, 1]] + 2 * np.eye(20)[[1, 2, 2]]
    >>> family = Balanced().bind(Views({"words": words}).source("words").summary())
    >>> np.linalg.norm(family.codec.encode(words), axis=1).round(3).tolist()  # the root of 20
    [4.472, 4.472, 4.472]
    """

    domain = RealLine(-1e8, 1e8)
    location_: np.ndarray
    scale_: np.ndarray
    kind_: np.ndarray
    whole_constants = ("kind",)

    def bind(self, summary: Any) -> Self:
        """Return a fitted copy that knows what the view holds, and how to scale it."""
        location, kind = np.zeros(summary.n_columns), "numbers"
        if are_sparse_counts(summary) and summary.minimum.min() >= 0:
            kind = "counts" if summary.whole.all() else "weights"
        if kind == "numbers":
            scale = scales_of(summary.variance, summary.mean, summary.is_sparse)
            location = location if summary.is_sparse else summary.mean
        elif kind == "counts":
            present = (1 - summary.zeros) * summary.n_observed
            # the idf of scikit-learn, which keeps words that all rows have
            scale = 1 / (np.log((1 + summary.n_observed) / (1 + present)) + 1)
        else:
            scale = np.ones(summary.n_columns)
        return self.with_fitted(
            n_features_=summary.n_columns, location_=location, scale_=scale, kind_=np.array(_KINDS.index(kind))
        )

    def restore(self, n_features: int, constants: Mapping[str, np.ndarray]) -> Self:
        """Return a fitted copy; refuse a kind that there is not."""
        kind = constants["kind"]
        if np.shape(kind) != () or int(kind) not in range(len(_KINDS)):
            raise ValueError(f"kind must be one number from 0 to {len(_KINDS) - 1}")
        return super().restore(n_features, constants)

    @property
    def codec(self) -> Codec:
        """Standardised numbers, or weights in rows of the same length."""
        return Comparable(self.n_features_, self.location_, self.scale_, _KINDS[int(self.kind_)])

    @property
    def extra_parameters(self) -> LogVariances:
        """Logarithms of the variances, which all features have in common."""
        limits = float(np.log(_SMALLEST)), float(np.log(_LARGEST))
        return PooledVariances(self.n_features_, np.log(_START), *limits)
