"""Run of a driver: everything that it is given."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from harmonium.objectives import Objective
from harmonium.objectives.problem import Problem
from harmonium.training.checkpoint.file import NOWHERE, Checkpoint
from harmonium.training.drivers.progress import Reporter, Silent
from harmonium.training.state import Training
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
