"""The protocol of a hidden layer: support, log-partition, mean and sampler of units given their natural parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Self

import numpy as np

from harmonium.core.distributions import Distribution
from harmonium.core.parts import Part
from harmonium.core.support import Support
from harmonium.core.validation import Setting, Whole
from harmonium.hidden.groups import Coordinates, Groups
from harmonium.hidden.selection.rule import SelectionRule

NUMBER_OF_UNITS = Whole(remedy="None takes the estimator's n_components", also=(None,))


class HiddenLayer(Part):
    """Base of the hidden layers: independent units of one exponential family.

    The statistic of a unit is its value h. A subclass defines its `distribution`; the rest follows.
    Other layers define support, log-partition, mean and its derivative, sampler and mode themselves. A layer as the
    user makes it holds settings alone; `bind` returns a fitted copy that knows its number of units, and `at` one that
    also knows what the layer has learned. What only some layers do is said by the small objects that a layer carries:
    its `selection`, `groups` and `coordinates`.

    Parameters
    ----------
    n_units : int, optional
        Number of units. By default it is the ``n_components`` of the estimator.

    Attributes
    ----------
    n_units_ : int
        Number of units of a fitted copy.
    linear_mean : bool
        Whether means are linear in the natural parameters, by a symmetric matrix, so that the average over draws of the
        weights is the mean at their average.
    has_free_signs : bool
        Whether units may be counted from their other end, by which p(x) stays as it is.

    See Also
    --------
    harmonium.families.Family : The counterpart for the features of a view.

    Examples
    --------
    >>> from harmonium.hidden import BernoulliUnits
    >>> layer = BernoulliUnits().bind(2)
    >>> layer.n_units_, layer.support.description
    (2, '0 or 1')
    >>> layer.mean(np.zeros((1, 2))).tolist()
    [[0.5, 0.5]]
    """

    role = "hidden"
    suffix = "Units"
    settings: ClassVar[Mapping[str, Setting]] = {"n_units": NUMBER_OF_UNITS}
    linear_mean: bool = False
    has_free_signs: bool = False
    n_units_: int

    def __init__(self, n_units: int | None = None) -> None:
        self.n_units = n_units

    def bind(self, n_components: int, n_outputs: int = 0) -> Self:
        """Return a fitted copy of the layer, which knows its number of units.

        Parameters
        ----------
        n_components : int
            Number of units if the settings of the layer do not give one.
        n_outputs : int, default=0
            Number of scores to predict, by which some layers have more units.

        Returns
        -------
        HiddenLayer
            A copy with `n_units_`.
        """
        return self.restore(int(n_components if self.n_units is None else self.n_units))

    def restore(self, n_units: int) -> Self:
        """Return a fitted copy of the layer with a given number of units.

        Parameters
        ----------
        n_units : int
            Number of units, whatever the settings ask for: all of them, or those that are left after a selection.

        Returns
        -------
        HiddenLayer
            A copy with `n_units_`.
        """
        return self.with_fitted(n_units_=n_units)

    def goes_on_from(self, began: HiddenLayer) -> bool:
        """Tell whether this layer can continue the training of another one.

        Parameters
        ----------
        began : HiddenLayer
            The fitted layer that training began with.

        Returns
        -------
        bool
            True if the settings are the same and the units match.
        """
        return self._same_settings(began) and self.n_units_ == began.n_units_

    def _same_settings(self, other: HiddenLayer) -> bool:
        ours, theirs = self.get_params(), other.get_params()
        return type(self) is type(other) and all(np.array_equal(ours[name], theirs[name]) for name in ours)

    # ---- capabilities ----------------------------------------------------------------------------------------------
    @property
    def selection(self) -> SelectionRule:
        """Rule by which units come and go; by default all stay."""
        return SelectionRule(self)

    @property
    def groups(self) -> Groups:
        """Groups of units; by default all are topics, which predict too."""
        return Groups(self)

    @property
    def coordinates(self) -> Coordinates | None:
        """Coordinates to take at the end of a fit; None if there is no choice.

        There is one where units may be exchanged for linear combinations of them.
        """
        return None

    @property
    def lower_bound(self) -> float:
        """Smallest value that weights of views may have."""
        return -np.inf

    # ---- what the layer learns besides its bias ------------------------------------------------------------------
    def extra_parameters(self) -> dict[str, np.ndarray]:
        """Return initial values of what the layer learns besides its bias.

        Returns
        -------
        dict of str to ndarray
            Arrays by name.
        """
        return {}

    def at(self, extra: Mapping[str, np.ndarray]) -> Self:
        """Return the layer with given extra parameters.

        Parameters
        ----------
        extra : mapping of str to ndarray
            Extra parameters by name.

        Returns
        -------
        HiddenLayer
            A layer whose densities have these parameters; the layer itself if it has none.
        """
        return self

    # ---- units given their natural parameters ----------------------------------------------------------------------
    @property
    def distribution(self) -> Distribution:
        """Distribution of a unit given its natural parameter.

        Layers whose units follow no distribution define all members that follow themselves.
        """
        raise NotImplementedError

    @property
    def support(self) -> Support:
        """Set of values that a unit may take."""
        return self.distribution.support

    @property
    def largest(self) -> np.ndarray:
        """Largest value of each unit of a fitted copy; infinite where there is none."""
        return np.full(self.n_units_, float(self.support.upper))

    @property
    def conditional_variance(self) -> np.ndarray | float:
        """Variance of a unit given its natural parameter, or covariance of all.

        It is the covariance where units depend on each other, and only asked for if units have no largest value.
        """
        raise NotImplementedError

    def log_base(self, values: np.ndarray) -> np.ndarray:
        """Return the logarithm of the base measure.

        Parameters
        ----------
        values : ndarray of shape (rows, units)
            Values of the units.

        Returns
        -------
        ndarray of shape (rows, units)
            Logarithms.
        """
        return self.distribution.log_base(values)

    def log_partition(self, natural: np.ndarray) -> np.ndarray:
        """Return the logarithm of the normaliser of each unit.

        Parameters
        ----------
        natural : ndarray of shape (rows, units)
            Natural parameters.

        Returns
        -------
        ndarray of shape (rows, units)
            Logarithms, in the precision of `natural`.
        """
        return self.distribution.log_partition(natural)

    def mean(self, natural: np.ndarray) -> np.ndarray:
        """Return the expectation E[h | natural] of each unit.

        Parameters
        ----------
        natural : ndarray of shape (rows, units)
            Natural parameters.

        Returns
        -------
        ndarray of shape (rows, units)
            Means, in the precision of `natural`.
        """
        return self.distribution.mean(natural)

    def mean_derivative(self, natural: np.ndarray) -> np.ndarray:
        """Return the derivative of the mean by the natural parameter.

        Where inference is exact, it is the variance of the unit.

        Parameters
        ----------
        natural : ndarray of shape (rows, units)
            Natural parameters.

        Returns
        -------
        ndarray of shape (rows, units)
            Derivatives, in the precision of `natural`.
        """
        return self.distribution.variance(natural)

    def sample(self, natural: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draw each unit once.

        Parameters
        ----------
        natural : ndarray of shape (rows, units)
            Natural parameters.
        rng : numpy.random.Generator
            Source of randomness.

        Returns
        -------
        ndarray of shape (rows, units)
            Values within the support, in the precision of `natural`.
        """
        return self.distribution.sample(natural, rng)

    def mode(self, natural: np.ndarray) -> np.ndarray:
        """Return the most probable value of each unit.

        Parameters
        ----------
        natural : ndarray of shape (rows, units)
            Natural parameters.

        Returns
        -------
        ndarray of shape (rows, units)
            Values within the support.
        """
        return self.distribution.mode(natural)
