"""Batch training: L-BFGS on all data, for objectives that have a loss."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass

import numpy as np
from scipy.optimize import OptimizeResult, minimize

from harmonium.core.parameters import Parameters, extra_of, flatten, record, unflatten, weights_of
from harmonium.core.validation import Number, Whole
from harmonium.objectives import Objective
from harmonium.objectives.problem import Problem
from harmonium.objectives.statistics import Statistics
from harmonium.storage import serializable
from harmonium.training.checkpoint import CheckpointPath
from harmonium.training.drivers.base import Driver, solve_head
from harmonium.training.drivers.monitor import Monitor, Reading
from harmonium.training.drivers.projection import project
from harmonium.training.drivers.run import Run, interruptible

# Iterations between projections and records, and past steps that L-BFGS remembers: conventions.
_ROUND, _MEMORY = 10, 20


class LBFGS(Driver):
    """Batch training by L-BFGS: every step sees all rows.

    Rows are cut into batches whose statistics are added up, so memory stays bounded. After every ten iterations
    parameters are projected to where the model can be normalised, and a head that is solved for is solved.

    Parameters
    ----------
    max_iter : int, default=200
        Largest number of iterations.
    batch_size : int, default=1000
        Number of rows held in memory at a time; it does not influence the result beyond rounding.
    weight_decay : float, default=1e-4
        Half of it times the squared norm of all weights, those of a head included, is added to the mean loss.
    tol : float, default=1e-6
        Relative decrease of the loss over ten iterations at which to stop.
    checkpoint : str or path, optional
        File to which the state of the fit is written every half minute, after ten iterations. A fit with the same
        settings, data and ``random_state`` that finds the file resumes from there, exactly as if it had not ended, and
        removes it at the end. Fits that run at the same time need different files.

    Notes
    -----
    An interrupt (Ctrl-C) leaves the parameters of the last complete iteration.

    Examples
    --------
    >>> LBFGS(max_iter=50)
    LBFGS(max_iter=50)
    """

    settings = {
        "max_iter": Whole(remedy="200 is usual"),
        "batch_size": Whole(remedy="1000 is usual"),
        "weight_decay": Number(inclusive=True, remedy="0 switches it off"),
        "tol": Number(inclusive=True, remedy="1e-6 is usual"),
        "checkpoint": CheckpointPath(),
    }
    unit = "iteration"

    def __init__(
        self,
        max_iter: int = 200,
        batch_size: int = 1000,
        weight_decay: float = 1e-4,
        tol: float = 1e-6,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> None:
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.weight_decay = weight_decay
        self.tol = tol
        self.checkpoint = checkpoint

    def check_model(self, problem: Problem, objective: Objective) -> None:
        """Refuse objectives without a loss, and targets that are no part of it."""
        if problem.energy.hidden.selection.activity is not None:
            raise ValueError(
                "LBFGS follows the loss alone, which an activity of the units is no part of; got "
                f"activity={problem.energy.hidden.selection.activity}; leave it out, or use the Stochastic() driver."
            )
        if not objective.has_loss:
            raise ValueError(
                f"LBFGS needs an objective with a loss; {type(objective).__name__} is a noisy gradient only; "
                "use MeanFieldCD(), or the Stochastic() driver."
            )

    def epochs(self, n_rows: int) -> int:
        """Return the number of rounds of ten iterations."""
        return -(-self.max_iter // _ROUND)

    def planned_rows(self, n_rows: int, max_epochs: int | None = None) -> int:
        """Return the number of iterations times the number of rows."""
        return min(self.max_iter, (max_epochs or self.epochs(n_rows)) * _ROUND) * n_rows

    def run(self, run: Run) -> None:
        """Run rounds of L-BFGS with a projection after each; an epoch is a round."""
        run.training.n_items = len(run.data)
        loss = _MeanLoss(run, self.weight_decay, self.batch_size)
        with run.checkpoint.level("epochs", _Rounds) as state:
            monitor = Monitor(run.problem, run.data, loss.rows, loss.rows[:0])
            monitor.start = state.start = state.start or monitor.begin(run.training.parameters)

            def finish() -> None:
                solve_head(run.problem, run.data, loss.rows, run.training, final=True)
                run.training.log.idle_units = monitor.idle_units(run.training.parameters)

            with interruptible(run, finish):
                while state.done < self.max_iter and state.rounds != run.max_epochs:
                    if self._round(run, state, loss, monitor):
                        break
                    run.checkpoint.write()

    def _round(self, run: Run, state: _Rounds, loss: _MeanLoss, monitor: Monitor) -> bool:
        """Run L-BFGS for a few iterations, and return whether they are the last."""
        begin, training = time.perf_counter(), run.training
        reached = _Reached()
        n_iterations = min(_ROUND, self.max_iter - state.done)
        try:
            point = minimize(
                loss,
                flatten({name: training.parameters[name] for name in loss.moving}),
                jac=True,
                method="L-BFGS-B",
                bounds=loss.bounds,
                callback=reached,
                options={"maxiter": n_iterations, "maxcor": _MEMORY, "ftol": 0.0, "gtol": 1e-9},
            )
        except KeyboardInterrupt:
            if reached.nit:
                _take(run, loss, monitor, reached, time.perf_counter() - begin)
            raise
        entry = _take(run, loss, monitor, point, time.perf_counter() - begin)
        state.rounds += 1
        state.done += max(1, point.nit)
        run.reporter.batch(len(loss.rows) * max(1, point.nit))
        run.reporter.epoch(training.log.n_iter, entry)
        if run.callback is not None and run.callback(training):
            return True
        if point.nit == 0 or state.before - point.fun <= self.tol * max(abs(point.fun), 1.0):
            training.log.stopped = f"converged after {state.done} iterations"
            return True
        state.before = float(point.fun)
        return False


class _MeanLoss:
    """Mean loss of all rows and its gradient, as a function of the flattened parameters that may move.

    Attributes
    ----------
    rows : ndarray of int
        Numbers of the rows.
    moving : dict of str to ndarray
        The parameters that may move, as they were at the start.
    bounds : list of tuple
        Smallest and largest value of each of their entries.
    selection : Selection
        What the hidden layer does about its units.
    counts : ndarray or float
        How many rows have each unit, at the last point that was asked about.
    """

    def __init__(self, run: Run, weight_decay: float, batch_size: int) -> None:
        self._run, self._weight_decay, self._batch_size = run, weight_decay, batch_size
        self.rows = np.arange(len(run.data))
        self.moving = run.problem.moving(run.training.parameters)
        self.bounds = _bounds(run.problem, self.moving)
        self.selection = run.problem.selection(len(self.rows))
        if not run.training.n_settled:
            self.selection.begin(run.training.parameters)
        self.counts: np.ndarray | float = 0.0

    def __call__(self, vector: np.ndarray) -> tuple[float, np.ndarray]:
        run = self._run
        parameters = run.training.parameters | unflatten(vector, self.moving)
        statistics = Statistics.zeros_like(parameters)
        for batch in run.data.in_order(self.rows, self._batch_size, run.problem.energy.families):
            run.objective.accumulate(run.problem, parameters, batch, statistics, run.rng, with_loss=True)
        self.counts = statistics.counts
        statistics.loss += self.selection.charge(statistics.gradient, parameters, len(self.rows), at_once=True)
        gradient = {name: value / statistics.count for name, value in statistics.gradient.items()}
        loss = statistics.loss / statistics.count
        for name, value in parameters.items():
            if record(name).is_weights:
                loss += 0.5 * self._weight_decay * float(np.square(value, dtype=np.float64).sum())
                gradient[name] = gradient[name] + self._weight_decay * value
        return loss, flatten({name: gradient[name] for name in self.moving})


def _take(run: Run, loss: _MeanLoss, monitor: Monitor, point: OptimizeResult, seconds: float) -> dict[str, float]:
    """Take the point that a round has reached, and record it."""
    problem, training = run.problem, run.training
    training.parameters.update(unflatten(point.x, loss.moving))
    project(problem.energy, training.parameters)
    loss.selection.update(training.parameters, loss.counts, len(loss.rows))
    training.n_settled += 1
    solve_head(problem, run.data, loss.rows, training)
    training.log.n_iter += max(1, point.nit)
    entry = {"epoch": training.log.n_iter, "loss": float(point.fun)}
    entry |= monitor.read(training.parameters, training.log.n_iter)
    entry |= loss.selection.read(training.parameters, monitor.presence)
    training.log.add({**entry, "seconds": seconds})
    training.snapshot()
    return entry


def _bounds(problem: Problem, parameters: Parameters) -> list[tuple[float | None, float | None]]:
    """Return the bounds of each entry of the flattened parameters: of extra parameters and of weights."""
    limits: dict[str, tuple[float | None, float | None]] = {}
    for view, family in problem.energy.families.items():
        limits |= {extra_of(view, name): limit for name, limit in family.extra_parameters.bounds.items()}
    of_units = [(lower if np.isfinite(lower) else None, None) for lower in problem.energy.hidden.groups.lower_bounds]
    weights = {weights_of(view) for view in problem.energy.families}
    bounds: list[tuple[float | None, float | None]] = []
    for name, value in parameters.items():
        # a row of weights has an entry for each unit
        bounds += of_units * len(value) if name in weights else [limits.get(name, (None, None))] * value.size
    return bounds


class _Reached(OptimizeResult):
    """The last point of a round that is complete, for the case that the round is not."""

    def __init__(self) -> None:
        super().__init__(nit=0)

    def __call__(self, intermediate_result: OptimizeResult) -> None:
        self.update(x=intermediate_result.x.copy(), fun=intermediate_result.fun, nit=self.nit + 1)


@serializable
@dataclass
class _Rounds:
    """Where a run stands: the first reading, rounds and iterations done, and the loss of the last round."""

    start: Reading | None = None
    rounds: int = 0
    done: int = 0
    before: float = np.inf
