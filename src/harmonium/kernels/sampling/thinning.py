"""Thinning: candidates for non-zero cells of rare features, at the cost of what is drawn.

Given hidden units that lie between ``centre - radius`` and ``centre + radius``, no natural of a feature is above
``bias + Σ w centre + Σ |w| radius``. So no cell of it is non-zero with a probability above some bound. Cells are chosen
with the probability of the bound, by geometric skips from one to the next, and only for these the natural is computed,
and a uniform number below the bound drawn. Uniform numbers of all cells that are below the bound have the same
distribution, so inversion turns them into the same counts. Features whose bound is high are left to `dense_scan`, and
so are all features if rows are few.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import float32, int64, uint32

from harmonium.kernels.elementwise import exp2_upper_bound, log_float32
from harmonium.kernels.runtime.jit import inline, jit
from harmonium.kernels.sampling.counter_rng import uniform
from harmonium.kernels.sampling.dense_scan import (
    LOG2_E,
    Candidates,
    dense_scan,
    ensure_capacity,
    natural_at,
    uniform_threshold,
)
from harmonium.kernels.sampling.int8_bounds import PackedUnits

# A cell that is skipped to takes as long as about this many of a dense scan, which does features with a higher bound.
_SKIP_COST = 25
# With fewer rows than this, finding bounds takes longer than a dense scan: a bound takes as long as about eight cells,
# and most bounds of rows with different lengths are high.
_MIN_ROWS = 24
# Where most bounds are high, those of a few features, evenly spaced, tell it, and no others are found: every n-th
# feature, and the fraction of them from which on all are left to the dense scan. Conventions: finding all bounds for
# the last quarter saves no more than it takes.
_PROBE_STRIDE, _DENSE_FRACTION = 16, 0.75
# Bounds below this are taken to be this, as uniform numbers have 24 bits and cannot tell smaller ones apart: with 100
# rows, the chance of a skip into them is still met to 1 in 10,000. A convention.
_LOWEST_BOUND = 2.0**-16
# Bounds take in the rounding of sums of a few hundred float32 products, about 1e-6 of the sum of their sizes.
_ROUNDING = 1e-5


@jit()
def _unit_intervals(hidden: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the centre of the values of each unit, and the largest distance from it."""
    n_rows, n_units = hidden.shape
    low, high = hidden[0].copy(), hidden[0].copy()
    for row in range(1, n_rows):
        for unit in range(n_units):
            low[unit] = min(low[unit], hidden[row, unit])
            high[unit] = max(high[unit], hidden[row, unit])
    # unit by unit, as expressions of whole arrays take several times as long to compile
    centre, radius = np.empty_like(low), np.empty_like(low)
    for unit in range(n_units):
        size = max(abs(low[unit]), abs(high[unit]))
        centre[unit] = (low[unit] + high[unit]) / float32(2)
        radius[unit] = (high[unit] - low[unit]) / float32(2) + float32(_ROUNDING) * size
    return centre, radius


@jit(fastmath=True)
def natural_upper_bounds(
    weights: np.ndarray, bias: np.ndarray, centre: np.ndarray, radius: np.ndarray, stride: int, out: np.ndarray
) -> None:
    """Compute out = bias + weights @ centre + |weights| @ radius for every ``stride``-th feature."""
    for i in range(len(out)):
        feature = i * stride
        total = float32(0)
        for unit in range(weights.shape[1]):
            total += weights[feature, unit] * centre[unit] + abs(weights[feature, unit]) * radius[unit]
        out[i] = bias[feature] + total


@inline
def _log1m(x):  # type: ignore[no-untyped-def]
    """Return log(1 - x) for 0 < x < 0.1 with a relative error of 1e-7, by eight terms of the series."""
    p = float32(1 / 8)
    for k in range(7, 0, -1):
        p = p * x + float32(1) / float32(k)
    return -p * x


@inline
def _geometric(u, rate):  # type: ignore[no-untyped-def]
    """Return a geometric number, with P(at least k) = exp(k / rate), for a uniform one."""
    # the number may have been rounded to 1
    return int(log_float32(max(float32(1) - u, float32(2.0**-24))) * rate)


# sums may be taken in any order, but comparisons with what is not a number must hold
@jit(fastmath={"reassoc", "contract", "nsz"}, error_model="numpy")
def _skip(
    weights: np.ndarray,
    bias: np.ndarray,
    hidden: np.ndarray,
    limits: np.ndarray,
    log2_factor: np.float32,
    keys: np.ndarray,
    first: int,
    begin: int,
    entries: Candidates,
    n_found: int,
) -> tuple[int, int]:
    """Append the candidates of rare features from ``begin`` on; return the first feature without room and their number.

    A function of its own, in which no array is replaced: counting references to them would take most of the time.
    """
    features, rows, uniforms, naturals = entries
    n_features, n_rows = len(weights), len(hidden)
    highest, lowest = float32(-np.log2(_SKIP_COST)), float32(np.log2(_LOWEST_BOUND))
    for feature in range(begin, n_features):
        limit = limits[feature] * float32(LOG2_E) + log2_factor
        if not limit < highest:
            continue
        bound = exp2_upper_bound(max(limit, lowest))
        # a stream of its own for each feature, one number longer than the feature has cells
        number = uint32((first + feature) * (n_rows + 1))
        u = uniform(number, keys[0])
        # without a logarithm for features with no skip: (1 - bound)^rows >= 1 - bound * rows
        if u >= bound * float32(n_rows):
            continue
        if n_found + n_rows > len(rows):
            return feature, n_found
        cell = uint32((first + feature) * n_rows)
        rate = float32(1) / _log1m(bound)
        row = _geometric(u, rate)
        while row < n_rows:
            x = natural_at(weights, bias, hidden, feature, row)
            u = bound * uniform(uint32(cell + uint32(row)), keys[1])
            if u < uniform_threshold(x, log2_factor):
                features[n_found] = feature
                rows[n_found] = row
                uniforms[n_found] = u
                naturals[n_found] = x
                n_found += 1
            number = uint32(number + uint32(1))
            row += 1 + _geometric(uniform(number, keys[0]), rate)
    return n_features, n_found


@jit()
def _frequent_features(limits: np.ndarray, log2_factor: np.float32) -> np.ndarray:
    """Return the features that `_skip` leaves out, those whose limit is not a number among them."""
    highest = float32(-np.log2(_SKIP_COST))
    n_found = 0
    result = np.empty(len(limits), dtype=np.int64)
    for feature in range(len(limits)):
        result[n_found] = feature
        n_found += not limits[feature] * float32(LOG2_E) + log2_factor < highest
    return result[:n_found]


@jit()
def _mostly_frequent(
    weights: np.ndarray, bias: np.ndarray, centre: np.ndarray, radius: np.ndarray, log2_factor: np.float32
) -> bool:
    """Return whether most features are frequent, judged by some of them."""
    limits = np.empty(-(-len(weights) // _PROBE_STRIDE), dtype=np.float32)
    stride: Any = int64(_PROBE_STRIDE)
    natural_upper_bounds(weights, bias, centre, radius, stride, limits)
    return len(_frequent_features(limits, log2_factor)) >= _DENSE_FRACTION * len(limits)


@jit()
def _thinned(
    weights: np.ndarray, bias: np.ndarray, hidden: np.ndarray, factor: float, keys: np.ndarray, first: int
) -> tuple[Candidates, int, np.ndarray]:
    """Return the candidates of rare features, their number, and the other features."""
    # one kernel, because each return to the interpreter may have to wait for another thread
    n_features, n_rows = len(weights), len(hidden)
    room = max(2 * n_rows, n_features)
    entries = (
        np.empty(room, dtype=np.int32),
        np.empty(room, dtype=np.int32),
        np.empty(room, dtype=np.float32),
        np.empty(room, dtype=np.float32),
    )
    # plain numbers are types of their own, for which kernels would be jit once more
    n_found: Any = int64(0)
    next_feature: Any = int64(0)
    stride: Any = int64(1)
    frequent = np.arange(n_features)
    log2_factor = np.float32(np.log2(factor))
    if n_rows >= _MIN_ROWS:
        centre, radius = _unit_intervals(hidden)
        if not _mostly_frequent(weights, bias, centre, radius, log2_factor):
            limits = np.empty(n_features, dtype=np.float32)
            natural_upper_bounds(weights, bias, centre, radius, stride, limits)
            while next_feature < n_features:
                entries = ensure_capacity(entries, n_found + n_rows)
                next_feature, n_found = _skip(
                    weights, bias, hidden, limits, log2_factor, keys, first, next_feature, entries, n_found
                )
            frequent = _frequent_features(limits, log2_factor)
    return entries, n_found, frequent


def thinned_candidates(
    weights: np.ndarray, bias: np.ndarray, units: PackedUnits, factor: float, keys: np.ndarray, first: int
) -> Candidates:
    """Return the cells that may be non-zero, of some features; those of each feature follow each other.

    Parameters
    ----------
    weights : ndarray of float32 of shape (n_features, n_units)
        Weights of the features.
    bias : ndarray of float32 of shape (n_features,)
        Bias of each feature.
    units : PackedUnits
        The hidden units.
    factor : float
        A constant with P(x > 0) <= factor * exp(natural).
    keys : ndarray of uint32 of shape (3,)
        New ones for every matrix that is drawn.
    first : int
        Number of the first feature, so that the blocks of one matrix draw different numbers.

    Returns
    -------
    features : ndarray of int32
        Feature of each cell.
    rows : ndarray of int32
        Row of each cell.
    uniforms : ndarray of float32
        Uniform number of each cell: the cells that are left out have numbers at which their counts are zero.
    naturals : ndarray of float32
        Natural parameter of each cell.
    """
    if not len(units.values):
        nothing = np.zeros(0, dtype=np.float32)
        return np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int32), nothing, nothing
    entries, n_found, frequent = _thinned(weights, bias, units.values, factor, keys, first)
    if len(frequent):
        entries, n_found = dense_scan(weights, bias, units, frequent, factor, keys[2], first, (entries, n_found))
    features, rows, uniforms, naturals = entries
    return features[:n_found], rows[:n_found], uniforms[:n_found], naturals[:n_found]
