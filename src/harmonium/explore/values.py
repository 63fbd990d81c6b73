"""Values by which the map is coloured and filtered: columns of the items, and their topics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from harmonium.model_folder import ModelFolder
from harmonium.report.summary.column_values import ColumnValues, column_values, plain_values


class Values(Mapping[str, ColumnValues]):
    """Columns and topics of the items by ``"column:NAME"`` and ``"topic:NUMBER"``, each read when it is asked for.

    Parameters
    ----------
    folder : ModelFolder
        The folder.
    labels : mapping of int to str
        Labels of the topics to offer, in order.
    """

    def __init__(self, folder: ModelFolder, labels: Mapping[int, str]) -> None:
        self.folder, self.labels = folder, labels
        self._read: dict[str, ColumnValues] = {}
        columns = folder.items.columns.tolist()
        self._names = [*(f"column:{name}" for name in columns), *(f"topic:{topic}" for topic in labels)]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __getitem__(self, by: str) -> ColumnValues:
        if by not in self._read:
            if by not in self._names:
                raise KeyError(by)
            self._read[by] = column_values(by.partition(":")[2], self.series(by))
        return self._read[by]

    def series(self, by: str) -> pd.Series:
        """Return the values as the folder keeps them."""
        group, _, name = by.partition(":")
        if group == "column":
            return self.folder.items[name]
        numbers = [topic.number for topic in self.folder.model.fitted_.topics]
        return pd.Series(self.folder.topic_coordinates[:, numbers.index(int(name))].astype(np.float64))

    @cached_property
    def offered(self) -> list[dict[str, str]]:
        """What the map can be coloured and filtered by: ``by``, ``name``, ``kind``, and ``group``, targets first.

        Groups are "target", "column" and "topic".
        """
        targets = [] if self.folder.target is None else self.folder.target.columns.tolist()
        names = [*targets, *(name for name in self.folder.items.columns if name not in targets)]
        columns = [(f"column:{name}", name, "target" if name in targets else "column") for name in names]
        topics = [(f"topic:{topic}", f"{topic}: {label}", "topic") for topic, label in self.labels.items()]
        return [
            {"by": by, "name": name, "kind": self[by].kind, "group": group}
            for by, name, group in (*columns, *topics)
            if self[by].can_filter and self[by].kind != "text"
        ]

    def plain(self, by: str) -> dict[str, Any]:
        """Return the values of all items as JSON can hold them."""
        return {"by": by, **plain_values(self[by])}


def pixel_coordinates(embedding: np.ndarray) -> dict[str, list[int]]:
    """Return ``x`` and ``y`` of items on the map as whole numbers from 0 to 65535, y growing downwards."""
    points = np.clip(embedding.astype(np.float64), -1, 1)
    x, y = np.rint((points[:, 0] + 1) / 2 * 65535), np.rint((1 - points[:, 1]) / 2 * 65535)
    return {"x": x.astype(int).tolist(), "y": y.astype(int).tolist()}
