"""What a fitted model has learned: its parameters, and which features load on which topic."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pandas as pd
from sklearn.utils.validation import check_is_fitted

from harmonium.energy import Energy
from harmonium.families import Family
from harmonium.objectives import Problem
from harmonium.params import Parameters, weights_of
from harmonium.training import Training


class Inspection:
    """Part of every estimator: access to what was learned."""

    _problem: Problem
    _training: Training
    families_: dict[str, Family]
    feature_names_: dict[str, list[str]]
    n_components_: int

    @property
    def energy_(self) -> Energy:
        """Structure of the fitted model."""
        check_is_fitted(self, "families_")
        return self._problem.energy

    @property
    def input_names_(self) -> list[str]:
        """Names of the views that X has."""
        return list(self.families_)

    @property
    def parameters_(self) -> dict[str, np.ndarray]:
        """Parameter arrays by name."""
        check_is_fitted(self, "families_")
        return self._training.result

    def _draws(self) -> list[Parameters]:
        """Parameters to average over: posterior draws, or the only ones there are."""
        posterior = self._training.posterior
        return [self.parameters_] if posterior is None else posterior.draws()

    @property
    def components_(self) -> np.ndarray:
        """Weights, (units, features), views side by side."""
        return np.concatenate([self.parameters_[weights_of(name)] for name in self.families_]).T

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def loadings(self, view: str | None = None) -> pd.DataFrame:
        """Weights of one view, features by topics."""
        name = self._view(view)
        return pd.DataFrame(
            self.parameters_[weights_of(name)],
            index=pd.Index(self.feature_names_[name], name=name),
            columns=pd.RangeIndex(self.n_components_, name="topic"),
        )

    def topics(self, view: str | None = None, n: int = 10, by: Literal["weight", "effect"] = "weight") -> pd.DataFrame:
        """Names of the features that load most on each topic, one row per topic, the largest weight first.

        Of sequences, columns "present" rank what makes a topic, and columns "continues" what tends to go on from one
        vector to the next where the topic is: "room → room" is a word that the next paragraph takes up again.

        Negative weights, which matter as much for Gaussian units, are in `loadings`.

        Parameters
        ----------
        view : str, optional
            Which view; may be left out if there is only one.
        n : int, default=10
            How many features.
        by : {"weight", "effect"}, default="weight"
            "effect" multiplies weights by the standard deviation of the feature in the training data, so that words
            which hardly ever occur do not come first.
        """
        loadings = self.loadings(view)
        if by not in ("weight", "effect"):
            raise ValueError(f"by must be 'weight' or 'effect'; got {by!r}; 'effect' leaves rare features out.")
        if by == "effect":
            loadings = loadings.mul(self._deviation(self._view(view)), axis=0)
        groups = self.families_[self._view(view)].feature_groups
        tables = {group: _ranked(loadings.iloc[features], n) for group, features in groups.items()}
        return tables[""] if "" in tables else pd.concat(tables, axis=1, names=["weight"])

    def _deviation(self, view: str) -> np.ndarray:
        """Standard deviation of a view's features at their training means, under the family."""
        own = self.energy_.own(self.parameters_, view)
        return np.sqrt(self.families_[view].statistic_variance(self._problem.reference[view], own))

    def _view(self, view: str | None) -> str:
        check_is_fitted(self, "families_")
        if view is None and len(self.families_) == 1:
            return next(iter(self.families_))
        if view is None:
            known = ", ".join(map(repr, self.families_))
            raise ValueError(f"With several views one has to be named; got None; pass one of {known}.")
        if view not in self.families_:
            known = ", ".join(map(repr, self.families_))
            raise ValueError(f"view must be one of {known}; got {view!r}; correct the name.")
        return view


def _ranked(loadings: pd.DataFrame, n: int) -> pd.DataFrame:
    """Names of the features with the largest weights, topics by ranks."""
    order = np.argsort(-loadings.to_numpy(), axis=0, kind="stable")[:n].T
    ranks = pd.RangeIndex(1, order.shape[1] + 1, name="rank")
    return pd.DataFrame(np.asarray(loadings.index)[order], index=loadings.columns, columns=ranks)
