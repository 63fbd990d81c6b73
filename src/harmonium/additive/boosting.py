"""Boosting of additive models: Newton steps on a loss, each by a few trees that know one column each.

scikit-learn's histogram-based trees do the work. They take no scores to begin from, so each step is a regression on
what Newton's method asks for at the scores so far, weighted by the curvature of the loss (LogitBoost; Friedman, Hastie
& Tibshirani 2000, Additive logistic regression, §4). Trees of one column each are step functions, and so is their sum:
`AdditiveBoosting.model` has one table a column, however many trees there were. Where columns act together, trees may
ask several of them, and stay trees: `AdditiveBoosting.trees`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from harmonium.additive.losses import Loss
from harmonium.additive.step_function import StepFunction
from harmonium.additive.trees import Trees
from harmonium.kernels.runtime.threads import single_threaded

# Trees of a step, their leaves, and what their curvatures are shrunk by: conventions. The scores that a step begins
# from are out of date by its last tree, so that there are a few only.
_TREES = {"max_iter": 20, "max_leaf_nodes": 16, "l2_regularization": 1.0}
# What each tree adds of what it finds, and the number of steps by which it adds that much: the first ones are shorter,
# as rows that have little to say want less than one whole step.
_RATE, _SHORT_STEPS = 0.1, 4
#: categories that a column may have at most: bins of the trees, one of them for what is missing
MAX_CODES = 254
# bins of numbers at most: those of scikit-learn
_MAX_BINS = 255


@dataclass(frozen=True, eq=False)
class AdditiveModel:
    """A sum of functions of single columns.

    Attributes
    ----------
    intercept : ndarray of shape (outputs,)
        Scores of a row whose functions all are zero: the average row.
    functions : dict of int to StepFunction
        Functions by column; those of other columns are zero.
    """

    intercept: np.ndarray
    functions: Mapping[int, StepFunction]

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the scores of each row, of shape (rows, outputs)."""
        total = np.tile(self.intercept, (len(X), 1))
        for column, function in self.functions.items():
            total += function(X[:, column])
        return total


@dataclass
class AdditiveBoosting:
    """An additive model that learns step by step what given scores leave.

    Attributes
    ----------
    X : ndarray of shape (rows, columns)
        Numbers, and codes of categories; NaN where they are missing.
    are_codes : ndarray of bool of shape (columns,)
        Which columns are codes of categories, fewer than `MAX_CODES`.
    loss : Loss
        Loss of the same rows.
    weight : ndarray of shape (rows,)
        Weights of the rows.
    scores : ndarray of shape (rows, outputs)
        Scores so far: at first those to begin from.
    interactions : bool, default=False
        Whether a tree may ask several columns. Codes are then numbers to it.
    """

    X: np.ndarray
    are_codes: np.ndarray
    loss: Loss
    weight: np.ndarray
    scores: np.ndarray
    interactions: bool = False
    _steps: list[list[Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        # found once, as scikit-learn would look for bins anew in each step
        self._edges = [None if is_code else _edges(x) for x, is_code in zip(self.X.T, self.are_codes, strict=True)]
        self._binned = self.binned(self.X)

    def binned(self, X: np.ndarray) -> np.ndarray:
        """Return the numbers of the bins that values lie in; codes and what is missing stay as they are."""
        columns = zip(X.T, self._edges, strict=True)
        return np.column_stack([x if edges is None else _bins(x, edges) for x, edges in columns])

    def step(self) -> None:
        """Add one more step."""
        slope, curvature = self.loss.newton(self.scores)
        self._steps.append([])
        for number in range(len(self.loss.outputs)):
            weight = self.weight * curvature[:, number]
            rows = np.flatnonzero(weight > 0)
            self._steps[-1].append(self._tree(rows, -slope[rows, number] / curvature[rows, number], weight[rows]))
        self.scores = self.scores + self._added(self._steps[-1], self._binned)

    def last_step(self, X: np.ndarray) -> np.ndarray:
        """Return what the last step adds to the scores of some rows."""
        return self._added(self._steps[-1], self.binned(X))

    def model(self) -> AdditiveModel:
        """Return the sum of all steps, with functions that are zero on average over the rows."""
        used = self._thresholds()
        grids = {column: _grid(thresholds, self.are_codes[column]) for column, thresholds in used.items()}
        # rows that lack all columns, and rows that have one of them
        points = np.full((1 + sum(map(len, grids.values())), self.X.shape[1]), np.nan)
        first = 1
        for column, grid in grids.items():
            points[first : first + len(grid), column] = grid
            first += len(grid)
        points = self.binned(points)
        added = sum((self._added(step, points) for step in self._steps), np.zeros((len(points), self.scores.shape[1])))
        intercept, functions, first = added[0], {}, 1
        for column, grid in grids.items():
            values = added[first : first + len(grid)] - added[0]
            function = StepFunction(used[column], values, np.zeros(values.shape[1]))
            functions[column], mean = function.centred(self.X[:, column], self.weight)
            functions[column] = functions[column].simplified()
            intercept = intercept + mean
            first += len(grid)
        return AdditiveModel(intercept, functions)

    def trees(self) -> tuple[Trees, np.ndarray]:
        """Return the sum of all steps with interactions, and what is to be added to it."""
        grown, baseline = [], np.zeros(len(self.loss.outputs))
        for step in self._steps:
            for function, trees in enumerate(step):
                baseline[function] += float(trees._baseline_prediction.ravel()[0])
                grown += [(self._in_units(tree.nodes), function) for (tree,) in trees._predictors]
        found = Trees.of(grown, self.loss.outputs)
        return found, found.mean + baseline @ self.loss.outputs

    def _in_units(self, nodes: np.ndarray) -> np.ndarray:
        """Return nodes whose thresholds are in the units of the columns, not in numbers of bins."""
        nodes = nodes.copy()
        for column, edges in enumerate(self._edges):
            own = (nodes["feature_idx"] == column) & (nodes["is_leaf"] == 0) & np.isfinite(nodes["num_threshold"])
            if edges is not None and own.any():
                nodes["num_threshold"][own] = edges[nodes["num_threshold"][own].astype(int)]
        return nodes

    def _tree(self, rows: np.ndarray, aims: np.ndarray, weight: np.ndarray) -> Any:
        from sklearn.ensemble import HistGradientBoostingRegressor

        trees = HistGradientBoostingRegressor(
            **_TREES,
            learning_rate=_RATE * min(len(self._steps) / _SHORT_STEPS, 1.0),
            interaction_cst=None if self.interactions else "no_interactions",
            categorical_features=None if self.interactions else self.are_codes,
            early_stopping=False,
            random_state=0,
        )
        X = self._binned[rows]
        # scikit-learn finds no bins of a column that all rows lack
        X[:, np.isnan(X).all(axis=0)] = 0.0
        # sums over rows are rounded in an order that depends on the number of threads
        with single_threaded():
            return trees.fit(X, aims, sample_weight=weight)

    def _added(self, step: list[Any], binned: np.ndarray) -> np.ndarray:
        with single_threaded():
            return np.stack([trees.predict(binned) for trees in step], axis=1) @ self.loss.outputs

    def _thresholds(self) -> dict[int, np.ndarray]:
        """Return where the functions of the columns that are used may change, by column."""
        splits = [
            (nodes["feature_idx"], nodes["num_threshold"])
            for nodes in (
                tree.nodes[tree.nodes["is_leaf"] == 0]
                for step in self._steps
                for trees in step
                for (tree,) in trees._predictors
            )
        ]
        numbers, thresholds = (np.concatenate(part) for part in zip(*splits, strict=True))
        columns = np.argsort(~self.are_codes, kind="stable")[numbers]  # scikit-learn puts categories first
        found = {}
        for column in np.unique(columns):
            if self.are_codes[column]:
                # the last step is for codes that no row has
                found[int(column)] = np.arange(np.nanmax(self.X[:, column]) + 1) + 0.5
            else:
                own = thresholds[columns == column]
                # a split of what is missing from the rest has an infinite one
                last = np.unique(np.floor(own[np.isfinite(own)])).astype(int)
                found[int(column)] = self._edges[column][last]
        return found


def _edges(values: np.ndarray) -> np.ndarray:
    """Return the upper edges of all bins but the last: of each value, or of about as many rows each."""
    different = np.unique(values[~np.isnan(values)])
    if len(different) <= _MAX_BINS:
        return (different[:-1] + different[1:]) / 2
    return np.unique(np.nanquantile(values, np.linspace(0, 1, _MAX_BINS + 1)[1:-1], method="lower"))


def _bins(values: np.ndarray, edges: np.ndarray) -> np.ndarray:
    return np.where(np.isnan(values), np.nan, np.searchsorted(edges, values, side="left"))


def _grid(thresholds: np.ndarray, are_codes: bool) -> np.ndarray:
    """Return a point of each step."""
    return np.arange(len(thresholds) + 1.0) if are_codes else np.append(thresholds, np.inf)
