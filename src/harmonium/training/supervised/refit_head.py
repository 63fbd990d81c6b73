"""Refit of a head: where classes are uneven, the convex problem on the latent means is solved to its optimum.

While a model is trained, rare classes move their weights only now and then, and the penalty holds them down. For fixed
topics the best weights are those of a linear model of the means, with a C of its own. Topics know the labels of the
rows they were trained on, so whether that is better, and for which C, is judged on held-out rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from harmonium.core.parameters import HEAD_BIAS, HEAD_WEIGHTS, Parameters
from harmonium.core.targets import Targets
from harmonium.linear.comparison import is_better
from harmonium.linear.search import Folds
from harmonium.objectives.problem import Problem
from harmonium.storage import serializable
from harmonium.training.state import Training
from harmonium.views.data import Data

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
