"""Training on a cluster: the steps of `Stochastic` on several shards at a time, by the workers of dask.distributed."""

from __future__ import annotations

import os
import re
from collections import deque
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np

from harmonium.core.validation import Choice, IsInstance, Number, Setting, Whole, shown
from harmonium.hidden import HiddenLayer
from harmonium.hidden.selection import Selection
from harmonium.objectives import Objective
from harmonium.objectives.problem import Problem
from harmonium.training.checkpoint import CheckpointPath
from harmonium.training.distributed.client import Cluster, release, session
from harmonium.training.distributed.worker import (
    Job,
    RowRange,
    State,
    bundle_size,
    hold,
    local_steps,
    outer_step_of,
    parameters_of,
    ready,
    rounds_of,
    sum_statistics,
    synchronous_step,
)
from harmonium.training.drivers.base import Driver
from harmonium.training.drivers.monitor import check_finite
from harmonium.training.drivers.run import Run
from harmonium.training.drivers.stochastic import Stochastic

# Rounds after which workers give a sign, at most, and signs in an epoch, for whoever waits and for the running average;
# tasks are handed to the scheduler up to the sign after the next: conventions.
_MOST_ROUNDS, _TIMES_AN_EPOCH = 64, 10
# Defaults of rounds go by held-out rows of 20 Newsgroups (docs/how_it_works/defaults.md).
# a protocol and what it takes, or a host and a port
_ADDRESS = re.compile(r"\w+://\S+|\S+:\d+")


class Address(Setting):
    """A setting that is the address of a scheduler, or None."""

    def check(self, owner: str, name: str, value: Any) -> None:
        """Refuse everything else."""
        if value is None or (isinstance(value, str) and _ADDRESS.fullmatch(value)):
            return
        raise TypeError(
            f"{owner} needs the address of a scheduler as {name}, such as 'tcp://10.0.0.1:8786'; got {shown(value)}; "
            "None takes the current client."
        )


class Distributed(Driver):
    """Training on a cluster of dask, with the same result on any number of workers.

    Rows are in shards, which workers read themselves (`Shards`); data in memory are cut into as many parts as there are
    replicas and sent to them once. A replica of the model learns from one shard at a time, and the replicas share the
    workers. There are two ways to learn: in ``"rounds"``, each replica takes a number of steps of its own, then
    parameters and moments are averaged and take an outer step with momentum; ``"synchronous"`` steps follow the
    gradient of the batches of all replicas together, as one machine would with a batch that is as many times as large.

    Parameters
    ----------
    local : Stochastic, optional
        How steps are taken: batches, step sizes, schedule, early stopping. Default: ``Stochastic()``. Batches are those
        of a replica; half as many rows as on one machine learn more in an epoch, and take longer.
    method : {"rounds", "synchronous"}, default="rounds"
        How replicas learn together.
    n_replicas : int, default=8
        Number of shards that are trained on at a time, and of workers that have something to do. The result depends on
        it.
    n_steps : int, default=5
        Number of steps that a replica takes in a round, at most. More of them send less over the wire, and learn
        less in an epoch.
    outer_step : float, default=1.0
        How far parameters move towards the mean of the replicas after a round. 1, with no momentum, is plain averaging.
    outer_momentum : float, default=0.8
        Share of the last move that is kept after a round (Nesterov).
    step_factor : float, optional
        Factor of the step size. Default: the square root of the number of replicas, as a step together stands for
        as many batches.
    client : str, optional
        Address of the scheduler. Default: the current client.
    checkpoint : str or path, optional
        File to which the state of the fit is written, as for `Stochastic`.

    See Also
    --------
    harmonium.Shards : Rows that need not fit into memory.
    Stochastic : The same on one machine.

    Notes
    -----
    Random numbers depend on the seed, the epoch, the shard and the place in it, and sums have a fixed order: the result
    is the same, bit for bit, for one worker or many, and if a worker is lost in the middle, whose tasks others repeat.
    All tasks compute on one thread, so workers should have one each. Passes that need no gradient (families, what is
    watched, relevance) are made by the process that calls `fit`; the fitted model is an ordinary one.

    References
    ----------
    Douillard et al. (2023), DiLoCo: distributed low-communication training of language models; Stich (2019), Local SGD
    converges fast and communicates little.

    Examples
    --------
    >>> Distributed(Stochastic(max_iter=5), n_replicas=4)
    Distributed(local=Stochastic(max_iter=5), n_replicas=4)
    """

    weighs_views = True
    not_saved = ("checkpoint", "client")
    settings = {
        "local": IsInstance(Stochastic, "Stochastic()"),
        "method": Choice(("rounds", "synchronous"), remedy="'rounds' is usual"),
        "n_replicas": Whole(remedy="8 is usual"),
        "n_steps": Whole(remedy="5 is usual"),
        "outer_step": Number(remedy="1 is usual"),
        "outer_momentum": Number(inclusive=True, below=1.0, remedy="0.8 is usual"),
        "step_factor": Number(remedy="None chooses it by the number of replicas", also=(None,)),
        "client": Address(),
        "checkpoint": CheckpointPath(),
    }

    def __init__(
        self,
        local: Stochastic | None = None,
        method: Literal["rounds", "synchronous"] = "rounds",
        n_replicas: int = 8,
        n_steps: int = 5,
        outer_step: float = 1.0,
        outer_momentum: float = 0.8,
        step_factor: float | None = None,
        client: str | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> None:
        self.local = local
        self.method = method
        self.n_replicas = n_replicas
        self.n_steps = n_steps
        self.outer_step = outer_step
        self.outer_momentum = outer_momentum
        self.step_factor = step_factor
        self.client = client
        self.checkpoint = checkpoint

    @property
    def _local(self) -> Stochastic:
        return Stochastic() if self.local is None else self.local

    def alike(self, driver: Driver) -> Driver:
        """Return the same rounds or steps on the same cluster."""
        return Distributed(**(self.get_params(deep=False) | {"local": driver}))

    def check_model(self, problem: Problem, objective: Objective) -> None:
        """Refuse what must be kept from batch to batch, and layers that select units."""
        self._local.check_model(problem, objective)
        if self._local.checkpoint is not None:
            raise ValueError("A checkpoint is that of the whole fit; got one in local; pass it to Distributed itself.")
        if objective.remembers:
            raise ValueError(
                f"Distributed needs an objective that keeps nothing from batch to batch; got "
                f"{type(objective).__name__}, whose chains a lost worker would take with it; use SampledCD()."
            )
        if problem.energy.hidden.selection.selects:
            raise ValueError(
                f"Distributed trains layers that keep all their units; got {type(problem.energy.hidden).__name__}, "
                "which counts how all rows use them after every few batches; use Stochastic(), which takes shards, too."
            )

    def epochs(self, n_rows: int) -> int:
        """Return the number of epochs that are planned, those of ``local``."""
        return self._local.epochs(n_rows)

    @property
    def epochs_are_given(self) -> bool:
        """Whether ``local`` has a number of epochs."""
        return self._local.epochs_are_given

    def planned_rows(self, n_rows: int, max_epochs: int | None = None) -> int:
        """Return the number of rows that a run visits at most, that of ``local``."""
        return self._local.planned_rows(n_rows, max_epochs)

    def run(self, run: Run) -> None:
        """Train by epochs whose batches the workers of a cluster go through."""
        with session(self.client, self.n_replicas) as cluster:
            self._local.run(run, partial(self._epoch, cluster))

    def _epoch(
        self,
        cluster: Cluster,
        run: Run,
        rows: np.ndarray,
        selection: Selection,
        position: tuple[int, ...] | None,
        learning_rate_scale: dict[str, float],
    ) -> None:
        """Train by one pass over some rows, as `Stochastic.epoch` does."""
        local, training = self._local.with_numbers(run.problem, len(rows)), run.training
        parts, sizes = cluster.parts(run.data, rows, self.n_replicas)
        replicas = min(self.n_replicas, len(parts))
        if training.optimizer is None:
            training.optimizer = local.optimizer_for(run.problem).start(training.parameters)
        local.learning_rate = float((self.step_factor or np.sqrt(replicas)) * local.learning_rate)
        outer = (self.outer_step, self.outer_momentum)
        job = Job(local, run.problem, run.objective, learning_rate_scale, len(rows), *outer, replicas)
        seed, together = int(run.rng.integers(2**63)), self.method == "synchronous"
        n_rows = local.rows_of_batch(len(rows))
        rounds = rounds_of(sizes, replicas, n_rows * (1 if together else self.n_steps), seed)
        size = bundle_size(replicas, max(1, cluster.meet()))
        n_batches = -(-len(rows) // n_rows)
        horizon = self._local.horizon(n_batches) / n_batches  # in epochs, as on one machine
        tasks = _Tasks(cluster, cluster.submit(hold, job), parts, size, seed, together)
        final = self._state_after(run, tasks, rounds, position, horizon)
        training.parameters, training.optimizer = dict(final.parameters), final.optimizer
        check_finite(training.parameters, training.log.n_iter + 1, local.learning_rate)
        training.n_settled += 1

    def _state_after(
        self,
        run: Run,
        tasks: _Tasks,
        rounds: list[list[RowRange]],
        position: tuple[int, ...] | None,
        horizon: float,
    ) -> State:
        """Return the state after all rounds; signs on the way move the bar and the running average."""
        training, n = run.training, len(rounds)
        every = max(1, min(_MOST_ROUNDS, n // _TIMES_AN_EPOCH))
        assert training.optimizer is not None
        state = tasks.cluster.submit(hold, State(training.parameters, training.optimizer), near=0)
        signs: deque[tuple[Any, int]] = deque()

        def await_sign() -> None:
            sign, n_rows = signs.popleft()
            parameters = sign.result()
            if parameters is not None:
                training.parameters = dict(parameters)
                training.add_to_average(horizon * n / every)
            run.reporter.batch(n_rows)

        try:
            for first in range(0, n, every):
                some = rounds[first : first + every]
                for number, ranges in enumerate(some, start=first):
                    place = None if position is None else (position[0] * n + number, position[1] * n, n)
                    state = tasks.submit(state, ranges, place)
                sign = tasks.cluster.submit(parameters_of if self._local.average else ready, state, near=0)
                signs.append((sign, sum(one.last - one.first for ranges in some for one in ranges)))
                if len(signs) > 1:  # so many tasks lie ahead, and no more
                    await_sign()
            while signs:
                await_sign()
            final: State = state.result()
        except BaseException:
            release([tasks.job, state, *(sign for sign, _ in signs)])
            raise
        return final


@dataclass(frozen=True)
class _Tasks:
    """Tasks of an epoch: futures of the job and of the shards, replicas to a task, seed, and whether steps are shared.

    Workers pass states and sums among themselves.
    """

    cluster: Cluster
    job: Any
    parts: list[Any]
    size: int
    seed: int
    together: bool

    def submit(self, state: Any, ranges: list[RowRange], position: tuple[int, ...] | None) -> Any:
        """Return the future of the state after a round."""
        submit, job = self.cluster.submit, self.job
        n_rows = sum(one.last - one.first for one in ranges)
        given = submit(parameters_of, state, near=0) if self.together else state
        ends = []
        for number, first in enumerate(range(0, len(ranges), self.size)):
            some = ranges[first : first + self.size]
            parts = [self.parts[one.shard] for one in some]
            if self.together:
                ends.append(submit(sum_statistics, job, parts, given, some, self.seed, near=number))
            else:
                ends.append(submit(local_steps, job, parts, given, some, n_rows, self.seed, position, near=number))
        if self.together:
            return submit(synchronous_step, job, state, position, *ends, near=0)
        return submit(outer_step_of, job, state, *ends, near=0)


def on_cluster(driver: Driver, layer: HiddenLayer, objective: Objective) -> Driver:
    """Return `Distributed` with the steps of a driver, or the driver itself if the fit needs one machine.

    Parameters
    ----------
    driver : Driver
        How the model is trained on one machine.
    layer : HiddenLayer
        The hidden layer to be trained.
    objective : Objective
        Where gradients come from.

    Returns
    -------
    Driver
        The driver to use where there is a cluster.
    """
    if not driver.distributes or layer.selection.selects or objective.remembers:
        return driver
    return Distributed(driver)
