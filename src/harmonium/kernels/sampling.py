"""Sampling of views that are nearly all zeros, without a pass of random numbers and exponentials in Python.

Each cell's uniform number is a hash of (key, cell), so blocks can be drawn in any order and on any thread. A cell can
only be non-zero if its number is below ``factor * exp(natural)``; the kernel finds these candidates, a few in a hundred
for words, and the family decides about them exactly.
"""

from __future__ import annotations

import numpy as np
from numba import njit, uint32


@njit(inline="always")
def _mix(x):  # type: ignore[no-untyped-def]
    # a 32-bit integer hash with low bias ("lowbias32", constants found by exhaustive search, public domain)
    x ^= x >> uint32(16)
    x = uint32(x * uint32(0x7FEB352D))
    x ^= x >> uint32(15)
    x = uint32(x * uint32(0x846CA68B))
    return x ^ (x >> uint32(16))


@njit(inline="always")
def _exp2(x):  # type: ignore[no-untyped-def]
    # 2^x for -126 < x < 127 to 2e-7 relative: polynomial for the fraction, exponent bits for the rest; unlike a call of
    # the mathematical library it can be vectorised
    whole = np.floor(x + np.float32(0.5))
    f = x - whole
    p = np.float32(1.535336188319500e-4)
    p = p * f + np.float32(1.339887440266574e-3)
    p = p * f + np.float32(9.618437357674640e-3)
    p = p * f + np.float32(5.550332471162809e-2)
    p = p * f + np.float32(2.402264791363012e-1)
    p = p * f + np.float32(6.931472028550421e-1)
    p = p * f + np.float32(1.0)
    return p * np.int32((np.int32(whole) + np.int32(127)) << np.int32(23)).view(np.float32)


@njit(nogil=True, cache=True)
def candidates(
    natural: np.ndarray, bias: np.ndarray, factor: float, key: np.ndarray, first_cell: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Cells that may be non-zero, in order: indptr by row, their columns, uniform numbers and naturals.

    Parameters
    ----------
    natural : ndarray of float32, shape (features, rows)
        Without bias, which is added here.
    key : ndarray of uint32, shape (2,)
        Fresh for every call with the same cells.
    first_cell : int
        Number of the first cell, so that the blocks of one matrix draw different numbers.
    """
    n_features, n_rows = natural.shape
    indptr = np.zeros(n_features + 1, dtype=np.int64)
    capacity = max(64, natural.size // 16)
    columns = np.empty(capacity, dtype=np.int32)
    uniforms = np.empty(capacity, dtype=np.float32)
    kept = np.empty(capacity, dtype=np.float32)
    uniform = np.empty(n_rows, dtype=np.float32)
    flags = np.zeros((n_rows + 7) // 8 * 8, dtype=np.uint8)
    words = flags.view(np.uint64)
    found = 0
    log2_e = np.float32(1.4426950408889634)
    threshold = np.float32(np.log2(factor))
    for feature in range(n_features):
        shift = bias[feature] * log2_e + threshold
        base = uint32(first_cell + feature * n_rows)
        row = natural[feature]
        for r in range(n_rows):
            bits = _mix(_mix(uint32(base + uint32(r)) ^ key[0]) + key[1])
            u = (np.float32(bits >> uint32(8)) + np.float32(0.5)) * np.float32(5.9604644775390625e-08)
            x = min(max(row[r] * log2_e + shift, np.float32(-100)), np.float32(1))
            uniform[r] = u
            flags[r] = u < _exp2(x)
        for w in range(len(words)):
            if words[w] == 0:
                continue
            for r in range(8 * w, min(8 * w + 8, n_rows)):
                if flags[r]:
                    if found == capacity:
                        capacity *= 2
                        columns = _grown(columns, capacity)
                        uniforms = _grown(uniforms, capacity)
                        kept = _grown(kept, capacity)
                    columns[found] = r
                    uniforms[found] = uniform[r]
                    kept[found] = row[r] + bias[feature]
                    found += 1
        indptr[feature + 1] = found
    return indptr, columns[:found], uniforms[:found], kept[:found]


@njit(nogil=True, cache=True)
def _grown(values, capacity):  # type: ignore[no-untyped-def]
    larger = np.empty(capacity, dtype=values.dtype)
    larger[: len(values)] = values
    return larger


@njit(nogil=True, cache=True)
def drop_zeros(
    indptr: np.ndarray, columns: np.ndarray, values: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Take the zero entries out of a compressed-row matrix."""
    start = np.zeros_like(indptr)
    kept_columns = np.empty_like(columns)
    kept_values = np.empty_like(values)
    kept = 0
    for row in range(len(indptr) - 1):
        for entry in range(indptr[row], indptr[row + 1]):
            if values[entry] != 0:
                kept_columns[kept] = columns[entry]
                kept_values[kept] = values[entry]
                kept += 1
        start[row + 1] = kept
    return start, kept_columns[:kept], kept_values[:kept]
