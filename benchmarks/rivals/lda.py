"""Latent Dirichlet allocation by collapsed Gibbs sampling (tomotopy), on count matrices."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse

if TYPE_CHECKING:
    import tomotopy


def documents(counts: scipy.sparse.csr_array) -> Iterator[list[str]]:
    """Each row as a list of tokens."""
    names = np.array([str(word) for word in range(counts.shape[1])])
    for row in range(counts.shape[0]):
        part = slice(counts.indptr[row], counts.indptr[row + 1])
        yield list(np.repeat(names[counts.indices[part]], counts.data[part].astype(int)))


class LDA:
    """Topic proportions are posterior means; empty documents get equal shares."""

    def __init__(self, n_topics: int = 50, n_iter: int = 300, seed: int = 0) -> None:
        self.n_topics = n_topics
        self.n_iter = n_iter
        self.seed = seed

    def fit_transform(self, counts: scipy.sparse.csr_array) -> np.ndarray:
        """Train, and return the training documents' proportions."""
        import tomotopy

        self.model_ = tomotopy.LDAModel(k=self.n_topics, seed=self.seed, alpha=0.1, eta=0.01)
        rows = []
        for row, tokens in enumerate(documents(counts)):
            if tokens:
                self.model_.add_doc(tokens)
                rows.append(row)
        self.model_.train(self.n_iter, workers=2)
        latent = np.full((counts.shape[0], self.n_topics), 1 / self.n_topics, dtype=np.float32)
        for row, document in zip(rows, self.model_.docs, strict=True):
            latent[row] = document.get_topic_dist()
        return latent

    def prepare(self, counts: scipy.sparse.csr_array) -> dict[int, tomotopy.Document]:
        """Documents to be inferred, by row."""
        return {row: self.model_.make_doc(tokens) for row, tokens in enumerate(documents(counts)) if tokens}

    def transform(self, counts: scipy.sparse.csr_array, n_iter: int = 100) -> np.ndarray:
        """Proportions of new documents."""
        unseen = self.prepare(counts)
        latent = np.full((counts.shape[0], self.n_topics), 1 / self.n_topics, dtype=np.float32)
        latent[list(unseen)] = self.model_.infer(list(unseen.values()), iterations=n_iter, workers=2)[0]
        return latent
