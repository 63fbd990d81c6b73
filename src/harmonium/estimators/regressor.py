"""`HarmoniumRegressor`: one number or several."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.metaestimators import available_if

from harmonium.estimators.harmonium import trains_by_batches
from harmonium.estimators.labels import read_numbers
from harmonium.estimators.supervised import Supervised
from harmonium.heads import EpsilonInsensitive, Head
from harmonium.persist import saveable
from harmonium.targets import Kind, Labels
from harmonium.training import FittedModel


@saveable
class HarmoniumRegressor(RegressorMixin, Supervised):
    """A latent space of one or several views that is told which numbers to predict while it is learned.

    Parameters
    ----------
    n_components : int, default=50
        Number of hidden units (topics).
    views, hidden, objective, output, warm_start, random_state, n_jobs, verbose
        As for `Harmonium`. With ``warm_start`` the last fit is gone on with, at the C it had chosen.
    head : Head, optional
        Default `EpsilonInsensitive`; `LabelView` makes the number one more view.
    driver, validation_fraction
        As for `HarmoniumClassifier`.

    Attributes
    ----------
    head_, C_, validation_, coef_
        As for `HarmoniumClassifier`.
    families_, n_components_, components_, history_, n_iter_, stopped_
        As for `Harmonium`.

    Examples
    --------
    >>> import numpy as np
    >>> from harmonium import HarmoniumRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 6))
    >>> y = X[:, 0] - X[:, 1] + 0.1 * rng.normal(size=300)
    >>> HarmoniumRegressor(n_components=10, random_state=0).fit(X, y).score(X, y) > 0.9
    True
    """

    kinds = ("number",)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:  # type: ignore[override]  # y is needed
        """Learn from all rows.

        Parameters
        ----------
        X : dict, list, Views, Sequences, matrix, data frame, AnnData or MuData
            Views of the same items; missing cells and rows are inferred.
        y : array of shape (rows,) or (rows, outputs)
            Numbers to predict; NaN where they are unknown: such rows teach the model about the views only.
        sample_weight : array of shape (rows,), optional
            Weights of the rows in the prediction loss.
        """
        return self._fit(X, read_numbers(y, sample_weight))

    @available_if(trains_by_batches)
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """One pass over some more rows; the first call also fixes the scale of the targets. With C="auto", C is 1."""
        return self._partial_fit(X, read_numbers(y, sample_weight))

    def _default_head(self, kind: Kind) -> Head:
        return EpsilonInsensitive()

    def _check_same(self, labels: Labels, before: FittedModel) -> None:
        assert before.meaning is not None
        if labels.meaning.n_columns != before.meaning.n_columns:
            raise ValueError(
                f"Training can only go on with the {before.meaning.n_columns} outputs it began with; y has "
                f"{labels.meaning.n_columns}; fit with warm_start=False."
            )

    def predict(self, X: Any) -> np.ndarray:
        """Return the expected numbers, in the units of y.

        Parameters
        ----------
        X : dict, Views, …
            Any subset of the views.

        Returns
        -------
        ndarray of shape (rows,), or (rows, outputs) if y had columns
            Numbers.
        """
        values = self.head_.predict(self._scores(X))
        assert self.fitted_.meaning is not None
        return values[:, 0] if self.fitted_.meaning.one_column else values
