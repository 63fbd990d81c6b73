"""What the weights of a unit cost: the part of the evidence that keeps a model from using units for nothing.

The weights of unit k have a common prior N(0, τ_k²), in units in which every feature has variance 1, and τ_k is the
one that suits them best. Laplace's approximation of the evidence then charges each of the N weights
½ log(1 + D ρ τ_k²): the log-ratio of its spread before and after D items were seen, of which a share ρ is informative
about a binary unit. The total ½ N log(1 + D ρ s_k² / N), with s_k² the variance that the weights give to the unit's
natural, is a sum over all data; a batch is charged its share, so it stays additive.

A unit stands out if s_k² is more than the N / D ρ that weights which mean nothing reach by chance. With a head an item
weighs more by the strength of its loss, so it counts for as many items more, and less is enough.
"""

from __future__ import annotations

import numpy as np

from harmonium.hidden import SpikeSlab
from harmonium.kernels.relevance import add_scaled, column_squares
from harmonium.objectives.base import Problem
from harmonium.objectives.statistics import Statistics
from harmonium.params import Parameters, weights_of

# variance of a unit that a quarter of the items have
_INFORMATIVE = 0.2


class Relevance:
    """Charges the weights of units that have to be worth their cost."""

    def __init__(self, problem: Problem, n_items: int) -> None:
        layer, families = problem.energy.hidden, problem.energy.families
        assert isinstance(layer, SpikeSlab)
        self._strength = float(layer.relevance)
        self._n_items = n_items
        self._weight_of_label = problem.strength
        self._n_weights = sum(family.n_features_ for family in families.values())
        self._variance = {
            name: family.statistic_variance(problem.reference[name], family.own_parameters()).astype(np.float32)
            for name, family in families.items()
        }

    @property
    def _chance(self) -> float:
        """Variance that weights which mean nothing give to a unit's natural."""
        return self._n_weights / (self._n_items * _INFORMATIVE)

    def spread(self, parameters: Parameters) -> np.ndarray:
        """s_k²: variance of each unit's natural if features were independent, in float64."""
        squares = [column_squares(parameters[weights_of(name)], scale) for name, scale in self._variance.items()]
        return np.sum(squares, axis=0)

    def evidence(self, parameters: Parameters) -> np.ndarray:
        """How far each unit stands out of chance; below 1 there is nothing that speaks for it."""
        return self.spread(parameters) / self._chance * (1.0 + self._weight_of_label)

    def add(self, into: Statistics, parameters: Parameters, n_rows: int) -> None:
        """Add the share of so many rows to the gradient and to the loss."""
        if not self._strength:
            return
        spread = self.spread(parameters)
        share = self._strength * n_rows / self._n_items * self._n_weights
        by_unit = (share / (spread + self._chance)).astype(np.float32)
        for name, scale in self._variance.items():
            add_scaled(into.gradient[weights_of(name)], parameters[weights_of(name)], scale, by_unit)
        into.loss += 0.5 * share * float(np.log1p(spread / self._chance).sum())
