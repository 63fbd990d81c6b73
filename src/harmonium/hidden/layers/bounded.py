"""Base of layers whose units have a largest value: they may be kept from lowering features, and held to an activity."""

from __future__ import annotations

from typing import Literal

import numpy as np

from harmonium.core.validation import Choice, Number
from harmonium.hidden.base import HiddenLayer
from harmonium.hidden.selection.rule import ActivityRule, SelectionRule


class BoundedUnits(HiddenLayer):
    """Base of the layers whose units go from 0 to a largest value.

    Parameters
    ----------
    n_units : int, optional
        Number of units. By default it is the ``n_components`` of the estimator.
    weights : {"signed", "nonnegative"}, default="signed"
        Whether the weights of views may have any sign, or units can only raise features, so that topics are made of
        what is there and not of what is absent. Training then starts from clusters of the items.
    activity : float, optional
        Mean of a unit over the items, as a share of its largest value, to which training moves the units' biases.
        Default: whatever the data ask for.

    Examples
    --------
    >>> from harmonium.hidden import BernoulliUnits
    >>> BernoulliUnits(weights="nonnegative", activity=0.05).lower_bound
    0.0
    """

    role = "hidden"  # stated again, as this is a base and no part
    settings = {
        **HiddenLayer.settings,
        "weights": Choice(("signed", "nonnegative"), remedy="'nonnegative' makes topics that can be read"),
        "activity": Number(below=1.0, remedy="0.05 suits topics, None leaves it to the data", also=(None,)),
    }

    def __init__(
        self,
        n_units: int | None = None,
        weights: Literal["signed", "nonnegative"] = "signed",
        activity: float | None = None,
    ) -> None:
        super().__init__(n_units)
        self.weights = weights
        self.activity = activity

    @property
    def lower_bound(self) -> float:
        """Smallest value that weights of views may have."""
        return 0.0 if self.weights == "nonnegative" else -np.inf

    @property
    def has_free_signs(self) -> bool:  # type: ignore[override]
        """Whether units may be counted from their other end.

        They may if weights are signed, and no activity is given.
        """
        return self.weights == "signed" and self.activity is None

    @property
    def selection(self) -> SelectionRule:
        """Rule that holds the units to their activity, if there is one."""
        return SelectionRule(self) if self.activity is None else ActivityRule(self, self.activity)
