"""Word counts of texts, the vocabulary learnt on training texts; some rows of a data set for a quick look."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.feature_extraction.text import CountVectorizer

from benchmarks.datasets import load_reuters21578
from harmonium.datasets import load_newsgroups

__all__ = ["Texts", "binary", "few", "newsgroups", "reuters", "word_counts"]


@dataclass(frozen=True)
class Texts:
    """Texts and classes of training and test rows.

    Parameters
    ----------
    train, test : ndarray of str
        The texts.
    y, truth : ndarray of int
        Their classes, from 0.
    names : list of str
        Of the classes.
    """

    train: np.ndarray
    y: np.ndarray
    test: np.ndarray
    truth: np.ndarray
    names: list[str]

    def counts(self, size: int) -> tuple[Any, Any]:
        """Return word counts of training and test rows."""
        return word_counts(self.train, self.test, size)[:2]


def word_counts(train: Any, test: Any, size: int) -> tuple[scipy.sparse.csr_array, scipy.sparse.csr_array, list[str]]:
    """Return counts of the most frequent words of training texts, in these and in test texts, and the words."""
    vectorizer = CountVectorizer(max_features=size, dtype=np.float32)
    counts = scipy.sparse.csr_array(vectorizer.fit_transform(train))
    unseen = scipy.sparse.csr_array(vectorizer.transform(test))
    return counts, unseen, list(vectorizer.get_feature_names_out())


def binary(words: Any) -> Any:
    """Return which words are there."""
    return (words > 0).astype(np.float32)


def few(n_rows: int, limit: int) -> np.ndarray:
    """Return the places of at most so many rows, spread over all; 0 is no limit."""
    return np.arange(n_rows) if not limit or limit >= n_rows else np.linspace(0, n_rows - 1, limit).astype(int)


def newsgroups(limit: int = 0) -> Texts:
    """20 Newsgroups, by date, bodies only; at most so many rows to train on and to test on (0: all)."""
    loaded = load_newsgroups(remove=("headers",))
    texts, y = np.asarray(loaded.views["text"], dtype=object), np.asarray(loaded.target)
    train, test = (np.flatnonzero(loaded.split == part) for part in ("train", "test"))
    train, test = train[few(len(train), limit)], test[few(len(test), limit)]
    return Texts(texts[train], y[train], texts[test], y[test], loaded.target_names)


def reuters(n_classes: int = 0, limit: int = 0) -> Texts:
    """Stories of Reuters-21578 (ModApte) with exactly one topic, of topics in both parts; the largest ones or all."""
    loaded = load_reuters21578()
    single = np.array([len(topics) == 1 for topics in loaded.target])
    texts, part = np.asarray(loaded.views["text"])[single], np.asarray(loaded.split)[single]
    topics = np.array([topics[0] for topics in loaded.target[single]])
    found, sizes = np.unique(topics[part == "train"], return_counts=True)
    both = [name for name in found[np.argsort(-sizes, kind="stable")] if name in set(topics[part == "test"])]
    names = sorted(both[: n_classes or None])
    number = {name: place for place, name in enumerate(names)}
    y = np.array([number.get(topic, -1) for topic in topics])
    train, test = (np.flatnonzero((part == one) & (y >= 0)) for one in ("train", "test"))
    train, test = train[few(len(train), limit)], test[few(len(test), limit)]
    return Texts(texts[train], y[train], texts[test], y[test], names)
