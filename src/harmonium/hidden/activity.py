"""A target for how active units are, which their biases are moved to while a model is trained."""

from __future__ import annotations

import numpy as np
from scipy.special import logit

from harmonium.hidden.selection import Selection
from harmonium.params import HIDDEN_BIAS, Parameters

# Share of the way to the target that one update goes: a convention. Updates are ten in an epoch, and the naturals of
# items differ, so that a bias has to go further than the log-odds of the mean say.
_STEP = 0.5
# Activities are taken to be this far from 0 and 1 at least, so that a unit that is switched off comes back in steps.
_LEAST = 1e-3


class ActivityTarget(Selection):
    """Keeps all units and moves their biases until each is as active as it should be.

    Parameters
    ----------
    target : float
        Mean of a unit over the items, as a share of its largest value.

    Examples
    --------
    >>> parameters = {"hidden.bias": np.zeros(2, dtype=np.float32)}
    >>> ActivityTarget(0.5).settle(parameters, np.array([90.0, 50.0]), 100)
    >>> parameters["hidden.bias"].astype(float).round(2).tolist()
    [-1.1, 0.0]
    """

    def __init__(self, target: float) -> None:
        self.target = target

    def settle(
        self, parameters: Parameters, counts: np.ndarray | float, n_rows: int, n_before: int | None = None
    ) -> None:
        """Move the biases by some of the difference of the log-odds."""
        activity = np.clip(np.asarray(counts) / n_rows, _LEAST, 1 - _LEAST)
        parameters[HIDDEN_BIAS] += (_STEP * (logit(self.target) - logit(activity))).astype(np.float32)
