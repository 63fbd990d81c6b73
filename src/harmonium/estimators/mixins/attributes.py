"""Inspection of a fitted model: its parameters, its record, and which features load on which topic."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pandas as pd

from harmonium.core.parameters import weights_of
from harmonium.core.validation import check_fitted
from harmonium.families import Family
from harmonium.queries.latent import shown_names
from harmonium.queries.topics import features
from harmonium.tables.overview import Overview
from harmonium.training import FittedModel


class Attributes:
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
    def n_topics_(self) -> int:
        """Number of topics to be read; they come before all other units."""
        return len(self._model.topics)

    @property
    def n_components_(self) -> int:
        """Number of hidden units; for layers that select units, of those that were kept."""
        return self._model.n_units

    @property
    def components_(self) -> np.ndarray:
        """Weights of shape (units, features), all views side by side."""
        return np.concatenate([self._model.parameters[weights_of(name)] for name in self.families_]).T

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
    def _n_features_out(self) -> int:
        return len(shown_names(self._model))

    def topics(
        self,
        view: str | None = None,
        n: int | None = 10,
        by: features.By = "relevance",
        side: Literal["positive", "negative"] = "positive",
    ) -> pd.DataFrame:
        """Return the features that say most about each topic, or how much each says.

        For sequences, columns "present" rank what makes a topic, and columns "continues" what tends to continue from
        one vector to the next where the topic is present: "room → room" is a word that the next paragraph takes up
        again. Names come from data frames; for other matrices give them with the view, as in ``Views({"words": X},
        feature_names={"words": vectorizer})``.

        Parameters
        ----------
        view : str, optional
            Name of the view; may be left out if there is only one.
        n : int or None, default=10
            Number of features for each topic; None returns the numbers by which all features are ranked.
        by : {"relevance", "effect", "weight"}, default="relevance"
            What features are ranked by. "relevance": what the most typical items of a topic have in common, times the
            root of the topic's share in all relevance of the feature, so that features of one topic come before those
            of many, and 0 for words of texts that say nothing (function words, and words of more than half of the
            texts). "effect": weights times the standard deviations that features have in the training data under their
            family. "weight": weights as they are, which put words first that hardly ever occur.
        side : {"positive", "negative"}, default="positive"
            Whether to name what a topic raises or what it lowers. For units that may be negative, such as
            `GaussianUnits`, both are halves of the same topic.

        Returns
        -------
        DataFrame
            A row for each topic, the feature that says most first; or, if n is None, a row for each feature and a
            column for each topic. Topics go by their numbers, or by the names that they were given.

        Notes
        -----
        Typical items are the hundred training items with the most of a topic, fewer for small data. Words and other
        counts are compared by the share of the items that have them, f among the typical items and p among all: the
        relevance is the geometric mean of (f - p) / √(p (1 - p)) and f log(f / p), and 0 for words of fewer than ten
        items (a hundredth of the items, if these are fewer than 1,000). Other features have the difference of their
        means in standard deviations. For units that may be negative it is half the difference to the items with the
        least. A model trained by `partial_fit` has not seen all items, and goes by effects in place of relevance.
        """
        name = features.view_name(self._model, view)
        if side not in ("positive", "negative"):
            raise ValueError(f"side must be 'positive' or 'negative'; got {side!r}; correct it.")
        table = features.ranking(self._model, name, by)
        table = table if side == "positive" else -table
        return table if n is None else features.ranked_features(self._model, name, table, n)
