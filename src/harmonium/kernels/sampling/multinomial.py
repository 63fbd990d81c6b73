"""Multinomial counts by inversion of the cumulative weights, one uniform number per token."""

from __future__ import annotations

import numpy as np
from numpy import float32, uint32

from harmonium.kernels.elementwise import exp2_float32
from harmonium.kernels.runtime.jit import jit
from harmonium.kernels.sampling.counter_rng import uniform


@jit(fastmath=True, error_model="numpy")
def _softmax_weights(natural: np.ndarray, largest: np.float32, out: np.ndarray) -> None:
    for word in range(len(natural)):
        x = (natural[word] - largest) * float32(1.4426950408889634)
        out[word] = exp2_float32(max(x, float32(-100)))


@jit()
def draw_multinomial(
    natural: np.ndarray, totals: np.ndarray, key: np.uint32
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return multinomial counts as CSR arrays: row r has ``totals[r]`` tokens, with log-odds ``natural[r]``.

    The cumulative weights of a row are inverted at the uniform number of each token.
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
    n_found = 0
    for row in range(n_rows):
        _softmax_weights(natural[row], natural[row].max(), weights)
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
                columns[n_found] = word
                counts[n_found] = seen[word]
                seen[word] = 0
                n_found += 1
        start[row + 1] = n_found
    return start, columns[:n_found].copy(), counts[:n_found].copy()
