"""Candidate units: models with some number of new units are trained for a while and judged on held-out rows.

The judge is held-out reconstruction: how well parts of rows that the model was not trained on are predicted from their
other parts. It compares models with any number of units, whose partition functions are unknown, at the cost of a few
matrix products, and a unit that stands for nothing makes it worse.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from harmonium.core.batch import Batch, ViewBatch
from harmonium.core.parameters import HIDDEN_BIAS, Parameters, copy_parameters
from harmonium.families import Family
from harmonium.inference.mean_field import fill_missing
from harmonium.kernels.sparse.matrix import to_dense
from harmonium.linear.comparison import is_better
from harmonium.objectives.problem import Problem
from harmonium.storage import serializable
from harmonium.training.drivers.monitor import loss_of_view
from harmonium.training.drivers.run import Run
from harmonium.training.growth.new_units import GrownModel, sources_of, units_from_sources, with_units
from harmonium.training.growth.spectrum import residuals, sampled_rows, standardised, unexplained
from harmonium.training.plan import Plan
from harmonium.training.state import Training
from harmonium.views.data import Data

# Epochs of a candidate. Set on development seeds 1 and 2 of the generators of benchmarks/infinite_truth.
_EPOCHS = 5
# Scales of new units that are tried: a convention. Of words, 1/8 was best.
_SCALES = (1.0, 1 / 2, 1 / 4, 1 / 8, 1 / 16)
# Epochs without improvement after which units that are no features have learned enough: a convention.
_PATIENCE = 3


@serializable
@dataclass(frozen=True)
class CandidateUnits:
    """A number of units, the kind and scale of their sources, and the loss of reconstructing each held-out row.

    Parameters are the initial ones, and those after a few epochs; the loss is that of the better ones.
    """

    n_units: int
    kind: int
    scale: float
    initial: Parameters
    trained: Parameters
    losses: np.ndarray | None

    @property
    def cost(self) -> float:
        """Mean loss of held-out rows; without such rows, more units count as better."""
        return -float(self.n_units) if self.losses is None else float(self.losses.mean())

    def is_clearly_better(self, other: CandidateUnits) -> bool:
        """Return whether held-out rows are reconstructed better, by more than one standard error."""
        if self.losses is None or other.losses is None:
            return False
        return is_better(self.losses, other.losses, np.ones(len(self.losses)))


class CandidateTrainer:
    """Makes candidates, trains them on some rows, and judges them by others."""

    def __init__(self, problem: Problem, data: Data, plan: Plan, held_out: HeldOutReconstruction | None) -> None:
        self._problem, self._data, self._plan, self._held_out = problem, data, plan, held_out
        self._rows = sampled_rows(problem, data)
        self._n_features = sum(family.n_features_ for family in problem.energy.families.values())
        self.most = min(problem.energy.hidden.n_units_, self._n_features, len(self._rows) - 1)
        self._without_units = units_from_sources(
            problem, data, np.zeros((self._n_features, 1)), np.zeros((len(self._rows), 1))
        )
        left = residuals(self._without_units.problem, self._without_units.parameters, data, self._rows)
        self._table, self._deviation = standardised(left)

    def without_units(self) -> GrownModel:
        """Return the model with one unit that has no weights."""
        return self._without_units

    def empty(self) -> CandidateUnits:
        """Return the model without units, or rather with one that has no weights."""
        parameters = self._without_units.parameters
        return CandidateUnits(0, 0, 1.0, parameters, parameters, self._losses(parameters))

    def n_standing_out(self, candidate: CandidateUnits, rng: np.random.Generator) -> int:
        """Return how many more units what a candidate leaves unexplained speaks for."""
        left = self.most - candidate.n_units
        if left <= 0:
            return 0
        of, trained = self._problem_of(candidate.trained), candidate.trained
        found, chance = unexplained(of, trained, self._data, self._rows, left, rng)
        return _n_standing_out(self._problem, found, chance, candidate.n_units, len(self._data))

    def initial(self, n_units: int, kind: int, scale: float, rng: np.random.Generator) -> GrownModel:
        """Return the model with new units that stand for sources of a given kind, at a given scale."""
        effects, sources = sources_of(self._problem, self._table, self._deviation, n_units, rng)[kind]
        return units_from_sources(self._problem, self._data, scale * effects, scale * sources)

    def train(self, n_units: int, rng: np.random.Generator) -> CandidateUnits:
        """Return a candidate after a few epochs, from where held-out rows are reconstructed best."""
        n_units = min(n_units, self.most)
        kinds = sources_of(self._problem, self._table, self._deviation, n_units, rng)
        starts = [(kind, scale) for kind in range(len(kinds)) for scale in _SCALES]
        if self._held_out is None:
            starts = starts[:1]
        models = [
            units_from_sources(self._problem, self._data, scale * kinds[kind][0], scale * kinds[kind][1])
            for kind, scale in starts
        ]
        by_start = [self._losses(model.parameters) for model in models]
        chosen = int(np.argmin([0.0 if losses is None else losses.mean() for losses in by_start]))
        model, losses = models[chosen], by_start[chosen]
        training = Training(copy_parameters(model.parameters))
        driver, objective = self._plan.driver, self._plan.objective
        driver.run(Run(model.problem, objective, self._data, training, rng, max_epochs=_EPOCHS))
        later = self._losses(training.result)
        if losses is None or (later is not None and later.mean() < losses.mean()):
            losses = later
        return CandidateUnits(n_units, *starts[chosen], model.parameters, training.result, losses)

    def n_epochs(self, training: Training, costs: list[float], rng: np.random.Generator) -> int | None:
        """Return the number of epochs after which held-out rows are reconstructed best; None if there is no epoch.

        ``costs`` are those of the epochs so far, to which more are added.
        """

        def is_enough(training: Training) -> bool:
            losses = self._losses(training.result)
            assert losses is not None
            costs.append(float(losses.mean()))
            return len(costs) - 1 - int(np.argmin(costs)) >= _PATIENCE

        plan, problem = self._plan, self._problem_of(training.parameters)
        run = Run(problem, plan.objective, self._data, training, rng, callback=is_enough, checkpoint=plan.checkpoint)
        plan.driver.run(run)
        return int(np.argmin(costs)) + 1 if costs else None

    def _problem_of(self, parameters: Parameters) -> Problem:
        """Return the problem with as many units as there are parameters for."""
        return with_units(self._problem, len(parameters[HIDDEN_BIAS]))

    def _losses(self, parameters: Parameters) -> np.ndarray | None:
        """Return the loss of reconstructing each held-out row; None if no rows are held out."""
        return None if self._held_out is None else self._held_out.losses(self._problem_of(parameters), parameters)


def _n_standing_out(problem: Problem, found: np.ndarray, chance: float, n_units: int, n_items: int) -> int:
    """Return how many leading components have more evidence than chance and the prior against them.

    A component of variance v instead of 1 makes n normal rows more likely by n (v - 1 - log v) / 2 nats.
    """

    def nats(variance: np.ndarray | float) -> np.ndarray:
        bounded = np.maximum(variance, 1.0)
        return np.asarray(n_items / 2 * (bounded - 1 - np.log(bounded)))

    before = n_units + np.arange(len(found))
    prior = problem.energy.hidden.selection.prior
    assert prior is not None
    stands_out = nats(found) - nats(chance) + prior.log_odds_of_another(before, n_items) > 0
    return len(found) if stands_out.all() else int(np.argmin(stands_out))


#: parts of the sites of a row, one of which is masked: a convention
PARTS = 5


@dataclass(frozen=True)
class HeldOutReconstruction:
    """Rows of which some sites are hidden, and these sites; the same for all models that are compared.

    Attributes
    ----------
    observed : list of Batch
        Rows without the sites that are masked.
    masked : list of dict of str to ViewBatch
        The same rows, by view, in which everything but these sites counts as missing.
    """

    observed: list[Batch]
    masked: list[dict[str, ViewBatch]]

    @classmethod
    def of(cls, problem: Problem, data: Data, rng: np.random.Generator, part: int = 0) -> HeldOutReconstruction | None:
        """Return questions about all rows of some data; None if a row is a single site, which leaves nothing to ask.

        ``part`` is which of the `PARTS` of the sites is masked, all of which a generator of the same state tells apart.
        """
        families = problem.energy.families
        if sum(family.codec.n_sites for family in families.values()) < 2:
            return None
        observed, masked = [], []
        for block in data.blocks(families):
            views = {name: _split(families[name], view, rng, part) for name, view in block.views.items()}
            observed.append(Batch({name: pair[0] for name, pair in views.items()}, block.n_rows))
            masked.append({name: pair[1] for name, pair in views.items()})
        return cls(observed, masked)

    def losses(self, problem: Problem, parameters: Parameters) -> np.ndarray:
        """Return -log p(what is masked | hidden units at their means given the rest) of each row, in nats."""
        energy, losses = problem.energy, []
        layer = energy.layer(parameters)
        for observed, masked in zip(self.observed, self.masked, strict=True):
            filled = fill_missing(energy, parameters, observed, problem.reference)
            mean = layer.mean(energy.hidden_natural(parameters, filled))
            total = np.zeros(observed.n_rows)
            for name, view in masked.items():
                family, extra = energy.families[name], energy.extra(parameters, name)
                natural = family.domain.clamp(energy.view_natural(parameters, name, mean, view.size))
                total += loss_of_view(family, view, natural, extra)
            losses.append(total)
        return np.concatenate(losses)


def _split(family: Family, view: ViewBatch, rng: np.random.Generator, part: int) -> tuple[ViewBatch, ViewBatch]:
    """Return a view without the sites of a part, and the view in which all others count as missing."""
    statistic = np.asarray(to_dense(view.statistic), dtype=np.float32)
    drawn = np.floor(rng.random((len(statistic), family.codec.n_sites)) * PARTS) == part
    missing = drawn if view.missing is None else drawn | view.missing
    masked = drawn if view.missing is None else drawn & ~view.missing
    left = np.where(family.codec.spread(missing), np.float32(0), statistic)
    return replace(view, statistic=left, missing=missing), replace(view, statistic=statistic, missing=~masked)
