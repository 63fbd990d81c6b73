"""Paths of rows through regression trees, and what each split on the way adds."""

from __future__ import annotations

import numpy as np

from harmonium.kernels.runtime.jit import jit


@jit()
def add_paths(
    X: np.ndarray,
    roots: np.ndarray,
    functions: np.ndarray,
    columns: np.ndarray,
    thresholds: np.ndarray,
    children: np.ndarray,
    values: np.ndarray,
    shares: np.ndarray,
) -> None:
    """Add to the share of a column by how much its splits change the value of the node that a row is in.

    ``children`` are the nodes for what is at most the threshold, for what is larger, and for what is missing (NaN).
    Leaves have a column of -1. ``shares`` have the shape (rows, columns, functions).
    """
    for row in range(len(X)):
        for tree in range(len(roots)):
            node, function = roots[tree], functions[tree]
            while columns[node] >= 0:
                column = columns[node]
                x = X[row, column]
                if np.isnan(x):
                    after = children[node, 2]
                elif x <= thresholds[node]:
                    after = children[node, 0]
                else:
                    after = children[node, 1]
                shares[row, column, function] += values[after] - values[node]
                node = after
