"""The best linear model of the inputs, chosen on held-out rows.

It is what the direct path of a head is made of, and it tells early how much each view has to say about the targets. A
fit of it takes a small part of what one of the whole model takes, so what can be chosen by it is: how views become
features (`harmonium.heads.footing`), how much each view weighs, which loss it has, and its C.

Of values of C that are as good as the best, the smallest is taken: one whose held-out errors are larger by no more than
one standard error of the differences (the rule of Breiman, Friedman, Olshen & Stone 1984, Classification and regression
trees, §3.4.3, for pairs). New rows differ more from training rows than held-out ones do, and smaller weights suffer
less.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import scipy.sparse

from harmonium.families import Family
from harmonium.heads import Head
from harmonium.heads.direct import DirectPath, side_by_side
from harmonium.heads.footing import Features, Footing
from harmonium.heads.linear_models import Solution
from harmonium.objectives.problem import Problem
from harmonium.targets import Targets
from harmonium.training.comparing import is_better, mean_error
from harmonium.views.data import Data

# C: where the search begins, its factor, and the most steps in a direction. Conventions; rows have a length of about 1
# whatever the data, so that one beginning serves all.
_FIRST_C, _FACTOR, _MOST_STEPS = 1.0, 4.0, 6
# Factor by which a view's weight falls, and the smallest one that a view may have. Conventions.
_LIGHTER, _LIGHTEST = 0.25, 1 / 64
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
    by_rarity : bool
        Whether rare features of views that count something weigh more, and their rows have length 1.
    loss : str
        One of the ``direct_losses`` of the head.
    C : float
        Weight of the loss.
    weights : dict of str to float
        Weight of each view.
    """

    by_rarity: bool
    loss: str
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


@dataclass
class LinearSearch:
    """Linear models that were tried on the held-out rows of some folds.

    Attributes
    ----------
    head : Head
        What is predicted.
    data : Data
        Views and targets of all rows.
    folds : list of (ndarray, ndarray)
        Training rows and held-out rows of each fold.
    families : dict of str to Family
        Families of the views that are inputs.
    targets : Targets
        Targets of the held-out rows, one fold after the other.
    tried : list of LinearModel
        All models so far.
    """

    head: Head
    data: Data
    folds: Folds
    families: dict[str, Family]
    targets: Targets
    tried: list[LinearModel] = field(default_factory=list)
    _features: dict[bool, dict[str, Features]] = field(default_factory=dict)
    _footings: dict[bool, dict[str, Footing]] = field(default_factory=dict)

    def best(self, rows: np.ndarray | slice = slice(None)) -> LinearModel:
        """Return the model with the smallest error on some of the held-out rows, or one with a smaller C as good."""
        weight = self.targets.weight[rows]
        means = [mean_error(model.errors[rows], weight) for model in self.tried]
        first = self.tried[int(np.argmin(means))]
        alike = [
            model
            for model in self.tried
            if replace(model.settings, C=first.settings.C) == first.settings
            and not is_better(first.errors[rows], model.errors[rows], weight)
        ]
        return min(alike, key=lambda model: model.settings.C)

    def path(self, model: LinearModel, factor: np.ndarray) -> tuple[DirectPath, np.ndarray]:
        """Return the direct path whose scores are those of a model of all rows, times a factor, and the bias."""
        settings = model.settings
        weights, bias = self._solve(settings, self._of(settings), np.arange(len(self.data)))
        # a view's weight belongs to the weights of its features, as rows of length 1 have no other scale
        lengths = [footing.scale.shape for footing in self._footings[settings.by_rarity].values()]
        by_view = [np.full(length, settings.weights[name]) for name, length in zip(self.families, lengths, strict=True)]
        weights = np.concatenate(by_view)[:, None] * weights * factor
        means = {
            name: np.asarray(part.mean(axis=0)).ravel() for name, part in self._features[settings.by_rarity].items()
        }
        return DirectPath.of(self._footings[settings.by_rarity], weights, means), bias * factor

    def run(self) -> None:
        """Choose loss, footing and C, then the weights of the views, each on top of what was chosen before."""
        counts = any(family.counts_something for family in self.families.values())
        even = dict.fromkeys(self.families, 1.0)
        first = Settings(counts, self.head.direct_losses[0], _FIRST_C, even)
        found = self._along_C(first)
        if counts:
            found = min(found, self._along_C(replace(found.settings, by_rarity=False)), key=_error)
        for loss in self.head.direct_losses[1:]:
            if self._is_quick(loss):
                found = min(found, self._along_C(replace(found.settings, loss=loss)), key=_error)
        self._along_weights(found)

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

    def _along_weights(self, found: LinearModel) -> None:
        """Let single views weigh less, as long as that helps."""
        for name in self.families if len(self.families) > 1 else ():
            while found.settings.weights[name] > _LIGHTEST:
                lighter = found.settings.weights | {name: found.settings.weights[name] * _LIGHTER}
                if max(lighter.values()) < 1:
                    break
                other = self._along_C(replace(found.settings, weights=lighter))
                if not is_better(other.errors, found.errors, self.targets.weight):
                    break
                found = other

    def _try(self, settings: Settings) -> LinearModel:
        for model in self.tried:
            if model.settings == settings:
                return model
        features, parts = self._of(settings), []
        for train, held in self.folds:
            weights, bias = self._solve(settings, features, train)
            parts.append(features[held] @ weights + bias)
        scores = np.concatenate(parts)
        errors = self.head.error(scores, self.targets.values)
        self.tried.append(LinearModel(settings, scores, errors, mean_error(errors, self.targets.weight)))
        return self.tried[-1]

    def _solve(self, settings: Settings, features: Features, rows: np.ndarray) -> Solution:
        targets = self.data.targets
        assert targets is not None
        rows = rows[targets.counting[rows]]
        rows = rows[:: -(-len(rows) // _most_rows(features))]
        return self.head.solve_direct(features[rows], targets.take(rows), settings.C, settings.loss)

    def _is_quick(self, loss: str) -> bool:
        n_features = sum(family.n_features_ for family in self.families.values())
        return self.head.is_quick(loss, len(self.data), n_features)

    def _of(self, settings: Settings) -> Features:
        """Return the features of all rows."""
        if settings.by_rarity not in self._features:
            self._learn(settings.by_rarity)
        parts = self._features[settings.by_rarity]
        weights = settings.weights
        return side_by_side([part if weights[name] == 1 else part * weights[name] for name, part in parts.items()])

    def _learn(self, by_rarity: bool) -> None:
        footings = {
            name: Footing.learned(family, (batch.views[name] for batch in self.data.blocks(self.families)), by_rarity)
            for name, family in self.families.items()
        }
        self._footings[by_rarity] = footings
        self._features[by_rarity] = _features(self.data, footings, self.families)


def linear_search(problem: Problem, data: Data, folds: Folds) -> LinearSearch:
    """Search for the best linear model of the inputs on the held-out rows of some folds."""
    head, targets = problem.head, data.targets
    assert head is not None
    assert targets is not None
    families = {name: family for name, family in problem.energy.families.items() if name not in head.view_names}
    search = LinearSearch(head, data, folds, families, Targets.joined([targets.take(held) for _, held in folds]))
    search.run()
    return search


def _features(data: Data, footings: dict[str, Footing], families: Mapping[str, Family]) -> dict[str, Features]:
    """Return the features of all rows, by view."""
    blocks: dict[str, list[Features]] = {name: [] for name in footings}
    for batch in data.blocks(families):
        for name, footing in footings.items():
            blocks[name].append(footing.features(families[name], batch.views[name]))
    return {
        name: scipy.sparse.csr_array(scipy.sparse.vstack(parts, format="csr"))
        if scipy.sparse.issparse(parts[0])
        else np.concatenate(parts)
        for name, parts in blocks.items()
    }


def _most_rows(features: Features) -> int:
    n_rows, n_features = features.shape
    size = features.nnz if scipy.sparse.issparse(features) else n_rows * n_features
    return max(1, int(_MOST_NUMBERS * n_rows / max(size, 1)))


def _error(model: LinearModel) -> float:
    return model.error
