"""Precision, recall and F1 of annotation: the labels with the highest scores against the labels that an item has.

The labels of an item are ranked by score; of equal scores the one in the lower column comes first. An item without any
relevant label has no right answer and is left out of all measures.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, overload

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

Indicator: TypeAlias = ArrayLike | sp.sparray | sp.spmatrix
Average: TypeAlias = Literal["item", "micro", "label"]

# Number of scores handled at once, for temporary arrays of some tens of megabytes each: a convention.
_BLOCK = 2**22


@overload
def f1_at(scores: ArrayLike, relevant: Indicator, n: int, average: Average = "item") -> float: ...
@overload
def f1_at(
    scores: ArrayLike, relevant: Indicator, n: Sequence[int] | NDArray[Any], average: Average = "item"
) -> NDArray[np.float64]: ...
def f1_at(
    scores: ArrayLike, relevant: Indicator, n: int | Sequence[int] | NDArray[Any], average: Average = "item"
) -> float | NDArray[np.float64]:
    """Return the F1 measure of the ``n`` labels with the highest scores.

    Parameters
    ----------
    scores : array-like of shape (n_items, n_labels)
        How well each label fits each item; higher is better.
    relevant : array-like or sparse of shape (n_items, n_labels)
        1 where the item has the label, otherwise 0. Items without any label are left out.
    n : int or sequence of int
        Number of labels given to each item.
    average : {"item", "micro", "label"}, default="item"
        ``"item"`` is the mean F1 of the items; ``"micro"`` is the F1 of the hits of all items together; ``"label"`` is
        the mean F1 of the labels that any item has.

    Returns
    -------
    float or ndarray of float64
        Values between 0 and 1, one for each ``n``.

    Notes
    -----
    If an item has r relevant labels and h of them are among its ``n`` best, its precision is h / n, its recall h / r,
    and their harmonic mean 2 h / (n + r).

    Examples
    --------
    >>> scores = [[0.9, 0.5, 0.1], [0.2, 0.3, 0.4]]
    >>> relevant = [[1, 0, 1], [0, 0, 1]]
    >>> round(f1_at(scores, relevant, 1), 4)
    0.8333
    >>> f1_at(scores, relevant, [1, 3], average="micro")
    array([0.8       , 0.66666667])
    """
    if average not in ("item", "micro", "label"):
        raise ValueError(f"average must be 'item', 'micro' or 'label', got {average!r}; 'item' is usual.")
    values, indicator = _check(scores, relevant)
    cutoffs = _check_cutoffs(np.atleast_1d(n), n, "n", values.shape[1])
    counts = _Counts(values, indicator, int(cutoffs.max()))
    measured = np.array([counts.f1(int(cutoff), average) for cutoff in cutoffs])
    return float(measured[0]) if np.ndim(n) == 0 else measured


@dataclass(frozen=True)
class AnnotationReport:
    """Quality of an annotation for several numbers of labels per item.

    Parameters
    ----------
    table : DataFrame
        One row per cutoff, the number of labels given to each item. ``precision``, ``recall`` and ``f1`` are means over
        items; ``micro_f1`` is the F1 of all hits together. ``label_precision``, ``label_recall`` and ``label_f1`` are
        means over the labels that any item has; a label that is never given has precision 0. ``labels_recalled`` is the
        number of labels with a recall above 0, often written N+.
    mean_average_precision : float
        Average precision of ranking the items by the score of a label, averaged over the labels that any item has.
        Items of equal score share a rank, so their order does not matter.
    n_items : int
        Number of items with at least one relevant label.
    n_labels : int
        Number of labels that any item has.

    Examples
    --------
    >>> report = annotation_report([[0.9, 0.5, 0.1], [0.2, 0.3, 0.4]], [[1, 0, 1], [0, 0, 1]], cutoffs=[1])
    >>> report.mean_average_precision, report.n_items, report.n_labels
    (1.0, 2, 2)
    """

    table: pd.DataFrame
    mean_average_precision: float
    n_items: int
    n_labels: int


def annotation_report(
    scores: ArrayLike, relevant: Indicator, cutoffs: Sequence[int] | NDArray[Any] = (3, 4, 5, 6, 7)
) -> AnnotationReport:
    """Compute all measures of an annotation for several numbers of labels.

    Parameters
    ----------
    scores : array-like of shape (n_items, n_labels)
        How well each label fits each item; higher is better.
    relevant : array-like or sparse of shape (n_items, n_labels)
        1 where the item has the label, otherwise 0. Items without any label are left out.
    cutoffs : sequence of int, default=(3, 4, 5, 6, 7)
        Numbers of labels given to each item. The default is the choice of Chen, Zhu, Sun and Xing [1]_, figure 7.

    Returns
    -------
    AnnotationReport
        The table of measures and the mean average precision.

    References
    ----------
    .. [1] N. Chen, J. Zhu, F. Sun and E. P. Xing, "Large-margin predictive latent subspace learning for multiview data
       analysis", IEEE Transactions on Pattern Analysis and Machine Intelligence 34(12), 2012.

    Examples
    --------
    >>> report = annotation_report([[0.9, 0.5, 0.1], [0.2, 0.3, 0.4]], [[1, 0, 1], [0, 0, 1]], cutoffs=[1, 2])
    >>> report.table[["precision", "recall", "f1", "labels_recalled"]].round(4)
            precision  recall      f1  labels_recalled
    cutoff
    1             1.0    0.75  0.8333                2
    2             0.5    0.75  0.5833                2
    """
    values, indicator = _check(scores, relevant)
    marks = _check_cutoffs(np.asarray(cutoffs), cutoffs, "cutoffs", values.shape[1])
    counts = _Counts(values, indicator, int(marks.max()))
    return AnnotationReport(
        table=pd.DataFrame([counts.measures(int(mark)) for mark in marks], index=pd.Index(marks, name="cutoff")),
        mean_average_precision=_mean_average_precision(values, indicator),
        n_items=values.shape[0],
        n_labels=int(counts.occurring.sum()),
    )


class _Counts:
    """Labels given and labels hit, for any number of labels per item up to ``n``."""

    def __init__(self, scores: NDArray[Any], relevant: Any, n: int) -> None:
        n_items, self.n_labels = scores.shape
        self.columns, self.places = _best(scores, n)
        starts = np.arange(0, n_items * n + 1, n)
        given = sp.csr_array((self.places.ravel(), self.columns.ravel(), starts), shape=scores.shape)
        # The product holds the rank of each relevant label that is given, and is as sparse as the sparser factor.
        hits = relevant.multiply(given).tocoo()
        self.hit_items, self.hit_labels = hits.row, hits.col
        self.hit_places = hits.data
        self.item_totals = np.diff(relevant.indptr)
        self.label_totals = np.bincount(relevant.indices, minlength=self.n_labels)
        self.occurring = self.label_totals > 0

    def item_hits(self, n: int) -> NDArray[Any]:
        return np.bincount(self.hit_items[self.hit_places <= n], minlength=self.item_totals.size)

    def label_hits(self, n: int) -> NDArray[Any]:
        return np.bincount(self.hit_labels[self.hit_places <= n], minlength=self.n_labels)

    def label_given(self, n: int) -> NDArray[Any]:
        return np.bincount(self.columns[self.places <= n], minlength=self.n_labels)

    def f1(self, n: int, average: Average) -> float:
        if average == "label":
            each = 2 * self.label_hits(n) / np.maximum(self.label_given(n) + self.label_totals, 1)
            return float(each[self.occurring].mean())
        hits, sizes = self.item_hits(n), n + self.item_totals
        return float(2 * hits.sum() / sizes.sum() if average == "micro" else (2 * hits / sizes).mean())

    def measures(self, n: int) -> dict[str, float | int]:
        item_hits, label_hits = self.item_hits(n), self.label_hits(n)[self.occurring]
        return {
            "precision": float((item_hits / n).mean()),
            "recall": float((item_hits / self.item_totals).mean()),
            "f1": self.f1(n, "item"),
            "micro_f1": self.f1(n, "micro"),
            "label_precision": float((label_hits / np.maximum(self.label_given(n)[self.occurring], 1)).mean()),
            "label_recall": float((label_hits / self.label_totals[self.occurring]).mean()),
            "label_f1": self.f1(n, "label"),
            "labels_recalled": int(np.count_nonzero(label_hits)),
        }


def _best(scores: NDArray[Any], n: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the columns of the ``n`` best labels of each row, in column order, and the rank of each, from 1."""
    n_items, n_labels = scores.shape
    columns, places = np.empty((n_items, n), dtype=np.int32), np.empty((n_items, n), dtype=np.int32)
    step = max(1, _BLOCK // n_labels)
    for start in range(0, n_items, step):
        block = scores[start : start + step]
        last = np.partition(block, n_labels - n, axis=1)[:, n_labels - n, None]
        above, tied = block > last, block == last
        # A partition keeps any of several tied labels, so the leftmost are found by counting.
        free = n - above.sum(axis=1, keepdims=True)
        chosen = np.nonzero(above | (tied & (np.cumsum(tied, axis=1) <= free)))[1].reshape(-1, n)
        order = np.argsort(-np.take_along_axis(block, chosen, axis=1), axis=1, kind="stable")
        columns[start : start + step] = chosen
        np.put_along_axis(places[start : start + step], order, np.arange(1, n + 1, dtype=np.int32)[None], axis=1)
    return columns, places


def _mean_average_precision(scores: NDArray[Any], relevant: Any) -> float:
    n_items, n_labels = scores.shape
    by_label = relevant.tocsc()
    precisions: list[float] = []
    step = max(1, _BLOCK // n_items)
    for start in range(0, n_labels, step):
        # Rows of a transposed copy are contiguous in memory; columns of the scores are not.
        ranked = np.ascontiguousarray(scores[:, start : start + step].T)
        wanted = [
            ranked[row, by_label.indices[by_label.indptr[label] : by_label.indptr[label + 1]]]
            for row, label in enumerate(range(start, start + len(ranked)))
        ]
        ranked.sort(axis=1)
        precisions += [_average_precision(row, found) for row, found in zip(ranked, wanted, strict=True) if found.size]
    return float(np.mean(precisions))


def _average_precision(ranked: NDArray[Any], found: NDArray[Any]) -> float:
    """Return the mean precision at the relevant scores; ``ranked`` are all scores in ascending order."""
    found = np.sort(found)
    retrieved = ranked.size - np.searchsorted(ranked, found, side="left")
    hits = found.size - np.searchsorted(found, found, side="left")
    return float((hits / retrieved).mean())


def _check(scores: Any, relevant: Any) -> tuple[NDArray[Any], Any]:
    """Return scores and a canonical sparse indicator of the items that have a label, as copies where needed."""
    values = _check_scores(scores)
    indicator = relevant if sp.issparse(relevant) else np.asarray(relevant)
    if indicator.shape != values.shape:
        raise ValueError(
            f"relevant must have the shape of scores {values.shape}, got {indicator.shape}; "
            "use one row per item and one column per label in both."
        )
    if indicator.dtype.kind not in "biuf":
        raise ValueError(f"relevant must hold only 0 and 1, got values of type {indicator.dtype}; pass an indicator.")
    matrix = sp.csr_array(indicator)
    if not matrix.has_canonical_format:
        # Duplicates are summed in place, and the arrays may be the caller's.
        matrix = matrix.copy()
        matrix.sum_duplicates()
    if not np.isin(matrix.data, (0, 1)).all():
        raise ValueError("relevant must hold only 0 and 1, got other values; pass labels > 0.")
    # A copy, because stored zeros are dropped in place.
    matrix = matrix.astype(np.int32, copy=True)
    matrix.eliminate_zeros()
    labelled = np.diff(matrix.indptr) > 0
    if not labelled.any():
        raise ValueError("relevant must give at least one item a label, got none; pass items with known labels.")
    return (values, matrix) if labelled.all() else (values[labelled], matrix[labelled])


def _check_scores(scores: Any) -> NDArray[Any]:
    if sp.issparse(scores):
        raise ValueError("scores must be dense, got a sparse matrix; pass scores.toarray().")
    values = np.asarray(scores)
    if values.ndim != 2 or 0 in values.shape:
        raise ValueError(
            f"scores must have one row per item and one column per label, got shape {values.shape}; reshape it."
        )
    if values.dtype.kind not in "biuf":
        raise ValueError(f"scores must be numbers, got values of type {values.dtype}; convert them.")
    if values.dtype.kind != "f":
        values = values.astype(np.float64)
    if np.isnan(values).any():
        raise ValueError("scores must not be missing, got NaN; leave those items out or score them lowest.")
    return values


def _check_cutoffs(cutoffs: NDArray[Any], given: Any, name: str, n_labels: int) -> NDArray[np.int64]:
    if (
        cutoffs.ndim != 1
        or cutoffs.size == 0
        or cutoffs.dtype.kind not in "iu"
        or cutoffs.min() < 1
        or cutoffs.max() > n_labels
    ):
        raise ValueError(
            f"{name} must be whole numbers between 1 and the number of labels ({n_labels}), got {given!r}; "
            "ask for fewer labels per item."
        )
    return cutoffs.astype(np.int64)
