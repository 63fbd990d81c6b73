"""Features of linear models: views that are scaled in one of several ways, made when they are asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import scipy.sparse

from harmonium.families import Family
from harmonium.linear.nystroem import Nystroem
from harmonium.linear.scaling import Features, ViewScaler
from harmonium.views.data import Data

# The mean squared distance of two rows of numbers, as the variances of a view add up to 1: the unit of gamma.
_TYPICAL_DISTANCE = 2.0


@dataclass(frozen=True)
class Preparation:
    """Preparation of the features from the views.

    Attributes
    ----------
    use_idf : bool
        Whether views that count something have inverse document frequencies, and rows of length 1.
    data_scale : bool
        Whether columns of numbers vary as much as they do in the user's units.
    gamma : float
        Factor of squared distances, in units of the typical one, of the kernel whose Nystroem features take the place
        of those of dense views; 0 leaves them as they are.
    """

    use_idf: bool
    data_scale: bool = False
    gamma: float = 0.0


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
    _lacking: dict[str, np.ndarray] = field(default_factory=dict)
    _scalers: dict[Preparation, dict[str, ViewScaler]] = field(default_factory=dict)
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
        return any(np.ptp(self.families[name].codec.data_scale) > 0 for name in self.dense)

    def scalers(self, preparation: Preparation) -> dict[str, ViewScaler]:
        """Return the scaler of each view."""
        self._make(preparation)
        return self._scalers[preparation]

    def by_view(self, preparation: Preparation) -> dict[str, Features]:
        """Return the features of all rows, by view."""
        self._make(preparation)
        return self._features[preparation]

    def joined(self, preparation: Preparation, weights: Mapping[str, float]) -> Features:
        """Return the features of all views side by side, each times its weight; sparse if one of them is."""
        views = self.by_view(preparation)
        parts = [part if weights[name] == 1 else part * weights[name] for name, part in views.items()]
        if len(parts) == 1:
            return parts[0]
        if any(scipy.sparse.issparse(part) for part in parts):
            return scipy.sparse.csr_array(scipy.sparse.hstack(parts, format="csr"))
        return np.hstack(parts)

    def of_lacking(self, preparation: Preparation) -> dict[str, np.ndarray]:
        """Return the features of a row that lacks each view.

        They are those that such a row has in training, as a model learns from it what it means to lack the view; where
        no row does, the mean of all.
        """
        found = {}
        for name, part in self.by_view(preparation).items():
            rows = part if name not in self._lacking else part[[int(np.argmax(self._lacking[name]))]]
            found[name] = np.asarray(rows.mean(axis=0)).ravel()
        return found

    def lacking(self, preparation: Preparation) -> dict[str, np.ndarray]:
        """Return which rows lack each view, for views that some rows lack."""
        self._make(preparation)
        return self._lacking

    def _make(self, preparation: Preparation) -> None:
        if preparation in self._features:
            return
        if preparation.gamma:
            linear = replace(preparation, gamma=0.0)
            # dense views that count something are described as numbers then
            numbers = replace(linear, use_idf=False)
            scalers, features = dict(self.scalers(linear)), dict(self.by_view(linear))
            for name in self.dense:
                rows = self.by_view(numbers)[name]
                nystroem = Nystroem.fitted(rows, preparation.gamma / _TYPICAL_DISTANCE)
                scalers[name] = replace(self.scalers(numbers)[name], nystroem=nystroem)
                features[name] = nystroem.transform(rows)
            # they are large, and only one gamma at a time is looked at
            self._features = {other: kept for other, kept in self._features.items() if not other.gamma}
        else:
            scalers = {
                name: ViewScaler.fitted(
                    family,
                    (batch.views[name] for batch in self.data.blocks(self.families)),
                    preparation.use_idf,
                    preparation.data_scale,
                )
                for name, family in self.families.items()
            }
            features = self._transformed(scalers)
        self._scalers[preparation], self._features[preparation] = scalers, features

    def _transformed(self, scalers: dict[str, ViewScaler]) -> dict[str, Features]:
        blocks: dict[str, list[Features]] = {name: [] for name in scalers}
        n_before = 0
        for batch in self.data.blocks(self.families):
            for name, scaler in scalers.items():
                view = batch.views[name]
                blocks[name].append(scaler.transform(self.families[name], view))
                if not view.observed_rows.all():
                    mask = self._lacking.setdefault(name, np.zeros(len(self.data), dtype=bool))
                    mask[n_before : n_before + batch.n_rows] = ~view.observed_rows
            n_before += batch.n_rows
        return {
            name: scipy.sparse.csr_array(scipy.sparse.vstack(parts, format="csr"))
            if scipy.sparse.issparse(parts[0])
            else np.concatenate(parts)
            for name, parts in blocks.items()
        }
