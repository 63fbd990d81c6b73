"""Which items have the very words that somebody asks for: words and tags weighed by idf, compared by cosine.

Topics find items that are about the same; the words themselves tell those that say it. A search goes by both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse
from sklearn.preprocessing import normalize

from harmonium.tables import Table
from harmonium.views import Views


@dataclass(frozen=True, eq=False)
class ItemWords:
    """Words and tags of items, a column for each.

    Parameters
    ----------
    views : tuple of str
        Names of the views of words and tags, whose columns stand side by side.
    rarity : ndarray of shape (n_words,)
        What a word weighs.
    matrix : scipy.sparse.csc_array of shape (n_items, n_words)
        Weights of the words of each item, in rows of length 1.
    """

    views: tuple[str, ...]
    rarity: np.ndarray
    matrix: scipy.sparse.csc_array

    @classmethod
    def of(cls, views: Views, table: Table | None) -> Self | None:
        """Return the words and tags of items; None if they have no columns of words or tags."""
        names = () if table is None else tuple(c.view for c in table.columns if c.reader.names_some)
        if not names:
            return None
        there = _presence(views, names)
        n_items = there.shape[0]
        # the idf of scikit-learn, which keeps words that all items have
        rarity = np.log((1 + n_items) / (1 + np.bincount(there.indices, minlength=there.shape[1]))) + 1
        weighed = normalize(there @ scipy.sparse.diags_array(rarity))
        return cls(names, rarity.astype(np.float32), scipy.sparse.csc_array(weighed, dtype=np.float32))

    def said(self, views: Views) -> scipy.sparse.csr_array:
        """Return the weights of the words of queries, in rows of length 1 or, without any, 0."""
        return scipy.sparse.csr_array(normalize(_presence(views, self.views) @ scipy.sparse.diags_array(self.rarity)))

    def said_by(self, item: int) -> scipy.sparse.csr_array:
        """Return the weights of the words of an item."""
        return scipy.sparse.csr_array(self.matrix[[item]])

    def similarity(self, queries: scipy.sparse.csr_array) -> np.ndarray:
        """Return the cosines between queries and items, of shape (n_queries, n_items)."""
        found = np.zeros((queries.shape[0], self.matrix.shape[0]), dtype=np.float32)
        for row in range(queries.shape[0]):
            columns = queries.indices[queries.indptr[row] : queries.indptr[row + 1]]
            weights = queries.data[queries.indptr[row] : queries.indptr[row + 1]]
            for column, weight in zip(columns, weights, strict=True):
                items = slice(self.matrix.indptr[column], self.matrix.indptr[column + 1])
                found[row, self.matrix.indices[items]] += np.float32(weight) * self.matrix.data[items]
        return found

    def tensors(self) -> dict[str, np.ndarray]:
        """Return the arrays, as a folder keeps them."""
        parts = {"rarity": self.rarity, "data": self.matrix.data}
        parts |= {name: getattr(self.matrix, name).astype(np.int64) for name in ("indices", "indptr")}
        return {f"words/{name}": value for name, value in parts.items()}

    @classmethod
    def restored(cls, views: tuple[str, ...], tensors: Mapping[str, np.ndarray], n_items: int, n_words: int) -> Self:
        """Return what `tensors` described; raise a ValueError if it is no such thing."""
        rarity, data, indices, indptr = (tensors[f"words/{name}"] for name in ("rarity", "data", "indices", "indptr"))
        if rarity.shape != (n_words,) or not np.isfinite(rarity).all() or not np.isfinite(data).all():
            raise ValueError("words of another model")
        matrix = scipy.sparse.csc_array((data, indices, indptr), shape=(n_items, n_words))
        matrix.check_format(full_check=True)
        return cls(views, rarity, matrix)


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
