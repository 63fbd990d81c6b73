"""Counts of binary sequences, and random sequences with given counts."""

from __future__ import annotations

import numpy as np

from harmonium.kernels.runtime.jit import jit


@jit()
def count_chains(
    indptr: np.ndarray, indices: np.ndarray, offsets: np.ndarray, n_features: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Count the ones and the pairs of neighbouring ones of each item, as CSR arrays of 2 × features columns.

    Item i is the rows ``offsets[i]`` to ``offsets[i + 1]`` of a CSR matrix whose stored values are all ones.
    """
    n_items = len(offsets) - 1
    start = np.zeros(n_items + 1, dtype=np.int64)
    columns = np.empty(2 * len(indices), dtype=np.int32)
    values = np.empty(2 * len(indices), dtype=np.float32)
    ones = np.zeros(n_features, dtype=np.int32)
    pairs = np.zeros(n_features, dtype=np.int32)
    last = np.full(n_features, -1, dtype=np.int64)
    n_found = 0
    for item in range(n_items):
        first = n_found
        for row in range(offsets[item], offsets[item + 1]):
            for entry in range(indptr[row], indptr[row + 1]):
                feature = indices[entry]
                if ones[feature] == 0:
                    columns[n_found] = feature
                    n_found += 1
                elif last[feature] == row - 1:
                    pairs[feature] += 1
                ones[feature] += 1
                last[feature] = row
        for place in range(first, n_found):
            feature = columns[place]
            values[place] = ones[feature]
            if pairs[feature]:
                columns[n_found] = n_features + feature
                values[n_found] = pairs[feature]
                n_found += 1
            ones[feature] = 0
            pairs[feature] = 0
        start[item + 1] = n_found
    return start, columns[:n_found].copy(), values[:n_found].copy()


@jit()
def sequences_from_counts(
    items: np.ndarray,
    features: np.ndarray,
    ones: np.ndarray,
    pairs: np.ndarray,
    lengths: np.ndarray,
    offsets: np.ndarray,
    random: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows and columns of the ones of random sequences with given counts, cell by cell.

    The ones form runs. Which neighbouring ones are joined, and between which zeros the runs stand, are uniformly random
    subsets, drawn one element after the other with ``random`` of shape (cells, 1 + largest length).
    """
    total = int(ones.sum())
    rows = np.empty(total, dtype=np.int64)
    columns = np.empty(total, dtype=np.int64)
    n_found = 0
    for cell in range(len(items)):
        n_ones, joins, length = int(ones[cell]), int(pairs[cell]), lengths[items[cell]]
        runs, gaps = n_ones - joins, length - n_ones + 1
        row, drawn, left = offsets[items[cell]], 0, n_ones
        for gap in range(gaps):
            begins = random[cell, drawn] * (gaps - gap) < runs
            drawn += 1
            runs -= begins
            while begins:
                rows[n_found] = row
                columns[n_found] = features[cell]
                n_found += 1
                row += 1
                left -= 1
                if left == 0 or random[cell, drawn] * left >= joins:
                    drawn += left > 0
                    break
                drawn += 1
                joins -= 1
            row += 1
    return rows, columns
