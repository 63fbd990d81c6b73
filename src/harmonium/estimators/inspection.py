"""Inspection of a fitted model: its parameters, its record, and which features load on which topic."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pandas as pd

from harmonium.energy import Energy
from harmonium.families import Family
from harmonium.params import weights_of
from harmonium.queries import topics
from harmonium.tables.overview import Overview
from harmonium.training import FittedModel
from harmonium.validation import check_fitted


class Inspection:
    """Part of every estimator: access to what was learned, all of it read from ``fitted_``."""

    fitted_: FittedModel

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "fitted_")

    @property
    def _model(self) -> FittedModel:
        """The fitted model; raises a NotFittedError if there is none."""
        check_fitted(self)
        return self.fitted_

    @property
    def energy_(self) -> Energy:
        """Structure of the fitted model: families and hidden layer."""
        return self._model.energy

    @property
    def families_(self) -> dict[str, Family]:
        """Family of each view."""
        return self._model.families

    @property
    def views_(self) -> pd.DataFrame:
        """What each view is, or, for a model of a table, what each of its columns is.

        A row for each view with its family and number of features; a row for each column with its role, view, family,
        number of features, share of missing values in the training data, and what was decided about it.
        """
        model = self._model
        if model.table is not None:
            return model.table.summary(model.families)
        return Overview(
            {
                "family": [type(model.families[name]).__name__ for name in model.input_names],
                "features": [int(model.families[name].n_features_) for name in model.input_names],
                "missing": [round(model.missing[name], 4) for name in model.input_names],
            },
            index=pd.Index(model.input_names, name="view"),
        )

    @property
    def feature_names_(self) -> dict[str, list[str]]:
        """Names of the features of each view."""
        return self._model.feature_names

    @property
    def input_names_(self) -> list[str]:
        """Names of the views that X has: all but a label that is a view."""
        return self._model.input_names

    @property
    def view_weights_(self) -> dict[str, float]:
        """How much each view weighed while the model was trained."""
        return {name: float(self._model.problem.view_weights.get(name, 1.0)) for name in self._model.input_names}

    @property
    def n_topics_(self) -> int:
        """Number of hidden units that are topics to be read; they come before all others."""
        return self._model.n_topics

    @property
    def n_components_(self) -> int:
        """Number of hidden units; for layers that select units, of those that were kept."""
        return self._model.n_units

    @property
    def parameters_(self) -> dict[str, np.ndarray]:
        """All parameters by name, such as "words.weights" and "hidden.bias"."""
        return self._model.parameters

    @property
    def components_(self) -> np.ndarray:
        """Weights of shape (units, features), all views side by side."""
        return np.concatenate([self.parameters_[weights_of(name)] for name in self.families_]).T

    @property
    def history_(self) -> dict[str, list[float]]:
        """Record of every epoch: lists of the same length, by what was measured.

        Always there are "epoch", "reconstruction" (mean loss of a watched row given its hidden means, in nats),
        "free_energy" and "seconds". Depending on the parts there are "loss", "reconstruction.VIEW",
        "validation_reconstruction", "free_energy_gap", "n_components" and "prior_bound" (layers that select units), and
        "step", "accepted" and "prior_scale.VIEW" (posterior draws).
        """
        return self._model.training.log.history

    @property
    def n_iter_(self) -> int:
        """Number of epochs done; of iterations for `LBFGS`, of moves for posterior draws."""
        return self._model.training.log.n_iter

    @property
    def stopped_(self) -> str:
        """Why training ended."""
        return self._model.training.log.stopped

    @property
    def unit_usage_(self) -> np.ndarray:
        """Share of the training rows that have each unit.

        Only `fit` measures it, and only for layers that select units.
        """
        usage = self._model.usage
        if usage is None:
            raise AttributeError(
                "Only models whose hidden layer selects units, such as IBP(), know their use after fit; this one does "
                "not; see usage_table in harmonium.report."
            )
        return usage

    @property
    def truncation_reached_(self) -> bool:
        """Whether all units that were allowed are needed, so that more of them might be.

        Only for layers that select units.
        """
        self.unit_usage_  # noqa: B018 (refuses what selects none)
        return self._model.truncation_reached

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def loadings(self, view: str | None = None) -> pd.DataFrame:
        """Return the weights of one view, features by topics.

        Parameters
        ----------
        view : str, optional
            Name of the view; may be left out if there is only one.

        Returns
        -------
        DataFrame
            A row for each feature, a column for each topic.
        """
        return topics.loadings(self._model, topics.view_name(self._model, view))

    def effects(self, view: str | None = None) -> pd.DataFrame:
        """Return the weights of one view times the standard deviations of its features.

        It is what a topic does to a feature, in units of how much the feature varies in the training data under its
        family: words that hardly ever occur have small effects, whatever their weights.

        Parameters
        ----------
        view : str, optional
            Name of the view; may be left out if there is only one.

        Returns
        -------
        DataFrame
            A row for each feature, a column for each topic.
        """
        return topics.effects(self._model, topics.view_name(self._model, view))

    def relevance(self, view: str | None = None) -> pd.DataFrame:
        """Return how much features say about each topic, by its most typical items.

        These are the hundred training items with the most of a topic, fewer for small data. Words and other counts are
        compared by the share of the items that have them, f among the typical items and p among all: the relevance is
        the geometric mean of (f - p) / √(p (1 - p)) and f log(f / p), and 0 for words of fewer than ten items (a
        hundredth of the items, if these are fewer than 1,000). Other features have the difference of their means in
        standard deviations. For units that may be negative it is half the difference to the items with the least. A
        model trained by `partial_fit` has not seen all items, and returns the `effects` in their place.

        Parameters
        ----------
        view : str, optional
            Name of the view; may be left out if there is only one.

        Returns
        -------
        DataFrame
            A row for each feature, a column for each topic.
        """
        return topics.relevance(self._model, topics.view_name(self._model, view))

    def ranking(self, view: str | None = None, by: topics.By = "relevance") -> pd.DataFrame:
        """Return what the features of a view are ranked by for each topic.

        Every table and picture of topics goes by it. It has the sign of relevance, effect or weight: for units that may
        be negative, features with the smallest values belong to the topic's negative side.

        Parameters
        ----------
        view : str, optional
            Name of the view; may be left out if there is only one.
        by : {"relevance", "effect", "weight"}, default="relevance"
            "relevance": what the most typical items of a topic have in common (`relevance`), times the root of the
            topic's share in all relevance of the feature, so that features of one topic come before those of many, and
            0 for words of texts that say nothing (function words, and words of more than half of the texts);
            "effect": weights times the standard deviations of the features (`effects`); "weight": weights as they are
            (`loadings`), which put words first that hardly ever occur.

        Returns
        -------
        DataFrame
            A row for each feature, a column for each topic.
        """
        return topics.ranking(self._model, topics.view_name(self._model, view), by)

    def topics(
        self,
        view: str | None = None,
        n: int = 10,
        by: topics.By = "relevance",
        side: Literal["positive", "negative"] = "positive",
    ) -> pd.DataFrame:
        """Return the names of the features that say most about each topic.

        For sequences, columns "present" rank what makes a topic, and columns "continues" what tends to continue from
        one vector to the next where the topic is present: "room → room" is a word that the next paragraph takes up
        again. Names come from data frames; for other matrices give them with the view, as in ``Views({"words": X},
        feature_names={"words": vectorizer})``.

        Parameters
        ----------
        view : str, optional
            Name of the view; may be left out if there is only one.
        n : int, default=10
            Number of features for each topic.
        by : {"relevance", "effect", "weight"}, default="relevance"
            What features are ranked by; see `ranking`.
        side : {"positive", "negative"}, default="positive"
            Whether to name what a topic raises or what it lowers. For units that may be negative, such as
            `GaussianUnits`, both are halves of the same topic.

        Returns
        -------
        DataFrame
            A row for each topic, the feature that says most first.
        """
        name = topics.view_name(self._model, view)
        if side not in ("positive", "negative"):
            raise ValueError(f"side must be 'positive' or 'negative'; got {side!r}; correct it.")
        table = topics.ranking(self._model, name, by)
        return topics.ranked_features(self._model, name, table if side == "positive" else -table, n)
