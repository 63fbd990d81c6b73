"""Embeddings of items and queries, side by side, as a search compares them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from harmonium.search import unit_rows
from harmonium.views import Views


class ItemEmbeddings:
    """Embeddings of items, whose cosines say how much items mean the same.

    Encoders put all texts of a kind on one side of their space, so that cosines are those of the differences from the
    mean item. Each view counts the same.

    Parameters
    ----------
    by_view : mapping of str to ndarray of shape (n_items, dimension)
        Embeddings by view; items without one have zeros.

    Attributes
    ----------
    rows : ndarray of shape (n_items, sum of dimensions)
        What is compared by cosine.

    Examples
    --------
    >>> ItemEmbeddings({"text": np.array([[3.0, 1.0], [3.0, -1.0], [0.0, 0.0]])}).rows.round(6).tolist()
    [[0.0, 1.0], [0.0, -1.0], [0.0, 0.0]]
    """

    def __init__(self, by_view: Mapping[str, np.ndarray]) -> None:
        unit = {view: unit_rows(rows, view) for view, rows in by_view.items()}
        self._centres = {view: rows.sum(axis=0) / max(int(rows.any(axis=1).sum()), 1) for view, rows in unit.items()}
        self.rows = self._joined(unit)

    def of_queries(self, views: Views) -> np.ndarray | None:
        """Return the embedding of queries.

        Parameters
        ----------
        views : Views
            Views of the queries.

        Returns
        -------
        ndarray of shape (n_queries, sum of dimensions) or None
            None if no query has one.
        """
        there = {view: self._of_view(views, view) for view in self._centres if view in views.names}
        lacking = {view: np.zeros((len(views), len(centre))) for view, centre in self._centres.items()}
        joined = self._joined({view: unit_rows(rows, view) for view, rows in (lacking | there).items()})
        return joined if joined.any() else None

    def _of_view(self, views: Views, view: str) -> np.ndarray:
        """Return the rows of a view, of zeros where they are missing."""
        source = views.source(view)
        rows = np.nan_to_num(source.matrix)[np.maximum(source.rows, 0)]
        return np.where((source.rows >= 0)[:, None], rows, 0.0)

    def _joined(self, unit: Mapping[str, np.ndarray]) -> np.ndarray:
        """Return differences from the mean item, in rows of length 1 for each view, or of zeros."""
        parts = [
            unit_rows(np.where(rows.any(axis=1, keepdims=True), rows - self._centres[view], 0.0), view)
            for view, rows in unit.items()
        ]
        return np.concatenate(parts, axis=1)
