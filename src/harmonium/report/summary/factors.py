"""Summary of factors, as MOFA shows them: weights by view, a scatter of two factors, and who has which views."""

from __future__ import annotations

from typing import Any

import numpy as np

from harmonium.model_folder import ModelFolder
from harmonium.queries.named_views import named_views
from harmonium.queries.topics.features import ranking
from harmonium.report.summary.item_map import colouring
from harmonium.report.tables.coverage import coverage_table
from harmonium.views import Views

# weights of a view, factors and points that are shown: as many as one reads
_WEIGHTS, _FACTORS, _POINTS = 6, 12, 1500


def has_factors(folder: ModelFolder) -> bool:
    """Tell whether hidden units may be negative: then they are factors, whose weights have signs."""
    return not folder.model.fitted_.energy.hidden.support.bounded


def factors_summary(folder: ModelFolder, explained: dict[str, Any]) -> dict[str, Any] | None:
    """Return the factors of a folder; None if it has topics.

    Parameters
    ----------
    folder : ModelFolder
        The folder.
    explained : dict
        What `explained_summary` returns: factors that explain most come first.

    Returns
    -------
    dict or None
        ``factors``, each with its number ``topic`` and ``weights``, a list for each view of features with their signed
        weights, the largest first; ``largest``, the largest weight of each view; and ``scatter``, the values of two
        factors for some of the items (``rows``, ``x``, ``y``), numbers of these factors, and ``colour`` by the target.
    """
    if not has_factors(folder):
        return None
    numbers = [topic.number for topic in folder.model.fitted_.topics]
    order = [*explained["topics"], *(number for number in numbers if number not in explained["topics"])][:_FACTORS]
    tables = {view: ranking(folder.model.fitted_, view, "weight") for view in named_views(folder.model.fitted_)}
    factors = [
        {
            "topic": number,
            "weights": {
                view: _largest(table.index.tolist(), table.iloc[:, numbers.index(number)].to_numpy(dtype=np.float64))
                for view, table in tables.items()
            },
        }
        for number in order
    ]
    largest = {view: float(np.abs(table.to_numpy()).max(initial=0.0)) for view, table in tables.items()}
    return {"factors": factors, "largest": largest, "scatter": _scatter(folder, order, numbers)}


def _largest(names: list[Any], weights: np.ndarray) -> list[dict[str, Any]]:
    best = np.argsort(-np.abs(weights), kind="stable")[:_WEIGHTS]
    return [{"feature": str(names[row]), "weight": float(weights[row])} for row in best]


def _scatter(folder: ModelFolder, order: list[int], numbers: list[int]) -> dict[str, Any] | None:
    """Return the values of the first two factors."""
    if len(order) < 2:
        return None
    rows = np.unique(np.linspace(0, len(folder) - 1, min(len(folder), _POINTS)).astype(int))
    x, y = (folder.topic_coordinates[rows, numbers.index(number)] for number in order[:2])
    target = folder.target
    return {
        "factors": order[:2],
        "rows": rows.tolist(),
        "x": [round(float(value), 4) for value in x],
        "y": [round(float(value), 4) for value in y],
        "colour": None if target is None else colouring(target.iloc[rows, 0]),
    }


def coverage_summary(folder: ModelFolder, views: Views | None) -> list[dict[str, Any]]:
    """Return how many items have which views, the most frequent combination first; nothing if views are unknown.

    Parameters
    ----------
    folder : ModelFolder
        The folder.
    views : Views or None
        The views of its items, if they are known.

    Returns
    -------
    list of dict
        The number ``n`` of items of each combination, and ``views``, the names of those that they have.
    """
    if views is None:
        return []
    table = coverage_table(folder.model, views)
    names = table.columns[:-1]
    return [
        {"n": int(row[-1]), "views": [str(name) for name, has in zip(names, row[:-1], strict=True) if has]}
        for row in table.itertuples(index=False, name=None)
    ]
