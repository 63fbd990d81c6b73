"""What one worker of a cluster does: pure functions of their arguments, so that any worker can do them again.

A lane is a place for one shard at a time. In a round, each lane visits some rows of its shard; when it is through, it
goes on with the next shard that no lane has. Which rows, in which order and with which random numbers depends on the
seed, the epoch and the shards alone; how many workers share the lanes does not matter.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from harmonium.batch import Batch
from harmonium.kernels.threads import compute
from harmonium.objectives import Objective
from harmonium.objectives.problem import Problem
from harmonium.objectives.statistics import Statistics
from harmonium.params import Parameters, copy_parameters
from harmonium.training.drivers.optimizers import Slots
from harmonium.training.drivers.progress import Silent
from harmonium.training.drivers.projection import project
from harmonium.training.drivers.stochastic import Stochastic
from harmonium.training.state import Training
from harmonium.views.data import Data

#: memory of the outer step, beside that of the optimiser
OUTER = "outer"


@dataclass(frozen=True)
class Piece:
    """Rows of one shard that a lane visits in a round: from the ``first`` to before the ``last`` of their order."""

    shard: int
    first: int
    last: int


@dataclass(frozen=True)
class Work:
    """What all tasks of a run share.

    Attributes
    ----------
    local : Stochastic
        How steps are taken; its numbers are those of all rows.
    problem : Problem
        The model.
    objective : Objective
        Where gradients come from.
    shares : dict of str to float
        Share of the step that the weights of each view take.
    n_items : int
        Number of all rows.
    outer_step, outer_momentum : float
        How far parameters move towards the mean of the lanes, and what is kept of earlier moves.
    n_lanes : int
        Number of lanes: so many shards a worker keeps in memory, should it do the work of all of them.
    """

    local: Stochastic
    problem: Problem
    objective: Objective
    shares: dict[str, float]
    n_items: int
    outer_step: float = 1.0
    outer_momentum: float = 0.0
    n_lanes: int = 1


@dataclass(frozen=True)
class State:
    """Parameters and memory of the optimiser between two rounds."""

    parameters: Parameters
    slots: Slots
    n_updates: int


@dataclass(frozen=True)
class Moved:
    """Where lanes have come in a round, and their memories, times the share of the rows that they visited."""

    parameters: Parameters
    slots: Slots
    n_updates: int

    def __add__(self, other: Moved) -> Moved:
        """Return the sum of both."""
        slots = {kind: _sum(slot, other.slots[kind]) for kind, slot in self.slots.items()}
        return Moved(_sum(self.parameters, other.parameters), slots, max(self.n_updates, other.n_updates))


def _sum(one: Parameters, other: Parameters) -> Parameters:
    return {name: value + other[name] for name, value in one.items()}


def add_in_pairs(values: Iterable[Any]) -> Any:
    """Return a sum that is the same, bit for bit, however its terms are divided among workers.

    Neighbours are added, then neighbouring sums, and so on: bundles of 2, 4, 8, … terms can be added up first.

    Parameters
    ----------
    values : iterable
        Terms, at least one; only as many as there are levels are kept at a time.

    Returns
    -------
    object
        The sum.

    Examples
    --------
    >>> add_in_pairs("abcdefg")
    'abcdefg'
    """
    sums: list[tuple[int, Any]] = []
    for total in values:
        level = 0
        while sums and sums[-1][0] == level:
            total = sums.pop()[1] + total
            level += 1
        sums.append((level, total))
    total = sums.pop()[1]
    while sums:
        total = sums.pop()[1] + total
    return total


def bundle_size(n_lanes: int, n_workers: int) -> int:
    """Return how many lanes make up one task: as many as may be, without keeping workers waiting for others.

    Parameters
    ----------
    n_lanes : int
        Number of lanes.
    n_workers : int
        Number of workers that share them.

    Returns
    -------
    int
        A power of 2, so that sums have the same order on any number of workers.

    Examples
    --------
    >>> bundle_size(8, 1), bundle_size(8, 2), bundle_size(8, 3), bundle_size(8, 20)
    (8, 4, 1, 1)
    """
    sizes = [2**level for level in range((n_lanes - 1).bit_length() + 1)]

    def busiest(size: int) -> int:
        bundles = [min(size, n_lanes - first) for first in range(0, n_lanes, size)]
        return max(sum(bundles[worker::n_workers]) for worker in range(n_workers))

    return min(sizes, key=lambda size: (busiest(size), -size))


def rounds_of(sizes: Sequence[int], n_lanes: int, n_rows: int, seed: int) -> list[list[Piece]]:
    """Return what each lane does in each round of an epoch.

    Parameters
    ----------
    sizes : sequence of int
        Number of rows of each shard.
    n_lanes : int
        Number of lanes.
    n_rows : int
        Number of rows that a lane visits in a round, at most.
    seed : int
        Random numbers of the epoch.

    Returns
    -------
    list of list of Piece
        Pieces of one round after the other; the first shards are done first.

    Examples
    --------
    >>> [[(piece.shard, piece.first) for piece in lanes] for lanes in rounds_of([4, 2, 2], 2, 2, seed=0)]
    [[(2, 0), (0, 0)], [(1, 0), (0, 2)]]
    """
    waiting = np.random.default_rng([seed, 0]).permutation(len(sizes)).tolist()[::-1]
    lanes: list[list[Piece]] = [[] for _ in range(n_lanes)]
    rounds: list[list[Piece]] = []
    while True:
        for lane in lanes:
            while not lane and waiting:
                shard = waiting.pop()
                starts = range(0, sizes[shard], n_rows)
                lane += [Piece(shard, first, min(first + n_rows, sizes[shard])) for first in starts]
        pieces = [lane.pop(0) for lane in lanes if lane]
        if not pieces:
            return rounds
        rounds.append(pieces)


def hold(value: Any) -> Any:
    """Return a value as it is: a task whose result other tasks need, and which is known well enough to be redone."""
    return value


def take_steps(
    work: Work,
    parts: Sequence[Data],
    state: State,
    pieces: Sequence[Piece],
    n_rows: int,
    seed: int,
    position: tuple[int, ...] | None,
) -> Moved:
    """Return where the steps of some lanes lead in a round of so many rows."""
    return add_in_pairs(
        _moved(work, part, state, piece, n_rows, seed, position) for part, piece in zip(parts, pieces, strict=True)
    )


def _moved(
    work: Work, part: Data, state: State, piece: Piece, n_rows: int, seed: int, position: tuple[int, ...] | None
) -> Moved:
    with compute(1), _opened(part, work.n_lanes):
        training = _training(state)
        rows = _rows(part, piece, seed)
        rng = np.random.default_rng([seed, 2, piece.shard, piece.first])
        selection = work.problem.selection(work.n_items)
        work.local.epoch(
            work.problem, work.objective, part, rows, training, rng, Silent(), selection, position, work.shares
        )
    weight = len(rows) / n_rows
    parameters = {name: weight * value for name, value in training.parameters.items()}
    assert training.slots is not None
    slots = work.local.optimiser_for(work.problem).weighed(training.slots, weight)
    return Moved(parameters, slots, training.n_updates)


def step_outwards(work: Work, state: State, *bundles: Moved) -> State:
    """Return the state after a round: moved towards the mean of the lanes, with Nesterov's momentum."""
    moved = add_in_pairs(bundles)
    velocity = state.slots.get(OUTER, {})
    parameters, moves = {}, {}
    for name, value in state.parameters.items():
        move = moved.parameters[name].astype(np.float64) - value
        kept = move + work.outer_momentum * velocity[name] if name in velocity else move
        moves[name] = kept.astype(np.float32)
        parameters[name] = (value + work.outer_step * (work.outer_momentum * kept + move)).astype(np.float32)
    project(work.problem.energy, parameters)
    return State(parameters, {**moved.slots, OUTER: moves}, moved.n_updates)


def add_up(work: Work, parts: Sequence[Data], parameters: Parameters, pieces: Sequence[Piece], seed: int) -> Statistics:
    """Return the statistics of the rows of some lanes."""
    return add_in_pairs(
        _statistics(work, part, parameters, piece, seed) for part, piece in zip(parts, pieces, strict=True)
    )


def _statistics(work: Work, part: Data, parameters: Parameters, piece: Piece, seed: int) -> Statistics:
    with compute(1), _opened(part, work.n_lanes):
        batch = part.batch(_rows(part, piece, seed), work.problem.energy.families)
        statistics = Statistics.zeros_like(parameters)
        rng = np.random.default_rng([seed, 2, piece.shard, piece.first])
        work.objective.accumulate(work.problem, parameters, batch, statistics, rng)
    return statistics


def parameters_of(state: State) -> Parameters:
    """Return what lanes need of a state to follow its gradient, and no more."""
    return state.parameters


def nothing_of(state: State) -> None:
    """Return nothing: a sign that the state is there."""


def step_together(work: Work, state: State, position: tuple[int, ...] | None, *bundles: Statistics) -> State:
    """Return the state after one step along the gradient of all lanes."""
    total = add_in_pairs(bundles)
    with compute(1):
        training = _training(state)
        summed: Any = _Summed(total)
        work.local.epoch(
            work.problem,
            summed,
            summed,
            np.arange(1),
            training,
            np.random.default_rng(0),
            Silent(),
            work.problem.selection(work.n_items),
            position,
            work.shares,
        )
    return State(training.parameters, training.slots, training.n_updates)


class _Summed:
    """Statistics that are there already, in place of the data and the objective of an epoch of one batch."""

    marks_rows = False

    def __init__(self, total: Statistics) -> None:
        self._total = total

    def shuffled(self, rows: np.ndarray, size: int, rng: np.random.Generator) -> list[np.ndarray]:
        return [rows]

    def batches(self, pieces: list[np.ndarray], families: Any) -> list[Batch]:
        return [Batch({}, int(self._total.count))]

    def start(self, problem: Problem, batch: Batch, rng: np.random.Generator) -> None:
        return None

    def accumulate(
        self, problem: Problem, parameters: Parameters, batch: Batch, into: Statistics, *_: Any, **__: Any
    ) -> None:
        for name, value in self._total.gradient.items():
            into.gradient[name] += value
        into.count += self._total.count
        into.counts = into.counts + self._total.counts


def _training(state: State) -> Training:
    """Return a training that goes on from a state; what tasks are given stays as it is."""
    inner = {key: slot for key, slot in state.slots.items() if key != OUTER}
    slots = {key: {name: value.copy() for name, value in slot.items()} for key, slot in inner.items()}
    return Training(copy_parameters(state.parameters), slots=slots, n_updates=state.n_updates, n_settled=1)


# parts whose shards are in the memory of this process, the one that was used last at the end; the cluster lets go of
# parts when a fit has ended
_open: WeakValueDictionary[int, Data] = WeakValueDictionary()


@contextmanager
def _opened(part: Data, most: int) -> Iterator[None]:
    """Give a context for work on a part; of other parts only the last ones stay in memory."""
    _open.pop(id(part), None)
    _open[id(part)] = part
    for key in list(_open)[:-most]:
        other = _open.pop(key, None)
        if other is not None:
            other.views.close()
    yield


def _rows(part: Data, piece: Piece, seed: int) -> np.ndarray:
    """Return the rows of a piece: those of a shard are in the same random order in all rounds of an epoch."""
    order = np.random.default_rng([seed, 1, piece.shard]).permutation(len(part))
    return np.sort(order[piece.first : piece.last])
