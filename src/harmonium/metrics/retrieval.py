"""Recall, precision and average precision of retrieval by cosine similarity.

All functions rank all indexed items for each query; an item is relevant if it shares a label with the query. A query
that shares no label with any item counts with recall, precision and average precision 0, so that adding such queries
never raises a score.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from harmonium.metrics._relevance import Relevance
from harmonium.search import NearestNeighbours, rank_all

Coordinates: TypeAlias = ArrayLike | sp.sparray | sp.spmatrix
Labels: TypeAlias = ArrayLike | sp.sparray | sp.spmatrix

# Number of pairs of query and item handled at once, for temporary arrays of some tens of megabytes: a convention.
_BLOCK = 2**22


@dataclass(frozen=True)
class RetrievalReport:
    """Quality of retrieval in a latent space, averaged over queries.

    Parameters
    ----------
    cutoffs : ndarray of int64
        Numbers of retrieved items at which recall and precision are given.
    recall, precision : ndarray of float64
        Averages over queries, one value per cutoff.
    area : float
        Area under the averaged recall-precision curve.
    average_precision : float
        Mean over queries of the average precision.
    first_precision : float
        Precision of the single best item: the accuracy of one-nearest-neighbour classification.

    Examples
    --------
    >>> report = retrieval_report([[1.0, 0.0]], [[1.0, 0.1], [0.0, 1.0]], ["a"], ["a", "b"])
    >>> report.first_precision, report.average_precision
    (1.0, 1.0)
    """

    cutoffs: NDArray[np.int64]
    recall: NDArray[np.float64]
    precision: NDArray[np.float64]
    area: float
    average_precision: float
    first_precision: float


def retrieval_report(
    query_coords: Coordinates,
    index_coords: Coordinates,
    query_labels: Labels,
    index_labels: Labels,
    cutoffs: Sequence[int] | NDArray[Any] | None = None,
) -> RetrievalReport:
    """Compute all measures of retrieval in one pass over the queries.

    Parameters
    ----------
    query_coords : array-like or sparse of shape (n_queries, n_dimensions)
        Coordinates of the queries.
    index_coords : array-like or sparse of shape (n_items, n_dimensions)
        Coordinates of the items to retrieve.
    query_labels, index_labels : array-like or sparse
        Either both one-dimensional with the class of each row, or both binary indicator matrices of shape (n,
        n_labels), dense or sparse; an item that shares any label with the query is relevant.
    cutoffs : sequence of int or None, default=None
        Increasing numbers of retrieved items; ``None`` means 1, 2, 4, 8 and so on, and all items.

    Returns
    -------
    RetrievalReport
        Curve, area, mean average precision and precision of the first item.

    Examples
    --------
    >>> import numpy as np
    >>> index = np.array([[1.0, 0.0], [1.0, 0.5], [0.0, 1.0]])
    >>> report = retrieval_report([[1.0, 0.1]], index, [0], [0, 1, 0])
    >>> report.cutoffs
    array([1, 2, 3])
    >>> report.recall
    array([0.5, 0.5, 1. ])
    >>> round(report.average_precision, 4)
    0.8333
    """
    relevance = Relevance(query_labels, index_labels)
    marks = _check_cutoffs(cutoffs, relevance.n_items)
    # The precision of the first item is always reported, so it is counted even if no cutoff asks for it.
    counted = np.union1d(marks, [1])
    hits = np.zeros((relevance.n_queries, counted.size), dtype=np.int64)
    totals = np.zeros(relevance.n_queries, dtype=np.int64)
    precision_sums = np.zeros(relevance.n_queries)
    relevance.check_rows(query_coords, index_coords)
    for rows, ranking in rank_all(query_coords, index_coords):
        relevant = relevance.ranked(rows, ranking)
        # Sums between cutoffs are enough: no running total over all ranks is needed.
        starts = np.concatenate([[0], counted[:-1]])
        segments = np.add.reduceat(relevant[:, : counted[-1]], starts, axis=1, dtype=np.int64)
        hits[rows] = np.cumsum(segments, axis=1)
        totals[rows] = relevant.sum(axis=1)
        precision_sums[rows] = _precision_sums(relevant, totals[rows])
    if not totals.any():
        raise ValueError(
            "query_labels must share a label with index_labels, got none in common; take both from the same labelling."
        )
    found = np.maximum(totals, 1)
    chosen = np.isin(counted, marks)
    recall = (hits / found[:, None]).mean(axis=0)[chosen]
    precision = (hits / counted).mean(axis=0)
    return RetrievalReport(
        cutoffs=marks,
        recall=recall,
        precision=precision[chosen],
        area=area_under_recall_precision(recall, precision[chosen]),
        average_precision=float((precision_sums / found).mean()),
        first_precision=float(precision[0]),
    )


def recall_precision_curve(
    query_coords: Coordinates,
    index_coords: Coordinates,
    query_labels: Labels,
    index_labels: Labels,
    cutoffs: Sequence[int] | NDArray[Any] | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
    """Return recall and precision at increasing numbers of retrieved items.

    Parameters
    ----------
    query_coords : array-like or sparse of shape (n_queries, n_dimensions)
        Coordinates of the queries.
    index_coords : array-like or sparse of shape (n_items, n_dimensions)
        Coordinates of the items to retrieve.
    query_labels, index_labels : array-like or sparse
        Either both one-dimensional with the class of each row, or both binary indicator matrices of shape (n,
        n_labels), dense or sparse; an item that shares any label with the query is relevant.
    cutoffs : sequence of int or None, default=None
        Increasing numbers of retrieved items; ``None`` means 1, 2, 4, 8 and so on, and all items.

    Returns
    -------
    recall, precision : ndarray of float64
        Averages over queries, one value per cutoff.
    cutoffs : ndarray of int64
        The numbers of retrieved items.

    Examples
    --------
    >>> recall, precision, cutoffs = recall_precision_curve([[1.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]], [1], [1, 1])
    >>> recall, precision, cutoffs
    (array([0.5, 1. ]), array([1., 1.]), array([1, 2]))
    """
    report = retrieval_report(query_coords, index_coords, query_labels, index_labels, cutoffs)
    return report.recall, report.precision, report.cutoffs


def area_under_recall_precision(recall: ArrayLike, precision: ArrayLike) -> float:
    """Return the area under a recall-precision curve by the trapezoid rule.

    The curve is extended from its first point to recall 0 with the precision of that point, so that a perfect ranking
    has area 1. If no cutoff covers all items, the curve and the area end at the last recall reached.

    Parameters
    ----------
    recall : array-like of shape (n_cutoffs,)
        Recall in non-decreasing order.
    precision : array-like of shape (n_cutoffs,)
        Precision at the same cutoffs.

    Returns
    -------
    float
        Area between 0 and 1.

    Examples
    --------
    >>> area_under_recall_precision([0.5, 1.0], [1.0, 0.5])
    0.875
    """
    horizontal, vertical = np.asarray(recall, dtype=np.float64), np.asarray(precision, dtype=np.float64)
    if horizontal.ndim != 1 or horizontal.shape != vertical.shape or horizontal.size == 0:
        raise ValueError(
            "recall and precision must be 1-D, of one length and not empty, "
            f"got shapes {horizontal.shape} and {vertical.shape}; pass the two arrays of one curve."
        )
    for name, values in (("recall", horizontal), ("precision", vertical)):
        if not ((values >= 0) & (values <= 1)).all():
            raise ValueError(f"{name} must lie between 0 and 1, got values outside; pass fractions.")
    if (np.diff(horizontal) < 0).any():
        raise ValueError("recall must not decrease, got a decreasing sequence; order both arrays by cutoff.")
    return float(horizontal[0] * vertical[0] + np.trapezoid(vertical, horizontal))


def average_precision(
    query_coords: Coordinates, index_coords: Coordinates, query_labels: Labels, index_labels: Labels
) -> float:
    """Return the mean over queries of the average precision.

    The average precision of a query is the precision at the rank of a relevant item, averaged over its relevant items.

    Parameters
    ----------
    query_coords : array-like or sparse of shape (n_queries, n_dimensions)
        Coordinates of the queries.
    index_coords : array-like or sparse of shape (n_items, n_dimensions)
        Coordinates of the items to retrieve.
    query_labels, index_labels : array-like or sparse
        Either both one-dimensional with the class of each row, or both binary indicator matrices of shape (n,
        n_labels), dense or sparse; an item that shares any label with the query is relevant.

    Returns
    -------
    float
        Mean average precision.

    Examples
    --------
    >>> average_precision([[1.0, 0.0]], [[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]], ["a"], ["b", "a", "b"])
    0.5
    """
    return retrieval_report(query_coords, index_coords, query_labels, index_labels).average_precision


def precision_at(
    query_coords: Coordinates, index_coords: Coordinates, query_labels: Labels, index_labels: Labels, k: int
) -> float:
    """Return the fraction of relevant items among the ``k`` most similar ones.

    Parameters
    ----------
    query_coords : array-like or sparse of shape (n_queries, n_dimensions)
        Coordinates of the queries.
    index_coords : array-like or sparse of shape (n_items, n_dimensions)
        Coordinates of the items to retrieve.
    query_labels, index_labels : array-like or sparse
        Either both one-dimensional with the class of each row, or both binary indicator matrices of shape (n,
        n_labels), dense or sparse; an item that shares any label with the query is relevant.
    k : int
        Number of retrieved items, between 1 and the number of indexed items.

    Returns
    -------
    float
        Precision at ``k``, averaged over queries.

    Examples
    --------
    >>> precision_at([[1.0, 0.0]], [[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]], ["a"], ["b", "a", "b"], k=2)
    0.5
    """
    relevance = Relevance(query_labels, index_labels)
    relevance.check_rows(query_coords, index_coords)
    indices, _ = NearestNeighbours().fit(index_coords).query(query_coords, k)
    step = max(1, _BLOCK // relevance.n_items)
    hits = 0
    for start in range(0, relevance.n_queries, step):
        rows = slice(start, min(start + step, relevance.n_queries))
        hits += int(relevance.ranked(rows, indices[rows]).sum())
    return hits / indices.size


def _precision_sums(relevant: NDArray[np.bool_], totals: NDArray[np.int64]) -> NDArray[np.float64]:
    """Sum, for each row, the precision at the rank of each relevant item."""
    rows, places = np.nonzero(relevant)
    # In row-major order the relevant items of a row stand together, so an item's count is its offset in its row.
    first = np.cumsum(totals) - totals
    counts = np.arange(rows.size) - first[rows] + 1
    sums: NDArray[Any] = np.bincount(rows, weights=counts / (places + 1), minlength=totals.size)
    return sums


def _check_cutoffs(cutoffs: Sequence[int] | NDArray[Any] | None, n_items: int) -> NDArray[np.int64]:
    if cutoffs is None:
        powers = 2 ** np.arange(int(n_items).bit_length(), dtype=np.int64)
        return np.union1d(powers, [n_items])
    marks = np.asarray(cutoffs)
    if (
        marks.ndim != 1
        or marks.size == 0
        or marks.dtype.kind not in "iu"
        or marks.min() < 1
        or marks.max() > n_items
        or (np.diff(marks.astype(np.int64)) <= 0).any()
    ):
        raise ValueError(
            f"cutoffs must be increasing whole numbers between 1 and the number of index items ({n_items}), "
            f"got {cutoffs!r}; pass None for 1, 2, 4, 8 and so on."
        )
    return marks.astype(np.int64)
