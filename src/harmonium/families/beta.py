"""Shares between 0 and 1: proportions, methylation levels, normalised scores.

Arrays of *pairs*, (..., 2, columns), have what belongs to the shares first and what belongs to their rests second:
logarithms of x and 1 - x, or a and b.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.special import betaln, digamma, expit, logsumexp

from harmonium.core.support import Support
from harmonium.core.validation import Number
from harmonium.families.base import Family
from harmonium.families.numerics.pole import keep_below_pole
from harmonium.families.protocol.codec import Codec
from harmonium.families.protocol.domain import Domain
from harmonium.families.protocol.extra_parameters import NO_EXTRA, Extra
from harmonium.families.protocol.sites import Rest, log_total
from harmonium.kernels.elementwise import softplus

# Shares nearer to 0 or 1 are taken to be this near: in double precision, nothing below 1 is nearer to it.
_EDGE = float(np.finfo(np.float64).epsneg)
# Log-odds with a smaller standard deviation count as constant, as if they had this one. A convention.
_LEAST_DEVIATION = 1e-3
# Largest variance of shares as a part of mean (1 - mean), which only zeros and ones have. A convention.
_LARGEST_PART = 0.99
# Limits of a and b. Conventions: a quarter of Beta(0.02, 1) lies below 1e-30.
_LEAST_SHAPE, _LARGEST_SHAPE = 0.02, 1e8
# Longest step of log-odds in integrals, whose singularities are π away: sums are exact to exp(-2π² / step).
_LONGEST_STEP = 0.25
# Newton's method in logarithms: rounds, longest step and the step at which it ends.
_MOST_ROUNDS, _FARTHEST, _TOLERANCE = 40, 2.0, 1e-8

_REMEDY = "clip it to [0.001, 0.999] first, as Beta(margin=0.001) does with 0 and 1"
_NEEDS_BOUNDED_UNITS = (
    "its natural parameters θ + W h must stay above 0, which unbounded units do not respect; use "
    "BernoulliUnits() or BinomialUnits(), or Gaussian() for the log-odds of shares"
)


@dataclass(frozen=True)
class LogShares(Codec):
    """Codec of shares: standardised logarithms of all shares, then those of all rests."""

    location: np.ndarray
    scale: np.ndarray
    deviation: np.ndarray  # of the shares
    margin: float
    is_affine = False

    @property
    def n_columns(self) -> int:
        """Number of columns of shares, each of which has two statistics."""
        return self.n_features // 2

    @property
    def n_sites(self) -> int:
        """Number of columns of shares."""
        return self.n_columns

    @property
    def keeps_zeros(self) -> bool:
        """False, as no share is 0."""
        return False

    @property
    def feature_groups(self) -> dict[str, slice]:
        """Features whose weights make shares large, and those that make them small."""
        return {"share": slice(self.n_columns), "rest": slice(self.n_columns, None)}

    def standardized(self, logarithms: np.ndarray) -> np.ndarray:
        """Return the statistic of pairs of logarithms."""
        return (_features(logarithms) - self.location) / self.scale

    def encode(self, values: np.ndarray) -> np.ndarray:
        """Return the standardised logarithms of shares and rests."""
        return self.standardized(_logarithms(_inside(values, self.margin)))

    def decode(self, statistic: np.ndarray) -> np.ndarray:
        """Return the shares, none of which is 0 or 1 in single precision either."""
        pairs = _pairs(statistic * self.scale + self.location)
        log_share, log_rest = pairs[..., 0, :], pairs[..., 1, :]
        # the smaller of the two is the more precise
        share = np.where(log_share < log_rest, np.exp(log_share), -np.expm1(log_rest))
        single = np.finfo(np.float32)
        return np.clip(share, single.tiny, 1 - single.epsneg)

    @property
    def log_volume(self) -> np.ndarray:
        """Minus half the logarithm of the standard deviation of the shares."""
        # each of the two statistics of a column has half
        return np.tile(-0.5 * np.log(self.deviation), 2)

    def missing_sites(self, statistic: np.ndarray) -> np.ndarray:
        """Tell which shares are missing."""
        return np.isnan(statistic[:, : self.n_columns])

    def spread(self, sites: np.ndarray) -> np.ndarray:
        """Repeat the value of each column for its share and its rest."""
        return np.tile(sites, (1, 2))

    def feature_names(self, columns: list[str]) -> list[str]:
        """Return the names of the columns, then "1 - name" for their rests."""
        return [*columns, *(f"1 - {name}" for name in columns)]


@dataclass(frozen=True)
class AboveZero(Domain):
    """Natural parameters above 0 in every hidden state, with limits that are multiplied by a scale of each feature."""

    scale: np.ndarray | float = 1.0

    def clamp(self, natural: np.ndarray) -> np.ndarray:
        """Keep a and b, in place, within the limits."""
        return np.clip(natural, self.lower * self.scale, self.upper * self.scale, out=natural)

    def project(self, weights: np.ndarray, bias: np.ndarray, units: Support) -> None:
        """Keep a and b above their smallest value, whatever the values of the units."""
        least = np.asarray(self.lower * self.scale, dtype=bias.dtype)
        negative, distance = -weights, least - bias
        before = distance.copy()
        keep_below_pole(negative, distance, units.upper)
        weights[:] = -negative
        bias += before - distance  # nothing where naturals are allowed, to the last bit


class Beta(Family):
    """Family of shares strictly between 0 and 1, each with a Beta distribution.

    The density of a share is x^(a - 1) (1 - x)^(b - 1) / B(a, b). Each column has two statistics, log x and log(1 - x),
    with a and b as natural parameters: those of all shares come first, then those of all rests. Both are standardised,
    so that tight and wide columns train alike. Topics shift where shares lie as well as how closely they do, and
    `predict_view` and `reconstruct` return expected shares, a / (a + b).

    As a and b must stay above 0 in every hidden state, hidden units must be bounded. The family is never inferred:
    numbers between 0 and 1 are taken to be `Gaussian` unless it is asked for.

    Parameters
    ----------
    margin : float, default=0.0
        Shares nearer to 0 or 1 than this are pulled to it, zeros and ones included. At 0 nothing is pulled, and zeros
        and ones, whose logarithms are infinite, are refused. As logarithms put 1e-9 as far from 1e-6 as 1e-3 from 1, a
        margin of what the measurement can tell from 0 keeps differences without meaning from counting.

    Notes
    -----
    Means and scales by which statistics are standardised are those of the Beta distribution with the mean and variance
    of the column, within the limits that its range sets. Densities are exact whatever they are.

    Examples
    --------
    >>> family = Beta().restore(2, {"location": np.zeros(2), "scale": np.ones(2), "deviation": np.ones(1)})
    >>> family.expected(np.array([[6.0, 2.0]])).tolist()
    [[0.75]]
    """

    meant_for = "shares between 0 and 1"
    location_: np.ndarray
    scale_: np.ndarray
    deviation_: np.ndarray

    settings = {"margin": Number(inclusive=True, below=0.5, remedy="0.001 is usual, and 0 pulls nothing")}

    def __init__(self, margin: float = 0.0) -> None:
        self.margin = margin

    @property
    def support(self) -> Support:
        """The open interval from 0 to 1, with its ends if there is a margin."""
        if self.margin:
            return Support("shares from 0 to 1", 0, 1, remedy=_REMEDY)
        return Support("shares above 0 and below 1", 0, 1, open=True, remedy=_REMEDY)

    def bind(self, summary: Any) -> Self:
        """Return a copy that knows how to standardise the logarithms of each column."""
        low, mean, high = (_inside(values, self.margin) for values in (summary.minimum, summary.mean, summary.maximum))
        largest = mean * (1 - mean)
        least, most = np.square(_LEAST_DEVIATION * largest), _LARGEST_PART * largest
        variance = np.clip(summary.variance, least, most)
        shapes = np.stack([mean, 1 - mean]) * (largest / variance - 1)
        scale = np.sqrt(_variances(shapes))
        # tails of logarithms are long if a or b are small, as for shares with two peaks, but no data vary by more than
        # half their range; what has next to none is constant
        ends = np.sort([_logarithms(low), _logarithms(high)], axis=0)
        half = np.ptp(ends, axis=0) / 2
        return self.with_fitted(
            n_features_=2 * summary.n_columns,
            location_=np.clip(_means(shapes), *ends).ravel(),
            scale_=np.where(half > _LEAST_DEVIATION * scale, np.minimum(half, scale), scale).ravel(),
            deviation_=np.sqrt(variance),
        )

    @property
    def codec(self) -> LogShares:
        """Logarithms of shares and of their rests."""
        return LogShares(self.n_features_, self.location_, self.scale_, self.deviation_, self.margin)

    @property
    def domain(self) -> AboveZero:
        """Natural parameters above 0: a and b times the scale of the statistic."""
        return AboveZero(_LEAST_SHAPE, _LARGEST_SHAPE, _NEEDS_BOUNDED_UNITS, self.scale_)

    def expected(self, natural: np.ndarray, extra: Extra = NO_EXTRA, size: np.ndarray | None = None) -> np.ndarray:
        """Return the expected shares, a / (a + b)."""
        shapes = self._shapes(natural)
        return (shapes[..., 0, :] / shapes.sum(axis=-2)).astype(natural.dtype)

    def log_base(self, values: np.ndarray, extra: Extra = NO_EXTRA, columns: np.ndarray | None = None) -> np.ndarray:
        """Return minus the logarithms, as the base measure is 1 / (x (1 - x))."""
        place = slice(None) if columns is None else columns
        offset = self.location_ + self.codec.log_volume
        return (-offset[place] - self.scale_[place] * values).astype(values.dtype)

    def log_partition(self, natural: np.ndarray, extra: Extra = NO_EXTRA, size: np.ndarray | None = None) -> np.ndarray:
        """Return log B(a, b), less what centring takes from the statistics."""
        shapes = self._shapes(natural)
        value = betaln(shapes[..., 0, :], shapes[..., 1, :]) - (shapes * _pairs(self.location_)).sum(axis=-2)
        return np.where((shapes > 0).all(axis=-2), value, np.inf).astype(natural.dtype)

    def mean(self, natural: np.ndarray, extra: Extra = NO_EXTRA, size: np.ndarray | None = None) -> np.ndarray:
        """Return ψ(a) - ψ(a + b) and ψ(b) - ψ(a + b), standardised."""
        return self.codec.standardized(_means(self._shapes(natural))).astype(natural.dtype)

    def sample(
        self, natural: np.ndarray, rng: np.random.Generator, extra: Extra = NO_EXTRA, size: np.ndarray | None = None
    ) -> np.ndarray:
        """Draw two gamma variables, by their logarithms, and take their shares."""
        # a variable of shape a is one of shape a + 1 times U^(1/a), whose logarithm does not underflow
        shapes = self._shapes(natural)
        log_gammas = np.log(rng.standard_gamma(shapes + 1)) - rng.standard_exponential(shapes.shape) / shapes
        log_odds = log_gammas[..., 0, :] - log_gammas[..., 1, :]
        return self.codec.standardized(_logarithms_of_odds(log_odds)).astype(natural.dtype)

    def mode(self, natural: np.ndarray, extra: Extra = NO_EXTRA, size: np.ndarray | None = None) -> np.ndarray:
        """Return (a - 1) / (a + b - 2), or the end where densities are largest.

        Ends are as near to 0 and 1 as the margin lets shares be.
        """
        shapes = self._shapes(natural)
        above = np.maximum(shapes - 1, 0)
        total = above.sum(axis=-2)
        # without a peak inside, densities rise to the end whose shape is smaller, and most of all there; to both ends
        # alike if shapes are the same, unless they are 1
        first, second = shapes[..., 0, :], shapes[..., 1, :]
        end = np.where((first == second) & (first == 1), 0.5, first > second)
        share = np.where(total > 0, above[..., 0, :] / np.where(total > 0, total, 1.0), end)
        return self.codec.encode(share).astype(natural.dtype)

    def natural_from_mean(self, mean: np.ndarray) -> np.ndarray:
        """Return the maximum likelihood estimate, found by Newton's method."""
        logarithms = _pairs(mean.astype(np.float64) * self.scale_ + self.location_)
        return _features(_shapes_from_means(logarithms)) * self.scale_

    def saturated_natural(
        self, statistic: np.ndarray, natural: np.ndarray, extra: Extra, size: np.ndarray | None = None
    ) -> np.ndarray:
        """Return the best a and b whose sum is that of the model."""
        # the larger it is, the more closely shares lie together
        logarithms = _pairs(statistic * self.scale_ + self.location_)
        log_odds = logarithms[..., 0, :] - logarithms[..., 1, :]
        return _features(_shapes_from_odds(log_odds, self._shapes(natural).sum(axis=-2))) * self.scale_

    def statistic_variance(self, mean: np.ndarray, extra: Extra = NO_EXTRA) -> np.ndarray:
        """Return ψ'(a) - ψ'(a + b) and ψ'(b) - ψ'(a + b), standardised."""
        return _features(_variances(self._shapes(self.natural_from_mean(mean)))) / np.square(self.scale_)

    def probe(
        self, values: np.ndarray, sites: np.ndarray, rest: Rest, rng: np.random.Generator, size: float | None = None
    ) -> float:
        """Return the log-density of one share given the others, times their number."""
        pair = int(rng.choice(sites)) + np.array([0, self.codec.n_columns])
        weights, bias = rest.weights[pair].astype(np.float64), rest.bias[pair]
        location, scale, present = self.location_[pair], self.scale_[pair], values[pair]

        def log_density(log_odds: np.ndarray) -> np.ndarray:
            """Return the density by log-odds, for which no base measure is left, relative to the present share."""
            away = (_logarithms_of_odds(log_odds[:, None])[..., 0] - location) / scale - present
            return away @ bias + rest.log_hidden(rest.natural + away @ weights)

        shapes = np.maximum(bias + weights @ rest.hidden_mean(rest.natural), _LEAST_SHAPE * scale) / scale
        step = min(_LONGEST_STEP, 0.125 * float(np.sqrt(_trigamma(shapes).sum())))
        inside = [float(pair[0] - pair[1]) for pair in (present * scale + location, digamma(shapes))]
        total = log_total(log_density, Support("log-odds"), (inside[0], inside[1]), step)
        observed = self.log_base(present, rest.extra, pair).sum() + rest.log_hidden(rest.natural[None, :])[0]
        return float(observed - total) * len(sites)

    # ---- pairs and features ----------------------------------------------------------------------------------------
    def _shapes(self, natural: np.ndarray) -> np.ndarray:
        """Return pairs of a and b, in float64: single precision does not tell digammas of large numbers apart."""
        return _pairs(natural.astype(np.float64) / self.scale_)


def _inside(values: np.ndarray, margin: float) -> np.ndarray:
    edge = max(margin, _EDGE)
    return np.clip(values.astype(np.float64), edge, 1 - edge)


def _pairs(features: np.ndarray) -> np.ndarray:
    return features.reshape(*features.shape[:-1], 2, features.shape[-1] // 2)


def _features(pairs: np.ndarray) -> np.ndarray:
    return pairs.reshape(*pairs.shape[:-2], 2 * pairs.shape[-1])


def _logarithms(share: np.ndarray) -> np.ndarray:
    return np.stack([np.log(share), np.log1p(-share)], axis=-2)


def _logarithms_of_odds(log_odds: np.ndarray) -> np.ndarray:
    """Return the logarithms of share and rest, both to full precision however near to 0 one of them is."""
    common = softplus(-np.abs(log_odds))
    return np.stack([np.minimum(log_odds, 0) - common, np.minimum(-log_odds, 0) - common], axis=-2)


def _trigamma(values: np.ndarray) -> np.ndarray:
    """Return ψ' to 12 digits, several times as fast as SciPy: its asymptotic series, eight steps further on."""
    large = values + 8
    inverse, square = 1 / large, 1 / np.square(large)
    series = 1 / 6 - square * (1 / 30 - square * (1 / 42 - square * (1 / 30 - square * 5 / 66)))
    result = inverse * (1 + inverse * (0.5 + inverse * series))
    for step in range(8):
        result += 1 / np.square(values + step)
    return result


def _means(shapes: np.ndarray) -> np.ndarray:
    """Return the expected logarithms."""
    return digamma(shapes) - digamma(shapes.sum(axis=-2, keepdims=True))


def _variances(shapes: np.ndarray) -> np.ndarray:
    """Return the variances of the logarithms."""
    return _trigamma(shapes) - _trigamma(shapes.sum(axis=-2, keepdims=True))


def _shapes_from_means(logarithms: np.ndarray) -> np.ndarray:
    """Return the a and b with these expected logarithms.

    References
    ----------
    Minka (2000), Estimating a Dirichlet distribution: Newton's method, here in logarithms of a and b.
    """
    log_odds = logarithms[..., :1, :] - logarithms[..., 1:, :]
    # geometric means of share and rest sum to 1, less half of the variance of log-odds times share times rest
    largest = np.log1p(-0.5 * np.square(_LEAST_DEVIATION) * expit(log_odds) * expit(-log_odds))
    log_sum = logsumexp(logarithms, axis=-2, keepdims=True)
    logarithms, log_sum = logarithms - np.maximum(log_sum - largest, 0), np.minimum(log_sum, largest)
    shapes = 0.5 - 0.5 * np.exp(logarithms) / np.expm1(log_sum)  # from ψ(y) = log(y - 1/2), which holds for large y
    for _ in range(_MOST_ROUNDS):
        error, slope = _means(shapes) - logarithms, _trigamma(shapes)
        common = 1 / _trigamma(shapes.sum(axis=-2, keepdims=True)) - (1 / slope).sum(axis=-2, keepdims=True)
        step = (error + (error / slope).sum(axis=-2, keepdims=True) / common) / (slope * shapes)
        shapes = shapes * np.exp(-np.clip(step, -_FARTHEST, _FARTHEST))
        if np.abs(step).max() < _TOLERANCE:
            break
    return shapes


def _shapes_from_odds(log_odds: np.ndarray, total: np.ndarray) -> np.ndarray:
    """Return the a and b of given sums under which shares are most probable: ψ(a) - ψ(b) are their log-odds."""
    sought = log_odds  # log(a / b)
    for _ in range(_MOST_ROUNDS):
        shapes = np.stack([total * expit(sought), total * expit(-sought)], axis=-2)
        distance = digamma(shapes[..., 0, :]) - digamma(shapes[..., 1, :]) - log_odds
        step = distance * total / (_trigamma(shapes).sum(axis=-2) * shapes.prod(axis=-2))
        sought = sought - np.clip(step, -_FARTHEST, _FARTHEST)
        if np.abs(step).max() < _TOLERANCE:
            break
    return shapes
