"""Checks of data against the model that they are for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from harmonium.core.notices import notice
from harmonium.core.validation import check_fitted, few_of
from harmonium.estimators.input.read_input import read_input
from harmonium.exceptions import InvalidViewError
from harmonium.families import Family
from harmonium.hidden import HiddenLayer
from harmonium.training import FittedModel
from harmonium.views import Views
from harmonium.views.inferring import check_largest, check_support


def known_views(estimator: Any, X: Any) -> Views:
    """Return the views of X, checked against what the estimator was fitted on."""
    check_fitted(estimator)
    model: FittedModel = estimator.fitted_
    return checked_rows(read_input(estimator, X, model=model).views, model)


def checked_rows(views: Views, model: FittedModel) -> Views:
    """Return views that a model can be asked about; those in shards are checked shard by shard, as they are read."""
    check_known(views, model.families, model.feature_names, model.table)

    def check(rows: Views, place: str) -> None:
        check_supports(rows, model.families, model.energy.hidden)
        warn_of_lacking_rows(rows, place)

    return views.when_read(check)


def check_known(
    views: Views, families: dict[str, Family], feature_names: dict[str, list[str]], table: Any = None
) -> None:
    """Refuse views that the model does not know, and other columns than it was fitted on.

    Views that ``table``, that of the model, has read have the right columns.
    """
    known = few_of(families)
    for name in views.names:
        if name not in families:
            raise InvalidViewError(f"The model has the views {known}; got {name!r}; correct the name or leave it out.")
        source, family = views.source(name), families[name]
        if source.n_columns != family.codec.n_columns:
            raise InvalidViewError(
                f"View {name!r} was fitted with {family.codec.n_columns} columns; got {source.n_columns}; "
                "pass the same columns in the same order."
            )
        # names that a table has put in order need no look
        if source.features is None and (table is None or views.table is not table):
            _check_columns(name, source.columns, family, feature_names[name])


def _check_columns(name: str, columns: list[str] | None, family: Family, fitted: list[str]) -> None:
    """Refuse columns with other names than the model was fitted on; only names that both sides brought can disagree."""
    if columns is None:
        return
    found = names_of_features(name, columns, family)
    if found == fitted or fitted == names_of_features(name, None, family):
        return
    for got, expected in zip(found, fitted, strict=True):
        if got != expected:
            raise InvalidViewError(
                f"View {name!r} must have the columns it was fitted on, in the same order; got {got!r} in place of "
                f"{expected!r}; reorder or rename the columns."
            )


def names_of_features(name: str, columns: list[str] | None, family: Family) -> list[str]:
    """Return the names of a view's features; columns without names are numbered."""
    return family.codec.feature_names(columns or [f"{name}_{i}" for i in range(family.codec.n_columns)])


def feature_names(views: Views, families: Mapping[str, Family]) -> dict[str, list[str]]:
    """Return the names of the features of the views that are present."""
    return {
        name: views.source(name).features or names_of_features(name, views.source(name).columns, family)
        for name, family in families.items()
        if name in views.names
    }


def check_supports(views: Views, families: dict[str, Family], hidden: HiddenLayer) -> None:
    """Refuse data outside the support of their family."""
    for name in views.names:
        check_support(name, views.source(name), families[name], hidden)
        check_largest(name, views.source(name), families[name])


def warn_of_lacking_rows(views: Views, place: str = "") -> None:
    """Warn, once, of rows that lack every view, about which a model can only say what it expects of any row.

    ``place`` is where they come from, if they are not all in memory.
    """
    lacking = views.lacking
    if lacking.any():
        where = f"rows of {place}" if place else "rows"
        notice(
            f"{int(lacking.sum())} of {len(views)} {where} lack every view, the first of them "
            f"{views.place(int(np.argmax(lacking)))}; for them the answer is what the model expects of any "
            "row, so drop them if that is not what you want."
        )
