"""Groups of units: topics to be read, and dimensions beside them, which predict.

A layer with one group is all topics. What holds for each unit is put together here from what its group says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

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
        return self._of_units([float(layer.support.upper) for _, layer in self.parts])

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
            largest = np.full(len(deviation), float(self.topics.support.upper))
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
