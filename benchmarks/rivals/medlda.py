"""Maximum-entropy discrimination LDA for classes (Zhu, Ahmed & Xing, 2009 and 2012), by variational EM.

Topic shares z̄ of a document are what a multi-class support vector machine predicts its class from, and its duals pull
on the topics of the words: φ_dn ∝ exp(E[log θ_d] + log β_w + Σ_y a_d(y) η_y / N_d), where a_d are the duals of Crammer
and Singer, a_d(y_d) = Σ_y μ_d(y) and a_d(y) = -μ_d(y) for other classes. New documents have no such term.
"""

from __future__ import annotations

import numpy as np
from scipy.special import digamma

# Sweeps over the documents in the SVM's step, which goes on from the duals of the step before, and in the E-step.
SVM_SWEEPS, E_SWEEPS = 5, 10
SMOOTHING = 0.01  # of the words of topics


class MedLDA:
    """Topics of words that are learned together with a linear classifier of topic shares."""

    def __init__(
        self, n_topics: int = 10, C: float = 16.0, alpha: float = 0.1, n_iter: int = 50, seed: int = 0
    ) -> None:
        self.n_topics = n_topics
        self.C = C
        self.alpha = alpha
        self.n_iter = n_iter
        self.seed = seed

    def fit(self, counts: np.ndarray, y: np.ndarray) -> MedLDA:
        """Learn topics and classifier from counts (documents, words) and classes."""
        counts = np.asarray(counts, dtype=float)
        rng = np.random.default_rng(self.seed)
        self.classes_, codes = np.unique(y, return_inverse=True)
        self.words_ = rng.dirichlet(np.ones(counts.shape[1]), self.n_topics)
        self.weights_ = np.zeros((len(self.classes_), self.n_topics))
        duals = np.zeros((len(counts), len(self.classes_)))
        lengths = np.maximum(counts.sum(axis=1, keepdims=True), 1)
        shares = rng.dirichlet(np.ones(self.n_topics), len(counts))
        for _ in range(self.n_iter):
            pull = duals @ self.weights_ / lengths
            shares, expected = self._infer(counts, pull, shares)
            self.words_ = (expected + SMOOTHING) / (expected + SMOOTHING).sum(axis=1, keepdims=True)
            duals = crammer_singer(shares, codes, self.C, duals, SVM_SWEEPS)
            self.weights_ = duals.T @ shares
        return self

    def _infer(self, counts: np.ndarray, pull: np.ndarray, shares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return expected topic shares of documents, and how often each topic has each word."""
        lengths = counts.sum(axis=1, keepdims=True)
        for _ in range(E_SWEEPS):
            gamma = self.alpha + lengths * shares
            log_topics = digamma(gamma) + pull
            # what is the same for all topics of a document cancels
            topics = np.exp(log_topics - log_topics.max(axis=1, keepdims=True))
            by_word = counts / np.maximum(topics @ self.words_, 1e-300)
            number = topics * (by_word @ self.words_.T)
            shares = np.where(lengths > 0, number / np.maximum(lengths, 1), 1 / self.n_topics)
        return shares, self.words_ * (topics.T @ by_word)

    def transform(self, counts: np.ndarray) -> np.ndarray:
        """Return expected topic shares of documents whose classes are unknown."""
        counts = np.asarray(counts, dtype=float)
        even = np.full((len(counts), self.n_topics), 1 / self.n_topics)
        return self._infer(counts, np.zeros_like(even), even)[0]

    def predict(self, counts: np.ndarray) -> np.ndarray:
        """Return the classes of documents."""
        return self.classes_[(self.transform(counts) @ self.weights_.T).argmax(axis=1)]


def crammer_singer(X: np.ndarray, codes: np.ndarray, C: float, duals: np.ndarray, n_sweeps: int) -> np.ndarray:
    """Return duals a (rows, classes) of the multi-class SVM with weights aᵀX, by sweeps of exact steps in single rows.

    Each row minimises its part of the dual: a_d sums to zero, and a_d(y) is at most C for its own class and at most 0
    for the others (Keerthi et al., 2008).
    """
    duals = duals.copy()
    weights = duals.T @ X
    squares = np.square(X).sum(axis=1)
    margins = 1 - np.eye(duals.shape[1])[codes]
    upper = C * (1 - margins)
    for _ in range(n_sweeps):
        for d in np.flatnonzero(squares > 0):
            slope = weights @ X[d] + margins[d] - squares[d] * duals[d]
            new = np.minimum(upper[d], (_level(slope + squares[d] * upper[d], C * squares[d]) - slope) / squares[d])
            weights += np.outer(new - duals[d], X[d])
            duals[d] = new
    return duals


def _level(ends: np.ndarray, total: float) -> float:
    """Return β at which the sum of max(end - β, 0) over classes is the total."""
    falling = np.sort(ends)[::-1]
    levels = (np.cumsum(falling) - total) / np.arange(1, len(falling) + 1)
    return float(levels[np.flatnonzero(falling > levels)[-1]])
