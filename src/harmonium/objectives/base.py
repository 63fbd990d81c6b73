"""What an objective must be able to do: add the statistics of a batch. Nothing here loops over epochs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from harmonium.batch import Batch
from harmonium.energy import Energy
from harmonium.inference.mean_field import fill_missing
from harmonium.objectives.statistics import Statistics
from harmonium.params import Parameters
from harmonium.parts import Part
from harmonium.validation import check_whole


@dataclass
class Problem:
    """A model to be trained: its structure, and the mean statistics of the training data by view."""

    energy: Energy
    reference: dict[str, np.ndarray]

    def complete(self, parameters: Parameters, batch: Batch) -> Batch:
        """The batch with its missing part inferred (a few mean-field steps are enough for a gradient)."""
        return fill_missing(self.energy, parameters, batch, self.reference, n_iterations=3)


class Objective(Part):
    """A loss to be minimised, known through its gradient.

    Attributes
    ----------
    has_loss : bool
        Whether `accumulate` gives a loss that goes with its gradient; line searches (L-BFGS) need it.
    """

    role = "objective"
    has_loss: bool = False

    def start(self, problem: Problem, batch: Batch, rng: np.random.Generator) -> Any:
        """State that lives from batch to batch (persistent chains), or None."""
        return None

    def accumulate(
        self,
        problem: Problem,
        parameters: Parameters,
        batch: Batch,
        into: Statistics,
        rng: np.random.Generator,
        state: Any = None,
        with_loss: bool = False,
    ) -> None:
        """Add the batch's statistics to ``into``; the loss only if asked for, as it can cost more than the gradient."""
        raise NotImplementedError


def check_steps(owner: str, n_steps: int) -> None:
    """Refuse a number of Gibbs or mean-field steps that is not a whole number from 1 up."""
    check_whole(owner, "n_steps", n_steps, remedy="1 is usual")
