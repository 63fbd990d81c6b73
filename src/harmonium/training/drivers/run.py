"""Run of a driver: everything that it is given, and what an interrupt leaves of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np

from harmonium.core.progress_bar import Reporter, Silent
from harmonium.objectives import Objective
from harmonium.objectives.problem import Problem
from harmonium.training.checkpoint import NOWHERE, Checkpoint
from harmonium.training.state import INTERRUPTED, Training
from harmonium.views.data import Data

#: called after every epoch with what has been learned so far; the run ends if it returns True
Callback = Callable[[Training], bool]


@dataclass(frozen=True)
class Run:
    """One run of a driver.

    Parameters
    ----------
    problem : Problem
        The model to be trained; not to be changed.
    objective : Objective
        Where gradients come from.
    data : Data
        Views and targets of the training rows.
    training : Training
        Where training stands; changed in place. Parameters stay finite, or a `DivergenceError` is raised.
    rng : numpy.random.Generator
        The only source of random numbers.
    reporter : Reporter
        To be told about every batch and every epoch.
    callback : callable, optional
        Called with ``training`` after every epoch; the run ends if it returns True.
    max_epochs : int, optional
        Number of epochs after which to end, though more are planned (a schedule still counts on all of them).
    checkpoint : Checkpoint
        Where to keep what the rest of the run depends on, beside ``training`` and ``rng``, which the caller keeps.

    Examples
    --------
    >>> from harmonium import Bernoulli, Stochastic
    >>> from harmonium.hidden import BernoulliUnits
    >>> from harmonium.objectives import SampledCD
    >>> from harmonium.energy import Energy
    >>> from harmonium.training.initialise import initial_training
    >>> from harmonium.views import Views
    >>> X = (np.random.default_rng(0).random((20, 3)) < 0.5).astype(float)
    >>> energy = Energy({"x": Bernoulli().restore(3, {})}, BernoulliUnits().bind(2))
    >>> problem, data = Problem(energy, {"x": X.mean(axis=0)}), Data(Views({"x": X}))
    >>> training = initial_training(problem, data, np.random.default_rng(0))
    >>> Stochastic(max_iter=2).run(Run(problem, SampledCD(), data, training, np.random.default_rng(0)))
    >>> training.log.n_iter
    2
    """

    problem: Problem
    objective: Objective
    data: Data
    training: Training
    rng: np.random.Generator
    reporter: Reporter = field(default_factory=Silent)
    callback: Callback | None = None
    max_epochs: int | None = None
    checkpoint: Checkpoint = NOWHERE


@contextmanager
def interruptible(run: Run, finish: Callable[[], None], restore: Callable[[], bool] | None = None) -> Iterator[None]:
    """Give a context for the steps of a driver, and finish in the end.

    An interrupt (Ctrl-C) can come in the middle of a step: what complete steps have left is restored and finished, if
    there is any, ``training.interrupted`` says so, and the `KeyboardInterrupt` goes on to the caller.

    Parameters
    ----------
    run : Run
        What the driver was given.
    finish : callable
        Turns what was learned into the result.
    restore : callable, optional
        Goes back to complete steps, and returns whether there are any. Default: to the last snapshot of the training.
    """
    training = run.training
    try:
        yield
        if restore is None:
            training.snapshot(always=True)
        finish()
    except KeyboardInterrupt:
        if (restore or training.restore)():
            finish()
            training.log.stopped = INTERRUPTED
        raise
