"""Summaries of columns: what they were read as, their distribution, and what they go with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse

from harmonium.model_folder import ModelFolder
from harmonium.model_folder.json_values import json_records
from harmonium.report.summary.cards import shortened
from harmonium.report.summary.column_values import ColumnValues, as_date, column_values

# names and bins of a distribution, texts and other columns that are listed: as many as one reads
_NAMES, _BINS, _TEXTS, _ASSOCIATIONS = 12, 20, 5, 12
# letters of a text that is an example
_LETTERS = 160


def column_summary(folder: ModelFolder, name: str, column: ColumnValues) -> dict[str, Any]:
    """Return what a column holds.

    Parameters
    ----------
    folder : ModelFolder
        The folder.
    name : str
        Name of the column.
    column : ColumnValues
        Its values.

    Returns
    -------
    dict
        ``name``, ``kind``, ``role``, ``view`` and ``note`` (as the model reads it; None if it does not), ``is_target``,
        the number ``n`` of items, the share ``missing``, the number of ``distinct`` values, and its ``distribution``:
        ``bars``, each with its ``label`` and number ``n`` of items (of numbers and dates with ends ``low`` and
        ``high``), ``numbers`` (smallest, quartiles, largest, mean and standard deviation; None if it has none), and
        ``examples`` of texts.
    """
    records = json_records(folder.model.views_.reset_index()) if folder.model.fitted_.table is not None else []
    read = next((record for record in records if record["column"] == name), None)
    values = folder.items[name]
    texts = values[column.is_there] if column.kind == "text" else values[:0]
    return {
        "name": name,
        "kind": column.kind,
        **{part: None if read is None else read[part] for part in ("role", "view", "note")},
        "is_target": folder.target is not None and name in folder.target.columns,
        "n": len(values),
        "missing": float(1 - column.is_there.mean()) if len(values) else 0.0,
        "distinct": _distinct(column, values),
        "distribution": {
            "bars": _bins(column) if column.numbers is not None else _names(column),
            "numbers": _quartiles(column),
            "examples": [shortened(str(text), _LETTERS) for text in dict.fromkeys(texts.iloc[:50].map(str))][:_TEXTS],
        },
    }


def _distinct(column: ColumnValues, values: Any) -> int:
    if column.numbers is not None:
        return len(np.unique(column.numbers[column.is_there]))
    return len(column.names) if column.kind == "tags" else int(values[column.is_there].map(str).nunique())


def _names(column: ColumnValues) -> list[dict[str, Any]]:
    if column.has is None:
        return []
    counts = np.diff(column.has.indptr)
    bars = [
        {"label": str(name), "n": int(n), "low": None, "high": None}
        for name, n in zip(column.names[:_NAMES], counts, strict=False)
    ]
    if len(counts) > _NAMES:
        label = f"{len(counts) - _NAMES} others"
        bars.append({"label": label, "n": int(counts[_NAMES:].sum()), "low": None, "high": None})
    return bars


def _bins(column: ColumnValues) -> list[dict[str, Any]]:
    """Return a histogram: a bar for each of a few different values, or for each of twenty ranges."""
    assert column.numbers is not None
    known = column.numbers[column.is_there]
    if not len(known):
        return []
    spelled = as_date if column.kind == "date" else lambda value: f"{value:.4g}"
    different, counts = np.unique(known, return_counts=True)
    if len(different) <= _NAMES:
        return [
            {"label": spelled(value), "n": int(n), "low": float(value), "high": float(value)}
            for value, n in zip(different.tolist(), counts, strict=True)
        ]
    counts, edges = np.histogram(known, bins=_BINS)
    return [
        {"label": f"{spelled(low)} to {spelled(high)}", "n": int(n), "low": float(low), "high": float(high)}
        for n, low, high in zip(counts, edges[:-1].tolist(), edges[1:].tolist(), strict=True)
    ]


def _quartiles(column: ColumnValues) -> dict[str, Any] | None:
    if column.numbers is None or not column.is_there.any():
        return None
    known = column.numbers[column.is_there]
    parts = {"smallest": 0, "lower": 0.25, "median": 0.5, "upper": 0.75, "largest": 1}
    found = {name: float(np.quantile(known, part)) for name, part in parts.items()} | {"mean": float(known.mean())}
    if column.kind == "date":
        return {name: as_date(value) for name, value in found.items()} | {"sd": None}
    return {**found, "sd": float(known.std())}


def topics_with_columns(folder: ModelFolder, topics: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return summaries of topics with ``columns``, those that each goes with, the strongest first."""
    columns = {name: column_values(name, folder.items[name]) for name in folder.items.columns}
    numbers = [topic.number for topic in folder.model.fitted_.topics]
    own = (column_values("", pd.Series(values)) for values in folder.topic_coordinates.T.astype(np.float64))
    found = dict(zip(numbers, own, strict=True))
    return [{**topic, "columns": associations(found[topic["topic"]], columns)} for topic in topics]


# ---- what goes with what -----------------------------------------------------------------------------------------
def associations(one: ColumnValues, others: Mapping[str, ColumnValues]) -> list[dict[str, Any]]:
    """Return how a column goes with others, the strongest first.

    Parameters
    ----------
    one : ColumnValues
        The column.
    others : mapping of str to ColumnValues
        Columns or topics.

    Returns
    -------
    list of dict
        Up to twelve, each with its ``name``, ``size`` and ``measure``; see `association`.
    """
    found = [{"name": name, **association(one, other)} for name, other in others.items() if other is not one]
    found = [entry for entry in found if entry["size"] is not None]
    return sorted(found, key=lambda entry: -abs(entry["size"]))[:_ASSOCIATIONS]


def association(one: ColumnValues, other: ColumnValues) -> dict[str, Any]:
    """Return how strongly two columns go together, over the rows that have both.

    Parameters
    ----------
    one, other : ColumnValues
        The columns.

    Returns
    -------
    dict
        ``size`` between 0 and 1, negative for numbers of which one falls as the other grows, and ``measure``:
        "correlation" of numbers (Pearson's), "correlation ratio" of numbers and classes (the root of the share of
        variance between classes), "Cramér's V" of classes. Of tags it is the largest correlation of one tag, which
        ``measure`` names. ``size`` is None where nothing varies, or there are texts.

    Examples
    --------
    >>> import pandas as pd
    >>> from harmonium.report.summary.column_values import column_values
    >>> price = column_values("price", pd.Series([50.0, 60.0, 90.0, 100.0]))
    >>> kind = column_values("kind", pd.Series(["hut", "hut", "hotel", "hotel"]))
    >>> found = association(price, kind)
    >>> found["measure"], round(found["size"], 3)
    ('correlation ratio', 0.97)
    """
    nothing = {"size": None, "measure": ""}
    both = one.is_there & other.is_there
    if "text" in (one.kind, other.kind) or both.sum() < 3:
        return nothing
    if "tags" in (one.kind, other.kind):
        return _strongest_tag(one, other, both)
    if one.numbers is not None and other.numbers is not None:
        size = _correlation(one.numbers[both], other.numbers[both])
        return nothing if size is None else {"size": size, "measure": "correlation"}
    if one.numbers is None and other.numbers is None:
        size = _cramers_v(one.codes()[both], other.codes()[both])
        return nothing if size is None else {"size": size, "measure": "Cramér's V"}
    numbers, classes = (one, other) if one.numbers is not None else (other, one)
    assert numbers.numbers is not None
    size = _correlation_ratio(numbers.numbers[both], classes.codes()[both])
    return nothing if size is None else {"size": size, "measure": "correlation ratio"}


def _correlation(x: np.ndarray, y: np.ndarray) -> float | None:
    x, y = x - x.mean(), y - y.mean()
    scale = np.sqrt((x @ x) * (y @ y))
    return float(x @ y / scale) if scale > 1e-12 else None


def _correlation_ratio(numbers: np.ndarray, codes: np.ndarray) -> float | None:
    counts = np.bincount(codes)
    sums = np.bincount(codes, weights=numbers - numbers.mean())
    between = (sums[counts > 0] ** 2 / counts[counts > 0]).sum()
    total = len(numbers) * numbers.var()
    return float(np.sqrt(min(between / total, 1.0))) if total > 1e-12 and (counts > 0).sum() > 1 else None


def _cramers_v(one: np.ndarray, other: np.ndarray) -> float | None:
    table = scipy.sparse.coo_array((np.ones(len(one)), (one, other))).toarray()
    table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    smaller = min(table.shape) - 1
    if smaller < 1:
        return None
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    return float(np.sqrt(((table - expected) ** 2 / expected).sum() / table.sum() / smaller))


def _strongest_tag(one: ColumnValues, other: ColumnValues, both: np.ndarray) -> dict[str, Any]:
    """Return the largest correlation between single tags, classes or numbers of two columns, and its tags."""
    (x, x_names), (y, y_names) = _standardised(one, both), _standardised(other, both)
    if not len(x_names) or not len(y_names):
        return {"size": None, "measure": ""}
    table = x.T @ y / both.sum()
    row, column = np.unravel_index(np.abs(table).argmax(), table.shape)
    named = [name for name in (x_names[row], y_names[column]) if name]
    return {"size": float(np.clip(table[row, column], -1, 1)), "measure": f"correlation of {' and '.join(named)}"}


def _standardised(column: ColumnValues, rows: np.ndarray) -> tuple[np.ndarray, list[str]]:
    """Return what varies of a column, with mean 0 and variance 1: a number, or the most frequent tags or classes."""
    if column.numbers is not None:
        values, names = column.numbers[rows][:, None], [""]
    else:
        assert column.has is not None
        values, names = column.has[:, :_BINS].toarray()[rows].astype(np.float64), list(column.names[:_BINS])
    spread = values.std(axis=0)
    varies = spread > 1e-12
    return (values[:, varies] - values[:, varies].mean(axis=0)) / spread[varies], [
        name for name, does in zip(names, varies, strict=True) if does
    ]
