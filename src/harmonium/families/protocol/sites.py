"""Log-probability of one site given the others, with the hidden units summed out: a term of a pseudo-likelihood.

A site depends on its whole item, as a change of its statistic moves the hidden units, and these the other sites. `Rest`
holds what a family needs to know of the item.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import logsumexp

from harmonium.core.support import Support
from harmonium.families.numerics.quadrature import log_integral, log_sum

if TYPE_CHECKING:
    from harmonium.families.base import Family

# a window is wide enough once its ends are less probable than its middle by a factor of e³⁰, about 1e13; one of more
# points than the second number is not gone through point by point; both are conventions
_NEGLIGIBLE = 30.0
_MOST_POINTS = 20_000


@dataclass(frozen=True)
class Rest:
    """What an item and the model tell about one of the item's sites.

    Attributes
    ----------
    weights : ndarray of shape (features, units)
        Weights of the view.
    bias : ndarray of shape (features,)
        Bias of the view.
    extra : mapping of str to ndarray
        Extra parameters of the view's family.
    natural : ndarray of shape (units,)
        Hidden naturals of the item as it is.
    hidden_mean : callable
        Function from hidden naturals to means, elementwise.
    hidden_log_partition : callable
        Function from hidden naturals to log-partitions, elementwise.
    """

    weights: np.ndarray
    bias: np.ndarray
    extra: Mapping[str, np.ndarray]
    natural: np.ndarray
    hidden_mean: Callable[[np.ndarray], np.ndarray]
    hidden_log_partition: Callable[[np.ndarray], np.ndarray]

    def log_hidden(self, naturals: np.ndarray) -> np.ndarray:
        """Return the logarithm of the sum over all hidden states, for naturals of shape (states, units)."""
        return self.hidden_log_partition(naturals).sum(axis=1)


def probe_feature(family: Family, values: np.ndarray, sites: np.ndarray, rest: Rest, rng: np.random.Generator) -> float:
    """Return `Family.probe` for families whose sites are single features."""
    site = int(rng.choice(sites))
    present, weight = values[site], rest.weights[site].astype(np.float64)

    def log_density(states: np.ndarray) -> np.ndarray:
        base = family.log_base(states, rest.extra, np.full(len(states), site))
        return states * rest.bias[site] + base + rest.log_hidden(rest.natural + np.outer(states - present, weight))

    extra = {name: value[[site]] for name, value in rest.extra.items()}
    given_hidden = np.array([[rest.bias[site] + rest.hidden_mean(rest.natural) @ weight]])
    centre = float(family.mean(family.domain.clamp(given_hidden), extra)[0, 0])
    observed = float(log_density(np.array([present]))[0])
    distribution = family.distribution(extra)  # of statistics, which data may have to be encoded to
    support = distribution.support
    step = 1.0 if support.integer else 0.125 * float(np.sqrt(distribution.variance(given_hidden))[0, 0])
    return (observed - log_total(log_density, support, (present, centre), step)) * len(sites)


def log_total(
    log_density: Callable[[np.ndarray], np.ndarray], support: Support, inside: tuple[float, float], step: float
) -> float:
    """Return the logarithm of the sum (or integral) of a density over its support.

    Parameters
    ----------
    log_density : callable
        Function from an array of values to their log-densities.
    support : Support
        Where to sum. A support without an upper limit is summed in a window, which is widened until it holds all but a
        negligible part of the density; where that takes many points, as for a value far from all others, a quadrature
        takes the place of the sum (see `harmonium.families.numerics.quadrature` for its errors).
    inside : tuple of float
        Two values, between and near which the density is large.
    step : float
        Distance between neighbouring values.

    Returns
    -------
    float
        The logarithm of the sum.
    """
    if support.bounded and not (support.integer and support.upper - support.lower > _MOST_POINTS):
        states, log_weights = support.grid()
        return float(logsumexp(log_density(states) + log_weights))
    # about ten standard deviations of a count, or twenty steps of a real number; only where the widening starts
    reach = 20 * step + 10 * np.sqrt(max(abs(inside[0]), abs(inside[1]), 1.0)) * step
    low, high = min(inside) - reach, max(inside) + reach
    while not support.bounded and high - max(low, support.lower) <= _MOST_POINTS * step:
        low = max(low, support.lower)
        states = np.arange(np.floor(low), high + 1) if support.integer else np.arange(low, high, step)
        scores = log_density(states)
        cut = scores.max() - _NEGLIGIBLE
        left_is_wide = scores[0] < cut or low <= support.lower
        right_is_wide = scores[-1] < cut
        if left_is_wide and right_is_wide:
            return float(logsumexp(scores) + np.log(step))
        width = high - low
        low, high = (low if left_is_wide else low - width), (high if right_is_wide else high + width)
    if support.integer:
        return log_sum(log_density, support, inside)
    return log_integral(log_density, inside, step)


def code_counts(family: Family) -> np.ndarray:
    """Return the number of codes of each column, each of which has a feature, before all others; 0 for numbers."""
    largest = family.codec.largest
    return np.zeros(family.codec.n_columns, dtype=np.int64) if largest is None else largest + 1
