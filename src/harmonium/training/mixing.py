"""Mixing the topics with a direct path, so that a model is no worse than the linear model of the same inputs.

Both are judged on rows that neither has seen, as topics know the labels of the rows they were trained on. The share of
the topics (1 leaves them alone, 0 is the linear model) is the smallest one that is as good as the best on held-out
rows, within one standard error of the differences: when in doubt, the linear model, which new rows surprise less.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from harmonium.heads.direct import DirectPath
from harmonium.heads.outputs import Outputs
from harmonium.params import HEAD_BIAS, HEAD_WEIGHTS, Parameters
from harmonium.targets import Targets
from harmonium.training.linear_search import LinearModel, LinearSearch
from harmonium.training.one_standard_error import is_better, mean_error

# Shares of the topics to choose from.
_SHARES = np.linspace(0, 1, 21)
# Standard errors by which the topics have to improve the linear model on the first fold, so that they are tried on the
# others too: a convention. To be chosen in the end it takes one standard error on all folds.
_PROMISING = 0.5


@dataclass(frozen=True)
class Mixture:
    """A direct path and how to mix it with the topics.

    Attributes
    ----------
    path : DirectPath, optional
        Its scores are to be added to those of the topics; None if the topics alone are best.
    bias : ndarray of shape (outputs,)
        What else is to be added.
    share : float
        Factor of the weights and the bias of the topics, between 0 and 1.
    scores : ndarray of shape (rows, outputs)
        Scores of the held-out rows, one fold after the other; those of a fold by what the other folds choose.
    """

    path: DirectPath | None
    bias: np.ndarray
    share: float
    scores: np.ndarray

    def mixed(self, parameters: Parameters) -> Parameters:
        """Return parameters whose head has its share."""
        weights = (self.share * parameters[HEAD_WEIGHTS]).astype(np.float32)
        bias = (self.share * parameters[HEAD_BIAS] + self.bias).astype(np.float32)
        return parameters | {HEAD_WEIGHTS: weights, HEAD_BIAS: bias}


def mixture(search: LinearSearch, scores: list[np.ndarray]) -> Mixture:
    """Return the best direct path and mixture.

    ``scores`` are those of the topics for the held-out rows of each fold, by models that have not seen them.
    """
    topics = np.concatenate(scores)
    best = _choice(search, topics, np.arange(len(topics)))
    held_out = _by_other_folds(
        [len(part) for part in scores], lambda rows: _choice(search, topics, rows).scores(topics)
    )
    if best.share == 1:
        return Mixture(None, np.zeros(topics.shape[1]), 1.0, held_out)
    path, bias = search.path(best.linear, (1 - best.share) * best.factor)
    return Mixture(path, bias + (1 - best.share) * best.move, best.share, held_out)


def linear_alone(search: LinearSearch) -> Mixture:
    """Return the best direct path with a share of zero for the topics, of which not all folds have scores."""
    best = search.best()
    held_out = _by_other_folds([len(held) for _, held in search.folds], lambda rows: search.best(rows).scores)
    return Mixture(*search.path(best, np.ones(held_out.shape[1])), 0.0, held_out)


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
    """Return whether topics promise to improve the linear model, by their scores of the first fold's held-out rows."""
    rows = np.arange(len(scores))
    targets = search.targets.take(rows)
    _, errors = _errors(search, scores, rows)
    best = errors[int(np.argmin([mean_error(each, targets.weight) for each in errors]))]
    return is_better(best, errors[0], targets.weight, by=_PROMISING)


@dataclass(frozen=True)
class _Choice:
    """A linear model, how its scores are brought to the scale of the topics, and the share of the topics."""

    linear: LinearModel
    factor: np.ndarray
    move: np.ndarray
    share: float

    def scores(self, topics: np.ndarray) -> np.ndarray:
        """Return scores of the first held-out rows, of which those of the topics are given."""
        linear = self.linear.scores[: len(topics)]
        return self.share * topics + (1 - self.share) * (linear * self.factor + self.move)


def _choice(search: LinearSearch, topics: np.ndarray, rows: np.ndarray) -> _Choice:
    """Return what is best on some of the held-out rows."""
    weight = search.targets.weight[rows]
    choices, errors = _errors(search, topics, rows)
    best = errors[int(np.argmin([mean_error(each, weight) for each in errors]))]
    # the first, which has the least of the topics, that is as good as the best
    return next(choice for choice, each in zip(choices, errors, strict=True) if not is_better(best, each, weight))


def _errors(search: LinearSearch, topics: np.ndarray, rows: np.ndarray) -> tuple[list[_Choice], np.ndarray]:
    """Return all shares of the topics, and the errors of some held-out rows with each."""
    head, targets = search.head, search.targets.take(rows)
    linear = search.best(rows)
    factor, move = on_the_scale(head.outputs_, topics[rows], linear.scores[rows], targets)
    choices = [_Choice(linear, factor, move, float(share)) for share in _SHARES]
    errors = [head.error(each.scores(topics)[rows], targets.values) for each in choices]
    return choices, _smooth(np.stack(errors))


def on_the_scale(
    outputs: Outputs, topics: np.ndarray, linear: np.ndarray, targets: Targets
) -> tuple[np.ndarray, np.ndarray]:
    """Return factor and shift that bring linear scores to the scale of those of the topics."""
    scale, shift = outputs.comparable(topics, targets.as_rows())
    own_scale, own_shift = outputs.comparable(linear, targets.as_rows())
    return own_scale / scale, (own_shift - shift) / scale


def _smooth(errors: np.ndarray) -> np.ndarray:
    """Return errors of each share averaged with those of its neighbours, as single ones are noisy."""
    padded = np.pad(errors, ((1, 1), (0, 0)), mode="edge")
    return (padded[:-2] + 2 * padded[1:-1] + padded[2:]) / 4
