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
from harmonium.linear.comparison import is_better, mean_error
from harmonium.linear.curves import MAX_COLUMNS, Curves, code_counts, columns_of, may_have_curves
from harmonium.linear.features import PreparedViews
from harmonium.linear.search import LinearModel, LinearSearch

# Steps at most, and without a smaller loss until the search ends: conventions.
_MAX_STEPS, _PATIENCE = 24, 2
# Standard errors by which the loss has to be smaller: a convention.
_CLEARLY = 2.0
# Cells times functions that a step learns from at most, which takes about half a second: beyond, it learns from a part
# of the rows. And the rows it needs then: with fewer there are no curves. Conventions.
_MAX_CELLS, _FEWEST_ROWS = 1_000_000, 1000
# Parts of the rows that are never held out, each of which gets its scores by a linear model of the others, and the
# fewest of these rows: a convention.
_PARTS, _FEWEST_LEFT = 3, 100


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


@dataclass(frozen=True, eq=False)
class CurvedModel(LinearModel):
    """A linear model with curves, and what it is worth on held-out rows.

    Attributes
    ----------
    losses, losses_before : ndarray of shape (rows,)
        Losses of the held-out rows with curves and without.
    share_of_curves : float
        Share of the curves in how much the scores of held-out rows vary.
    n_steps : int
        Number of steps.
    learner : CurveLearner
        What learns the curves.
    """

    losses: np.ndarray
    losses_before: np.ndarray
    n_steps: int
    learner: CurveLearner

    def improves(self, other: LinearModel, rows: np.ndarray | slice, weight: np.ndarray) -> bool:
        """Return whether curves are clearly better on some held-out rows, and predictions no worse than another's."""
        no_worse = mean_error(self.errors[rows], weight) <= mean_error(other.errors[rows], weight)
        return no_worse and is_better(self.losses[rows], self.losses_before[rows], weight, by=_CLEARLY)

    def curves(self) -> tuple[Curves, np.ndarray]:
        """Return the curves of all rows, and what is to be added to the bias."""
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
    scores : ndarray of shape (rows, outputs)
        Scores of each row by a linear model that has not seen it, on the scale of the loss.
    factor : ndarray of shape (outputs,)
        Factor that brought them to this scale.
    interactions : bool, default=False
        Whether trees of several columns take the place of curves.
    """

    columns: Columns
    loss: Loss
    weight: np.ndarray
    scores: np.ndarray
    factor: np.ndarray
    interactions: bool = False

    def boosting(self, rows: np.ndarray) -> AdditiveBoosting:
        """Return curves of some of the rows that have not yet learned anything."""
        rows = rows[self.weight[rows] > 0]
        rows = rows[:: -(-len(rows) // self.max_rows)]
        loss, values = self.loss.take(rows), self.columns.values[rows]
        known = (self.columns.are_codes, loss, self.weight[rows], self.scores[rows])
        return AdditiveBoosting(values, *known, interactions=self.interactions)

    @property
    def max_rows(self) -> int:
        """Number of rows that a step learns from at most."""
        return int(_MAX_CELLS // (len(self.columns.names) * len(self.loss.outputs)))

    def curves(self, n_steps: int) -> tuple[Curves, np.ndarray]:
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
        return Curves(by_view), model.intercept / self.factor


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
    scores = out_of_fold(search, model) * factor + shift
    weight = np.where(targets.counting & np.isfinite(scores).all(axis=1), targets.loss_weight, 0.0)
    learner = CurveLearner(columns, loss, weight, np.nan_to_num(scores), factor)
    has_rows = all((weight[train] > 0).any() for train, _ in search.folds)
    if has_rows and learner.max_rows >= min(_FEWEST_ROWS, int((weight > 0).sum())):
        search.curved, together = (
            _curved(search, model, replace(learner, interactions=several)) for several in (False, True)
        )
        if together is not None and (
            search.curved is None or is_better(together.losses, search.curved.losses, search.targets.weight)
        ):
            search.curved = together


def _curved(search: LinearSearch, model: LinearModel, learner: CurveLearner) -> CurvedModel | None:
    """Return the model with as many steps as are best on held-out rows; None if that is none."""
    held = np.concatenate([rows for _, rows in search.folds])
    loss, values, weight = learner.loss.take(held), learner.columns.values[held], search.targets.weight
    before = learner.scores[held]
    losses_before = best_losses = loss.losses(before)
    folds = [learner.boosting(train) for train, _ in search.folds]
    parts = np.split(np.arange(len(held)), np.cumsum([len(rows) for _, rows in search.folds])[:-1])
    scores, best, n_steps = before.copy(), before, 0
    for number in range(1, _MAX_STEPS + 1):
        for boosting, rows in zip(folds, parts, strict=True):
            boosting.step()
            scores[rows] += boosting.last_step(values[rows])
        losses = loss.losses(scores)
        if mean_error(losses, weight) < mean_error(best_losses, weight):
            best, best_losses, n_steps = scores.copy(), losses, number
        elif number - n_steps >= min(_PATIENCE, number):
            break
    if not n_steps:
        return None
    added = (best - before) / learner.factor
    return CurvedModel(
        model.settings,
        model.scores + added,
        errors := search.task.error(model.scores + added, search.targets.values),
        mean_error(errors, weight),
        share_of_curves=_share(added, model.scores),
        losses=best_losses,
        losses_before=losses_before,
        n_steps=n_steps,
        learner=learner,
    )


def out_of_fold(search: LinearSearch, model: LinearModel) -> np.ndarray:
    """Return scores of all rows, each by a linear model that has not seen it; NaN for a few rows without any.

    With a single fold, models of the same settings see two thirds of the rows that are never held out; scores beyond
    those of all held-out rows are not believed.
    """
    scores = np.full((len(search.all_targets.weight), model.scores.shape[1]), np.nan)
    held = np.concatenate([rows for _, rows in search.folds])
    scores[held] = model.scores
    left = np.setdiff1d(np.flatnonzero(search.all_targets.counting), held)
    if len(search.folds) == 1 and len(left) >= _FEWEST_LEFT:
        features = search.features(model.settings)
        for rows in np.array_split(np.random.default_rng(0).permutation(left), _PARTS):
            weights, bias = search.solve(model.settings, features, np.setdiff1d(left, rows))
            scores[rows] = features[rows] @ weights + bias
        # a category that only these rows have may have a weight that means nothing
        beyond = (scores < model.scores.min(axis=0)) | (scores > model.scores.max(axis=0))
        scores[beyond.any(axis=1)] = np.nan
    return scores


def _share(curves: np.ndarray, linear: np.ndarray) -> float:
    """Return the share of the curves in how much scores vary from row to row."""
    varying = [float(part.std(axis=0).sum()) for part in (curves, linear)]
    return varying[0] / max(sum(varying), 1e-300)
