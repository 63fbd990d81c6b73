"""Cards of items, for where there is little room: a title, the beginning of the text, and the target."""

from __future__ import annotations

import base64
from functools import cached_property
from typing import Any

import numpy as np

from harmonium.model_folder import ModelFolder
from harmonium.model_folder.json_values import json_value

# names of columns that hold titles, in small letters; the first that is there is taken
_TITLES = ("title", "name", "headline", "subject", "label")
# letters of titles and excerpts: as many as fit into one line and three
_TITLE, _EXCERPT = 80, 200


class Cards:
    """Cards of the items of a folder.

    Parameters
    ----------
    folder : ModelFolder
        The folder.

    Examples
    --------
    >>> shortened("A long story about a hotel", 12)
    'A long story…'
    """

    def __init__(self, folder: ModelFolder) -> None:
        self.folder = folder

    @cached_property
    def title_column(self) -> str | None:
        """The column that holds titles, if there is one."""
        by_name = {name.lower(): name for name in reversed(self.folder.items.columns.tolist())}
        return next((by_name[name] for name in _TITLES if name in by_name and by_name[name] not in self.targets), None)

    @cached_property
    def text_column(self) -> str | None:
        """The column with the longest texts on average, if there are texts."""
        items, length = self.folder.items, {}
        for name in items.columns:
            if items[name].dtype == object and name not in (*self.targets, self.title_column):
                texts = items[name].iloc[:200].dropna()
                if len(texts) and texts.map(lambda value: isinstance(value, str)).all():
                    length[name] = texts.str.len().mean()
        return max(length, key=length.__getitem__, default=None)

    @cached_property
    def targets(self) -> list[str]:
        """The columns that are predicted."""
        return [] if self.folder.target is None else self.folder.target.columns.tolist()

    def card(self, row: int) -> dict[str, Any]:
        """Return what is shown of an item.

        Parameters
        ----------
        row : int
            Its number.

        Returns
        -------
        dict
            ``row``, ``title``, ``excerpt`` of its text (None if there is none), ``target`` (its values by column) and
            ``has_picture``.
        """
        text = self._text(row, self.text_column)
        named = self._text(row, self.title_column)
        title = shortened(named or text or f"item {row}", _TITLE)
        if named is None and text is not None:  # the text goes on where its title ends
            text = " ".join(text.split())[len(title.removesuffix("…")) :].lstrip(" .,;:!?-") or None
        return {
            "row": int(row),
            "title": title,
            "excerpt": None if text is None else shortened(text, _EXCERPT),
            "target": {name: json_value(self._cells[name][row]) for name in self.targets},
            "has_picture": self.picture(row) is not None,
        }

    @cached_property
    def _cells(self) -> dict[str, np.ndarray]:
        """The columns that cards show: a cell of an array is found much faster than a row of a frame."""
        shown = (*self.targets, self.title_column, self.text_column)
        return {name: self.folder.items[name].to_numpy() for name in shown if name is not None}

    def _text(self, row: int, column: str | None) -> str | None:
        value = None if column is None else json_value(self._cells[column][row])
        return None if value is None else str(value).strip() or None

    def picture(self, row: int) -> bytes | None:
        """Return the small picture of an item as the bytes of a PNG file; None if it has none."""
        return None if self.folder.thumbnails is None else self.folder.thumbnails[row]

    def with_picture(self, row: int) -> dict[str, Any]:
        """Return what is shown of an item, with its picture as an address that holds it."""
        picture = self.picture(row)
        address = None if picture is None else f"data:image/png;base64,{base64.b64encode(picture).decode('ascii')}"
        return {**self.card(row), "picture": address}


def shortened(text: str, length: int) -> str:
    """Return a text, cut between words if it is longer than some letters."""
    flat = " ".join(text.split())
    if len(flat) <= length:
        return flat
    cut = flat[: length + 1].rsplit(" ", 1)[0]
    return (cut if len(cut) > length // 2 else flat[:length]).rstrip(" ,.;:-") + "…"
