"""Shares of views that topics explain, over some of the items of a folder."""

from __future__ import annotations

from typing import Any

import numpy as np

from harmonium.model_folder import ModelFolder
from harmonium.model_folder.json_values import json_value
from harmonium.report.tables.explained import explained_table
from harmonium.views import Views

# items that shares are taken over, and topics shown: conventions, for time and room
_ITEMS = 300
_TOPICS = 12


def explained_summary(folder: ModelFolder, views: Views | None) -> dict[str, Any]:
    """Return the share of the deviance of each view that topics explain.

    Parameters
    ----------
    folder : ModelFolder
        The folder.
    views : Views or None
        The views of its items; None if the folder does not keep the columns.

    Returns
    -------
    dict
        The number ``n`` of items it was taken over, the ``topics`` that explain most of some view, most first, and for
        each of the ``views`` its name, the share of ``all`` topics together and the ``shares`` of those topics alone;
        if the folder does not keep the columns, no views and a ``reason``.
    """
    if views is None:
        reason = "The folder keeps none of the columns that the model was fitted on; pass the items as X."
        return {"n": 0, "topics": [], "views": [], "reason": reason}
    rows = np.unique(np.linspace(0, len(folder) - 1, min(len(folder), _ITEMS)).astype(int))
    table = explained_table(folder.model, views[rows])
    alone = table.drop(columns="all")
    order = alone.max().sort_values(ascending=False, kind="stable").index[:_TOPICS].tolist()
    shown = [
        {"view": str(view), "all": json_value(row["all"]), "shares": [json_value(row[topic]) for topic in order]}
        for view, row in table.iterrows()
    ]
    return {"n": len(rows), "topics": [json_value(topic) for topic in order], "views": shown, "reason": None}
