"""Selection of units during training: what is done about them besides following gradients.

The loops over data start the `Selection` of the layer's rule and tell it what they see; they need not know which layer
it is. The class defined here is for layers that use all their units: it does nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from harmonium.core.parameters import Parameters

if TYPE_CHECKING:
    from harmonium.hidden.base import HiddenLayer


@dataclass(frozen=True)
class SelectionContext:
    """What a selection is told about the model and its data.

    Attributes
    ----------
    n_items : int
        Number of training rows.
    variances : mapping of str to ndarray of shape (features,)
        Variance of each feature's statistic under its marginal, by the name of the view's weights.
    loss_weight : float
        Weight of the head's loss in nats.
    has_head : bool
        Whether something is predicted.
    streams : bool
        Whether rows come batch after batch, so that units could not be born from all of them.
    is_length_normalized : bool
        Whether rows of some view weigh by their size.
    """

    n_items: int
    variances: Mapping[str, np.ndarray]
    loss_weight: float = 0.0
    has_head: bool = False
    streams: bool = False
    is_length_normalized: bool = False


@dataclass(frozen=True)
class Use:
    """How the items use the units.

    Attributes
    ----------
    presence : ndarray of shape (units,)
        Share of the items that have each unit.
    mean : ndarray of shape (units,)
        Mean of the units' expectations over the items.
    deviation : ndarray of shape (units,)
        Standard deviation of the units' expectations over the items.
    correlation : ndarray of shape (units, units)
        Correlation of the units' expectations over the items.
    """

    presence: np.ndarray
    mean: np.ndarray
    deviation: np.ndarray
    correlation: np.ndarray


@dataclass(frozen=True)
class Pruned:
    """A layer and parameters with the units that stay, and how many stood out before units that agree were merged."""

    layer: HiddenLayer
    parameters: Parameters
    n_found: int


class Selection:
    """Selection of a layer that uses all its units: nothing is charged, changed or removed."""

    def begin(self, parameters: Parameters) -> None:
        """Set the prior to its initial state, in place, before the first step."""

    def charge(
        self, gradient: Parameters, parameters: Parameters, n_rows: int, last: bool = False, at_once: bool = False
    ) -> float:
        """Add what a batch is charged for its units to the gradient, in place, and return the loss that goes with it.

        Parameters
        ----------
        gradient : dict of str to ndarray
            Gradient of the batch's loss, by parameter.
        parameters : dict of str to ndarray
            Parameters of the model.
        n_rows : int
            Number of rows of the batch.
        last : bool
            Whether this is the last batch of a pass over the data.
        at_once : bool
            Whether the batch holds all items, so that nothing is left over from earlier batches.

        Returns
        -------
        float
            The loss, in nats.
        """
        return 0.0

    def update(
        self, parameters: Parameters, counts: np.ndarray | float, n_rows: int, n_before: int | None = None
    ) -> None:
        """Update the prior, in place, from how many rows have each unit.

        Parameters
        ----------
        parameters : dict of str to ndarray
            Parameters of the model; those of the prior, which belong to the layer, are changed.
        counts : ndarray of shape (units,), or float
            Sums over rows, as `SelectionRule.counts` returns them.
        n_rows : int
            Number of these rows.
        n_before : int, optional
            Number of earlier updates from a part of the items; None if the rows are all items.
        """

    def read(self, parameters: Parameters, presence: Callable[[Parameters], np.ndarray]) -> dict[str, float]:
        """Return entries for the record of an epoch.

        Parameters
        ----------
        parameters : dict of str to ndarray
            Parameters of the model.
        presence : callable
            Function from parameters to the share of the items that have each unit.

        Returns
        -------
        dict of str to float
            Values by name.
        """
        return {}

    def prune(self, parameters: Parameters, use: Use) -> Pruned | None:
        """Return the model without units that have no evidence.

        Parameters
        ----------
        parameters : dict of str to ndarray
            Parameters of the model.
        use : Use
            How the items use the units.

        Returns
        -------
        Pruned or None
            The smaller model; None if the layer always keeps all its units.
        """
        return None
