"""Fit of a model that predicts: settings are chosen on held-out rows, then all rows are used."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from harmonium.core.parameters import HIDDEN_BIAS, Parameters
from harmonium.core.targets import Targets
from harmonium.energy import Energy
from harmonium.heads import Head
from harmonium.linear.curve_search import add_curves
from harmonium.linear.search import LinearSearch, linear_search
from harmonium.linear.skip import LinearPart
from harmonium.linear.stacking import linear_alone, may_help, stacked
from harmonium.objectives.problem import Problem
from harmonium.storage import serializable
from harmonium.training.drivers.monitor import marginal_nll
from harmonium.training.growth.prune import SAME, without_duplicates
from harmonium.training.initialise import initial_training
from harmonium.training.plan import Plan
from harmonium.training.result import FittedModel, Trained
from harmonium.training.state import INTERRUPTED, Training, is_second
from harmonium.training.supervised.choices import (
    HeadRefit,
    held_out_folds,
    hidden_means,
    on_better_scale,
    refit_head,
    rescaled_data,
)
from harmonium.training.supervised.composing import composed_start, learn_topics, topic_scores, with_head
from harmonium.training.supervised.epoch_search import HeldOutEpochs, search_epochs
from harmonium.training.supervised.growing import GrownStart, grow_topics, learn_start
from harmonium.views.data import Data

# Labelled rows below which nothing is held out: a convention.
_FEWEST_LABELS = 10
# Share of its epochs after which a model of all rows is taken for better than the best one that lacks those held out,
# should the user not wait for the rest: a convention.
_ENOUGH = 0.5
# Rows of data in shards that are brought into memory to choose by; all rows are trained on. The 15 % of them that are
# held out tell an error rate to .6 of a percentage point at worst, one standard error.
_CHOSEN_BY = 50_000


@serializable
@dataclass
class _HeadFit:
    """Where the fit stands.

    Attributes
    ----------
    rng : numpy.random.Generator
        Its random stream.
    seed : int
        Seed of the start that all trainings share.
    folds : list of (ndarray, ndarray)
        Training rows and held-out rows of each fold; empty if nothing is held out.
    baseline_nll : float
        The unit of C: what an average item costs to describe.
    epochs : HeldOutEpochs
        What has been found on them.
    refit : HeadRefit, optional
        How the head is refitted, if it is.
    training : Training, optional
        The fit to all rows, once settings are chosen.
    is_trained : bool
        Whether it is complete.
    composed : Training, optional
        The fit of all units of a layer that has others than those that predict, once these are trained.
    grown : GrownStart
        Where training begins if the layer grows.
    """

    rng: np.random.Generator
    seed: int
    folds: list[tuple[np.ndarray, np.ndarray]]
    baseline_nll: float = 0.0
    epochs: HeldOutEpochs = field(default_factory=HeldOutEpochs)
    refit: HeadRefit | None = None
    training: Training | None = None
    is_trained: bool = False
    composed: Training | None = None
    grown: GrownStart = field(default_factory=GrownStart)


@dataclass(frozen=True)
class _Judged:
    """A model of all rows whose head is neither calibrated nor has its linear part, and what held-out rows say.

    Attributes
    ----------
    problem : Problem
        The model.
    training : Training
        Its training.
    scores : ndarray of shape (rows, outputs), optional
        Scores of the held-out rows by models that have not seen them; None if nothing is held out.
    linear_part : LinearPart, optional
        The linear part, if there is one.
    shares : dict of str to float
        What the scores are mixed of.
    """

    problem: Problem
    training: Training
    scores: np.ndarray | None = None
    linear_part: LinearPart | None = None
    shares: dict[str, float] = field(default_factory=dict)


def fit_head(problem: Problem, data: Data, plan: Plan, rng: np.random.Generator) -> Trained:
    """Return the model as training leaves it; if it is interrupted, the best model so far."""
    whole, problem, known = problem, problem.predicting, data.spread_sample(_CHOSEN_BY)
    with plan.checkpoint.level("fit", lambda: _begun(known, plan, rng)) as state:
        linear = None
        try:
            linear = _linear_search(problem, known, plan, state)
            head = problem.known_head if linear is None else on_better_scale(problem.known_head, linear)
            if head is not problem.known_head:
                data, known = (rescaled_data(each, problem.known_head, head) for each in (data, known))
                whole, problem = (replace(each, head=head) for each in (whole, problem))
                linear = _linear_search(problem, known, plan, state)
            if linear is not None and head.linear.allows_part and head.linear.allows_kernel:
                add_curves(linear)
            whole, problem = (_as_linear_model_says(each, linear, plan) for each in (whole, problem))
            if problem.energy.hidden.selection.selects:
                # the stream is kept before anything else is written down, so that a fit that is killed finds it
                state.rng = grow_topics(state.grown, problem, known, plan, state.rng)
                learn_start(state.grown, problem, known, plan, state.folds, linear, state.rng)
                problem = state.grown.problem(problem)
            state.baseline_nll = marginal_nll(problem, data)
            problem = replace(problem, loss_weight=problem.known_head.C * state.baseline_nll)
            if state.folds and state.training is None:
                _choose(problem, known, plan, state, linear)
            if not state.is_trained:  # for as many epochs as held-out rows say
                state.training, state.epochs.trained = state.training or _start(problem, known, state), []
                plan.train(problem, data, state.training, state.rng, state.epochs.n_epochs or None)
                state.is_trained = True
            has_topics = whole.energy.hidden.groups.dimensions is not None
            judged = _judged(problem, known, state, linear, has_topics)
            if has_topics:
                whole = replace(problem, energy=whole.energy, guide=whole.guide)
                judged = _composed(whole, judged, data, known, plan, state)
            return _as_trained(judged, known, state)
        except KeyboardInterrupt as interrupt:
            trained = None if is_second(interrupt) else _best_so_far(problem, known, state, linear)
            if trained is None:
                raise
            return _with_topics(trained, whole, known, state)


def _begun(known: Data, plan: Plan, rng: np.random.Generator) -> _HeadFit:
    """Return the state of a fit as it begins, with the rows that it holds out."""
    seed, folds = int(rng.integers(2**31 - 1)), []
    targets = known.known_targets
    if plan.validation_fraction and int(targets.counting.sum()) >= _FEWEST_LABELS:
        folds = held_out_folds(targets, plan.validation_fraction, rng)
    return _HeadFit(rng, seed, folds)


def _linear_search(problem: Problem, known: Data, plan: Plan, state: _HeadFit) -> LinearSearch | None:
    """Return what a linear model of the inputs says on held-out rows; None if nothing asks for one."""
    head = problem.known_head
    if not state.folds or not (head.linear.allows_part or plan.weighs_views_of(problem)):
        return None
    return linear_search(head, problem.energy.families, known, state.folds)


def _as_linear_model_says(problem: Problem, linear: LinearSearch | None, plan: Plan) -> Problem:
    """Return the problem with the weights of views and the scales of columns that linear models are best with."""
    if linear is None:
        return problem
    if plan.weighs_views_of(problem):
        weights = _weights_of_units(linear.best_without_kernel().settings.weights, problem)
        problem = replace(problem, view_weights=weights)
    return problem.with_view_scale() if linear.prefers_view_scale else problem


def _start(problem: Problem, known: Data, state: _HeadFit) -> Training:
    """Return a training as it begins: the same for all folds and for all rows."""
    if problem.energy.hidden.selection.selects:
        return state.grown.training()
    return initial_training(problem, known, np.random.default_rng(state.seed))


def _choose(problem: Problem, known: Data, plan: Plan, state: _HeadFit, linear: LinearSearch | None) -> None:
    """Choose the number of epochs and the refit of the head on held-out rows."""
    head = problem.known_head

    def is_worth_it(scores: np.ndarray) -> bool:
        return linear is None or not head.linear.allows_part or may_help(linear, scores)

    start = partial(_start, problem, known, state)
    search_epochs(problem, known, plan, state.folds, state.epochs, state.rng, start, is_worth_it)
    if head.may_refit(known.known_targets) and not state.epochs.given_up:
        state.refit = refit_head(problem, known, state.folds, state.epochs.trained, state.epochs.scores)


def _composed(whole: Problem, judged: _Judged, data: Data, known: Data, plan: Plan, state: _HeadFit) -> _Judged:
    """Return the model of all units: topics are learned beside those that predict, and have a say if it is no harm."""
    if state.composed is None:
        state.composed = composed_start(whole, judged.training, known, np.random.default_rng(state.seed))
    learn_topics(whole, data, state.composed, plan, state.rng)
    head = whole.known_head
    if plan.merges_topics:
        alone, parameters = without_duplicates(replace(whole, head=None), state.composed.result, known, SAME)
        whole, state.composed = replace(whole, energy=alone.energy), replace(state.composed, parameters=parameters)
        if state.composed.log.idle_units:  # topics among them are gone
            state.composed.log.idle_units = _n_idle(alone, parameters, known)
    training = _of_whole(judged.training, state.composed)
    judged = replace(judged, problem=whole, training=training)
    if judged.scores is None or not head.linear.losses or head.is_solved:
        return judged
    means = hidden_means(whole, known, training.result)[:, whole.energy.hidden.groups.are_topics]
    # the errors of a few held-out rows hardly tell by how much curves that give way to topics are missed
    has_curves = judged.linear_part is not None and judged.linear_part.curves is not None
    topics = topic_scores(head, means, known.known_targets, state.folds, judged.scores, must_help=has_curves)
    if topics is None:
        return replace(judged, shares=judged.shares | {"topics": 0.0})
    shares = {name: (1 - topics.share) * share for name, share in judged.shares.items()}
    return replace(
        judged,
        training=replace(training, parameters=topics.mixed(training.parameters)),
        scores=topics.scores,
        linear_part=None if judged.linear_part is None else judged.linear_part.scaled(1 - topics.share),
        shares=shares | {"topics": topics.share},
    )


def _with_topics(trained: Trained, whole: Problem, known: Data, state: _HeadFit) -> Trained:
    """Return a model of a fit that was interrupted with topics as far as they were learned."""
    if whole.energy.hidden.groups.dimensions is None:
        return trained
    composed = state.composed or composed_start(whole, trained.training, known, np.random.default_rng(state.seed))
    # topics may have been merged by then
    layer = whole.energy.hidden.restore(len(composed.parameters[HIDDEN_BIAS]))
    problem = replace(trained.problem, energy=Energy(whole.energy.families, layer), guide=whole.guide)
    return replace(trained, problem=problem, training=_of_whole(trained.training, composed))


def _n_idle(problem: Problem, parameters: Parameters, known: Data) -> int:
    """Return the number of units that are the same for all rows."""
    deviation = hidden_means(problem, known, parameters).std(axis=0, dtype=np.float64)
    return int(problem.energy.hidden.groups.idle(deviation).sum())


def _of_whole(training: Training, composed: Training) -> Training:
    """Return the training of the units that predict, with the parameters of all units."""
    log = replace(training.log, idle_units=composed.log.idle_units)
    return training.with_parameters(with_head(composed.result, training.result), log=log)


def _weights_of_units(chosen: dict[str, float], problem: Problem) -> dict[str, float]:
    """Return the weights of the views that hidden units see; the largest is 1."""
    weights = {name: weight for name, weight in chosen.items() if name in problem.energy.families}
    return {name: weight / max(weights.values()) for name, weight in weights.items()}


def with_settings_of(model: FittedModel, head: Head) -> FittedModel:
    """Return a model to go on from whose head has the settings of another of its class."""
    began, meaning = model.head, model.meaning
    assert began is not None
    assert meaning is not None
    _check_settled(head, began)
    bound = head.restored(meaning, began.constants())
    return replace(model, problem=replace(model.problem, head=bound, loss_weight=head.C * model.baseline_nll), C=head.C)


def _check_settled(head: Head, began: Head) -> None:
    """Refuse other settings of what only a whole fit can choose: the linear part, and the scale of targets."""
    for name, what in (("linear_part", "linear part"), ("target_scale", "scale of targets")):
        # heads that cannot have one have no such setting
        asked, before = (getattr(one, name, False) for one in (head, began))
        if asked != before:
            raise ValueError(
                f"Training can only go on with the {what} it began with, {name}={before!r}; got {name}={asked!r}; "
                "set it back, or fit with warm_start=False."
            )


def _judged(
    problem: Problem, known: Data, state: _HeadFit, linear: LinearSearch | None, beside_topics: bool = False
) -> _Judged:
    """Return the model of all rows as it stands, stacked with a linear part as held-out rows say.

    ``beside_topics`` says that its units are dimensions, and topics come later.
    """
    assert state.training is not None
    training = state.training
    if not state.folds:
        return _Judged(problem, training)
    by_fold = state.epochs.scores
    if state.refit is not None:
        training, by_fold = state.refit.apply(problem, known, training), state.refit.scores
    if not problem.known_head.linear.allows_part or linear is None:
        return _Judged(problem, training, np.concatenate(by_fold))
    stack = linear_alone(linear) if state.epochs.given_up else stacked(linear, by_fold)
    linear_part = stack.linear_part
    if linear_part is not None:
        linear_part = linear_part.rescaled(linear.views.families, problem.energy.families)
    training = replace(training, parameters=stack.weighted(training.parameters))
    shares = {"dimensions" if beside_topics else "topics": stack.alpha} | stack.shares
    return _Judged(problem, training, stack.scores, linear_part, shares)


def _as_trained(judged: _Judged, known: Data, state: _HeadFit) -> Trained:
    """Return the model, calibrated on the rows that were held out when its settings were chosen."""
    head = judged.problem.known_head
    C, validation = head.C, state.epochs.record(head.C) if state.folds else None
    if judged.scores is not None:
        held_out = Targets.joined([known.known_targets.take(held) for _, held in state.folds])
        parts = () if judged.linear_part is None else (judged.linear_part,)
        head = head.updated(outputs_=head.outputs_.calibrated(judged.scores, held_out), input_parts_=parts)
    problem = replace(judged.problem, head=head)
    return Trained(problem, judged.training, state.rng, state.baseline_nll, C, validation, judged.shares)


def _best_so_far(problem: Problem, known: Data, state: _HeadFit, linear: LinearSearch | None) -> Trained | None:
    """Return the model to keep if the user does not wait for the end; None if nothing has been learned yet."""
    held_out, training = state.epochs.best, state.training
    if training is not None and state.is_trained:  # no epoch is cut short
        training.log.stopped = INTERRUPTED
    n_records = len(training.log.history["epoch"]) if training is not None and training.interrupted else 0
    if n_records and (held_out is None or n_records >= _ENOUGH * state.epochs.n_epochs):
        return _as_trained(_judged(problem, known, state, linear), known, state)
    if held_out is None:
        return None
    head, held_targets = problem.known_head, known.known_targets.take(state.folds[0][1])
    outputs = head.outputs_.calibrated(state.epochs.scores[0], held_targets)
    return Trained(
        replace(problem, head=head.updated(outputs_=outputs)),
        held_out,
        state.rng,
        state.baseline_nll,
        head.C,
        state.epochs.record(head.C),
        lacks="it has not seen the rows held out to choose the number of epochs",
    )
