"""What a driver is given and what it returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from harmonium.objectives import Objective, Problem
from harmonium.params import Parameters
from harmonium.parts import Part
from harmonium.training.progress import Reporter
from harmonium.views import Views


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

    def record(self, entry: dict[str, float]) -> None:
        """Append to the history."""
        for name, value in entry.items():
            self.history.setdefault(name, []).append(value)


class Driver(Part):
    """How parameters move: the only loops over data."""

    role = "driver"

    def check(self) -> None:
        """Refuse settings that make no sense, before anything is computed."""

    def planned_rows(self, n_rows: int) -> int:
        """Rows that a whole fit will touch, for the progress bar."""
        raise NotImplementedError

    def run(
        self,
        problem: Problem,
        objective: Objective,
        views: Views,
        training: Training,
        rng: np.random.Generator,
        reporter: Reporter,
    ) -> None:
        """Train in place, to the end."""
        raise NotImplementedError
