"""Hotel reviews with ratings, as whole texts or cut into paragraphs."""

from __future__ import annotations

import gzip
import json
import os
from typing import Any

import numpy as np

from harmonium.datasets._base import Dataset, archive_path

# The name of the texts in the file of each part, and a description of the part.
_PARTS = {
    "ratings": ("text", "TripAdvisor hotel reviews with an overall rating and five aspect ratings."),
    "paragraphs": ("paragraphs", "TripAdvisor hotel reviews cut into paragraphs, equally many of each rating."),
}
_ASPECTS = ("value", "rooms", "location", "cleanliness", "service")


def _read_reviews(part: str, data_home: str | os.PathLike[str] | None) -> list[dict[str, Any]]:
    with gzip.open(archive_path("hotels", f"{part}.jsonl.gz", data_home), "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def load_hotels(part: str = "ratings", data_home: str | os.PathLike[str] | None = None) -> Dataset:
    """Load hotel reviews of TripAdvisor with their ratings.

    They are read from ``hotels/ratings.jsonl.gz`` or ``hotels/paragraphs.jsonl.gz``.

    Parameters
    ----------
    part : {"ratings", "paragraphs"}, default="ratings"
        ``"ratings"`` are whole reviews, 2,500 for training and 2,500 for test, most of them favourable.
        ``"paragraphs"`` are other reviews, cut into paragraphs: for each of the five ratings 300 for training and 300
        for test.
    data_home : path-like or None, default=None
        Folder of the data sets; ``None`` means the one named by the environment variable ``HARMONIUM_DATA``.

    Returns
    -------
    Dataset
        View ``"text"`` is a list of strings; for the paragraphs, view ``"paragraphs"`` is a list of lists of strings.
        The target is the overall rating, float32 from 1 to 5, and ``target_names`` is empty. Rows keep the order of the
        file, in which training and test rows are mixed.

    See Also
    --------
    hotel_aspects : Load the ratings of single aspects by the same reviews.

    Notes
    -----
    The reviews have lost their line breaks. The paragraphs are cut by a heuristic, so some cuts are wrong.

    Examples
    --------
    >>> reviews = load_hotels("paragraphs")  # doctest: +SKIP
    >>> len(reviews.views["paragraphs"]), sorted(set(reviews.target.tolist()))  # doctest: +SKIP
    (3000, [1.0, 2.0, 3.0, 4.0, 5.0])
    """
    if part not in _PARTS:
        raise ValueError(f"part must be one of {', '.join(_PARTS)}, but got {part!r}; choose one of them.")
    view, description = _PARTS[part]
    reviews = _read_reviews(part, data_home)
    return Dataset(
        name="hotels",
        views={view: [review[view] for review in reviews]},
        target=np.array([review["overall"] for review in reviews], dtype=np.float32),
        target_names=[],
        split=np.array([review["split"] for review in reviews]),
        description=description,
    )


def hotel_aspects(data_home: str | os.PathLike[str] | None = None) -> tuple[np.ndarray, list[str]]:
    """Load ratings of single aspects of hotels.

    They belong to the reviews of ``load_hotels("ratings")`` and are read from the same file.

    Parameters
    ----------
    data_home : path-like or None, default=None
        Folder of the data sets; ``None`` means the one named by the environment variable ``HARMONIUM_DATA``.

    Returns
    -------
    ratings : ndarray of float32 of shape (n_reviews, 5)
        Ratings from 1 to 5, NaN where an aspect was not rated; rows are those of ``load_hotels("ratings")``.
    aspects : list of str
        The name of each column.

    Examples
    --------
    >>> ratings, aspects = hotel_aspects()  # doctest: +SKIP
    >>> ratings.shape, aspects  # doctest: +SKIP
    ((5000, 5), ['value', 'rooms', 'location', 'cleanliness', 'service'])
    """
    reviews = _read_reviews("ratings", data_home)
    # None becomes NaN in an array of floats.
    ratings = [[review.get(aspect) for aspect in _ASPECTS] for review in reviews]
    return np.array(ratings, dtype=np.float32).reshape(len(reviews), len(_ASPECTS)), list(_ASPECTS)
