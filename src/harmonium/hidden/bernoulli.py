"""Binary topics."""

from __future__ import annotations

import numpy as np

from harmonium.hidden.base import HiddenLayer
from harmonium.kernels.elementwise import logistic, softplus
from harmonium.support import Support


class BernoulliUnits(HiddenLayer):
    """Units 0 or 1: a topic is there or it is not.

    Examples
    --------
    >>> BernoulliUnits().mean(np.zeros((1, 2))).tolist()
    [[0.5, 0.5]]
    """

    @property
    def support(self) -> Support:
        """0 and 1."""
        return Support("0 or 1", 0, 1, integer=True)

    def boltzmann_machine(
        self, weights: np.ndarray, view_bias: np.ndarray, bias: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Of features and units together: couplings W."""
        n_features, n_units = weights.shape
        couplings = np.block([[np.zeros((n_features,) * 2), weights], [weights.T, np.zeros((n_units,) * 2)]])
        both = np.concatenate([view_bias, bias])
        return both, couplings, np.zeros(len(both))

    def log_base(self, values: np.ndarray) -> np.ndarray:
        """Zero."""
        return np.zeros_like(values)

    def log_partition(self, natural: np.ndarray) -> np.ndarray:
        """log(1 + exp(natural))."""
        return softplus(natural)

    def mean(self, natural: np.ndarray) -> np.ndarray:
        """Logistic function."""
        return logistic(natural)

    def mean_derivative(self, natural: np.ndarray) -> np.ndarray:
        """P (1 - p)."""
        mean = logistic(natural)
        return mean * (1 - mean)

    def sample(self, natural: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Coin flips."""
        return (rng.random(natural.shape, dtype=np.float32) < logistic(natural)).astype(natural.dtype)

    def mode(self, natural: np.ndarray) -> np.ndarray:
        """1 where it is the more probable value."""
        return (natural > 0).astype(natural.dtype)
