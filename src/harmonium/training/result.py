"""The result of a fit: all that is known of a model, and all that any question to it needs."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from harmonium.core.parameters import Parameters
from harmonium.core.targets import TargetSpec
from harmonium.energy import Energy
from harmonium.families import Family
from harmonium.heads import Head
from harmonium.objectives.problem import Problem
from harmonium.tables import Table
from harmonium.training.posterior.draws import Posterior
from harmonium.training.state import Training
from harmonium.training.topic_edits import ShownTopic, TopicEdits

_PARTS = {
    "dimensions": "dimensions (units that are not to be read)",
    "inputs": "inputs (a linear model of the columns)",
}


@dataclass(frozen=True, eq=False)
class DataDescription:
    """What a model remembers of the data that it is fitted to.

    Attributes
    ----------
    feature_names : dict of str to list of str
        Names of the features of each view.
    meaning : TargetSpec, optional
        What the targets stand for, if something is predicted.
    missing : dict of str to float
        Share of the cells of each view that the training data lack.
    table : Table, optional
        How a data frame becomes views, if the model is fitted on one.
    edits : TopicEdits
        Names of topics, and what was done to them by hand.
    """

    feature_names: dict[str, list[str]] = field(default_factory=dict)
    meaning: TargetSpec | None = None
    missing: dict[str, float] = field(default_factory=dict)
    table: Table | None = None
    edits: TopicEdits = field(default_factory=TopicEdits)


@dataclass(frozen=True, eq=False)
class Trained:
    """A model as its training leaves it: no unit is removed yet, and coordinates are those of the training.

    Attributes
    ----------
    problem : Problem
        The model.
    training : Training
        Its training.
    rng : numpy.random.Generator
        The random stream as training leaves it.
    baseline_nll, C, validation, shares
        Those of the `FittedModel`.
    n_grown : int, optional
        Number of units that were added, if the layer grows.
    lacks : str
        What an interrupted model lacks, as the end of a sentence.
    n_opened : int
        Number of units that were opened batch by batch before.
    """

    problem: Problem
    training: Training
    rng: np.random.Generator
    baseline_nll: float = 0.0
    C: float | None = None
    validation: dict[str, list[float]] | None = None
    shares: dict[str, float] = field(default_factory=dict)
    n_grown: int | None = None
    lacks: str = ""
    n_opened: int = 0


@dataclass(frozen=True, eq=False)
class FittedModel:
    """A fitted model; it is never changed, only replaced.

    Estimators keep it as ``fitted_``. Functions of it and of views (`harmonium.queries`) answer every question.

    Parameters
    ----------
    problem : Problem
        Structure, mean statistics of the training data, head, and weight of its loss.
    training : Training
        Parameters, record, posterior draws, and what is needed to continue.
    feature_names : dict of str to list of str
        Names of the features of each view.
    meaning : TargetSpec, optional
        What the targets stand for, if something is predicted.
    baseline_nll : float, default=0.0
        What an average item costs to describe: the unit of C. 0 if nothing is predicted.
    C : float, optional
        Weight of the head's loss, in that unit.
    validation : dict of str to list of float, optional
        C, epoch and held-out error of everything that was tried.
    usage : ndarray of shape (units,), optional
        Share of the training rows that have each unit, if units were selected.
    truncation_reached : bool, default=False
        Whether all units that were allowed are needed, so that more of them might be.
    relevance : dict of str to ndarray of shape (features, units)
        How much each feature of a view says about a unit, judged by the unit's most typical items; empty after
        ``partial_fit``, which does not see all items.
    missing : dict of str to float
        Share of the cells of each view that the training data lack.
    table : Table, optional
        How a data frame becomes views, if the model was fitted on one.
    shares : dict of str to float
        What scores are mixed of, if held-out rows have said so: shares of "topics", "dimensions" and "inputs", and of
        "curves" if there are any.
    remarks : tuple of str
        What the user should know about the fit.
    edits : TopicEdits
        What was done to the topics by hand; it changes what is shown, and no prediction.
    unexplained : dict of str to ndarray of shape (features,)
        What the model does not explain of an average item, by view, where ``partial_fit`` can open topics; else empty.
    n_opened : int
        Number of topics that ``partial_fit`` has opened.

    Examples
    --------
    >>> import numpy as np
    >>> from harmonium import Harmonium, Stochastic
    >>> X = (np.random.default_rng(0).random((30, 5)) < 0.5).astype(float)
    >>> model = Harmonium(2, driver=Stochastic(max_iter=2), random_state=0).fit(X).fitted_
    >>> model.n_units, model.families
    (2, {'view0': Bernoulli()})
    >>> model.parameters["view0.weights"].shape
    (5, 2)
    """

    problem: Problem
    training: Training
    feature_names: dict[str, list[str]] = field(default_factory=dict)
    meaning: TargetSpec | None = None
    baseline_nll: float = 0.0
    C: float | None = None
    validation: dict[str, list[float]] | None = None
    usage: np.ndarray | None = None
    truncation_reached: bool = False
    relevance: dict[str, np.ndarray] = field(default_factory=dict)
    missing: dict[str, float] = field(default_factory=dict)
    table: Table | None = None
    shares: dict[str, float] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    edits: TopicEdits = field(default_factory=TopicEdits)
    unexplained: dict[str, np.ndarray] = field(default_factory=dict)
    n_opened: int = 0

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
        """What is predicted; None if nothing is."""
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
    def n_topics(self) -> int:
        """Number of hidden units that are topics to be read, which come first."""
        return self.energy.hidden.groups.topics.n_units_

    @property
    def topics(self) -> tuple[ShownTopic, ...]:
        """Topics as they are shown: those units, edited by hand."""
        return self.edits.shown(self.n_topics)

    @property
    def parameters(self) -> Parameters:
        """What was learned: arrays by name."""
        return self.training.result

    @property
    def account(self) -> str | None:
        """Sentence on what predictions are made of; None if no rows were held out."""
        if not self.shares:
            return None
        parts = [f"{share:.0%} from {_PARTS.get(part, part)}" for part, share in self.shares.items() if share > 0]
        told = f"Predictions come {(' and ' if len(parts) == 2 else ', ').join(parts)}"
        if self.shares.get("topics") == 0:
            told += "; topics have no say, as held-out rows are predicted no better with them"
        return f"{told}."

    @property
    def posterior(self) -> Posterior | None:
        """Chains and their draws of the parameters; None if the driver made none."""
        return self.training.posterior

    @property
    def draws(self) -> list[Parameters]:
        """Parameters to average over: posterior draws, or the only ones there are."""
        return [self.parameters] if self.posterior is None else self.posterior.draws()

    @property
    def view_weights(self) -> dict[str, float]:
        """How much each view that users pass weighed while the model was trained."""
        return {name: float(self.problem.view_weights.get(name, 1.0)) for name in self.input_names}

    @property
    def input_names(self) -> list[str]:
        """Names of the views that users pass: all but those that the head adds."""
        added = {} if self.head is None else self.head.added_views
        return [name for name in self.families if name not in added]
