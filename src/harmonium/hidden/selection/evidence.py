"""Cost of the weights of a unit: the part of the evidence that keeps a model from using more units than it needs.

The weights of unit k have a common prior N(0, τ_k²), on a scale on which every feature has variance 1, and τ_k is the
value that suits them best. Laplace's approximation of the evidence then charges each of the N weights
½ log(1 + D ρ τ_k²): the log-ratio of its spread before and after D items were seen, of which a share ρ is informative
about a binary unit. The total ½ N log(1 + D ρ s_k² / N), with s_k² the variance that the weights give to the unit's
natural, is a sum over all data; a batch is charged its share, so it stays additive.

A unit stands out if s_k² is larger than N / D ρ, which weights without meaning attain by chance. With a head, the loss
of an item adds its strength to the weight of the item, which therefore counts as several items, and a smaller s_k² is
enough. How a head enters was settled while accuracies of the first trial of Wikipedia were looked at
(``benchmarks/infinite_views``).
"""

from __future__ import annotations

import numpy as np

from harmonium.core.parameters import Parameters
from harmonium.hidden.selection.selection import SelectionContext
from harmonium.kernels.reductions import add_scaled, weighted_column_squares

# ρ: about the variance p (1 - p) of a unit that a quarter of the items have; a convention
_INFORMATIVE = 0.2


class Evidence:
    """Evidence for each unit, and what its weights are charged; ``price`` multiplies the charge."""

    def __init__(self, context: SelectionContext, price: float) -> None:
        self._price = price
        self._n_items = context.n_items
        self._weight_of_label = context.loss_weight
        self._variances = context.variances
        self._n_weights = sum(len(variance) for variance in context.variances.values())

    @property
    def _chance(self) -> float:
        """Variance that weights without meaning give to a unit's natural by chance."""
        return self._n_weights / (self._n_items * _INFORMATIVE)

    def _spread(self, parameters: Parameters) -> np.ndarray:
        """Return s_k², the variance of each unit's natural if features were independent, in float64."""
        return np.sum(
            [weighted_column_squares(parameters[name], scale) for name, scale in self._variances.items()], axis=0
        )

    def of_views(self, parameters: Parameters) -> np.ndarray:
        """Return the evidence of each unit from the views alone."""
        return self.of_all(parameters) / (1.0 + self._weight_of_label)

    def of_all(self, parameters: Parameters) -> np.ndarray:
        """Return the evidence of each unit, the head included: as a multiple of chance; below 1 there is none."""
        return self._spread(parameters) / self._chance * (1.0 + self._weight_of_label)

    def charge(self, gradient: Parameters, parameters: Parameters, n_rows: int) -> float:
        """Add the share of a number of rows to the gradient, in place, and return their share of the loss."""
        if not self._price:
            return 0.0
        spread = self._spread(parameters)
        share = self._price * n_rows / self._n_items * self._n_weights
        by_unit = (share / (spread + self._chance)).astype(np.float32)
        for name, scale in self._variances.items():
            add_scaled(gradient[name], parameters[name], scale, by_unit)
        return 0.5 * share * float(np.log1p(spread / self._chance).sum())
