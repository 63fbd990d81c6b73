"""A target for how active units are, which their biases are moved to while a model is trained."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import logit

from harmonium.core.parameters import HIDDEN_BIAS, Parameters
from harmonium.hidden.selection.rule import SelectionRule
from harmonium.hidden.selection.selection import Selection, SelectionContext

if TYPE_CHECKING:
    from harmonium.hidden.base import HiddenLayer

# Share of the way to the target that one update goes: a convention. Updates are ten in an epoch, and the naturals of
# items differ, so that a bias has to go further than the log-odds of the mean say.
_STEP = 0.5
# Activities are taken to be this far from 0 and 1 at least, so that a unit that is switched off comes back in steps.
_LEAST = 1e-3


class ActivityRule(SelectionRule):
    """Rule that holds all units to an activity.

    Parameters
    ----------
    layer : HiddenLayer
        The layer, whose units have a largest value.
    activity : float
        Mean of a unit over the items, as a share of its largest value.
    """

    def __init__(self, layer: HiddenLayer, activity: float) -> None:
        super().__init__(layer)
        self._target = activity

    @property
    def activity(self) -> float:
        """The target."""
        return self._target

    def counts(self, natural: np.ndarray, mean: np.ndarray | None = None) -> np.ndarray | float:
        """Return the sum over rows of the units' means, as shares of the largest value."""
        share: np.ndarray = self.presence(natural, mean).sum(axis=0, dtype=np.float64) / self.layer.support.upper
        return share

    def start(self, context: SelectionContext) -> Selection:
        """Return what moves the biases."""
        return ActivityTarget(self._target)


class ActivityTarget(Selection):
    """Keeps all units and moves their biases until each is as active as it should be.

    Parameters
    ----------
    target : float
        Mean of a unit over the items, as a share of its largest value.

    Examples
    --------
    >>> parameters = {"hidden.bias": np.zeros(2, dtype=np.float32)}
    >>> ActivityTarget(0.5).update(parameters, np.array([90.0, 50.0]), 100)
    >>> parameters["hidden.bias"].astype(float).round(2).tolist()
    [-1.1, 0.0]
    """

    def __init__(self, target: float) -> None:
        self.target = target

    def update(
        self, parameters: Parameters, counts: np.ndarray | float, n_rows: int, n_before: int | None = None
    ) -> None:
        """Move the biases by some of the difference of the log-odds."""
        activity = np.clip(np.asarray(counts) / n_rows, _LEAST, 1 - _LEAST)
        parameters[HIDDEN_BIAS] += (_STEP * (logit(self.target) - logit(activity))).astype(np.float32)
