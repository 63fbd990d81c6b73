"""Summary of some selected items: their topics, their classes, and the most typical of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from harmonium.model_folder import ModelFolder
from harmonium.model_folder.json_values import json_value

# topics, classes and items that are listed: as many as a panel has room for
_TOPICS, _CLASSES, _ITEMS = 6, 6, 12
# more different numbers than this are described by their mean alone: a convention
_MOST_NUMBERS = 20


def selection_summary(folder: ModelFolder, rows: np.ndarray, labels: Mapping[int, str]) -> dict[str, Any]:
    """Return what is special about some items.

    Parameters
    ----------
    folder : ModelFolder
        The folder.
    rows : ndarray of int
        Numbers of the items, each once.
    labels : mapping of int to str
        Labels of the topics to list.

    Returns
    -------
    dict
        The number ``n`` of items; ``topics`` that they have more of than all items, in standard deviations, the most
        first; ``target``, how it is distributed; and ``items``, numbers of those that show most of these topics.
    """
    everything = folder.topic_coordinates.astype(np.float64)
    mean, spread = everything.mean(axis=0), np.maximum(everything.std(axis=0), 1e-12)
    own = (everything[rows] - mean) / spread
    ahead = own.mean(axis=0)
    numbers = [topic.number for topic in folder.model.fitted_.topics]
    order = [int(place) for place in np.argsort(-ahead, kind="stable") if numbers[place] in labels][:_TOPICS]
    typical = np.argsort(-own @ ahead, kind="stable")[:_ITEMS]
    return {
        "n": len(rows),
        "topics": [
            {"topic": numbers[place], "label": labels[numbers[place]], "ahead": float(ahead[place])} for place in order
        ],
        "target": _target_summary(folder, rows),
        "items": rows[typical].tolist(),
    }


def _target_summary(folder: ModelFolder, rows: np.ndarray) -> dict[str, Any] | None:
    """Return how the first target is distributed over some items; None if there is none."""
    target = folder.target
    if target is None:
        return None
    values = target.iloc[rows, 0].dropna()
    is_number = values.dtype.kind in "iuf"
    shares = values.astype(str).value_counts(normalize=True).head(_CLASSES)
    if is_number and target.iloc[:, 0].nunique() > _MOST_NUMBERS:
        shares = shares[:0]
    return {
        "column": target.columns[0],
        "mean": json_value(values.mean()) if is_number else None,
        "classes": [{"name": str(name), "share": float(share)} for name, share in shares.items()],
    }
