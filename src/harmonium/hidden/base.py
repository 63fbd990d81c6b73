"""The protocol of a hidden layer: support, log-partition, mean and sampler of units given their natural parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ClassVar, Self

import numpy as np

from harmonium.distributions import Distribution
from harmonium.exceptions import IncompatiblePartsError
from harmonium.hidden.selection import Selection, SelectionContext
from harmonium.params import Parameters
from harmonium.parts import Part
from harmonium.support import Support
from harmonium.validation import Setting, Whole

NUMBER_OF_UNITS = Whole(remedy="None takes the estimator's n_components", also=(None,))
# A unit is idle if the standard deviation of its means is less than this share of its range: a convention.
_IDLE = 1e-3
# Most units by the root of the number of rows, and of all, unless the user names a number. Topics of few
# items are made of chance: NPMI of 20 and 50 topics of 2,500 hotel reviews .18 and .13, of 2,570 wines .21 and .08, but
# of 11,000 messages .47 and .40, where more topics are found that read well.
_UNITS_BY_ROOT, _MOST_UNITS = 0.4, 50


class HiddenLayer(Part):
    """Base of the hidden layers: independent units of one exponential family.

    The statistic of a unit is its value h. A subclass defines its `distribution`; the rest follows.
    Other layers define support, log-partition, mean and its derivative, sampler and mode themselves. A layer as the
    user makes it holds settings alone; `bind` returns a fitted copy that knows its number of units, and `at` one that
    also knows what the layer has learned.

    Parameters
    ----------
    n_units : int, optional
        Number of units. By default it is the ``n_components`` of the estimator.

    Attributes
    ----------
    n_units_ : int
        Number of units of a fitted copy.
    selects : bool
        Whether units that the data do not ask for are removed at the end of a fit.
    grows : bool
        Whether units are born from what is left unexplained, as many as the data ask for, so that
        `weights_from_sources`, `prior_of_use` and `log_odds_of_another` say how.
    linear_mean : bool
        Whether means are linear in the natural parameters, so that the average over draws of the weights is the mean at
        their average.
    activity : float, optional
        Mean of a unit over the items to which training moves its bias, as a share of its largest value.
    has_free_coordinates : bool
        Whether units may be exchanged for linear combinations of them, so that `coordinates` says which to take.

    See Also
    --------
    harmonium.families.Family : The counterpart for the features of a view.

    Examples
    --------
    >>> from harmonium import BernoulliUnits
    >>> layer = BernoulliUnits().bind(2)
    >>> layer.n_units_, layer.support.description
    (2, '0 or 1')
    >>> layer.mean(np.zeros((1, 2))).tolist()
    [[0.5, 0.5]]
    """

    role = "hidden"
    suffix = "Units"
    settings: ClassVar[Mapping[str, Setting]] = {"n_units": NUMBER_OF_UNITS}
    selects: bool = False
    grows: bool = False
    linear_mean: bool = False
    activity: float | None = None
    has_free_coordinates: bool = False
    n_units_: int

    def __init__(self, n_units: int | None = None) -> None:
        self.n_units = n_units

    def bind(self, n_components: int) -> Self:
        """Return a fitted copy of the layer, which knows its number of units.

        Parameters
        ----------
        n_components : int
            Number of units if the settings of the layer do not give one.

        Returns
        -------
        HiddenLayer
            A copy with `n_units_`.
        """
        return self.restore(int(n_components if self.n_units is None else self.n_units))

    def usual_size(self, n_rows: int | None) -> int:
        """Return the largest number of components of a model whose user names none.

        Parameters
        ----------
        n_rows : int or None
            Number of training rows; None if there may be many.

        Returns
        -------
        int
            0.4 times the root of the number of rows, between 2 and 50.
        """
        return _MOST_UNITS if n_rows is None else int(np.clip(round(_UNITS_BY_ROOT * n_rows**0.5), 2, _MOST_UNITS))

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
        return type(self) is type(other) and self.get_params() == other.get_params()

    # ---- which units stay ----------------------------------------------------------------------------------------
    def selection(self, context: SelectionContext) -> Selection:
        """Return what is done about units during training, besides following gradients.

        Parameters
        ----------
        context : harmonium.hidden.selection.SelectionContext
            What there is to know about the model and its data.

        Returns
        -------
        harmonium.hidden.selection.Selection
            By default one that does nothing.
        """
        return Selection()

    def weights_from_sources(self, effects: np.ndarray, sources: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return weights by which units stand for sources, and who has them.

        It is only asked for if the layer grows.

        Parameters
        ----------
        effects : ndarray of shape (features, units)
            By how much a feature changes with a standard deviation of a source, in standard deviations of the feature
            given the units.
        sources : ndarray of shape (rows, units)
            Values of the sources, whose variances are 1 plus that of noise.

        Returns
        -------
        weights : ndarray of shape (features, units)
            By how much the natural parameter of a feature changes with a unit, in the same units.
        share : ndarray of shape (units,)
            Shares of the items.
        """
        raise NotImplementedError

    def prior_of_use(self, share: np.ndarray, n_items: int) -> dict[str, np.ndarray]:
        """Return own parameters that go with shares of the items that have each unit.

        It is only asked for if the layer grows.

        Parameters
        ----------
        share : ndarray of shape (units,)
            Shares of the items.
        n_items : int
            Number of items.

        Returns
        -------
        dict of str to ndarray
            Arrays by name, for each of `own_names`.
        """
        raise NotImplementedError

    def log_odds_of_another(self, n_units: np.ndarray, n_items: int) -> np.ndarray:
        """Return the prior log-odds of one more unit that any item has.

        It is only asked for if the layer grows.

        Parameters
        ----------
        n_units : ndarray of shape (numbers,)
            Numbers of units that there are.
        n_items : int
            Number of items.

        Returns
        -------
        ndarray of shape (numbers,)
            Log-odds.
        """
        raise NotImplementedError

    def counts(self, natural: np.ndarray, mean: np.ndarray | None = None) -> np.ndarray | float:
        """Return the sum over rows of what the prior of the units learns from.

        Parameters
        ----------
        natural : ndarray of shape (rows, units)
            Natural parameters.
        mean : ndarray of shape (rows, units), optional
            Means at these natural parameters, which saves work where they are known.

        Returns
        -------
        ndarray of shape (units,), or float
            How many rows have each unit; 0 for layers without such a prior.
        """
        return 0.0

    def presence(self, natural: np.ndarray, mean: np.ndarray | None = None) -> np.ndarray:
        """Return the probability that a row has each unit.

        Parameters
        ----------
        natural : ndarray of shape (rows, units)
            Natural parameters.
        mean : ndarray of shape (rows, units), optional
            Means at these natural parameters, which saves work where they are known.

        Returns
        -------
        ndarray of shape (rows, units)
            Probabilities; for layers whose units every row has, the means.
        """
        return self.mean(natural) if mean is None else mean

    def remark(self, n_found: int) -> str | None:
        """Return what the user should know about the number of units that were found.

        Parameters
        ----------
        n_found : int
            Number of units that the data ask for.

        Returns
        -------
        str or None
            One sentence; None if there is nothing to say.
        """
        return None

    def coordinates(self, loadings: np.ndarray) -> np.ndarray:
        """Return the matrix B by which units h become f at the end of a fit: h = B f.

        It is only asked for if the units have free coordinates.

        Parameters
        ----------
        loadings : ndarray of shape (features, units)
            How much each feature changes with each unit, on a scale on which features can be compared. Over the
            training rows, expectations of the units are uncorrelated and have variance 1.

        Returns
        -------
        ndarray of shape (units, units)
            An invertible matrix.
        """
        raise NotImplementedError

    # ---- what the layer learns besides its bias ------------------------------------------------------------------
    @property
    def own_names(self) -> tuple[str, ...]:
        """Names of the own parameters, which the layer learns besides its bias."""
        return ()

    def own_parameters(self) -> dict[str, np.ndarray]:
        """Return initial values of the own parameters.

        Returns
        -------
        dict of str to ndarray
            Arrays by name, for each of `own_names`.
        """
        return {}

    def at(self, own: Mapping[str, np.ndarray]) -> Self:
        """Return the layer with given own parameters.

        Parameters
        ----------
        own : mapping of str to ndarray
            Own parameters by name.

        Returns
        -------
        HiddenLayer
            A layer whose densities have these parameters; the layer itself if it has none.
        """
        return self

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
    def largest(self) -> np.ndarray | float:
        """Largest value of a unit, or of each; infinite if there is none."""
        return self.support.upper

    def grids(self, points: int) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return values of each unit to sum over, with the logarithms of their weights.

        Parameters
        ----------
        points : int
            Number of values of a real unit.

        Returns
        -------
        list of (ndarray, ndarray)
            Values and log-weights, for each unit.
        """
        return [self.support.grid(points=points)] * self.n_units_

    @property
    def bounded(self) -> bool:
        """Whether a unit has a largest value; if so, it goes with every family."""
        return self.support.bounded

    @property
    def nonnegative(self) -> bool:
        """Whether weights of views are kept at 0 or above."""
        return False

    @property
    def are_topics(self) -> np.ndarray:
        """Which units are topics to be read: all, unless a layer has others too."""
        return np.ones(self.n_units_, dtype=bool)

    @property
    def unit_names(self) -> list[str]:
        """Names of the units, counted from 0."""
        return [f"topic_{number}" for number in range(self.n_units_)]

    @property
    def parts(self) -> tuple[tuple[slice, HiddenLayer], ...]:
        """Groups of units: which units they are, and the layer of each."""
        return ((slice(0, self.n_units_), self),)

    @property
    def predictors(self) -> HiddenLayer:
        """Units that the loss of a head moves: all, unless a layer has others too."""
        return self

    def for_outputs(self, n_outputs: int) -> HiddenLayer:
        """Return the layer for a number of scores that are to be predicted.

        Parameters
        ----------
        n_outputs : int
            Number of scores of a head.

        Returns
        -------
        HiddenLayer
            The layer itself, unless its number of units goes by that of the scores.
        """
        return self

    def holding(self, parameters: Parameters) -> HiddenLayer:
        """Return a copy of which training leaves the `predictors` as they are.

        Only layers that have other units are asked.

        Parameters
        ----------
        parameters : dict of str to ndarray
            Parameters of the model.

        Returns
        -------
        HiddenLayer
            The copy.
        """
        raise NotImplementedError

    def project(self, parameters: Parameters, views: list[str]) -> None:
        """Move parameters back to where the layer allows them, in place.

        Parameters
        ----------
        parameters : dict of str to ndarray
            Parameters of the model.
        views : list of str
            Names of its views.
        """

    def lower_bounds(self) -> np.ndarray:
        """Return the smallest value that weights of each unit may have.

        Returns
        -------
        ndarray of shape (units,)
            Bounds; minus infinity where weights may have any sign.
        """
        return np.full(self.n_units_, 0.0 if self.nonnegative else -np.inf)

    @property
    def balances_views(self) -> bool:
        """Whether `coordinates` takes loadings in the units of the data.

        Views then have the same total variance; else loadings are those of standardised features. It is only asked for
        if the units have free coordinates.
        """
        return True

    @property
    def held(self) -> str | None:
        """What training holds the units to, in words; None if nothing."""
        return None

    @property
    def conditional_variance(self) -> float:
        """Variance of a unit given its natural parameter.

        It is only asked for if units have no largest value.
        """
        raise NotImplementedError

    def idle(self, deviation: np.ndarray) -> np.ndarray:
        """Return which units are the same for all items, so that they say nothing.

        Parameters
        ----------
        deviation : ndarray of shape (units,)
            Standard deviation of the units' means over the items.

        Returns
        -------
        ndarray of bool of shape (units,)
            Mask of the units whose means hardly differ.
        """
        same: np.ndarray = deviation < _IDLE * (self.support.upper if self.bounded else 1.0)
        return same

    def gain(self, curvature: np.ndarray) -> float:
        """Return by how much a round to real-valued views and back multiplies units.

        It is only asked for if units have no largest value. The model can be normalised if it is below 1.

        Parameters
        ----------
        curvature : ndarray of shape (units, units)
            Sum G of the curvatures of the views, Wᵀ diag(σ²) W.

        Returns
        -------
        float
            Largest eigenvalue of G times the conditional variance of the units.
        """
        return self.conditional_variance * float(np.linalg.eigvalsh(curvature)[-1])

    def mean_with_curvature(self, natural: np.ndarray, curvature: np.ndarray) -> np.ndarray:
        """Return the expectations of units some of whose real-valued views are missing.

        It is only asked for if the units have free coordinates.

        Parameters
        ----------
        natural : ndarray of shape (rows, units)
            Natural parameters, to which the missing views contribute what they are if all units are zero.
        curvature : ndarray of shape (units, units)
            Sum of the curvatures of the missing views.

        Returns
        -------
        ndarray of shape (rows, units)
            Expectations, in the precision of `natural`.
        """
        raise NotImplementedError

    def turned_bias(self, bias: np.ndarray) -> np.ndarray:
        """Return the bias of units whose values are counted from the other end.

        It is only asked for if units have a largest value M: h becomes M - h, with the sign of all weights changed.

        Parameters
        ----------
        bias : ndarray of shape (units,)
            Bias of the units as they are.

        Returns
        -------
        ndarray of shape (units,)
            Bias of the turned units.
        """
        return -bias

    def boltzmann_machine(
        self, weights: np.ndarray, view_bias: np.ndarray, bias: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the Boltzmann machine that binary views and this layer make up.

        It is p(x) ∝ exp(bias·x + xᵀ couplings x / 2) for x in {0, 1}ⁿ, where x holds the features of all views,
        followed by the units where these are not summed out.

        Parameters
        ----------
        weights : ndarray of float64 of shape (features, units)
            Weights of all views.
        view_bias : ndarray of float64 of shape (features,)
            Biases of all views.
        bias : ndarray of float64 of shape (units,)
            Bias of the units.

        Returns
        -------
        bias : ndarray of shape (n,)
            Bias of each variable.
        couplings : ndarray of shape (n, n)
            Couplings, symmetric with a zero diagonal.

        Raises
        ------
        IncompatiblePartsError
            If they do not make up a Boltzmann machine.
        """
        raise IncompatiblePartsError(
            f"Perfect sampling needs GaussianUnits or BernoulliUnits; got {type(self).__name__}; draw with sample()."
        )

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

    def by_natural(self, natural: np.ndarray, by_mean: np.ndarray) -> np.ndarray:
        """Return the derivatives of a loss by the natural parameters.

        Parameters
        ----------
        natural : ndarray of shape (rows, units)
            Natural parameters.
        by_mean : ndarray of shape (rows, units)
            Derivatives of the loss by the means.

        Returns
        -------
        ndarray of shape (rows, units)
            Derivatives, in the precision of `natural`.
        """
        return by_mean * self.mean_derivative(natural)

    def moved_by(self, natural: np.ndarray, before: np.ndarray, parts: np.ndarray) -> np.ndarray:
        """Return which parts of a move of the means come from parts of the naturals'.

        The means move by the secant between both ends, so that parts which add up to the move of the naturals add up to
        the move of the means. That is the integral of the slopes along the straight line between the ends.

        Parameters
        ----------
        natural, before : ndarray of shape (units,)
            Naturals after and before the move, in float64.
        parts : ndarray of shape (parts, units)
            Parts of ``natural - before``.

        Returns
        -------
        ndarray of shape (parts, units)
            Parts of ``mean(natural) - mean(before)``.
        """
        return parts * secant(self.mean, natural, before)

    def root_of_slopes(self, slopes: np.ndarray) -> np.ndarray:
        """Return R, where R Rᵀ is how the means move with the natural parameters.

        Parameters
        ----------
        slopes : ndarray of shape (units,)
            Derivative of the mean of each unit by its natural parameter.

        Returns
        -------
        ndarray of shape (units, units)
            Roots on the diagonal, for units that are independent given their natural parameters.
        """
        return np.diag(np.sqrt(slopes))

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


# Closer naturals than this have the slope between two that are this far apart, which is the same up to rounding.
_CLOSE = 1e-5


def secant(function: Callable[[np.ndarray], np.ndarray], after: np.ndarray, before: np.ndarray) -> np.ndarray:
    """Return slopes of the secants of a function of each unit's natural; of tangents where both ends meet.

    Parameters
    ----------
    function : callable
        From naturals of shape (rows, units) to values of shape (rows, units, ...).
    after, before : ndarray of shape (units,)
        The ends, in float64.

    Returns
    -------
    ndarray of shape (units, ...)
        Slopes.

    Examples
    --------
    >>> secant(np.square, np.array([3.0, 1.0]), np.array([1.0, 1.0])).round(6).tolist()
    [4.0, 2.0]
    """
    close = np.abs(after - before) < _CLOSE
    middle = (after + before) / 2
    upper, lower = (np.where(close, middle + step, end) for step, end in ((_CLOSE / 2, after), (-_CLOSE / 2, before)))
    values = function(np.stack([upper, lower]))
    distance = (upper - lower).reshape(-1, *(1,) * (values.ndim - 2))
    return (values[0] - values[1]) / distance
