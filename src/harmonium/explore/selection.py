"""Summary of some selected items: what sets them apart from the rest, their target, and the most typical of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse

from harmonium.explore.values import Values
from harmonium.model_folder import ModelFolder
from harmonium.model_folder.json_values import json_value
from harmonium.report.summary.column_values import as_date

# topics, classes and items that are listed: as many as a panel has room for
_TOPICS, _CLASSES, _ITEMS = 6, 6, 12
# differences of each kind that are listed, and the least correlation that one would see in a picture: conventions
_DIFFERENCES, _LEAST = 12, 0.05
# more different numbers than this are described by their mean alone: a convention
_MOST_NUMBERS = 20


def selection_summary(
    folder: ModelFolder, rows: np.ndarray, labels: Mapping[int, str], values: Values
) -> dict[str, Any]:
    """Return what is special about some items.

    Parameters
    ----------
    folder : ModelFolder
        The folder.
    rows : ndarray of int
        Numbers of the items, each once.
    labels : mapping of int to str
        Labels of the topics to list.
    values : Values
        Columns and topics of all items.

    Returns
    -------
    dict
        The number ``n`` of items; ``topics`` that they have more of than all items, in standard deviations, the most
        first; ``differences``, see `differences`; ``target``, how it is distributed; and ``items``, numbers of those
        that show most of these topics.
    """
    everything = folder.topic_coordinates.astype(np.float64)
    mean, spread = everything.mean(axis=0), np.maximum(everything.std(axis=0), 1e-12)
    own = (everything[rows] - mean) / spread
    ahead = own.mean(axis=0)
    numbers = [topic.number for topic in folder.model.fitted_.topics]
    order = [int(place) for place in np.argsort(-ahead, kind="stable") if numbers[place] in labels][:_TOPICS]
    typical = np.argsort(-own @ ahead, kind="stable")[:_ITEMS]
    return {
        "n": len(rows),
        "topics": [
            {"topic": numbers[place], "label": labels[numbers[place]], "ahead": float(ahead[place])} for place in order
        ],
        "differences": differences(folder, rows, values),
        "target": _target_summary(folder, rows),
        "items": rows[typical].tolist(),
    }


def differences(folder: ModelFolder, rows: np.ndarray, values: Values) -> list[dict[str, Any]]:
    """Return what sets some items apart from the rest: topics, words and values of columns, the largest first.

    Parameters
    ----------
    folder : ModelFolder
        The folder.
    rows : ndarray of int
        Numbers of the items, each once.
    values : Values
        Columns and topics of all items.

    Returns
    -------
    list of dict
        Up to twelve of each ``kind``, "topic", "word" or "column". Each has the ``name`` of the topic, word or column,
        ``by`` for those that the map can be coloured by, the ``value`` of a class or tag, what the ``selected`` and the
        ``rest`` have, as shares or as means (``unit`` is "share", "mean" or "date"), and the ``correlation``
        between being selected and having it, by which they are ranked. Nothing if all items are selected.

    Notes
    -----
    The correlation is Pearson's, over items whose value is known: r = (m₁ - m₀) √(f(1 - f)) / s, for means m₁ of the
    selected and m₀ of the rest, the selected share f and the standard deviation s. It is the same measure for
    words (φ) and numbers, but no test: whoever draws around neighbours on a map selects what they have in common.
    """
    chosen = np.zeros(len(folder), dtype=bool)
    chosen[rows] = True
    if chosen.all():
        return []
    found = [entry for by in values for entry in _column_differences(by, values, chosen)]
    found += _word_differences(folder, chosen)
    found = [entry for entry in found if abs(entry["correlation"]) >= _LEAST]
    found.sort(key=lambda entry: -abs(entry["correlation"]))
    ranks: dict[str, int] = {}
    kept = []
    for entry in found:
        ranks[entry["kind"]] = ranks.get(entry["kind"], 0) + 1
        if ranks[entry["kind"]] <= _DIFFERENCES:
            kept.append(entry)
    return kept


def _column_differences(by: str, values: Values, chosen: np.ndarray) -> list[dict[str, Any]]:
    """Return how a column or topic differs; texts differ in their words."""
    column = values[by]
    kind, _, name = by.partition(":")
    about = {"kind": kind, "name": values.labels[int(name)] if kind == "topic" else name, "by": by}
    there = column.is_there
    found = []
    if 0 < there.sum() < len(there):
        found.append({**about, "by": None, "value": "(missing)", **_two_means(~there, chosen), "unit": "share"})
    if column.numbers is not None:
        two = _two_means(column.numbers[there], chosen[there])
        if column.kind == "date" and two["selected"] is not None and two["rest"] is not None:
            two |= {part: as_date(two[part]) for part in ("selected", "rest")}
        found.append({**about, "value": None, **two, "unit": "date" if column.kind == "date" else "mean"})
    elif column.has is not None:
        found += [
            {**about, "value": str(value), **two, "unit": "share"}
            for value, two in zip(column.names, _shares(column.has, there, chosen), strict=True)
        ]
    return found


def _word_differences(folder: ModelFolder, chosen: np.ndarray) -> list[dict[str, Any]]:
    """Return how words differ; tags and classes differ as columns."""
    words = folder.words
    table = folder.model.fitted_.table
    if words is None or table is None:
        return []
    texts = {column.view for column in table.columns if column.reader.reads_texts}
    names = [(view, name) for view in words.views for name in folder.model.fitted_.feature_names[view]]
    return [
        {"kind": "word", "name": str(name), "by": None, "value": None, **two, "unit": "share"}
        for (view, name), two in zip(names, _shares(words.matrix, np.ones_like(chosen), chosen), strict=True)
        if view in texts
    ]


def _shares(has: scipy.sparse.csc_array, there: np.ndarray, chosen: np.ndarray) -> list[dict[str, Any]]:
    """Return the shares of the known rows, selected and others, that have each column of a sparse matrix."""
    n_all, n_chosen = int(there.sum()), int((there & chosen).sum())
    counts = np.diff(has.indptr).astype(np.float64)
    inside = np.bincount(
        np.repeat(np.arange(has.shape[1]), np.diff(has.indptr)), weights=chosen[has.indices], minlength=has.shape[1]
    )
    nothing = {"selected": None, "rest": None, "correlation": 0.0}
    if not 0 < n_chosen < n_all:
        return [nothing] * has.shape[1]
    selected, rest, overall = inside / n_chosen, (counts - inside) / (n_all - n_chosen), counts / n_all
    spread = np.sqrt(overall * (1 - overall))
    share = n_chosen / n_all
    ahead = (selected - rest) * np.sqrt(share * (1 - share))
    correlation = np.divide(ahead, spread, out=np.zeros_like(ahead), where=spread > 1e-12)
    return [
        {"selected": one, "rest": other, "correlation": size}
        for one, other, size in zip(selected.tolist(), rest.tolist(), correlation.tolist(), strict=True)
    ]


def _two_means(numbers: np.ndarray, chosen: np.ndarray) -> dict[str, Any]:
    """Return the means of selected and other rows, and the correlation with being selected."""
    numbers = numbers.astype(np.float64)
    if not 0 < chosen.sum() < len(chosen):
        return {"selected": None, "rest": None, "correlation": 0.0}
    spread, share = numbers.std(), chosen.mean()
    selected, rest = float(numbers[chosen].mean()), float(numbers[~chosen].mean())
    size = 0.0 if spread <= 1e-12 else (selected - rest) * float(np.sqrt(share * (1 - share)) / spread)
    return {"selected": selected, "rest": rest, "correlation": size}


def _target_summary(folder: ModelFolder, rows: np.ndarray) -> dict[str, Any] | None:
    """Return how the first target is distributed over some items; None if there is none."""
    target = folder.target
    if target is None:
        return None
    values = target.iloc[rows, 0].dropna()
    is_number = values.dtype.kind in "iuf"
    shares = values.map("{:g}".format if is_number else str).value_counts(normalize=True).head(_CLASSES)
    if is_number:  # ratings stand in their own order
        shares = shares.loc[sorted(shares.index, key=float)]
    if is_number and target.iloc[:, 0].nunique() > _MOST_NUMBERS:
        shares = shares[:0]
    return {
        "column": target.columns[0],
        "mean": json_value(values.mean()) if is_number else None,
        "classes": [{"name": str(name), "share": float(share)} for name, share in shares.items()],
    }
