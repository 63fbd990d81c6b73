"""Sampling of views that are nearly all zeros: finding the cells that may be anything else.

The uniform number of a cell is a hash of (key, cell), so that blocks can be drawn in any order and on any thread. A
cell can be non-zero only if its number is below ``factor * exp(natural)``. The kernels find these candidates, for words
a few in a hundred, and the family decides about them exactly. `kernels/cell_by_cell.py` looks at all cells, as here;
`kernels/thinning.py` at few cells of features that are rare.
"""

from __future__ import annotations

import numpy as np
from numpy import float32, int32, uint32

from harmonium.kernels.elementwise import exp2_float32
from harmonium.kernels.runtime.jit import inline, jit


@inline
def uniform(cell, key):  # type: ignore[no-untyped-def]
    """Return the number in (0, 1) of a cell."""
    # A Weyl sequence and the 32-bit hash "lowbias32" of C. Wellons (constants found by search, public domain). Every
    # step is cast back to 32 bits, because wider lanes would halve the speed.
    x = uint32(uint32(cell * uint32(0x9E3779B9)) + key)
    x = uint32(x ^ uint32(x >> uint32(16)))
    x = uint32(x * uint32(0x7FEB352D))
    x = uint32(x ^ uint32(x >> uint32(15)))
    x = uint32(x * uint32(0x846CA68B))
    x = uint32(x ^ uint32(x >> uint32(16)))
    return (float32(int32(x >> uint32(8))) + float32(0.5)) * float32(5.9604644775390625e-08)


@inline
def least_above_exp2(x):  # type: ignore[no-untyped-def]
    """Return 2^x or up to 6 % more, for -126 < x < 127."""
    # writing i + f into the exponent bits gives (1 + f) 2^i, which is never below 2^(i + f) and at most 6 % above
    return np.int32((x + float32(127)) * float32(8388608)).view(np.float32)


@jit(fastmath=True, error_model="numpy")
def flag(natural: np.ndarray, threshold: np.float32, first_cell: np.uint32, key: np.uint32, flags: np.ndarray) -> None:
    """Mark the cells whose uniform numbers are below 2^(natural · log2(e) + threshold), or up to 6 % above."""
    # a separate function, so that nothing keeps the compiler from vectorising the loop
    for cell in range(len(natural)):
        x = min(max(natural[cell] * float32(1.4426950408889634) + threshold, float32(-100)), float32(1))
        flags[cell] = uniform(uint32(first_cell + uint32(cell)), key) < least_above_exp2(x)


@jit()
def _collect(words: np.ndarray, flags: np.ndarray, cells: np.ndarray) -> int:
    # a function of its own, so that nothing else is in the loop; within a word without a branch, whose outcome could
    # not be predicted
    found = 0
    for word in range(len(words)):
        if words[word]:
            for cell in range(8 * word, 8 * word + 8):
                cells[found] = cell
                found += int(flags[cell])
    return found


@jit()
def collect_flagged(padded: np.ndarray, n_cells: int) -> np.ndarray:
    """Return the flagged cells in order; ``padded`` has `flag_bytes` bytes, zero from ``n_cells`` on."""
    cells = np.empty(n_cells + 1, dtype=np.int32)  # one is written beyond the last found
    return cells[: _collect(padded.view(np.uint64), padded, cells)]


def flag_bytes(n_cells: int) -> int:
    """Return the bytes of scratch memory that `candidates` needs: one per cell, in whole words."""
    return -(-n_cells // 8) * 8


@jit()
def candidates(
    natural: np.ndarray, factor: float, key: np.uint32, first_cell: np.uint32, padded: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the cells that may be non-zero, in order.

    Parameters
    ----------
    natural : ndarray of float32 of shape (n_cells,)
        Natural parameter of each cell.
    factor : float
        A constant with P(x > 0) <= factor * exp(natural).
    key : uint32
        A new one for every call with the same cells.
    first_cell : uint32
        Number of the first cell, so that all cells of a matrix draw different numbers.
    padded : ndarray of uint8
        Scratch memory of `flag_bytes` bytes.

    Returns
    -------
    cells : ndarray of int32
        The cells, counted from 0.
    uniforms : ndarray of float32
        Uniform number of each of them.
    """
    n_cells = len(natural)
    padded[n_cells:] = 0
    flag(natural, np.float32(np.log2(factor)), first_cell, key, padded[:n_cells])
    cells = collect_flagged(padded, n_cells)
    uniforms = np.empty(len(cells), dtype=np.float32)
    for entry in range(len(cells)):
        uniforms[entry] = uniform(uint32(first_cell + uint32(cells[entry])), key)
    return cells, uniforms


@jit()
def drop_zeros(
    indptr: np.ndarray, columns: np.ndarray, values: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Remove the zero entries from a compressed-row matrix."""
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


@jit()
def nonzero_columns(
    features: np.ndarray, rows: np.ndarray, values: np.ndarray, n_features: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return where each column begins, rows and values of the entries that are not zero, given in any order."""
    start = np.zeros(n_features + 1, dtype=np.int64)
    for entry in range(len(values)):
        start[features[entry] + 1] += values[entry] != 0
    for feature in range(n_features):
        start[feature + 1] += start[feature]
    place = start[:-1].copy()
    kept_rows = np.empty(start[-1], dtype=np.int32)
    kept_values = np.empty(start[-1], dtype=values.dtype)
    for entry in range(len(values)):
        if values[entry] != 0:
            target = place[features[entry]]
            place[features[entry]] += 1
            kept_rows[target] = rows[entry]
            kept_values[target] = values[entry]
    return start, kept_rows, kept_values


@jit(fastmath=True, error_model="numpy")
def _weights_of_row(natural: np.ndarray, largest: np.float32, out: np.ndarray) -> None:
    for word in range(len(natural)):
        x = (natural[word] - largest) * float32(1.4426950408889634)
        out[word] = exp2_float32(max(x, float32(-100)))


@jit()
def draw_tokens(natural: np.ndarray, totals: np.ndarray, key: np.uint32) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return multinomial counts in compressed rows: ``totals[r]`` tokens each, with log-odds ``natural[r]``.

    Each token has a uniform number of its own, at which the cumulative weights are inverted.
    """
    n_rows, n_words = natural.shape
    start = np.zeros(n_rows + 1, dtype=np.int64)
    tokens = 0
    for row in range(n_rows):
        tokens += totals[row]
    columns = np.empty(tokens, dtype=np.int32)
    counts = np.empty(tokens, dtype=np.float32)
    weights = np.empty(n_words, dtype=np.float32)
    cumulative = np.empty(n_words, dtype=np.float64)
    seen = np.zeros(n_words, dtype=np.int32)
    drawn = np.empty(max(1, totals.max()), dtype=np.int64)
    cell = 0
    found = 0
    for row in range(n_rows):
        _weights_of_row(natural[row], natural[row].max(), weights)
        total = 0.0
        for word in range(n_words):
            total += weights[word]
            cumulative[word] = total
        for token in range(totals[row]):
            goal = uniform(uint32(cell), key) * total
            cell += 1
            word = min(np.searchsorted(cumulative, goal), n_words - 1)
            seen[word] += 1
            drawn[token] = word
        for token in range(totals[row]):
            word = drawn[token]
            if seen[word]:
                columns[found] = word
                counts[found] = seen[word]
                seen[word] = 0
                found += 1
        start[row + 1] = found
    return start, columns[:found].copy(), counts[:found].copy()
