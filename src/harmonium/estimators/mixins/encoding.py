"""Encoding of data by a fitted model: reconstructions, one view from the others, search across views."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pandas as pd
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import check_array

from harmonium.core.validation import check_fitted, check_real, check_whole
from harmonium.estimators.input.known import checked_rows, known_views
from harmonium.estimators.input.map_blocks import map_blocks
from harmonium.estimators.input.read_input import read_input
from harmonium.kernels.runtime.threads import compute
from harmonium.queries import latent, prediction
from harmonium.queries.search import search_coordinates
from harmonium.queries.topics.features import view_name
from harmonium.search import NearestNeighbours
from harmonium.training import FittedModel


class Encoding:
    """Part of every estimator: from views to the latent space and back."""

    fitted_: FittedModel
    output: latent.Output
    n_jobs: int | None

    def inverse_transform(self, X: Any) -> Any:
        """Return the expected views given latent representations.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_components_)
            Latent representations, as `transform` returns them.

        Returns
        -------
        ndarray, or dict of ndarrays if there are several views
            Expected values of every feature, in the units of the data.
        """
        check_fitted(self)
        if self.output == "directions":
            raise ValueError(
                "inverse_transform needs latent representations that say how far items are from the average; "
                "output='directions' leaves that out; set output='mean'."
            )
        model = self.fitted_
        if any(edit.verb != "rename" for edit in model.edits.operations):
            raise ValueError(
                "inverse_transform needs all hidden units as they were learned; topics of this model were edited; take "
                "edit_topics(model, TopicEdits()), or fitted_ itself."
            )
        given = check_array(X, dtype=np.float32)
        if given.shape[1] != model.n_units:
            raise ValueError(
                f"X must have {model.n_units} columns, one per topic; got {given.shape[1]}; pass what transform gave."
            )
        with compute(self.n_jobs):
            return only(latent.expected_views(model, latent.hidden_means(model, given, self.output)))

    def reconstruct(self, X: Any) -> Any:
        """Return the expected views given the hidden means of each row.

        Missing columns of an `Ising` view are expected given the observed ones beside them as well.

        Parameters
        ----------
        X : dict, list, Views, Sequences, matrix, data frame, AnnData or MuData
            Any subset of the views that the model was fitted on.

        Returns
        -------
        ndarray, or dict of ndarrays if there are several views
            Expected values of every feature, in the units of the data.
        """
        views = known_views(self, X)
        with compute(self.n_jobs):
            return only(latent.reconstruct(self.fitted_, views))

    def predict_view(
        self,
        name: str,
        X: Any,
        n_iterations: int = 10,
        interval: float | None = None,
        of: Literal["value", "mean"] = "value",
    ) -> Any:
        """Return the expected values of one view given the others.

        It serves annotation, and fills in a view that is missing.

        Parameters
        ----------
        name : str
            The view to predict. If X has it, it is not looked at.
        X : dict, list or Views
            Other views of the items; for a model fitted on a table, a data frame with other columns.
        n_iterations : int, default=10
            Number of mean-field steps, where what is missing cannot be summed out exactly.
        interval : float, optional
            Probability of central intervals to return beside the expected values, such as 0.9.
        of : {"value", "mean"}, default="value"
            What the intervals are of: the values themselves, or their expectation, which only posterior draws of the
            weights (driver `Langevin`) leave uncertain.

        Returns
        -------
        mean : ndarray of shape (n_rows, n_features)
            Probabilities for binary and categorical views; for others expected values in the units of the data.
        lower : ndarray of shape (n_rows, n_features)
            Lower ends of the intervals; only with ``interval``.
        upper : ndarray of shape (n_rows, n_features)
            Upper ends of the intervals; only with ``interval``.
        """
        check_fitted(self)
        model = self.fitted_
        view = view_name(model, name)
        check_whole("predict_view", "n_iterations", n_iterations, remedy="10 is usual")
        _check_interval(model, interval, of)
        options = {"n_iterations": n_iterations, "interval": interval, "of": of}
        lazy = map_blocks(self, "predict_view", X, view, **options)
        if lazy is not None:
            return lazy
        views = read_input(self, X, model=model).views
        if view in views.names:
            if len(views.names) == 1:
                raise ValueError(
                    f"predict_view({view!r}) needs another view to predict it from; X has only this one; add another."
                )
            views = views.without(view)
        views = checked_rows(views, model)
        with compute(self.n_jobs):
            if interval is None:
                return prediction.expected_view(model, view, views, n_iterations)
            return prediction.view_interval(model, view, views, interval, of, n_iterations)

    def search(self, query: Any, among: Any, n: int = 10) -> tuple[np.ndarray, np.ndarray]:
        """Find the items that go best with each query, whatever views either has.

        Pictures are found by words, words by pictures, and either by both.

        Parameters
        ----------
        query : dict, list, Views, Sequences, matrix, data frame, AnnData or MuData
            Any subset of the views that the model was fitted on. What is not said in a query is best left missing: a
            query by one word has NaN for all the others, where 0 would say that they do not apply.
        among : the same, or NearestNeighbours
            The items to search: any subset of the views again, the same as those of the query, others, or both. A
            `NearestNeighbours` that was fitted on `search_coordinates` of the items answers many queries without
            reading the items again.
        n : int, default=10
            Number of items for each query; all of them if there are fewer.

        Returns
        -------
        rows : ndarray of int64 of shape (n_queries, n)
            Row numbers of the items found, best first.
        scores : ndarray of float32 of shape (n_queries, n)
            Cosines between -1 and 1: 1 for the same values of the same views, around 0 for items that have nothing to
            do with the query. Items that lack every view score 0.

        See Also
        --------
        search_coordinates : What the cosine is taken of.
        annotate_view : Words for an item by their probability; a search takes no account of how frequent words are.

        Examples
        --------
        >>> import numpy as np
        >>> from harmonium import Harmonium
        >>> kind = np.repeat([0, 1], 100)  # two kinds of items, each with words and colours of its own
        >>> rng = np.random.default_rng(0)
        >>> words = (rng.random((200, 6)) < np.where(kind[:, None] == np.arange(6) % 2, 0.6, 0.1)).astype(float)
        >>> colours = rng.normal(size=(200, 4)) + 2.0 * kind[:, None]
        >>> model = Harmonium(2, hidden="gaussian", random_state=0).fit({"words": words, "colours": colours})
        >>> query = {"words": [[np.nan, 1, np.nan, np.nan, np.nan, np.nan]]}
        >>> rows, scores = model.search(query, {"colours": colours}, n=5)
        >>> kind[rows]
        array([[1, 1, 1, 1, 1]])
        """
        check_whole("search", "n", n, remedy="10 is usual")
        coordinates = self.search_coordinates(query)
        index = among
        if not isinstance(among, NearestNeighbours):
            index = NearestNeighbours().fit(self.search_coordinates(among))
        with compute(self.n_jobs):
            return index.query(coordinates, min(n, getattr(index, "n_items_", n)))

    def search_coordinates(self, X: Any) -> np.ndarray:
        """Return coordinates whose cosine says how well items go together.

        Items may have any views, each of them others.

        Parameters
        ----------
        X : dict, list, Views, Sequences, matrix, data frame, AnnData or MuData
            Any subset of the views that the model was fitted on.

        Returns
        -------
        ndarray of shape (n_rows, n_components_)
            Coordinates in float32, to be saved or indexed; zero for rows that lack every view.

        See Also
        --------
        search : Find items by their coordinates.

        Notes
        -----
        They are the expected moves of the hidden units away from the average item, in the model linearised there, in
        units of how far items differ. Views that an item lacks are integrated out; single values that it lacks count as
        average ones. `transform` fills in missing views by what the model expects of them, so that two items with
        different views differ by what was filled in.

        Examples
        --------
        >>> import numpy as np
        >>> from harmonium import Harmonium, Stochastic
        >>> from harmonium.search import NearestNeighbours
        >>> words = (np.random.default_rng(0).random((60, 12)) < 0.3).astype(float)
        >>> model = Harmonium(3, driver=Stochastic(max_iter=5), random_state=0).fit({"words": words})
        >>> index = NearestNeighbours().fit(model.search_coordinates({"words": words}))
        >>> rows, scores = model.search({"words": words[:2]}, index, n=3)
        >>> rows[:, 0]
        array([0, 1])
        """
        views = known_views(self, X)
        with compute(self.n_jobs):
            return search_coordinates(self.fitted_, views)


def _check_interval(model: FittedModel, interval: float | None, of: str) -> None:
    """Refuse intervals that make no sense, and those of means without posterior draws."""
    if of not in ("value", "mean"):
        raise ValueError(f"of must be 'value' or 'mean'; got {of!r}; take one of them.")
    if interval is None:
        return
    check_real("predict_view", "interval", interval, remedy="0.9 is usual")
    if interval >= 1:
        raise ValueError(f"interval must lie between 0 and 1; got {interval!r}; 0.9 is usual.")
    if of == "mean" and model.posterior is None:
        raise ValueError(
            "Intervals of the mean need a model with draws of its weights; this one has a single set of them; fit "
            "with driver=Langevin(), or take of='value'."
        )


def with_index(estimator: Any, latent: Any, index: pd.Index | None) -> Any:
    """Return latent representations with the labels of the items, if the estimator is set to put out pandas frames.

    scikit-learn makes the frame, but it knows labels of one data frame alone, and not those of several views.
    """
    if index is None or _get_output_config("transform", estimator)["dense"] != "pandas":
        return latent
    return pd.DataFrame(latent, index=index)


def only(by_view: dict[str, Any]) -> Any:
    """Return the value of the only view, or the dict of all if there are several."""
    return next(iter(by_view.values())) if len(by_view) == 1 else by_view
