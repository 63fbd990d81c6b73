"""The result of a fit: everything that is known of a model, and all that any question to it needs."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from harmonium.energy import Energy
from harmonium.families import Family
from harmonium.heads import Head
from harmonium.objectives.problem import Problem
from harmonium.params import Parameters
from harmonium.targets import Meaning
from harmonium.training.base import Training
from harmonium.training.posterior import Posterior


@dataclass(frozen=True, eq=False)
class FittedModel:
    """A fitted model. Functions of it and of views answer every question; it is never changed, only replaced.

    Attributes
    ----------
    problem : Problem
        Structure, reference means, head and the weight of its loss.
    training : Training
        Parameters, record, posterior draws, and what is needed to go on.
    feature_names : dict of list of str
        Names of the features of each view.
    meaning : Meaning, optional
        What the targets stand for, if something is predicted.
    nats : float
        What an average item costs to describe: the unit of C.
    C : float, optional
        Weight of the head's loss, in that unit.
    validation : dict of lists, optional
        C, epoch and held-out error of everything that was tried.
    usage : ndarray (units,), optional
        Share of the training rows that have each unit, if units were selected.
    truncation_reached : bool
        Whether all units were found to be of use, so that there might be more.
    remarks : tuple of str
        What the user should know of the fit.
    """

    problem: Problem
    training: Training
    feature_names: dict[str, list[str]] = field(default_factory=dict)
    meaning: Meaning | None = None
    nats: float = 0.0
    C: float | None = None
    validation: dict[str, list[float]] | None = None
    usage: np.ndarray | None = None
    truncation_reached: bool = False
    remarks: tuple[str, ...] = ()

    @property
    def energy(self) -> Energy:
        """Structure of the model."""
        return self.problem.energy

    @property
    def families(self) -> dict[str, Family]:
        """Family of each view."""
        return self.problem.energy.families

    @property
    def head(self) -> Head | None:
        """What is predicted."""
        return self.problem.head

    @property
    def reference(self) -> dict[str, np.ndarray]:
        """Mean statistics of the training data, by view."""
        return self.problem.reference

    @property
    def n_units(self) -> int:
        """Number of hidden units."""
        return self.energy.hidden.n_units_

    @property
    def parameters(self) -> Parameters:
        """What was learned."""
        return self.training.result

    @property
    def posterior(self) -> Posterior | None:
        """Draws of the parameters, if there are any."""
        return self.training.posterior

    @property
    def draws(self) -> list[Parameters]:
        """Parameters to average over: posterior draws, or the only ones there are."""
        return [self.parameters] if self.posterior is None else self.posterior.draws()

    @property
    def input_names(self) -> list[str]:
        """Names of the views that users bring: all but those that the head adds."""
        added = () if self.head is None else self.head.view_names
        return [name for name in self.families if name not in added]
