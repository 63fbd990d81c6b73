"""Content and errors of data files, and what their readers share."""

from __future__ import annotations

import gzip
import lzma
import os
import re
from bz2 import BZ2File
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, NoReturn

import numpy as np
import pandas as pd
import scipy.sparse

from harmonium.views import Views

# endings of files that are compressed, and what opens them
_OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": BZ2File, ".xz": lzma.open}
# what a compressed file may raise while it is read
_DAMAGE = (EOFError, OSError, lzma.LZMAError)


class DataFileError(ValueError):
    """A data file that cannot be read; the message is one sentence that says where and why.

    Examples
    --------
    >>> from harmonium.files import read_data
    >>> read_data("notes.txt")
    Traceback (most recent call last):
    ...
    harmonium.files.data_file.DataFileError: A data file must have an ending that says what it is...
    """


@dataclass(frozen=True, eq=False)
class Loaded:
    """The content of a data file.

    Attributes
    ----------
    X : DataFrame, Views, AnnData or MuData
        What a model takes: a table, or views by name.
    items : DataFrame
        Columns to show, and to take targets from, a row for each item; the table itself if it is one.
    y : ndarray, optional
        Targets that the format itself sets apart.
    named_after_file : bool, default=False
        Whether the format gives its only view no name, so that the file's is taken.
    grows : bool, default=False
        Whether the format does not say how many columns there are, so that there are as many as the largest number
        needs.
    """

    X: Any
    items: pd.DataFrame
    y: np.ndarray | None = None
    named_after_file: bool = False
    grows: bool = False

    @property
    def is_table(self) -> bool:
        """Whether it is a table with columns of any kind."""
        return isinstance(self.X, pd.DataFrame)

    def __len__(self) -> int:
        return len(self.items)

    def like(self, view: str, n_columns: int) -> Any:
        """Return a matrix that is named after its file as another view, one that a model knows.

        Parameters
        ----------
        view : str
            Name of that view.
        n_columns : int
            Number of its columns.

        Returns
        -------
        Views
            The matrix under that name; if it grows, columns that it lacks are zeros.
        """
        (name,) = self.X.names
        source = self.X.source(name)
        matrix, names = source.matrix, source.columns
        if self.grows and matrix.shape[1] < n_columns:
            parts = (matrix.data, matrix.indices, matrix.indptr)
            matrix, names = scipy.sparse.csr_array(parts, shape=(matrix.shape[0], n_columns)), None
        return Views({view: matrix}, feature_names=None if names is None else {view: names})


def refuse(path: Path, must: str, found: str, remedy: str, cause: BaseException | None = None) -> NoReturn:
    """Raise a `DataFileError` of one sentence: what must hold, what was found, what to do."""
    raise DataFileError(f"{must}; {path} {found}; {remedy}.") from cause


def endings(path: Path) -> tuple[str, str]:
    """Return the ending of a name without that of its compression, and the latter, in small letters."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    packed = suffixes.pop() if suffixes and suffixes[-1] in _OPENERS else ""
    return (suffixes[-1] if suffixes else ""), packed


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """Give the content of a file, which may be compressed; whatever is wrong with it is said in one sentence."""
    try:
        if not path.is_file():
            kind = "is a folder or a device" if path.exists() else "does not exist"
            refuse(path, "Data are read from a file", kind, "correct the path")
        opener = _OPENERS.get(endings(path)[1], open)
        with opener(path, "rb") as file:
            yield file
    except _DAMAGE as error:
        if isinstance(error, OSError) and error.errno is not None:
            refuse(
                path, "A data file must be readable", f"is not ({os.strerror(error.errno).lower()})", "see to it", error
            )
        refuse(path, "A compressed file must be whole", "is damaged", "get it again", error)


def one_line(error: BaseException) -> str:
    """Return the first sentence of an error's message, cut to a reasonable length."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return re.split(r"[.!?]\s", lines[0])[0].rstrip(".")[:160]


def checked_frame(path: Path, frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table; refuse one without rows or columns, or with names that occur twice."""
    names = [str(name) for name in frame.columns]
    twice = sorted({name for name in names if names.count(name) > 1}) if len(set(names)) < len(names) else []
    if twice:
        refuse(path, "Columns of a table must have different names", f"has {twice[0][:60]!r} twice", "rename one")
    if not len(frame) or not names:
        refuse(path, "A table must have at least one row and one column", f"has {len(frame)} rows", "see to it")
    return frame.set_axis(names, axis=1)
