"""Which units stay: what a layer that selects its units does beside following gradients.

The loops over data ask the layer for a `Selection` and tell it what they see; they need not know which layer it is. The
one defined here is that of layers that use all their units: it does nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from harmonium.params import Parameters

if TYPE_CHECKING:
    from harmonium.hidden.base import HiddenLayer


@dataclass(frozen=True)
class Circumstances:
    """What a selection is told of the model and its data.

    Attributes
    ----------
    n_items : int
        Number of training rows.
    variances : mapping of str to ndarray
        Variance of each feature's statistic under its marginal, by the name of the view's weights.
    strength : float
        Weight of the head's loss in nats.
    has_head : bool
        Whether something is predicted.
    """

    n_items: int
    variances: Mapping[str, np.ndarray]
    strength: float = 0.0
    has_head: bool = False


@dataclass(frozen=True)
class Use:
    """How the items use the units.

    Attributes
    ----------
    presence : ndarray (units,)
        Share of the items that have each unit.
    mean, deviation : ndarray (units,)
        Of the units' means over the items.
    correlation : ndarray (units, units)
        Of the units' means over the items.
    """

    presence: np.ndarray
    mean: np.ndarray
    deviation: np.ndarray
    correlation: np.ndarray


@dataclass(frozen=True)
class Pruned:
    """A layer and parameters with the units that stay, and how many stood out before units that agree became one."""

    layer: HiddenLayer
    parameters: Parameters
    n_found: int


class Selection:
    """Selection of a layer that uses all its units: nothing is charged, nothing changes, nothing is removed."""

    def begin(self, parameters: Parameters) -> None:
        """Put the prior where it starts, in place, before the first step."""

    def charge(
        self, gradient: Parameters, parameters: Parameters, n_rows: int, last: bool = False, at_once: bool = False
    ) -> float:
        """Add what a batch is charged for its units to the gradient, in place, and return the loss that goes with it.

        ``last`` tells the last batch of a pass, ``at_once`` one that holds all items and is counted afresh.
        """
        return 0.0

    def settle(
        self, parameters: Parameters, counts: np.ndarray | float, n_rows: int, n_before: int | None = None
    ) -> None:
        """Update the prior, in place, by what `HiddenLayer.counts` gave for so many rows.

        ``n_before`` is the number of such steps on a part of the items; None stands for counts over all of them.
        """

    def read(self, parameters: Parameters, presence: Callable[[Parameters], np.ndarray]) -> dict[str, float]:
        """Return what the record of an epoch says; ``presence`` gives the share of the items that have each unit."""
        return {}

    def prune(self, parameters: Parameters, use: Use) -> Pruned | None:
        """Return the model without units that nothing speaks for; None if all units stay whatever they do."""
        return None
