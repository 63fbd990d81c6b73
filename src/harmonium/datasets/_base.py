"""Base of the loaders: what they return, and where the files of the data sets are found."""

from __future__ import annotations

import os
import tarfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from harmonium.core.validation import Number, check_whole

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


def checked_generator(maker: str, n_rows: int, random_state: int, **shares: float) -> np.random.Generator:
    """Return the source of random numbers of a generator of data, whose arguments are checked.

    Parameters
    ----------
    maker : str
        Name of the function that makes the data.
    n_rows : int
        Number of rows to make.
    random_state : int
        Seed.
    **shares : float
        Shares of what is to be missing, by the names of the arguments.

    Returns
    -------
    Generator
        The same for the same seed.
    """
    check_whole(maker, "n_rows", n_rows, remedy="1000 is usual")
    check_whole(maker, "random_state", random_state, lower=0, remedy="pass a seed such as 0")
    for name, share in shares.items():
        Number(inclusive=True, at_most=1.0, remedy="0.3 is a third of them").check(maker, name, share)
    return np.random.default_rng(random_state)


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


#: the public set that each folder holds, and what makes data of the same kind without files
_PUBLIC = {
    "cll": (
        "the leukaemia cohort of Dietrich et al. (2018), on which MOFA was introduced, as MuData (of muon's tutorials)",
        "make_cohort",
    ),
    "emoji": ("Twemoji graphics (CC-BY 4.0) with a table of their names and keywords", "make_pictures"),
    "hotels": ("reviews of TripAdvisor with ratings of aspects, as Wang, Lu & Zhai (2010) collected", "make_reviews"),
    "newsgroups": ("20 Newsgroups by date (Lang 1995; qwone.com/~jason/20Newsgroups)", "make_documents"),
    "wines": ("reviews of Wine Enthusiast (winemag.com) as a table", "make_reviews"),
}


def archive_path(folder: str, filename: str, home: str | os.PathLike[str] | None) -> Path:
    """Return the path of a file, or say in one sentence what it is, where it should be, and what needs no files."""
    place = f"{folder}/{filename}"
    what, maker = _PUBLIC.get(folder, ("a public set that is not part of harmonium", ""))
    instead = f"; or call {maker}(), which needs no files" if maker else ""
    if home is None and not os.environ.get(ENVIRONMENT_VARIABLE):
        raise DatasetNotFound(
            f"{place} must be read from a folder of yours, but neither data_home nor {ENVIRONMENT_VARIABLE} is set; "
            f"get {what}, lay it as FOLDER/{place} and set {ENVIRONMENT_VARIABLE}=FOLDER{instead}."
        )
    path = data_home(home) / folder / filename
    if not path.is_file():
        raise DatasetNotFound(
            f"The file {place} must lie in the data folder, but {str(path)!r} is not there; get {what}, and lay it at "
            f"that place{instead}."
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
