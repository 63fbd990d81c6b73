"""Minibatch training: momentum SGD or Adam, schedules, weight decay, early stopping."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from harmonium.core.parameters import Parameters, copy_parameters, weights_of
from harmonium.core.parts import IsPart, as_part
from harmonium.core.validation import Choice, Flag, Number, Whole
from harmonium.hidden.selection import Selection
from harmonium.objectives.problem import Problem
from harmonium.storage import serializable
from harmonium.training.checkpoint import CheckpointPath
from harmonium.training.drivers.base import Driver, solve_head
from harmonium.training.drivers.batch_steps import BatchSteps, span
from harmonium.training.drivers.monitor import Monitor, Reading, check_finite
from harmonium.training.drivers.optimizers import Adam, Optimizer
from harmonium.training.drivers.run import Run, interruptible
from harmonium.training.state import Training
from harmonium.views.data import Data

# Updates that are planned with a step that falls, and with a running average of the parameters, which needs no time for
# the step to fall: conventions.
_UPDATES, _UPDATES_AVERAGED = 3000, 1500
# Epochs that are planned at least and at most, and rows of a batch that is a share of all rows: conventions. With an
# average, 300 epochs predict no better than 100 in twice the time (docs/how_it_works/defaults.md).
_EPOCHS, _MOST_AVERAGED = (10, 300), 100
_BATCH_ROWS = (10, 100)
# Largest weight decay that is chosen by itself. It serves text, where features are as many as rows.
_LARGEST_DECAY = 0.5
# Largest factor by which the steps of a view with few features are enlarged, so that it reaches as far as wide ones. It
# was the best of 1, 4 and 10 on held-out training rows (docs/how_it_works/defaults.md).
_LARGEST_SCALE = 4.0
# Rows by which it is measured how far a step moves naturals: a convention.
_SAMPLE = 100
# A running average spans this many epochs, and at least this share of the updates that are planned: conventions.
_HORIZON_EPOCHS, _HORIZON_SHARE = 2, 2 / 15
# Neither the average nor the prior of the units needs to see every update: a convention.
_TIMES_AN_EPOCH = 10
_CRITERIA = {"reconstruction": "validation_reconstruction", "free_energy_gap": "free_energy_gap"}


class BatchSize(Number):
    """A setting that is a whole number of rows, or a share of them below 1."""

    def check(self, owner: str, name: str, value: Any) -> None:
        """Refuse everything else."""
        super().check(owner, name, value)
        if value >= 1 and int(value) != value:
            raise ValueError(f"{owner} needs a whole {name}, or a share below 1; got {value}; {self.remedy}.")


class Stochastic(Driver):
    """Training by minibatches: Adam or momentum, schedules, decay, early stopping.

    Parameters
    ----------
    max_iter : int, optional
        Number of epochs. Default: enough for ``updates``, between 10 and 300 epochs, or 100 with ``average``.
    batch_size : int or float, default=100
        Number of rows in a batch. A number below 1 is a share of the rows; batches then have 10 rows at least and 100
        at most.
    learning_rate : float, default=0.002
        Step size at the start, for gradients averaged over the batch.
    optimizer : Optimizer or str, optional
        How a gradient moves the parameters. Default: `Adam`, with ``shared=True`` for layers that select units.
    max_update : float, optional
        Distance that a step may move the natural parameter of a hidden unit for an average row, through each view. The
        steps of views with many or large values are shrunk to keep to it, those of views with few values are enlarged,
        up to four times. Default: no limit, and steps as they are.
    schedule : {"linear", "constant", "inverse"}, default="linear"
        Step size over time: falls to zero at the last update, stays the same, or falls as 1 / (1 + epoch).
    weight_decay : float or "auto", default=1e-4
        Every update multiplies weights, a head's included but no biases, by 1 - step size * weight_decay. "auto" is the
        number of features divided by the number of rows, and at most 0.5: the more rows speak for a weight, the less it
        needs to be held back.
    l1 : float, default=0.0
        Every update also takes step size * l1 off the absolute values of the weights of views, down to zero, so that
        topics are made of fewer features. It is done ten times in an epoch, for all updates since the last time.
    average : bool, default=False
        Whether to keep a running average of the parameters over about the last two epochs (or two fifteenths of
        ``updates``, if these are more) and take it for the result. It does at any epoch what a step size that falls to
        zero does at the end.
    early_stopping : {"reconstruction", "free_energy_gap"}, optional
        Stop, judged by rows held out from training, once the reconstruction no longer improves, or once the free
        energies of held-out rows exceed those of training rows by too much, which is overfitting. The result is the
        parameters of the last epoch that improved the reconstruction, or kept the gap small.
    stopping_fraction : float, default=0.1
        Share of the rows held out if there is early stopping.
    patience : int, default=3
        Number of epochs without improvement after which to stop.
    tol : float, default=1e-4
        Smallest relative improvement of the reconstruction that counts.
    largest_gap : float, default=0.1
        Largest gap of mean free energies that is allowed, in standard deviations of the free energy.
    checkpoint : str or path, optional
        File to which the state of the fit is written every half minute, at the end of an epoch. A fit with the same
        settings, data and ``random_state`` that finds the file resumes from there, exactly as if it had not ended, and
        removes it at the end. Fits that run at the same time need different files.
    updates : int, optional
        Number of updates that the number of epochs follows from, unless ``max_iter`` says it. Default: 3,000; with
        ``average`` 1,500.

    Notes
    -----
    An interrupt (Ctrl-C) leaves what the last complete epoch left: its parameters, or their running average, or, with
    early stopping, those of the best epoch.

    Estimators with a head, or with a layer that selects units, have other defaults than this class; see
    `harmonium.training.plan`.

    Examples
    --------
    >>> Stochastic(max_iter=5, learning_rate=0.01)
    Stochastic(learning_rate=0.01, max_iter=5)
    >>> Stochastic().epochs(n_rows=10_000), Stochastic(average=True).epochs(n_rows=10_000)
    (30, 15)
    """

    weighs_views = True
    distributes = True
    _times_an_epoch = _TIMES_AN_EPOCH
    settings = {
        "max_iter": Whole(remedy="None chooses it by the number of rows", also=(None,)),
        "batch_size": BatchSize(remedy="100 is usual"),
        "learning_rate": Number(remedy="0.002 is usual with Adam"),
        "optimizer": IsPart(Optimizer, "Adam()"),
        "max_update": Number(remedy="None sets no limit", also=(None,)),
        "schedule": Choice(("constant", "linear", "inverse"), remedy="'linear' is usual"),
        "weight_decay": Number(inclusive=True, remedy="0 switches it off", also=("auto",)),
        "l1": Number(inclusive=True, remedy="0 switches it off"),
        "average": Flag(),
        "early_stopping": Choice((None, *_CRITERIA), remedy="None switches it off"),
        "stopping_fraction": Number(below=1.0, remedy="0.1 is usual"),
        "patience": Whole(remedy="3 is usual"),
        "tol": Number(inclusive=True, remedy="1e-4 is usual"),
        "largest_gap": Number(inclusive=True, remedy="0.1 is usual"),
        "checkpoint": CheckpointPath(),
        "updates": Whole(remedy="None is 3,000, or 1,500 with an average", also=(None,)),
    }

    def __init__(
        self,
        max_iter: int | None = None,
        batch_size: float = 100,
        learning_rate: float = 0.002,
        optimizer: Optimizer | str | None = None,
        max_update: float | None = None,
        schedule: Literal["linear", "constant", "inverse"] = "linear",
        weight_decay: float | Literal["auto"] = 1e-4,
        l1: float = 0.0,
        average: bool = False,
        early_stopping: Literal["reconstruction", "free_energy_gap"] | None = None,
        stopping_fraction: float = 0.1,
        patience: int = 3,
        tol: float = 1e-4,
        largest_gap: float = 0.1,
        checkpoint: str | os.PathLike[str] | None = None,
        updates: int | None = None,
    ) -> None:
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.optimizer = optimizer
        self.max_update = max_update
        self.schedule = schedule
        self.weight_decay = weight_decay
        self.l1 = l1
        self.average = average
        self.early_stopping = early_stopping
        self.stopping_fraction = stopping_fraction
        self.patience = patience
        self.tol = tol
        self.largest_gap = largest_gap
        self.checkpoint = checkpoint
        self.updates = updates

    def epochs(self, n_rows: int) -> int:
        """Return ``max_iter``, or enough epochs for the usual number of updates."""
        if self.max_iter is not None:
            return self.max_iter
        fewest, most = _EPOCHS
        most = _MOST_AVERAGED if self.average else most
        return int(np.clip(np.ceil(self._updates * self.rows_of_batch(n_rows) / n_rows), fewest, most))

    @property
    def epochs_are_given(self) -> bool:
        """Whether ``max_iter`` is a number."""
        return self.max_iter is not None

    @property
    def _updates(self) -> int:
        """Number of updates that are planned; there may be more or fewer, as epochs are whole and have limits."""
        if self.updates is not None:
            return self.updates
        return _UPDATES_AVERAGED if self.average else _UPDATES

    def planned_rows(self, n_rows: int, max_epochs: int | None = None) -> int:
        """Return the number of epochs times that of rows not held out to stop early."""
        return super().planned_rows(n_rows - self._n_held_out(n_rows), max_epochs)

    def rows_of_batch(self, n_rows: int) -> int:
        """Return the number of rows in a batch.

        Parameters
        ----------
        n_rows : int
            Number of training rows.

        Returns
        -------
        int
            ``batch_size``, or that share of the rows, between 10 and 100.
        """
        if self.batch_size >= 1:
            return int(self.batch_size)
        return int(np.clip(self.batch_size * n_rows, *_BATCH_ROWS))

    def no_batches(self) -> str | None:
        """Return None: batches are all it needs."""
        return None

    def update(self, run: Run) -> None:
        """Train by one pass over the rows, at a constant step."""
        training = run.training
        training.n_items += len(run.data)
        selection = run.problem.selection(training.n_items, streams=True)
        self.epoch(run, np.arange(len(run.data)), selection)
        training.log.n_iter += 1

    def run(self, run: Run, epoch: Callable[..., None] | None = None) -> None:
        """Train by epochs over shuffled rows.

        ``epoch``, by default the method of that name, may be that of another driver, and takes what it takes.
        """
        problem, data, training, one_pass = run.problem, run.data, run.training, epoch or self.epoch
        with run.checkpoint.level("epochs", lambda: _Epochs(self._held_out(len(data), run.rng))) as state:
            rows = np.delete(np.arange(len(data)), state.held_out)
            monitor = Monitor(problem, data, rows, state.held_out)
            monitor.start = state.start = state.start or monitor.begin(training.parameters)
            training.n_items, n_epochs = len(rows), self.epochs(len(rows))
            selection, scale = problem.selection(len(rows)), self._learning_rate_scale(problem, data, rows)
            with interruptible(run, lambda: _finish(run, rows, state, monitor)):
                while state.done < min(n_epochs, run.max_epochs or n_epochs):
                    begin = time.perf_counter()
                    one_pass(run, rows, selection, (state.done, n_epochs), scale)
                    solve_head(problem, data, rows, training)
                    seconds = time.perf_counter() - begin
                    state.done += 1
                    if self._recorded(run, state, monitor, selection, seconds):
                        break
                    run.checkpoint.write()

    def _recorded(self, run: Run, state: _Epochs, monitor: Monitor, selection: Selection, seconds: float) -> bool:
        """Record an epoch that is done, and return whether it is the last."""
        training = run.training
        training.log.n_iter += 1
        entry = {"epoch": training.log.n_iter, **monitor.read(training.result, state.done, self.learning_rate)}
        entry |= selection.read(training.result, monitor.presence)
        training.log.add({**entry, "seconds": seconds})
        run.reporter.epoch(state.done, entry)
        is_enough = self._is_enough(state, entry, training)
        training.snapshot()
        seen_enough = run.callback is not None and run.callback(training)  # also of the last epoch
        if is_enough:
            training.log.stopped = f"early stopping on {self.early_stopping} at epoch {state.done}"
        return is_enough or seen_enough

    def epoch(
        self,
        run: Run,
        rows: np.ndarray,
        selection: Selection,
        position: tuple[int, ...] | None = None,
        learning_rate_scale: dict[str, float] | None = None,
    ) -> None:
        """Train in place by one pass over some rows.

        Parameters
        ----------
        run : Run
            The model, where gradients come from, data, the training to change, random numbers, and a reporter.
        rows : ndarray of int
            Numbers of the rows to visit, in an order that is drawn at random.
        selection : Selection
            What the hidden layer does about its units.
        position : tuple of int, optional
            Epochs done and epochs planned, for the schedule; or parts of epochs, and how many of them make one. Without
            it the step is constant.
        learning_rate_scale : dict of str to float, optional
            Share of the step that the weights of each view take, where it is not all of it. Default: what
            ``max_update`` and the weights of the views make of these rows.
        """
        problem, data, training = run.problem, run.data, run.training
        if learning_rate_scale is None:
            learning_rate_scale = self._learning_rate_scale(problem, data, rows)
        pieces = data.shuffled(rows, self.rows_of_batch(len(rows)), run.rng)
        n_batches = len(pieces)
        every = max(1, n_batches // self._times_an_epoch)
        optimizer, decay = self.optimizer_for(problem), self._decay(problem, training.n_items)
        # updates that are flushed after every step need not be lazy
        steps = BatchSteps(run, selection, optimizer, decay, learning_rate_scale, self.l1, lazy=every > 1)
        for number, batch in enumerate(data.batches(pieces, problem.energy.families)):
            rate = self.learning_rate * self._share(number / n_batches, position)
            try:
                steps.take(batch, rate, is_last=number + 1 == n_batches)
            except ValueError:
                # samplers and decompositions refuse what is not finite: say where it comes from
                check_finite(training.parameters, training.log.n_iter + 1, self.learning_rate)
                raise
            if (number + 1) % every == 0:
                steps.update_prior()
                if self.average:
                    training.add_to_average(self.horizon(n_batches) / every)
            run.reporter.batch(batch.n_rows)
        steps.flush()
        check_finite(training.parameters, training.log.n_iter + 1, self.learning_rate)

    def optimizer_for(self, problem: Problem) -> Optimizer:
        """Return the optimizer that is given, or the default for the hidden layer.

        Parameters
        ----------
        problem : Problem
            The model to be trained.

        Returns
        -------
        Optimizer
            The optimizer.
        """
        given = as_part(Optimizer, self.optimizer)
        return Adam(shared=problem.energy.hidden.selection.selects) if given is None else given

    def with_numbers(self, problem: Problem, n_rows: int) -> Stochastic:
        """Return a driver that treats some of the rows as this one treats all.

        Parameters
        ----------
        problem : Problem
            The model to be trained.
        n_rows : int
            Number of all training rows.

        Returns
        -------
        Stochastic
            A driver whose batches and decay do not depend on the number of rows, and which keeps no average.
        """
        settings = self.get_params(deep=False)
        fixed = {"batch_size": self.rows_of_batch(n_rows), "weight_decay": self._decay(problem, n_rows)}
        driver = Stochastic(**(settings | fixed | {"average": False, "checkpoint": None}))
        driver._times_an_epoch = 1  # some of the rows are a piece of an epoch
        return driver

    def _decay(self, problem: Problem, n_rows: int) -> float:
        """Return the weight decay, or that for this many features and rows."""
        if self.weight_decay != "auto":
            return float(self.weight_decay)
        n_features = sum(family.n_features_ for family in problem.energy.families.values())
        return min(_LARGEST_DECAY, n_features / n_rows)

    def _learning_rate_scale(self, problem: Problem, data: Data, rows: np.ndarray) -> dict[str, float]:
        """Return the share of the step that the weights of each view take, where it is not all of it."""
        families, scale = problem.energy.families, dict[str, float]()
        if self.max_update is not None:
            batch = data.spaced(_SAMPLE, families, rows)
            for name, family in families.items():
                distance = span(batch.views[name], problem.reference[name], family)
                scale[name] = min(self.max_update / self.learning_rate / distance, _LARGEST_SCALE)
        # the view that weighs most takes whole steps, as larger ones would go astray
        heaviest = max(problem.view_weights.values(), default=1.0)
        for name, weight in problem.view_weights.items():
            scale[name] = scale.get(name, 1.0) * weight / heaviest
        return {weights_of(name): factor for name, factor in scale.items() if factor != 1}

    def horizon(self, n_batches: int) -> float:
        """Return the number of updates that the average spans.

        Parameters
        ----------
        n_batches : int
            Number of batches in an epoch.

        Returns
        -------
        float
            Those of two epochs, or a share of all that are planned.
        """
        return max(_HORIZON_EPOCHS * n_batches, _HORIZON_SHARE * self._updates)

    def _share(self, fraction: float, position: tuple[int, ...] | None) -> float:
        """Return the share of the learning rate that the schedule leaves."""
        if position is None or self.schedule == "constant":
            return 1.0
        done, planned, in_an_epoch = (*position, 1)[:3]
        if self.schedule == "linear":
            return 1.0 - (done + fraction) / planned
        return 1.0 / (1.0 + (done + fraction) / in_an_epoch)

    def _held_out(self, n_rows: int, rng: np.random.Generator) -> np.ndarray:
        """Return the rows held out for early stopping."""
        if self.early_stopping is None:
            return np.arange(0)
        order = rng.permutation(n_rows)
        held_out = self._n_held_out(n_rows)
        if held_out >= n_rows:
            raise ValueError(f"early_stopping needs at least 2 rows; got {n_rows}; pass early_stopping=None.")
        return np.sort(order[:held_out])

    def _n_held_out(self, n_rows: int) -> int:
        """Return the number of rows held out for early stopping."""
        return 0 if self.early_stopping is None else max(1, round(self.stopping_fraction * n_rows))

    def _is_enough(self, state: _Epochs, entry: dict[str, float], training: Training) -> bool:
        """Return whether to stop early after this epoch; keep its parameters if it improved."""
        if self.early_stopping is None:
            return False
        value = entry[_CRITERIA[self.early_stopping]]
        if self.early_stopping == "free_energy_gap":
            improved = value <= self.largest_gap
        else:
            improved = value < state.lowest - self.tol * abs(state.lowest) if np.isfinite(state.lowest) else True
        if improved:
            state.lowest, state.waited = value, 0
            state.best = copy_parameters(training.result)
        else:
            state.waited += 1
        return state.waited >= self.patience


@serializable
@dataclass
class _Epochs:
    """Where a run stands: rows held out, the first reading, epochs done, and the best of them for early stopping."""

    held_out: np.ndarray
    start: Reading | None = None
    done: int = 0
    lowest: float = np.inf
    waited: int = 0
    best: Parameters | None = None


def _finish(run: Run, rows: np.ndarray, state: _Epochs, monitor: Monitor) -> None:
    """Turn what was learned into the result: the average, or the best epoch, with a head that is solved."""
    training = run.training
    training.parameters, training.average = training.result, None
    training.parameters.update(state.best or {})
    solve_head(run.problem, run.data, rows, training, final=True)
    training.log.idle_units = monitor.idle_units(training.parameters)
