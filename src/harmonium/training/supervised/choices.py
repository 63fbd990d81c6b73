"""Choices on held-out rows: the rows themselves, the scale that numbers are learned on, and a refit of the head.

While a model is trained, rare classes move their weights only now and then, and the penalty holds them down. For fixed
topics the best weights are those of a linear model of the means, with a C of its own. Topics know the labels of the
rows they were trained on, so whether that is better, and for which C, is judged on held-out rows.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from harmonium.core.parameters import HEAD_BIAS, HEAD_WEIGHTS, Parameters
from harmonium.core.targets import Targets
from harmonium.heads import Head
from harmonium.linear.comparison import is_better, mean_error
from harmonium.linear.search import Folds, LinearSearch
from harmonium.objectives.problem import Problem
from harmonium.storage import serializable
from harmonium.training.plan import MANY_ROWS
from harmonium.training.state import Training
from harmonium.views.data import Data

# Labelled rows below which there are three folds: a convention. From here on a third one changed no error of thirds of
# training rows (hotels, wines, Reuters), and takes a quarter of the time.
_FEW_ROWS = 1500


def number_of_folds(n_rows: int) -> int:
    """Return in how many ways rows are held out, given how many there are."""
    if n_rows >= MANY_ROWS:
        return 1
    return 2 if n_rows >= _FEW_ROWS else max(2, min(3, n_rows))


def held_out_folds(targets: Targets, fraction: float, rng: np.random.Generator) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return (training rows, held-out rows) of each fold.

    Only rows with a target are held out. Classes are held out in proportion, as far as they have rows: of those with a
    few rows some are held out in each fold. If there is one fold, classes with a single row are not held out.
    """
    from sklearn.model_selection import KFold, ShuffleSplit, StratifiedKFold, StratifiedShuffleSplit

    labelled = np.flatnonzero(targets.counting)
    seed = int(rng.integers(2**31 - 1))
    codes = targets.column(0)[labelled]
    n_held = max(1, round(fraction * len(labelled)))
    several = number_of_folds(len(labelled)) > 1
    kept = np.arange(0)  # rows that stay in training: a class of one row cannot be on both sides
    by_class = np.issubdtype(codes.dtype, np.integer)
    if by_class:
        _, classes, sizes = np.unique(codes, return_inverse=True, return_counts=True)
        if not several:
            # two rows of a class are enough for both sides; the others are held out at random
            kept = np.flatnonzero(sizes[classes] < 2)
        n_classes = int((sizes > 1).sum())
        by_class = several or 2 <= n_classes <= min(n_held, len(labelled) - len(kept) - n_held)
    free = np.setdiff1d(np.arange(len(labelled)), kept)
    if several:
        number = number_of_folds(len(labelled))
        if by_class and sizes.max() >= number:
            splitter = StratifiedKFold(number, shuffle=True, random_state=seed)
        else:
            splitter, by_class = KFold(number, shuffle=True, random_state=seed), False
    else:
        kind = StratifiedShuffleSplit if by_class else ShuffleSplit
        splitter = kind(1, test_size=n_held, random_state=seed)
    everyone = np.arange(len(targets.weight))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The least populated class")  # it is spread as far as it goes
        splits = list(splitter.split(np.zeros((len(free), 1)), codes[free] if by_class else None))
    return [(np.setdiff1d(everyone, labelled[free[held]]), np.sort(labelled[free[held]])) for _, held in splits]


def on_better_scale(head: Head, search: LinearSearch) -> Head:
    """Return the head with targets on another scale if that is clearly better on the user's scale, else the same.

    The best linear model is fitted again to targets on each other scale, with a C of its own. Squared errors on the
    scale of the user are compared, by the rule of one standard error.
    """
    weight = search.targets.weight
    truth = head.outputs_.decoded(search.targets).values
    first = search.best_without_kernel()
    best, lowest = head, _squares(head.outputs_.predict(first.scores), truth)
    for other in head.other_scales(search.all_targets):
        held_out = rescaled(search.targets, head, other)
        trial = LinearSearch(other, search.views, rescaled(search.all_targets, head, other), search.folds, held_out)
        scores = trial.tuned(first.settings).scores
        errors = _squares(other.outputs_.calibrated(scores, held_out).predict(scores), truth)
        is_lower = mean_error(errors, weight) < mean_error(lowest, weight)
        if is_better(errors, lowest, weight) if best is head else is_lower:
            best, lowest = other, errors
    return best


def rescaled(targets: Targets, head: Head, other: Head) -> Targets:
    """Return targets of a head as another one takes them, whose scale is another."""
    return replace(targets, stored=other.outputs_.encoded(head.outputs_.decoded(targets)).stored)


def rescaled_data(data: Data, head: Head, other: Head) -> Data:
    """Return data with targets as another head takes them."""
    return replace(data, targets=rescaled(data.known_targets, head, other))


def _squares(predicted: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Return squared errors of rows in units of the variance, averaged over outputs; unknown ones are 0."""
    spread = np.nanstd(truth, axis=0)
    errors = np.where(np.isnan(truth), 0.0, predicted - truth) / np.where(spread > 0, spread, 1.0)
    return np.square(errors).mean(axis=1)


# Values of C to choose from: a convention. Means of units lie between 0 and 1, so that a row of them has a length of a
# few units.
_VALUES = (0.01, 0.1, 1.0)


@serializable
@dataclass(frozen=True, eq=False)
class HeadRefit:
    """A refitted head.

    Attributes
    ----------
    C : float
        Weight of the loss of the linear model of the means.
    scores : list of ndarray of shape (rows, outputs)
        Scores of the held-out rows of each fold.
    """

    C: float
    scores: list[np.ndarray]

    def apply(self, problem: Problem, data: Data, training: Training) -> Training:
        """Return a training whose head is refitted on all rows."""
        means = hidden_means(problem, data, training.result)
        weights, bias = _solved(problem, means, data.known_targets, self.C)
        refitted = {HEAD_WEIGHTS: weights.astype(np.float32), HEAD_BIAS: bias.astype(np.float32)}
        return replace(training, parameters=training.parameters | refitted)


def refit_head(
    problem: Problem, data: Data, folds: Folds, trained: Sequence[Parameters], scores: list[np.ndarray]
) -> HeadRefit | None:
    """Return how to refit the head; None if held-out rows do not say that it is better.

    ``trained`` are the parameters of each fold, and ``scores`` those of its held-out rows as the head is.
    """
    head, targets = problem.known_head, data.known_targets
    held = Targets.joined([targets.take(rows) for _, rows in folds])
    means = [hidden_means(problem, data, parameters) for parameters in trained]
    best, lowest = None, head.error(np.concatenate(scores), held.values)
    for C in _VALUES:
        found = []
        for (train, rows), mean in zip(folds, means, strict=True):
            weights, bias = _solved(problem, mean[train], targets.take(train), C)
            found.append(mean[rows] @ weights + bias)
        errors = head.error(np.concatenate(found), held.values)
        if is_better(errors, lowest, held.weight):
            best, lowest = HeadRefit(C, found), errors
    return best


def hidden_means(problem: Problem, data: Data, parameters: Parameters) -> np.ndarray:
    """Return E[h | x] of all rows."""
    energy = problem.energy
    layer = energy.layer(parameters)
    return np.concatenate(
        [
            layer.mean(
                energy.hidden_natural(parameters, problem.complete_to_predict(parameters, batch)).astype(np.float64)
            )
            for batch in Data(data.views).blocks(energy.families)
        ]
    )


def _solved(problem: Problem, means: np.ndarray, targets: Targets, C: float) -> tuple[np.ndarray, np.ndarray]:
    labelled = np.flatnonzero(targets.counting)
    return problem.known_head.linear.solve(means[labelled], targets.take(labelled), C)
