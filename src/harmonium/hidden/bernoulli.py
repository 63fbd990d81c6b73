"""Binary topics."""

from __future__ import annotations

import numpy as np

from harmonium.hidden.base import HiddenLayer
from harmonium.laws import BernoulliLaw, Law


class BernoulliUnits(HiddenLayer):
    """Units 0 or 1: a topic is there or it is not.

    Examples
    --------
    >>> BernoulliUnits().mean(np.zeros((1, 2))).tolist()
    [[0.5, 0.5]]
    """

    @property
    def law(self) -> Law:
        """Coin flips."""
        return BernoulliLaw()

    def boltzmann_machine(
        self, weights: np.ndarray, view_bias: np.ndarray, bias: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Of features and units together: couplings W."""
        n_features, n_units = weights.shape
        couplings = np.block([[np.zeros((n_features,) * 2), weights], [weights.T, np.zeros((n_units,) * 2)]])
        both = np.concatenate([view_bias, bias])
        return both, couplings, np.zeros(len(both))
