"""Pictures whose files a column names, in a folder or in a .zip archive (extra ``images``)."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from harmonium.exceptions import InvalidViewError
from harmonium.features.images import decoded_image

# tried in turn where the name of a file has no ending
_ENDINGS = ("", ".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp")


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
    InvalidViewError
        If a file is not there, lies outside, or is no picture.
    """
    folder = Path(root)
    if zipfile.is_zipfile(folder):
        with zipfile.ZipFile(folder) as archive:
            entries = set(archive.namelist())
            return [
                _picture(name, lambda entry: archive.read(entry) if entry in entries else None, folder)
                for name in names
            ]
    if not folder.is_dir():
        raise InvalidViewError(f"Pictures lie in a folder or a .zip archive; {folder} is neither; correct the path.")
    return [_picture(name, lambda entry: _inside(folder, entry), folder) for name in names]


def _picture(name: Any, read: Any, folder: Path) -> np.ndarray | None:
    if name is None or name != name or not str(name).strip():
        return None
    for ending in _ENDINGS:
        content = read(f"{name}{ending}")
        if content is not None:
            try:
                return decoded_image(content)
            except ValueError as error:
                raise InvalidViewError(f"{folder}: {str(name)[:80]!r}: {error}") from error
    raise InvalidViewError(
        f"Every picture must be there; {folder} has none called {str(name)[:80]!r}; add it, or leave the cell empty."
    )


def _inside(folder: Path, name: str) -> bytes | None:
    """Return the content of a file of a folder, None if there is none; what lies outside is not there."""
    try:
        path = (folder / name).resolve()
        return path.read_bytes() if path.is_relative_to(folder.resolve()) and path.is_file() else None
    except (OSError, ValueError):
        return None
