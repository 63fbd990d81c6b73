"""Columns of pictures (extra ``images``)."""

from __future__ import annotations

import hashlib
import os
from collections import OrderedDict
from typing import Any, ClassVar, Self

import narwhals as nw
import numpy as np
import pandas as pd
import scipy.sparse

from harmonium.core.validation import Setting, Whole, shown
from harmonium.exceptions import InvalidViewError
from harmonium.features.images import VisualWords, decoded_image, hsv_histogram, hsv_names, interest_patches
from harmonium.tables.base import Block, Reader
from harmonium.tables.column import Column
from harmonium.tables.pictures import pictures_of

_DETECTORS = ("harris", "hessian", "entropy")
_POINTS = 60
# Pictures are made smaller, never larger, to this longer side before points are looked for: a convention, for time.
_SIDE = 100
# Bytes of features of pictures that are remembered, as finding them takes long and tables are read several times.
_REMEMBERED = 300 * 2**20


class FolderPath(Setting):
    """The setting of a folder or an archive: a path, or None."""

    def check(self, owner: str, name: str, value: Any) -> None:
        """Refuse everything else."""
        if value is not None and not isinstance(value, str | os.PathLike):
            raise TypeError(f"{owner} needs a path as {name}; got {shown(value)}; None lets no file be opened.")


class Image(Reader):
    """Read a column of pictures as shares of colours and counts of visual words.

    Colours are a histogram of hue, saturation and value; visual words are clusters of patches at points of interest.
    The views are named after the column, with "_colours" and "_shapes" behind it.

    Parameters
    ----------
    n_words : int, default=125
        Number of visual words.
    seed : int, default=0
        Seed of the clustering that finds them.
    folder : str or path, optional
        Folder, or .zip archive, of the pictures whose files a column names; nothing outside is opened. It belongs to
        the machine: model files do not keep it. Default: names of files are refused.

    Attributes
    ----------
    words_ : list of list of float
        Centres of the clusters.

    Notes
    -----
    Values are arrays of pixels, bytes of PNG, JPEG, … files, or names of files with or without ending. Names are read
    only below ``folder``, which whoever calls `fit` has named, and are refused by a model that was loaded:
    `harmonium.tables.pictures.pictures_of` reads them for it. The service and the explorer never open a file that
    somebody names.

    Examples
    --------
    >>> import narwhals as nw, numpy as np, pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> pictures = pd.Series([rng.random((40, 60, 3)) for _ in range(3)], dtype=object)
    >>> column = Column("photo", nw.from_native(pictures, series_only=True))
    >>> [(block.view, block.matrix.shape) for block in Image(n_words=10).bind(column).read(column)]
    [('photo_colours', (3, 72)), ('photo_shapes', (3, 10))]
    """

    learned = {"words_": list}
    takes_pictures = True
    not_saved: ClassVar[tuple[str, ...]] = ("folder",)
    settings = {
        "n_words": Whole(remedy="125 is usual"),
        "seed": Whole(lower=0, remedy="0 is usual"),
        "folder": FolderPath(),
    }
    words_: list[list[float]]

    def __init__(self, n_words: int = 125, seed: int = 0, folder: str | os.PathLike[str] | None = None) -> None:
        self.n_words = n_words
        self.seed = seed
        self.folder = folder

    @classmethod
    def suits(cls, column: Column) -> bool:
        """Tell that pictures have to be asked for: arrays may be anything."""
        return False

    def bind(self, column: Column) -> Self:
        """Return a copy that knows the visual words."""
        patches = [features.patches for features in self._features(column) if features is not None]
        n_patches = sum(map(len, patches))
        if not n_patches:
            raise InvalidViewError(
                f"Column {column.name!r} as image needs pictures in which something can be seen; none is there; use "
                "the role 'drop'."
            )
        words = VisualWords(min(self.n_words, n_patches), random_state=self.seed).fit(patches)
        return self.with_fitted(words_=[[float(level) for level in word] for word in words.words_.round(4)])

    def read(self, column: Column) -> list[Block]:
        """Return shares of colours and counts of visual words.

        Rows without a picture lack both.
        """
        found = self._features(column)
        words = VisualWords(len(self.words_))
        words.words_ = np.array(self.words_, dtype=np.float32)
        nothing = np.zeros((0, words.words_.shape[1]), dtype=np.float32)
        counts = words.transform([nothing if features is None else features.patches for features in found])
        lacking = np.full(len(hsv_names()), np.nan, dtype=np.float32)
        shares = np.array([lacking if features is None else features.colours for features in found])
        view = column.name.replace(".", "_")
        present = np.array([features is not None for features in found], dtype=bool)
        names = [f"shape {number}" for number in range(len(self.words_))]
        return [
            Block(shares.reshape(-1, len(lacking)), hsv_names(), view=f"{view}_colours"),
            Block(scipy.sparse.csr_array(counts), names, view=f"{view}_shapes", present=present),
        ]

    def opened(self, column: Column) -> Column:
        """Return the column with pictures in place of the names of their files."""
        values = list(column.values)
        named = [row for row, value in enumerate(values) if isinstance(value, str)]
        if named:
            if self.folder is None:
                raise InvalidViewError(
                    f"Column {column.name!r} as image needs pictures, or a folder of them; row {named[0]} holds the "
                    f"text {values[named[0]][:40]!r}; fit with roles={{{column.name!r}: Image(folder=...)}}, or read "
                    "the files with harmonium.tables.pictures.pictures_of."
                )
            for row, picture in zip(named, pictures_of([values[row] for row in named], self.folder), strict=True):
                values[row] = picture
            return Column(column.name, nw.from_native(pd.Series(values, dtype=object), series_only=True))
        return column

    def _features(self, column: Column) -> list[_Features | None]:
        """Return what is seen in each picture."""
        values = self.opened(column).values
        return [None if value is None else _seen(column.name, row, value) for row, value in enumerate(values)]

    @property
    def note(self) -> str:
        """What is read of a picture."""
        return f"colours, {len(self.words_)} visual words"


class _Features:
    """What is seen in a picture, whatever words there will be: shares of colours, and patches."""

    def __init__(self, picture: np.ndarray) -> None:
        self.colours = hsv_histogram(picture)
        side = min(_SIDE, max(picture.shape[:2]))
        self.patches = interest_patches(picture, _DETECTORS, _POINTS, longer_side=side).patches

    @property
    def size(self) -> int:
        """Bytes of memory."""
        return int(self.colours.nbytes + self.patches.nbytes)


class _Memory:
    """Features of the pictures that were seen last."""

    def __init__(self) -> None:
        self._known: OrderedDict[bytes, _Features] = OrderedDict()
        self._size = 0

    def of(self, picture: np.ndarray) -> _Features:
        """Return what is seen in a picture, which is worked out unless it is remembered."""
        key = hashlib.sha256(repr((picture.shape, picture.dtype)).encode() + picture.tobytes()).digest()
        if key not in self._known:
            self._known[key] = _Features(picture)
            self._size += self._known[key].size
            while self._size > _REMEMBERED and len(self._known) > 1:
                self._size -= self._known.popitem(last=False)[1].size
        return self._known[key]


_memory = _Memory()


def _seen(name: str, row: int, value: Any) -> _Features:
    """Return what is seen in a picture; refuse what is none."""
    try:
        return _memory.of(decoded_image(value) if isinstance(value, bytes) else np.asarray(value))
    except ValueError as error:
        raise InvalidViewError(
            f"Column {name!r} as image needs pictures that can be read; that of row {row} cannot ({error}); replace it."
        ) from error
