"""Paths through trees, against a plain loop."""

from __future__ import annotations

import numpy as np

from harmonium.kernels.tree_paths import add_paths


def test_each_split_adds_its_change_to_its_column() -> None:
    columns = np.array([1, 0, -1, -1, -1, -1], np.int32)
    thresholds = np.array([0.5, -1.0, 0.0, 0.0, 0.0, 0.0])
    children = np.array([[1, 4, 4], [2, 3, 3], [0, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 0]], np.int32)
    values = np.array([0.0, -2.0, -3.0, 1.0, 5.0, 7.0])
    roots, functions = np.array([0, 5], np.int32), np.array([1, 0], np.int32)  # the second tree is a leaf
    X = np.array([[-1.0, 0.5], [0.0, 0.0], [np.nan, 0.0], [9.0, 0.6], [9.0, np.nan]])
    shares = np.zeros((5, 2, 2))
    add_paths(X, roots, functions, columns, thresholds, children, values, shares)
    expected = np.zeros_like(shares)
    for row, x in enumerate(X):
        node = 0
        while columns[node] >= 0:
            asked = x[columns[node]]
            after = children[node][2 if np.isnan(asked) else int(asked > thresholds[node])]
            expected[row, columns[node], 1] += values[after] - values[node]
            node = after
    np.testing.assert_array_equal(shares, expected)
