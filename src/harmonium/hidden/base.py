"""What a hidden layer must be able to say: support, log-partition, mean and sampler of units given their naturals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Self

import numpy as np

from harmonium.hidden.selection import Circumstances, Selection
from harmonium.laws import Law
from harmonium.parts import Part
from harmonium.support import Support
from harmonium.validation import Setting, Whole

NUMBER_OF_UNITS = Whole(remedy="None takes the estimator's n_components", also=(None,))


class HiddenLayer(Part):
    """Independent hidden units of one exponential family, with statistic φ(h) = h.

    Parameters
    ----------
    n_units : int, optional
        Number of units; default: the estimator's ``n_components``.
    """

    role = "hidden"
    settings: ClassVar[Mapping[str, Setting]] = {"n_units": NUMBER_OF_UNITS}
    #: True if units that the data do not ask for are removed at the end of a fit
    selects: bool = False
    #: True if means are linear in the naturals, so that the mean over draws of weights is the mean at their mean
    linear_mean: bool = False
    n_units_: int

    def __init__(self, n_units: int | None = None) -> None:
        self.n_units = n_units

    def bind(self, n_components: int) -> Self:
        """Copy of the layer that knows its number of units."""
        return self.restore(int(n_components if self.n_units is None else self.n_units))

    def restore(self, n_units: int) -> Self:
        """Copy of the layer with so many units, whatever its settings ask for: all of them, or those that are left."""
        return self.with_fitted(n_units_=n_units)

    def goes_on_from(self, began: HiddenLayer) -> bool:
        """Whether training that began with another bound layer can go on with this one."""
        return self._same_settings(began) and self.n_units_ == began.n_units_

    def _same_settings(self, other: HiddenLayer) -> bool:
        return type(self) is type(other) and self.get_params() == other.get_params()

    # ---- which units stay ----------------------------------------------------------------------------------------
    def selection(self, circumstances: Circumstances) -> Selection:
        """What is done about units while training, beside following gradients: nothing."""
        return Selection()

    def counts(self, natural: np.ndarray, mean: np.ndarray | None = None) -> np.ndarray | float:
        """Sum over rows of what the prior of the units learns from; ``mean`` saves work where it is known."""
        return 0.0

    def presence(self, natural: np.ndarray, mean: np.ndarray | None = None) -> np.ndarray:
        """How much of each unit the rows have: its mean, as every row has it."""
        return self.mean(natural) if mean is None else mean

    def remark(self, n_found: int) -> str | None:
        """What the user should know if so many units were found to be of use; None if nothing."""
        return None

    # ---- what the layer learns beside its bias -------------------------------------------------------------------
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
