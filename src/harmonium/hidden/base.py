"""What a hidden layer must be able to say: support, log-partition, mean and sampler of units given their naturals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self

import numpy as np

from harmonium.laws import Law
from harmonium.parts import Part
from harmonium.support import Support
from harmonium.validation import check_whole


class HiddenLayer(Part):
    """Independent hidden units of one exponential family, with statistic φ(h) = h.

    Parameters
    ----------
    n_units : int, optional
        Number of units; default: the estimator's ``n_components``.
    """

    role = "hidden"
    #: True if means are linear in the naturals, so that the mean over draws of weights is the mean at their mean
    linear_mean: bool = False
    n_units_: int

    def __init__(self, n_units: int | None = None) -> None:
        self.n_units = n_units

    def bind(self, n_components: int) -> Self:
        """Copy of the layer that knows its number of units."""
        return self.bound(n_units_=self._size("n_units", self.n_units, n_components))

    def _size(self, name: str, given: int | None, n_components: int) -> int:
        if given is not None:
            check_whole(type(self).__name__, name, given, remedy="None takes the estimator's n_components")
        return int(given if given is not None else n_components)

    @property
    def own_names(self) -> tuple[str, ...]:
        """Names of what the layer itself learns, beside its bias."""
        return ()

    def own_parameters(self) -> dict[str, np.ndarray]:
        """Start values of what the layer itself learns."""
        return {}

    def at(self, own: Mapping[str, np.ndarray]) -> Self:
        """The layer at its own parameters."""
        return self

    @property
    def law(self) -> Law:
        """The law of a unit given its natural; layers for which there is none say all that follows themselves."""
        raise NotImplementedError

    @property
    def support(self) -> Support:
        """Values a unit may take."""
        return self.law.support

    @property
    def bounded(self) -> bool:
        """True if a unit has a largest value: then every family can be normalised with it."""
        return self.support.bounded

    @property
    def conditional_variance(self) -> float:
        """Variance of a real unit given its natural; asked for only if units have no largest value."""
        raise NotImplementedError

    def turned_bias(self, bias: np.ndarray) -> np.ndarray:
        """Bias of units whose values are counted from the other end, for layers that have one."""
        return -bias

    def boltzmann_machine(
        self, weights: np.ndarray, view_bias: np.ndarray, bias: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """What binary views, or binary views and units together, are with this layer: a Boltzmann machine, if they are.

        Parameters
        ----------
        weights : ndarray of shape (features, units)
            Of all views, in float64.
        view_bias : ndarray of shape (features,)
        bias : ndarray of shape (units,)

        Returns
        -------
        bias, couplings : ndarray
            p(x) ∝ exp(bias·x + xᵀ couplings x / 2) for x in {0, 1}ⁿ: the features, followed by any units.
        scale : ndarray of shape (n,)
            Size of the terms that couplings were summed from, of which rounding is a share.
        """
        raise ValueError(
            f"Perfect sampling needs GaussianUnits or BernoulliUnits; got {type(self).__name__}; draw with sample()."
        )

    def log_base(self, values: np.ndarray) -> np.ndarray:
        """Logarithm of the base measure, elementwise."""
        return self.law.log_base(values)

    def log_partition(self, natural: np.ndarray) -> np.ndarray:
        """Log-normaliser, elementwise."""
        return self.law.log_partition(natural)

    def mean(self, natural: np.ndarray) -> np.ndarray:
        """E[h | natural]."""
        return self.law.mean(natural)

    def mean_derivative(self, natural: np.ndarray) -> np.ndarray:
        """Derivative of the mean by the natural parameter (the variance of h)."""
        return self.law.variance(natural)

    def sample(self, natural: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """One draw per entry."""
        return self.law.sample(natural, rng)

    def mode(self, natural: np.ndarray) -> np.ndarray:
        """Most probable value."""
        return self.law.mode(natural)
