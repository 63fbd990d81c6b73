"""Supervised latent Dirichlet allocation by Gibbs sampling (tomotopy), for numbers and for classes one against rest."""

from __future__ import annotations

import numpy as np
import scipy.sparse

from benchmarks.rivals.lda import documents


class SLDA:
    """Responses are linear in the topic shares; with several columns, each is a response of its own."""

    def __init__(self, n_topics: int = 20, kind: str = "l", n_iter: int = 200, seed: int = 0) -> None:
        self.n_topics = n_topics
        self.kind = kind
        self.n_iter = n_iter
        self.seed = seed

    def fit(self, counts: scipy.sparse.csr_array, responses: np.ndarray) -> SLDA:
        """Train on counts and responses (rows, columns)."""
        import tomotopy

        self.model_ = tomotopy.SLDAModel(
            k=self.n_topics, vars=self.kind * responses.shape[1], alpha=0.1, eta=0.01, seed=self.seed
        )
        self.means_ = responses.mean(axis=0)
        for tokens, response in zip(documents(counts), responses, strict=True):
            if tokens:
                self.model_.add_doc(tokens, [float(value) for value in response])
        self.model_.train(self.n_iter, workers=2)
        return self

    def predict(self, counts: scipy.sparse.csr_array, n_iter: int = 100) -> np.ndarray:
        """Expected responses of new documents; empty ones get the mean."""
        result = np.tile(self.means_, (counts.shape[0], 1))
        unseen = {row: self.model_.make_doc(tokens) for row, tokens in enumerate(documents(counts)) if tokens}
        self.model_.infer(list(unseen.values()), iterations=n_iter, workers=2)
        for row, document in unseen.items():
            result[row] = self.model_.estimate(document)
        return result
