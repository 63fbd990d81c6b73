"""Queries, in words or by some columns, as views that a model takes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import scipy.sparse

from harmonium.core.notices import notice
from harmonium.core.validation import few_of, shown
from harmonium.estimators import Harmonium
from harmonium.families import Family
from harmonium.tables import Table
from harmonium.views import Views


def query_views(model: Harmonium, query: Any) -> Any:
    """Return the views of a query.

    Parameters
    ----------
    model : Harmonium
        A fitted model; for words, or columns by name, one of a table.
    query : str, mapping of str to object, or anything that the model takes
        Some words, which are looked for in all columns of words and tags, and encoded for columns that have an
        embedding; or values of some columns of one item, by name. What words and tags do not name is unknown, and not
        absent. Anything else, such as a data frame, stands for items as they are.

    Returns
    -------
    object
        What the model takes as X.

    Raises
    ------
    ValueError
        If the model was not fitted on a table, or knows none of the words or columns.
    """
    if not isinstance(query, str | Mapping):
        return query
    table = model.fitted_.table
    if table is None:
        if isinstance(query, Mapping):
            return query  # views by name
        raise ValueError(
            "A search by words needs a model that was fitted on a table; this one was fitted on matrices, which do not "
            "say what texts become; pass views by name."
        )
    if isinstance(query, str):
        table, lacking = table.without_unready()
        if lacking:
            notice(
                f"The search goes by words alone, as the encoder {lacking[0]!r} is not here; pass it as encoders of "
                "open, or as --embed."
            )
    values = _values_in(table, query) if isinstance(query, str) else dict(query)
    unknown = [name for name in values if name not in {column.name for column in table.columns}]
    if unknown:
        names = few_of(column.name for column in table.columns)
        raise ValueError(f"A query may name columns of the table ({names}); got {shown(unknown[0])}; correct the name.")
    return _views(model, table, {name: value for name, value in values.items() if value is not None})


def _values_in(table: Table, text: str) -> dict[str, Any]:
    """Return the values of columns that a text names; refuse one that names none."""
    values = {column.name: column.said_in(text) for column in table.columns}
    if all(value is None for value in values.values()):
        raise ValueError(
            f"A search needs words that the model knows; none of {text[:60]!r} is in its vocabulary; try other words."
        )
    return values


def _views(model: Harmonium, table: Table, values: Mapping[str, Any]) -> Views:
    """Return the views of one item of which some columns are known; what words and tags do not name is missing."""
    if not values:
        raise ValueError("A query must say something; all of its values are missing; give at least one.")
    # one row of objects, as a value may be a list
    row = {column.name: pd.Series([values.get(column.name)], dtype=object) for column in table.columns}
    views = table.read(nw.from_native(pd.DataFrame(row), eager_only=True))
    for column in table.columns:
        if column.reader.names_some and column.name in values:
            views = _with_named_alone(views, column.view, model.families_[column.view])
    return views


def _with_named_alone(views: Views, name: str, family: Family) -> Views:
    """Return views in which words or tags that are not named are missing, if each can be missing by itself."""
    if family.codec.n_sites < family.n_features_:
        return views  # counts of a text say how the words that it has are shared out, and nothing about others
    row = dense_row(views.source(name).matrix)
    return views.with_view(name, np.where(row == 0, np.nan, row), views.source(name).columns)


def dense_row(matrix: Any) -> np.ndarray:
    """Return the only row of a matrix as an array of shape (1, columns)."""
    return matrix.toarray() if scipy.sparse.issparse(matrix) else np.asarray(matrix)
