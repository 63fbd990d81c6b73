"""Hotel reviews with ratings, as whole texts or cut into paragraphs."""

from __future__ import annotations

import gzip
import json
import os
from typing import Any

import numpy as np

from harmonium.datasets._base import Dataset, archive_path

# What each part calls its texts in the file, and what it describes.
_PARTS = {
    "ratings": ("text", "TripAdvisor hotel reviews with an overall rating and five aspect ratings."),
    "paragraphs": ("paragraphs", "TripAdvisor hotel reviews cut into paragraphs, equally many of each rating."),
}
_ASPECTS = ("value", "rooms", "location", "cleanliness", "service")


def _read_reviews(part: str, data_home: str | os.PathLike[str] | None) -> list[dict[str, Any]]:
    with gzip.open(archive_path("hotels", f"{part}.jsonl.gz", data_home), "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def load_hotels(part: str = "ratings", data_home: str | os.PathLike[str] | None = None) -> Dataset:
    """Load TripAdvisor reviews from ``hotels/ratings.jsonl.gz`` or ``hotels/paragraphs.jsonl.gz``.

    Parameters
    ----------
    part : {"ratings", "paragraphs"}
        Whole reviews (2,500 for training and 2,500 for test, most of them favourable), or other reviews cut into
        paragraphs (300 for training and 300 for test of each of the five ratings).
    data_home : path, optional
        Folder of the data sets, by default that named by ``HARMONIUM_DATA``.

    Returns
    -------
    Dataset
        View ``"text"`` is a list of strings; with the paragraphs, view ``"paragraphs"`` is a list with a list of
        strings for each review. The target is the overall rating, float32 from 1 to 5, and has no names. Rows keep
        the order of the file, in which training and test rows are mixed.

    See Also
    --------
    hotel_aspects : The ratings of the aspects of the same reviews.

    Notes
    -----
    The reviews have lost their line breaks; the paragraphs are cut by a heuristic, so some cuts are wrong.
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
    """Load the aspect ratings of the reviews of ``hotels/ratings.jsonl.gz``.

    Parameters
    ----------
    data_home : path, optional
        Folder of the data sets, by default that named by ``HARMONIUM_DATA``.

    Returns
    -------
    ratings : ndarray of float32, (reviews, 5)
        Ratings from 1 to 5, NaN where a reviewer did not rate an aspect; rows are those of ``load_hotels("ratings")``.
    aspects : list of str
        The name of each column.
    """
    reviews = _read_reviews("ratings", data_home)
    # None becomes NaN in an array of floats.
    ratings = [[review.get(aspect) for aspect in _ASPECTS] for review in reviews]
    return np.array(ratings, dtype=np.float32).reshape(len(reviews), len(_ASPECTS)), list(_ASPECTS)
