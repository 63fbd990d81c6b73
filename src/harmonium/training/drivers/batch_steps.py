"""Steps along the gradients of minibatches, and what is done after every few of them.

A step moves every weight of a unit by about the learning rate, and the unit's natural parameter by that times the total
of a row. Where totals are in the thousands, one step would put all rows on the same side of the unit. So the hidden
bias compensates for what a step does to the natural of the mean item, as if the view had been centred; the biases of
the views, which only see a few units, follow by themselves.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from harmonium.core.batch import Batch, ViewBatch
from harmonium.core.parameters import HIDDEN_BIAS, Parameters, weights_of
from harmonium.families import Family
from harmonium.hidden.selection import Selection
from harmonium.kernels.sparse.entries import entries
from harmonium.objectives.problem import Problem
from harmonium.objectives.statistics import Statistics
from harmonium.training.drivers.optimizers import Optimizer, Step
from harmonium.training.drivers.projection import project, shorten
from harmonium.training.drivers.run import Run


class BatchSteps:
    """Steps of an optimizer, one for every batch, which change the training of a run in place.

    Parameters
    ----------
    run : Run
        The model, where gradients come from, the training to change, and random numbers.
    selection : Selection
        What the hidden layer does about its units.
    optimizer : Optimizer
        How a gradient moves the parameters.
    decay : float
        Weights shrink by this times the rate.
    scale : mapping of str to float
        Share of the rate that a parameter takes, where it is not all of it.
    l1 : float
        Weights of views move towards zero by this times the rate.
    lazy : bool
        Whether rows without a gradient may wait until `flush`.
    """

    def __init__(
        self,
        run: Run,
        selection: Selection,
        optimizer: Optimizer,
        decay: float,
        scale: Mapping[str, float],
        l1: float,
        lazy: bool,
    ) -> None:
        problem, training = run.problem, run.training
        if training.optimizer is None:
            training.optimizer = optimizer.start(training.parameters)
        if not training.n_settled:
            selection.begin(training.parameters)
        self._run, self._selection, self._optimizer = run, selection, optimizer
        self._decay, self._scale, self._l1 = decay, scale, l1
        self._statistics = Statistics.zeros_like(training.parameters)
        self._centring = Centring(problem)
        self._moving = problem.moving(training.parameters)
        # layers that select units add to the gradient of all rows, and a mean item is kept by looking at all weights
        selects = problem.energy.hidden.selection.selects
        self._lazy = lazy and run.objective.marks_rows and not selects and not self._centring.needed
        self._n_rows, self._distance = 0, 0.0  # since the prior was updated last, and since weights were shortened

    def take(self, batch: Batch, rate: float, is_last: bool) -> None:
        """Take a step along the gradient of a batch, the last one of an epoch or not."""
        run, training, statistics = self._run, self._run.training, self._statistics
        if training.chains is None:
            training.chains = run.objective.start(run.problem, batch, run.rng)
        statistics.count, statistics.active_rows = 0.0, {}  # counts of units go on from batch to batch
        self._n_rows += batch.n_rows
        run.objective.accumulate(run.problem, training.parameters, batch, statistics, run.rng, training.chains)
        self._selection.charge(statistics.gradient, training.parameters, batch.n_rows, is_last)
        before = self._centring.natural_of_mean_item(training.parameters)
        assert training.optimizer is not None
        active_rows = statistics.active_rows if self._lazy else {}
        step = Step(rate, self._decay, self._scale, self._centring.centres, active_rows)
        self._optimizer.update(self._moving, statistics, training.optimizer, step)
        self._distance += rate
        self._centring.keep(training.parameters, before)
        project(run.problem.energy, training.parameters)

    def update_prior(self) -> None:
        """Complete the steps since the last time, and update the prior of the hidden units by their rows."""
        training = self._run.training
        self.flush()
        self._selection.update(training.parameters, self._statistics.counts, self._n_rows, training.n_settled)
        self._statistics.counts, self._n_rows = 0.0, 0
        training.n_settled += 1

    def flush(self) -> None:
        """Complete the steps since the last time: rows that wait catch up, and weights are shortened by ``l1``."""
        training, energy = self._run.training, self._run.problem.energy
        assert training.optimizer is not None
        self._optimizer.flush(self._moving, training.optimizer)
        if self._l1:
            shorten(energy, training.parameters, self._l1 * self._distance)
        project(energy, training.parameters)
        self._distance = 0.0


# Total of a mean item above which a view is centred. A convention: documents of a few hundred words (benchmark
# rap_retrieval) train well without, as the steps of the hidden bias itself are enough there.
_LARGE_TOTAL = 500.0


class Centring:
    """Moves the hidden bias against the shift of the mean item's natural.

    Layers that select units learn as if all views were centred, gradients included: units that are found one after the
    other would otherwise learn the mean first.
    """

    def __init__(self, problem: Problem) -> None:
        everywhere = problem.energy.hidden.selection.selects
        self._means = {
            weights_of(name): mean
            for name, mean in problem.reference.items()
            if everywhere or problem.energy.families[name].codec.rises_together or np.abs(mean).sum() > _LARGE_TOTAL
        }
        self.centres = self._means if everywhere else {}

    @property
    def needed(self) -> bool:
        """Whether a view is centred."""
        return bool(self._means)

    def natural_of_mean_item(self, parameters: Parameters) -> np.ndarray | None:
        """Return the part of the mean item's hidden natural that comes from centred views; None if none is."""
        if not self._means:
            return None
        return np.sum([mean @ parameters[name] for name, mean in self._means.items()], axis=0)

    def keep(self, parameters: Parameters, before: np.ndarray | None) -> None:
        """Give the mean item the natural it had before the step."""
        if before is not None:
            parameters[HIDDEN_BIAS] += before - self.natural_of_mean_item(parameters)


def span(view: ViewBatch, mean: np.ndarray, family: Family) -> float:
    """Return Σ |φ(x) - mean| of an average row: how far its natural moves if all weights of a unit move by one."""
    left_out = None if view.missing is None else family.codec.spread(view.missing)
    return max(entries(view.statistic).mean_l1_distance(mean, left_out), 1e-12)
