"""Colourings of the map: what it can be coloured by, and the colour of each item in a byte."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from harmonium.model_folder import ModelFolder
from harmonium.report.summary.item_map import colouring

#: the byte of items without a colour
UNKNOWN = 255
# A column of texts with more different values colours nothing that one could read.
_MOST_LEVELS = 200


def colourings(folder: ModelFolder, labels: dict[int, str]) -> list[dict[str, str]]:
    """Return what the map can be coloured by.

    Parameters
    ----------
    folder : ModelFolder
        The folder.
    labels : dict of int to str
        Labels of the topics to offer, in order.

    Returns
    -------
    list of dict
        ``by``, as `colours_of` takes it, ``name`` and ``group``: "target", "column" or "topic".
    """
    targets = [] if folder.target is None else folder.target.columns.tolist()
    rest = [name for name in folder.items.columns if name not in targets and _is_colouring(folder.items[name])]
    return [
        *({"by": f"column:{name}", "name": name, "group": "target"} for name in targets),
        *({"by": f"column:{name}", "name": name, "group": "column"} for name in rest),
        *({"by": f"topic:{topic}", "name": f"{topic}: {label}", "group": "topic"} for topic, label in labels.items()),
    ]


def _is_colouring(values: pd.Series) -> bool:
    if values.dtype.kind in "iufb":
        return bool(values.nunique() > 1)
    texts = values.dropna()
    if texts.map(lambda value: not isinstance(value, str)).any():
        return False
    # one value for nearly every item is a name
    return bool(1 < texts.nunique() <= min(_MOST_LEVELS, max(2, len(texts) // 4)))


def colours_of(folder: ModelFolder, by: str) -> dict[str, Any]:
    """Return the colour of each item.

    Parameters
    ----------
    folder : ModelFolder
        The folder.
    by : str
        ``"column:NAME"`` or ``"topic:NUMBER"``.

    Returns
    -------
    dict
        ``kind``; for classes ``names``, for numbers ``low`` and ``high``; and ``values``: for classes the number among
        the names, for numbers from 0 to 254, and 255 where there is none.
    """
    group, _, name = by.partition(":")
    if group == "topic":
        numbers = [topic.number for topic in folder.model.fitted_.topics]
        values = pd.Series(folder.topic_coordinates[:, numbers.index(int(name))])
    else:
        values = folder.items[name]
    colours = colouring(values)
    steps = 1 if colours["kind"] == "class" else 254
    bytes_ = [UNKNOWN if value is None else round(value * steps) for value in colours.pop("values")]
    return {**colours, "by": by, "values": bytes_}


def pixel_coordinates(embedding: np.ndarray) -> dict[str, list[int]]:
    """Return ``x`` and ``y`` of items on the map as whole numbers from 0 to 65535, y growing downwards."""
    points = np.clip(embedding.astype(np.float64), -1, 1)
    x, y = np.rint((points[:, 0] + 1) / 2 * 65535), np.rint((1 - points[:, 1]) / 2 * 65535)
    return {"x": x.astype(int).tolist(), "y": y.astype(int).tolist()}
