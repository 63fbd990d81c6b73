"""Probabilistic latent semantic indexing (Hofmann, 1999) with tempered EM, for sparse count matrices.

All work is done on the non-zero counts. For a temperature beta the posterior of topic z is proportional to
``(P(z|d) P(w|z)) ** beta``; the powers are taken of the two parameter tables, once per iteration, so that the kernels
cost the same at every temperature.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import numba
import numpy as np
import scipy.sparse
import scipy.sparse as sp
from numpy.typing import NDArray

# Probabilities below this are set to 0: they change no result, and products of smaller ones would be denormal numbers,
# which are slow.
_SMALLEST = 1e-15
# A word the model gives no probability at all must not make a held-out likelihood infinite.
_LIKELIHOOD_FLOOR = 1e-12


@numba.njit(parallel=True, fastmath=True, cache=True)
def _document_pass(indptr, words, counts, weight_d, weight_w, updated, ratios):  # type: ignore[no-untyped-def]
    """For each document: ratios count / sum_z a_dz b_wz at its non-zeros, and their sum weighted by b_wz."""
    n_topics = weight_d.shape[1]
    for d in numba.prange(weight_d.shape[0]):
        updated[d, :] = 0
        for p in range(indptr[d], indptr[d + 1]):
            w = words[p]
            total = weight_d[d, 0] * weight_w[w, 0]
            for z in range(1, n_topics):
                total += weight_d[d, z] * weight_w[w, z]
            ratio = counts[p] / total if total > 0 else counts[p] * 0
            ratios[p] = ratio
            for z in range(n_topics):
                updated[d, z] += ratio * weight_w[w, z]


@numba.njit(parallel=True, fastmath=True, cache=True)
def _word_pass(indptr, documents, positions, ratios, weight_d, updated):  # type: ignore[no-untyped-def]
    """For each word: sum over its documents of the ratios weighted by a_dz; columns make this free of write races."""
    n_topics = weight_d.shape[1]
    for w in numba.prange(updated.shape[0]):
        updated[w, :] = 0
        for p in range(indptr[w], indptr[w + 1]):
            d = documents[p]
            ratio = ratios[positions[p]]
            for z in range(n_topics):
                updated[w, z] += ratio * weight_d[d, z]


@numba.njit(parallel=True, fastmath=True, cache=True)
def _fold_in_pass(indptr, words, counts, weight_w, beta, n_iter, topics):  # type: ignore[no-untyped-def]
    """Update P(z|d) in place; the words of one document stay in cache over all iterations."""
    n_topics = topics.shape[1]
    for d in numba.prange(topics.shape[0]):
        first, n_words = indptr[d], indptr[d + 1] - indptr[d]
        local = np.empty((n_words, n_topics), dtype=topics.dtype)
        for i in range(n_words):
            for z in range(n_topics):
                local[i, z] = weight_w[words[first + i], z]
        weight = np.empty(n_topics, dtype=topics.dtype)
        updated = np.empty(n_topics, dtype=topics.dtype)
        for _ in range(n_iter):
            for z in range(n_topics):
                weight[z] = topics[d, z] if beta == 1 else topics[d, z] ** beta
                updated[z] = 0
            for i in range(n_words):
                total = weight[0] * local[i, 0]
                for z in range(1, n_topics):
                    total += weight[z] * local[i, z]
                if total > 0:
                    ratio = counts[first + i] / total
                    for z in range(n_topics):
                        updated[z] += ratio * local[i, z]
            mass = updated[0] * weight[0]
            for z in range(1, n_topics):
                mass += updated[z] * weight[z]
            if mass <= 0:
                break  # no word of this document is known to the model
            for z in range(n_topics):
                value = updated[z] * weight[z] / mass
                topics[d, z] = value if value > _SMALLEST else 0


@numba.njit(parallel=True, fastmath=True, cache=True)
def _log_likelihood(indptr, words, counts, topics, word_given_topic):  # type: ignore[no-untyped-def]
    n_topics = topics.shape[1]
    total_log = 0.0
    for d in numba.prange(topics.shape[0]):
        document_log = 0.0
        for p in range(indptr[d], indptr[d + 1]):
            w = words[p]
            probability = topics[d, 0] * word_given_topic[w, 0]
            for z in range(1, n_topics):
                probability += topics[d, z] * word_given_topic[w, z]
            document_log += counts[p] * np.log(max(probability, _LIKELIHOOD_FLOOR))
        total_log += document_log
    return total_log


@dataclass
class Counts:
    """A count matrix laid out for the kernels: by document, and by word with positions into the former."""

    indptr: NDArray[Any]
    words: NDArray[Any]
    values: NDArray[Any]
    word_indptr: NDArray[Any] = field(default_factory=lambda: np.empty(0, np.int64))
    documents: NDArray[Any] = field(default_factory=lambda: np.empty(0, np.int64))
    positions: NDArray[Any] = field(default_factory=lambda: np.empty(0, np.int64))

    @classmethod
    def from_matrix(cls, matrix: Any, dtype: Any, *, by_word: bool = False) -> Counts:
        rows = sp.csr_array(matrix, dtype=dtype, copy=True)
        rows.sum_duplicates()
        rows.eliminate_zeros()
        result = cls(rows.indptr, rows.indices, rows.data)
        if by_word:
            columns = sp.csr_array((np.arange(rows.nnz), rows.indices, rows.indptr), shape=rows.shape).tocsc()
            result.word_indptr, result.documents, result.positions = columns.indptr, columns.indices, columns.data
        return result


def em_step(
    counts: Counts, topics: NDArray[Any], word_given_topic: NDArray[Any], beta: float = 1.0
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return P(z|d), of shape (n_documents, n_topics), and P(w|z), of shape (n_words, n_topics), after one EM step."""
    weight_d, weight_w = (topics, word_given_topic) if beta == 1 else (topics**beta, word_given_topic**beta)
    updated_d, updated_w, ratios = np.empty_like(weight_d), np.empty_like(weight_w), np.empty_like(counts.values)
    _document_pass(counts.indptr, counts.words, counts.values, weight_d, weight_w, updated_d, ratios)
    _word_pass(counts.word_indptr, counts.documents, counts.positions, ratios, weight_d, updated_w)
    updated_d *= weight_d
    updated_w *= weight_w
    return _normalise(updated_d, axis=1), _normalise(updated_w, axis=0)


def _normalise(table: NDArray[Any], axis: int) -> NDArray[Any]:
    total = table.sum(axis=axis, keepdims=True)
    # An empty document, or a topic that lost all its words, gets the uniform distribution.
    table += total <= 0
    table /= np.where(total <= 0, table.shape[axis], total).astype(table.dtype)
    table[table < _SMALLEST] = 0
    return table


def fold_in(counts: Counts, word_given_topic: NDArray[Any], beta: float = 1.0, n_iter: int = 25) -> NDArray[Any]:
    """Return P(z|d) of documents by EM with P(w|z) kept fixed, starting from the uniform distribution."""
    n_documents, n_topics = counts.indptr.size - 1, word_given_topic.shape[1]
    topics = np.full((n_documents, n_topics), 1 / n_topics, dtype=word_given_topic.dtype)
    weight = word_given_topic if beta == 1 else word_given_topic**beta
    _fold_in_pass(counts.indptr, counts.words, counts.values, weight, topics.dtype.type(beta), n_iter, topics)
    return topics


def vectorised_fold_in(
    matrix: scipy.sparse.csr_array, word_given_topic: NDArray[Any], n_iter: int = 25, rows_at_a_time: int = 200
) -> NDArray[Any]:
    """Folding-in as one would write it with NumPy and SciPy: over the non-zeros, a block of documents at once."""
    by_word = np.ascontiguousarray(word_given_topic)
    result = []
    for first in range(0, matrix.shape[0], rows_at_a_time):
        block = matrix[first : first + rows_at_a_time]
        rows = np.repeat(np.arange(block.shape[0]), np.diff(block.indptr))
        words = by_word[block.indices]
        topics = np.full((block.shape[0], by_word.shape[1]), 1 / by_word.shape[1], dtype=by_word.dtype)
        for _ in range(n_iter):
            denominator = np.einsum("ek,ek->e", topics[rows], words)
            ratio = scipy.sparse.csr_array(
                (block.data / np.maximum(denominator, 1e-30), block.indices, block.indptr), shape=block.shape
            )
            topics = topics * (ratio @ by_word)
            topics /= np.maximum(topics.sum(axis=1, keepdims=True), 1e-30)
        result.append(topics)
    return np.concatenate(result)


def log_likelihood(counts: Counts, topics: NDArray[Any], word_given_topic: NDArray[Any]) -> float:
    """Return the sum over counts of ``n(d,w) log sum_z P(z|d) P(w|z)``."""
    return float(_log_likelihood(counts.indptr, counts.words, counts.values, topics, word_given_topic))


class PLSI:
    """Tempered PLSI with the temperature rule of Gehler, Holub and Welling (2006).

    A tenth of the documents is held out. EM starts at temperature parameter beta = 1; whenever the held-out
    log-likelihood does not rise, beta is lowered by 0.025 and EM goes on from the best parameters so far. The fit ends
    when ``patience`` lowerings in a row bring no improvement, and the parameters with the best held-out likelihood are
    kept. By default the held-out documents are folded in on one half of their words and scored on the other: scored on
    the words it was folded in on, a document rewards overfitting, and beta would hardly ever leave 1.

    Parameters
    ----------
    n_topics : int
        Number of topics.
    max_iter : int
        Largest number of EM steps.
    validation_fraction : float
        Part of the documents held out; 0 runs plain EM at beta = 1 until the training likelihood settles.
    beta_step : float
        Amount by which beta is lowered.
    patience : int
        Lowerings without improvement before the fit ends.
    tolerance : float
        Smallest relative rise of the likelihood that counts as a rise.
    fold_in_iter : int
        Folding-in iterations for the held-out documents.
    score_unseen_words : bool
        Whether held-out documents are scored on words they were not folded in on.
    check_every : int
        EM steps between two looks at the held-out documents.
    dtype : float32 or float64
        Precision of the tables.
    random_state : int
        Seed of the starting point and of the held-out set.
    """

    def __init__(
        self,
        n_topics: int = 50,
        *,
        max_iter: int = 500,
        validation_fraction: float = 0.1,
        beta_step: float = 0.025,
        patience: int = 3,
        tolerance: float = 1e-5,
        fold_in_iter: int = 25,
        score_unseen_words: bool = True,
        check_every: int = 1,
        dtype: Any = np.float32,
        random_state: int = 0,
    ) -> None:
        self.n_topics = n_topics
        self.max_iter = max_iter
        self.validation_fraction = validation_fraction
        self.beta_step = beta_step
        self.patience = patience
        self.tolerance = tolerance
        self.fold_in_iter = fold_in_iter
        self.score_unseen_words = score_unseen_words
        self.check_every = check_every
        self.dtype = dtype
        self.random_state = random_state

    def fit(self, X: Any) -> Self:
        """Fit to a sparse count matrix with one row per document."""
        matrix = self._counts_matrix(X)
        generator = np.random.default_rng(self.random_state)
        order = generator.permutation(matrix.shape[0])
        n_held_out = round(self.validation_fraction * matrix.shape[0])
        held_out_rows, rows = np.sort(order[:n_held_out]), np.sort(order[n_held_out:])
        train = Counts.from_matrix(matrix[rows], self.dtype, by_word=True)
        # Without held-out documents the training likelihood itself says when EM has settled.
        held_out = self._held_out(matrix[held_out_rows], generator) if n_held_out else None
        topics = _normalise(generator.random((rows.size, self.n_topics)).astype(self.dtype), axis=1)
        words = _normalise(generator.random((matrix.shape[1], self.n_topics)).astype(self.dtype), axis=0)

        beta, best, failures = 1.0, -np.inf, 0
        previous = -np.inf
        self.history_: list[tuple[int, float, float]] = []
        chosen = (topics, words, beta)
        for iteration in range(1, self.max_iter + 1):
            topics, words = em_step(train, topics, words, beta)
            if iteration % self.check_every and iteration < self.max_iter:
                continue
            score = self._score(train, held_out, topics, words, beta)
            self.history_.append((iteration, beta, score))
            if score > best:
                # Any rise is kept, but only a rise above the tolerance counts as progress.
                if score - best > self.tolerance * abs(score):
                    failures = 0
                best, chosen = score, (topics, words, beta)
            if score - previous <= self.tolerance * abs(score):
                failures += 1
                if held_out is None or failures > self.patience or beta <= self.beta_step:
                    break
                beta -= self.beta_step
                # Going back to the best parameters keeps the overfitting of the last step out of the next ones.
                topics, words, _ = chosen
            previous = score
        topics, self.word_given_topic_, self.beta_ = chosen
        self.n_iter_, self.held_out_rows_ = iteration, held_out_rows
        self.document_topics_ = np.empty((matrix.shape[0], self.n_topics), dtype=self.dtype)
        self.document_topics_[rows] = topics
        if n_held_out:
            self.document_topics_[held_out_rows] = self.transform(matrix[held_out_rows])
        return self

    def _held_out(self, matrix: sp.csr_array, generator: np.random.Generator) -> tuple[Counts, Counts]:
        """Return the counts to fold in and the counts to score."""
        if not self.score_unseen_words:
            counts = Counts.from_matrix(matrix, self.dtype)
            return counts, counts
        # Each token goes to one of the halves with equal chance.
        values = np.rint(matrix.data).astype(np.int64)
        part = sp.csr_array((generator.binomial(values, 0.5), matrix.indices, matrix.indptr), shape=matrix.shape)
        rest = sp.csr_array((values - part.data, matrix.indices, matrix.indptr), shape=matrix.shape)
        return Counts.from_matrix(part, self.dtype), Counts.from_matrix(rest, self.dtype)

    def _score(
        self,
        train: Counts,
        held_out: tuple[Counts, Counts] | None,
        topics: NDArray[Any],
        words: NDArray[Any],
        beta: float,
    ) -> float:
        if held_out is None:
            return log_likelihood(train, topics, words)
        seen, scored = held_out
        return log_likelihood(scored, fold_in(seen, words, beta, self.fold_in_iter), words)

    def transform(self, X: Any, n_iter: int = 25) -> NDArray[Any]:
        """Return P(z|d) of the rows of ``X`` by folding in at the temperature of the fit."""
        counts = Counts.from_matrix(self._counts_matrix(X), self.dtype)
        return fold_in(counts, self.word_given_topic_, self.beta_, n_iter)

    def fit_transform(self, X: Any) -> NDArray[Any]:
        """Fit and return P(z|d) of the rows of ``X``; the held-out ones are folded in."""
        return self.fit(X).document_topics_

    @property
    def components_(self) -> NDArray[Any]:
        """P(w|z) with one row per topic."""
        return self.word_given_topic_.T

    def _counts_matrix(self, X: Any) -> sp.csr_array:
        matrix = sp.csr_array(X, dtype=self.dtype)
        if not np.isfinite(matrix.data).all() or (matrix.data < 0).any():
            raise ValueError("X must hold finite counts of at least 0, got other values; pass word counts.")
        return matrix
