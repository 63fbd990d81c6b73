"""Cosine nearest neighbours of latent coordinates: an exact search in blocks, or FAISS behind the same call.

scikit-learn's brute-force neighbours are as fast for many queries and several times slower for one; they do not break
ties by row number, take no FAISS index, and have no ranking of all items block by block, which retrieval measures need.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import NotFittedError

from harmonium.core.extras import require
from harmonium.core.validation import Choice, Setting, Whole, check_settings, check_whole

__all__ = ["NearestNeighbours", "rank_all"]

# Memory that a block of queries may take: a convention, small beside what a laptop has.
_BLOCK_BYTES = 64 * 2**20
# One cell of a block costs its float32 similarity, a temporary of that size, its int64 sort key, the key of the block
# before it, which the caller still holds, and what the caller derives from it.
_BYTES_PER_CELL = 4 + 4 + 8 + 8 + 8
_BLOCK_SIZE = Whole(remedy="None chooses it by memory", also=(None,))
_INDEX_MASK = np.int64(0xFFFFFFFF)
_MAGNITUDE_MASK = np.int32(0x7FFFFFFF)


class NearestNeighbours:
    """Search for items whose latent coordinates point in a similar direction.

    Similarities are computed in float32. Items of equal similarity are returned in the order of their index,
    unless rounding tells copies apart.

    Parameters
    ----------
    metric : {"cosine"}, default="cosine"
        Similarity of two rows of coordinates. A row of zeros has similarity 0 with everything.
    backend : {"exact", "faiss"}, default="exact"
        ``"exact"`` multiplies blocks of queries by the whole index. ``"faiss"`` uses ``IndexFlatIP``, gives the same
        neighbours, and needs the extra ``harmonium[neighbours]``.
    block_size : int or None, default=None
        Number of queries handled at once; memory grows with ``block_size`` times the number of indexed items. ``None``
        picks the largest block that takes less than about 64 MB.

    Attributes
    ----------
    n_items_ : int
        Number of indexed items.
    n_dimensions_ : int
        Number of columns of the coordinates.

    Examples
    --------
    >>> import numpy as np
    >>> index = np.array([[1.0, 0.0], [0.0, 2.0], [3.0, 3.0]])
    >>> neighbours = NearestNeighbours().fit(index)
    >>> indices, similarities = neighbours.query([[5.0, 1.0]], k=2)
    >>> indices
    array([[0, 2]])
    >>> similarities.round(3)
    array([[0.981, 0.832]], dtype=float32)
    """

    settings: ClassVar[Mapping[str, Setting]] = {
        "metric": Choice(("cosine",)),
        "backend": Choice(("exact", "faiss")),
        "block_size": _BLOCK_SIZE,
    }

    def __init__(self, *, metric: str = "cosine", backend: str = "exact", block_size: int | None = None) -> None:
        self.metric = metric
        self.backend = backend
        self.block_size = block_size

    def __repr__(self) -> str:
        return f"NearestNeighbours(metric={self.metric!r}, backend={self.backend!r}, block_size={self.block_size!r})"

    def fit(self, coordinates: ArrayLike | sp.sparray | sp.spmatrix) -> Self:
        """Index the coordinates to be searched.

        Parameters
        ----------
        coordinates : array-like or sparse of shape (n_items, n_dimensions)
            Latent coordinates, one row per item, as `transform` or, for items with different views,
            `search_coordinates` returns them. Only the exact backend takes sparse ones.

        Returns
        -------
        NearestNeighbours
            The object itself.

        Examples
        --------
        >>> NearestNeighbours().fit([[1.0, 0.0], [0.0, 1.0]]).n_items_
        2
        """
        check_settings(self, self.settings)
        if self.backend == "faiss" and sp.issparse(coordinates):
            raise ValueError("backend='faiss' needs dense coordinates, got a sparse matrix; pass backend='exact'.")
        unit = unit_rows(coordinates, "coordinates")
        # Nothing is stored before every check has passed, so that a failed call leaves an earlier fit usable.
        faiss_index: Any = _faiss_index(unit) if self.backend == "faiss" else None
        self._unit, self._faiss_index, self._fitted_backend = unit, faiss_index, self.backend
        self.n_items_, self.n_dimensions_ = unit.shape
        return self

    def query(self, coordinates: ArrayLike | sp.sparray | sp.spmatrix, k: int) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the ``k`` indexed items that are most similar to each query.

        Parameters
        ----------
        coordinates : array-like or sparse of shape (n_queries, n_dimensions)
            Latent coordinates of the queries.
        k : int
            Number of neighbours, between 1 and the number of indexed items.

        Returns
        -------
        indices : ndarray of int64 of shape (n_queries, k)
            Row numbers of the neighbours in the index, most similar first.
        similarities : ndarray of float32 of shape (n_queries, k)
            Their cosine similarities, in descending order.

        Examples
        --------
        >>> neighbours = NearestNeighbours().fit([[1.0, 0.0], [2.0, 0.0], [0.0, 1.0]])
        >>> neighbours.query([[0.0, 0.0], [1.0, 0.0]], k=2)[0]
        array([[0, 1],
               [0, 1]])
        """
        if not hasattr(self, "_unit"):
            raise NotFittedError("query needs an index, but nothing was indexed yet; call fit(coordinates) first.")
        _check_count(k, self.n_items_)
        if self._fitted_backend == "faiss" and sp.issparse(coordinates):
            raise ValueError("backend='faiss' needs dense coordinates, got a sparse matrix; pass backend='exact'.")
        queries = unit_rows(coordinates, "coordinates")
        check_same_width(queries, self._unit, "coordinates", "the indexed coordinates")
        if self._fitted_backend == "faiss":
            return self._query_faiss(queries, k)
        return self._query_exact(queries, k)

    def similarity(self, query: ArrayLike, items: ArrayLike) -> NDArray[Any]:
        """Return the similarity of one query with some of the indexed items.

        Parameters
        ----------
        query : array-like of shape (n_dimensions,)
            Coordinates of the query.
        items : array-like of int of shape (n_some,)
            Row numbers of the items.

        Returns
        -------
        ndarray of float32 of shape (n_some,)
            Cosines.

        Examples
        --------
        >>> NearestNeighbours().fit([[1.0, 0.0], [0.0, 2.0]]).similarity([0.0, 3.0], [1, 0]).tolist()
        [1.0, 0.0]
        """
        if not hasattr(self, "_unit"):
            raise NotFittedError("similarity needs an index, but nothing was indexed yet; call fit(coordinates) first.")
        unit = unit_rows(np.asarray(query)[None, :], "query")
        check_same_width(unit, self._unit, "query", "the indexed coordinates")
        found = self._unit[np.asarray(items)] @ unit[0]
        return np.asarray(found).ravel()

    def _query_exact(self, queries: Any, k: int) -> tuple[NDArray[Any], NDArray[Any]]:
        indices = np.empty((queries.shape[0], k), dtype=np.int64)
        similarities = np.empty((queries.shape[0], k), dtype=np.float32)
        for rows, keys in _key_blocks(queries, self._unit, self.block_size):
            if k < self.n_items_:
                keys.partition(k - 1, axis=1)
            best = keys[:, :k]
            best.sort(axis=1)
            indices[rows], similarities[rows] = _decode(best)
        return indices, similarities

    def _query_faiss(self, queries: NDArray[Any], k: int) -> tuple[NDArray[Any], NDArray[Any]]:
        # One neighbour more than asked for shows where a tie crosses the last place. There FAISS returns any tied
        # items, so those few queries are answered by the exact search, which keeps the promised order.
        wanted = min(k + 1, self.n_items_)
        found, candidates = self._faiss_index.search(queries, wanted)
        keys = np.sort(_encode(np.ascontiguousarray(found), candidates.astype(np.int64)), axis=1)
        indices, similarities = _decode(keys)
        if wanted > k:
            tied = np.flatnonzero(similarities[:, k - 1] == similarities[:, k])
            indices, similarities = indices[:, :k].copy(), similarities[:, :k].copy()
            if tied.size:
                indices[tied], similarities[tied] = self._query_exact(queries[tied], k)
        return indices, similarities


def rank_all(
    queries: ArrayLike | sp.sparray | sp.spmatrix,
    index: ArrayLike | sp.sparray | sp.spmatrix,
    block_size: int | None = None,
) -> Iterator[tuple[slice, NDArray[Any]]]:
    """Rank all indexed items for each query by cosine similarity, in blocks.

    Parameters
    ----------
    queries : array-like or sparse of shape (n_queries, n_dimensions)
        Coordinates of the queries.
    index : array-like or sparse of shape (n_items, n_dimensions)
        Coordinates of the items to rank.
    block_size : int or None, default=None
        Number of queries per block. ``None`` picks the largest block that takes less than about 64 MB.

    Returns
    -------
    iterator of (slice, ndarray of int64 of shape (block, n_items))
        For each block, the queries it covers and their rankings: row numbers of the items, most similar first, and
        equal ones in the order of the index.

    Examples
    --------
    >>> for rows, ranking in rank_all([[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [1.0, 1.0]]):
    ...     print(rows, ranking.tolist())
    slice(0, 2, None) [[1, 0], [0, 1]]
    """
    _BLOCK_SIZE.check("rank_all", "block_size", block_size)
    unit_queries, unit_index = unit_rows(queries, "queries"), unit_rows(index, "index")
    check_same_width(unit_queries, unit_index, "queries", "index")
    # The checks run at the call, not at the first step of the iteration.
    return _rank_blocks(unit_queries, unit_index, block_size)


def _rank_blocks(queries: Any, index: Any, block_size: int | None) -> Iterator[tuple[slice, NDArray[Any]]]:
    for rows, keys in _key_blocks(queries, index, block_size):
        keys.sort(axis=1)
        keys &= _INDEX_MASK
        yield rows, keys


def unit_rows(coordinates: Any, name: str) -> Any:
    """Check coordinates and scale their rows to length one, in float32.

    Rows of zeros stay as they are.

    Parameters
    ----------
    coordinates : array-like or sparse of shape (n, n_dimensions)
        Coordinates to check and scale; the input is left unchanged.
    name : str
        What error messages call them.

    Returns
    -------
    ndarray or csr_array of float32 of shape (n, n_dimensions)
        Rows of length one or zero.

    Examples
    --------
    >>> unit_rows([[3.0, 4.0], [0.0, 0.0]], "coordinates")
    array([[0.6, 0.8],
           [0. , 0. ]], dtype=float32)
    """
    if sp.issparse(coordinates):
        return _unit_rows_sparse(coordinates, name)
    array = np.asarray(coordinates)
    if array.dtype.kind not in "fiub":
        raise ValueError(f"{name} must hold real numbers, got dtype {array.dtype}; convert them to floats.")
    if array.ndim != 2 or 0 in array.shape:
        raise ValueError(
            f"{name} must be a non-empty 2-D array with one row per item, got shape {array.shape}; reshape it."
        )
    array = array.astype(np.float64 if array.dtype.kind != "f" else np.promote_types(array.dtype, np.float32))
    largest = np.abs(array).max(axis=1, keepdims=True)
    if not np.isfinite(largest).all():
        raise ValueError(f"{name} must be finite, got NaN or infinity; remove or replace the affected rows.")
    # Dividing by the largest entry first keeps the squares of very large and very small rows within range.
    array /= np.where(largest > 0, largest, 1)
    length = np.sqrt(np.einsum("ij,ij->i", array, array))[:, None]
    array /= np.where(length > 0, length, 1)
    return np.ascontiguousarray(array, dtype=np.float32)


def _unit_rows_sparse(coordinates: Any, name: str) -> Any:
    if coordinates.ndim != 2 or 0 in coordinates.shape:
        raise ValueError(
            f"{name} must be a non-empty 2-D matrix with one row per item, got shape {coordinates.shape}; reshape it."
        )
    matrix = sp.csr_array(coordinates, dtype=np.float64, copy=True)
    matrix.sum_duplicates()
    if not np.isfinite(matrix.data).all():
        raise ValueError(f"{name} must be finite, got NaN or infinity; remove or replace the affected rows.")
    counts = np.diff(matrix.indptr)
    for order in (np.inf, 2):
        length = sp.linalg.norm(matrix, ord=order, axis=1)
        matrix.data /= np.repeat(np.where(length > 0, length, 1), counts)
    return matrix.astype(np.float32)


def check_same_width(first: Any, second: Any, first_name: str, second_name: str) -> None:
    """Refuse two matrices that differ in their number of columns.

    Examples
    --------
    >>> import numpy as np
    >>> check_same_width(np.ones((2, 3)), np.ones((4, 3)), "queries", "index")
    """
    if first.shape[1] != second.shape[1]:
        raise ValueError(
            f"{first_name} must have as many columns as {second_name} ({second.shape[1]}), got {first.shape[1]}; "
            "take both from the same model."
        )


def _check_count(k: int, n_items: int) -> None:
    check_whole("query", "k", k)
    if k > n_items:
        raise ValueError(f"query needs k of at most the number of indexed items, {n_items}; got {k}; lower it.")


def _key_blocks(queries: Any, index: Any, block_size: int | None) -> Iterator[tuple[slice, NDArray[Any]]]:
    """Yield sort keys (see `_encode`) of all items for one block of queries after another."""
    n_queries, n_items = queries.shape[0], index.shape[0]
    step = block_size or max(1, _BLOCK_BYTES // (_BYTES_PER_CELL * n_items))
    numbers = np.arange(n_items, dtype=np.int64)
    transposed = index.T
    for start in range(0, n_queries, step):
        rows = slice(start, min(start + step, n_queries))
        product = queries[rows] @ transposed
        similarity = product.toarray() if sp.issparse(product) else product
        yield rows, _encode(similarity, numbers)


def _encode(similarity: NDArray[Any], numbers: NDArray[Any]) -> NDArray[Any]:
    """Pack float32 similarities and item numbers into int64 keys whose ascending order is the ranking.

    The high half of a key holds the bits of the similarity, reordered so that larger similarities become smaller
    integers; the low half holds the item number. No two keys are equal, so partitions and sorts are fast, need no array
    of indices, and break ties by the lower index.
    """
    np.clip(similarity, -1, 1, out=similarity)
    similarity += np.float32(0)  # turns -0.0 into 0.0, which must tie with it
    bits = similarity.view(np.int32)
    bits ^= ~((bits >> 31) & _MAGNITUDE_MASK)
    keys = bits.astype(np.int64)
    keys <<= 32
    keys |= numbers
    return keys


def _decode(keys: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Undo `_encode`: return item numbers and float32 similarities."""
    bits = ~(keys >> 32).astype(np.int32)
    bits ^= (bits >> 31) & _MAGNITUDE_MASK
    return keys & _INDEX_MASK, bits.view(np.float32)


def _faiss_index(unit: NDArray[Any]) -> Any:
    faiss = require("faiss", "backend='faiss'", instead="pass backend='exact'")
    index = faiss.IndexFlatIP(unit.shape[1])
    index.add(unit)
    return index
