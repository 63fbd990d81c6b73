"""What an objective must be able to do: add the statistics of a batch. Nothing here loops over epochs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from harmonium.batch import Batch
from harmonium.energy import Energy
from harmonium.heads import Head, LinearHead
from harmonium.hidden import HiddenLayer, SpikeSlab
from harmonium.inference.mean_field import fill_missing
from harmonium.objectives.statistics import Statistics, Term
from harmonium.params import HEAD_BIAS, HEAD_WEIGHTS, HIDDEN, LOG_ODDS, Parameters, own_of
from harmonium.parts import Part
from harmonium.validation import check_whole


@dataclass
class Problem:
    """A model to be trained: its structure, the mean statistics of the training data by view, and its head.

    ``strength`` is the weight of the head's loss in nats: its C times what an average item costs to describe.
    """

    energy: Energy
    reference: dict[str, np.ndarray]
    head: Head | None = None
    strength: float = 0.0

    def complete(self, parameters: Parameters, batch: Batch) -> Batch:
        """The batch with its missing part inferred (a few mean-field steps are enough for a gradient)."""
        return fill_missing(self.energy, parameters, batch, self.reference, n_iterations=3)

    def data_term(
        self, parameters: Parameters, batch: Batch, into: Statistics, with_loss: bool = False
    ) -> tuple[Term, np.ndarray]:
        """The completed batch as a term of the gradient, with what the head makes of it, and its hidden naturals."""
        batch = self.complete(parameters, batch)
        natural = self.energy.hidden_natural(parameters, batch)
        layer = self.energy.layer(parameters)
        hidden_mean = layer.mean(natural)
        term = Term(batch, hidden_mean, -1.0)
        if isinstance(self.head, LinearHead) and batch.targets is not None:
            loss, term.pull = self.head.add_statistics(
                into.gradient, parameters, layer, natural, hidden_mean, batch.targets, self.strength
            )
            into.loss += loss if with_loss else 0.0
        count_presence(into, layer, natural, hidden_mean)
        return term, natural

    def moving(self, parameters: Parameters) -> Parameters:
        """Parameters that gradients move: not the prior of hidden units, nor a head that is solved for exactly."""
        still = {own_of(HIDDEN, name) for name in self.energy.hidden.own_names}
        if isinstance(self.head, LinearHead) and self.head.solver == "alternate":
            still |= {HEAD_WEIGHTS, HEAD_BIAS}
        return {name: value for name, value in parameters.items() if name not in still}


def count_presence(into: Statistics, layer: HiddenLayer, natural: np.ndarray, mean: np.ndarray | None = None) -> None:
    """Add how many rows have each unit, the statistic that the prior of a layer that selects units learns from."""
    if isinstance(layer, SpikeSlab):
        into.gradient[LOG_ODDS] += layer.presence(natural, mean).sum(axis=0)


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
