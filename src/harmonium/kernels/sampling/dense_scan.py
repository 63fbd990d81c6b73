"""Dense scan of frequent features for candidates of non-zero cells, tile by tile.

Where hidden units can be packed into bytes, upper bounds of the naturals (`int8_bounds`) take a fraction of the time,
and naturals are computed only for the few cells whose uniform numbers are below the bound. Both ways find the same
candidates, but for rounding.
"""

from __future__ import annotations

import math

import numpy as np
from numpy import float32, uint32

from harmonium.kernels.elementwise import exp2_upper_bound
from harmonium.kernels.runtime.jit import inline, jit
from harmonium.kernels.runtime.threads import scratch
from harmonium.kernels.sampling.candidates import collect_flagged, find_candidates, flag_bytes, flag_candidates
from harmonium.kernels.sampling.counter_rng import uniform
from harmonium.kernels.sampling.int8_bounds import TILE_FEATURES, PackedUnits, int8_upper_bounds

#: features, rows, uniform numbers and naturals of candidates, in arrays with room for more
Candidates = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
# Cells of a tile, whose naturals stay in the processor's cache. A convention.
_TILE_CELLS = 2**17
# After int8 each candidate takes a float32 product of its own, so with more candidates float32 alone is faster.
_MAX_CANDIDATE_FRACTION = 0.03
# Cells from which the fraction is estimated, and the distance of their rows, a prime number: conventions.
_PROBE_CELLS, _STRIDE = 256, 7919
LOG2_E = math.log2(math.e)


@inline
def natural_at(weights, bias, hidden, feature, row):  # type: ignore[no-untyped-def]
    """Return the natural of one cell."""
    x = float32(0)
    for unit in range(weights.shape[1]):
        x += weights[feature, unit] * hidden[row, unit]
    return x + bias[feature]


@inline
def uniform_threshold(natural, threshold):  # type: ignore[no-untyped-def]
    """Return the bound that the uniform number of a candidate is below."""
    return exp2_upper_bound(min(max(natural * float32(LOG2_E) + threshold, float32(-100)), float32(1)))


@jit()
def _enlarged(array: np.ndarray, length: int) -> np.ndarray:
    result = np.empty(length, dtype=array.dtype)
    for i in range(len(array)):  # a slice would take seconds to compile, with the message of shapes that differ
        result[i] = array[i]
    return result


@jit()
def ensure_capacity(entries: Candidates, needed: int) -> Candidates:
    """Return the entries in arrays of at least the needed length: the same ones, or copies."""
    features, rows, uniforms, naturals = entries
    if needed <= len(rows):
        return entries
    length = 2 * needed
    return (
        _enlarged(features, length),
        _enlarged(rows, length),
        _enlarged(uniforms, length),
        _enlarged(naturals, length),
    )


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
    cells: np.ndarray, uniforms: np.ndarray, natural: np.ndarray, chosen: np.ndarray, entries: Candidates, n_found: int
) -> None:
    features, rows, all_uniforms, naturals = entries
    n_rows = natural.shape[1]
    for entry in range(len(cells)):
        i = cells[entry] // n_rows
        row = cells[entry] - i * n_rows
        features[n_found + entry] = chosen[i]
        rows[n_found + entry] = row
        all_uniforms[n_found + entry] = uniforms[entry]
        naturals[n_found + entry] = natural[i, row]


@jit()
def _flag_below_limits(
    limits: np.ndarray, threshold: np.float32, first_cell: np.uint32, n_rows: int, key: np.uint32, flags: np.ndarray
) -> None:
    n_padded = limits.shape[1]
    for i in range(len(limits)):
        cell = uint32(first_cell + uint32(i * n_rows))
        flag_candidates(limits[i], threshold, cell, key, flags[i * n_padded : (i + 1) * n_padded])


# sums may be taken in any order, but comparisons with what is not a number must hold
@jit(fastmath={"reassoc", "contract", "nsz"}, error_model="numpy")
def _append_accepted(
    cells: np.ndarray,
    n_padded: int,
    weights: np.ndarray,
    bias: np.ndarray,
    hidden: np.ndarray,
    chosen: np.ndarray,
    threshold: np.float32,
    first_cell: np.uint32,
    key: np.uint32,
    entries: Candidates,
    n_found: int,
) -> int:
    """Append the cells whose uniform numbers pass with the exact natural too; return the new number of entries."""
    features, rows, uniforms, naturals = entries
    n_rows = len(hidden)
    for entry in range(len(cells)):
        i = cells[entry] // n_padded
        row = cells[entry] - i * n_padded
        if row < n_rows:
            feature = chosen[i]
            x = natural_at(weights, bias, hidden, feature, row)
            u = uniform(uint32(first_cell + uint32(i * n_rows + row)), key)
            if u < uniform_threshold(x, threshold):
                features[n_found] = feature
                rows[n_found] = row
                uniforms[n_found] = u
                naturals[n_found] = x
                n_found += 1
    return n_found


@jit(fastmath={"reassoc", "contract", "nsz"})
def candidate_fraction(
    weights: np.ndarray, bias: np.ndarray, hidden: np.ndarray, chosen: np.ndarray, factor: float
) -> float:
    """Return the fraction of cells that are candidates, estimated from some cells, evenly spread."""
    n_rows = len(hidden)
    total = 0.0
    for i in range(_PROBE_CELLS):
        feature, row = chosen[i * len(chosen) // _PROBE_CELLS], i * _STRIDE % n_rows
        total += min(factor * np.exp(natural_at(weights, bias, hidden, feature, row)), 1.0)
    return total / _PROBE_CELLS


@jit()
def _scan_float32(
    weights: np.ndarray,
    bias: np.ndarray,
    hidden: np.ndarray,
    chosen: np.ndarray,
    factor: float,
    key: np.uint32,
    first: int,
    entries: Candidates,
    n_found: int,
    natural: np.ndarray,
    gathered: np.ndarray,
    padded: np.ndarray,
) -> tuple[Candidates, int]:
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
        cells, uniforms = find_candidates(part.reshape(-1), factor, key, first_cell, flags)
        entries = ensure_capacity(entries, n_found + len(cells))
        _append(cells, uniforms, part, some, entries, n_found)
        n_found += len(cells)
    return entries, n_found


@jit()
def _scan_int8(
    weights: np.ndarray,
    bias: np.ndarray,
    hidden: np.ndarray,
    chosen: np.ndarray,
    factor: float,
    key: np.uint32,
    first: int,
    entries: Candidates,
    n_found: int,
    packed: np.ndarray,
    factors: np.ndarray,
    limits: np.ndarray,
    quantized: np.ndarray,
    constants: np.ndarray,
    flags: np.ndarray,
) -> tuple[Candidates, int]:
    n_rows, n_padded = len(hidden), limits.shape[1]
    threshold = np.float32(np.log2(factor))
    for begin in range(0, len(chosen), len(limits)):
        some = chosen[begin : begin + len(limits)]
        int8_upper_bounds(weights, bias, some, packed, factors, quantized, constants, limits)
        first_cell = uint32((first + begin) * n_rows)
        n_cells = len(some) * n_padded
        _flag_below_limits(limits[: len(some)], threshold, first_cell, n_rows, key, flags)
        cells = collect_flagged(flags[:n_cells], n_cells)
        entries = ensure_capacity(entries, n_found + len(cells))
        n_found = _append_accepted(
            cells, n_padded, weights, bias, hidden, some, threshold, first_cell, key, entries, n_found
        )
    return entries, n_found


def dense_scan(
    weights: np.ndarray,
    bias: np.ndarray,
    units: PackedUnits,
    chosen: np.ndarray,
    factor: float,
    key: np.uint32,
    first: int,
    found: tuple[Candidates, int],
) -> tuple[Candidates, int]:
    """Add the candidates of some features to the entries; return these and their number.

    Parameters
    ----------
    weights : ndarray of float32 of shape (n_features, n_units)
        Weights of all features.
    bias : ndarray of float32 of shape (n_features,)
        Bias of all features.
    units : PackedUnits
        The hidden units.
    chosen : ndarray of int
        Numbers of the features.
    factor : float
        A constant with P(x > 0) <= factor * exp(natural).
    key : uint32
        A new one for every matrix that is drawn.
    first : int
        Number of the first feature in the matrix, so that all cells draw different numbers.
    found : tuple of entries and their number
        Entries so far: features, rows, uniform numbers and naturals.

    Returns
    -------
    entries : tuple of ndarray
        The given ones, or copies in longer arrays.
    n_found : int
        Number of entries.
    """
    n_rows, n_units = units.values.shape
    n_groups, n_padded, n_bytes = units.packed.shape
    arguments = weights, bias, units.values, chosen, factor, key, first, *found
    if n_groups and candidate_fraction(weights, bias, units.values, chosen, factor) <= _MAX_CANDIDATE_FRACTION:
        tile = -(-min(len(chosen), max(1, _TILE_CELLS // n_padded)) // TILE_FEATURES) * TILE_FEATURES
        return _scan_int8(
            *arguments,
            units.packed,
            units.factors,
            scratch("natural", (tile, n_padded), np.float32),
            scratch("quantized", (tile, n_groups * n_bytes), np.int8),
            scratch("constants", (2, tile), np.float32),
            scratch("flags", (tile * n_padded,), np.uint8),
        )
    tile = min(len(chosen), max(1, _TILE_CELLS // n_rows))
    return _scan_float32(
        *arguments,
        scratch("natural", (tile, n_rows), np.float32),
        scratch("gathered", (tile, n_units), np.float32),
        scratch("flags", (flag_bytes(tile * n_rows),), np.uint8),
    )
