"""Base of layers whose units have a largest value: they may be kept from lowering features, and held to an activity."""

from __future__ import annotations

from typing import Literal

import numpy as np

from harmonium.hidden.activity import ActivityTarget
from harmonium.hidden.base import HiddenLayer
from harmonium.hidden.selection import Selection, SelectionContext
from harmonium.params import Parameters, weights_of
from harmonium.validation import Choice, Number


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
    >>> from harmonium import BernoulliUnits
    >>> BernoulliUnits(weights="nonnegative", activity=0.05).nonnegative
    True
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
    def nonnegative(self) -> bool:
        """Whether weights of views are kept at 0 or above."""
        return self.weights == "nonnegative"

    @property
    def held(self) -> str | None:
        """What training holds the units to, in words."""
        if self.nonnegative:
            return "weights that are never negative"
        return None if self.activity is None else "an activity"

    def project(self, parameters: Parameters, views: list[str]) -> None:
        """Move negative weights to zero, if they must not be negative."""
        if self.nonnegative:
            for view in views:
                weights = parameters[weights_of(view)]
                np.maximum(weights, 0, out=weights)

    def counts(self, natural: np.ndarray, mean: np.ndarray | None = None) -> np.ndarray | float:
        """Return the sum over rows of the units' means, as shares of the largest value.

        It is 0 if there is no target.
        """
        if self.activity is None:
            return 0.0
        means = self.mean(natural) if mean is None else mean
        share: np.ndarray = means.sum(axis=0, dtype=np.float64) / self.support.upper
        return share

    def selection(self, context: SelectionContext) -> Selection:
        """Return what moves the biases towards the target, if there is one."""
        return Selection() if self.activity is None else ActivityTarget(self.activity)
