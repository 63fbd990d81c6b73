"""Correspondence latent Dirichlet allocation (Blei & Jordan, 2003): each word belongs to a feature and has its topic.

An item has topic shares θ ~ Dirichlet(α). Each of its real-valued features has a topic z_j drawn from θ, which gives
its mean and variance. A word chooses one of the features, all with the same probability, and is drawn from that
feature's topic. Variational EM with q(θ) = Dirichlet(γ), q(z_j) and, for each word, q(its feature); topics are point
estimates. Every step raises the bound, which is kept in ``bounds_``. All items are updated at once, with dense words:
it is for small vocabularies.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import scipy.sparse
from scipy.special import digamma, gammaln, softmax
from sklearn.cluster import KMeans

_LOG_TWO_PI = float(np.log(2 * np.pi))
_TINY = 1e-300


class CorrLDA:
    """Topics of features, and of words that correspond to features.

    Parameters
    ----------
    n_topics : int
        Number of topics.
    alpha : float
        Concentration of the topic shares, the same for all topics.
    smoothing : float
        Pseudo-count of every word in every topic.
    floor : float
        Smallest variance, relative to the feature's variance over all items.
    max_iter, tolerance : int, float
        EM ends after so many steps, or when the bound rises by less than this share.
    inner_iter : int
        Updates of the items in a step of EM.
    seed : int
        Of the k-means clusters of the features that it starts from.
    """

    def __init__(
        self,
        n_topics: int = 10,
        alpha: float = 0.1,
        smoothing: float = 0.01,
        floor: float = 0.01,
        max_iter: int = 60,
        tolerance: float = 1e-5,
        inner_iter: int = 5,
        seed: int = 0,
    ) -> None:
        self.n_topics, self.alpha, self.smoothing, self.floor = n_topics, alpha, smoothing, floor
        self.max_iter, self.tolerance, self.inner_iter, self.seed = max_iter, tolerance, inner_iter, seed

    def fit(self, words: Any, features: np.ndarray) -> Self:
        """Fit to counts (or presence) of words, sparse or dense, and features, one row for each item."""
        words = _dense(words)
        self.smallest_ = self.floor * features.var(axis=0) + 1e-12
        scaled = (features - features.mean(axis=0)) / (features.std(axis=0) + 1e-12)
        clusters = KMeans(self.n_topics, n_init=1, random_state=self.seed).fit_predict(scaled)
        share = np.where(clusters[:, None] == np.arange(self.n_topics), 1.0, 0.1)
        topics = np.repeat((share / share.sum(axis=1, keepdims=True))[:, None, :], features.shape[1], axis=1)
        places = np.full((*words.shape, features.shape[1]), 1 / features.shape[1])
        self._maximise(words, features, topics, places)
        self.bounds_: list[float] = []
        for _ in range(self.max_iter):
            gamma, topics, places = self._expect(words, features, topics, self.inner_iter)
            self.bounds_.append(self._bound(words, features, gamma, topics, places))
            if len(self.bounds_) > 1 and np.diff(self.bounds_[-2:])[0] < self.tolerance * abs(self.bounds_[-1]):
                break
            self._maximise(words, features, topics, places)
        return self

    def transform(self, words: Any, features: np.ndarray) -> np.ndarray:
        """Return the expected topic shares of each item."""
        words = _dense(words)
        topics = np.full((*features.shape, self.n_topics), 1 / self.n_topics)
        gamma, _, _ = self._expect(words, features, topics, 4 * self.inner_iter)
        return np.asarray(gamma / gamma.sum(axis=1, keepdims=True))

    def _expect(self, words: np.ndarray, features: np.ndarray, topics: np.ndarray, n_iter: int) -> tuple[Any, Any, Any]:
        """Return γ, q(z) of features (items, features, topics) and q(feature) of words (items, words, features)."""
        gaussian = self._gaussian(features)
        for _ in range(n_iter):
            gamma = self.alpha + topics.sum(axis=1)
            places = self._places(topics)
            from_words = np.einsum("dw,dwj,kw->djk", words, places, self.log_words_, optimize=True)
            topics = softmax(gaussian + _expected_log(gamma)[:, None, :] + from_words, axis=2)
        return self.alpha + topics.sum(axis=1), topics, self._places(topics)

    def _places(self, topics: np.ndarray) -> np.ndarray:
        return np.asarray(softmax(np.einsum("djk,kw->dwj", topics, self.log_words_), axis=2))

    def _gaussian(self, features: np.ndarray) -> np.ndarray:
        gaps = (features[:, :, None] - self.mean_.T) ** 2 / self.variance_.T
        return np.asarray(-0.5 * (gaps + np.log(self.variance_.T) + _LOG_TWO_PI))

    def _bound(
        self, words: np.ndarray, features: np.ndarray, gamma: np.ndarray, topics: np.ndarray, places: np.ndarray
    ) -> float:
        expected, n_topics = _expected_log(gamma), self.n_topics
        prior = gammaln(n_topics * self.alpha) - n_topics * gammaln(self.alpha) + ((self.alpha - 1) * expected).sum(1)
        entropy = gammaln(gamma).sum(1) - gammaln(gamma.sum(1)) - ((gamma - 1) * expected).sum(1)
        of_features = topics * (expected[:, None, :] + self._gaussian(features) - np.log(topics + _TINY))
        chosen = np.einsum("djk,kw->dwj", topics, self.log_words_) - np.log(features.shape[1])
        of_words = words[:, :, None] * places * (chosen - np.log(places + _TINY))
        smoothing = self.smoothing * self.log_words_.sum()
        return float((prior + entropy).sum() + of_features.sum() + of_words.sum() + smoothing)

    def _maximise(self, words: np.ndarray, features: np.ndarray, topics: np.ndarray, places: np.ndarray) -> None:
        smoothed = np.einsum("dw,dwj,djk->kw", words, places, topics, optimize=True) + self.smoothing
        self.log_words_ = np.log(smoothed / smoothed.sum(axis=1, keepdims=True))
        number = topics.sum(axis=0).T + 1e-10
        self.mean_ = np.einsum("djk,dj->kj", topics, features) / number
        square = np.einsum("djk,dj->kj", topics, features**2) / number
        self.variance_ = np.maximum(square - self.mean_**2, self.smallest_)


def _dense(words: Any) -> np.ndarray:
    return np.asarray(words.toarray() if scipy.sparse.issparse(words) else words, dtype=np.float64)


def _expected_log(gamma: np.ndarray) -> np.ndarray:
    return np.asarray(digamma(gamma) - digamma(gamma.sum(axis=1, keepdims=True)))
