"""Skeleton of a driver: plain gradient descent on all rows, which goes on after an interrupt and from a checkpoint."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from harmonium.core.validation import Number, Whole
from harmonium.objectives.statistics import Statistics
from harmonium.storage import serializable
from harmonium.training import Driver, Run
from harmonium.training.checkpoint import CheckpointPath
from harmonium.training.drivers.base import solve_head
from harmonium.training.drivers.monitor import Monitor, Reading
from harmonium.training.drivers.projection import project
from harmonium.training.drivers.run import interruptible


# What does the rest of a run depend on, beside parameters and random numbers? Numbers, arrays, and dicts of them.
@serializable
@dataclass
class _Steps:
    """Where a run stands: the first reading of the monitor, and the number of steps done."""

    start: Reading | None = None
    done: int = 0


class GradientDescent(Driver):
    """Batch training by steps of one size along the mean gradient.

    Parameters
    ----------
    max_iter : int, default=100
        Number of steps.
    learning_rate : float, default=0.1
        Size of a step.
    batch_size : int, default=1000
        Number of rows held in memory at a time.
    checkpoint : str or path, optional
        File from which a fit that was killed goes on.

    Examples
    --------
    >>> GradientDescent(max_iter=5).epochs(n_rows=1000)
    5
    """

    settings = {
        "max_iter": Whole(remedy="100 is usual"),
        "learning_rate": Number(remedy="0.1 is usual"),
        "batch_size": Whole(remedy="1000 is usual"),
        "checkpoint": CheckpointPath(),
    }
    # What does `n_iter_` count?
    unit = "step"

    def __init__(
        self,
        max_iter: int = 100,
        learning_rate: float = 0.1,
        batch_size: int = 1000,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> None:
        self.max_iter = max_iter
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.checkpoint = checkpoint

    # Which models and objectives can it not train? Left out where there are none. An objective that keeps chains needs
    # `training.chains`; a target of activity needs a step of its own.
    def check_model(self, problem: Any, objective: Any) -> None:
        """Refuse a target of activity, which the gradient says nothing of."""
        if problem.energy.hidden.selection.activity is not None:
            raise ValueError(
                "GradientDescent follows the gradient alone, which an activity of the units is no part of; got "
                f"activity={problem.energy.hidden.selection.activity}; leave it out, or use the Stochastic() driver."
            )

    # How long will it take?
    def epochs(self, n_rows: int) -> int:
        """Return the number of steps."""
        return self.max_iter

    # A step: move, project, let the layer update its prior, solve the head, record, snapshot, report.
    # `interruptible` has the rest: what an interrupt leaves.
    def run(self, run: Run) -> None:
        """Take steps until the plan is done, or something ends it."""
        problem, data, training = run.problem, run.data, run.training
        rows = np.arange(len(data))
        monitor = Monitor(problem, data, rows, rows[:0])
        selection = problem.selection(len(rows))
        training.n_items = len(rows)
        if not training.n_settled:
            selection.begin(training.parameters)

        def step() -> bool:
            begin = time.perf_counter()
            self._move(run, rows, selection)
            solve_head(problem, data, rows, training)
            state.done += 1
            training.log.n_iter += 1
            entry = {"epoch": training.log.n_iter, **monitor.read(training.result, state.done, self.learning_rate)}
            entry |= selection.read(training.parameters, monitor.presence)
            training.log.add({**entry, "seconds": time.perf_counter() - begin})
            training.snapshot()  # what an interrupt goes back to
            run.reporter.batch(len(rows))
            run.reporter.epoch(state.done, entry)
            return run.callback is not None and run.callback(training)

        def finish() -> None:
            solve_head(problem, data, rows, training, final=True)
            training.log.idle_units = monitor.idle_units(training.parameters)

        with run.checkpoint.level("epochs", _Steps) as state:
            monitor.start = state.start = state.start or monitor.begin(training.parameters)
            with interruptible(run, finish):
                while state.done < min(self.max_iter, run.max_epochs or self.max_iter) and not step():
                    run.checkpoint.write()

    def _move(self, run: Run, rows: np.ndarray, selection: Any) -> None:
        """Move the parameters that may move once, along statistics that are added up batch by batch."""
        problem, training = run.problem, run.training
        statistics = Statistics.zeros_like(training.parameters)
        for batch in run.data.in_order(rows, self.batch_size, problem.energy.families):
            if training.chains is None:
                training.chains = run.objective.start(problem, batch, run.rng)
            run.objective.accumulate(problem, training.parameters, batch, statistics, run.rng, training.chains)
        selection.charge(statistics.gradient, training.parameters, len(rows), at_once=True)
        for name, value in problem.moving(training.parameters).items():
            value -= (self.learning_rate / statistics.count) * statistics.gradient[name].astype(value.dtype)
        project(problem.energy, training.parameters)
        selection.update(training.parameters, statistics.counts, len(rows))
        training.n_settled += 1
