"""The summary of a model folder: one dict of plain JSON values, which the report is a template of.

Whoever wants another page, a slide or a dashboard builds on the dict alone; nothing of the page is decided here.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from harmonium.estimators.input import known_views
from harmonium.model_folder import ModelFolder
from harmonium.model_folder.json_values import json_value
from harmonium.report.summary.cards import Cards
from harmonium.report.summary.columns import topics_with_columns
from harmonium.report.summary.explained import explained_summary
from harmonium.report.summary.factors import coverage_summary, factors_summary
from harmonium.report.summary.held_out import held_out_summary
from harmonium.report.summary.item_map import map_summary
from harmonium.report.summary.item_views import views_of_items
from harmonium.report.summary.topics import topics_summary, tree_summary
from harmonium.views import Views

__all__ = ["summarise"]


def summarise(folder: ModelFolder, n_features: int = 10, n_items: int = 4, X: Any = None) -> dict[str, Any]:
    """Return everything that a report says about a model and its items.

    Parameters
    ----------
    folder : ModelFolder
        The folder.
    n_features : int, default=10
        Number of features of each topic and view.
    n_items : int, default=4
        Number of typical items of each topic; at least eight if items have pictures.
    X : dict, Views, MuData, …, optional
        The items as the model took them, for shares of views that topics explain. By default they are read from the
        columns that the folder keeps.

    Returns
    -------
    dict
        What JSON can hold. Beside the entries of `ModelFolder.summary`: ``title``; ``made``, the day; ``held_out``,
        precision and recall, calibration and mistakes; ``map``; and ``explained``, shares of deviance by view and
        topic. ``topics`` also have labels, shares, classes, strengths of features, neighbours, the columns that they
        go with, and cards of typical items with their pictures; ``tree`` says which go together.
        ``factors`` has signed weights and a scatter if hidden units may be negative; ``coverage`` how many items have
        which views.

    Examples
    --------
    >>> from harmonium import ModelFolder
    >>> summary = summarise(ModelFolder.open("wines"))  # doctest: +SKIP
    >>> summary["topics"][0]["label"]  # doctest: +SKIP
    'tannins, cassis, cabernet'
    """
    cards = Cards(folder)
    views = _views(folder, X)
    explained = explained_summary(folder, views)
    topics = topics_summary(folder, cards, n_features, n_items)
    return {
        **json_value(folder.summary(n_features, n_items)),
        "title": folder.path.name,
        "made": datetime.now(UTC).strftime("%Y-%m-%d"),
        "held_out": held_out_summary(folder, cards),
        "topics": topics_with_columns(folder, topics),
        "tree": tree_summary(folder, topics),
        "map": map_summary(folder, cards),
        "explained": explained,
        "factors": factors_summary(folder, explained),
        "coverage": coverage_summary(folder, views),
    }


def _views(folder: ModelFolder, X: Any) -> Views | None:
    """Return the views of the items; None if the folder does not keep the columns."""
    if X is not None:
        views = known_views(folder.model, X)
        if len(views) != len(folder):
            raise ValueError(f"X must have the {len(folder):,} items of the folder; got {len(views):,}; pass the same.")
        return views
    try:
        return views_of_items(folder)
    except ValueError:
        return None
