"""The search index of items: by what they are about, and by the words that they have."""

from __future__ import annotations

import numpy as np
import pandas as pd
import scipy.sparse

from harmonium.collection.words import ItemWords
from harmonium.search import NearestNeighbours

# Candidates of each kind among which the best are looked for, for each item that is wanted, and at least: conventions.
_CANDIDATES_EACH = 10
_FEWEST_CANDIDATES = 200
# From so many items on FAISS is used if it is there: below it, its index takes longer to build than it saves.
_MANY = 50_000


class ItemIndex:
    """Items, to be found by their coordinates and, where they have any, their words.

    Parameters
    ----------
    coordinates : ndarray of shape (n_items, n_topics)
        What is compared by cosine.
    words : ItemWords, optional
        Words and tags of the items.

    Examples
    --------
    >>> ItemIndex(np.eye(3)).query(np.array([[0.0, 2.0, 1.0]]), None, 2)["row"].tolist()
    [1, 2]
    """

    def __init__(self, coordinates: np.ndarray, words: ItemWords | None = None) -> None:
        self._words = words
        self._neighbours = NearestNeighbours(backend=_backend(len(coordinates))).fit(coordinates)

    def query(self, coordinates: np.ndarray, words: scipy.sparse.csr_array | None, n: int) -> pd.DataFrame:
        """Return the items that go best with queries.

        Parameters
        ----------
        coordinates : ndarray of shape (n_queries, n_topics)
            Coordinates of the queries.
        words : csr_array of shape (n_queries, n_words), optional
            Words of the queries, as `ItemWords.said` returns them. Where there are any, half of a score is by these.
        n : int
            Number of items for each query.

        Returns
        -------
        DataFrame
            Columns query, if there are several, row and score, best first.
        """
        n = min(n, self._neighbours.n_items_)
        said = None if words is None or self._words is None else self._words.similarity(words)
        if said is None or not said.any():
            rows, scores = self._neighbours.query(coordinates, n)
            return _table(rows, scores)
        among = min(max(_FEWEST_CANDIDATES, _CANDIDATES_EACH * n), self._neighbours.n_items_)
        about, _ = self._neighbours.query(coordinates, among)
        found = [self._best(coordinates[q], about[q], said[q], among, n) for q in range(len(coordinates))]
        return _table(np.stack([rows for rows, _ in found]), np.stack([scores for _, scores in found]))

    def _best(
        self, query: np.ndarray, about: np.ndarray, said: np.ndarray, among: int, n: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the best of the items that are about the same or say the same."""
        most = np.argpartition(-said, among - 1)[:among]
        rows = np.union1d(about, most[said[most] > 0])
        scores = (self._neighbours.similarity(query, rows) + said[rows]) / 2
        order = np.lexsort((rows, -scores))[:n]
        return rows[order], scores[order].astype(np.float32)


def _table(rows: np.ndarray, scores: np.ndarray) -> pd.DataFrame:
    found = pd.DataFrame({"row": rows.ravel(), "score": scores.ravel()})
    if len(rows) > 1:
        found.insert(0, "query", np.repeat(np.arange(len(rows)), rows.shape[1]))
    return found


def _backend(n_items: int) -> str:
    """Return what finds neighbours: FAISS for many items, if it is installed."""
    if n_items < _MANY:
        return "exact"
    try:
        import faiss  # noqa: F401 (to see whether it is there)
    except ImportError:
        return "exact"
    return "faiss"
