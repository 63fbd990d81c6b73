"""Topics beside the units that predict, in one energy.

The units that a loss moves are trained first, without topics: what they learn, and which settings suit them, does not
depend on the topics. Then topics learn by the likelihood alone what these units leave to explain; the units that
predict are held where they are. So topics do not know the labels, and a linear model of the topics can be judged on
held-out rows like any other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from harmonium.core.parameters import HEAD, HEAD_BIAS, HEAD_WEIGHTS, HIDDEN_BIAS, Parameters, bias_of, record
from harmonium.core.targets import Targets
from harmonium.energy import Energy
from harmonium.heads.base import Head
from harmonium.hidden.layers.composed import with_frozen_dimensions
from harmonium.linear.comparison import is_better, mean_error
from harmonium.linear.search import Folds
from harmonium.linear.stacking import matching_scale
from harmonium.linear.task import losses_of
from harmonium.objectives import SampledCD
from harmonium.objectives.problem import Problem
from harmonium.training.drivers.projection import project
from harmonium.training.initialise import initial_parameters
from harmonium.training.plan import Plan, default_driver
from harmonium.training.state import Training
from harmonium.views.data import Data

# Values of C of the linear model of the topics' means: a convention. Means lie between 0 and 1, one or two in a row.
_VALUES = (0.1, 1.0, 10.0)
# Shares of the topics in the scores to choose from, and how many of them topics may have though nothing is gained.
_SHARES, _N_HARMLESS = np.arange(1, 11) / 20, 4


def composed_start(whole: Problem, trained: Training, data: Data, rng: np.random.Generator) -> Training:
    """Return a training of all units: topics as they begin, and the others as they were trained.

    A head is no part of it.
    """
    energy = Energy(whole.energy.families, whole.energy.hidden.groups.topics)
    begun, learned = initial_parameters(energy, data.views, whole.reference, rng, guide=whole.guide), trained.result
    project(energy, begun)
    parameters: Parameters = {}
    for name, value in learned.items():
        axis = record(name).unit_axis
        if record(name).owner != HEAD:
            parameters[name] = value.copy() if axis is None else np.concatenate([begun[name], value], axis=axis)
    for name, family in whole.energy.families.items():
        # the means of the views stay as they are if biases make up for what the average item has of the topics
        marginal = family.natural_from_mean(whole.reference[name].astype(np.float64))
        parameters[bias_of(name)] += (begun[bias_of(name)] - marginal).astype(np.float32)
    return Training(parameters)


def learn_topics(whole: Problem, data: Data, training: Training, plan: Plan, rng: np.random.Generator) -> None:
    """Train the topics, in place; all other units are held."""
    hidden = whole.energy.hidden
    held = Energy(whole.energy.families, with_frozen_dimensions(hidden, training.parameters))
    problem = replace(whole, energy=held, head=None, loss_weight=0.0)
    objective = SampledCD() if plan.objective.weighs_labels else plan.objective
    driver = plan.driver.alike(default_driver(hidden.groups.topics, has_head=False))
    replace(plan, objective=objective, driver=driver).train(problem, Data(data.views), training, rng)


def with_head(composed: Parameters, trained: Parameters) -> Parameters:
    """Return parameters of all units with the head of those that predict; topics have weights of zero in it."""
    head = {name: value for name, value in trained.items() if record(name).owner == HEAD}
    if HEAD_WEIGHTS in head:
        n_topics = len(composed[HIDDEN_BIAS]) - len(head[HEAD_WEIGHTS])
        head[HEAD_WEIGHTS] = np.pad(head[HEAD_WEIGHTS], ((n_topics, 0), (0, 0)))
    return composed | head


@dataclass(frozen=True)
class TopicScores:
    """A linear model of the topics' means, and its share in the scores.

    Attributes
    ----------
    share : float
        Share of the scores that comes from the topics.
    weights : ndarray of shape (topics, outputs)
        Weights of the topics, on the scale of the other scores.
    bias : ndarray of shape (outputs,)
        What goes with them.
    scores : ndarray of shape (rows, outputs)
        Scores of the held-out rows with that share.
    """

    share: float
    weights: np.ndarray
    bias: np.ndarray
    scores: np.ndarray

    def mixed(self, parameters: Parameters) -> Parameters:
        """Return parameters in which the topics have their share; a linear part has to give way as much."""
        weights = (1 - self.share) * parameters[HEAD_WEIGHTS]
        weights[: len(self.weights)] = self.share * self.weights
        bias = (1 - self.share) * parameters[HEAD_BIAS] + self.share * self.bias
        return parameters | {HEAD_WEIGHTS: weights.astype(np.float32), HEAD_BIAS: bias.astype(np.float32)}


def topic_scores(
    head: Head, means: np.ndarray, targets: Targets, folds: Folds, scores: np.ndarray, must_help: bool = False
) -> TopicScores | None:
    """Return a linear model of the topics with its share in the scores; None if topics have no say.

    The share is the best one if it is clearly better than none; otherwise as large as it can be, up to a fifth, without
    a held-out row being predicted worse, or less likely, on average, unless topics ``must_help``. ``means`` are
    E[h | x] of the topics for all rows, and ``scores`` those of the held-out rows without topics.
    """
    targets = targets.as_rows()
    held = Targets.joined([targets.take(rows) for _, rows in folds])
    alone, C = best_linear_scores(head, means, targets, folds)
    factor, move = matching_scale(head.outputs_, scores, alone, held)
    mixed = [(1 - share) * scores + share * (alone * factor + move) for share in (0.0, *_SHARES)]
    errors = [head.error(one, held.values) for one in mixed]
    means_of_errors = np.array([mean_error(one, held.weight) for one in errors])
    chosen = int(np.argmin(means_of_errors))
    if not is_better(errors[chosen], errors[0], held.weight):
        harmless = mixed[: 1 if must_help else _N_HARMLESS + 1]
        chosen = _largest_harmless(head, harmless, errors, held)
    if chosen == 0:
        return None
    known = np.flatnonzero(targets.counting)
    weights, bias = head.linear.solve(means[known], targets.take(known), C)
    return TopicScores(float(_SHARES[chosen - 1]), weights * factor, bias * factor + move, mixed[chosen])


def _largest_harmless(head: Head, mixed: Sequence[np.ndarray], errors: Sequence[np.ndarray], held: Targets) -> int:
    """Return the number of the last scores up to which none are worse, or less likely, on average than the first."""
    found = [losses_of(head.outputs_, one, held) for one in mixed]
    losses = [each for each in found if each is not None] or errors
    means = np.array([[mean_error(one, held.weight) for one in kind[: len(mixed)]] for kind in (errors, losses)])
    is_worse = (means > means[:, :1]).any(axis=0)
    return int(np.argmax(np.append(is_worse, True))) - 1


def best_linear_scores(head: Head, means: np.ndarray, targets: Targets, folds: Sequence) -> tuple[np.ndarray, float]:
    """Return scores of the held-out rows by linear models of the topics with the best C, and that C."""
    held = Targets.joined([targets.take(rows) for _, rows in folds])
    return min(
        ((_held_out(head, means, targets, folds, C), C) for C in _VALUES),
        key=lambda found: mean_error(head.error(found[0], held.values), held.weight),
    )


def _held_out(head: Head, means: np.ndarray, targets: Targets, folds: Sequence, C: float) -> np.ndarray:
    """Return scores of the held-out rows by linear models of the topics, which have not seen them."""
    found = []
    for train, rows in folds:
        known = train[targets.counting[train]]
        weights, bias = head.linear.solve(means[known], targets.take(known), C)
        found.append(means[rows] @ weights + bias)
    return np.concatenate(found)
