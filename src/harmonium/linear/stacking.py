"""Stacking of hidden units and linear model, so that a model is no worse than the linear model of the same inputs.

    scores = alpha · scores of the units + (1 - alpha) · scores of the linear model

Both are judged on rows that neither has seen, as units know the labels of the rows they were trained on. Alpha is the
middle one of those that are as good as the best on held-out rows, within one standard error of the differences: first
in errors, and of classes and labels then in likelihood.

Reference: Wolpert (1992), Stacked generalization.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from harmonium.core.parameters import HEAD_BIAS, HEAD_WEIGHTS, Parameters
from harmonium.core.targets import Targets
from harmonium.linear.comparison import is_better, mean_error
from harmonium.linear.search import LinearModel, LinearSearch
from harmonium.linear.skip import LinearPart
from harmonium.linear.task import Outputs, losses_of

# Values of alpha to choose from.
_ALPHAS = np.linspace(0, 1, 21)
# Standard errors by which the units have to improve the linear model on the first fold, so that they are tried on the
# others too: a convention. To be chosen in the end it takes one standard error on all folds.
_PROMISING = 0.5


@dataclass(frozen=True)
class Stack:
    """A linear part and its stacking with the units.

    Attributes
    ----------
    linear_part : LinearPart, optional
        Its scores are to be added to those of the units; None if the units alone are best.
    bias : ndarray of shape (outputs,)
        What else is to be added.
    alpha : float
        Stacking weight of the units, between 0 and 1.
    scores : ndarray of shape (rows, outputs)
        Scores of the held-out rows, one fold after the other; those of a fold by what the other folds choose, with a
        linear model of nearly all other rows.
    share_of_curves : float
        Share of curves in what the linear part adds.
    """

    linear_part: LinearPart | None
    bias: np.ndarray
    alpha: float
    scores: np.ndarray
    share_of_curves: float = 0.0

    @property
    def shares(self) -> dict[str, float]:
        """Shares of the linear part in the scores: of inputs, and of curves if there are any."""
        found = {"inputs": (1 - self.alpha) * (1 - self.share_of_curves)}
        return found | ({"curves": (1 - self.alpha) * self.share_of_curves} if self.share_of_curves else {})

    def weighted(self, parameters: Parameters) -> Parameters:
        """Return parameters whose head is multiplied by alpha."""
        weights = (self.alpha * parameters[HEAD_WEIGHTS]).astype(np.float32)
        bias = (self.alpha * parameters[HEAD_BIAS] + self.bias).astype(np.float32)
        return parameters | {HEAD_WEIGHTS: weights, HEAD_BIAS: bias}


def stacked(search: LinearSearch, scores: list[np.ndarray]) -> Stack:
    """Return the best linear part and alpha.

    ``scores`` are those of the units for the held-out rows of each fold, by models that have not seen them.
    """
    units = np.concatenate(scores)
    best = _choice(search, units, np.arange(len(units)))

    def scores_of_best(rows: np.ndarray) -> np.ndarray:
        choice = _choice(search, units, rows)
        return choice.mixed(units, search.scores_as_of_new_rows(choice.linear)[: len(units)])

    held_out = _by_other_folds([len(part) for part in scores], scores_of_best)
    if best.alpha == 1:
        return Stack(None, np.zeros(units.shape[1]), 1.0, held_out)
    part, bias = search.linear_part(best.linear, (1 - best.alpha) * best.factor)
    bias = bias + (1 - best.alpha) * best.shift
    return Stack(part, bias, best.alpha, held_out, best.linear.share_of_curves)


def linear_alone(search: LinearSearch) -> Stack:
    """Return the best linear part with an alpha of zero, as not all folds have scores of the units."""
    best = search.best()
    held_out = _by_other_folds(
        [len(held) for _, held in search.folds], lambda rows: search.scores_as_of_new_rows(search.best(rows))
    )
    part, bias = search.linear_part(best, np.ones(held_out.shape[1]))
    return Stack(part, bias, 0.0, held_out, best.share_of_curves)


def _by_other_folds(sizes: list[int], scores_of_best: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """Return scores of held-out rows, those of each fold by what is best on the others.

    Rows that help to choose look better than new ones.
    """
    rows = np.arange(sum(sizes))
    scores = scores_of_best(rows).copy()
    if len(sizes) > 1:
        for fold in np.split(rows, np.cumsum(sizes)[:-1]):
            scores[fold] = scores_of_best(np.setdiff1d(rows, fold))[fold]
    return scores


def may_help(search: LinearSearch, scores: np.ndarray) -> bool:
    """Return whether units promise to improve the linear model, by their scores of the first fold's held-out rows."""
    rows = np.arange(len(scores))
    targets = search.targets.take(rows)
    _, errors = _errors(search, scores, rows)
    best = errors[int(np.argmin([mean_error(each, targets.weight) for each in errors]))]
    return is_better(best, errors[0], targets.weight, by=_PROMISING)


@dataclass(frozen=True)
class _Choice:
    """A linear model, factor and shift that bring its scores to the scale of the units, and alpha."""

    linear: LinearModel
    factor: np.ndarray
    shift: np.ndarray
    alpha: float

    def scores(self, units: np.ndarray) -> np.ndarray:
        """Return scores of the first held-out rows, of which those of the units are given."""
        return self.mixed(units, self.linear.scores[: len(units)])

    def mixed(self, units: np.ndarray, linear: np.ndarray) -> np.ndarray:
        """Return scores of units and linear models, mixed."""
        return self.alpha * units + (1 - self.alpha) * (linear * self.factor + self.shift)


def _choice(search: LinearSearch, units: np.ndarray, rows: np.ndarray) -> _Choice:
    """Return what is best on some of the held-out rows."""
    weight = search.targets.weight[rows]
    choices, errors = _errors(search, units, rows)
    best = errors[int(np.argmin([mean_error(each, weight) for each in errors]))]
    as_good = [choice for choice, each in zip(choices, errors, strict=True) if not is_better(best, each, weight)]
    return _as_likely(search, as_good, units, rows)


def _as_likely(search: LinearSearch, choices: list[_Choice], units: np.ndarray, rows: np.ndarray) -> _Choice:
    """Return the middle one of the choices whose smooth loss on some held-out rows is as good as the smallest."""
    targets = search.targets.take(rows)
    found = [losses_of(search.task.outputs_, choice.scores(units)[rows], targets) for choice in choices]
    losses = [each for each in found if each is not None]
    if losses:
        best = losses[int(np.argmin([mean_error(each, targets.weight) for each in losses]))]
        as_likely = [not is_better(best, each, targets.weight) for each in losses]
        choices = [choice for choice, kept in zip(choices, as_likely, strict=True) if kept]
    return choices[len(choices) // 2]


def _errors(search: LinearSearch, units: np.ndarray, rows: np.ndarray) -> tuple[list[_Choice], np.ndarray]:
    """Return all values of alpha, and the errors of some held-out rows with each."""
    task, targets = search.task, search.targets.take(rows)
    linear = search.best(rows)
    factor, shift = matching_scale(task.outputs_, units[rows], linear.scores[rows], targets)
    choices = [_Choice(linear, factor, shift, float(alpha)) for alpha in _ALPHAS]
    errors = [task.error(each.scores(units)[rows], targets.values) for each in choices]
    return choices, _smooth(np.stack(errors))


def matching_scale(
    outputs: Outputs, units: np.ndarray, linear: np.ndarray, targets: Targets
) -> tuple[np.ndarray, np.ndarray]:
    """Return factor and shift that bring linear scores to the scale of those of the units."""
    scale, shift = outputs.comparable(units, targets.as_rows())
    own_scale, own_shift = outputs.comparable(linear, targets.as_rows())
    return own_scale / scale, (own_shift - shift) / scale


def _smooth(errors: np.ndarray) -> np.ndarray:
    """Return errors of each alpha averaged with those of its neighbours, as single ones are noisy."""
    padded = np.pad(errors, ((1, 1), (0, 0)), mode="edge")
    return (padded[:-2] + 2 * padded[1:-1] + padded[2:]) / 4
