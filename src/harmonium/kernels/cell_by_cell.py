"""Candidates for non-zero cells of frequent features: all their cells are looked at, tile by tile.

Where hidden units can be packed into bytes, naturals are limited from above, which takes a fraction of the time of
computing them, and computed for the few cells whose uniform numbers are below the limit. Both ways find the same
candidates, but for rounding.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy import float32, uint32

from harmonium.kernels.byte_products import TILE_FEATURES, Units, limits_by_bytes
from harmonium.kernels.compiling import compiled
from harmonium.kernels.sampling import candidates, collect_flagged, flag, flag_bytes, least_above_exp2, uniform
from harmonium.kernels.threads import scratch

#: features, rows, uniform numbers and naturals of the cells that were found, with room for more
Found = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
# Cells that are looked at in one go: their naturals stay in the processor's cache. A convention.
_TILE_CELLS = 2**17
LOG2_E = math.log2(math.e)


class Workspace(NamedTuple):
    """Scratch memory for one tile of features.

    Attributes
    ----------
    natural : ndarray of float32 of shape (features, rows)
        Naturals, or their limits.
    flags : ndarray of uint8
        A byte for each cell.
    weights : ndarray of float32 of shape (features, units)
        Weights of features that do not follow each other.
    rounded : ndarray of int8 of shape (features, units)
        Weights rounded up, if units are packed.
    constants : ndarray of float32 of shape (2, features)
        What belongs to each feature, if units are packed.
    """

    natural: np.ndarray
    flags: np.ndarray
    weights: np.ndarray
    rounded: np.ndarray
    constants: np.ndarray


def workspace(units: Units, n_features: int) -> Workspace:
    """Return scratch memory of this thread for some of the features."""
    n_rows, n_units = units.values.shape
    n_groups, n_padded, n_bytes = units.packed.shape
    tile = max(1, min(n_features, _TILE_CELLS // n_rows))
    by_floats, by_bytes = (0, -(-tile // TILE_FEATURES) * TILE_FEATURES) if n_groups else (tile, 0)
    natural = (by_bytes, n_padded) if n_groups else (tile, n_rows)
    return Workspace(
        scratch("natural", natural, np.float32),
        scratch("flags", (flag_bytes(math.prod(natural)),), np.uint8),
        scratch("weights", (by_floats, n_units), np.float32),
        scratch("rounded", (by_bytes, n_groups * n_bytes), np.int8),
        scratch("constants", (2, by_bytes), np.float32),
    )


@compiled()
def _longer(array: np.ndarray, length: int) -> np.ndarray:
    result = np.empty(length, dtype=array.dtype)
    for i in range(len(array)):  # a slice would take seconds to compile, with the message of shapes that differ
        result[i] = array[i]
    return result


@compiled()
def with_room(entries: Found, needed: int) -> Found:
    """Return entries with room for so many, the same ones if they have it."""
    features, rows, uniforms, naturals = entries
    if needed <= len(rows):
        return entries
    length = 2 * needed
    return _longer(features, length), _longer(rows, length), _longer(uniforms, length), _longer(naturals, length)


@compiled()
def _gather(weights: np.ndarray, chosen: np.ndarray, gathered: np.ndarray) -> None:
    for i in range(len(chosen)):
        feature = chosen[i]
        for unit in range(weights.shape[1]):
            gathered[i, unit] = weights[feature, unit]


@compiled()
def _add_bias(natural: np.ndarray, bias: np.ndarray, chosen: np.ndarray) -> None:
    for i in range(len(chosen)):
        shift = bias[chosen[i]]
        for row in range(natural.shape[1]):
            natural[i, row] += shift


@compiled()
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


@compiled()
def _flag_limits(
    limits: np.ndarray, threshold: np.float32, first_cell: np.uint32, n_rows: int, key: np.uint32, flags: np.ndarray
) -> None:
    n_padded = limits.shape[1]
    for i in range(len(limits)):
        cell = uint32(first_cell + uint32(i * n_rows))
        flag(limits[i], threshold, cell, key, flags[i * n_padded : (i + 1) * n_padded])


# sums may be taken in any order, but comparisons with what is not a number must hold
@compiled(fastmath={"reassoc", "contract", "nsz"}, error_model="numpy")
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
    n_rows, n_units = hidden.shape
    for entry in range(len(cells)):
        i = cells[entry] // n_padded
        row = cells[entry] - i * n_padded
        if row < n_rows:
            feature = chosen[i]
            x = float32(0)
            for unit in range(n_units):
                x += weights[feature, unit] * hidden[row, unit]
            x += bias[feature]
            u = uniform(uint32(first_cell + uint32(i * n_rows + row)), key)
            if u < least_above_exp2(min(max(x * float32(LOG2_E) + threshold, float32(-100)), float32(1))):
                features[found] = feature
                rows[found] = row
                uniforms[found] = u
                naturals[found] = x
                found += 1
    return found


@compiled()
def look_at_all(
    weights: np.ndarray,
    bias: np.ndarray,
    units: Units,
    chosen: np.ndarray,
    factor: float,
    key: np.uint32,
    first_cell: np.uint32,
    space: Workspace,
    entries: Found,
    found: int,
) -> tuple[Found, int]:
    """Add the candidates of some features, of one tile at most, to the entries; return these and their number.

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
    first_cell : uint32
        Number of the first cell, so that all cells of a matrix draw different numbers.
    space : Workspace
        Scratch memory.
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
    n_rows, number, hidden = len(units.values), len(chosen), units.values
    natural = space.natural[:number]
    n_cells = natural.size
    padded = space.flags[: -(-n_cells // 8) * 8]
    if len(units.packed):
        limits_by_bytes(
            weights, bias, chosen, units.packed, units.factors, space.rounded, space.constants, space.natural
        )
        threshold = np.float32(np.log2(factor))
        _flag_limits(natural, threshold, first_cell, n_rows, key, padded)
        padded[n_cells:] = 0
        cells = collect_flagged(padded, n_cells)
        entries = with_room(entries, found + len(cells))
        n_padded = natural.shape[1]
        found = _append_below(
            cells, n_padded, weights, bias, hidden, chosen, threshold, first_cell, key, entries, found
        )
        return entries, found
    if chosen[-1] - chosen[0] < number:  # they follow each other
        np.dot(weights[chosen[0] : chosen[0] + number], hidden.T, natural)
    else:
        _gather(weights, chosen, space.weights)
        np.dot(space.weights[:number], hidden.T, natural)
    _add_bias(natural, bias, chosen)
    cells, uniforms = candidates(natural.reshape(-1), factor, key, first_cell, padded)
    entries = with_room(entries, found + len(cells))
    _append(cells, uniforms, natural, chosen, entries, found)
    return entries, found + len(cells)
