"""What a fitted model makes of data: latent representations, reconstructions, one view from the others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from sklearn.utils.validation import check_array, check_is_fitted

from harmonium.batch import Batch, ViewBatch
from harmonium.estimators.inspection import Inspection
from harmonium.estimators.preparation import check_known, check_supports, read
from harmonium.estimators.ranking import ranked
from harmonium.inference.mean_field import fill_missing, mean_views
from harmonium.kernels.rows import in_double
from harmonium.kernels.threads import compute
from harmonium.params import HIDDEN_BIAS, Parameters
from harmonium.validation import check_real, check_whole
from harmonium.views import Views

_BLOCK_CELLS = 4_000_000
_SIMULATIONS = 200  # of values, at least
_GIBBS_STEPS = 5


class ViewInterval(NamedTuple):
    """Expected values of a view and the ends of an interval around them, each (rows, features)."""

    mean: np.ndarray
    lower: np.ndarray
    upper: np.ndarray


class Encoding(Inspection):
    """Part of every estimator: from views to the latent space and back."""

    output: str
    n_jobs: int | None

    def transform(self, X: Any, return_std: bool = False) -> Any:
        """Latent representation of each row, and its spread over posterior draws if asked for."""
        check_is_fitted(self, "families_")
        if return_std and self._training.posterior is None:
            raise ValueError(
                "return_std needs a model with draws of its weights; this one has a single set of them; fit with "
                "driver=Langevin(), or use the recipes BEFH and BDWH."
            )
        views = self._known(X)
        with compute(self.n_jobs):
            return self._encode_draws(views) if return_std else self._encode(views, self.output)

    def _known(self, X: Any) -> Views:
        views = check_known(read(self, X, reset=False), self.families_, self.feature_names_)
        check_supports(views, self.families_, self.energy_.hidden)
        return views

    def _encode(self, views: Views, output: str) -> np.ndarray:
        """Latent representations; those of a model with posterior draws are means over the draws."""
        result = np.empty((len(views), self.n_components_), dtype=np.float32)
        draws = self._draws()
        for items, batch in self._blocks(views):
            # what is linear in the weights has its mean at their mean
            linear = not batch.has_missing and (output != "mean" or self.energy_.hidden.linear_mean)
            used = [self.parameters_] if linear else draws
            result[items] = np.mean([self._latent(draw, batch, output) for draw in used], axis=0)
        return result

    def _encode_draws(self, views: Views) -> tuple[np.ndarray, np.ndarray]:
        """Mean and standard deviation of latent representations over posterior draws."""
        mean, deviation = (np.empty((len(views), self.n_components_), dtype=np.float32) for _ in range(2))
        draws = self._draws()
        for items, batch in self._blocks(views, len(draws)):
            latent = np.stack([self._latent(draw, batch, self.output) for draw in draws])
            mean[items], deviation[items] = latent.mean(axis=0), latent.std(axis=0)
        return mean, deviation

    def _latent(self, parameters: Parameters, batch: Batch, output: str) -> np.ndarray:
        """Latent representation of the rows of a block at some parameters, in float64."""
        batch = self._completed(parameters, batch)
        natural = self.energy_.hidden_natural(parameters, batch, with_bias=output != "coordinates").astype(np.float64)
        return self.energy_.layer(parameters).mean(natural) if output == "mean" else natural

    def _completed(self, parameters: Parameters, batch: Batch, n_iterations: int = 10) -> Batch:
        return fill_missing(self.energy_, parameters, batch, self._problem.reference, n_iterations)

    def _batches(self, views: Views) -> Iterator[tuple[slice, Batch]]:
        """Blocks of rows with what is missing filled in."""
        for items, batch in self._blocks(views):
            yield items, self._completed(self.parameters_, batch)

    def _blocks(self, views: Views, n_copies: int = 1) -> Iterator[tuple[slice, Batch]]:
        """Blocks of rows of which ``n_copies`` fit into memory; sparse rows count by what is stored."""
        cells = sum(
            # what is missing is inferred densely
            64 if views.is_sparse_throughout(name, family) else family.n_features_
            for name, family in self.families_.items()
        )
        step = max(1, _BLOCK_CELLS // max(cells, self.n_components_) // n_copies)
        for first in range(0, len(views), step):
            items = slice(first, min(first + step, len(views)))
            batch = views.batch(items, self.families_)
            for view in batch.views.values():
                # vectorised code rounds a row differently at another place of the block; in double precision,
                # narrowed at the end, that does not show
                view.statistic = in_double(view.statistic)
            yield items, batch

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

    def predict_view(
        self,
        name: str,
        X: Any,
        n_iterations: int = 10,
        interval: float | None = None,
        of: Literal["value", "mean"] = "value",
    ) -> Any:
        """Expected values of one view given the others: annotation, or filling in a missing view.

        Parameters
        ----------
        name : str
            The view to predict; if X has it, it is not looked at.
        X : dict, Views, …
            Other views of the items; for a model fitted on one data frame, ``{"name": frame[columns]}``.
        n_iterations : int, default=10
            Mean-field steps.
        interval : float, optional
            Probability of central intervals to give beside the expected values, such as 0.9.
        of : {"value", "mean"}, default="value"
            What the intervals are of: the values themselves, or their expectation, which only posterior draws of the
            weights (driver `Langevin`) leave uncertain.

        Returns
        -------
        ndarray of shape (rows, features), or (mean, lower, upper) of such arrays with ``interval``
            Probabilities for binary and categorical views, expected values in the units of the data for others.
        """
        view = self._view(name)
        check_whole("predict_view", "n_iterations", n_iterations, remedy="10 is usual")
        self._check_interval(interval, of)
        views = read(self, X, reset=False)
        if view in views.names:
            if len(views.names) == 1:
                raise ValueError(
                    f"predict_view({view!r}) needs another view to predict it from; X has only this one; add another."
                )
            views = views.without(view)
        check_known(views, self.families_, self.feature_names_)
        check_supports(views, self.families_, self.energy_.hidden)
        draws, rng = self._draws(), np.random.default_rng(0)
        # a single set of weights, or a few, still leave values uncertain
        simulated = draws * -(-_SIMULATIONS // len(draws))
        parts: list[ViewInterval] = []
        with compute(self.n_jobs):
            for _, batch in self._blocks(views, 1 if interval is None else len(simulated)):
                if interval is None:
                    mean = np.zeros(())
                    for draw in draws:  # in turn: side by side they would fill the memory
                        mean = mean + self._expected_view(draw, view, batch, n_iterations) / len(draws)
                    lower = upper = mean
                else:
                    expected = np.stack([self._expected_view(draw, view, batch, n_iterations) for draw in draws])
                    mean, spread = expected.mean(axis=0), expected
                    if of == "value":
                        values = [self._simulated_view(draw, view, batch, n_iterations, rng) for draw in simulated]
                        spread = np.stack(values)
                    # an end is one of the values, so that those of counts are counts
                    ends = [(1 - interval) / 2, (1 + interval) / 2]
                    lower, upper = np.quantile(spread, ends, axis=0, method="inverted_cdf")
                parts.append(ViewInterval(mean, lower, upper))
        together = [np.concatenate(arrays).astype(np.float32, copy=False) for arrays in zip(*parts, strict=True)]
        return together[0] if interval is None else ViewInterval(*together)

    def _check_interval(self, interval: float | None, of: str) -> None:
        if of not in ("value", "mean"):
            raise ValueError(f"of must be 'value' or 'mean'; got {of!r}; take one of them.")
        if interval is None:
            return
        check_real("predict_view", "interval", interval, remedy="0.9 is usual")
        if interval >= 1:
            raise ValueError(f"interval must lie between 0 and 1; got {interval!r}; 0.9 is usual.")
        if of == "mean" and self._training.posterior is None:
            raise ValueError(
                "Intervals of the mean need a model with draws of its weights; this one has a single set of them; fit "
                "with driver=Langevin(), or take of='value'."
            )

    def _expected_view(self, parameters: Parameters, view: str, batch: Batch, n_iterations: int) -> np.ndarray:
        """E[view | other views] at some parameters, in the units of the data."""
        family = self.families_[view]
        batch = self._completed(parameters, batch, n_iterations)
        hidden_mean = self.energy_.layer(parameters).mean(self.energy_.hidden_natural(parameters, batch))
        natural = family.clamp(self.energy_.view_natural(parameters, view, hidden_mean))
        mean = family.mean(natural, self.energy_.own(parameters, view), batch.views[view].size)
        return np.ascontiguousarray(family.decode(mean))

    def _simulated_view(
        self, parameters: Parameters, view: str, batch: Batch, n_iterations: int, rng: np.random.Generator
    ) -> np.ndarray:
        """The view drawn given the others, a few Gibbs steps from its mean-field expectation."""
        family = self.families_[view]
        batch = self._completed(parameters, batch, n_iterations)
        size = batch.views[view].size
        for _ in range(_GIBBS_STEPS):
            hidden = self.energy_.layer(parameters).sample(self.energy_.hidden_natural(parameters, batch), rng)
            natural = family.clamp(self.energy_.view_natural(parameters, view, hidden))
            drawn = family.sample(natural, rng, self.energy_.own(parameters, view), size)
            batch = Batch({**batch.views, view: ViewBatch(drawn, size)}, batch.n_rows)
        return np.asarray(family.decode_sample(drawn))

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
