"""Gaussian-multinomial mixture (Blei & Jordan, 2003) for words and features: an item has one topic, of both its views.

EM; every step raises the likelihood, which is kept in ``bounds_`` with the smoothing's share of it.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import scipy.sparse
from scipy.special import logsumexp
from sklearn.cluster import KMeans

_LOG_TWO_PI = float(np.log(2 * np.pi))


class GMMix:
    """A mixture whose components have a distribution over words and a Gaussian for each feature.

    Parameters
    ----------
    n_topics : int
        Number of components.
    smoothing : float
        Pseudo-count of every word in every component.
    floor : float
        Smallest variance, relative to the feature's variance over all items.
    max_iter, tolerance : int, float
        EM ends after so many steps, or when the likelihood rises by less than this share.
    seed : int
        Of the k-means clusters of the features that it starts from.
    """

    def __init__(
        self,
        n_topics: int = 10,
        smoothing: float = 0.01,
        floor: float = 0.01,
        max_iter: int = 200,
        tolerance: float = 1e-6,
        seed: int = 0,
    ) -> None:
        self.n_topics, self.smoothing, self.floor = n_topics, smoothing, floor
        self.max_iter, self.tolerance, self.seed = max_iter, tolerance, seed

    def fit(self, words: Any, features: np.ndarray) -> Self:
        """Fit to counts (or presence) of words, sparse or dense, and features, one row for each item."""
        words = scipy.sparse.csr_array(words, dtype=np.float64)
        self.smallest_ = self.floor * features.var(axis=0) + 1e-12
        scaled = (features - features.mean(axis=0)) / (features.std(axis=0) + 1e-12)
        clusters = KMeans(self.n_topics, n_init=1, random_state=self.seed).fit_predict(scaled)
        shares = np.where(clusters[:, None] == np.arange(self.n_topics), 1.0, 0.01)
        self._maximise(words, features, shares / shares.sum(axis=1, keepdims=True))
        self.bounds_: list[float] = []
        for _ in range(self.max_iter):
            joint = self._joint(words, features)
            total = logsumexp(joint, axis=1)
            self.bounds_.append(float(total.sum() + self.smoothing * self.log_words_.sum()))
            if len(self.bounds_) > 1 and np.diff(self.bounds_[-2:])[0] < self.tolerance * abs(self.bounds_[-1]):
                break
            self._maximise(words, features, np.exp(joint - total[:, None]))
        return self

    def transform(self, words: Any, features: np.ndarray) -> np.ndarray:
        """Return the probability of each topic for each item."""
        joint = self._joint(scipy.sparse.csr_array(words, dtype=np.float64), features)
        return np.exp(joint - logsumexp(joint, axis=1)[:, None])

    def _joint(self, words: scipy.sparse.csr_array, features: np.ndarray) -> np.ndarray:
        """Return log p(topic, words, features) of each item and topic."""
        gaps = (features[:, None, :] - self.mean_) ** 2 / self.variance_
        gaussian = -0.5 * (gaps + np.log(self.variance_) + _LOG_TWO_PI).sum(axis=2)
        return np.asarray(self.log_weights_ + words @ self.log_words_.T + gaussian)

    def _maximise(self, words: scipy.sparse.csr_array, features: np.ndarray, shares: np.ndarray) -> None:
        number = shares.sum(axis=0)[:, None] + 1e-10
        self.log_weights_ = np.log(number[:, 0] / number.sum())
        smoothed = (words.T @ shares).T + self.smoothing
        self.log_words_ = np.log(smoothed / smoothed.sum(axis=1, keepdims=True))
        self.mean_ = shares.T @ features / number
        self.variance_ = np.maximum(shares.T @ features**2 / number - self.mean_**2, self.smallest_)
