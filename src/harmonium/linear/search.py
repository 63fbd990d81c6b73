"""Search for the best linear model of the inputs on held-out rows.

The linear part of the scores is made of it, and it tells early how much each view has to say about the targets. A fit
of it takes a small part of what one of the whole model takes, so what can be chosen by it is: the scaling of views
(`harmonium.linear.scaling`), how much each view weighs, the loss, and C. Where rows are few, Nystroem features may take
the place of numbers; that is no longer linear in them, and chosen only if it is clearly better.

Of values of C that are as good as the best, the smallest is taken: one whose held-out errors are larger by no more than
one standard error of the differences (the rule of Breiman, Friedman, Olshen & Stone 1984, Classification and regression
trees, §3.4.3, for pairs), and by no more than two percent. New rows differ more from training rows than held-out ones
do, and smaller weights suffer less.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from operator import attrgetter

import numpy as np
import scipy.sparse

from harmonium.core.targets import Targets
from harmonium.families import Family
from harmonium.linear.common_factors import CommonFactors, sampled
from harmonium.linear.comparison import is_better, mean_error
from harmonium.linear.curves import MAX_COLUMNS, Curves
from harmonium.linear.features import Preparation, PreparedViews
from harmonium.linear.scaling import Features
from harmonium.linear.skip import LinearPart
from harmonium.linear.solvers import LinearLoss, Path, Solution
from harmonium.linear.task import LinearTask
from harmonium.views.data import Data

# C: where the search begins, its factor, and the most steps in a direction. Conventions; rows have a length of about 1
# whatever the data, so that one beginning serves all.
_FIRST_C, _FACTOR, _MAX_STEPS = 1.0, 4.0, 6
# Errors of models that are as good as another, at most, as a multiple of its error: a convention. Where a few rows have
# most of the error, as prices do, one standard error allows for far more.
_LARGEST_LOSS = 1.02
# Factor by which a view's weight falls, and the smallest one that a view may have. Conventions.
_LIGHTER, _LIGHTEST = 0.25, 1 / 64
# Gamma of the kernel, in units of the typical squared distance: where its search begins, its factor, and how many steps
# it has in either direction; and where the search for C begins then. Conventions.
_FIRST_GAMMA, _GAMMA_FACTOR, _MAX_GAMMA_STEPS, _KERNEL_C = 1.0, 4.0, 2, 16.0
# Least squares are quick there, and about as good as machines.
_KERNEL_LOSS = LinearLoss("squares")
# Rows times dense views up to which Nystroem features are tried, which takes seconds then: a convention.
_FEW_ROWS = 20_000
# Numbers that the features may have together, in the end and to choose by: beyond, a model learns from a part of the
# rows. Conventions; they take about 12 bytes each.
_MAX_NUMBERS, _MAX_TO_CHOOSE = 50_000_000, 10_000_000
# Share of all rows that are left out at a time for scores like those of new rows: a convention.
_LEFT_OUT = 0.1
# Rows that have all views, at least, if other views are to say what a missing one would add: a convention.
_FEWEST_COMPLETE = 20

#: training rows and held-out rows of each fold
Folds = list[tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True)
class LinearSettings:
    """Settings of a linear model.

    Attributes
    ----------
    preparation : Preparation
        Preparation of the features.
    loss : LinearLoss
        One of the losses of the head.
    C : float
        Weight of the loss.
    weights : dict of str to float
        Weight of each view.
    """

    preparation: Preparation
    loss: LinearLoss
    C: float
    weights: dict[str, float]


@dataclass(frozen=True, eq=False)
class LinearModel:
    """A linear model of the inputs, and what it is worth on held-out rows.

    Attributes
    ----------
    settings : LinearSettings
        Its settings.
    scores : ndarray of shape (rows, outputs)
        Scores of the held-out rows, one fold after the other.
    errors : ndarray of shape (rows,)
        How wrong they are.
    error : float
        Their weighted mean.
    share_of_curves : float
        Share of curves in how much the scores vary; 0 if there are none.
    """

    settings: LinearSettings
    scores: np.ndarray
    errors: np.ndarray
    error: float
    share_of_curves: float = field(default=0.0, kw_only=True)

    @property
    def uses_kernel(self) -> bool:
        """Whether Nystroem features take the place of numbers."""
        return self.settings.preparation.gamma > 0

    def improves(self, other: LinearModel, rows: np.ndarray | slice, weight: np.ndarray) -> bool:
        """Return whether errors on some held-out rows are clearly smaller than another's."""
        return is_better(self.errors[rows], other.errors[rows], weight)

    def curves(self) -> tuple[Curves | None, np.ndarray] | None:
        """Return the curves that the scores have besides, and what they add to the bias; None if there are none."""
        return None


@dataclass
class LinearSearch:
    """Linear models that were tried on the held-out rows of some folds.

    Attributes
    ----------
    task : LinearTask
        What is predicted: a head.
    views : PreparedViews
        Features of all rows.
    all_targets : Targets
        Targets of all rows.
    folds : list of (ndarray, ndarray)
        Training rows and held-out rows of each fold.
    targets : Targets
        Targets of the held-out rows, one fold after the other.
    tried : list of LinearModel
        All models so far.
    curved : LinearModel, optional
        The best of them with curves, if there are any (`harmonium.linear.curve_search`).
    """

    task: LinearTask
    views: PreparedViews
    all_targets: Targets
    folds: Folds
    targets: Targets
    tried: list[LinearModel] = field(default_factory=list)
    curved: LinearModel | None = None
    _gains: list[tuple[LinearSettings, np.ndarray]] = field(default_factory=list)
    _paths: tuple[LinearSettings, list[tuple[Features, Path]]] | None = None

    def best(self, rows: np.ndarray | slice = slice(None)) -> LinearModel:
        """Return the model with the smallest error on some of the held-out rows, or a simpler one that is as good.

        A model that is linear in the inputs is simpler than one of Nystroem features, and one with a smaller C.
        """
        weight = self.targets.weight[rows]
        first, linear = self._lowest(rows, self.tried), self.best_without_kernel(rows)
        best = self.simplest(first if first.improves(linear, rows, weight) else linear, rows)
        return self.curved if self.curved is not None and self.curved.improves(best, rows, weight) else best

    def simplest(self, first: LinearModel, rows: np.ndarray | slice = slice(None)) -> LinearModel:
        """Return the model with the smallest C that is as good as a given one on some of the held-out rows."""
        weight = self.targets.weight[rows]
        alike = [
            model
            for model in self.tried
            if replace(model.settings, C=first.settings.C) == first.settings
            and not first.improves(model, rows, weight)
            and mean_error(model.errors[rows], weight) <= _LARGEST_LOSS * mean_error(first.errors[rows], weight)
        ]
        return min(alike, key=lambda model: model.settings.C)

    def best_without_kernel(self, rows: np.ndarray | slice = slice(None)) -> LinearModel:
        """Return the model with the smallest error on some of the held-out rows that is linear in the inputs."""
        return self._lowest(rows, [model for model in self.tried if not model.uses_kernel])

    @property
    def prefers_view_scale(self) -> bool:
        """Whether columns on their own scales are clearly better than columns that vary alike."""
        by_scale = [
            [model for model in self.tried if not model.uses_kernel and model.settings.preparation.data_scale == own]
            for own in (True, False)
        ]
        if not all(by_scale):
            return False
        own, alike = (min(models, key=lambda model: model.error) for models in by_scale)
        return is_better(own.errors, alike.errors, self.targets.weight)

    def _lowest(self, rows: np.ndarray | slice, models: list[LinearModel]) -> LinearModel:
        weight = self.targets.weight[rows]
        return models[int(np.argmin([mean_error(model.errors[rows], weight) for model in models]))]

    def linear_part(self, model: LinearModel, factor: np.ndarray) -> tuple[LinearPart, np.ndarray]:
        """Return the linear part whose scores are those of a model of all rows, times a factor, and the bias."""
        settings = model.settings
        everyone = np.arange(len(self.all_targets.weight))
        weights, bias = self._path(settings, self.features(settings), everyone, _MAX_NUMBERS)(settings.C)
        by_view = {name: part * factor for name, part in self.split(settings, weights).items()}
        part = LinearPart.of(
            self.views.scalers(settings.preparation), by_view, self.views.of_lacking(settings.preparation)
        )
        part = replace(part, common=self._common_factors(settings, by_view))
        found = model.curves()
        if found is None:
            return part, bias * factor
        curves, intercept = found
        means = {name: mean @ by_view[name] for name, mean in self.mean_features(settings).items()}
        if curves is not None:
            part = replace(part, curves=curves.scaled(factor).shifted(means))
        return part, (bias + intercept) * factor

    def _common_factors(self, settings: LinearSettings, weights: Mapping[str, np.ndarray]) -> CommonFactors | None:
        """Return the factors of what views add to the scores of rows, for weights of the features of each view.

        A view that rows lack here may have told what it means to lack it: others do not speak for it if held-out rows
        that lack something are clearly predicted worse then.
        """
        rows, lacking = np.arange(len(self.all_targets.weight)), self.views.lacking(settings.preparation)
        if not lacking:
            return self._factors(settings, weights, rows)
        complete = rows[~np.any(list(lacking.values()), axis=0)]
        if len(complete) >= _FEWEST_COMPLETE and not self._others_mislead(settings, complete, lacking):
            return self._factors(settings, weights, complete)
        return self._factors(settings, {name: part for name, part in weights.items() if name not in lacking}, rows)

    def _factors(
        self, settings: LinearSettings, weights: Mapping[str, np.ndarray], rows: np.ndarray
    ) -> CommonFactors | None:
        rows = sampled(rows, sum(part.shape[1] for part in weights.values()))
        return CommonFactors.of(self._added(settings, weights, rows))

    def _added(
        self, settings: LinearSettings, weights: Mapping[str, np.ndarray], rows: np.ndarray
    ) -> dict[str, np.ndarray]:
        """Return what each view adds to the scores of some rows."""
        features = self.views.by_view(settings.preparation)
        return {name: np.asarray(features[name][rows] @ part) for name, part in weights.items()}

    def _others_mislead(
        self, settings: LinearSettings, complete: np.ndarray, lacking: Mapping[str, np.ndarray]
    ) -> bool:
        """Return whether held-out rows that lack a view are predicted worse if the others say what it would add."""
        errors: list[np.ndarray] = []
        some = np.any(list(lacking.values()), axis=0)
        features = self.features(settings)
        for train, held in self.folds:
            held, known = held[some[held]], np.intersect1d(train, complete)
            solution, bias = self.solve(settings, features, train)
            weights = self.split(settings, solution)
            factors = self._factors(settings, weights, known) if len(known) else None
            if factors is None or not len(held):
                continue
            added = self._added(settings, weights, held)
            targets = self.all_targets.take(held)
            before = self.task.error(np.sum(list(added.values()), axis=0) + bias, targets.values)
            factors.complete(added, {name: lacking.get(name, np.zeros_like(some))[held] for name in added})
            after = self.task.error(np.sum(list(added.values()), axis=0) + bias, targets.values)
            errors.append(np.stack([after, before, targets.weight]))
        if not errors:
            return False
        after, before, weight = np.concatenate(errors, axis=1)
        return is_better(before, after, weight)

    def split(self, settings: LinearSettings, weights: np.ndarray) -> dict[str, np.ndarray]:
        """Return weights of the features of each view, as they are without the weight of the view."""
        scalers = self.views.scalers(settings.preparation)
        ends = np.cumsum([scaler.n_features for scaler in scalers.values()])
        # a view's weight belongs to the weights of its features, as rows of length 1 have no other scale
        parts = zip(scalers, np.split(weights, ends[:-1]), strict=True)
        return {name: part * settings.weights[name] for name, part in parts}

    def mean_features(self, settings: LinearSettings) -> dict[str, np.ndarray]:
        """Return the means of the features of each view over all rows, as they are without the weight of the view."""
        features = self.views.by_view(settings.preparation)
        return {name: np.asarray(part.mean(axis=0)).ravel() for name, part in features.items()}

    def run(self) -> None:
        """Choose preparation, loss and C, then the weights of the views, each on top of what was chosen before."""
        counts = self.views.count_something
        even = dict.fromkeys(self.views.families, 1.0)
        found = self._along_C(LinearSettings(Preparation(counts), self.task.linear.losses[0], _FIRST_C, even))
        if counts:
            found = self._better_prepared(found, use_idf=False)
        if self.views.vary_differently:
            found = self._better_prepared(found, data_scale=True)
        for loss in self.task.linear.losses[1:]:
            if self._suits(loss, found.settings.preparation):
                found = min(found, self._along_C(replace(found.settings, loss=loss)), key=attrgetter("error"))
        found = self._along_weights(found)
        if self.task.linear.allows_kernel and self._may_gain_by_kernel:
            self._along_gamma(found)

    @property
    def _may_gain_by_kernel(self) -> bool:
        """Whether rows are few, and curves cannot take the place of Nystroem features.

        Beside sparse views, what a few numbers have to say beyond a line is found by curves, in a part of the time.
        """
        dense = self.views.dense
        n_columns = sum(self.views.families[name].codec.n_columns for name in dense)
        curves_will_do = len(dense) < len(self.views.families) and n_columns <= MAX_COLUMNS
        return not curves_will_do and 0 < len(dense) * len(self.all_targets.weight) <= _FEW_ROWS

    def tuned(self, settings: LinearSettings) -> LinearModel:
        """Return the best model of some settings but C."""
        return self._along_C(settings)

    def _better_prepared(self, found: LinearModel, **changes: bool) -> LinearModel:
        """Return the better of a model and the best with other features."""
        other = replace(found.settings.preparation, **changes)
        return min(found, self._along_C(replace(found.settings, preparation=other)), key=attrgetter("error"))

    def _along_C(self, settings: LinearSettings) -> LinearModel:
        """Return the best of a line search."""
        found = self._try(settings)
        for factor in (1 / _FACTOR, _FACTOR):
            for _ in range(_MAX_STEPS):
                other = self._try(replace(settings, C=found.settings.C * factor))
                if other.error >= found.error:
                    break
                found = other
        return found

    def _along_weights(self, found: LinearModel) -> LinearModel:
        """Let single views weigh less, as long as that helps with the same C; then choose C anew."""
        first = found
        for name in self.views.families if len(self.views.families) > 1 else ():
            while found.settings.weights[name] > _LIGHTEST:
                lighter = found.settings.weights | {name: found.settings.weights[name] * _LIGHTER}
                if max(lighter.values()) < 1:
                    break
                other = self._try(replace(found.settings, weights=lighter))
                if not is_better(other.errors, found.errors, self.targets.weight):
                    break
                found = other
        return found if found is first else self._along_C(found.settings)

    def _along_gamma(self, found: LinearModel) -> None:
        """Let Nystroem features take the place of numbers, with another gamma as long as that helps."""
        even = dict.fromkeys(self.views.families, 1.0)
        settings = replace(found.settings, loss=_KERNEL_LOSS, C=_KERNEL_C, weights=even)

        def with_gamma(gamma: float, C: float) -> LinearModel:
            preparation = replace(settings.preparation, gamma=gamma)
            return self._along_C(replace(settings, preparation=preparation, C=C))

        best = with_gamma(_FIRST_GAMMA, _KERNEL_C)
        for factor in (1 / _GAMMA_FACTOR, _GAMMA_FACTOR):
            for _ in range(_MAX_GAMMA_STEPS):
                other = with_gamma(best.settings.preparation.gamma * factor, best.settings.C)
                if other.error >= best.error:
                    break
                best = other

    def _try(self, settings: LinearSettings) -> LinearModel:
        for model in self.tried:
            if model.settings == settings:
                return model
        solutions = [(held, path(settings.C)) for held, path in self._paths_of_folds(settings)]
        scores = np.concatenate([held @ weights + bias for held, (weights, bias) in solutions])
        errors = self.task.error(scores, self.targets.values)
        self.tried.append(LinearModel(settings, scores, errors, mean_error(errors, self.targets.weight)))
        return self.tried[-1]

    def features(self, settings: LinearSettings) -> Features:
        """Return the features of all rows."""
        return self.views.joined(settings.preparation, settings.weights)

    def _paths_of_folds(self, settings: LinearSettings) -> list[tuple[Features, Path]]:
        """Return features of the held-out rows, and models of the others by C, for each fold; kept for the next C."""
        settings = replace(settings, C=_FIRST_C)
        if self._paths is None or self._paths[0] != settings:
            self._paths = None  # they are large, and only one C after the other is looked at
            features = self.features(settings)
            found = [(features[held], self._path(settings, features, train)) for train, held in self.folds]
            self._paths = settings, found
        return self._paths[1]

    def solve(self, settings: LinearSettings, features: Features, rows: np.ndarray) -> Solution:
        """Return weights and bias of a linear model of some of the rows, to choose by."""
        return self._path(settings, features, rows)(settings.C)

    def _path(
        self, settings: LinearSettings, features: Features, rows: np.ndarray, max_numbers: int = _MAX_TO_CHOOSE
    ) -> Path:
        """Return a linear model of some of the rows by C."""
        size = features.nnz if scipy.sparse.issparse(features) else features.size
        max_rows = max(1, int(max_numbers * features.shape[0] / max(size, 1)))
        rows = rows[self.all_targets.counting[rows]]
        rows = rows[:: -(-len(rows) // max_rows)]
        return self.task.linear.path(features[rows], self.all_targets.take(rows), settings.loss)

    def scores_as_of_new_rows(self, model: LinearModel) -> np.ndarray:
        """Return scores of the held-out rows by models of nearly all other rows, with the settings of a model.

        Folds leave out up to half of the rows, and a linear model of so few is worse, and its scores are smaller, than
        the one of all rows that new rows meet. Curves stay those of the folds.
        """
        for settings, gain in self._gains:
            if settings == model.settings:
                return model.scores + gain
        settings, features = model.settings, self.features(model.settings)
        held, everyone = np.concatenate([rows for _, rows in self.folds]), np.arange(len(self.all_targets.weight))
        n_parts = max(1, round(len(held) / (_LEFT_OUT * self.all_targets.counting.sum())))
        by_chance = np.random.default_rng(0).permutation(len(held))
        gain = -self._try(settings).scores
        for part in np.array_split(by_chance, n_parts):
            weights, bias = self.solve(settings, features, np.setdiff1d(everyone, held[part]))
            gain[part] += features[held[part]] @ weights + bias
        self._gains.append((settings, gain))
        return model.scores + gain

    def _suits(self, loss: LinearLoss, preparation: Preparation) -> bool:
        n_features = sum(scaler.n_features for scaler in self.views.scalers(preparation).values())
        counted = self.views.count_something and preparation.use_idf
        return self.task.linear.suits(loss, len(self.all_targets.weight), n_features, counted)


def linear_search(task: LinearTask, families: Mapping[str, Family], data: Data, folds: Folds) -> LinearSearch:
    """Search for the best linear model of the inputs on the held-out rows of some folds."""
    targets = data.known_targets
    inputs = {name: family for name, family in families.items() if name not in task.added_views}
    inputs |= data.views.linear_families
    held_out = Targets.joined([targets.take(held) for _, held in folds])
    search = LinearSearch(task, PreparedViews(data, inputs), targets, folds, held_out)
    search.run()
    return search
