"""Summaries of topics: label and features, share, classes and most typical items."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd

from harmonium.metrics import topic_distribution
from harmonium.model_folder import ModelFolder
from harmonium.model_folder.json_values import json_value
from harmonium.queries.topics.features import typical_rows
from harmonium.report.summary.cards import Cards
from harmonium.report.summary.topic_relations import (
    feature_strengths,
    neighbours,
    topic_correlations,
    tree_of_topics,
)
from harmonium.report.tables.groups import read_groups
from harmonium.tables.column import Column
from harmonium.tables.strings.separators import separator_of, tags_in, tags_of

# items whose pictures show what a topic looks like
_PICTURES = 8
# items that show what a topic is not about: a convention
_LEAST = 2
# topics that go together at least this much over the items say the same: a convention, that of `near_duplicates`
_ALIKE = 0.9
# different numbers that are shown as classes, in their own order, such as ratings: a convention
_LEVELS = 12


def topics_summary(folder: ModelFolder, cards: Cards, n_features: int = 10, n_items: int = 4) -> list[dict[str, Any]]:
    """Return what each topic is about, the most used first.

    Parameters
    ----------
    folder : ModelFolder
        The folder.
    cards : Cards
        What is shown of its items.
    n_features : int, default=10
        Number of features of each view.
    n_items : int, default=4
        Number of typical items; of those with pictures twice as many.

    Returns
    -------
    list of dict
        What `ModelFolder.summary` says of each topic; ``share``, the mean of it in the items' topic distributions;
        ``strengths`` of its features by view, as shares of the strongest; ``is_idle``, whether it is the same for all
        items; ``same_as``, a more used topic that says the same, or None; ``neighbours``, topics that items have
        together with it, with their correlations; ``cards`` of typical items, and ``least``, of those that have least
        of it; and ``classes``, by how many standard deviations the items of each class are ahead of the average item:
        the most first, and ratings in their own order.
    """
    coordinates = folder.topic_coordinates
    distribution = topic_distribution(coordinates)
    shares = distribution.mean(axis=0)
    groups = folder.model.fitted_.energy.hidden.groups
    idle = groups.idle(coordinates.std(axis=0, dtype=np.float64))
    order = sorted(range(len(shares)), key=lambda topic: (idle[topic], -shares[topic]))
    same_as = same_topics(coordinates, [topic for topic in order if not idle[topic]])
    profiles = _profiles(folder)
    number = max(n_items, _PICTURES if folder.thumbnails is not None else 0)
    found = folder.summary(n_features, number)["topics"]
    numbers = {place: topic["topic"] for place, topic in enumerate(found)} | {None: None}
    strengths = feature_strengths(folder.model.fitted_, [topic["features"] for topic in found])
    correlations = topic_correlations(coordinates)
    different = [topic for topic in order if not idle[topic] and same_as[topic] is None]
    least = typical_rows(-coordinates, _LEAST)
    summaries = [
        {
            **json_value(topic),
            "strengths": strengths[place],
            "share": float(shares[place]),
            "is_idle": bool(idle[place]),
            "same_as": numbers[same_as[place]],
            "neighbours": [
                {"topic": numbers[other], "label": found[other]["label"], "correlation": size}
                for other, size in neighbours(correlations, place, different)
            ],
            "cards": [cards.with_picture(row) for row in topic["items"]],
            "least": [cards.with_picture(row) for row in least[place].tolist()],
            "classes": None if profiles is None else profiles[place],
        }
        for place, topic in enumerate(found)
    ]
    return [summaries[place] for place in order]


def tree_summary(folder: ModelFolder, shown: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Return the tree of the topics that say something of their own, with their numbers and labels.

    Parameters
    ----------
    folder : ModelFolder
        The folder.
    shown : list of dict
        What `topics_summary` returns.

    Returns
    -------
    dict or None
        ``topics``, from top to bottom, each with its ``topic`` and ``label``; and ``joins``, see `tree_of_topics`. None
        for fewer than three topics, and if no two of them go together.
    """
    labels = {topic["topic"]: topic["label"] for topic in shown if not topic["is_idle"] and topic["same_as"] is None}
    numbers = [topic.number for topic in folder.model.fitted_.topics]
    tree = tree_of_topics(topic_correlations(folder.topic_coordinates), [numbers.index(topic) for topic in labels])
    if tree is None:
        return None
    topics = [{"topic": numbers[place], "label": labels[numbers[place]]} for place in tree["order"]]
    return {"topics": topics, "joins": tree["joins"]}


def same_topics(coordinates: np.ndarray, order: list[int]) -> dict[int, int | None]:
    """Return, for each topic, an earlier one that says the same: it is strong in the same items.

    Parameters
    ----------
    coordinates : ndarray of shape (n_items, n_topics)
        E[h | x] of the items.
    order : list of int
        Topics, those that others may be said to be like first.

    Returns
    -------
    dict of int to int or None
        The number of the other topic, or None if there is none.

    Examples
    --------
    >>> same_topics(np.array([[0.0, 1.0, 0.1], [1.0, 0.0, 0.9], [0.0, 0.9, 0.0]]), [0, 1, 2])
    {0: None, 1: None, 2: 0}
    """
    same_as: dict[int, int | None] = dict.fromkeys(range(coordinates.shape[1]))
    if len(coordinates) < 2:
        return same_as
    values = coordinates.astype(np.float64) - coordinates.mean(axis=0, dtype=np.float64)
    values /= np.maximum(np.linalg.norm(values, axis=0), 1e-12)
    firsts: list[int] = []
    for topic in order:
        alike = values[:, firsts].T @ values[:, topic]
        if len(firsts) and alike.max() >= _ALIKE:
            same_as[topic] = firsts[int(alike.argmax())]
        else:
            firsts.append(topic)
    return same_as


def _profiles(folder: ModelFolder) -> list[list[dict[str, Any]]] | None:
    """Return by how much each class, or rating, is ahead in each topic; None if there are none."""
    target = folder.target
    if target is None or target.isna().all(axis=None):
        return None
    meaning = folder.model.fitted_.meaning
    if target.shape[1] > 1 and (meaning is None or meaning.kind != "label"):
        return None  # several targets have several sets of classes
    y: Any = target.iloc[:, 0] if target.shape[1] == 1 else target
    column = Column(str(target.columns[0]), nw.from_native(target.iloc[:, 0], series_only=True))
    is_list = column.kind == "list" or (meaning is not None and meaning.kind == "label" and column.kind == "text")
    if target.shape[1] == 1 and is_list:
        y = _indicator(column, [] if meaning is None else [str(name) for name in meaning.names or ()])
        if not (y == 1).any(axis=None):
            return None  # the column shows something else than the names of labels
    is_number = meaning is not None and meaning.kind == "number"
    if is_number and y.nunique() > _LEVELS:
        return None  # how a topic goes with a number is a correlation, which is told of all columns
    coordinates = folder.topic_coordinates.astype(np.float64)
    ahead = (coordinates - coordinates.mean(axis=0)) / np.maximum(coordinates.std(axis=0), 1e-12)
    table = read_groups(None, _with_gaps(y), len(folder)).means(ahead)
    return [
        [
            {"name": str(json_value(name)), "ahead": float(value)}
            for name, value in (column if is_number else column.sort_values(ascending=False)).items()
        ]
        for _, column in table.items()
    ]


def _indicator(column: Column, names: list[str]) -> pd.DataFrame:
    """Return a column of 0 and 1 for each label.

    Labels are in lists, or in texts that separate them; rows whose labels are unknown are NaN.
    """
    separator = "" if column.kind == "list" else separator_of(column) or ""
    indicator = np.zeros((len(column), len(names)))
    indicator[~column.is_there] = np.nan
    codes = {name: code for code, name in enumerate(names)}
    for row in np.flatnonzero(column.is_there):
        value = column.values[row]
        tags = tags_in(value, separator) if isinstance(value, str) else tags_of(column.lists[row] or [])
        indicator[row, [codes[tag] for tag in tags if tag in codes]] = 1
    return pd.DataFrame(indicator, columns=names)


def _with_gaps(y: Any) -> Any:
    """Return whole numbers that are read as floats because some are missing as whole numbers again."""
    if isinstance(y, pd.Series) and y.dtype.kind == "f" and y.isna().any() and (y.dropna() % 1 == 0).all():
        return y.astype("Int64").astype(object)
    return y
