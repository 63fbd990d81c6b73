"""Pictures whose files a column names, in a folder or in a .zip archive (extra ``images``)."""

from __future__ import annotations

import io
import os
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from harmonium.extras import require
from harmonium.files.base import DataFileError

# tried in turn where the name of a file has no ending
_ENDINGS = ("", ".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp")
# Pictures of more pixels than this are refused, as a small file may claim to be a huge picture: a convention.
_MOST_PIXELS = 50_000_000


def pictures_of(names: Iterable[Any], root: str | os.PathLike[str]) -> list[np.ndarray | None]:
    """Return the pictures of which a column names the files.

    Parameters
    ----------
    names : iterable of str
        Names of files, with or without ending; missing ones have no picture.
    root : str or path
        Folder or .zip archive that holds them; nothing outside is read.

    Returns
    -------
    list of ndarray of uint8 of shape (height, width, 3), or None
        Red, green and blue on white.

    Raises
    ------
    DataFileError
        If a file is not there, lies outside, or is no picture.
    """
    place = Path(root)
    if zipfile.is_zipfile(place):
        with zipfile.ZipFile(place) as archive:
            known = set(archive.namelist())
            return [
                _picture(name, lambda entry: archive.read(entry) if entry in known else None, place) for name in names
            ]
    if not place.is_dir():
        raise DataFileError(f"Pictures lie in a folder or a .zip archive; {place} is neither; correct the path.")
    return [_picture(name, lambda entry: _inside(place, entry), place) for name in names]


def _picture(name: Any, read: Any, place: Path) -> np.ndarray | None:
    if name is None or name != name or not str(name).strip():
        return None
    for ending in _ENDINGS:
        content = read(f"{name}{ending}")
        if content is not None:
            return decoded(content, str(name))
    raise DataFileError(
        f"Every picture must be there; {place} has none called {str(name)[:80]!r}; add it, or leave the cell empty."
    )


def _inside(folder: Path, name: str) -> bytes | None:
    """Return the content of a file of a folder, None if there is none; what lies outside is not there."""
    try:
        path = (folder / name).resolve()
        return path.read_bytes() if path.is_relative_to(folder.resolve()) and path.is_file() else None
    except (OSError, ValueError):
        return None


def decoded(content: bytes, name: str = "a picture") -> np.ndarray:
    """Return red, green and blue of the bytes of a picture file, on white.

    Parameters
    ----------
    content : bytes
        A PNG, JPEG, GIF, … file.
    name : str, default="a picture"
        What messages call it.

    Returns
    -------
    ndarray of uint8 of shape (height, width, 3)
        The picture.
    """
    pillow = require("PIL.Image", "Reading pictures")
    try:
        with pillow.open(io.BytesIO(content)) as picture:
            if picture.width * picture.height > _MOST_PIXELS:
                raise ValueError(f"{picture.width} x {picture.height} pixels")
            drawn = picture.convert("RGBA")
    except Exception as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0][:100]
        raise DataFileError(
            f"A picture must be one that can be read; {name[:80]!r} is not ({reason}); replace it."
        ) from error
    white = pillow.new("RGBA", drawn.size, "white")
    return np.asarray(pillow.alpha_composite(white, drawn).convert("RGB"))
