"""Documents with the topics and the lengths of those of 20 Newsgroups, and words drawn from a model of them."""

from __future__ import annotations

import numpy as np
import scipy.sparse
from sklearn.feature_extraction.text import CountVectorizer

from harmonium import Harmonium, Stochastic
from harmonium.datasets import load_newsgroups
from harmonium.families import ReplicatedSoftmax
from harmonium.kernels.runtime.jit import jit

COPIES = 20  # documents that share the state of the topics


class Drawn:
    """A model of 20 Newsgroups that documents are drawn from.

    Parameters
    ----------
    n_words : int
        Number of words, those that are most frequent.
    n_units : int
        Number of topics.
    """

    def __init__(self, n_words: int, n_units: int) -> None:
        texts = load_newsgroups("train", remove=("headers", "footers", "quotes")).views["text"]
        counts = CountVectorizer(max_features=n_words, stop_words="english").fit_transform(texts)
        counts = counts[np.asarray(counts.sum(axis=1)).ravel() > 0].astype(np.float32)
        self.model = Harmonium(n_units, views=ReplicatedSoftmax(), driver=Stochastic(max_iter=3), random_state=0)
        self.model.fit(counts)
        self.means = self.model.transform(counts)
        self.lengths = np.asarray(counts.sum(axis=1)).ravel().astype(np.int64)

    def rows(self, n_rows: int, seed: int) -> scipy.sparse.csr_array:
        """Return documents: states of the topics as in some message, lengths as in others, words by the model."""
        rng = np.random.default_rng(seed)
        like = rng.integers(len(self.means), size=-(-n_rows // COPIES))
        hidden = (rng.random((len(like), self.means.shape[1])) < self.means[like]).astype(np.float32)
        share = self.model.inverse_transform(hidden).astype(np.float64)
        share /= share.sum(axis=1, keepdims=True)
        lengths = rng.choice(self.lengths, size=n_rows)
        counts, words, ends = _draw(share, lengths, rng.random(int(lengths.sum())))
        return scipy.sparse.csr_array((counts, words, ends), shape=(n_rows, share.shape[1]))


@jit()
def _draw(share: np.ndarray, lengths: np.ndarray, uniform: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return sparse rows of counts: words of each document, drawn from the alias table of its state."""
    n_words = share.shape[1]
    counts, words = np.empty(len(uniform), np.float32), np.empty(len(uniform), np.int32)
    ends = np.zeros(len(lengths) + 1, np.int32)
    keeps, aliases = np.ones(n_words), np.arange(n_words)
    seen = np.zeros(n_words, np.int32)
    found = np.empty(lengths.max(), np.int32)
    place, end = 0, 0
    for row in range(len(lengths)):
        if row % COPIES == 0:
            _alias(share[row // COPIES], keeps, aliases)
        n_found = 0
        for _ in range(lengths[row]):
            scaled = uniform[place] * n_words
            word = min(int(scaled), n_words - 1)
            if scaled - word >= keeps[word]:
                word = aliases[word]
            if seen[word] == 0:
                found[n_found] = word
                n_found += 1
            seen[word] += 1
            place += 1
        for word in np.sort(found[:n_found]):
            words[end], counts[end] = word, seen[word]
            seen[word] = 0
            end += 1
        ends[row + 1] = end
    return counts[:end], words[:end], ends


@jit()
def _alias(share: np.ndarray, keeps: np.ndarray, aliases: np.ndarray) -> None:
    """Fill the alias table of a distribution (Vose, 1991): word i stays with probability keeps[i], or is aliases[i]."""
    n_words = len(share)
    small, large = np.empty(n_words, np.int64), np.empty(n_words, np.int64)
    n_small, n_large = 0, 0
    for word in range(n_words):
        keeps[word], aliases[word] = share[word] * n_words, word
        if keeps[word] < 1.0:
            small[n_small] = word
            n_small += 1
        else:
            large[n_large] = word
            n_large += 1
    while n_small and n_large:
        n_small -= 1
        low, high = small[n_small], large[n_large - 1]
        aliases[low] = high
        keeps[high] -= 1.0 - keeps[low]
        if keeps[high] < 1.0:
            n_large -= 1
            small[n_small] = high
            n_small += 1
    for left in range(n_small):  # what rounding has left over
        keeps[small[left]] = 1.0
    for left in range(n_large):
        keeps[large[left]] = 1.0
