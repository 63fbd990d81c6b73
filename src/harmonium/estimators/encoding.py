"""What a fitted model makes of data: latent representations, reconstructions, one view from the others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils.validation import check_array, check_is_fitted

from harmonium.batch import Batch
from harmonium.estimators.inspection import Inspection
from harmonium.estimators.preparation import check_known, check_supports, read
from harmonium.estimators.ranking import ranked
from harmonium.inference.gibbs import clamp
from harmonium.inference.mean_field import fill_missing, mean_views
from harmonium.kernels.threads import compute
from harmonium.params import HIDDEN_BIAS
from harmonium.validation import check_whole
from harmonium.views import Views

_BLOCK_CELLS = 4_000_000


class Encoding(Inspection):
    """Part of every estimator: from views to the latent space and back."""

    output: str
    n_jobs: int | None

    def transform(self, X: Any) -> np.ndarray:
        """Latent representation of each row: one product when nothing is missing, mean field over what is.

        Returns
        -------
        ndarray of float32, shape (rows, n_components_)
        """
        check_is_fitted(self, "families_")
        views = self._known(X)
        with compute(self.n_jobs):
            return self._encode(views, self.output)

    def _known(self, X: Any) -> Views:
        views = check_known(read(self, X, reset=False), self.families_, self.feature_names_)
        check_supports(views, self.families_, self.energy_.hidden)
        return views

    def _encode(self, views: Views, output: str, n_iterations: int = 10) -> np.ndarray:
        result = np.empty((len(views), self.n_components_), dtype=np.float32)
        layer = self.energy_.layer(self.parameters_)
        for items, batch in self._batches(views, n_iterations):
            natural = self.energy_.hidden_natural(self.parameters_, batch, with_bias=output != "coordinates")
            result[items] = layer.mean(natural.astype(np.float64)) if output == "mean" else natural
        return result

    def _batches(self, views: Views, n_iterations: int = 10) -> Iterator[tuple[slice, Batch]]:
        """Blocks of rows with what is missing filled in; sparse rows count by what is stored."""
        cells = sum(
            # what is missing is inferred densely
            64 if views.is_sparse_throughout(name, family) else family.n_features_
            for name, family in self.families_.items()
        )
        step = max(1, _BLOCK_CELLS // max(cells, self.n_components_))
        for first in range(0, len(views), step):
            items = slice(first, min(first + step, len(views)))
            batch = views.batch(items, self.families_)
            for view in batch.views.values():
                if isinstance(view.statistic, np.ndarray):
                    # vectorised code rounds a row differently at another place of the block; in double precision,
                    # narrowed at the end, that does not show
                    view.statistic = view.statistic.astype(np.float64)
            yield items, fill_missing(self.energy_, self.parameters_, batch, self._problem.reference, n_iterations)

    def inverse_transform(self, X: Any) -> Any:
        """Expected views given latent representations (as `transform` gives them), in the units of the data.

        Returns
        -------
        ndarray, or dict of ndarrays if there are several views
        """
        check_is_fitted(self, "families_")
        latent = check_array(X, dtype=np.float32)
        if latent.shape[1] != self.n_components_:
            raise ValueError(
                f"X must have {self.n_components_} columns, one per topic; got {latent.shape[1]}; "
                "pass what transform gave."
            )
        if self.output == "coordinates":
            latent = latent + self.parameters_[HIDDEN_BIAS]
        hidden_mean = latent if self.output == "mean" else self.energy_.layer(self.parameters_).mean(latent)
        with compute(self.n_jobs):
            return self._expected_views(hidden_mean)

    def reconstruct(self, X: Any) -> Any:
        """Expected views given the hidden means that X has: what the model makes of each row."""
        check_is_fitted(self, "families_")
        views = self._known(X)
        with compute(self.n_jobs):
            sizes = self._totals(views)
            return self._expected_views(self._encode(views, "mean"), sizes)

    def _totals(self, views: Views) -> dict[str, np.ndarray]:
        """Totals of rows of the views that have them."""
        totals: dict[str, list[np.ndarray]] = {}
        for items in np.array_split(np.arange(len(views)), max(1, len(views) // 1000)):
            for name, view in views.batch(items, self.families_).views.items():
                if view.size is not None:
                    totals.setdefault(name, []).append(view.size)
        return {name: np.concatenate(parts) for name, parts in totals.items()}

    def _expected_views(self, hidden_mean: np.ndarray, sizes: dict[str, np.ndarray] | None = None) -> Any:
        sizes = self._typical_sizes(len(hidden_mean)) if sizes is None else sizes
        return self._decoded(mean_views(self.energy_, self.parameters_, hidden_mean, sizes)[0])

    def _typical_sizes(self, n_rows: int) -> dict[str, np.ndarray]:
        """Totals of rows that are not observed, for the views that have totals."""
        sizes = {name: family.typical_sizes(n_rows) for name, family in self.families_.items()}
        return {name: size for name, size in sizes.items() if size is not None}

    def _decoded(self, batch: Batch) -> Any:
        """Dense statistics in the units of the data: an array, or a dict of arrays if there are several views."""
        decoded = {
            name: np.ascontiguousarray(self.families_[name].decode(np.asarray(view.statistic)), dtype=np.float32)
            for name, view in batch.views.items()
        }
        return next(iter(decoded.values())) if len(decoded) == 1 else decoded

    def predict_view(self, name: str, X: Any, n_iterations: int = 10) -> np.ndarray:
        """Expected values of one view given the others: annotation, or filling in a missing view.

        Parameters
        ----------
        name : str
            The view to predict; if X has it, it is not looked at.
        X : dict, Views, …
            Other views of the items; for a model fitted on one data frame, ``{"name": frame[columns]}``.
        n_iterations : int, default=10
            Mean-field steps.

        Returns
        -------
        ndarray of shape (rows, features)
            Probabilities for binary and categorical views, expected values in the units of the data for others.
        """
        view = self._view(name)
        check_whole("predict_view", "n_iterations", n_iterations, remedy="10 is usual")
        views = read(self, X, reset=False)
        if view in views.names:
            if len(views.names) == 1:
                raise ValueError(
                    f"predict_view({view!r}) needs another view to predict it from; X has only this one; add another."
                )
            views = views.without(view)
        check_known(views, self.families_, self.feature_names_)
        check_supports(views, self.families_, self.energy_.hidden)
        family = self.families_[view]
        parts = []
        layer = self.energy_.layer(self.parameters_)
        with compute(self.n_jobs):
            for _, batch in self._batches(views, n_iterations):
                hidden_mean = layer.mean(self.energy_.hidden_natural(self.parameters_, batch))
                natural = clamp(self.energy_.view_natural(self.parameters_, view, hidden_mean), family)
                mean = family.mean(natural, self.energy_.own(self.parameters_, view), batch.views[view].size)
                parts.append(np.ascontiguousarray(family.decode(mean)))
        return np.concatenate(parts).astype(np.float32, copy=False)

    def annotate_view(self, name: str, X: Any, top: int = 5) -> pd.DataFrame:
        """The features of a view (tags, words) that are most to be expected for each row given its other views.

        Parameters
        ----------
        name : str
            The view to annotate with.
        X : dict, Views, …
            Other views of the items.
        top : int, default=5
            How many features.

        Returns
        -------
        DataFrame
            Columns row, rank, label, probability; the last is the expected value for views that are not binary.
        """
        check_whole("annotate_view", "top", top, remedy="5 is usual")
        return ranked(self.predict_view(name, X), np.asarray(self.feature_names_[self._view(name)]), top)
