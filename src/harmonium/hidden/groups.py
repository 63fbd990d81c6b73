"""Groups of units: topics to be read, and dimensions beside them, which predict.

A layer with one group is all topics. What holds for each unit is put together here from what its group says. Units that
may be exchanged for linear combinations of them have coordinates: those that are simple to read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from harmonium.kernels.rotation import promax, varimax

if TYPE_CHECKING:
    from harmonium.hidden.base import HiddenLayer

# A unit is idle if the standard deviation of its means is less than this share of its range: a convention.
_IDLE = 1e-3


@dataclass(frozen=True)
class Groups:
    """Groups of a layer, in the order of their units.

    Attributes
    ----------
    topics : HiddenLayer
        Units to be read.
    dimensions : HiddenLayer, optional
        Units that predict; None if topics do so too.
    frozen : mapping of str to ndarray
        Parameters of the dimensions, where training leaves them as they are.

    Examples
    --------
    >>> from harmonium.hidden import BernoulliUnits, BinomialUnits
    >>> groups = Groups(BernoulliUnits().bind(2), BinomialUnits(M=3).bind(1))
    >>> groups.unit_names, groups.largest.tolist()
    (['topic_0', 'topic_1', 'dimension_0'], [1.0, 1.0, 3.0])
    """

    topics: HiddenLayer
    dimensions: HiddenLayer | None = None
    frozen: Mapping[str, np.ndarray] = field(default_factory=dict)

    @property
    def parts(self) -> tuple[tuple[slice, HiddenLayer], ...]:
        """Units of each group, and the layer of the group."""
        n_topics = self.topics.n_units_
        topics = (slice(0, n_topics), self.topics)
        if self.dimensions is None:
            return (topics,)
        return topics, (slice(n_topics, n_topics + self.dimensions.n_units_), self.dimensions)

    @property
    def predictors(self) -> HiddenLayer:
        """Units that the loss of a head moves."""
        return self.topics if self.dimensions is None else self.dimensions

    @property
    def are_topics(self) -> np.ndarray:
        """Which units are topics."""
        return self._of_units([layer is self.topics for _, layer in self.parts])

    @property
    def largest(self) -> np.ndarray:
        """Largest value of each unit; infinite where there is none."""
        return np.concatenate([layer.largest for _, layer in self.parts])

    @property
    def lower_bounds(self) -> np.ndarray:
        """Smallest value that the weights of each unit may have."""
        return self._of_units([layer.lower_bound for _, layer in self.parts])

    @property
    def nonnegative(self) -> bool:
        """Whether a group has weights that are kept at 0 or above."""
        return any(layer is not None and layer.lower_bound >= 0 for layer in (self.topics, self.dimensions))

    def _of_units(self, values: Sequence[float]) -> np.ndarray:
        """Return what holds for each unit, from what holds for each group."""
        return np.repeat(values, [layer.n_units_ for _, layer in self.parts])

    def idle(self, deviation: np.ndarray) -> np.ndarray:
        """Return which units are the same for all items, so that they say nothing.

        Parameters
        ----------
        deviation : ndarray of shape (units,)
            Standard deviation over the items of the means of all units, or of topics.

        Returns
        -------
        ndarray of bool of shape (units,)
            Mask of the units whose means hardly differ.
        """
        largest = self.largest
        if len(deviation) != len(largest):
            largest = self.topics.largest
        same: np.ndarray = deviation < _IDLE * np.where(np.isfinite(largest), largest, 1.0)
        return same

    @property
    def unit_names(self) -> list[str]:
        """Names of the units: topics and dimensions, each counted from 0."""
        return [
            f"{name}_{number}"
            for name, (_, layer) in zip(("topic", "dimension"), self.parts, strict=False)
            for number in range(layer.n_units_)
        ]


#: rotations of loadings to what is simple, by name
ROTATIONS: dict[str | None, Callable[[np.ndarray], np.ndarray]] = {
    "varimax": varimax,
    "promax": promax,
    None: lambda loadings: np.linalg.svd(loadings, full_matrices=False)[2].T,
}


@dataclass(frozen=True)
class Coordinates:
    """Coordinates that a layer asks for at the end of a fit.

    Attributes
    ----------
    rotation : str or None
        Which of the `ROTATIONS` makes them simple.
    balances_views : bool
        Whether loadings are in the units of the data, with views of the same total variance; else they are those of
        standardised features.
    """

    rotation: str | None
    balances_views: bool

    def matrix(self, loadings: np.ndarray) -> np.ndarray:
        """Return the matrix B by which units h become f: h = B f, in the order of the variance that they explain.

        Parameters
        ----------
        loadings : ndarray of shape (features, units)
            How much each feature changes with each unit, on a scale on which features can be compared. Over the
            training rows, expectations of the units are uncorrelated and have variance 1.

        Returns
        -------
        ndarray of shape (units, units)
            An invertible matrix, with signs for which the largest loading of each unit is positive.
        """
        matrix = ROTATIONS[self.rotation](loadings)
        turned = loadings @ matrix
        order = np.argsort(-np.square(turned).sum(axis=0), kind="stable")
        largest = np.take_along_axis(turned, np.abs(turned).argmax(axis=0)[None, :], axis=0)[0]
        return np.asarray((matrix * np.where(largest < 0, -1.0, 1.0))[:, order])
