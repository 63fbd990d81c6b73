"""Relations of topics: strengths of their features, neighbours, and the tree of those that items have together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform

from harmonium.queries.topics.features import ranking
from harmonium.training import FittedModel

# neighbours of a topic that are named: a convention
_NEIGHBOURS = 3
# correlation from which topics go together at all: a convention; those of factors are 0 but for roundings
_LEAST = 0.05


def feature_strengths(model: FittedModel, features: Sequence[dict[str, list[str]]]) -> list[dict[str, list[float]]]:
    """Return how strong the named features of each topic are, as shares of the strongest of their view.

    Parameters
    ----------
    model : FittedModel
        The model.
    features : sequence of dict of str to list of str
        Names of features by view, for each topic.

    Returns
    -------
    list of dict of str to list of float
        Numbers between 0 and 1 in the order of the names: what `ranking` ranks by, 0 if it is negative. A view whose
        names stand for several groups of features has none.
    """
    tables = {
        view: ranking(model, view)
        for view in {view for topic in features for view in topic}
        if view in model.feature_names
    }
    tables = {view: table for view, table in tables.items() if table.index.is_unique}
    found = []
    for place, topic in enumerate(features):
        own = {}
        for view, names in topic.items():
            if view in tables and set(names) <= set(tables[view].index):
                sizes = np.maximum(tables[view].iloc[:, place].loc[names].to_numpy(dtype=np.float64), 0)
                own[view] = [round(float(size), 4) for size in sizes / max(sizes.max(initial=0.0), 1e-12)]
        found.append(own)
    return found


def topic_correlations(coordinates: np.ndarray) -> np.ndarray:
    """Return the correlations of topics over the items; 0 with a topic that is the same for all items.

    Examples
    --------
    >>> topic_correlations(np.array([[0.0, 1.0, 1.0], [1.0, 0.0, 1.0]])).round(3).tolist()
    [[1.0, -1.0, 0.0], [-1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    values = coordinates.astype(np.float64) - coordinates.mean(axis=0, dtype=np.float64)
    sizes = np.linalg.norm(values, axis=0)
    values = np.where(sizes > 1e-9, values / np.maximum(sizes, 1e-12), 0.0)
    correlations: np.ndarray = np.clip(values.T @ values, -1, 1)
    np.fill_diagonal(correlations, 1.0)
    return correlations


def neighbours(correlations: np.ndarray, topic: int, among: Sequence[int]) -> list[tuple[int, float]]:
    """Return the topics that items have most often together with a topic, and the correlations with them.

    Examples
    --------
    >>> neighbours(np.array([[1.0, 0.6, -0.2], [0.6, 1.0, 0.0], [-0.2, 0.0, 1.0]]), 0, [0, 1, 2])
    [(1, 0.6)]
    """
    others = sorted((other for other in among if other != topic), key=lambda other: -correlations[topic, other])
    sizes = [(other, float(correlations[topic, other])) for other in others[:_NEIGHBOURS]]
    return [(other, size) for other, size in sizes if size >= _LEAST]


def tree_of_topics(correlations: np.ndarray, topics: Sequence[int]) -> dict[str, Any] | None:
    """Return the tree of some topics, as `topic_tree` groups them: complete linkage by 1 minus correlation.

    Parameters
    ----------
    correlations : ndarray of shape (n_topics, n_topics)
        Correlations of all topics.
    topics : sequence of int
        Those of the tree.

    Returns
    -------
    dict or None
        ``order`` of the topics, from top to bottom; and ``joins``, each with the places ``one`` and ``other`` in that
        order of the two branches that meet, their heights ``one_height`` and ``other_height``, and the ``height`` at
        which they meet: 1 minus the smallest correlation between topics of the two. None for fewer than three topics,
        and if no two of them go together.

    Examples
    --------
    >>> tree = tree_of_topics(np.array([[1.0, 0.1, 0.8], [0.1, 1.0, 0.0], [0.8, 0.0, 1.0]]), [0, 1, 2])
    >>> [round(join["height"], 3) for join in tree["joins"]]
    [0.2, 1.0]
    """
    if len(topics) < 3:
        return None
    distance = 1 - correlations[np.ix_(list(topics), list(topics))]
    np.fill_diagonal(distance, 1)
    if distance.min() > 1 - _LEAST:
        return None
    np.fill_diagonal(distance, 0)
    tree = linkage(squareform(distance, checks=False), "complete", optimal_ordering=True)
    leaves = leaves_list(tree)
    places = {int(leaf): float(place) for place, leaf in enumerate(leaves)}
    heights = dict.fromkeys(range(len(topics)), 0.0)
    joins = []
    for number, (one, other, height, _) in enumerate(tree.tolist(), start=len(topics)):
        ends = int(one), int(other)
        joins.append(
            {
                "one": places[ends[0]],
                "other": places[ends[1]],
                "one_height": heights[ends[0]],
                "other_height": heights[ends[1]],
                "height": height,
            }
        )
        places[number], heights[number] = (places[ends[0]] + places[ends[1]]) / 2, height
    return {"order": [int(topics[leaf]) for leaf in leaves], "joins": joins}
