"""A fit from beginning to end: a function of the problem, the data and the plan."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, replace

import numpy as np

from harmonium.core.parameters import HIDDEN_BIAS, copy_parameters
from harmonium.hidden import HiddenLayer
from harmonium.objectives.problem import Problem
from harmonium.storage import serializable
from harmonium.training.checkpoint.file import Checkpoint
from harmonium.training.drivers.monitor import marginal_nll
from harmonium.training.drivers.progress import Reporter
from harmonium.training.drivers.run import Run
from harmonium.training.finalize.canonical import canonical
from harmonium.training.finalize.relevance import feature_relevance
from harmonium.training.growth.grow import grow
from harmonium.training.growth.new_units import with_units
from harmonium.training.growth.prune import prune
from harmonium.training.initialise import initial_training
from harmonium.training.plan import Plan
from harmonium.training.result import FittedModel
from harmonium.training.state import INTERRUPTED, Training, TrainingLog, is_second
from harmonium.training.supervised.fit import fit_head
from harmonium.training.topic_edits import TopicEdits
from harmonium.views.data import Data


def fit(
    problem: Problem, data: Data, plan: Plan, rng: np.random.Generator, reporter: Reporter, seeded: bool = True
) -> FittedModel:
    """Fit a model to data, from the start.

    If the user interrupts it (Ctrl-C), the model is the best so far, and ``training.interrupted``; the interrupt is
    raised if there is none yet, and if it is the second one. ``seeded`` says whether the next fit with the same
    settings has the same random numbers; a checkpoint of one that has not brings its own.
    """
    checkpoint = plan.checkpoint(problem, data, rng if seeded else None)
    if problem.head is not None:
        model, rng = fit_head(problem, data, plan, rng, reporter, checkpoint)
        return _finalize(model, data, rng, problem.energy.hidden, plan, reporter, checkpoint)
    requested = problem.energy.hidden
    with checkpoint.level("fit", lambda: _begun(problem, data, plan, rng, checkpoint)) as state:
        if requested.selection.selects:
            problem = with_units(problem, len(state.training.parameters[HIDDEN_BIAS]))
        _run(plan, problem, data, state, reporter, checkpoint)
    model = FittedModel(problem, state.training)
    return _finalize(model, data, state.rng, requested, plan, reporter, checkpoint, state.n_grown)


def resume(
    model: FittedModel,
    requested: HiddenLayer,
    data: Data,
    plan: Plan,
    rng: np.random.Generator,
    reporter: Reporter,
    seeded: bool = True,
) -> FittedModel:
    """Continue a fit from where the last one ended, with an optimizer that starts afresh.

    ``requested`` is the layer that the user asks for, some of whose units an earlier fit may have removed. Interrupts
    and checkpoints are those of `fit`.
    """
    before = model.training
    checkpoint = plan.checkpoint(model.problem, data, rng if seeded else None, before)
    training = Training(
        copy_parameters(model.parameters),
        TrainingLog(before.log.n_iter, deepcopy(before.log.history)),
        n_items=before.n_items,
        n_settled=before.n_settled,
        # chains continue where they stopped; other drivers leave a single set of weights
        posterior=deepcopy(before.posterior) if plan.driver.keeps_draws else None,
    )
    with checkpoint.level("fit", lambda: _Fit(rng, training)) as state:
        _run(plan, model.problem, data, state, reporter, checkpoint)
    return _finalize(replace(model, training=state.training), data, state.rng, requested, plan, reporter, checkpoint)


def start(problem: Problem, data: Data, rng: np.random.Generator) -> FittedModel:
    """Return a model that has learned nothing yet, to be updated batch by batch."""
    training = initial_training(problem, data, rng)
    if problem.head is None:
        return FittedModel(problem, training)
    baseline_nll, C = marginal_nll(problem, data), problem.head.C
    return FittedModel(replace(problem, loss_weight=C * baseline_nll), training, baseline_nll=baseline_nll, C=C)


def update(model: FittedModel, data: Data, plan: Plan, rng: np.random.Generator) -> FittedModel:
    """Return the model after one pass over some more rows; the model that is given stays as it is."""
    training = deepcopy(model.training)
    training.posterior = None  # draws know nothing of what is learned now
    plan.driver.update(Run(model.problem, plan.objective, data, training, rng))
    training.stream = rng
    return replace(model, training=training, usage=None, truncation_reached=False, relevance={}, remarks=())


@serializable
@dataclass
class _Fit:
    """Where a fit stands.

    Attributes
    ----------
    rng : numpy.random.Generator
        Its random stream.
    training : Training
        The training that all of it consists of.
    n_grown : int, optional
        Number of units that were added, if the layer grows.
    n_epochs : int, optional
        Epochs after which training is to end; None if it ends as the driver plans.
    """

    rng: np.random.Generator
    training: Training
    n_grown: int | None = None
    n_epochs: int | None = None


def _begun(problem: Problem, data: Data, plan: Plan, rng: np.random.Generator, checkpoint: Checkpoint) -> _Fit:
    """Return the start of a fit without a head: with units that the data ask for, if the layer grows."""
    if not problem.energy.hidden.selection.selects:
        return _Fit(rng, initial_training(problem, data, rng))
    grown, stream = grow(problem, data, plan, rng, checkpoint)
    return _Fit(stream, Training(grown.parameters), grown.n_grown, grown.n_epochs)


def _run(plan: Plan, problem: Problem, data: Data, state: _Fit, reporter: Reporter, checkpoint: Checkpoint) -> None:
    """Run the driver; an interrupt ends it, unless nothing has been learned yet."""
    max_epochs = state.n_epochs
    reporter.ahead(plan.driver.planned_rows(len(data), max_epochs))
    run = Run(problem, plan.objective, data, state.training, state.rng, reporter, None, max_epochs, checkpoint)
    try:
        plan.driver.run(run)
    except KeyboardInterrupt as interrupt:
        if is_second(interrupt) or not state.training.interrupted:
            raise


def _finalize(
    model: FittedModel,
    data: Data,
    rng: np.random.Generator,
    requested: HiddenLayer,
    plan: Plan,
    reporter: Reporter,
    checkpoint: Checkpoint,
    n_grown: int | None = None,
) -> FittedModel:
    """Return the finished model; the first interrupt does not keep it from being finished, but the second does."""
    try:
        finished = _finished(model, data, rng, requested, n_grown)
    except KeyboardInterrupt:
        if model.training.interrupted:
            raise
        model.training.log.stopped = INTERRUPTED
        finished = _finished(model, data, rng, requested, n_grown)
    if finished.training.interrupted:
        return replace(finished, remarks=(plan.interruption(model),))
    reporter.ahead(0)
    checkpoint.remove()
    return finished


def _finished(
    model: FittedModel, data: Data, rng: np.random.Generator, requested: HiddenLayer, n_grown: int | None
) -> FittedModel:
    """Return the model without the units that are not needed, with what the user should know about it."""
    training, remarks, n_topics = replace(model.training, stream=rng, last_snapshot=None), [], model.n_topics
    selected = prune(model.problem, training.parameters, data, training.n_items)
    if selected is not None:
        training = training.with_parameters(selected.parameters)
        n_found = selected.n_found if n_grown is None else min(selected.n_found, n_grown)
        model = replace(
            model, problem=selected.problem, usage=selected.usage, truncation_reached=n_found == requested.n_units_
        )
        remarks.append(requested.selection.remark(n_found))
    if training.posterior is None:  # draws stay in the coordinates of their chains
        moved = canonical(model.problem, training.result, data)
        if moved is not None:
            problem, parameters = moved
            training = training.with_parameters(parameters)
            model = replace(model, problem=problem)
    if idle := training.log.idle_units:
        remarks.append(
            f"{idle} of {model.n_units} hidden units are the same for all training rows; use a lower "
            "learning_rate, fewer units, or another family (large counts: logarithms as Gaussian())."
        )
    return replace(
        model,
        training=training,
        relevance=feature_relevance(model.problem, training.result, data),
        remarks=tuple(remark for remark in remarks if remark),
        edits=model.edits if model.n_topics == n_topics else TopicEdits(),
    )
