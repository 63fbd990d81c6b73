"""Tasks of the workers of a cluster: pure functions of their arguments, so that any worker can do them again.

A replica of the model learns from one shard at a time. In a round, each replica visits some rows of its shard; when it
is through, it goes on with the next shard that no replica has. Rows, their order and their random numbers depend on the
seed, the epoch and the shards alone; how many workers share the replicas does not matter.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from harmonium.core.batch import Batch
from harmonium.core.parameters import Parameters, copy_parameters
from harmonium.kernels.runtime.threads import compute
from harmonium.objectives import Objective
from harmonium.objectives.problem import Problem
from harmonium.objectives.statistics import Statistics
from harmonium.training.drivers.projection import project
from harmonium.training.drivers.run import Run
from harmonium.training.drivers.stochastic import Stochastic
from harmonium.training.state import OptimizerState, Training
from harmonium.views.data import Data

#: memory of the outer step, beside that of the optimizer
OUTER = "outer"


@dataclass(frozen=True)
class RowRange:
    """Rows of one shard that a replica visits in a round: from the ``first`` to before the ``last`` of their order."""

    shard: int
    first: int
    last: int


@dataclass(frozen=True)
class Job:
    """What all tasks of a run share.

    Attributes
    ----------
    local : Stochastic
        How steps are taken; its numbers are those of all rows.
    problem : Problem
        The model.
    objective : Objective
        Where gradients come from.
    learning_rate_scale : dict of str to float
        Share of the step that the weights of each view take.
    n_items : int
        Number of all rows.
    outer_step, outer_momentum : float
        How far parameters move towards the mean of the replicas, and what is kept of earlier moves.
    n_replicas : int
        Number of replicas: so many shards a worker keeps in memory, should it do the work of all of them.
    """

    local: Stochastic
    problem: Problem
    objective: Objective
    learning_rate_scale: dict[str, float]
    n_items: int
    outer_step: float = 1.0
    outer_momentum: float = 0.0
    n_replicas: int = 1


@dataclass(frozen=True)
class State:
    """Parameters and memory of the optimizer between two rounds.

    Those of replicas that have come to the end of a round, times the share of the rows that they visited, add up.
    """

    parameters: Parameters
    optimizer: OptimizerState

    def __add__(self, other: State) -> State:
        """Return the sum of both."""
        arrays = {kind: _sum(slot, other.optimizer.arrays[kind]) for kind, slot in self.optimizer.arrays.items()}
        n_updates = max(self.optimizer.n_updates, other.optimizer.n_updates)
        return State(_sum(self.parameters, other.parameters), OptimizerState(arrays, n_updates))


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


def bundle_size(n_replicas: int, n_workers: int) -> int:
    """Return how many replicas make up one task: as many as may be, without keeping workers waiting for others.

    Parameters
    ----------
    n_replicas : int
        Number of replicas.
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
    sizes = [2**level for level in range((n_replicas - 1).bit_length() + 1)]

    def busiest(size: int) -> int:
        bundles = [min(size, n_replicas - first) for first in range(0, n_replicas, size)]
        return max(sum(bundles[worker::n_workers]) for worker in range(n_workers))

    return min(sizes, key=lambda size: (busiest(size), -size))


def rounds_of(sizes: Sequence[int], n_replicas: int, n_rows: int, seed: int) -> list[list[RowRange]]:
    """Return what each replica does in each round of an epoch.

    Parameters
    ----------
    sizes : sequence of int
        Number of rows of each shard.
    n_replicas : int
        Number of replicas.
    n_rows : int
        Number of rows that a replica visits in a round, at most.
    seed : int
        Random numbers of the epoch.

    Returns
    -------
    list of list of RowRange
        Pieces of one round after the other; the first shards are done first.

    Examples
    --------
    >>> [[(rows.shard, rows.first) for rows in replicas] for replicas in rounds_of([4, 2, 2], 2, 2, seed=0)]
    [[(2, 0), (0, 0)], [(1, 0), (0, 2)]]
    """
    waiting = np.random.default_rng([seed, 0]).permutation(len(sizes)).tolist()[::-1]
    replicas: list[list[RowRange]] = [[] for _ in range(n_replicas)]
    rounds: list[list[RowRange]] = []
    while True:
        for replica in replicas:
            while not replica and waiting:
                shard = waiting.pop()
                starts = range(0, sizes[shard], n_rows)
                replica += [RowRange(shard, first, min(first + n_rows, sizes[shard])) for first in starts]
        ranges = [replica.pop(0) for replica in replicas if replica]
        if not ranges:
            return rounds
        rounds.append(ranges)


def hold(value: Any) -> Any:
    """Return a value as it is: a task whose result other tasks need, and which is known well enough to be redone."""
    return value


def local_steps(
    job: Job,
    parts: Sequence[Data],
    state: State,
    ranges: Sequence[RowRange],
    n_rows: int,
    seed: int,
    position: tuple[int, ...] | None,
) -> State:
    """Return where the steps of some replicas lead in a round of so many rows."""
    return add_in_pairs(
        _update(job, part, state, row_range, n_rows, seed, position)
        for part, row_range in zip(parts, ranges, strict=True)
    )


def _update(
    job: Job, part: Data, state: State, row_range: RowRange, n_rows: int, seed: int, position: tuple[int, ...] | None
) -> State:
    with compute(1), _opened(part, job.n_replicas):
        training = _training(state)
        rows = _rows(part, row_range, seed)
        rng = np.random.default_rng([seed, 2, row_range.shard, row_range.first])
        run, selection = Run(job.problem, job.objective, part, training, rng), job.problem.selection(job.n_items)
        job.local.epoch(run, rows, selection, position, job.learning_rate_scale)
    weight = len(rows) / n_rows
    parameters = {name: weight * value for name, value in training.parameters.items()}
    assert training.optimizer is not None
    return State(parameters, job.local.optimizer_for(job.problem).weighed(training.optimizer, weight))


def outer_step_of(job: Job, state: State, *bundles: State) -> State:
    """Return the state after a round: moved towards the mean of the replicas, with Nesterov's momentum."""
    moved = add_in_pairs(bundles)
    velocity = state.optimizer.arrays.get(OUTER, {})
    parameters, moves = {}, {}
    for name, value in state.parameters.items():
        move = moved.parameters[name].astype(np.float64) - value
        kept = move + job.outer_momentum * velocity[name] if name in velocity else move
        moves[name] = kept.astype(np.float32)
        parameters[name] = (value + job.outer_step * (job.outer_momentum * kept + move)).astype(np.float32)
    project(job.problem.energy, parameters)
    return State(parameters, replace(moved.optimizer, arrays={**moved.optimizer.arrays, OUTER: moves}))


def sum_statistics(
    job: Job, parts: Sequence[Data], parameters: Parameters, ranges: Sequence[RowRange], seed: int
) -> Statistics:
    """Return the statistics of the rows of some replicas."""
    return add_in_pairs(
        _statistics(job, part, parameters, row_range, seed) for part, row_range in zip(parts, ranges, strict=True)
    )


def _statistics(job: Job, part: Data, parameters: Parameters, row_range: RowRange, seed: int) -> Statistics:
    with compute(1), _opened(part, job.n_replicas):
        batch = part.batch(_rows(part, row_range, seed), job.problem.energy.families)
        statistics = Statistics.zeros_like(parameters)
        rng = np.random.default_rng([seed, 2, row_range.shard, row_range.first])
        job.objective.accumulate(job.problem, parameters, batch, statistics, rng)
    return statistics


def parameters_of(state: State) -> Parameters:
    """Return what replicas need of a state to follow its gradient, and no more."""
    return state.parameters


def ready(state: State) -> None:
    """Return nothing: a sign that the state is there."""


def synchronous_step(job: Job, state: State, position: tuple[int, ...] | None, *bundles: Statistics) -> State:
    """Return the state after one step along the gradient of all replicas."""
    total = add_in_pairs(bundles)
    with compute(1):
        training = _training(state)
        summed: Any = _Summed(total)
        run = Run(job.problem, summed, summed, training, np.random.default_rng(0))
        job.local.epoch(run, np.arange(1), job.problem.selection(job.n_items), position, job.learning_rate_scale)
    assert training.optimizer is not None
    return State(training.parameters, training.optimizer)


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
    inner = {key: slot for key, slot in state.optimizer.arrays.items() if key != OUTER}
    arrays = {key: {name: value.copy() for name, value in slot.items()} for key, slot in inner.items()}
    optimizer = OptimizerState(arrays, state.optimizer.n_updates)
    return Training(copy_parameters(state.parameters), optimizer=optimizer, n_settled=1)


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


def _rows(part: Data, row_range: RowRange, seed: int) -> np.ndarray:
    """Return the rows of a range: those of a shard are in the same random order in all rounds of an epoch."""
    order = np.random.default_rng([seed, 1, row_range.shard]).permutation(len(part))
    return np.sort(order[row_range.first : row_range.last])
