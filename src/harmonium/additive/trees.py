"""Sums of regression trees that ask several columns, and what each column adds to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from harmonium.kernels.tree_paths import add_paths

_FIELDS = ("roots", "functions", "columns", "thresholds", "children", "values", "outputs")


@dataclass(frozen=True, eq=False)
class Trees:
    """A sum of trees, each of which belongs to one function of the columns.

    What a column adds to the sum for a row is by how much its splits change the mean of the training rows on the row's
    way from root to leaf (Saabas 2014, Interpreting random forests), so that columns add up to the sum less its mean.

    Attributes
    ----------
    roots : ndarray of int32 of shape (trees,)
        Node that each tree begins with.
    functions : ndarray of int32 of shape (trees,)
        Function that each tree belongs to.
    columns : ndarray of int32 of shape (nodes,)
        Column that a node asks for; -1 for leaves.
    thresholds : ndarray of shape (nodes,)
        Largest value that goes to the first child.
    children : ndarray of int32 of shape (nodes, 3)
        Nodes for what is at most the threshold, for what is larger, and for what is missing, each after its parent.
    values : ndarray of shape (nodes,)
        Mean of the training rows that came to a node.
    outputs : ndarray of shape (functions, outputs)
        By how much each function moves each output.

    Examples
    --------
    >>> stump = Trees(
    ...     roots=np.array([0], np.int32), functions=np.array([0], np.int32), columns=np.array([0, -1, -1], np.int32),
    ...     thresholds=np.array([30.0, 0.0, 0.0]), children=np.array([[1, 2, 2], [0, 0, 0], [0, 0, 0]], np.int32),
    ...     values=np.array([0.5, -1.0, 1.0]), outputs=np.ones((1, 1)),
    ... )
    >>> stump.shares(np.array([[20.0], [31.0], [np.nan]])).ravel().tolist(), stump.mean.tolist()
    ([-1.5, 0.5, 0.5], [0.5])
    """

    roots: np.ndarray
    functions: np.ndarray
    columns: np.ndarray
    thresholds: np.ndarray
    children: np.ndarray
    values: np.ndarray
    outputs: np.ndarray

    @classmethod
    def of(cls, grown: Sequence[tuple[np.ndarray, int]], outputs: np.ndarray) -> Self:
        """Return trees of scikit-learn's nodes, each of them with the number of its function."""
        parts, first = [], 0
        for nodes, _ in grown:
            parts.append(_arrays(nodes, first))
            first += len(nodes)
        lengths = [len(nodes) for nodes, _ in grown]
        return cls(
            roots=(np.cumsum(lengths) - lengths).astype(np.int32),
            functions=np.array([function for _, function in grown], dtype=np.int32),
            **{name: np.concatenate([part[name] for part in parts]) for name in parts[0]},
            outputs=outputs,
        )

    @property
    def mean(self) -> np.ndarray:
        """What all trees add up to on average over the training rows, of shape (outputs,)."""
        means = np.zeros(len(self.outputs))
        np.add.at(means, self.functions, self.values[self.roots])
        return np.asarray(means @ self.outputs)

    def shares(self, X: np.ndarray) -> np.ndarray:
        """Return what each column adds beyond the mean for each row, of shape (rows, columns, outputs)."""
        found = np.zeros((*X.shape, len(self.outputs)))
        nodes = (self.columns, self.thresholds, self.children, self.values)
        add_paths(np.ascontiguousarray(X, dtype=np.float64), self.roots, self.functions, *nodes, found)
        return found @ self.outputs

    def scaled(self, factor: np.ndarray | float) -> Self:
        """Return trees times a factor, one for each output or one for all."""
        return replace(self, outputs=self.outputs * factor)

    def with_columns(self, factors: np.ndarray, shifts: np.ndarray) -> Self:
        """Return trees that say the same of columns times a factor plus a shift each."""
        asked = np.maximum(self.columns, 0)
        moved = np.minimum(self.thresholds * factors[asked] + shifts[asked], np.finfo(np.float64).max)
        return replace(self, thresholds=np.where(self.columns >= 0, moved, self.thresholds))

    def constants(self) -> dict[str, np.ndarray]:
        """Return the arrays that a file has to keep."""
        return {name: getattr(self, name) for name in _FIELDS}

    @classmethod
    def restored(cls, constants: Mapping[str, np.ndarray], n_columns: int, n_outputs: int) -> Self:
        """Return the trees that `constants` described; raise a ValueError if there can be no such trees."""
        if set(constants) != set(_FIELDS):
            raise ValueError(f"trees have {sorted(constants)}")
        found = cls(**constants)
        n_nodes, leaves = len(found.columns), found.columns < 0
        shapes = {"thresholds": (n_nodes,), "values": (n_nodes,), "children": (n_nodes, 3)}
        shapes |= {"functions": found.roots.shape, "outputs": (len(found.outputs), n_outputs)}
        if any(constants[name].shape != shape for name, shape in shapes.items()):
            raise ValueError("trees must have a threshold, a value and three children for each node")
        if not all(np.isfinite(constants[name]).all() for name in ("thresholds", "values", "outputs")):
            raise ValueError("trees must have finite numbers")
        after = found.children[~leaves] > np.flatnonzero(~leaves)[:, None]
        # a child that stands after its parent is never met again
        whole = after.all() and _are_numbers(found.children[~leaves], n_nodes) and _are_numbers(found.roots, n_nodes)
        if not (whole and _are_numbers(found.functions, len(found.outputs)) and (found.columns < n_columns).all()):
            raise ValueError("trees must lead from roots to leaves, by columns that there are")
        return found


def _are_numbers(values: np.ndarray, n: int) -> bool:
    """Return whether values are numbers of some of n things."""
    return values.dtype.kind == "i" and bool(((values >= 0) & (values < n)).all())


def _arrays(nodes: np.ndarray, first: int) -> dict[str, Any]:
    """Return the arrays of one tree, whose nodes are counted from a number on."""
    leaves = nodes["is_leaf"].astype(bool)
    children = np.column_stack([nodes["left"], nodes["right"], nodes["right"]]).astype(np.int64)
    children[:, 2] = np.where(nodes["missing_go_to_left"], nodes["left"], nodes["right"])
    values, counts = nodes["value"].astype(np.float64), nodes["count"].astype(np.float64)
    for node in np.flatnonzero(~leaves)[::-1]:  # children stand after their parents
        values[node] = np.average(values[children[node, :2]], weights=counts[children[node, :2]])
    return {
        "columns": np.where(leaves, -1, nodes["feature_idx"]).astype(np.int32),
        "thresholds": np.where(leaves, 0.0, np.minimum(nodes["num_threshold"], np.finfo(np.float64).max)),
        "children": np.where(leaves[:, None], 0, children + first).astype(np.int32),
        "values": values,
    }
