"""Predictions for rows that the model which made them had not seen, and what they are worth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Rows that were held out, what is true of them, and what was predicted.

    Parameters
    ----------
    rows : ndarray of int64 of shape (n_rows,)
        Their numbers among the items.
    truth : ndarray of shape (n_rows, n_columns)
        Class numbers (-1 where they are unknown), numbers, or 0 and 1 for labels (NaN where they are unknown), in
        float64.
    predicted : ndarray of shape (n_rows, n_outputs)
        Probabilities of the classes, those of each column side by side; predicted numbers; or probabilities of labels,
        in float64.
    scores : dict
        What the predictions are worth, beside those of simpler models, as JSON can hold it; see
        `harmonium.collection.scoring`.

    Examples
    --------
    >>> held_out = HeldOut(np.array([3, 8]), np.array([[0.0], [1.0]]), np.array([[0.9, 0.1], [0.4, 0.6]]))
    >>> len(held_out)
    2
    """

    rows: np.ndarray
    truth: np.ndarray
    predicted: np.ndarray
    scores: dict[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.rows)

    def among(self, kept: np.ndarray) -> HeldOut:
        """Return those of the rows that are kept, numbered among these.

        Scores stay those of all rows.

        Parameters
        ----------
        kept : ndarray of int64
            Numbers of the items that are kept, in order.

        Returns
        -------
        HeldOut
            The rows that are kept.

        Examples
        --------
        >>> HeldOut(np.array([3, 8]), np.zeros((2, 1)), np.zeros((2, 1))).among(np.array([0, 2, 8])).rows.tolist()
        [2]
        """
        is_kept = np.isin(self.rows, kept)
        numbers = np.searchsorted(kept, self.rows[is_kept]).astype(np.int64)
        return HeldOut(numbers, self.truth[is_kept], self.predicted[is_kept], self.scores)

    def tensors(self) -> dict[str, np.ndarray]:
        """Return the arrays, as a folder keeps them.

        Returns
        -------
        dict of str to ndarray
            Arrays by name.
        """
        return {
            "held_out/rows": np.asarray(self.rows, dtype=np.int64),
            "held_out/truth": np.asarray(self.truth, dtype=np.float64),
            "held_out/predicted": np.asarray(self.predicted, dtype=np.float64),
        }

    @classmethod
    def restored(cls, tensors: Mapping[str, np.ndarray], scores: dict[str, Any], n_items: int) -> Self:
        """Return the held-out rows that `tensors` described.

        Parameters
        ----------
        tensors : mapping of str to ndarray
            What `tensors` returned, among others.
        scores : dict
            What the predictions are worth.
        n_items : int
            Number of items.

        Returns
        -------
        HeldOut
            The same rows and predictions.

        Raises
        ------
        ValueError
            If the arrays are no such thing.
        """
        found = {name: tensors[f"held_out/{name}"] for name in ("rows", "truth", "predicted")}
        rows = found["rows"]
        if any(len(value) != len(rows) or value.ndim != 2 - (name == "rows") for name, value in found.items()):
            raise ValueError("held-out rows, truth and predictions of different lengths")
        if rows.dtype != np.int64 or (len(rows) and not (rows.min() >= 0 and rows.max() < n_items)):
            raise ValueError("held-out rows that are no items")
        return cls(scores=scores, **found)
