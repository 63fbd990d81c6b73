"""What an objective must be able to do: add the statistics of a batch. Nothing here loops over epochs."""

from __future__ import annotations

from typing import Any

import numpy as np

from harmonium.batch import Batch
from harmonium.objectives.problem import Problem
from harmonium.objectives.statistics import Statistics
from harmonium.params import Parameters
from harmonium.parts import Part
from harmonium.validation import Whole

#: number of Gibbs or mean-field steps
STEPS = Whole(remedy="1 is usual")


class Objective(Part):
    """A loss to be minimised, known through its gradient.

    Attributes
    ----------
    has_loss : bool
        Whether `accumulate` gives a loss that goes with its gradient; line searches (L-BFGS) need it.
    weighs_labels : bool
        Whether labels that are a view count by the weights of their rows.
    """

    role = "objective"
    has_loss: bool = False
    weighs_labels: bool = False

    @property
    def remembers(self) -> bool:
        """Whether it keeps a state from batch to batch, such as persistent chains: whether it has a `start`."""
        return type(self).start is not Objective.start

    @property
    def brief_steps(self) -> int | None:
        """Number of Gibbs steps from the data, if what it compares the data with is drawn that way; else None."""
        return None

    def check_model(self, problem: Problem) -> None:
        """Refuse a model that it cannot train, before anything is computed."""

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
