"""Base of the loaders: what they return, and where the files of the data sets are found."""

from __future__ import annotations

import os
import tarfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

ENVIRONMENT_VARIABLE = "HARMONIUM_DATA"


class DatasetNotFound(FileNotFoundError):
    """The folder of the data sets, or a file in it, does not exist.

    Examples
    --------
    >>> data_home("no/such/folder")
    Traceback (most recent call last):
    ...
    harmonium.datasets._base.DatasetNotFound: data_home must name an existing folder, ...
    """


def take_rows(view: Any, rows: np.ndarray) -> Any:
    """Select rows of a view, which may be an array, a sparse matrix or a list."""
    if isinstance(view, list):
        return [view[row] for row in rows]
    return view[rows]


# eq=False, because comparing data sets field by field would compare arrays, which has no single truth value.
@dataclass(frozen=True, eq=False)
class Dataset:
    """A data set of one or more views of the same items.

    Parameters
    ----------
    name : str
        Short name.
    views : dict of str to array-like
        One array, sparse matrix or list for each view; row ``i`` of every view belongs to the same item.
    target : ndarray or None
        The class of each item as a number, unless the loader says otherwise.
    target_names : list of str
        Names of the classes, in the order of their numbers.
    split : ndarray of str or None
        ``"train"`` or ``"test"`` for each item; None if the data set comes without a split.
    description : str
        One or two sentences.
    feature_names : dict of str to list of str, default={}
        Names of the columns of a view, for the views whose columns have names.

    Examples
    --------
    >>> import numpy as np
    >>> toy = Dataset("toy", {"x": np.arange(3)}, np.array([0, 1, 1]), ["no", "yes"],
    ...               np.array(["train", "train", "test"]), "Three numbers.")
    >>> views, target = toy.train()
    >>> views["x"].tolist(), target.tolist()
    ([0, 1], [0, 1])
    """

    name: str
    views: dict[str, Any]
    target: np.ndarray | None
    target_names: list[str]
    split: np.ndarray | None
    description: str
    feature_names: dict[str, list[str]] = field(default_factory=dict)

    def train(self) -> tuple[dict[str, Any], np.ndarray | None]:
        """Return the views and the target of the training items.

        Returns
        -------
        views : dict of str to array-like
            The training rows of each view.
        target : ndarray or None
            Their target.
        """
        return self._part("train")

    def test(self) -> tuple[dict[str, Any], np.ndarray | None]:
        """Return the views and the target of the test items.

        Returns
        -------
        views : dict of str to array-like
            The test rows of each view.
        target : ndarray or None
            Their target.
        """
        return self._part("test")

    def _part(self, part: str) -> tuple[dict[str, Any], np.ndarray | None]:
        if self.split is None or not np.any(self.split == part):
            raise ValueError(
                f"A data set must have {part} rows for {part}(), but {self.name!r} was loaded without any; load it "
                "with both parts, or split its rows yourself."
            )
        rows = np.flatnonzero(self.split == part)
        views = {name: take_rows(view, rows) for name, view in self.views.items()}
        return views, None if self.target is None else self.target[rows]


def object_array(items: Sequence[Any]) -> np.ndarray:
    """Put items into a one-dimensional object array, whose rows can be selected by index."""
    array = np.empty(len(items), dtype=object)
    # One by one, because a slice assignment would unpack items that are themselves sequences of equal length.
    for position, item in enumerate(items):
        array[position] = item
    return array


def data_home(data_home: str | os.PathLike[str] | None = None) -> Path:
    """Return the folder that holds the data sets.

    Parameters
    ----------
    data_home : path-like or None, default=None
        The folder; ``None`` means the one named by the environment variable ``HARMONIUM_DATA``.

    Returns
    -------
    Path
        An existing folder.

    Raises
    ------
    DatasetNotFound
        If neither is given, or the folder does not exist.

    Examples
    --------
    >>> data_home(".").is_dir()
    True
    """
    if data_home is None and not os.environ.get(ENVIRONMENT_VARIABLE):
        raise DatasetNotFound(
            f"The folder of the data sets must be known, but neither data_home nor {ENVIRONMENT_VARIABLE} is set; set "
            "one of them to the folder that holds the archives."
        )
    source = "data_home" if data_home is not None else ENVIRONMENT_VARIABLE
    home = Path(data_home if data_home is not None else os.environ[ENVIRONMENT_VARIABLE]).expanduser()
    if not home.is_dir():
        raise DatasetNotFound(
            f"{source} must name an existing folder, but {str(home)!r} is not one; set it to the folder that holds the "
            "archives."
        )
    return home


def archive_path(folder: str, filename: str, home: str | os.PathLike[str] | None) -> Path:
    """Return the path of a file, or say in one sentence where it should be."""
    path = data_home(home) / folder / filename
    if not path.is_file():
        raise DatasetNotFound(
            f"The archive {folder}/{filename} must lie in the data folder, but {str(path)!r} is not there; put the "
            "original file at that place."
        )
    return path


def archive_members(path: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the name and the content of every file in a tar archive, compressed or not."""
    # Stream mode reads a compressed archive once from front to back instead of seeking in it.
    with tarfile.open(path, "r|*") as archive:
        for member in archive:
            stream = archive.extractfile(member) if member.isfile() else None
            if stream is not None:
                yield member.name.removeprefix("./"), stream.read()
