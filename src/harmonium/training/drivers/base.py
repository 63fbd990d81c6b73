"""Base of all drivers, and the exact solution of heads between their steps."""

from __future__ import annotations

import os
from typing import ClassVar

import numpy as np

from harmonium.core.parts import Part
from harmonium.core.targets import Targets
from harmonium.kernels.optim.dual_coordinate_descent import TOLERANCE
from harmonium.objectives import Objective
from harmonium.objectives.problem import Problem
from harmonium.training.drivers.run import Run
from harmonium.training.state import Training
from harmonium.views.data import Data

# Gap to the head's optimum that may remain while the views still move: a convention, ten times the last one.
_IN_BETWEEN = 1e-3


class Driver(Part):
    """Base of all drivers: how parameters move, in the only loops over data.

    A subclass defines `epochs` and `run`; and `update` and `no_batches`, if it can be trained by ``partial_fit``. It
    changes nothing but the `Training` that it is given.

    Attributes
    ----------
    keeps_draws : bool
        Whether the driver samples from a posterior, so that a fit that continues keeps the draws of the last one.
    checkpoint : str or path, optional
        File to which the state of a fit is written now and then; None for drivers that have no such setting.
    unit : str
        What ``n_iter_`` counts, in a word.
    weighs_views : bool
        Whether views can weigh more or less while the driver trains a model.
    distributes : bool
        Whether `Distributed` can take its steps on a cluster.

    Examples
    --------
    >>> from harmonium import LBFGS, Langevin
    >>> LBFGS(max_iter=50).epochs(n_rows=1000), Langevin().epochs(n_rows=1000)
    (5, 1000)
    >>> LBFGS().no_batches()
    'partial_fit needs the Stochastic() driver; got LBFGS; use fit instead.'
    """

    role = "driver"
    # a new fit of a loaded model is another run
    not_saved: ClassVar[tuple[str, ...]] = ("checkpoint",)
    #: whether the driver samples from a posterior, so that a fit that continues keeps the draws of the last one
    keeps_draws: bool = False
    #: file to which the state of a fit is written now and then
    checkpoint: str | os.PathLike[str] | None = None
    #: what `Training.n_iter` counts
    unit: str = "epoch"
    #: whether views can weigh more or less while it trains a model
    weighs_views: bool = False
    #: whether `Distributed` can take its steps on a cluster
    distributes: bool = False

    def check_model(self, problem: Problem, objective: Objective) -> None:
        """Refuse a model or an objective that the driver cannot train.

        It is called once, before anything is computed.

        Parameters
        ----------
        problem : Problem
            Structure of the model, mean statistics of the training data, and the head.
        objective : Objective
            Where gradients come from.

        Raises
        ------
        ValueError
            If the driver cannot train them, with what to do about it.
        """

    def no_batches(self) -> str | None:
        """Return why the driver cannot be used by ``partial_fit``.

        Returns
        -------
        str or None
            One sentence that says what to do instead; None if it can.
        """
        return f"partial_fit needs the Stochastic() driver; got {type(self).__name__}; use fit instead."

    def alike(self, driver: Driver) -> Driver:
        """Return a driver of other units that runs where this one does.

        Parameters
        ----------
        driver : Driver
            How the other units are trained on one machine.

        Returns
        -------
        Driver
            The driver itself, unless this one works on a cluster.
        """
        return driver

    def epochs(self, n_rows: int) -> int:
        """Return the number of epochs that are planned.

        Parameters
        ----------
        n_rows : int
            Number of training rows.

        Returns
        -------
        int
            Epochs, in the unit that `run` counts ``max_epochs`` in.
        """
        raise NotImplementedError

    @property
    def epochs_are_given(self) -> bool:
        """Whether the user says how many epochs there are.

        A search for settings may then not have fewer.
        """
        return True

    def planned_rows(self, n_rows: int, max_epochs: int | None = None) -> int:
        """Return the number of rows that a run visits at most, for the progress bar.

        Parameters
        ----------
        n_rows : int
            Number of training rows.
        max_epochs : int, optional
            Number of epochs after which to end, as for `run`.

        Returns
        -------
        int
            Rows, each counted as often as it is visited.
        """
        planned = self.epochs(n_rows)
        return min(planned, max_epochs or planned) * n_rows

    def run(self, run: Run) -> None:
        """Train in place, until the plan is done or something ends it.

        An interrupt (Ctrl-C) leaves what was learned until then, if anything was, and ``training.interrupted`` says so;
        the `KeyboardInterrupt` goes on to the caller.

        Parameters
        ----------
        run : Run
            Problem, objective, data, the training to change, random numbers, and what goes with them.
        """
        raise NotImplementedError

    def update(self, run: Run) -> None:
        """Train in place by one pass over some more rows, for ``partial_fit``.

        Parameters
        ----------
        run : Run
            The model, the objective, the rows, the training to change, and random numbers.
        """
        raise NotImplementedError


def solve_head(problem: Problem, data: Data, rows: np.ndarray, training: Training, final: bool = False) -> None:
    """Move a head that is solved for to its optimum at the present hidden means; do nothing for other heads.

    The ``final`` solution of a run is more precise than those in between.
    """
    head, energy = problem.head, problem.energy
    if head is None or not head.is_solved:
        return
    means, targets = [], []
    for block in data.blocks(energy.families, rows):
        batch = problem.complete(training.parameters, block)
        assert batch.targets is not None
        natural = energy.hidden_natural(training.parameters, batch)
        means.append(energy.layer(training.parameters).mean(natural))
        targets.append(batch.targets)
    tolerance = TOLERANCE if final else _IN_BETWEEN
    solution, training.dual = head.solve(np.concatenate(means), Targets.joined(targets), training.dual, tolerance)
    training.parameters.update({name: value.astype(np.float32) for name, value in solution.items()})
