"""Shares of topics and of direct inputs in decisions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from harmonium.inspection import score_parts


def decision_table(model: Any, X: Any) -> pd.DataFrame:
    """Return how much of each decision came through topics, and how much directly.

    The decision of a row is what its prediction hangs on: by how much the score of the predicted class is ahead of the
    next one; for labels, how far the label that is nearest to its cut is above or below it; for numbers, how far the
    prediction is from the mean prediction of these rows. Each part counts by how far it is from its mean over the rows.

    Parameters
    ----------
    model : HarmoniumClassifier or HarmoniumRegressor
        A fitted model with one column of classes, or one number, or labels.
    X : dict, list, Views, Sequences, matrix, data frame, AnnData or MuData
        Views of some items.

    Returns
    -------
    DataFrame
        A row for each item, with the columns "topics" and, for each view that has a linear part, "directly from …", in
        units of scores, and "share of topics": the size of the first among the sizes of all.

    Examples
    --------
    >>> from harmonium import HarmoniumClassifier, Hinge
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(80, 3))
    >>> model = HarmoniumClassifier(4, head=Hinge(linear_part=False), random_state=0).fit(X, X[:, 0] > 0)
    >>> table = decision_table(model, X[:2])
    >>> table.columns.tolist(), table["share of topics"].tolist()
    (['topics', 'share of topics'], [1.0, 1.0])
    """
    meaning = model.fitted_.meaning
    if meaning.kind != "label" and meaning.n_columns > 1:
        raise ValueError(
            f"decision_table needs a model of one column of classes or numbers; got {meaning.n_columns} columns; fit a "
            "model for each, or use score_parts."
        )
    parts = score_parts(model, X)
    scores = np.sum(list(parts.values()), axis=0)
    rows = np.arange(len(scores))
    first, second = _compared(model, X, scores)
    table = {}
    for name, part in parts.items():
        if name != "bias":
            centred = part - part.mean(axis=0)
            against = 0.0 if second is None else centred[rows, second]
            table["topics" if name == "topics" else f"directly from {name}"] = centred[rows, first] - against
    frame = pd.DataFrame(table)
    sizes = frame.abs()
    total = sizes.sum(axis=1)
    frame["share of topics"] = np.where(total > 0, sizes["topics"] / total.where(total > 0, 1.0), 1.0)
    return frame


def _compared(model: Any, X: Any, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the output that the decision of each row is about, and the one it is compared with, if any."""
    kind = model.fitted_.meaning.kind
    if kind == "number":
        return np.zeros(len(scores), dtype=int), None
    if kind == "label":
        return np.argmin(np.abs(model.decision_function(X)), axis=1), None
    order = np.argsort(-scores, axis=1, kind="stable")
    return order[:, 0], order[:, 1]
