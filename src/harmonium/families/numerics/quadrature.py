"""Sums and integrals of a density over a range that is far too long to go through point by point.

The density of a site given its item is a mixture of bells, one for each state of the hidden units, and their width is
at least about a step of a real number, or the square root of a large count. The range is cut into panels, finely near
the places that are given and coarsely far away. A panel is halved where the density rises at its left end and falls at
its right one, as a bell is inside, and where Gauss's rule on its halves does not agree with that on the whole.

Relative errors are about 1e-8, unless two bells stand within one coarse panel, far from the given places, with nothing
but slopes in the same direction at its ends; the smaller of two such bells would be missed. Beyond 1e12 rounding
errors of the log-density itself are larger.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import logsumexp

from harmonium.core.support import Support

Density = Callable[[np.ndarray], np.ndarray]

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(8)
_LOG_WEIGHTS = np.log(_WEIGHTS)
# Panels that are less probable than all of it by this factor's logarithm are left alone. Halving stops at this relative
# difference, or at what rounding errors of a log-density of some size may make of it, or at so many panels.
# Conventions.
_NEGLIGIBLE = 40.0
_TOLERANCE, _ROUNDING = 1e-9, 1e-14
_MOST_PANELS = 10_000
# Counts up to this far from an end of their range are summed one by one: from there on bells of counts have standard
# deviations above 30, and sums differ from integrals by what is known of their ends.
_ONE_BY_ONE = 1024
# No density that can be computed in double precision reaches further.
_FURTHEST = 1e60


def log_sum(log_density: Density, support: Support, inside: tuple[float, float]) -> float:
    """Return the logarithm of the sum of a density over whole numbers from ``support.lower`` on."""
    # sums one by one at both ends; between them the integral, from half before the first number to half after the last
    first = support.lower + _ONE_BY_ONE
    parts = [log_density(np.arange(support.lower, first))]
    if support.bounded:
        last = support.upper - _ONE_BY_ONE
        parts.append(log_density(np.arange(last + 1, support.upper + 1)))
    else:
        last = _far_end(log_density, max(*inside, 2 * first), 1.0)
    parts.append(log_panels(log_density, (first - 0.5, last + 0.5), inside, 1.0))
    # Euler and Maclaurin: the sum is larger by 1/24 of the slope at the left end, and smaller by that at the right end
    at = log_density(np.array([first - 1, first, last, last + 1]))
    top = max(float(part.max()) for part in (*parts, at))
    slopes = np.exp(at - top) @ [-1, 1, 1, -1] / 24
    return top + float(np.log(sum(np.exp(part - top).sum() for part in parts) + slopes))


def log_integral(log_density: Density, inside: tuple[float, float], step: float) -> float:
    """Return the logarithm of the integral of a density over the real line."""
    high = _far_end(log_density, max(inside), step)
    low = -_far_end(lambda x: log_density(-x), -min(inside), step)
    return float(logsumexp(log_panels(log_density, (low, high), inside, step)))


def _far_end(log_density: Density, start: float, step: float) -> float:
    """Return a place beyond ``start`` from which on the density falls and what follows does not count."""
    reach = 64 * step
    while True:
        end = start + reach
        before, here = log_density(np.array([end - 0.5 * reach, end]))
        if before - here > _NEGLIGIBLE or end > _FURTHEST:
            return end
        reach *= 2


def log_panels(log_density: Density, ends: tuple[float, float], inside: tuple[float, float], step: float) -> np.ndarray:
    """Return the logarithms of the integrals over panels that make up a range."""
    low, high = ends
    distances = step * 2.0 ** np.arange(1 + max(1, np.ceil(np.log2((high - low) / step))))
    edges = np.concatenate([[low, high], *(place + side * distances for place in inside for side in (-1, 1))])
    edges = np.unique(edges[(edges >= low) & (edges <= high)])
    edges = edges[np.diff(edges, prepend=-np.inf) > 8 * np.spacing(np.abs(edges))]  # others cannot be told apart
    left, right = edges[:-1], edges[1:]
    whole = _gauss(log_density, left, right)
    done: list[np.ndarray] = []
    n_panels = 0
    while len(left):
        n_panels += len(left)
        middle = 0.5 * (left + right)
        halves = np.stack([_gauss(log_density, left, middle), _gauss(log_density, middle, right)])
        both = np.logaddexp(*halves)
        total = logsumexp(np.concatenate([*done, both]))
        tolerance = max(_TOLERANCE, _ROUNDING * abs(total))
        differs = np.abs(np.exp(both - total) - np.exp(np.minimum(whole - total, 1))) > tolerance
        long = right - left > np.maximum(0.25 * step, 64 * np.spacing(np.abs(middle)))
        split = (differs | _has_bell(log_density, left, right, step)) & long & (n_panels < _MOST_PANELS)
        done.append(both[~split])
        whole = halves[:, split].ravel()
        left, right = (np.concatenate([near[split], far[split]]) for near, far in ((left, middle), (middle, right)))
    return np.concatenate(done)


def _has_bell(log_density: Density, left: np.ndarray, right: np.ndarray, step: float) -> np.ndarray:
    """Tell which panels are long and have a density that rises at the left end and falls at the right one."""
    # far out, neighbouring values of a log-density do not differ in double precision
    away = np.minimum(np.maximum(step, 1e-3 * np.sqrt(np.abs([left, right]))), 0.25 * (right - left))
    at = log_density(np.concatenate([left, left + away[0], right - away[1], right])).reshape(4, -1)
    return (at[1] > at[0]) & (at[2] > at[3]) & (right - left > 64 * away.max(axis=0))


def _gauss(log_density: Density, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    half = 0.5 * (right - left)
    places = 0.5 * (left + right)[:, None] + half[:, None] * _NODES
    scores = log_density(places.ravel()).reshape(places.shape) + _LOG_WEIGHTS
    return logsumexp(scores, axis=1) + np.log(half)
