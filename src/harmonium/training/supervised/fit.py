"""Fit of a model that predicts: settings are chosen on held-out rows, then all rows are used."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from harmonium.energy import Energy
from harmonium.heads import Head
from harmonium.linear.curve_search import add_curves
from harmonium.linear.search import LinearSearch, linear_search
from harmonium.linear.skip import LinearPart
from harmonium.linear.stacking import linear_alone, may_help, stacked
from harmonium.objectives.problem import Problem
from harmonium.params import HIDDEN_BIAS
from harmonium.targets import Targets
from harmonium.training.checkpoint.file import Checkpoint
from harmonium.training.checkpoint.packing import resumable
from harmonium.training.drivers.monitor import marginal_nll
from harmonium.training.drivers.progress import Reporter
from harmonium.training.drivers.run import Run
from harmonium.training.growth.merging import SAME, without_duplicates
from harmonium.training.initialise import initial_training
from harmonium.training.plan import Plan
from harmonium.training.result import FittedModel
from harmonium.training.state import INTERRUPTED, Training, is_second
from harmonium.training.supervised.composing import composed_start, learn_topics, topic_scores, with_head
from harmonium.training.supervised.epoch_search import EpochSearch, of_trial
from harmonium.training.supervised.folds import held_out_folds
from harmonium.training.supervised.refit_head import HeadRefit, hidden_means, refit_head
from harmonium.training.supervised.trials import Fold, SearchState, Trial
from harmonium.views.data import Data

# Labelled rows below which nothing is held out: a convention.
_FEWEST_LABELS = 10
# Share of its epochs after which a model of all rows is taken for better than the best one that lacks those held out,
# should the user not wait for the rest: a convention.
_ENOUGH = 0.5
# Rows of data in shards that are brought into memory to choose by; all rows are trained on. The 15 % of them that are
# held out tell an error rate to .6 of a percentage point at worst, one standard error.
_CHOSEN_BY = 50_000


@resumable
@dataclass
class _HeadFit:
    """Where the fit stands.

    Attributes
    ----------
    rng : numpy.random.Generator
        Its random stream.
    seed : int
        Seed of the start that all trainings share.
    rows : list of (ndarray, ndarray)
        Training rows and held-out rows of each fold; empty if nothing is held out.
    found : SearchState
        What has been found on them.
    training : Training, optional
        The fit to all rows, once settings are chosen.
    n_done : int
        Number of its trials that are done.
    refit : HeadRefit, optional
        How the head is refitted then, if it is.
    composed : Training, optional
        The fit of all units of a layer that has others than those that predict, once these are trained.
    """

    rng: np.random.Generator
    seed: int
    rows: list[tuple[np.ndarray, np.ndarray]]
    found: SearchState
    training: Training | None = None
    n_done: int = 0
    refit: HeadRefit | None = None
    composed: Training | None = None


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


def fit_head(
    problem: Problem, data: Data, plan: Plan, rng: np.random.Generator, reporter: Reporter, checkpoint: Checkpoint
) -> tuple[FittedModel, np.random.Generator]:
    """Return the model, and the random stream as the fit leaves it; if it is interrupted, the best model so far."""
    whole, problem = problem, problem.predicting
    head, targets = problem.head, data.targets
    assert head is not None
    assert targets is not None
    baseline_nll = marginal_nll(problem, data)
    known = data.spread_sample(_CHOSEN_BY)
    assert known.targets is not None
    known_targets = known.targets

    def start(seed: int) -> Training:
        return initial_training(problem, known, np.random.default_rng(seed))

    def begin() -> _HeadFit:
        seed, rows = int(rng.integers(2**31 - 1)), []
        if plan.validation_fraction and int(known_targets.counting.sum()) >= _FEWEST_LABELS:
            rows = held_out_folds(known_targets, plan.validation_fraction, rng)
        return _HeadFit(rng, seed, rows, SearchState([Fold() for _ in rows]))

    with checkpoint.level("fit", begin) as state:
        found, linear, weights = state.found, None, dict[str, float]()
        try:
            if state.rows and (head.allows_linear_part or plan.weighs_views_of(problem)):
                linear = linear_search(head, problem.energy.families, known, state.rows)
                if head.allows_linear_part and head.allows_kernel:
                    add_curves(linear)
                if plan.weighs_views_of(problem):
                    weights = linear.best_without_kernel().settings.weights
                    problem = replace(problem, view_weights=dict.fromkeys(weights, 1.0))
                if linear.prefers_view_scale:
                    whole, problem = whole.with_view_scale(), problem.with_view_scale()
                    baseline_nll = marginal_nll(problem, data)
            if found.folds:

                def is_worth_it(scores: np.ndarray) -> bool:
                    return linear is None or not head.allows_linear_part or may_help(linear, scores)

                begun = partial(start, state.seed)
                search = EpochSearch(problem, plan, known, baseline_nll, state.rows, begun, weights, is_worth_it)
                search.search(found, state.rng, reporter, checkpoint)
                if head.is_uneven(targets) and not head.is_solved and not found.given_up:
                    state.refit = refit_head(problem, known, state.rows, found.trained, found.scores)
                found.folds = []  # what it takes to go on with them is no longer needed
            problem = _as_chosen(problem, found, weights)
            state.training = state.training or start(state.seed)
            _train(problem, data, plan, baseline_nll, state, reporter, checkpoint)
            has_topics = whole.energy.hidden.predictors is not whole.energy.hidden
            judged = _judged(problem, known, state, linear, has_topics)
            if has_topics:
                whole = replace(problem, energy=whole.energy)
                judged = _composed(whole, judged, data, known, plan, state, reporter, checkpoint)
            return _as_fitted(judged, known, baseline_nll, state), state.rng
        except KeyboardInterrupt as interrupt:
            chosen = _as_chosen(problem, found, weights)
            model = None if is_second(interrupt) else _best_so_far(chosen, known, baseline_nll, state, linear)
            if model is None:
                raise
            return _with_topics(model, whole, known, state), state.rng


def _composed(
    whole: Problem,
    judged: _Judged,
    data: Data,
    known: Data,
    plan: Plan,
    state: _HeadFit,
    reporter: Reporter,
    checkpoint: Checkpoint,
) -> _Judged:
    """Return the model of all units: topics are learned beside those that predict, and have a say if it is no harm."""
    if state.composed is None:
        state.composed = composed_start(whole, judged.training, known, np.random.default_rng(state.seed))
    learn_topics(whole, data, state.composed, plan, state.rng, reporter, checkpoint)
    head, targets = whole.head, known.targets
    assert head is not None
    assert targets is not None
    if plan.merges_topics:
        alone, parameters = without_duplicates(replace(whole, head=None), state.composed.result, known, SAME)
        whole, state.composed = replace(whole, energy=alone.energy), replace(state.composed, parameters=parameters)
    training = _of_whole(judged.training, state.composed)
    judged = replace(judged, problem=whole, training=training)
    if judged.scores is None or not head.linear_losses or head.is_solved:
        return judged
    means = hidden_means(whole, known, training.result)[:, whole.energy.hidden.are_topics]
    # the errors of a few held-out rows hardly tell by how much curves that give way to topics are missed
    has_curves = judged.linear_part is not None and judged.linear_part.curves is not None
    topics = topic_scores(head, means, targets, state.rows, judged.scores, must_help=has_curves)
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


def _with_topics(model: FittedModel, whole: Problem, known: Data, state: _HeadFit) -> FittedModel:
    """Return a model of a fit that was interrupted with topics as far as they were learned."""
    if whole.energy.hidden.predictors is whole.energy.hidden:
        return model
    composed = state.composed or composed_start(whole, model.training, known, np.random.default_rng(state.seed))
    # topics may have been merged by then
    layer = whole.energy.hidden.restore(len(composed.parameters[HIDDEN_BIAS]))
    problem = replace(model.problem, energy=Energy(whole.energy.families, layer))
    return replace(model, problem=problem, training=_of_whole(model.training, composed))


def _of_whole(training: Training, composed: Training) -> Training:
    """Return the training of the units that predict, with the parameters of all units."""
    return replace(
        training,
        parameters=with_head(composed.result, training.result),
        average=None,
        optimizer_state=None,
        chains=None,
        n_updates=0,
        dual=None,
        n_averaged=0,
        idle_units=composed.idle_units,
    )


def _as_chosen(problem: Problem, found: SearchState, weights: dict[str, float]) -> Problem:
    """Return the problem with the weights of views that the topics were best with."""
    return replace(problem, view_weights=weights) if any(trial.weighed for trial in found.chosen) else problem


def with_settings_of(model: FittedModel, head: Head) -> FittedModel:
    """Return a model to go on from whose head has the settings of another of its class."""
    began, meaning = model.head, model.meaning
    assert began is not None
    assert meaning is not None
    _check_linear_part(head, began)
    bound = head.restored(meaning, began.constants())
    return replace(model, problem=replace(model.problem, head=bound, loss_weight=head.C * model.baseline_nll), C=head.C)


def _check_linear_part(head: Head, began: Head) -> None:
    """Refuse another setting of the linear part, which only a whole fit can choose, or leave out."""
    # heads that cannot have one have no such setting
    asked, before = (getattr(one, "linear_part", False) for one in (head, began))
    if asked != before:
        raise ValueError(
            f"Training can only go on with the linear part it began with, linear_part={before!r}; got "
            f"linear_part={asked!r}; set it back, or fit with warm_start=False."
        )


def _train(
    problem: Problem,
    data: Data,
    plan: Plan,
    baseline_nll: float,
    state: _HeadFit,
    reporter: Reporter,
    checkpoint: Checkpoint,
) -> None:
    """Go through all trials that were chosen, on all rows."""
    training, trials = state.training, _trials(problem, state)
    assert training is not None
    for trial in trials[state.n_done :]:
        weighted, trial_data = of_trial(problem, data, trial, baseline_nll)
        max_epochs = trial.max_epochs(plan.driver.epochs(len(data)))
        reporter.ahead(sum(rest.rows(plan.driver, len(data)) for rest in trials[state.n_done :]))
        run = Run(weighted, plan.objective, trial_data, training, state.rng, reporter, None, max_epochs, checkpoint)
        plan.driver.run(run)
        state.n_done += 1
        if state.n_done < len(trials):
            training.snapshot(always=True)
            # rows held out for early stopping differ from trial to trial, and so do those that a dual belongs to
            training.optimizer_state, training.n_updates, training.dual = None, 0, None
            training.stopped = Training.stopped


def _trials(problem: Problem, state: _HeadFit) -> list[Trial]:
    """Return what to do on all rows: the trials that were chosen, or one with all epochs."""
    assert problem.head is not None
    return state.found.chosen or [Trial(problem.head.C, 0)]


def _judged(
    problem: Problem, known: Data, state: _HeadFit, linear: LinearSearch | None, beside_topics: bool = False
) -> _Judged:
    """Return the model of all rows as it stands, stacked with a linear part as held-out rows say.

    ``beside_topics`` says that its units are dimensions, and topics come later.
    """
    assert problem.head is not None
    assert state.training is not None
    training = state.training
    if not state.rows:
        return _Judged(problem, training)
    by_fold = state.found.scores
    if state.refit is not None:
        training, by_fold = state.refit.apply(problem, known, training), state.refit.scores
    if not problem.head.allows_linear_part or linear is None:
        return _Judged(problem, training, np.concatenate(by_fold))
    stack = linear_alone(linear) if state.found.given_up else stacked(linear, by_fold)
    linear_part = stack.linear_part
    if linear_part is not None:
        linear_part = linear_part.rescaled(linear.views.families, problem.energy.families)
    training = replace(training, parameters=stack.weighted(training.parameters))
    shares = {"dimensions" if beside_topics else "topics": stack.alpha} | stack.shares
    return _Judged(problem, training, stack.scores, linear_part, shares)


def _as_fitted(judged: _Judged, known: Data, baseline_nll: float, state: _HeadFit) -> FittedModel:
    """Return the model, calibrated on the rows that were held out when its settings were chosen."""
    problem, head, trials = judged.problem, judged.problem.head, _trials(judged.problem, state)
    assert head is not None
    assert known.targets is not None
    if judged.scores is not None:
        held_out = Targets.joined([known.targets.take(held) for _, held in state.rows])
        head = head.calibrated(judged.scores, held_out).with_linear_part(judged.linear_part)
    C = trials[min(state.n_done, len(trials) - 1)].C
    return FittedModel(
        replace(problem, head=head, loss_weight=C * baseline_nll),
        judged.training,
        baseline_nll=baseline_nll,
        C=C,
        validation=state.found.record if state.rows else None,
        shares=judged.shares,
    )


def _best_so_far(
    problem: Problem, known: Data, baseline_nll: float, state: _HeadFit, linear: LinearSearch | None
) -> FittedModel | None:
    """Return the model to keep if the user does not wait for the end; None if nothing has been learned yet."""
    assert problem.head is not None
    assert known.targets is not None
    candidate = state.found.best_so_far(problem.head.C)
    planned = sum(trial.epochs for trial in _trials(problem, state))
    training = state.training
    if training is not None and state.n_done == len(_trials(problem, state)):  # no epoch is cut short
        training.stopped = INTERRUPTED
    n_records = len(training.history["epoch"]) if training is not None and training.interrupted else 0
    if n_records and (candidate is None or n_records >= _ENOUGH * planned):
        return _as_fitted(_judged(problem, known, state, linear), known, baseline_nll, state)
    if candidate is None:
        return None
    head = problem.head.calibrated(candidate.scores, known.targets.take(state.rows[0][1]))
    return FittedModel(
        replace(problem, head=head, loss_weight=candidate.C * baseline_nll),
        candidate.training,
        baseline_nll=baseline_nll,
        C=candidate.C,
        validation=state.found.record,
        remarks=(f"it has C={candidate.C:g} and has not seen the rows held out to choose it",),
    )
