"""Emoji: small pictures with keywords, in nine categories."""

from __future__ import annotations

import io
import os
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pandas as pd
from scipy import sparse

from harmonium.core.extras import require
from harmonium.datasets._base import Dataset, archive_path
from harmonium.features.images import colour_histogram, colour_names
from harmonium.features.windows import hog_windows

# Side of a picture in pixels, as it is in the archive.
_SIDE = 64


@dataclass(frozen=True, eq=False, kw_only=True)
class PictureDataset(Dataset):
    """A data set of pictures, with the raw table and the pictures themselves.

    Parameters
    ----------
    name : str
        As in `Dataset`, and so are the others up to ``feature_names``.
    views : dict of str to array-like
        One array, sparse matrix or list for each view.
    target : ndarray or None
        The class of each item.
    target_names : list of str
        Names of the classes.
    split : ndarray of str or None
        ``"train"`` or ``"test"`` for each item, if there is a split.
    description : str
        One or two sentences.
    feature_names : dict of str to list of str, default={}
        Names of the columns of a view.
    table : DataFrame
        What is known of each picture, as it stands in the file; one row for each row of the views.
    pictures : ndarray of uint8 of shape (n_items, height, width, 3)
        Red, green and blue of each picture, to be shown, or turned into other features.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> toy = PictureDataset(name="toy", views={}, target=None, target_names=[], split=None, description="One picture.",
    ...                      table=pd.DataFrame({"name": ["fire"]}), pictures=np.zeros((1, 8, 8, 3), dtype=np.uint8))
    >>> toy.table["name"][0], toy.pictures[0].shape
    ('fire', (8, 8, 3))
    """

    table: pd.DataFrame
    pictures: np.ndarray


def load_emoji(min_items: int = 3, data_home: str | os.PathLike[str] | None = None) -> PictureDataset:
    """Load emoji: pictures with their keywords.

    They are read from ``emoji/emoji.csv`` and ``emoji/images.zip``; the extra ``harmonium[images]`` must be installed.
    The graphics are those of Twemoji (CC-BY 4.0).

    Parameters
    ----------
    min_items : int, default=3
        Keywords of fewer pictures than this are left out of the view; the table has them all.
    data_home : path-like or None, default=None
        Folder of the data sets; ``None`` means the one named by the environment variable ``HARMONIUM_DATA``.

    Returns
    -------
    PictureDataset
        Three float32 views of 1,906 pictures: ``"keywords"``, a csr_array of the presence of keywords, 0 or 1;
        ``"colours"`` (64 columns), shares of colours as `colour_histogram` has them; ``"edges"`` (144 columns),
        histograms of oriented gradients of the picture in 4 x 4 parts, as `hog_windows` has them. The target is the
        category, of nine. ``table`` has the columns id, name, category, subcategory (98 of them), keywords (separated
        by ``|``) and year; ``pictures`` has 64 x 64 pixels each, on white. There is no split.

    Raises
    ------
    ValueError
        If a row of the table has no picture.

    Examples
    --------
    >>> emoji = load_emoji()  # doctest: +SKIP
    >>> {name: view.shape for name, view in emoji.views.items()}  # doctest: +SKIP
    {'keywords': (1906, 985), 'colours': (1906, 64), 'edges': (1906, 144)}
    >>> emoji.pictures[emoji.table["name"] == "fire"].shape  # doctest: +SKIP
    (1, 64, 64, 3)
    """
    if min_items < 1:
        raise ValueError(f"min_items must be at least 1, but got {min_items}; 3 is usual.")
    # "NA" is no missing value here: it is the code of a flag
    table = pd.read_csv(archive_path("emoji", "emoji.csv", data_home), keep_default_na=False)
    pictures = _read_pictures(archive_path("emoji", "images.zip", data_home), table["id"].tolist())
    presence, words = _presence([set(text.split("|")) for text in table["keywords"]], min_items)
    edges = np.concatenate([hog_windows(picture, shares=(1.0,), longer_side=_SIDE)[0] for picture in pictures])
    category = pd.Categorical(table["category"])
    return PictureDataset(
        name="emoji",
        views={
            "keywords": presence,
            "colours": np.array([colour_histogram(picture) for picture in pictures]),
            "edges": edges,
        },
        target=category.codes.astype(np.int64),
        target_names=category.categories.tolist(),
        split=None,
        description="Emoji: pictures of 64 x 64 pixels with keywords, in nine categories and 98 subcategories.",
        feature_names={"keywords": words, "colours": colour_names()},
        table=table,
        pictures=pictures,
    )


def _read_pictures(path: Path, names: list[str]) -> np.ndarray:
    """Return the named pictures of an archive on white, as red, green and blue."""
    pillow = require("PIL.Image", "Reading images")
    pictures = np.empty((len(names), _SIDE, _SIDE, 3), dtype=np.uint8)
    with ZipFile(path) as archive:
        there = set(archive.namelist())
        for place, name in enumerate(names):
            if f"{name}.png" not in there:
                raise ValueError(
                    f"Every row of emoji.csv must have a picture in images.zip, but {name}.png is not there; put the "
                    "original files in place."
                )
            with pillow.open(io.BytesIO(archive.read(f"{name}.png"))) as picture:
                drawn = picture.convert("RGBA")
            white = pillow.new("RGBA", drawn.size, "white")
            pictures[place] = np.asarray(pillow.alpha_composite(white, drawn).convert("RGB"))
    return pictures


def _presence(words_of_items: list[set[str]], min_items: int) -> tuple[sparse.csr_array, list[str]]:
    """Return which item has which word, and the words in alphabetical order; rare ones are left out.

    Examples
    --------
    >>> matrix, words = _presence([{"sea", "sky"}, {"sea"}, {"sun"}], 2)
    >>> matrix.toarray().tolist(), words
    ([[1.0], [1.0], [0.0]], ['sea'])
    """
    counts = Counter(word for words in words_of_items for word in words)
    kept = sorted(word for word, count in counts.items() if count >= min_items)
    places = {word: place for place, word in enumerate(kept)}
    columns = [sorted(places[word] for word in words if word in places) for words in words_of_items]
    starts = np.cumsum([0, *map(len, columns)])
    indices = np.array([column for row in columns for column in row], dtype=np.int64)
    shape = (len(columns), len(kept))
    return sparse.csr_array((np.ones(len(indices), dtype=np.float32), indices, starts), shape=shape), kept
