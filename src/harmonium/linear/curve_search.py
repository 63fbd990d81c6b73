"""Choice of curves on held-out rows: they learn what the best linear model leaves, and stay if that is clearly less.

A linear model fits the rows it was trained on better than others, and what it leaves of them is not what it leaves of
new rows. So curves learn from scores of each row by a linear model that has not seen it. The number of steps is the one
of the smallest loss on held-out rows; curves stay if their loss there is smaller by more than two standard errors of
the differences, one of them for that choice, and predictions are no worse. Trees of several columns take their place
where held-out rows say that columns act together: if their loss is smaller by more than one standard error.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from harmonium.additive.boosting import MAX_CODES, AdditiveBoosting
from harmonium.additive.losses import Loss
from harmonium.families.protocol.sites import code_counts
from harmonium.linear.comparison import is_better, mean_error
from harmonium.linear.curves import MAX_COLUMNS, Curves, columns_of, may_have_curves
from harmonium.linear.features import PreparedViews
from harmonium.linear.score_columns import UnseenScores, out_of_fold
from harmonium.linear.search import Folds, LinearModel, LinearSearch

# Steps at most, and without a smaller loss until the search ends: conventions.
_MAX_STEPS, _PATIENCE = 24, 2
# Standard errors by which the loss has to be smaller: a convention.
_CLEARLY = 2.0
# Further folds that rows are left out in, where there is one, and functions up to which there are: conventions.
_MORE_FOLDS, _FEW_FUNCTIONS = 2, 3
# Cells times functions that a step learns from at most, which takes about half a second: beyond, it learns from a part
# of the rows. And the rows it needs then: with fewer there are no curves. Conventions.
_MAX_CELLS, _FEWEST_ROWS = 1_000_000, 1000


@dataclass(frozen=True)
class Columns:
    """Columns of all rows that may have curves.

    Attributes
    ----------
    names : list of (str, int)
        View and number of each.
    values : ndarray of shape (rows, columns)
        Numbers and codes; NaN where they are missing.
    are_codes : ndarray of bool of shape (columns,)
        Which of them are codes.
    """

    names: list[tuple[str, int]]
    values: np.ndarray
    are_codes: np.ndarray

    @classmethod
    def of(cls, views: PreparedViews) -> Columns | None:
        """Return the columns of the dense views; None if there are none, or all of them are too wide."""
        first = next(iter(views.data.blocks(views.families)))
        chosen: dict[str, np.ndarray] = {}
        for name, family in sorted(views.families.items(), key=lambda item: item[1].codec.n_columns):
            if may_have_curves(family, first.views[name]):
                counts = code_counts(family)
                kept = np.flatnonzero(counts <= MAX_CODES)
                if sum(map(len, chosen.values())) + len(kept) <= MAX_COLUMNS and len(kept):
                    chosen[name] = kept
        if not chosen:
            return None
        families = {name: views.families[name] for name in chosen}
        blocks = [
            [columns_of(families[name], batch.views[name])[:, kept] for name, kept in chosen.items()]
            for batch in views.data.blocks(families)
        ]
        values = np.concatenate([np.hstack(block) for block in blocks])
        names = [(name, int(column)) for name, kept in chosen.items() for column in kept]
        are_codes = np.concatenate([code_counts(families[name])[kept] > 0 for name, kept in chosen.items()])
        return cls(names, values, are_codes)

    def with_scores(self, scores: UnseenScores, outputs: np.ndarray) -> Columns:
        """Return the columns and, for trees, the linear scores of some outputs."""
        seen = {name for name, _ in self.names}
        names, values = scores.columns(outputs, [name for name in scores.by_view if name not in seen])
        are_codes = np.append(self.are_codes, np.zeros(len(names), dtype=bool))
        return Columns([*self.names, *names], np.hstack([self.values, values]), are_codes)


@dataclass(frozen=True, eq=False)
class CurvedModel(LinearModel):
    """A linear model with curves, and what it is worth on held-out rows.

    Attributes
    ----------
    losses, losses_before : ndarray of shape (rows,)
        Losses of rows that neither part has seen, with curves and without: the held-out rows, and maybe others.
    gains : ndarray of shape (rows,)
        By how much errors of the same rows are smaller with curves.
    weights : ndarray of shape (rows,)
        Weights of the same rows.
    share_of_curves : float
        Share of the curves in how much the scores of held-out rows vary.
    n_steps : int
        Number of steps.
    learner : CurveLearner
        What learns the curves.
    """

    losses: np.ndarray
    losses_before: np.ndarray
    gains: np.ndarray
    weights: np.ndarray
    n_steps: int
    learner: CurveLearner

    def improves(self, other: LinearModel, rows: np.ndarray | slice, weight: np.ndarray) -> bool:
        """Return whether curves are clearly better on some held-out rows, and predictions no worse than another's.

        Rows that are not held out have a say too, as far as they have scores.
        """
        n_held = len(self.errors)
        told = np.append(np.arange(n_held)[rows], np.arange(n_held, len(self.losses)))
        if other.settings == self.settings:
            no_worse = mean_error(self.gains[told], self.weights[told]) >= 0
        else:
            no_worse = mean_error(self.errors[rows], weight) <= mean_error(other.errors[rows], weight)
        return no_worse and is_better(self.losses[told], self.losses_before[told], self.weights[told], by=_CLEARLY)

    def curves(self) -> tuple[Curves | None, np.ndarray]:
        """Return the curves of all rows, None if no column tells anything, and what is to be added to the bias."""
        return self.learner.curves(self.n_steps)


@dataclass(frozen=True)
class CurveLearner:
    """What curves learn from.

    Attributes
    ----------
    columns : Columns
        Columns of all rows.
    loss : Loss
        Loss of all rows.
    weight : ndarray of shape (rows,)
        Weights of the rows; 0 for those without a target or without scores.
    linear : ndarray of shape (rows, outputs)
        Scores of each row by a linear model that has not seen it.
    factor, shift : ndarray of shape (outputs,)
        Factor and shift that bring them to the scale of the loss.
    interactions : bool, default=False
        Whether trees of several columns take the place of curves.
    """

    columns: Columns
    loss: Loss
    weight: np.ndarray
    linear: np.ndarray
    factor: np.ndarray
    shift: np.ndarray
    interactions: bool = False

    def boosting(self, rows: np.ndarray) -> AdditiveBoosting:
        """Return curves of some of the rows that have not yet learned anything."""
        rows = rows[self.weight[rows] > 0]
        rows = rows[:: -(-len(rows) // self.max_rows)]
        loss, values = self.loss.take(rows), self.columns.values[rows]
        known = (self.columns.are_codes, loss, self.weight[rows], self.scores[rows])
        return AdditiveBoosting(values, *known, interactions=self.interactions)

    @property
    def scores(self) -> np.ndarray:
        """The linear scores on the scale of the loss."""
        return self.linear * self.factor + self.shift

    @property
    def max_rows(self) -> int:
        """Number of rows that a step learns from at most."""
        return int(_MAX_CELLS // (len(self.columns.names) * len(self.loss.outputs)))

    def curves(self, n_steps: int) -> tuple[Curves | None, np.ndarray]:
        """Return the curves of all rows after some steps, on the scale of the head, and their intercept."""
        boosting = self.boosting(np.arange(len(self.weight)))
        for _ in range(n_steps):
            boosting.step()
        if self.interactions:
            trees, intercept = boosting.trees()
            return Curves({}, trees.scaled(1 / self.factor), tuple(self.columns.names)), intercept / self.factor
        model = boosting.model()
        by_view: dict[str, dict] = {}
        for number, function in model.functions.items():
            name, column = self.columns.names[number]
            by_view.setdefault(name, {})[column] = function.scaled(1 / self.factor)
        return Curves(by_view) if by_view else None, model.intercept / self.factor


def add_curves(search: LinearSearch) -> None:
    """Let the best linear model of a search have curves, if it gains by them on held-out rows.

    Where Nystroem features are better than a line, curves take their place if predictions are no worse.
    """
    columns, outputs, targets = Columns.of(search.views), search.task.outputs_, search.all_targets.as_rows()
    loss = None if columns is None else outputs.smooth_loss(targets)
    if columns is None or loss is None:
        return
    model = search.simplest(search.best_without_kernel())
    factor, shift = outputs.comparable(model.scores, search.targets.as_rows())
    unseen = out_of_fold(search, model)
    weight = np.where(targets.counting & np.isfinite(unseen.total).all(axis=1), targets.loss_weight, 0.0)
    learner = CurveLearner(columns, loss, weight, np.nan_to_num(unseen.total), factor, shift)
    has_rows = all((weight[train] > 0).any() for train, _ in search.folds)
    if has_rows and learner.max_rows >= min(_FEWEST_ROWS, int((weight > 0).sum())):
        search.curved = _curved(search, model, learner)
        columns = columns.with_scores(unseen, np.abs(loss.outputs).argmax(axis=1))
        together = _curved(search, model, replace(learner, columns=columns, interactions=True))
        alone = search.curved
        if together is not None and (alone is None or is_better(together.losses, alone.losses, together.weights)):
            search.curved = together


def _curve_folds(search: LinearSearch, learner: CurveLearner) -> Folds:
    """Return training rows and others of each fold: those of the search, and more where it has one and steps are quick.

    A single fold holds out a small part of the rows, which tells little of what a few columns add.
    """
    rows = np.flatnonzero(learner.weight > 0)
    if len(search.folds) > 1 or len(learner.loss.outputs) > _FEW_FUNCTIONS:
        return search.folds
    left = np.random.default_rng(0).permutation(np.setdiff1d(rows, search.folds[0][1]))
    return [*search.folds, *((np.setdiff1d(rows, part), np.sort(part)) for part in np.array_split(left, _MORE_FOLDS))]


def _curved(search: LinearSearch, model: LinearModel, learner: CurveLearner) -> CurvedModel | None:
    """Return the model with as many steps as are best on rows that are left out; None if that is none."""
    folds = _curve_folds(search, learner)
    left_out = np.concatenate([rows for _, rows in folds])
    loss, values = learner.loss.take(left_out), learner.columns.values[left_out]
    weight = np.where(learner.weight > 0, search.all_targets.weight, 0.0)[left_out]
    before = learner.scores[left_out]
    losses_before = best_losses = loss.losses(before)
    learning = [learner.boosting(train) for train, _ in folds]
    parts = np.split(np.arange(len(left_out)), np.cumsum([len(rows) for _, rows in folds])[:-1])
    scores, best, n_steps = before.copy(), before, 0
    for number in range(1, _MAX_STEPS + 1):
        for boosting, rows in zip(learning, parts, strict=True):
            boosting.step()
            scores[rows] += boosting.last_step(values[rows])
        losses = loss.losses(scores)
        if mean_error(losses, weight) < mean_error(best_losses, weight):
            best, best_losses, n_steps = scores.copy(), losses, number
        elif number - n_steps >= min(_PATIENCE, number):
            break
    if not n_steps:
        return None
    added, n_held, task = (best - before) / learner.factor, len(model.scores), search.task
    errors = task.error(model.scores + added[:n_held], search.targets.values)
    linear, truth = learner.linear[left_out], search.all_targets.values[left_out]
    return CurvedModel(
        model.settings,
        model.scores + added[:n_held],
        errors,
        mean_error(errors, search.targets.weight),
        share_of_curves=_share(added[:n_held], model.scores),
        losses=best_losses,
        losses_before=losses_before,
        gains=task.error(linear, truth) - task.error(linear + added, truth),
        weights=weight,
        n_steps=n_steps,
        learner=learner,
    )


def _share(curves: np.ndarray, linear: np.ndarray) -> float:
    """Return the share of the curves in how much scores vary from row to row."""
    varying = [float(part.std(axis=0).sum()) for part in (curves, linear)]
    return varying[0] / max(sum(varying), 1e-300)
