"""`CandidateTransformer`: a transformer of rows, applied to the candidates of bags."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import scipy.sparse
from sklearn.base import BaseEstimator, TransformerMixin, clone

from harmonium.core.validation import check_fitted
from harmonium.weak.bags import Bags
from harmonium.weak.reading import read_samples


class CandidateTransformer(TransformerMixin, BaseEstimator):
    """Transform the candidates of bags by any transformer of rows.

    Latent SVMs have no intercept and see features as they come. In a pipeline before them this gives standardised
    columns, the features of a kernel (`sklearn.kernel_approximation.Nystroem`), principal components, or all of these,
    and a column of ones.

    Parameters
    ----------
    transformer : transformer or None, default=None
        What is fitted to the candidates of all training samples, one row each. ``None`` means
        `sklearn.preprocessing.StandardScaler`.
    intercept : bool, default=True
        Add a column of ones, whose weights are intercepts.

    Attributes
    ----------
    transformer_ : transformer
        The fitted transformer.
    n_features_in_ : int
        Number of columns of the candidates.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.kernel_approximation import Nystroem
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from harmonium.weak import CandidateTransformer, LatentSVM
    >>> rng = np.random.default_rng(0)
    >>> bags = [rng.normal(size=(3, 2)) + 3 * label * np.eye(3, 2) for label in [0, 1] * 20]
    >>> kernel = make_pipeline(StandardScaler(), Nystroem(gamma=0.5, n_components=50, random_state=0))
    >>> model = make_pipeline(CandidateTransformer(kernel), LatentSVM(C=100)).fit(bags, [0, 1] * 20)
    >>> float((model.predict(bags) == [0, 1] * 20).mean()) > 0.9
    True
    """

    def __init__(self, transformer: Any = None, intercept: bool = True) -> None:
        self.transformer = transformer
        self.intercept = intercept

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the transformer to all candidates.

        Parameters
        ----------
        X : Bags, list of matrices or array of shape (n_samples, n_candidates, n_features)
            The samples.
        y : array-like of shape (n_samples,) or None, default=None
            Labels of the samples; each candidate is given that of its sample.

        Returns
        -------
        self : object
            The fitted transformer.
        """
        bags, _ = read_samples(X, None)
        if self.transformer is None:
            from sklearn.preprocessing import StandardScaler  # late, for a quick start

            transformer: Any = StandardScaler(with_mean=not scipy.sparse.issparse(bags.features))
        else:
            transformer = clone(self.transformer)
        labels = None if y is None else np.repeat(np.asarray(y), bags.sizes)
        self.transformer_ = transformer.fit(bags.features, labels)
        self.n_features_in_ = bags.shape[1]
        return self

    def transform(self, X: Any) -> Bags:
        """Return the samples with transformed candidates.

        Parameters
        ----------
        X : Bags, list of matrices or array of shape (n_samples, n_candidates, n_features)
            The samples.

        Returns
        -------
        Bags
            As many samples and candidates, with other columns.
        """
        check_fitted(self)
        bags, _ = read_samples(X, None)
        features = self.transformer_.transform(bags.features)
        if self.intercept:
            ones = np.ones((features.shape[0], 1), dtype=features.dtype)
            is_sparse = scipy.sparse.issparse(features)
            features = scipy.sparse.hstack([features, ones], format="csr") if is_sparse else np.hstack([features, ones])
        return Bags(features, bags.offsets, bags.boxes)
