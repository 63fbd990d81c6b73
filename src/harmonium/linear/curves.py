"""Curves: functions of single columns that add to the scores beside the linear part.

A column of a dense view has one, such as a number, a date or a category of a table: a step function
(`harmonium.additive.step_function`) of its value in the units of the data, or of its code, with a value for what is
missing. It is zero on average over the training rows, so that its share of a score is the difference to the average
row. Where columns act together, trees of several columns take the place of curves (`harmonium.additive.trees`). They
may ask for the linear scores besides, of single views and of all together.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from harmonium.additive.step_function import StepFunction
from harmonium.additive.trees import Trees
from harmonium.core.batch import Batch, ViewBatch
from harmonium.families import Family
from harmonium.kernels.sparse.matrix import is_sparse, to_dense

#: name of what they add, in files too
CURVES = "curves"
_PREFIX = f"{CURVES}/"
_TREES = "trees/"
#: stands for all views together where a view is named whose linear scores are a column
ALL_VIEWS = ""
#: columns that may have curves at most; of several views, the narrow ones come first. A convention
MAX_COLUMNS = 100


@dataclass(frozen=True, eq=False)
class Curves:
    """Functions of single columns, by view, or trees of several columns.

    Attributes
    ----------
    by_view : dict of str to dict of int to StepFunction
        Functions of the columns of each view, by number; other columns have none.
    trees : Trees, optional
        Trees of several columns.
    tree_columns : tuple of (str, int)
        View and number of each column of the trees; a number below zero is that of a score (`score_number`).
    """

    by_view: Mapping[str, Mapping[int, StepFunction]]
    trees: Trees | None = None
    tree_columns: tuple[tuple[str, int], ...] = ()

    def scaled(self, factor: np.ndarray | float) -> Self:
        """Return curves beside a linear part times a factor, one for each output or one for all, times that factor."""
        by_view = {
            name: {column: function.scaled(factor) for column, function in functions.items()}
            for name, functions in self.by_view.items()
        }
        if self.trees is None:
            return replace(self, by_view=by_view)
        factors = np.broadcast_to(factor, self.trees.outputs.shape[1])
        scales = [1.0 if column >= 0 else factors[output_of(column)] for _, column in self.tree_columns]
        trees = self.trees.scaled(factor).with_columns(np.array(scales), np.zeros(len(scales)))
        return replace(self, by_view=by_view, trees=trees)

    def shifted(self, means: Mapping[str, np.ndarray]) -> Self:
        """Return curves for linear scores that have given means over all rows, instead of zero."""
        if self.trees is None:
            return self
        means = {**means, ALL_VIEWS: np.sum([means[name] for name in sorted(means)], axis=0)}
        shifts = [0.0 if column >= 0 else means[name][output_of(column)] for name, column in self.tree_columns]
        return replace(self, trees=self.trees.with_columns(np.ones(len(shifts)), np.array(shifts)))

    def scores(self, families: Mapping[str, Family], batch: Batch, linear: Mapping[str, np.ndarray]) -> np.ndarray:
        """Return what curves add to the scores of each row, of which ``linear`` are those of each view."""
        shares = self._shares(families, batch, linear)
        return np.sum([share for by_column in shares.values() for share in by_column.values()], axis=0)

    def contributions(
        self, families: Mapping[str, Family], batch: Batch, linear: Mapping[str, np.ndarray]
    ) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
        """Return what each statistic of each view adds to the scores of one row, and what linear scores of views do.

        Of a code, all of its category add alike.
        """
        by_statistic, by_score = {}, {}
        for name, shares in self._shares(families, batch, linear).items():
            own = [share[0] for column, share in shares.items() if column < 0]
            if own:
                by_score[name] = np.sum(own, axis=0)
            if len(own) < len(shares):
                codec = families[name].codec
                site = codec.spread(np.arange(codec.n_sites)[None])[0]
                number = np.bincount(site)
                by_statistic[name] = np.zeros((len(site), len(next(iter(shares.values()))[0])))
                for column, share in shares.items():
                    if column >= 0:
                        by_statistic[name][site == column] = share[0] / number[column]
        return by_statistic, by_score

    def _shares(
        self, families: Mapping[str, Family], batch: Batch, linear: Mapping[str, np.ndarray]
    ) -> dict[str, dict[int, np.ndarray]]:
        """Return what each column adds to the scores of each row, by view."""
        columns = {}
        for name in {*self.by_view, *(name for name, column in self.tree_columns if column >= 0)}:
            view, codec = batch.views.get(name), families[name].codec
            lacking = np.full((batch.n_rows, codec.n_columns), np.nan)
            columns[name] = lacking if view is None else columns_of(families[name], view)
        found = {
            name: {column: function(columns[name][:, column]) for column, function in functions.items()}
            for name, functions in self.by_view.items()
        }
        if self.trees is not None:
            linear = {**linear, ALL_VIEWS: np.sum([linear[name] for name in sorted(linear)], axis=0)}
            X = np.column_stack(
                [
                    columns[name][:, column] if column >= 0 else linear[name][:, output_of(column)]
                    for name, column in self.tree_columns
                ]
            )
            for (name, column), share in zip(self.tree_columns, self.trees.shares(X).swapaxes(0, 1), strict=True):
                found.setdefault(name, {})[column] = share
        return found

    def check(self, families: Mapping[str, Family], linear: Collection[str], n_outputs: int) -> None:
        """Refuse curves of columns that the views have not, such as those of a file that was changed.

        ``linear`` are the views with linear scores, of so many outputs.
        """
        used = {name: set(functions) for name, functions in self.by_view.items()}
        for name, column in self.tree_columns:
            used.setdefault(name, set()).add(column)
        for name, columns in used.items():
            n_columns = families[name].codec.n_columns if name in families else 0
            n_scores = n_outputs if name in linear or name == ALL_VIEWS else 0
            if not all(-n_scores <= column < n_columns for column in columns):
                raise ValueError(f"curves of view {name!r} must be those of its {n_columns} columns")

    def constants(self) -> dict[str, np.ndarray]:
        """Return the arrays that a file has to keep."""
        found: dict[str, np.ndarray] = {}
        for name, functions in self.by_view.items():
            for column, function in functions.items():
                own = f"{_PREFIX}{name}/{column}"
                found[f"{own}/thresholds"] = function.thresholds
                found[f"{own}/values"] = np.vstack([function.values, function.missing])
        if self.trees is not None:
            found |= {f"{_TREES}{name}": value for name, value in self.trees.constants().items()}
            views = dict.fromkeys(name for name, _ in self.tree_columns)
            found |= {
                f"{_TREES}views/{number}/{view}": np.array(
                    [column for name, column in self.tree_columns if name == view]
                )
                for number, view in enumerate(views)
            }
        return found

    @classmethod
    def restored(cls, constants: Mapping[str, np.ndarray], n_outputs: int) -> Self | None:
        """Return the curves that `constants` described; None if there were none."""
        by_view: dict[str, dict[int, StepFunction]] = {}
        for key, thresholds in constants.items():
            if not (key.startswith(_PREFIX) and key.endswith("/thresholds")):
                continue
            view, column = key.removeprefix(_PREFIX).removesuffix("/thresholds").rsplit("/", 1)
            values = constants.get(f"{_PREFIX}{view}/{column}/values", np.zeros((0, 0)))
            if values.shape != (len(thresholds) + 2, n_outputs) or not np.isfinite(values).all():
                raise ValueError(f"curve {column} of view {view!r} must have {n_outputs} finite numbers for each step")
            if thresholds.ndim != 1 or not (np.isfinite(thresholds).all() and (np.diff(thresholds) > 0).all()):
                raise ValueError(f"curve {column} of view {view!r} must have finite thresholds in ascending order")
            function = StepFunction(thresholds, values[:-1], values[-1])
            by_view.setdefault(view, {})[int(column)] = function
        kept = {key.removeprefix(_TREES): value for key, value in constants.items() if key.startswith(_TREES)}
        if not kept:
            return cls(by_view) if by_view else None
        tree_columns: list[tuple[str, int]] = []
        for key in sorted((key for key in kept if "/" in key), key=lambda key: int(key.split("/", 2)[1])):
            tree_columns += [(key.split("/", 2)[2], int(column)) for column in kept.pop(key)]
        return cls(by_view, Trees.restored(kept, len(tree_columns), n_outputs), tuple(tree_columns))


def score_number(output: int) -> int:
    """Return the number of the column that the linear score of an output is: below zero."""
    return -1 - output


def output_of(column: int) -> int:
    """Return the output whose linear score is a column."""
    return -1 - column


def columns_of(family: Family, view: ViewBatch) -> np.ndarray:
    """Return the columns of a view in the units of the data, codes of categories included; NaN where they are missing.

    What inference has filled in counts as missing.
    """
    columns = family.codec.decode(to_dense(view.statistic)).astype(np.float64)
    if view.missing is not None:
        columns[view.missing] = np.nan
    return columns


def may_have_curves(family: Family, view: ViewBatch) -> bool:
    """Return whether the columns of a view are dense, and each of them is observed or missing by itself."""
    return (
        not is_sparse(view.statistic)
        and not family.support.whole_rows
        and family.codec.n_sites == family.codec.n_columns
    )
