"""A fit from beginning to end: a function of the problem, the data and the plan."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, replace

import numpy as np

from harmonium.core.parameters import HIDDEN_BIAS, Parameters, copy_parameters
from harmonium.hidden import HiddenLayer
from harmonium.objectives.problem import Problem
from harmonium.storage import serializable
from harmonium.training.drivers.monitor import marginal_nll
from harmonium.training.drivers.run import Run
from harmonium.training.finalize.canonical import canonical, with_signs
from harmonium.training.finalize.relevance import feature_relevance
from harmonium.training.growth.grow import grow
from harmonium.training.growth.new_units import with_units
from harmonium.training.growth.opening import ROWS, mean_residuals, opened, room_for_topics
from harmonium.training.growth.prune import prune
from harmonium.training.initialise import initial_training
from harmonium.training.plan import Plan
from harmonium.training.result import DataDescription, FittedModel, Trained
from harmonium.training.state import INTERRUPTED, Training, TrainingLog, is_second
from harmonium.training.supervised.fit import fit_head
from harmonium.training.topic_edits import TopicEdits
from harmonium.views.data import Data


def fit(
    problem: Problem,
    data: Data,
    plan: Plan,
    rng: np.random.Generator,
    about: DataDescription | None = None,
    seeded: bool = True,
) -> FittedModel:
    """Fit a model to data, from the start.

    If the user interrupts it (Ctrl-C), the model is the best so far, and ``training.interrupted``; the interrupt is
    raised if there is none yet, and if it is the second one. ``about`` is what the model remembers of the data.
    ``seeded`` says whether the next fit with the same settings has the same random numbers; a checkpoint of one that
    has not brings its own.
    """
    plan, requested = plan.with_checkpoint(problem, data, rng if seeded else None), problem.energy.hidden
    if problem.head is not None:
        trained = fit_head(problem, data, plan, rng)
    else:
        with plan.checkpoint.level("fit", lambda: _begun(problem, data, plan, rng)) as state:
            if requested.selection.selects:
                problem = with_units(problem, len(state.training.parameters[HIDDEN_BIAS]))
            _run(plan, problem, data, state)
        trained = Trained(problem, state.training, state.rng, n_grown=state.n_grown)
    return _finalize(trained, data, requested, plan, about or DataDescription())


def resume(
    model: FittedModel,
    requested: HiddenLayer,
    data: Data,
    plan: Plan,
    rng: np.random.Generator,
    about: DataDescription,
    seeded: bool = True,
) -> FittedModel:
    """Continue a fit from where the last one ended, with an optimizer that starts afresh.

    ``requested`` is the layer that the user asks for, some of whose units an earlier fit may have removed. Interrupts
    and checkpoints are those of `fit`.
    """
    before = model.training
    plan = plan.with_checkpoint(model.problem, data, rng if seeded else None, before)
    training = Training(
        copy_parameters(model.parameters),
        TrainingLog(before.log.n_iter, deepcopy(before.log.history)),
        n_items=before.n_items,
        n_settled=before.n_settled,
        # chains continue where they stopped; other drivers leave a single set of weights
        posterior=deepcopy(before.posterior) if plan.driver.keeps_draws else None,
    )
    with plan.checkpoint.level("fit", lambda: _Fit(rng, training)) as state:
        _run(plan, model.problem, data, state)
    chosen = (model.baseline_nll, model.C, model.validation, model.shares)
    trained = Trained(model.problem, state.training, state.rng, *chosen, n_opened=model.n_opened)
    return _finalize(trained, data, requested, plan, about)


def start(problem: Problem, data: Data, rng: np.random.Generator, about: DataDescription) -> FittedModel:
    """Return a model that has learned nothing yet, to be updated batch by batch."""
    training = initial_training(problem, data, rng)
    if problem.head is None:
        return FittedModel(problem, training, **vars(about))
    baseline_nll, C = marginal_nll(problem, data), problem.head.C
    problem = replace(problem, loss_weight=C * baseline_nll)
    return FittedModel(problem, training, **vars(about), baseline_nll=baseline_nll, C=C)


def update(
    model: FittedModel,
    data: Data,
    plan: Plan,
    rng: np.random.Generator,
    about: DataDescription,
    new_topics: int | None = None,
) -> FittedModel:
    """Return the model after one pass over some more rows; the model that is given stays as it is.

    Before the pass up to so many topics are opened, by default any number, where the rows ask for them.
    """
    n_before = model.training.n_items
    model = _opened(model, data, new_topics)
    training = deepcopy(model.training)
    training.posterior = None  # draws know nothing of what is learned now
    plan.driver.update(Run(model.problem, plan.objective, data, training, rng))
    training.stream = rng
    model = replace(model, training=training, usage=None, truncation_reached=False, relevance={}, remarks=())
    found = _mean_residuals(model.problem, training.result, data)
    share = len(data) / (min(n_before, ROWS) + len(data))
    unexplained = {name: new + (1 - share) * (model.unexplained.get(name, new) - new) for name, new in found.items()}
    return replace(model, unexplained=unexplained, **vars(about))


def _opened(model: FittedModel, data: Data, most: int | None) -> FittedModel:
    """Return the model with new topics for what is new in some rows; the same if it cannot have any."""
    room = room_for_topics(model.problem) if model.unexplained and model.edits.can_grow else 0
    most = room if most is None else min(most, room)
    if not most:
        return model
    problem, parameters = opened(
        model.problem, model.training.parameters, data, model.unexplained, model.training.n_items, most
    )
    n_new = problem.energy.hidden.n_units_ - model.n_units
    if not n_new:
        return model
    training = model.training.with_parameters(parameters)
    return replace(model, problem=problem, training=training, n_opened=model.n_opened + n_new)


def _mean_residuals(problem: Problem, parameters: Parameters, data: Data) -> dict[str, np.ndarray]:
    """Return what a model leaves unexplained on average, if that may ever be asked for: if topics can be opened."""
    return mean_residuals(problem, parameters, data) if room_for_topics(problem) else {}


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


def _begun(problem: Problem, data: Data, plan: Plan, rng: np.random.Generator) -> _Fit:
    """Return the start of a fit without a head: with units that the data ask for, if the layer grows."""
    if not problem.energy.hidden.selection.selects:
        return _Fit(rng, initial_training(problem, data, rng))
    grown, stream = grow(problem, data, plan, rng)
    return _Fit(stream, Training(grown.parameters), grown.n_grown, grown.n_epochs)


def _run(plan: Plan, problem: Problem, data: Data, state: _Fit) -> None:
    """Run the driver; an interrupt ends it, unless nothing has been learned yet."""
    try:
        plan.train(problem, data, state.training, state.rng, state.n_epochs)
    except KeyboardInterrupt as interrupt:
        if is_second(interrupt) or not state.training.interrupted:
            raise


def _finalize(trained: Trained, data: Data, requested: HiddenLayer, plan: Plan, about: DataDescription) -> FittedModel:
    """Return the finished model; the first interrupt does not keep it from being finished, but the second does."""
    try:
        finished = _finished(trained, data, requested, plan, about)
    except KeyboardInterrupt:
        if trained.training.interrupted:
            raise
        trained.training.log.stopped = INTERRUPTED
        finished = _finished(trained, data, requested, plan, about)
    if not finished.training.interrupted:
        plan.reporter.ahead(0)
        plan.checkpoint.remove()
    return finished


def _finished(trained: Trained, data: Data, requested: HiddenLayer, plan: Plan, about: DataDescription) -> FittedModel:
    """Return the model without the units that are not needed, with what the user should know about it."""
    problem, training = trained.problem, replace(trained.training, stream=trained.rng, last_snapshot=None)
    usage, truncation_reached, remarks = None, False, list[str | None]()
    selected = prune(problem, training.parameters, data, training.n_items)
    if selected is not None:
        if selected.problem.energy.hidden.n_units_ != problem.energy.hidden.n_units_:
            about = replace(about, edits=TopicEdits())  # which are of other units
        problem, training, usage = selected.problem, training.with_parameters(selected.parameters), selected.usage
        n_found = selected.n_found if trained.n_grown is None else min(selected.n_found, trained.n_grown)
        truncation_reached = n_found == requested.n_units_
        remarks.append(requested.selection.remark(n_found))
    # draws stay in the coordinates of their chains
    moved = canonical(problem, training.result, data) if training.posterior is None else None
    if moved is not None:
        problem, training = moved[0], training.with_parameters(moved[1])
    training = with_signs(problem, training)
    if idle := training.log.idle_units:
        remarks.append(
            f"{idle} of {problem.energy.hidden.n_units_} hidden units are the same for all training rows; use a lower "
            "learning_rate, fewer units, or another family (large counts: logarithms as Gaussian())."
        )
    if training.interrupted:
        remarks = [plan.interruption(training.log.n_iter, trained.lacks)]
    return FittedModel(
        problem,
        training,
        **vars(about),
        baseline_nll=trained.baseline_nll,
        C=trained.C,
        validation=trained.validation,
        usage=usage,
        truncation_reached=truncation_reached,
        relevance=feature_relevance(problem, training.result, data),
        unexplained=_mean_residuals(problem, training.result, data),
        n_opened=trained.n_opened,
        shares=trained.shares,
        remarks=tuple(remark for remark in remarks if remark),
    )
