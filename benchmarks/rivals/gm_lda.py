"""Gaussian-multinomial latent Dirichlet allocation (Barnard et al., 2003; Blei & Jordan, 2003) for words and features.

An item has topic shares θ ~ Dirichlet(α). Each of its words and each of its real-valued features has a topic of its
own, drawn from θ: a word comes from the topic's distribution over words, feature j from a Gaussian with the mean and
variance of feature j in the topic. Variational EM: q(θ) = Dirichlet(γ) and q(topics) for each item, point estimates of
the topics and of α; every step raises the bound, which is kept in ``bounds_``.

Topics of words and features are summed out of the bound at their best q, so that of an item only γ remains: all items
of a block are updated at once by products of matrices.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import scipy.sparse
from scipy.optimize import minimize_scalar
from scipy.special import digamma, gammaln
from sklearn.cluster import KMeans
from sklearn.preprocessing import normalize

_BLOCK = 100  # items whose likelihoods under all topics fit in the cache
_LOG_TWO_PI = float(np.log(2 * np.pi))


class GMLDA:
    """Topics of words and real features.

    Parameters
    ----------
    n_topics : int
        Number of topics.
    alpha : float
        Concentration of the topic shares, the same for all topics, to start from; it is learned.
    smoothing : float
        Pseudo-count of every word in every topic.
    floor : float
        Smallest variance, relative to the feature's variance over all items.
    max_iter, tolerance : int, float
        EM ends after so many steps, or when the bound rises by less than this share.
    inner_iter, inner_tolerance : int, float
        Updates of an item's γ in a step of EM, and the mean change at which they end.
    seed : int
        Of the k-means clusters of the items that it starts from.
    """

    def __init__(
        self,
        n_topics: int = 10,
        alpha: float = 0.1,
        smoothing: float = 0.01,
        floor: float = 0.01,
        max_iter: int = 60,
        tolerance: float = 1e-5,
        inner_iter: int = 30,
        inner_tolerance: float = 1e-3,
        seed: int = 0,
    ) -> None:
        self.n_topics = n_topics
        self.alpha = alpha
        self.smoothing = smoothing
        self.floor = floor
        self.max_iter = max_iter
        self.tolerance = tolerance
        self.inner_iter = inner_iter
        self.inner_tolerance = inner_tolerance
        self.seed = seed

    def fit(self, words: Any, features: np.ndarray) -> Self:
        """Fit to counts (or presence) of words, sparse or dense, and features, one row for each item."""
        words, features = scipy.sparse.csr_array(words, dtype=np.float64), np.asarray(features, dtype=np.float64)
        self.smallest_ = self.floor * features.var(axis=0) + 1e-12
        self.alpha_ = self.alpha
        self._maximise(*self._start(words, features))
        gamma: np.ndarray | None = None
        self.bounds_: list[float] = []
        for _ in range(self.max_iter):
            gamma, bound, *statistics = self._expect(words, features, gamma)
            self.bounds_.append(bound + self.smoothing * float(np.log(self.word_given_topic_).sum()))
            if len(self.bounds_) > 1 and self.bounds_[-1] - self.bounds_[-2] < self.tolerance * abs(self.bounds_[-1]):
                break
            self._maximise(*statistics)
            self._maximise_alpha(gamma)
        self.gamma_ = gamma
        return self

    def transform(self, words: Any | None = None, features: np.ndarray | None = None) -> np.ndarray:
        """Expected topic shares given words, features or both."""
        n_items = words.shape[0] if words is not None else len(features)
        if words is None:
            words = scipy.sparse.csr_array((n_items, self.word_given_topic_.shape[1]))
        words = scipy.sparse.csr_array(words, dtype=np.float64)
        gamma = self._expect(words, None if features is None else np.asarray(features, dtype=np.float64))[0]
        return gamma / gamma.sum(axis=1, keepdims=True)

    def fit_transform(self, words: Any, features: np.ndarray) -> np.ndarray:
        """Fit and return the items' expected topic shares."""
        gamma = self.fit(words, features).gamma_
        return gamma / gamma.sum(axis=1, keepdims=True)

    # ---- expectation -------------------------------------------------------------------------------------------------
    def _expect(
        self, words: scipy.sparse.csr_array, features: np.ndarray | None, before: np.ndarray | None = None
    ) -> tuple[np.ndarray, float, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """γ of all items, the bound, and the statistics of topics × words, and topics × features: n, n x, n x²."""
        n_items = words.shape[0]
        gamma, bound, by_word = np.empty((n_items, self.n_topics)), 0.0, np.zeros((self.n_topics, words.shape[1]))
        moments = np.zeros((3, self.n_topics, 0 if features is None else features.shape[1]))
        for first in range(0, n_items, _BLOCK):
            part = slice(first, first + _BLOCK)
            block = _Block(self, words[part], None if features is None else features[part])
            gamma[part] = self._infer(block, np.ones((block.n_items, self.n_topics)))
            if before is not None:
                # an item starts afresh, as it may have settled under topics that were not yet any good; but what it had
                # is kept where it was better, so that the bound never falls
                kept = self._infer(block, before[part])
                worse = block.bound(gamma[part]) < block.bound(kept)
                gamma[part][worse] = kept[worse]
            bound += float(block.bound(gamma[part]).sum())
            block.add_statistics(gamma[part], by_word, moments)
        return gamma, bound, by_word, *moments

    def _infer(self, block: _Block, gamma: np.ndarray) -> np.ndarray:
        for _ in range(self.inner_iter):
            updated = self.alpha_ + block.topic_counts(weights_of(gamma))
            change = np.abs(updated - gamma).mean()
            gamma = updated
            if change < self.inner_tolerance:
                break
        return gamma

    # ---- maximisation ------------------------------------------------------------------------------------------------
    def _start(self, words: scipy.sparse.csr_array, features: np.ndarray) -> tuple[np.ndarray, ...]:
        """Statistics of k-means clusters of the items, in which both kinds of data have about the same say."""
        scaled = (features - features.mean(axis=0)) / (features.std(axis=0) + 1e-12) / np.sqrt(features.shape[1])
        both = scipy.sparse.hstack([normalize(words), scipy.sparse.csr_array(scaled)], format="csr")
        clusters = KMeans(self.n_topics, n_init=1, random_state=self.seed).fit_predict(both)
        # some weight elsewhere, so that no topic starts without items
        shares = np.where(clusters[:, None] == np.arange(self.n_topics), 1.0, 0.1)
        shares /= shares.sum(axis=1, keepdims=True)
        number = np.repeat(shares.sum(axis=0)[:, None], features.shape[1], axis=1)
        return (words.T @ shares).T, number, shares.T @ features, shares.T @ features**2

    def _maximise(self, by_word: np.ndarray, number: np.ndarray, total: np.ndarray, square: np.ndarray) -> None:
        smoothed = by_word + self.smoothing
        self.word_given_topic_ = smoothed / smoothed.sum(axis=1, keepdims=True)
        used = np.maximum(number, 1e-10)
        self.mean_ = total / used
        # the likelihood has one maximum over the variance, so where that is below the floor, the floor is best
        self.variance_ = np.maximum(square / used - self.mean_**2, self.smallest_)

    def _maximise_alpha(self, gamma: np.ndarray) -> None:
        expected = (digamma(gamma) - digamma(gamma.sum(axis=1, keepdims=True))).sum(axis=1).mean()

        def cost(log_alpha: float) -> float:
            alpha, n_topics = np.exp(log_alpha), self.n_topics
            return float(n_topics * gammaln(alpha) - gammaln(n_topics * alpha) - alpha * expected)

        found = minimize_scalar(cost, bounds=(np.log(1e-3), np.log(10.0)), method="bounded").x
        if cost(found) < cost(np.log(self.alpha_)):
            self.alpha_ = float(np.exp(found))


def weights_of(gamma: np.ndarray) -> np.ndarray:
    """exp E[log θ]."""
    return np.exp(digamma(gamma) - digamma(gamma.sum(axis=1, keepdims=True)))


class _Block:
    """Some items, with their likelihoods under every topic."""

    def __init__(self, model: GMLDA, words: scipy.sparse.csr_array, features: np.ndarray | None) -> None:
        self.alpha, self.words, self.features = model.alpha_, words, features
        self.n_items = words.shape[0]
        self.rows = np.repeat(np.arange(words.shape[0]), np.diff(words.indptr))
        self.word_likelihood = model.word_given_topic_.T[words.indices]
        n_features = 0 if features is None else features.shape[1]
        self.feature_likelihood = np.empty((words.shape[0], n_features, model.n_topics))
        self.largest = np.zeros((words.shape[0], n_features))
        if features is not None:
            mean, variance = model.mean_.T, model.variance_.T
            logarithm = -0.5 * ((features[:, :, None] - mean) ** 2 / variance + np.log(variance) + _LOG_TWO_PI)
            self.largest = logarithm.max(axis=2)
            self.feature_likelihood = np.exp(logarithm - self.largest[:, :, None])

    def normalisers(self, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Σ_k exp(E[log θ_k]) p(value | k) of every word that occurs and every feature (relative to the largest)."""
        of_words = np.einsum("nk,nk->n", weights[self.rows], self.word_likelihood)
        of_features = np.matmul(self.feature_likelihood, weights[:, :, None])[:, :, 0]
        # a feature far from all topics but those that the item cannot have
        return of_words, np.maximum(of_features, 1e-300)

    def topic_counts(self, weights: np.ndarray) -> np.ndarray:
        """Expected number of words and features of each topic."""
        of_words, of_features = self.normalisers(weights)
        entries = np.arange(len(of_words))
        share = scipy.sparse.csr_array(
            (self.words.data / of_words, entries, self.words.indptr), shape=(len(weights), len(entries))
        )
        of_features = np.matmul(1 / of_features[:, None, :], self.feature_likelihood)[:, 0]
        return weights * (share @ self.word_likelihood + of_features)

    def bound(self, gamma: np.ndarray) -> np.ndarray:
        """Lower bound of each item's log-likelihood, at the best q of its words' and features' topics."""
        of_words, of_features = self.normalisers(weights_of(gamma))
        logarithms = self.words.data * np.log(of_words)
        data = np.bincount(self.rows, logarithms, self.n_items) + (np.log(of_features) + self.largest).sum(axis=1)
        n_topics, total = gamma.shape[1], gamma.sum(axis=1)
        shares = (self.alpha - gamma) * (digamma(gamma) - digamma(total)[:, None]) + gammaln(gamma)
        prior = gammaln(n_topics * self.alpha) - n_topics * gammaln(self.alpha) - gammaln(total)
        return np.asarray(data + shares.sum(axis=1) + prior)

    def add_statistics(self, gamma: np.ndarray, by_word: np.ndarray, moments: np.ndarray) -> None:
        """Add what the topics' estimates need."""
        weights = weights_of(gamma)
        of_words, of_features = self.normalisers(weights)
        topics = weights[self.rows] * self.word_likelihood * (self.words.data / of_words)[:, None]
        entries = np.arange(len(self.rows))
        shape = (self.words.shape[1], len(entries))
        by_word += (scipy.sparse.csr_array((np.ones(len(entries)), (self.words.indices, entries)), shape) @ topics).T
        if self.features is not None:
            topics = weights[:, None, :] * self.feature_likelihood / of_features[:, :, None]
            for power, moment in enumerate(moments):
                moment += np.einsum("djk,dj->kj", topics, self.features**power)
