"""Features of linear models: views on a common footing, in one of several ways."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import scipy.sparse

from harmonium.families import Family
from harmonium.linear.nystroem import Resemblance
from harmonium.linear.scaling import Features, Footing
from harmonium.linear.skip import side_by_side
from harmonium.views.data import Data

# The mean squared distance of two rows of numbers, as the variances of a view add up to 1: the unit of curves.
_TYPICAL_DISTANCE = 2.0


@dataclass(frozen=True)
class Preparation:
    """How views become features.

    Attributes
    ----------
    by_rarity : bool
        Whether rare features of views that count something weigh more, and their rows have length 1.
    own_scale : bool
        Whether columns of numbers vary as much as they do in the user's units.
    curve : float
        Precision of the resemblance that takes the place of the features of dense views, in units of their typical
        squared distance; 0 leaves them as they are.
    """

    by_rarity: bool
    own_scale: bool = False
    curve: float = 0.0


@dataclass
class PreparedViews:
    """Features of all rows, by preparation, made when they are asked for.

    Attributes
    ----------
    data : Data
        Views of all rows.
    families : dict of str to Family
        Families of the views that are inputs.
    """

    data: Data
    families: Mapping[str, Family]
    _lacking: dict[str, int] = field(default_factory=dict)
    _footings: dict[Preparation, dict[str, Footing]] = field(default_factory=dict)
    _features: dict[Preparation, dict[str, Features]] = field(default_factory=dict)

    @property
    def count_something(self) -> bool:
        """Whether some view counts something."""
        return any(family.counts_something for family in self.families.values())

    @property
    def dense(self) -> list[str]:
        """Names of the views whose rows are dense."""
        features = self.by_view(Preparation(self.count_something))
        return [name for name in self.families if not scipy.sparse.issparse(features[name])]

    @property
    def vary_differently(self) -> bool:
        """Whether the columns of some dense view vary by different amounts in the user's units."""
        return any(np.ptp(self.families[name].footing()) > 0 for name in self.dense)

    def footings(self, preparation: Preparation) -> dict[str, Footing]:
        """Return how the statistics of each view become features."""
        self._make(preparation)
        return self._footings[preparation]

    def by_view(self, preparation: Preparation) -> dict[str, Features]:
        """Return the features of all rows, by view."""
        self._make(preparation)
        return self._features[preparation]

    def joined(self, preparation: Preparation, weights: Mapping[str, float]) -> Features:
        """Return the features of all views side by side, each times its weight."""
        parts = self.by_view(preparation)
        return side_by_side([part if weights[name] == 1 else part * weights[name] for name, part in parts.items()])

    def of_lacking(self, preparation: Preparation) -> dict[str, np.ndarray]:
        """Return the features of a row that lacks each view.

        They are those that such a row has in training, as a model learns from it what it means to lack the view; where
        no row does, the mean of all.
        """
        found = {}
        for name, part in self.by_view(preparation).items():
            rows = part if name not in self._lacking else part[[self._lacking[name]]]
            found[name] = np.asarray(rows.mean(axis=0)).ravel()
        return found

    def _make(self, preparation: Preparation) -> None:
        if preparation in self._features:
            return
        if preparation.curve:
            straight = replace(preparation, curve=0.0)
            # dense views that count something are described as numbers then
            numbers = replace(straight, by_rarity=False)
            footings, features = dict(self.footings(straight)), dict(self.by_view(straight))
            for name in self.dense:
                rows = self.by_view(numbers)[name]
                near = Resemblance.learned(rows, preparation.curve / _TYPICAL_DISTANCE)
                footings[name] = replace(self.footings(numbers)[name], resemblance=near)
                features[name] = near.features(rows)
            # they are large, and only one curve at a time is looked at
            self._features = {other: kept for other, kept in self._features.items() if not other.curve}
        else:
            footings = {
                name: Footing.learned(
                    family,
                    (batch.views[name] for batch in self.data.blocks(self.families)),
                    preparation.by_rarity,
                    preparation.own_scale,
                )
                for name, family in self.families.items()
            }
            features = self._of(footings)
        self._footings[preparation], self._features[preparation] = footings, features

    def _of(self, footings: dict[str, Footing]) -> dict[str, Features]:
        blocks: dict[str, list[Features]] = {name: [] for name in footings}
        n_before = 0
        for batch in self.data.blocks(self.families):
            for name, footing in footings.items():
                view = batch.views[name]
                blocks[name].append(footing.features(self.families[name], view))
                if name not in self._lacking and not view.observed_rows.all():
                    self._lacking[name] = n_before + int(np.argmin(view.observed_rows))
            n_before += batch.n_rows
        return {
            name: scipy.sparse.csr_array(scipy.sparse.vstack(parts, format="csr"))
            if scipy.sparse.issparse(parts[0])
            else np.concatenate(parts)
            for name, parts in blocks.items()
        }
