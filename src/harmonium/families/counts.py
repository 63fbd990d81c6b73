"""Base of the families of counts: most cells are zero, and the others can be drawn from a few candidates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Self

import numpy as np

from harmonium.core.validation import Choice
from harmonium.families.base import Family
from harmonium.families.numerics.sparse_draws import SparseDraw, draw_in_blocks
from harmonium.families.protocol.extra_parameters import NO_EXTRA, Extra
from harmonium.families.protocol.length import Length, NormalizedTotals
from harmonium.kernels.sampling.int8_bounds import pack_units
from harmonium.kernels.sampling.thinning import thinned_candidates
from harmonium.kernels.sparse.csr import CSCArrays, csc_from_coo

# larger whole numbers are taken to be measurements (times, identifiers); a convention, not far below e¹², the largest
# rate that Poisson can express
LARGEST_COUNT = 1e5
# What tells counts from other whole numbers. All are conventions, judged by counts of words, genes and visual words on
# one side, and ages, years, ratings, prices and codes on the other. Numbers spread evenly from 0 to n end at twice
# their mean, and counts go further; a column that hardly ever reaches zero is no count if its mean is beyond 20. A view
# is none of counts, whatever its other columns, if one never falls below 1000, as identifiers do, or varies by far less
# than counts of its size, as years do.
_TAIL_FACTOR, _TAIL_OFFSET = 2.2, 0.5
_SMALL_MEAN, _COMMON_ZEROS = 20.0, 0.05
_FAR_FROM_ZERO, _SMALL_DISPERSION = 1000.0, 0.5
# the share of columns that have to look like counts for a view to be one of counts; the others may be features that
# happen to be frequent
_SHARE_OF_COLUMNS = 0.5

#: what to use in place of units without a largest value
OTHER_UNITS = "use BernoulliUnits() or BinomialUnits(), or ReplicatedSoftmax() for counts with Gaussian units"

#: whether rows of different totals are brought to one scale
LengthNormalize = bool | Literal["auto"]
LENGTH_NORMALIZE = Choice((True, False, "auto"))
# Where "auto" levels rows: a total of fewer columns is information itself, and where more than half of the cells are
# above zero it is no length of a text. Both are conventions.
_FEWEST_COLUMNS, _LARGEST_DENSITY = 20, 0.5


def looks_like_counts(summary: Any, largest: float = LARGEST_COUNT) -> np.ndarray:
    """Tell which columns look like counts of something, and not like other whole numbers.

    Counts are whole numbers that begin at zero and have a longer tail above their mean than below, to at least 2.2
    times the mean. If the mean is above 20, at least 5 % of the values are zero. Ages, years, ratings, prices and codes
    are whole numbers, too, but fail in one or the other.

    Parameters
    ----------
    summary : harmonium.views.sources.source.Summary
        Column statistics of the data.
    largest : float, default=100000
        Largest value that a count may have.

    Returns
    -------
    ndarray of bool of shape (columns,)
        True for counts. Zeros and ones are judged like other numbers, so whoever takes them apart has to do it before.

    Examples
    --------
    >>> from harmonium import Views
    >>> children_and_ages = np.array([[0, 31], [2, 45], [0, 28], [1, 52], [0, 39]])
    >>> looks_like_counts(Views({"people": children_and_ages}).source("people").summary()).tolist()
    [True, False]
    """
    begins_at_zero = summary.whole & (summary.minimum == 0) & (summary.maximum <= largest)
    has_a_tail = summary.maximum >= _TAIL_FACTOR * summary.mean + _TAIL_OFFSET
    has_enough_zeros = (summary.mean <= _SMALL_MEAN) | (summary.zeros >= _COMMON_ZEROS)
    return begins_at_zero & has_a_tail & has_enough_zeros


def are_counts(summary: Any, largest: float = LARGEST_COUNT) -> bool:
    """Tell whether a view holds counts: whole numbers from 0 up, at least half of whose columns look like counts.

    CSCArrays of zeros and ones, which counts of rare things are, do not say anything about the others.
    """
    narrow = (summary.mean > _SMALL_MEAN) & (summary.variance < _SMALL_DISPERSION * summary.mean)
    if not _are_whole(summary, largest) or (narrow | (summary.minimum > _FAR_FROM_ZERO)).any():
        return False
    telling = summary.maximum > 1
    return bool(telling.any() and looks_like_counts(summary, largest)[telling].mean() >= _SHARE_OF_COLUMNS)


def are_binary(summary: Any) -> bool:
    """Tell whether all values are zeros and ones."""
    return _are_whole(summary, largest=1)


def _are_whole(summary: Any, largest: float) -> bool:
    return bool(summary.whole.all() and summary.minimum.min() >= 0 and summary.maximum.max() <= largest)


def are_sparse_counts(summary: Any) -> bool:
    """Tell whether counts are like those of words: at least 20 columns, and at most half of the cells above zero."""
    observed = max(float(summary.n_observed.sum()), 1.0)
    density = float(((1 - summary.zeros) * summary.n_observed).sum()) / observed
    return summary.n_columns >= _FEWEST_COLUMNS and density <= _LARGEST_DENSITY


def length_normalized(family: Family, summary: Any) -> Family:
    """Return a family that levels rows of sparse counts, if its setting ``length_normalize`` leaves that open."""
    settings = family.get_params(deep=False)
    if settings.get("length_normalize") != "auto" or not are_sparse_counts(summary):
        return family
    return type(family)(**settings | {"length_normalize": True})


class Counts(Family):
    """Base of families of independent counts, which can be drawn sparsely.

    A subclass states an upper limit of the probability of a count above zero, and which count a uniform number gives.
    One whose totals are lengths of texts, or the like, takes ``length_normalize`` as a setting.

    Attributes
    ----------
    typical_size_ : ndarray of shape (), optional
        The mean total of the training data, at least 1, if rows are length-normalised; None if they are not.

    Notes
    -----
    The total of a length-normalised row scales its couplings, like a covariate. It is not conditioned on, as it is in
    `ReplicatedSoftmax`: for each total the model is an exponential family over rows of any total.
    """

    role = "family"  # named here, as this is no family by itself
    counts_something = True
    length_normalize: LengthNormalize = False
    typical_size_: np.ndarray | None = None

    def bind(self, summary: Any) -> Self:
        """Return a fitted copy that knows the mean total, if rows are length-normalised."""
        bound = super().bind(summary)
        if self.length_normalize is True:
            bound.typical_size_ = np.array(max(1.0, float(summary.mean.sum())))
        return bound

    def restore(self, n_features: int, constants: Mapping[str, np.ndarray]) -> Self:
        """Return a fitted copy; refuse a mean total that cannot be one."""
        typical = constants.get("typical_size")
        if typical is not None and not (np.shape(typical) == () and 1 <= float(typical) < np.inf):
            raise ValueError("typical_size must be one number of at least 1")
        return super().restore(n_features, constants)

    @property
    def length(self) -> Length:
        """Totals, if rows are length-normalised."""
        return Length() if self.typical_size_ is None else NormalizedTotals(float(self.typical_size_))

    def statistic_variance(self, mean: np.ndarray, extra: Extra = NO_EXTRA) -> np.ndarray:
        """Return the variance of the distribution, exact near a pole, too."""
        return self.distribution(extra).variance(self.natural_from_mean(mean.astype(np.float64)))

    def tail_factor(self) -> float:
        """Return a constant c with P(x > 0) <= c exp(natural).

        Returns
        -------
        float
            The constant. The smaller it is, the fewer candidates have to be looked at.
        """
        raise NotImplementedError

    def tail_quantile(self, uniform: np.ndarray, natural: np.ndarray) -> np.ndarray:
        """Turn uniform numbers into counts by inversion of the survival function.

        Parameters
        ----------
        uniform : ndarray of shape (entries,)
            Numbers in (0, 1).
        natural : ndarray of shape (entries,)
            Natural parameters, clamped.

        Returns
        -------
        ndarray of float32 of shape (entries,)
            The number of k >= 0 with P(x > k) > uniform.
        """
        raise NotImplementedError

    def sample_sparsely(
        self,
        weights: np.ndarray,
        bias: np.ndarray,
        hidden: np.ndarray,
        rng: np.random.Generator,
        size: np.ndarray | None = None,
    ) -> SparseDraw | None:
        """Find candidates for counts above zero with a kernel, and draw these exactly."""
        keys = rng.integers(2**32, size=3, dtype=np.uint32)
        factor, units = self.tail_factor(), pack_units(hidden)

        def draw(first: int, last: int) -> tuple[CSCArrays]:
            features, rows, uniform, natural = thinned_candidates(
                weights[first:last], bias[first:last], units, factor, keys, first
            )
            counts = self.tail_quantile(uniform, self.domain.clamp(natural))
            return (csc_from_coo(features, rows, counts, last - first),)

        return draw_in_blocks(weights, len(weights), len(hidden), draw)
