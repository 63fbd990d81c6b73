"""The search index of items: neighbours by latent coordinates and by embeddings, and a tf-idf index of words and tags.

Coordinates find items that are about the same, an embedding those that mean the same; the words themselves find those
that say it. A search goes by all that a query has.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd
import scipy.sparse
from sklearn.preprocessing import normalize

from harmonium.search import NearestNeighbours
from harmonium.tables import Table
from harmonium.views import Views

# Candidates of each kind among which the best are looked for, for each item that is wanted, and at least: conventions.
_CANDIDATES_EACH = 10
_FEWEST_CANDIDATES = 200
# What the cosine of coordinates weighs beside that of an embedding, and that of words for a query of one word; it grows
# with the root of the number of words, as cosines of long queries vary less. They were chosen on titles of Netflix and
# halves of hotel reviews (benchmarks/embeddings.py).
_COORDINATES, _A_WORD = 0.1, 0.4
# From so many items on FAISS is used if it is there: below it, its index takes longer to build than it saves.
_MANY = 50_000


@dataclass(frozen=True, eq=False)
class Query:
    """What a search goes by; each part is None where the queries have none.

    Parameters
    ----------
    coordinates : ndarray of shape (n_queries, n_topics)
        Coordinates of the queries.
    words : csr_array of shape (n_queries, n_words), optional
        Words of the queries, as `WordIndex.query_weights` returns them.
    embedding : ndarray of shape (n_queries, n_dimensions), optional
        Embedding of the queries, as `ItemEmbeddings.of_queries` returns it.
    """

    coordinates: np.ndarray
    words: scipy.sparse.csr_array | None = None
    embedding: np.ndarray | None = None


class ItemIndex:
    """Items, to be found by their coordinates and, where they have any, their words and their embedding.

    Parameters
    ----------
    coordinates : ndarray of shape (n_items, n_topics)
        What is compared by cosine.
    words : WordIndex, optional
        Words and tags of the items.
    embedding : ndarray of shape (n_items, n_dimensions), optional
        Embedding of the items, the rows of `ItemEmbeddings`.

    Examples
    --------
    >>> ItemIndex(np.eye(3)).query(Query(np.array([[0.0, 2.0, 1.0]])), 2)["row"].tolist()
    [1, 2]
    """

    def __init__(
        self, coordinates: np.ndarray, words: WordIndex | None = None, embedding: np.ndarray | None = None
    ) -> None:
        self._words = words
        self._near = {"coordinates": _neighbours(coordinates)}
        if embedding is not None:
            self._near["embedding"] = _neighbours(embedding)
        self._n_items = len(coordinates)

    def query(self, query: Query, n: int) -> pd.DataFrame:
        """Return the items that go best with queries.

        Parameters
        ----------
        query : Query
            What is looked for.
        n : int
            Number of items for each query.

        Returns
        -------
        DataFrame
            Columns query, if there are several, row and score, best first. A score is the mean of the cosines of what
            the queries have: the embedding has most of the say.
        """
        n = min(n, self._n_items)
        dense = {name: getattr(query, name) for name in self._near if getattr(query, name) is not None}
        by_words = None if query.words is None or self._words is None else self._words.similarity(query.words)
        if by_words is not None and not by_words.any():
            by_words = None
        if by_words is None and len(dense) == 1:
            return _table(*self._near["coordinates"].query(query.coordinates, n))
        n_candidates = min(max(_FEWEST_CANDIDATES, _CANDIDATES_EACH * n), self._n_items)
        near = [self._near[name].query(values, n_candidates)[0] for name, values in dense.items()]
        best = []
        for number in range(len(query.coordinates)):
            said = None if by_words is None else by_words[number]
            rows = [found[number] for found in near] + ([] if said is None else [_most(said, n_candidates)])
            one = {name: values[number] for name, values in dense.items()}
            n_words = 0 if query.words is None else int(np.diff(query.words.indptr)[number])
            best.append(self._best(one, said, n_words, np.unique(np.concatenate(rows)), n))
        return _table(np.stack([rows for rows, _ in best]), np.stack([scores for _, scores in best]))

    def _best(
        self, dense: Mapping[str, np.ndarray], said: np.ndarray | None, n_words: int, rows: np.ndarray, n: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the best of some candidates, and their scores."""
        cosines = {name: self._near[name].similarity(values, rows) for name, values in dense.items()}
        if said is not None:
            cosines["words"] = said[rows]
        weights = _weights(list(cosines), n_words)
        scores = np.sum([weights[name] * cosine for name, cosine in cosines.items()], axis=0)
        order = np.lexsort((rows, -scores))[:n]
        return rows[order], scores[order].astype(np.float32)


def _weights(names: list[str], n_words: int) -> dict[str, float]:
    """Return what each cosine weighs: the same without an embedding, which otherwise has most of the say."""
    weights = dict.fromkeys(names, 1.0)
    if "embedding" in names:
        weights |= {"coordinates": _COORDINATES, "words": _A_WORD * n_words**0.5}
    total = sum(weights[name] for name in names)
    return {name: weights[name] / total for name in names}


def _most(said: np.ndarray, n: int) -> np.ndarray:
    """Return the items that say most of a query, of those that say anything."""
    most = np.argpartition(-said, n - 1)[:n]
    return most[said[most] > 0]


def _neighbours(rows: np.ndarray) -> NearestNeighbours:
    return NearestNeighbours(backend=_backend(len(rows))).fit(rows)


def _table(rows: np.ndarray, scores: np.ndarray) -> pd.DataFrame:
    table = pd.DataFrame({"row": rows.ravel(), "score": scores.ravel()})
    if len(rows) > 1:
        table.insert(0, "query", np.repeat(np.arange(len(rows)), rows.shape[1]))
    return table


def _backend(n_items: int) -> str:
    """Return what finds neighbours: FAISS for many items, if it is installed."""
    if n_items < _MANY:
        return "exact"
    try:
        import faiss  # noqa: F401 (to see whether it is there)
    except ImportError:
        return "exact"
    return "faiss"


@dataclass(frozen=True, eq=False)
class WordIndex:
    """Tf-idf weights of the words and tags of items, a column for each; all term frequencies count as 1.

    Parameters
    ----------
    views : tuple of str
        Names of the views of words and tags, whose columns stand side by side.
    idf : ndarray of shape (n_words,)
        Weight of each word: its inverse document frequency.
    matrix : scipy.sparse.csc_array of shape (n_items, n_words)
        Weights of the words of each item, in rows of length 1.
    """

    views: tuple[str, ...]
    idf: np.ndarray
    matrix: scipy.sparse.csc_array

    @classmethod
    def from_views(cls, views: Views, table: Table | None) -> Self | None:
        """Return the words and tags of items; None if they have no columns of words or tags."""
        names = () if table is None else tuple(c.view for c in table.columns if c.reader.names_some)
        if not names:
            return None
        there = _presence(views, names)
        n_items = there.shape[0]
        # the idf of scikit-learn, which keeps words that all items have
        idf = np.log((1 + n_items) / (1 + np.bincount(there.indices, minlength=there.shape[1]))) + 1
        weighed = normalize(there @ scipy.sparse.diags_array(idf))
        return cls(names, idf.astype(np.float32), scipy.sparse.csc_array(weighed, dtype=np.float32))

    def query_weights(self, views: Views) -> scipy.sparse.csr_array:
        """Return the weights of the words of queries, in rows of length 1 or, without any, 0."""
        return scipy.sparse.csr_array(normalize(_presence(views, self.views) @ scipy.sparse.diags_array(self.idf)))

    def item_weights(self, item: int) -> scipy.sparse.csr_array:
        """Return the weights of the words of an item."""
        return scipy.sparse.csr_array(self.matrix[[item]])

    def similarity(self, queries: scipy.sparse.csr_array) -> np.ndarray:
        """Return the cosines between queries and items, of shape (n_queries, n_items)."""
        cosines = np.zeros((queries.shape[0], self.matrix.shape[0]), dtype=np.float32)
        for row in range(queries.shape[0]):
            columns = queries.indices[queries.indptr[row] : queries.indptr[row + 1]]
            weights = queries.data[queries.indptr[row] : queries.indptr[row + 1]]
            for column, weight in zip(columns, weights, strict=True):
                items = slice(self.matrix.indptr[column], self.matrix.indptr[column + 1])
                cosines[row, self.matrix.indices[items]] += np.float32(weight) * self.matrix.data[items]
        return cosines

    def tensors(self) -> dict[str, np.ndarray]:
        """Return the arrays, as a folder keeps them."""
        parts = {"rarity": self.idf, "data": self.matrix.data}
        parts |= {name: getattr(self.matrix, name).astype(np.int64) for name in ("indices", "indptr")}
        return {f"words/{name}": value for name, value in parts.items()}

    @classmethod
    def restored(cls, views: tuple[str, ...], tensors: Mapping[str, np.ndarray], n_items: int, n_words: int) -> Self:
        """Return what `tensors` described; raise a ValueError if it is no such thing."""
        idf, data, indices, indptr = (tensors[f"words/{name}"] for name in ("rarity", "data", "indices", "indptr"))
        if idf.shape != (n_words,) or not np.isfinite(idf).all() or not np.isfinite(data).all():
            raise ValueError("words of another model")
        matrix = scipy.sparse.csc_array((data, indices, indptr), shape=(n_items, n_words))
        matrix.check_format(full_check=True)
        return cls(views, idf, matrix)


def _presence(views: Views, names: tuple[str, ...]) -> scipy.sparse.csr_array:
    """Return which words and tags each row has, as zeros and ones."""
    return scipy.sparse.csr_array(scipy.sparse.hstack([_view(views, name) for name in names], format="csr"))


def _view(views: Views, name: str) -> Any:
    source = views.source(name)
    matrix = scipy.sparse.csr_array(np.nan_to_num(source.matrix) if not source.is_sparse else source.matrix)
    there = scipy.sparse.csr_array((matrix > 0).astype(np.float64))
    if source.lacks_rows:
        there = scipy.sparse.diags_array((source.rows >= 0).astype(np.float64)) @ there[np.maximum(source.rows, 0)]
    elif len(source.rows) != there.shape[0] or (source.rows != np.arange(there.shape[0])).any():
        there = there[source.rows]
    result = scipy.sparse.csr_array(there)
    result.eliminate_zeros()
    return result
