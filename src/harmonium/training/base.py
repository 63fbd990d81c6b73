"""What a driver is given and what it returns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from harmonium.kernels.dual import TOLERANCE
from harmonium.objectives import Objective, Problem
from harmonium.params import Parameters
from harmonium.parts import Part
from harmonium.targets import Targets
from harmonium.training.posterior import Posterior
from harmonium.training.progress import Reporter
from harmonium.views.data import Data

_IN_BETWEEN = 1e-3  # gap to the head's optimum while the views still move


@dataclass
class Training:
    """A fit under way: parameters, what drivers and objectives remember, and the record of every epoch."""

    parameters: Parameters
    slots: Any = None
    chains: Any = None
    n_updates: int = 0
    n_iter: int = 0
    history: dict[str, list[float]] = field(default_factory=dict)
    stopped: str = "max_iter reached"
    idle_units: int = 0
    dual: Any = None
    average: Parameters | None = None
    n_averaged: int = 0
    n_items: int = 0
    n_settled: int = 0
    posterior: Posterior | None = None
    stream: np.random.Generator | None = None

    @property
    def result(self) -> Parameters:
        """What has been learned: the parameters, or their running average if there is one."""
        return self.parameters if self.average is None else self.average

    def record(self, entry: dict[str, float]) -> None:
        """Append to the history."""
        for name, value in entry.items():
            self.history.setdefault(name, []).append(value)


# called after every epoch with what has been learned so far; True ends the run
Watch = Callable[[Training], bool]


class Driver(Part):
    """How parameters move: the only loops over data."""

    role = "driver"
    #: whether a fit that goes on keeps the posterior draws of the last one
    keeps_draws: bool = False

    def check_model(self, problem: Problem, objective: Objective) -> None:
        """Refuse a model or an objective that it has no use for, before anything is computed."""

    def no_batches(self) -> str | None:
        """Why ``partial_fit`` cannot be had; None if it can."""
        return f"partial_fit needs the Stochastic() driver; got {type(self).__name__}; use fit instead."

    def epochs(self, n_rows: int) -> int:
        """Number of epochs planned for so many rows."""
        raise NotImplementedError

    def planned_rows(self, n_rows: int) -> int:
        """Rows that a whole run will touch, for the progress bar."""
        return self.epochs(n_rows) * n_rows

    def run(
        self,
        problem: Problem,
        objective: Objective,
        data: Data,
        training: Training,
        rng: np.random.Generator,
        reporter: Reporter,
        watch: Watch | None = None,
        last: int | None = None,
    ) -> None:
        """Train in place, to the end, or until ``watch`` says so, or ``last`` epochs of the plan are done."""
        raise NotImplementedError

    def update(
        self, problem: Problem, objective: Objective, data: Data, training: Training, rng: np.random.Generator
    ) -> None:
        """Train in place by one pass over some more rows."""
        raise NotImplementedError


def solve_head(problem: Problem, data: Data, rows: np.ndarray, training: Training, last: bool = False) -> None:
    """Give a head that is solved for its optimum for the hidden means as they are; does nothing for others.

    The ``last`` solution is more precise than those in between.
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
    tolerance = TOLERANCE if last else _IN_BETWEEN
    solution, training.dual = head.solve(np.concatenate(means), Targets.joined(targets), training.dual, tolerance)
    training.parameters.update({name: value.astype(np.float32) for name, value in solution.items()})
