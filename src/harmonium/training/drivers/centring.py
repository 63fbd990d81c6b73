"""Keeping units from saturating while weights of views with large totals move.

A step moves every weight of a unit by about the learning rate, and the unit's natural parameter by that times the total
of a row. Where totals are in the thousands, one step would put all rows on the same side of the unit. So the hidden
bias compensates for what a step does to the natural of the mean item, as if the view had been centred; the biases of
the views, which only see a few units, follow by themselves.
"""

from __future__ import annotations

import numpy as np

from harmonium.core.batch import ViewBatch
from harmonium.core.parameters import HIDDEN_BIAS, Parameters, weights_of
from harmonium.families import Family
from harmonium.kernels.sparse.entries import entries
from harmonium.objectives.problem import Problem

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
