"""Candidates for non-zero cells of frequent features: all their cells are looked at, tile by tile.

Where hidden units can be packed into bytes, naturals are limited from above, which takes a fraction of the time of
computing them, and computed for the few cells whose uniform numbers are below the limit. Both ways find the same
candidates, but for rounding.
"""

from __future__ import annotations

import math

import numpy as np
from numpy import float32, uint32

from harmonium.kernels.byte_products import TILE_FEATURES, Units, limits_by_bytes
from harmonium.kernels.runtime.jit import inline, jit
from harmonium.kernels.runtime.threads import scratch
from harmonium.kernels.sampling import candidates, collect_flagged, flag, flag_bytes, least_above_exp2, uniform

#: features, rows, uniform numbers and naturals of the cells that were found, with room for more
Found = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
# Cells that are looked at in one go: their naturals stay in the processor's cache. A convention.
_TILE_CELLS = 2**17
# Each candidate takes a product of its own after bytes. With a larger share of them bytes take longer than floats
# (measured with 50 and 200 units).
_LARGEST_SHARE = 0.03
# Cells by which the share is told, and the distance of their rows, a prime number: conventions.
_SPREAD_CELLS, _STRIDE = 256, 7919
LOG2_E = math.log2(math.e)


@inline
def natural_at(weights, bias, hidden, feature, row):  # type: ignore[no-untyped-def]
    """Return the natural of one cell."""
    x = float32(0)
    for unit in range(weights.shape[1]):
        x += weights[feature, unit] * hidden[row, unit]
    return x + bias[feature]


@inline
def limit_of_number(natural, threshold):  # type: ignore[no-untyped-def]
    """Return what a uniform number has to be below for the cell to be a candidate."""
    return least_above_exp2(min(max(natural * float32(LOG2_E) + threshold, float32(-100)), float32(1)))


@jit()
def _longer(array: np.ndarray, length: int) -> np.ndarray:
    result = np.empty(length, dtype=array.dtype)
    for i in range(len(array)):  # a slice would take seconds to compile, with the message of shapes that differ
        result[i] = array[i]
    return result


@jit()
def with_room(entries: Found, needed: int) -> Found:
    """Return entries with room for so many, the same ones if they have it."""
    features, rows, uniforms, naturals = entries
    if needed <= len(rows):
        return entries
    length = 2 * needed
    return _longer(features, length), _longer(rows, length), _longer(uniforms, length), _longer(naturals, length)


@jit()
def _gather(weights: np.ndarray, chosen: np.ndarray, gathered: np.ndarray) -> None:
    for i in range(len(chosen)):
        feature = chosen[i]
        for unit in range(weights.shape[1]):
            gathered[i, unit] = weights[feature, unit]


@jit()
def _add_bias(natural: np.ndarray, bias: np.ndarray, chosen: np.ndarray) -> None:
    for i in range(len(chosen)):
        shift = bias[chosen[i]]
        for row in range(natural.shape[1]):
            natural[i, row] += shift


@jit()
def _append(
    cells: np.ndarray, uniforms: np.ndarray, natural: np.ndarray, chosen: np.ndarray, entries: Found, found: int
) -> None:
    features, rows, all_uniforms, naturals = entries
    n_rows = natural.shape[1]
    for entry in range(len(cells)):
        i = cells[entry] // n_rows
        row = cells[entry] - i * n_rows
        features[found + entry] = chosen[i]
        rows[found + entry] = row
        all_uniforms[found + entry] = uniforms[entry]
        naturals[found + entry] = natural[i, row]


@jit()
def _flag_limits(
    limits: np.ndarray, threshold: np.float32, first_cell: np.uint32, n_rows: int, key: np.uint32, flags: np.ndarray
) -> None:
    n_padded = limits.shape[1]
    for i in range(len(limits)):
        cell = uint32(first_cell + uint32(i * n_rows))
        flag(limits[i], threshold, cell, key, flags[i * n_padded : (i + 1) * n_padded])


# sums may be taken in any order, but comparisons with what is not a number must hold
@jit(fastmath={"reassoc", "contract", "nsz"}, error_model="numpy")
def _append_below(
    cells: np.ndarray,
    n_padded: int,
    weights: np.ndarray,
    bias: np.ndarray,
    hidden: np.ndarray,
    chosen: np.ndarray,
    threshold: np.float32,
    first_cell: np.uint32,
    key: np.uint32,
    entries: Found,
    found: int,
) -> int:
    """Append the cells whose numbers are not only below the limit of their natural; return how many there are then."""
    features, rows, uniforms, naturals = entries
    n_rows = len(hidden)
    for entry in range(len(cells)):
        i = cells[entry] // n_padded
        row = cells[entry] - i * n_padded
        if row < n_rows:
            feature = chosen[i]
            x = natural_at(weights, bias, hidden, feature, row)
            u = uniform(uint32(first_cell + uint32(i * n_rows + row)), key)
            if u < limit_of_number(x, threshold):
                features[found] = feature
                rows[found] = row
                uniforms[found] = u
                naturals[found] = x
                found += 1
    return found


@jit(fastmath={"reassoc", "contract", "nsz"})
def expected_share(
    weights: np.ndarray, bias: np.ndarray, hidden: np.ndarray, chosen: np.ndarray, factor: float
) -> float:
    """Return the share of cells that are candidates, by the limits of some cells, evenly spread."""
    n_rows = len(hidden)
    total = 0.0
    for i in range(_SPREAD_CELLS):
        feature, row = chosen[i * len(chosen) // _SPREAD_CELLS], i * _STRIDE % n_rows
        total += min(factor * np.exp(natural_at(weights, bias, hidden, feature, row)), 1.0)
    return total / _SPREAD_CELLS


@jit()
def _by_floats(
    weights: np.ndarray,
    bias: np.ndarray,
    hidden: np.ndarray,
    chosen: np.ndarray,
    factor: float,
    key: np.uint32,
    first: int,
    entries: Found,
    found: int,
    natural: np.ndarray,
    gathered: np.ndarray,
    padded: np.ndarray,
) -> tuple[Found, int]:
    n_rows = len(hidden)
    for begin in range(0, len(chosen), len(natural)):
        some = chosen[begin : begin + len(natural)]
        number = len(some)
        part = natural[:number]
        if some[-1] - some[0] < number:  # they follow each other
            np.dot(weights[some[0] : some[0] + number], hidden.T, part)
        else:
            _gather(weights, some, gathered)
            np.dot(gathered[:number], hidden.T, part)
        _add_bias(part, bias, some)
        first_cell = uint32((first + begin) * n_rows)
        flags = padded[: -(-part.size // 8) * 8]
        cells, uniforms = candidates(part.reshape(-1), factor, key, first_cell, flags)
        entries = with_room(entries, found + len(cells))
        _append(cells, uniforms, part, some, entries, found)
        found += len(cells)
    return entries, found


@jit()
def _by_bytes(
    weights: np.ndarray,
    bias: np.ndarray,
    hidden: np.ndarray,
    chosen: np.ndarray,
    factor: float,
    key: np.uint32,
    first: int,
    entries: Found,
    found: int,
    packed: np.ndarray,
    factors: np.ndarray,
    limits: np.ndarray,
    rounded: np.ndarray,
    constants: np.ndarray,
    flags: np.ndarray,
) -> tuple[Found, int]:
    n_rows, n_padded = len(hidden), limits.shape[1]
    threshold = np.float32(np.log2(factor))
    for begin in range(0, len(chosen), len(limits)):
        some = chosen[begin : begin + len(limits)]
        limits_by_bytes(weights, bias, some, packed, factors, rounded, constants, limits)
        first_cell = uint32((first + begin) * n_rows)
        n_cells = len(some) * n_padded
        _flag_limits(limits[: len(some)], threshold, first_cell, n_rows, key, flags)
        cells = collect_flagged(flags[:n_cells], n_cells)
        entries = with_room(entries, found + len(cells))
        found = _append_below(cells, n_padded, weights, bias, hidden, some, threshold, first_cell, key, entries, found)
    return entries, found


def look_at_all(
    weights: np.ndarray,
    bias: np.ndarray,
    units: Units,
    chosen: np.ndarray,
    factor: float,
    key: np.uint32,
    first: int,
    entries: Found,
    found: int,
) -> tuple[Found, int]:
    """Add the candidates of some features to the entries; return these and their number.

    Parameters
    ----------
    weights : ndarray of float32 of shape (n_features, n_units)
        Weights of all features.
    bias : ndarray of float32 of shape (n_features,)
        Bias of all features.
    units : Units
        The hidden units.
    chosen : ndarray of int
        Numbers of the features.
    factor : float
        A constant with P(x > 0) <= factor * exp(natural).
    key : uint32
        A new one for every matrix that is drawn.
    first : int
        Number of the first feature in the matrix, so that all cells draw different numbers.
    entries : tuple of ndarray
        Features, rows, uniform numbers and naturals.
    found : int
        Number of entries so far.

    Returns
    -------
    entries : tuple of ndarray
        What was given, or longer arrays.
    found : int
        Number of entries.
    """
    n_rows, n_units = units.values.shape
    n_groups, n_padded, n_bytes = units.packed.shape
    arguments = weights, bias, units.values, chosen, factor, key, first, entries, found
    if n_groups and expected_share(weights, bias, units.values, chosen, factor) <= _LARGEST_SHARE:
        tile = -(-min(len(chosen), max(1, _TILE_CELLS // n_padded)) // TILE_FEATURES) * TILE_FEATURES
        return _by_bytes(
            *arguments,
            units.packed,
            units.factors,
            scratch("natural", (tile, n_padded), np.float32),
            scratch("rounded", (tile, n_groups * n_bytes), np.int8),
            scratch("constants", (2, tile), np.float32),
            scratch("flags", (tile * n_padded,), np.uint8),
        )
    tile = min(len(chosen), max(1, _TILE_CELLS // n_rows))
    return _by_floats(
        *arguments,
        scratch("natural", (tile, n_rows), np.float32),
        scratch("gathered", (tile, n_units), np.float32),
        scratch("flags", (flag_bytes(tile * n_rows),), np.uint8),
    )
