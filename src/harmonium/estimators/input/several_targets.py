"""Several targets at once, each of a kind of its own: columns of y, and their weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, get_args

import narwhals as nw
import numpy as np
import pandas as pd
from narwhals.exceptions import DuplicateError

from harmonium.core.targets import Kind
from harmonium.core.validation import few_of, shown
from harmonium.tables import Tags
from harmonium.tables.column import Column


@dataclass(frozen=True, eq=False)
class TargetColumn:
    """One of several targets.

    Attributes
    ----------
    name : str
        Name of the column.
    kind : {"number", "class", "label"}
        Numbers, classes, or tags: a label for each of them.
    values : ndarray
        Its values, as estimators take them.
    weight : ndarray of shape (rows,), optional
        Weights of its cells.
    """

    name: str
    kind: Kind
    values: Any
    weight: np.ndarray | None = None


def kind_of(column: Column) -> Kind:
    """Return what a column holds: numbers of more than two values, tags, or classes, such as all categoricals.

    Examples
    --------
    >>> columns = [[1.5, 2, 7], ["a", "b", None], [["war"], [], ["war", "drama"]]]
    >>> [kind_of(Column("y", nw.from_native(pd.Series(cells), series_only=True))) for cells in columns]
    ['number', 'class', 'label']
    """
    if column.series.dtype in (nw.Categorical, nw.Enum):
        return "class"
    if column.numbers is not None and column.kind != "bool":
        return "number" if column.n_distinct > 2 else "class"
    return "label" if Tags.suits(column) else "class"


def read_targets(
    y: Any, sample_weight: Any = None, kinds: Mapping[str, Kind] | None = None, needs_all: bool = True
) -> list[TargetColumn]:
    """Return the columns of y.

    Parameters
    ----------
    y : data frame, Series, or array-like of shape (rows, targets)
        Targets. Columns without names are called "0", "1", ….
    sample_weight : array-like of shape (rows,) or (rows, targets), optional
        Weights of rows, or of cells.
    kinds : mapping of str to {"number", "class", "label"}, optional
        Kinds of some targets.
    needs_all : bool, default=True
        Whether kinds of targets that y does not have are refused.

    Returns
    -------
    list of TargetColumn
        The targets in the order of the columns.

    Examples
    --------
    >>> frame = pd.DataFrame({"rating": [1.0, 4.5, 3.0, None], "place": ["Rome", None, "Oslo", "Rome"]})
    >>> [(target.name, target.kind) for target in read_targets(frame)]
    [('rating', 'number'), ('place', 'class')]
    """
    columns = _columns(y)
    names = [column.name for column in columns]
    if kinds is not None and not isinstance(kinds, Mapping):
        raise TypeError(f"kinds must be a mapping of targets to kinds; got {kinds!r}; pass {{'rating': 'number'}}.")
    asked = dict(kinds or {})
    for name, kind in asked.items():
        if needs_all and name not in names:
            raise ValueError(
                f"Targets must be the columns of y, {few_of(names)}; got a kind of {shown(name)}; correct the name."
            )
        if kind not in get_args(Kind):
            raise ValueError(f"kinds must be 'number', 'class' or 'label'; got {kind!r}; leave it out to let y tell.")
    weights = _weights(sample_weight, len(columns[0]), len(columns))
    found = []
    for number, column in enumerate(columns):
        kind = asked.get(column.name) or kind_of(column)
        weight = weights[:, number] if weights.ndim == 2 else None if sample_weight is None else weights
        found.append(TargetColumn(column.name, kind, _values(column, kind), weight))
    return found


def _columns(y: Any) -> list[Column]:
    """Return the columns of anything that may be targets."""
    try:
        data = nw.from_native(y, eager_only=True, allow_series=True, pass_through=True)
    except DuplicateError:
        raise ValueError("y must have columns of different names; some occur twice; rename them.") from None
    if isinstance(data, nw.Series):
        return [Column(str(data.name or "0"), data)]
    if not isinstance(data, nw.DataFrame):
        values = np.asarray(y, dtype=None if isinstance(y, np.ndarray) else object)
        if values.ndim not in (1, 2) or 0 in values.shape:
            raise ValueError(
                f"y must have a row for each row of X and a column for each target; got shape {values.shape}; pass a "
                "data frame, or the names of columns of X."
            )
        data = nw.from_native(pd.DataFrame(values).infer_objects(), eager_only=True)
    return [Column(str(series.name), series) for series in data.iter_columns()]


def _values(column: Column, kind: Kind) -> Any:
    """Return the cells of a column; what is unknown is NaN or None."""
    if kind == "number":
        if column.numbers is None:
            raise ValueError(f"A target of numbers must hold some; {column.name!r} holds none; pass another kind.")
        return np.asarray(column.numbers, dtype=np.float64)
    if kind == "label":
        values = np.empty(len(column), dtype=object)
        values[:] = column.series.to_list()
        return values
    return column.series.to_native()


def _weights(sample_weight: Any, n_rows: int, n_targets: int) -> np.ndarray:
    """Return weights of rows or of cells; refuse other shapes."""
    try:
        weights = np.asarray(np.ones(n_rows) if sample_weight is None else sample_weight, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"sample_weight must hold numbers; got {str(sample_weight)[:60]!r}; pass one for each row, or cell of y."
        ) from None
    if weights.shape not in ((n_rows,), (n_rows, n_targets)):
        raise ValueError(
            f"sample_weight must have a number for each row of y, or for each cell, ({n_rows}, {n_targets}); got shape "
            f"{weights.shape}; pass one of both."
        )
    return weights
