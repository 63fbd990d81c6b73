"""Relevance of indexed items to queries, one block of queries at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray


class Relevance:
    """Relevance of indexed items to queries, by classes or by label indicators.

    Parameters
    ----------
    query_labels, index_labels : array-like or sparse
        Either both one-dimensional with the class of each row, or both binary indicator matrices with one column per
        label.

    Examples
    --------
    >>> import numpy as np
    >>> relevance = Relevance(["a", "b"], ["b", "a", "a"])
    >>> relevance.ranked(slice(0, 2), np.array([[0, 1, 2], [0, 1, 2]]))
    array([[False,  True,  True],
           [ True, False, False]])
    """

    def __init__(self, query_labels: Any, index_labels: Any) -> None:
        first, second = _as_labels(query_labels, "query_labels"), _as_labels(index_labels, "index_labels")
        if first.ndim != second.ndim:
            raise ValueError(
                f"query_labels and index_labels must be of one kind, got {first.ndim}-D and {second.ndim}-D; "
                "pass two class arrays or two indicator matrices."
            )
        self.query: Any
        self.index: Any
        self.by_class = first.ndim == 1
        if self.by_class:
            codes: dict[Any, int] = {}
            self.query, self.index = _encode_classes(first, codes), _encode_classes(second, codes)
        else:
            if first.shape[1] != second.shape[1]:
                raise ValueError(
                    f"query_labels must have as many columns as index_labels ({second.shape[1]}), got "
                    f"{first.shape[1]}; use one column per label in both."
                )
            self.query, self.index = _as_indicator(first, "query_labels"), _as_indicator(second, "index_labels").T
        self.n_queries, self.n_items = first.shape[0], second.shape[0]

    def check_rows(self, query_coords: Any, index_coords: Any) -> None:
        """Refuse coordinates that do not have one row for each row of the labels."""
        for name, coords, n_labels in (("query", query_coords, self.n_queries), ("index", index_coords, self.n_items)):
            n_rows = np.shape(coords)[0] if np.ndim(coords) or sp.issparse(coords) else 0
            if n_rows != n_labels:
                raise ValueError(
                    f"{name}_labels must have one entry for each row of {name}_coords ({n_rows}), got {n_labels}; "
                    "pass labels and coordinates of the same items."
                )

    def ranked(self, rows: slice, ranking: NDArray[Any]) -> NDArray[np.bool_]:
        """Return whether each ranked item is relevant to its query.

        Parameters
        ----------
        rows : slice
            The queries of the block.
        ranking : ndarray of shape (block, n_ranked)
            Indexed items in the order of their rank.

        Returns
        -------
        ndarray of bool of shape (block, n_ranked)
            Relevance in the order of the ranking.
        """
        if self.by_class:
            return self.index[ranking] == self.query[rows][:, None]
        shared = (self.query[rows] @ self.index).toarray() > 0
        return np.take_along_axis(shared, ranking, axis=1)


def _as_labels(labels: Any, name: str) -> Any:
    array = labels if sp.issparse(labels) else np.asarray(labels)
    if array.ndim not in (1, 2) or 0 in array.shape:
        raise ValueError(
            f"{name} must be a 1-D array of classes or a 2-D indicator matrix, got shape {array.shape}; reshape it."
        )
    return array


def _encode_classes(labels: Any, codes: dict[Any, int]) -> NDArray[np.int32]:
    if sp.issparse(labels):
        labels = labels.toarray()
    values = labels.tolist()
    # A missing class equals no other: it would lower the scores silently.
    if any(value is None or value != value for value in values):
        raise ValueError("labels must not be missing, got None or NaN; leave those rows out.")
    return np.array([codes.setdefault(value, len(codes)) for value in values], dtype=np.int32)


def _as_indicator(labels: Any, name: str) -> Any:
    matrix = sp.csr_array(labels, copy=True)  # the caller's matrix stays as it is
    matrix.sum_duplicates()
    if matrix.data.dtype.kind not in "biuf" or not np.isin(matrix.data, (0, 1)).all():
        raise ValueError(f"{name} must hold only 0 and 1 when it is 2-D, got other values; pass labels > 0.")
    # Shared labels are counted, and a count of 8 bits would overflow.
    matrix = matrix.astype(np.int32)
    matrix.eliminate_zeros()
    return matrix
