"""The fit of a model that predicts: C and the number of epochs are chosen on held-out rows, then all rows are used."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from harmonium.heads import Head
from harmonium.objectives.problem import Problem
from harmonium.targets import Targets
from harmonium.training.base import INTERRUPTED, Training, is_second
from harmonium.training.checkpoint import Checkpoint
from harmonium.training.finishing import Finish, finish
from harmonium.training.fitted import FittedModel
from harmonium.training.folds import held_out_folds
from harmonium.training.initialise import initial_training
from harmonium.training.linear_search import LinearSearch, linear_search
from harmonium.training.mixing import linear_alone, may_help, mixture
from harmonium.training.monitor import cost_of_description
from harmonium.training.path import Path, of_stage
from harmonium.training.plan import Plan
from harmonium.training.progress import Reporter
from harmonium.training.stages import Fold, Search, Stage
from harmonium.training.state import resumable
from harmonium.views.data import Data

# C where nothing is held out to choose it by (partial_fit, or too few labels): a convention. A loss of 1 then weighs as
# much as the description of an average item.
_USUAL_C = 1.0
# Labelled rows below which C is not chosen: a convention.
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
    found : Search
        What has been found on them.
    training : Training, optional
        The fit to all rows, once C is chosen.
    n_done : int
        Number of its stages that are done.
    finish : Finish, optional
        How the head is finished then, if it is.
    """

    rng: np.random.Generator
    seed: int
    rows: list[tuple[np.ndarray, np.ndarray]]
    found: Search
    training: Training | None = None
    n_done: int = 0
    finish: Finish | None = None


def fit_head(
    problem: Problem, data: Data, plan: Plan, rng: np.random.Generator, reporter: Reporter, checkpoint: Checkpoint
) -> tuple[FittedModel, np.random.Generator]:
    """Return the model, and the random stream as the fit leaves it; if it is interrupted, the best model so far."""
    head, targets = problem.head, data.targets
    assert head is not None
    assert targets is not None
    plan.check_choice(head)
    nats = cost_of_description(problem, data)
    known = data.spread_sample(_CHOSEN_BY)
    assert known.targets is not None
    known_targets = known.targets

    def start(seed: int) -> Training:
        return initial_training(problem, known, np.random.default_rng(seed))

    def begin() -> _HeadFit:
        seed, rows = int(rng.integers(2**31 - 1)), []
        if plan.validation_fraction and int(known_targets.counting.sum()) >= _FEWEST_LABELS:
            rows = held_out_folds(known_targets, plan.validation_fraction, rng)
        return _HeadFit(rng, seed, rows, Search([Fold() for _ in rows]))

    with checkpoint.level("fit", begin) as state:
        found, linear, weights = state.found, None, dict[str, float]()
        try:
            if state.rows and (head.sees_inputs or plan.weighs_views_of(problem)):
                linear = linear_search(problem, known, state.rows)
                if plan.weighs_views_of(problem):
                    weights = linear.best_straight().settings.weights
                    problem = replace(problem, view_weights=dict.fromkeys(weights, 1.0))
            if found.folds:

                def is_worth_it(scores: np.ndarray) -> bool:
                    return linear is None or not head.sees_inputs or may_help(linear, scores)

                begun = partial(start, state.seed)
                path = Path(problem, plan, known, nats, state.rows, begun, weights, is_worth_it)
                path.search(found, state.rng, reporter, checkpoint)
                if head.is_uneven(targets) and not head.is_solved and not found.given_up:
                    state.finish = finish(problem, known, state.rows, found.trained, found.scores)
                found.folds = []  # what it takes to go on with them is no longer needed
            problem = _as_chosen(problem, found, weights)
            state.training = state.training or start(state.seed)
            return _train(problem, data, known, plan, nats, state, linear, reporter, checkpoint), state.rng
        except KeyboardInterrupt as interrupt:
            chosen = _as_chosen(problem, found, weights)
            model = None if is_second(interrupt) else _best_so_far(chosen, known, nats, state, linear)
            if model is None:
                raise
            return model, state.rng


def _as_chosen(problem: Problem, found: Search, weights: dict[str, float]) -> Problem:
    """Return the problem with the weights of views that the topics were best with."""
    return replace(problem, view_weights=weights) if any(stage.weighed for stage in found.chosen) else problem


def only_C(head: Head) -> float:
    """Return C where nothing is held out to choose it by: the usual one if it was to be chosen."""
    return _USUAL_C if head.chooses_C else head.first_C


def with_settings_of(model: FittedModel, head: Head) -> FittedModel:
    """Return a model to go on from whose head has the settings of another of its class; "auto" leaves C as it is."""
    began, meaning = model.head, model.meaning
    assert began is not None
    assert meaning is not None
    _check_direct(head, began)
    C = model.C if head.chooses_C else head.first_C
    assert C is not None
    bound = head.restored(meaning, began.constants())
    return replace(model, problem=replace(model.problem, head=bound, strength=C * model.nats), C=C)


def _check_direct(head: Head, began: Head) -> None:
    """Refuse another setting of the direct path, which only a whole fit can choose, or leave out."""
    # heads that cannot have such a path have no such setting
    asked, before = (getattr(one, "direct", False) for one in (head, began))
    if asked != before:
        raise ValueError(
            f"Training can only go on with the direct path it began with, direct={before!r}; got direct={asked!r}; set "
            "it back, or fit with warm_start=False."
        )


def _train(
    problem: Problem,
    data: Data,
    known: Data,
    plan: Plan,
    nats: float,
    state: _HeadFit,
    linear: LinearSearch | None,
    reporter: Reporter,
    checkpoint: Checkpoint,
) -> FittedModel:
    """Return the model after all stages that were chosen, on all rows; ``known`` are those that they were chosen by."""
    training, stages = state.training, _stages(problem, state)
    assert training is not None
    for stage in stages[state.n_done :]:
        weighted, staged = of_stage(problem, data, stage, nats)
        last = stage.last(plan.driver.epochs(len(data)))
        reporter.ahead(sum(rest.rows(plan.driver, len(data)) for rest in stages[state.n_done :]))
        plan.driver.run(weighted, plan.objective, staged, training, state.rng, reporter, None, last, checkpoint)
        state.n_done += 1
        if state.n_done < len(stages):
            training.mark(always=True)
            # rows held out for early stopping differ from stage to stage, and so do those that a dual belongs to
            training.slots, training.n_updates, training.dual = None, 0, None
            training.stopped = Training.stopped
    return _of_all_rows(problem, known, nats, state, linear)


def _stages(problem: Problem, state: _HeadFit) -> list[Stage]:
    """Return what to do on all rows: the stages that were chosen, or one with all epochs."""
    assert problem.head is not None
    return state.found.chosen or [Stage(only_C(problem.head), 0)]


def _of_all_rows(
    problem: Problem, known: Data, nats: float, state: _HeadFit, linear: LinearSearch | None
) -> FittedModel:
    """Return the model of all rows as it stands, calibrated on those that were held out when C was chosen."""
    assert problem.head is not None
    assert known.targets is not None
    assert state.training is not None
    stages, head, record, training = _stages(problem, state), problem.head, None, state.training
    if state.rows:
        by_fold, path, record = state.found.scores, None, state.found.record
        if state.finish is not None:
            training, by_fold = state.finish.of(problem, known, training), state.finish.scores
        scores = np.concatenate(by_fold)
        if head.sees_inputs and linear is not None:
            mixed = linear_alone(linear) if state.found.given_up else mixture(linear, by_fold)
            training = replace(training, parameters=mixed.mixed(training.parameters))
            scores, path = mixed.scores, mixed.path
        held_out = Targets.joined([known.targets.take(held) for _, held in state.rows])
        head = head.calibrated(scores, held_out).with_direct(path)
    C = stages[min(state.n_done, len(stages) - 1)].C
    return FittedModel(replace(problem, head=head, strength=C * nats), training, nats=nats, C=C, validation=record)


def _best_so_far(
    problem: Problem, known: Data, nats: float, state: _HeadFit, linear: LinearSearch | None
) -> FittedModel | None:
    """Return the model to keep if the user does not wait for the end; None if nothing has been learned yet."""
    assert problem.head is not None
    assert known.targets is not None
    candidate = state.found.best_so_far(problem.head.first_C)
    planned = sum(stage.epochs for stage in _stages(problem, state))
    training = state.training
    if training is not None and state.n_done == len(_stages(problem, state)):  # no epoch is cut short
        training.stopped = INTERRUPTED
    n_records = len(training.history["epoch"]) if training is not None and training.interrupted else 0
    if n_records and (candidate is None or n_records >= _ENOUGH * planned):
        return _of_all_rows(problem, known, nats, state, linear)
    if candidate is None:
        return None
    head = problem.head.calibrated(candidate.scores, known.targets.take(state.rows[0][1]))
    return FittedModel(
        replace(problem, head=head, strength=candidate.C * nats),
        candidate.training,
        nats=nats,
        C=candidate.C,
        validation=state.found.record,
        remarks=(f"it has C={candidate.C:g} and has not seen the rows held out to choose it",),
    )
