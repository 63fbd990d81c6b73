"""The map of a report: location and colour of items."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from harmonium.model_folder import ModelFolder
from harmonium.model_folder.json_values import json_value
from harmonium.report.summary.cards import Cards

# Points of a map in a page without scripts, and pictures along each side: as many as a page bears.
_POINTS = 3000
_PICTURES_ALONG = 16
# Side of a picture as a share of that of the map, as the template draws it.
_PICTURE_SIDE = 44 / 980
#: classes with colours of their own
MOST_CLASSES = 10


def colouring(values: pd.Series) -> dict[str, Any]:
    """Return how a column colours items.

    Parameters
    ----------
    values : Series
        A value for each item.

    Returns
    -------
    dict
        ``kind``, "class" or "number". For classes ``names``, the most frequent first, and ``values``, the number of
        each item's class among them, None for missing ones and for classes without a colour. For numbers ``low``,
        ``high`` and ``values`` between 0 and 1, None for missing ones.

    Examples
    --------
    >>> colouring(pd.Series(["sea", "sky", "sea", None]))
    {'kind': 'class', 'names': ['sea', 'sky'], 'values': [0, 1, 0, None]}
    >>> colouring(pd.Series([2.0, 2.5, 3.0, np.nan]))["values"]
    [0.0, 0.5, 1.0, None]
    """
    if values.dtype.kind in "iuf" and values.nunique() > 2:
        return _scale(values.to_numpy(dtype=np.float64))
    texts = pd.Series([None if json_value(value) is None else str(json_value(value)) for value in values], dtype=object)
    counts = texts.value_counts()
    names = counts.index[:MOST_CLASSES].tolist()
    codes = {name: code for code, name in enumerate(names)}
    return {"kind": "class", "names": names, "values": [codes.get(text) for text in texts]}


def _scale(numbers: np.ndarray) -> dict[str, Any]:
    """Return numbers as shares of the way from the smallest to the largest of all but the outermost hundredths."""
    finite = numbers[np.isfinite(numbers)]
    low, high = np.quantile(finite, [0.01, 0.99]) if len(finite) else (0.0, 1.0)
    shares = np.clip((numbers - low) / (high - low if high > low else 1.0), 0, 1)
    values = [round(float(share), 4) if np.isfinite(share) else None for share in shares]
    return {"kind": "number", "low": float(low), "high": float(high), "values": values}


def map_summary(folder: ModelFolder, cards: Cards) -> dict[str, Any]:
    """Return the map of a folder, for a page without scripts.

    Parameters
    ----------
    folder : ModelFolder
        The folder.
    cards : Cards
        What is shown of its items.

    Returns
    -------
    dict
        ``n`` of all items; ``x`` and ``y`` between 0 and 1 of up to 3,000 of them, evenly spaced, with their ``rows``;
        ``colour``, the `colouring` of these by the first target (None if there is none), and its ``column``; and
        ``pictures`` of some items that do not cover each other, each with x, y and its address.
    """
    rows = np.unique(np.linspace(0, len(folder) - 1, min(len(folder), _POINTS)).astype(int))
    locations = (np.clip(folder.map.astype(np.float64), -1, 1) + 1) / 2
    target = folder.target
    column = None if target is None else target.columns[0]
    return {
        "n": len(folder),
        "rows": rows.tolist(),
        "x": [round(float(x), 4) for x in locations[rows, 0]],
        "y": [round(float(y), 4) for y in locations[rows, 1]],
        "column": column,
        "colour": None if target is None else colouring(target.iloc[rows, 0]),
        "pictures": [] if folder.thumbnails is None else _pictures(locations, cards),
    }


def _pictures(locations: np.ndarray, cards: Cards) -> list[dict[str, Any]]:
    """Return the pictures nearest to the middle of cells of a grid, without those that would cover others."""
    cells = np.minimum((locations * _PICTURES_ALONG).astype(int), _PICTURES_ALONG - 1)
    off = np.abs(locations * _PICTURES_ALONG - cells - 0.5).max(axis=1)
    nearest: dict[tuple[int, ...], int] = {}
    for row in np.argsort(off, kind="stable").tolist():
        if cards.picture(row) is not None:
            nearest.setdefault(tuple(cells[row].tolist()), row)
    shown: list[int] = []
    for row in nearest.values():
        if not len(shown) or np.abs(locations[shown] - locations[row]).max(axis=1).min() >= _PICTURE_SIDE:
            shown.append(row)
    return [{"x": float(locations[row, 0]), "y": float(locations[row, 1]), **cards.with_picture(row)} for row in shown]
