"""A fit from beginning to end: a function of the problem, the data and the plan."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, replace

import numpy as np

from harmonium.heads import Head
from harmonium.hidden import HiddenLayer
from harmonium.objectives import Objective
from harmonium.objectives.problem import Problem
from harmonium.params import copy_parameters
from harmonium.training.base import Driver, Training
from harmonium.training.fitted import FittedModel
from harmonium.training.initialise import initial_parameters
from harmonium.training.monitor import cost_of_description
from harmonium.training.path import Stage, choose, held_out_folds
from harmonium.training.progress import Reporter
from harmonium.training.projection import project
from harmonium.training.pruning import prune
from harmonium.views.data import Data

# C where nothing is held out to choose it by (partial_fit, or too few labels): a convention. A loss of 1 then weighs as
# much as the description of an average item.
_USUAL_C = 1.0
# Labelled rows below which C is not chosen: a convention.
_FEWEST_LABELS = 10


@dataclass(frozen=True)
class Plan:
    """How a model is to be fitted.

    Attributes
    ----------
    objective : Objective
        Where gradients come from.
    driver : Driver
        How parameters move.
    validation_fraction : float
        Share of the labelled rows held out to choose C and the number of epochs; 0 holds none out.
    """

    objective: Objective
    driver: Driver
    validation_fraction: float = 0.0

    def check_model(self, problem: Problem) -> None:
        """Refuse a problem that objective or driver cannot train, before anything is computed."""
        self.objective.check_model(problem)
        self.driver.check_model(problem, self.objective)

    def check_choice(self, head: Head) -> None:
        """Refuse to choose a weight of the loss by rows that are not held out."""
        if len(head.weights_to_try) > 1 and not self.validation_fraction:
            raise ValueError(
                "C='auto' needs rows held out to choose it by; got validation_fraction=0; pass a number for C, or a "
                "fraction such as 0.15."
            )

    def planned_rows(self, problem: Problem, n_rows: int) -> int:
        """Return the largest number of rows that a fit visits, for the progress bar."""
        rows = self.driver.planned_rows(n_rows)
        if problem.head is None or not self.validation_fraction:
            return rows
        # every stage of the path, on each of the folds and once more on all rows
        return int(rows * (1 + (len(problem.head.weights_to_try) - 1) / 2) * 3)


def fit(problem: Problem, data: Data, plan: Plan, rng: np.random.Generator, reporter: Reporter) -> FittedModel:
    """Fit a model to data, from the start."""
    if problem.head is None:
        training = _begin(problem, data, rng)
        plan.driver.run(problem, plan.objective, data, training, rng, reporter)
        return _finished(FittedModel(problem, training), data, rng, problem.energy.hidden)
    return _finished(_fit_head(problem, data, plan, rng, reporter), data, rng, problem.energy.hidden)


def go_on(
    model: FittedModel,
    asked: HiddenLayer,
    data: Data,
    plan: Plan,
    rng: np.random.Generator,
    reporter: Reporter,
) -> FittedModel:
    """Continue a fit from where the last one ended, with an optimiser that starts afresh.

    ``asked`` is the layer that the user asks for, some of whose units an earlier fit may have removed.
    """
    last = model.training
    training = Training(
        copy_parameters(model.parameters),
        n_iter=last.n_iter,
        history=deepcopy(last.history),
        n_items=last.n_items,
        n_settled=last.n_settled,
        # chains continue where they stopped; other drivers leave a single set of weights
        posterior=deepcopy(last.posterior) if plan.driver.keeps_draws else None,
    )
    plan.driver.run(model.problem, plan.objective, data, training, rng, reporter)
    return _finished(replace(model, training=training), data, rng, asked)


def begin(problem: Problem, data: Data, rng: np.random.Generator) -> FittedModel:
    """Return a model that has learned nothing yet, to be updated batch by batch."""
    training = _begin(problem, data, rng)
    if problem.head is None:
        return FittedModel(problem, training)
    nats, C = cost_of_description(problem, data), _only(problem.head.weights_to_try)
    return FittedModel(replace(problem, strength=C * nats), training, nats=nats, C=C)


def update(model: FittedModel, data: Data, plan: Plan, rng: np.random.Generator) -> FittedModel:
    """Return the model after one pass over some more rows; the model that is given stays as it is."""
    training = deepcopy(model.training)
    training.posterior = None  # draws know nothing of what is learned now
    plan.driver.update(model.problem, plan.objective, data, training, rng)
    training.stream = rng
    return replace(model, training=training, usage=None, truncation_reached=False, remarks=())


def _fit_head(problem: Problem, data: Data, plan: Plan, rng: np.random.Generator, reporter: Reporter) -> FittedModel:
    """Choose C and the number of epochs on held-out rows, then train on all of them."""
    head, targets = problem.head, data.targets
    assert head is not None
    assert targets is not None
    plan.check_choice(head)
    nats = cost_of_description(problem, data)
    start = _starts(problem, data, int(rng.integers(2**31 - 1)))
    path, validation = head.weights_to_try, None
    stages = [Stage(_only(path), 0)]
    if plan.validation_fraction and int(targets.counting.sum()) >= _FEWEST_LABELS:
        folds = held_out_folds(targets, plan.validation_fraction, rng)
        choice = choose(problem, plan.objective, plan.driver, data, start, path, nats, folds, rng, reporter)
        stages, validation = choice.stages, choice.record
        problem = replace(problem, head=head.calibrated(choice.scores, choice.targets))
    training = start()
    for stage in stages:
        problem = replace(problem, strength=stage.C * nats)
        # rows held out for early stopping differ from stage to stage, and so do those that a dual belongs to
        training.slots, training.n_updates, training.dual = None, 0, None
        plan.driver.run(problem, plan.objective, data, training, rng, reporter, last=stage.epochs or None)
    return FittedModel(problem, training, nats=nats, C=stages[-1].C, validation=validation)


def _only(weights_to_try: tuple[float, ...]) -> float:
    """Return the only weight to try; the usual one if there are several and nothing is held out to choose by."""
    return weights_to_try[0] if len(weights_to_try) == 1 else _USUAL_C


def _begin(problem: Problem, data: Data, rng: np.random.Generator) -> Training:
    """Return a training at its start: random weights, projected, and the head's own parameters."""
    parameters = initial_parameters(problem.energy, data.views, problem.reference, rng)
    project(problem.energy, parameters)
    if problem.head is not None:
        parameters |= problem.head.initial_parameters(problem.energy.hidden)
    return Training(parameters)


def _starts(problem: Problem, data: Data, seed: int) -> Callable[[], Training]:
    """Return a function that returns the same start as often as it is called."""
    return lambda: _begin(problem, data, np.random.default_rng(seed))


def _finished(model: FittedModel, data: Data, rng: np.random.Generator, asked: HiddenLayer) -> FittedModel:
    """Return the model without the units that are not needed, with what the user should know about it."""
    training, remarks = model.training, []
    training.stream = rng
    selected = prune(model.problem, training.parameters, data, training.n_items)
    if selected is not None:
        training.parameters, training.slots, training.chains = selected.parameters, None, None
        model = replace(
            model,
            problem=selected.problem,
            usage=selected.usage,
            truncation_reached=selected.n_found == asked.n_units_,
        )
        remarks.append(asked.remark(selected.n_found))
    if training.idle_units:
        remarks.append(
            f"{training.idle_units} of {model.n_units} hidden units are the same for all training rows; use a lower "
            "learning_rate, fewer units, or another family (large counts: logarithms as Gaussian())."
        )
    return replace(model, remarks=tuple(remark for remark in remarks if remark))
