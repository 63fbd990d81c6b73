"""Start of a growing layer that predicts: topics that the views ask for, and dimensions if the loss needs them.

Topics grow and learn by the likelihood alone, as they do in a model without a head, so that labels do not change their
number. A linear model of them is then compared with one of the views, on held-out rows. If that of the views is clearly
better, topics lack something that the loss needs, and dimensions are added: units with small random weights. From there
on the loss moves all units, and those without evidence go in the end.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from harmonium.core.parameters import HIDDEN, HIDDEN_BIAS, Parameters, bias_of, copy_parameters, extra_of, weights_of
from harmonium.core.targets import Targets
from harmonium.energy import Energy
from harmonium.hidden.layers.composed import usual_n_dimensions
from harmonium.linear.comparison import is_better
from harmonium.linear.search import Folds, LinearSearch, linear_search
from harmonium.objectives import SampledCD
from harmonium.objectives.problem import Problem
from harmonium.storage import serializable
from harmonium.training.clusters import bias_of_activity
from harmonium.training.growth.grow import grow
from harmonium.training.growth.new_units import with_units
from harmonium.training.growth.prune import Selected, prune
from harmonium.training.initialise import initial_training
from harmonium.training.plan import Plan, default_driver
from harmonium.training.state import Training
from harmonium.training.supervised.choices import hidden_means
from harmonium.training.supervised.composing import best_linear_scores
from harmonium.views.data import Data

# Share of the items that have a dimension at first, where it responds most, and rows by which biases are found.
_SHARE, _BIAS_ROWS = 0.5, 1000
# Standard errors by which a linear model of the views must be better than one of the topics for dimensions to be added:
# a convention. Where both are as good, one standard error would add them to every sixth model, two to every fortieth.
_CLEARLY = 2.0


@serializable
@dataclass
class GrownStart:
    """Where the start of a growing layer stands.

    Attributes
    ----------
    topics : Training, optional
        Training of the topics, once their number is known.
    n_epochs : int, optional
        Epochs after which it ends; None if it ends as the driver plans.
    parameters : dict of str to ndarray, optional
        Parameters that the training with the loss begins with.
    """

    topics: Training | None = None
    n_epochs: int | None = None
    parameters: Parameters | None = None

    def training(self) -> Training:
        """Return a training that begins here; its prior has settled, and does not begin anew."""
        assert self.parameters is not None
        return Training(copy_parameters(self.parameters), n_settled=1)

    def problem(self, problem: Problem) -> Problem:
        """Return the problem with as many units as were found."""
        assert self.parameters is not None
        return with_units(problem, len(self.parameters[HIDDEN_BIAS]))


def grow_topics(
    state: GrownStart, problem: Problem, data: Data, plan: Plan, rng: np.random.Generator
) -> np.random.Generator:
    """Find the number of topics, in place, and return the random stream as that leaves it."""
    if state.topics is not None or state.parameters is not None:
        return rng
    alone, plan = _without_head(problem, plan)
    grown, rng = grow(alone, _inputs(problem, data), plan, rng)
    state.topics, state.n_epochs = Training(grown.parameters), grown.n_epochs
    return rng


def learn_start(
    state: GrownStart,
    problem: Problem,
    data: Data,
    plan: Plan,
    folds: Folds,
    linear: LinearSearch | None,
    rng: np.random.Generator,
) -> None:
    """Train the topics by the likelihood alone and add dimensions, in place.

    ``linear`` is the search for a linear model of the views, if there was one already.
    """
    if state.parameters is not None:
        return
    assert state.topics is not None
    head, views = problem.known_head, _inputs(problem, data)
    alone, plan = _without_head(problem, plan)
    alone = with_units(alone, len(state.topics.parameters[HIDDEN_BIAS]))
    plan.train(alone, views, state.topics, rng, state.n_epochs)
    topics = prune(alone, state.topics.result, views, state.topics.n_items)
    assert topics is not None
    n_left = problem.energy.hidden.n_units_ - topics.problem.energy.hidden.n_units_
    n_dimensions = min(usual_n_dimensions(head.n_outputs_), n_left)
    if n_dimensions and not needs_dimensions(problem, topics, data, folds, linear):
        n_dimensions = 0
    state.parameters = with_dimensions(problem, topics, data, n_dimensions, rng)
    state.topics = None


def _without_head(problem: Problem, plan: Plan) -> tuple[Problem, Plan]:
    """Return the problem of the views alone, and the plan of a model that predicts nothing."""
    added = problem.known_head.added_views
    families = {name: family for name, family in problem.energy.families.items() if name not in added}
    reference = {name: problem.reference[name] for name in families}
    alone = Problem(Energy(families, problem.energy.hidden), reference, view_weights=problem.view_weights)
    objective = SampledCD() if plan.objective.weighs_labels else plan.objective
    driver = plan.driver.alike(default_driver(alone.energy.hidden, has_head=False))
    return alone, replace(plan, objective=objective, driver=driver)


def _inputs(problem: Problem, data: Data) -> Data:
    """Return the views without those that are labels, and without targets."""
    return Data(data.views.without(*problem.known_head.added_views))


def needs_dimensions(
    problem: Problem, topics: Selected, data: Data, folds: Folds, linear: LinearSearch | None = None
) -> bool:
    """Return whether held-out rows are predicted clearly better from the views than from the topics.

    Without such rows, and for heads that no linear model stands in for, it is taken for granted.
    """
    head, targets = problem.known_head, data.known_targets.as_rows()
    if not folds or not head.linear.losses:
        return True
    linear = linear or linear_search(head, problem.energy.families, data, folds)
    held = Targets.joined([targets.take(rows) for _, rows in folds])
    means = hidden_means(topics.problem, _inputs(problem, data), topics.parameters)
    by_topics, _ = best_linear_scores(head, means, targets, folds)
    by_views = linear.best_without_kernel().scores
    return is_better(head.error(by_views, held.values), head.error(by_topics, held.values), held.weight, _CLEARLY)


def with_dimensions(
    problem: Problem, topics: Selected, data: Data, n_dimensions: int, rng: np.random.Generator
) -> Parameters:
    """Return parameters of the topics as they are and of dimensions as they begin, with a head at its start.

    Items have the topics as often as before, though the prior is now one of all units. Biases of the views make up for
    what dimensions add to an average item.
    """
    n_topics = topics.problem.energy.hidden.n_units_
    problem, learned = with_units(problem, n_topics + n_dimensions), topics.parameters
    energy, families = problem.energy, topics.problem.energy.families
    parameters = initial_training(problem, data, rng).parameters
    least = 1 / (len(data) + 1)
    share = np.clip(np.append(topics.usage, np.full(n_dimensions, _SHARE)), least, 1 - least)
    selection = energy.hidden.selection.prior
    assert selection is not None
    prior = selection.for_shares(share, len(data))
    parameters |= {extra_of(HIDDEN, name): value.astype(np.float32) for name, value in prior.items()}
    parameters[HIDDEN_BIAS][:n_topics] = learned[HIDDEN_BIAS]
    for name, family in families.items():
        parameters[weights_of(name)][:, :n_topics] = learned[weights_of(name)]
        parameters[bias_of(name)] = learned[bias_of(name)].copy()
        parameters |= {
            extra_of(name, extra): learned[extra_of(name, extra)].copy() for extra in family.extra_parameters.initial
        }
    layer = energy.layer(parameters)
    inputs = Problem(Energy(families, layer), topics.problem.reference)
    batch = inputs.complete(parameters, _inputs(problem, data).spaced(_BIAS_ROWS, families))
    natural = inputs.energy.hidden_natural(parameters, batch)
    if layer.support.bounded:
        without = natural - parameters[HIDDEN_BIAS]
        bias = bias_of_activity(inputs.energy, without, share).astype(np.float32)
        parameters[HIDDEN_BIAS], natural = bias, without + bias
    mean = layer.mean(natural).mean(axis=0)[n_topics:]
    for name in families:
        parameters[bias_of(name)] -= (parameters[weights_of(name)][:, n_topics:] @ mean).astype(np.float32)
    return parameters
