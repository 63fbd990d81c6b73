"""Growth of units: as many are added as stand out of chance in the residuals, and as held-out rows bear out.

A model without units leaves everything unexplained. As many units as its spectrum has components above chance are
added, from independent sources behind as many factors of the data. A few epochs later the spectrum of what they leave
says how many more are needed; all are then made anew, from so many factors, and so on until no component stands out.
How far one has to stand out is a matter of its evidence and of the layer's prior of the number of units.

The spectrum proposes, and rows that no unit was made from decide: new units have to make parts of these rows easier to
predict from the other parts. Where features are clear, as many units as there are features do so; on data with a heavy
tail, such as words, some component always stands out, and held-out rows say where to stop. They also say what binary
units begin as, sources of 0 or 1 or independent components, and how strong they are at first: sources that are far from
having two values make units that are too sure of themselves.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field, replace

import numpy as np

from harmonium.core.parameters import copy_parameters
from harmonium.objectives.problem import Problem
from harmonium.storage import serializable
from harmonium.training.checkpoint import Checkpoint
from harmonium.training.growth.candidates import CandidateTrainer, CandidateUnits, HeldOutReconstruction
from harmonium.training.growth.new_units import GrownModel
from harmonium.training.plan import Plan
from harmonium.training.state import Training
from harmonium.views.data import Data

# Rounds at most. Where units are no features, a round that adds less than this share of the units is the last one, as
# no model explains all there is in words, say: conventions.
_MOST_ROUNDS, _HARDLY_ANY = 8, 0.1
# Share of the rows that are held out, at most so many, and the fewest that decide anything: conventions.
_HELD_OUT, _MOST_HELD_OUT, _FEWEST_HELD_OUT = 1 / 6, 1000, 10
# Scale from which new units count as features, and the share of the units by which their number is last increased where
# there are none, if a larger share was not borne out: conventions. Features of benchmarks/infinite_truth begin with
# 0.5 (40 that overlap) or 1.
_STRONG, _SMALLEST_STEP = 0.5, 0.5


@serializable
@dataclass
class _Growth:
    """Where the growth stands.

    Attributes
    ----------
    first : numpy.random.Generator
        Random stream as they began, by which rows were held out.
    rng : numpy.random.Generator
        The stream as it stands.
    best : CandidateUnits, optional
        The best candidate so far; None at the beginning.
    last : CandidateUnits, optional
        The last one that the spectrum has proposed.
    n_rounds : int
        Rounds of the spectrum that are done.
    step : float, optional
        Share of the units by which their number is increased next; None as long as the spectrum proposes.
    training : Training, optional
        That of the chosen candidate, if held-out rows say for how many epochs.
    costs : list of float
        What completing held-out rows cost after each of these epochs.
    """

    first: np.random.Generator
    rng: np.random.Generator
    best: CandidateUnits | None = None
    last: CandidateUnits | None = None
    n_rounds: int = 0
    step: float | None = None
    training: Training | None = None
    costs: list[float] = field(default_factory=list)


def grow(problem: Problem, data: Data, plan: Plan, rng: np.random.Generator) -> tuple[GrownModel, np.random.Generator]:
    """Return the model as its training begins, with as many units as the data ask for, and at most those of the layer.

    If the data ask for none, it has one unit, without weights. The random stream is the one that is given, or that of
    the fit which has left the checkpoint.
    """
    with plan.checkpoint.level("growth", lambda: _Growth(deepcopy(rng), rng)) as state:
        stream = state.rng if state.best is None else deepcopy(state.first)
        learned, held_out = _split(data, stream)
        reconstruction = None if held_out is None else HeldOutReconstruction.of(problem, held_out, stream)
        trainer = CandidateTrainer(problem, learned, plan, reconstruction)
        chosen, n_epochs = _search(trainer, state, plan.checkpoint), None
        if chosen.n_units and chosen.scale < _STRONG:
            state.training = state.training or Training(copy_parameters(chosen.initial))
            n_epochs = trainer.n_epochs(state.training, state.costs, state.rng)
    if not chosen.n_units:
        return trainer.without_units(), state.rng
    grown = CandidateTrainer(problem, data, plan, None).initial(chosen.n_units, chosen.kind, chosen.scale, state.rng)
    return replace(grown, n_grown=chosen.n_units, n_epochs=n_epochs), state.rng


def _split(data: Data, rng: np.random.Generator) -> tuple[Data, Data | None]:
    """Return rows to learn from and rows that are held out, if there are enough."""
    n_held_out = min(int(_HELD_OUT * len(data)), _MOST_HELD_OUT)
    if n_held_out < _FEWEST_HELD_OUT:
        return data, None
    order = rng.permutation(len(data))
    return data.take(np.sort(order[n_held_out:])), data.take(np.sort(order[:n_held_out]))


def _search(trainer: CandidateTrainer, state: _Growth, checkpoint: Checkpoint) -> CandidateUnits:
    """Return the best candidate: of those that the spectrum proposes, or, where it counts no features, of others.

    New units that are best when they are much weaker than features would be say that there are no features to count.
    Held-out rows alone then decide whether more units are better.
    """
    if state.best is None:
        state.best = state.last = trainer.empty()
    while state.n_rounds < _MOST_ROUNDS:
        state.n_rounds = state.n_rounds + 1 if _proposed(trainer, state) else _MOST_ROUNDS
        checkpoint.write()
    if state.step is None:
        state.step = 1.0 if state.best.scale < _STRONG else 0.0
    while state.step >= _SMALLEST_STEP and state.best.n_units < trainer.most:
        n_more = max(int(state.step * state.best.n_units), 1)
        tried = trainer.train(state.best.n_units + n_more, state.rng)
        if tried.is_clearly_better(state.best):
            state.best = tried
        else:
            state.step /= 2
        checkpoint.write()
    return state.best


def _proposed(trainer: CandidateTrainer, state: _Growth) -> bool:
    """Judge a candidate that the spectrum proposes; return whether it is worth asking for another one."""
    assert state.best is not None and state.last is not None
    n_more = trainer.n_standing_out(state.last, state.rng)
    if not n_more:
        return False
    state.last = trainer.train(state.last.n_units + n_more, state.rng)
    if state.best.is_clearly_better(state.last):
        return False
    state.best = min(state.best, state.last, key=lambda one: one.cost)
    return state.last.scale >= _STRONG or n_more >= _HARDLY_ANY * state.last.n_units
