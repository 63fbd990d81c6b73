"""Candidates for non-zero cells of views that are nearly all zeros.

A cell can be non-zero only if its uniform number (`counter_rng`) is below ``factor * exp(natural)``. The kernels find
these candidates, for words a few in a hundred, and the family decides about them exactly. `dense_scan` looks at all
cells, as here; `thinning` at few cells of features that are rare.
"""

from __future__ import annotations

import numpy as np
from numpy import float32, uint32

from harmonium.kernels.elementwise import exp2_upper_bound
from harmonium.kernels.runtime.jit import jit
from harmonium.kernels.sampling.counter_rng import uniform


@jit(fastmath=True, error_model="numpy")
def flag_candidates(
    natural: np.ndarray, threshold: np.float32, first_cell: np.uint32, key: np.uint32, flags: np.ndarray
) -> None:
    """Mark the cells whose uniform numbers are below 2^(natural · log2(e) + threshold), or up to 6 % above."""
    # a separate function, so that nothing keeps the compiler from vectorising the loop
    for cell in range(len(natural)):
        x = min(max(natural[cell] * float32(1.4426950408889634) + threshold, float32(-100)), float32(1))
        flags[cell] = uniform(uint32(first_cell + uint32(cell)), key) < exp2_upper_bound(x)


@jit()
def _collect(words: np.ndarray, flags: np.ndarray, cells: np.ndarray) -> int:
    # a function of its own, so that nothing else is in the loop; within a word without a branch, whose outcome could
    # not be predicted
    n_found = 0
    for word in range(len(words)):
        if words[word]:
            for cell in range(8 * word, 8 * word + 8):
                cells[n_found] = cell
                n_found += int(flags[cell])
    return n_found


@jit()
def collect_flagged(padded: np.ndarray, n_cells: int) -> np.ndarray:
    """Return the flagged cells in order; ``padded`` has `flag_bytes` bytes, zero from ``n_cells`` on."""
    cells = np.empty(n_cells + 1, dtype=np.int32)  # one is written beyond the last found
    return cells[: _collect(padded.view(np.uint64), padded, cells)]


def flag_bytes(n_cells: int) -> int:
    """Return the bytes of scratch memory that `find_candidates` needs: one per cell, in whole words."""
    return -(-n_cells // 8) * 8


@jit()
def find_candidates(
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
    flag_candidates(natural, np.float32(np.log2(factor)), first_cell, key, padded[:n_cells])
    cells = collect_flagged(padded, n_cells)
    uniforms = np.empty(len(cells), dtype=np.float32)
    for entry in range(len(cells)):
        uniforms[entry] = uniform(uint32(first_cell + uint32(cells[entry])), key)
    return cells, uniforms
