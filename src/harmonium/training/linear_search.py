"""The best linear model of the inputs, chosen on held-out rows.

It is what the direct path of a head is made of, and it tells early how much each view has to say about the targets. A
fit of it takes a small part of what one of the whole model takes, so what can be chosen by it is: how views become
features (`harmonium.heads.footing`), how much each view weighs, which loss it has, and its C. Where rows are few,
numbers may also be described by their resemblance to known rows; that is no longer linear in them, and taken only if it
is clearly better.

Of values of C that are as good as the best, the smallest is taken: one whose held-out errors are larger by no more than
one standard error of the differences (the rule of Breiman, Friedman, Olshen & Stone 1984, Classification and regression
trees, §3.4.3, for pairs). New rows differ more from training rows than held-out ones do, and smaller weights suffer
less.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import scipy.sparse

from harmonium.heads import Head
from harmonium.heads.direct import DirectPath
from harmonium.heads.footing import Features
from harmonium.heads.linear_models import LinearLoss, Solution
from harmonium.objectives.problem import Problem
from harmonium.targets import Targets
from harmonium.training.linear_features import Preparation, PreparedViews
from harmonium.training.one_standard_error import is_better, mean_error
from harmonium.views.data import Data

# C: where the search begins, its factor, and the most steps in a direction. Conventions; rows have a length of about 1
# whatever the data, so that one beginning serves all.
_FIRST_C, _FACTOR, _MOST_STEPS = 1.0, 4.0, 6
# Factor by which a view's weight falls, and the smallest one that a view may have. Conventions.
_LIGHTER, _LIGHTEST = 0.25, 1 / 64
# Precision of resemblance, in units of the typical squared distance: where its search begins, its factor, and how many
# steps it has in either direction; and where the search for C begins then. Conventions.
_FIRST_CURVE, _BENDING, _MOST_BENDS, _CURVED_C = 1.0, 4.0, 2, 16.0
# Rows times views of numbers up to which resemblance is tried, which takes seconds then: a convention.
_FEW_ROWS = 20_000
# Numbers that the features may have together: beyond, the model learns from a part of the rows. A convention; they take
# about 12 bytes each.
_MOST_NUMBERS = 50_000_000

#: training rows and held-out rows of each fold
Folds = list[tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True)
class Settings:
    """What a linear model is made with.

    Attributes
    ----------
    preparation : Preparation
        How views become features.
    loss : LinearLoss
        One of the ``direct_losses`` of the head.
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
    settings : Settings
        What it is made with.
    scores : ndarray of shape (rows, outputs)
        Scores of the held-out rows, one fold after the other.
    errors : ndarray of shape (rows,)
        How wrong they are.
    error : float
        Their weighted mean.
    """

    settings: Settings
    scores: np.ndarray
    errors: np.ndarray
    error: float

    @property
    def is_curved(self) -> bool:
        """Whether it goes by resemblance to known rows."""
        return self.settings.preparation.curve > 0


@dataclass
class LinearSearch:
    """Linear models that were tried on the held-out rows of some folds.

    Attributes
    ----------
    head : Head
        What is predicted.
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
    """

    head: Head
    views: PreparedViews
    all_targets: Targets
    folds: Folds
    targets: Targets
    tried: list[LinearModel] = field(default_factory=list)

    def best(self, rows: np.ndarray | slice = slice(None)) -> LinearModel:
        """Return the model with the smallest error on some of the held-out rows, or a simpler one that is as good.

        A model of the inputs themselves is simpler than one of resemblances, and one with a smaller C.
        """
        weight = self.targets.weight[rows]
        first, straight = self._lowest(rows, self.tried), self.best_straight(rows)
        if not is_better(first.errors[rows], straight.errors[rows], weight):
            first = straight
        alike = [
            model
            for model in self.tried
            if replace(model.settings, C=first.settings.C) == first.settings
            and not is_better(first.errors[rows], model.errors[rows], weight)
        ]
        return min(alike, key=lambda model: model.settings.C)

    def best_straight(self, rows: np.ndarray | slice = slice(None)) -> LinearModel:
        """Return the one with the smallest error on some of the held-out rows among models of the inputs themselves."""
        return self._lowest(rows, [model for model in self.tried if not model.is_curved])

    def _lowest(self, rows: np.ndarray | slice, models: list[LinearModel]) -> LinearModel:
        weight = self.targets.weight[rows]
        return models[int(np.argmin([mean_error(model.errors[rows], weight) for model in models]))]

    def path(self, model: LinearModel, factor: np.ndarray) -> tuple[DirectPath, np.ndarray]:
        """Return the direct path whose scores are those of a model of all rows, times a factor, and the bias."""
        settings = model.settings
        features = self.views.joined(settings.preparation, settings.weights)
        weights, bias = self._solve(settings, features, np.arange(len(self.all_targets.weight)))
        # a view's weight belongs to the weights of its features, as rows of length 1 have no other scale
        footings = self.views.footings(settings.preparation)
        by_view = [np.full(footing.n_features, settings.weights[name]) for name, footing in footings.items()]
        weights = np.concatenate(by_view)[:, None] * weights * factor
        return DirectPath.of(footings, weights, self.views.of_lacking(settings.preparation)), bias * factor

    def run(self) -> None:
        """Choose preparation, loss and C, then the weights of the views, each on top of what was chosen before."""
        counts = self.views.count_something
        even = dict.fromkeys(self.views.families, 1.0)
        found = self._along_C(Settings(Preparation(counts), self.head.direct_losses[0], _FIRST_C, even))
        if counts:
            found = self._better_prepared(found, by_rarity=False)
        if self.views.vary_differently:
            found = self._better_prepared(found, own_scale=True)
        for loss in self.head.direct_losses[1:]:
            if self._suits(loss, found.settings.preparation):
                found = min(found, self._along_C(replace(found.settings, loss=loss)), key=_error)
        found = self._along_weights(found)
        is_small = 0 < len(self.views.dense) * len(self.all_targets.weight) <= _FEW_ROWS
        if is_small and self.head.may_go_by_resemblance:
            self._along_curves(found)

    def _better_prepared(self, found: LinearModel, **changes: bool) -> LinearModel:
        """Return the better of a model and the best with other features."""
        other = replace(found.settings.preparation, **changes)
        return min(found, self._along_C(replace(found.settings, preparation=other)), key=_error)

    def _along_C(self, settings: Settings) -> LinearModel:
        """Return the best of a line search."""
        found = self._try(settings)
        for factor in (1 / _FACTOR, _FACTOR):
            for _ in range(_MOST_STEPS):
                other = self._try(replace(settings, C=found.settings.C * factor))
                if other.error >= found.error:
                    break
                found = other
        return found

    def _along_weights(self, found: LinearModel) -> LinearModel:
        """Let single views weigh less, as long as that helps."""
        for name in self.views.families if len(self.views.families) > 1 else ():
            while found.settings.weights[name] > _LIGHTEST:
                lighter = found.settings.weights | {name: found.settings.weights[name] * _LIGHTER}
                if max(lighter.values()) < 1:
                    break
                other = self._along_C(replace(found.settings, weights=lighter))
                if not is_better(other.errors, found.errors, self.targets.weight):
                    break
                found = other
        return found

    def _along_curves(self, found: LinearModel) -> None:
        """Let resemblance take the place of numbers, with another precision as long as that helps."""
        even = dict.fromkeys(self.views.families, 1.0)
        settings = replace(found.settings, loss=self.head.curved_loss, C=_CURVED_C, weights=even)

        def with_curve(curve: float, C: float) -> LinearModel:
            bent = replace(settings.preparation, curve=curve)
            return self._along_C(replace(settings, preparation=bent, C=C))

        best = with_curve(_FIRST_CURVE, _CURVED_C)
        for factor in (1 / _BENDING, _BENDING):
            for _ in range(_MOST_BENDS):
                other = with_curve(best.settings.preparation.curve * factor, best.settings.C)
                if other.error >= best.error:
                    break
                best = other

    def _try(self, settings: Settings) -> LinearModel:
        for model in self.tried:
            if model.settings == settings:
                return model
        features, parts = self.views.joined(settings.preparation, settings.weights), []
        for train, held in self.folds:
            weights, bias = self._solve(settings, features, train)
            parts.append(features[held] @ weights + bias)
        scores = np.concatenate(parts)
        errors = self.head.error(scores, self.targets.values)
        self.tried.append(LinearModel(settings, scores, errors, mean_error(errors, self.targets.weight)))
        return self.tried[-1]

    def _solve(self, settings: Settings, features: Features, rows: np.ndarray) -> Solution:
        rows = rows[self.all_targets.counting[rows]]
        rows = rows[:: -(-len(rows) // _most_rows(features))]
        return self.head.solve_direct(features[rows], self.all_targets.take(rows), settings.C, settings.loss)

    def _suits(self, loss: LinearLoss, preparation: Preparation) -> bool:
        n_features = sum(footing.n_features for footing in self.views.footings(preparation).values())
        counted = self.views.count_something and preparation.by_rarity
        return self.head.suits_direct(loss, len(self.all_targets.weight), n_features, counted)


def linear_search(problem: Problem, data: Data, folds: Folds) -> LinearSearch:
    """Search for the best linear model of the inputs on the held-out rows of some folds."""
    head, targets = problem.head, data.targets
    assert head is not None
    assert targets is not None
    families = {name: family for name, family in problem.energy.families.items() if name not in head.view_names}
    held_out = Targets.joined([targets.take(held) for _, held in folds])
    search = LinearSearch(head, PreparedViews(data, families), targets, folds, held_out)
    search.run()
    return search


def _most_rows(features: Features) -> int:
    n_rows, n_features = features.shape
    size = features.nnz if scipy.sparse.issparse(features) else n_rows * n_features
    return max(1, int(_MOST_NUMBERS * n_rows / max(size, 1)))


def _error(model: LinearModel) -> float:
    return model.error
