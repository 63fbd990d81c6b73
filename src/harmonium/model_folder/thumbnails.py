"""Small pictures of items, kept as the bytes of PNG files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from harmonium.core.extras import require

_START = b"\x89PNG\r\n\x1a\n"


@dataclass(frozen=True, eq=False)
class Thumbnails:
    """Small pictures of items; some may have none.

    Parameters
    ----------
    content : ndarray of uint8
        The files, one after the other.
    ends : ndarray of int64 of shape (n_items,)
        Where each ends; an item without a picture has no bytes.

    Examples
    --------
    >>> import numpy as np
    >>> pictures = Thumbnails.of([np.zeros((8, 8, 3), dtype=np.uint8), None])
    >>> pictures[0][:4], pictures[1]
    (b'\\x89PNG', None)
    """

    content: np.ndarray
    ends: np.ndarray

    @classmethod
    def of(cls, images: Sequence[Any], side: int = 64) -> Self:
        """Return thumbnails of pictures.

        Parameters
        ----------
        images : sequence of ndarray of uint8, or None
            Grey or colour pictures, None for items without one.
        side : int, default=64
            Length of the longer side in pixels; smaller pictures stay as they are.

        Returns
        -------
        Thumbnails
            One for each.
        """
        files = [b"" if image is None else _png(image, side) for image in images]
        return cls(
            np.frombuffer(b"".join(files), dtype=np.uint8), np.cumsum([len(file) for file in files], dtype=np.int64)
        )

    def __len__(self) -> int:
        return len(self.ends)

    def __getitem__(self, item: int) -> bytes | None:
        if not 0 <= item < len(self):
            raise IndexError(f"An item has a number below {len(self):,}; got {item}.")
        start = int(self.ends[item - 1]) if item else 0
        return self.content[start : int(self.ends[item])].tobytes() or None

    def tensors(self) -> dict[str, np.ndarray]:
        """Return the arrays, as a folder keeps them.

        Returns
        -------
        dict of str to ndarray
            Arrays by name.
        """
        return {"thumbnails/content": self.content, "thumbnails/ends": self.ends}

    @classmethod
    def restored(cls, tensors: Mapping[str, np.ndarray], n_items: int) -> Self:
        """Return the thumbnails that `tensors` described.

        Parameters
        ----------
        tensors : mapping of str to ndarray
            What `tensors` returned, among others.
        n_items : int
            Number of items.

        Returns
        -------
        Thumbnails
            The same thumbnails.

        Raises
        ------
        ValueError
            If the arrays are no such thing.
        """
        content, ends = tensors["thumbnails/content"], tensors["thumbnails/ends"]
        starts = np.concatenate([[0], ends])[:-1]
        is_sound = ends.shape == (n_items,) and ends.dtype == np.int64 and content.dtype == np.uint8
        if not is_sound or content.ndim != 1 or (ends < starts).any() or ends[-1] != len(content):
            raise ValueError("thumbnails whose ends are not in order")
        # whoever shows them says that they are PNG
        begins = (content[start : start + len(_START)].tobytes() for start in starts[ends > starts])
        if any(begin != _START for begin in begins):
            raise ValueError("thumbnails that are no PNG files")
        return cls(content, ends)


def _png(image: Any, side: int) -> bytes:
    """Return a picture, made smaller if it is large, as the bytes of a PNG file."""
    from io import BytesIO

    pillow = require("PIL.Image", "A thumbnail")
    picture = pillow.fromarray(np.asarray(image))
    picture.thumbnail((side, side))
    file = BytesIO()
    picture.save(file, format="PNG", optimize=True)
    return file.getvalue()
