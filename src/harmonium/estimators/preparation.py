"""From X to a model ready to train: read the views, choose and bind the families, put the problem together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import scipy.sparse
from sklearn.base import clone
from sklearn.utils.validation import validate_data

from harmonium.energy import Energy
from harmonium.estimators.sharded import names_of_targets, read_shards
from harmonium.exceptions import InvalidViewError
from harmonium.families import Family
from harmonium.families.counts import length_normalized
from harmonium.heads import Head
from harmonium.hidden import HiddenLayer
from harmonium.kernels.sparse.validation import check_sparse_indices
from harmonium.notices import notice
from harmonium.objectives.problem import Problem
from harmonium.params import RESERVED
from harmonium.tables.transformer import families_asked, frame_of, table_reader
from harmonium.targets import Labels
from harmonium.training import FittedModel
from harmonium.training.initialise import mean_statistic
from harmonium.validation import check_fitted
from harmonium.views import Views
from harmonium.views.container import as_matrix
from harmonium.views.data import Data
from harmonium.views.dense import dense_numbers
from harmonium.views.frames import as_frame, is_frame
from harmonium.views.inferring import (
    check_largest,
    check_observed,
    check_support,
    infer_family,
    warn_of_large_counts,
    warn_of_large_means,
)
from harmonium.views.reading import (
    SINGLE,
    columns_asked,
    families_given,
    is_collection,
    read_collection,
    split_columns,
)
from harmonium.views.shards import as_shards


@contextmanager
def unchanged_if_refused(estimator: Any) -> Iterator[None]:
    """Give a context after which the estimator's attributes are as before if anything was raised inside."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise


def read(estimator: Any, X: Any, reset: bool) -> Views:
    """Return the views in anything that is accepted as X; ``reset`` is True when fitting."""
    if isinstance(X, str | bytes):
        raise TypeError(
            f"X must be a matrix or several views of numbers; got {type(X).__name__}; turn text into counts first."
        )
    shards = as_shards(X)
    if shards is not None:
        return read_shards(estimator, shards, reset, read)
    if is_frame(X):
        frame = frame_of(X)
        if not reset:
            frame = _without_targets(estimator, frame)
        X = frame.to_native()  # what was lazy is collected once
        views = _read_table(estimator, frame, reset)
        if views is not None:
            return views
    if is_collection(X):
        asked = columns_asked(estimator.views) if reset else {}
        if asked:
            raise InvalidViewError(
                f"Columns are those of one matrix; got several views, and columns for {next(iter(asked))!r}; leave "
                "these out, or pass the matrix."
            )
        views = read_collection(X)
        _check_table(estimator, views, reset, isinstance(X, Views))
        if not len(views):
            raise InvalidViewError("Views must have at least one row; got none; pass the rows to work on.")
        if reset:
            estimator.n_features_in_ = views.shape[1]
            if hasattr(estimator, "feature_names_in_"):
                del estimator.feature_names_in_
        return views
    if not reset and estimator.fitted_.table is not None:
        raise InvalidViewError(
            f"The model was fitted on a table; got {type(X).__name__}; pass a data frame with the columns "
            f"{', '.join(map(repr, estimator.feature_names_in_[:5]))}, …."
        )
    if reset and families_asked(estimator.views) is not estimator.views:
        raise InvalidViewError(f"TableViews reads data frames; got {type(X).__name__}; pass a frame, or other views.")
    if not reset and estimator.fitted_.input_names != [SINGLE] and not isinstance(estimator.views, Mapping):
        raise InvalidViewError(
            f"The model was fitted on the views {', '.join(map(repr, estimator.fitted_.input_names))}; got one matrix; "
            "pass a dict with the views that are there."
        )
    matrix, index = _one_matrix(estimator, X, reset)
    return split_columns(matrix, getattr(estimator, "feature_names_in_", None), estimator.views, index)


def _check_table(estimator: Any, views: Views, reset: bool, are_read: bool) -> None:
    """Refuse views that another table has read than that of the model, and a `TableViews` that has nothing to read.

    So are raw columns (``are_read`` is False), whose scales are not those of the table.
    """
    if reset and views.table is None and families_asked(estimator.views) is not estimator.views:
        raise InvalidViewError("TableViews reads data frames; got views; pass the frame, or name families in views.")
    table = None if reset else estimator.fitted_.table
    if table is not None and views.table is None and not are_read:
        raise InvalidViewError(
            "The model was fitted on a table, whose columns it reads by their roles; got views; pass a data frame with "
            "the columns that are there."
        )
    if table is not None and views.table is not None and not table.reads_like(views.table):
        raise InvalidViewError(
            "Views must be read by the table that the model was fitted on; got those of another TableViews; pass the "
            "data frame itself, or call transform of the same TableViews."
        )


def _without_targets(estimator: Any, frame: nw.DataFrame) -> nw.DataFrame:
    """Return a frame without columns that are named like the targets, unless the model was fitted on them."""
    names = names_of_targets(estimator)
    if frame.shape[1] <= estimator.n_features_in_:  # none too many, whatever they are called
        return frame
    found = [name for name in frame.columns if str(name) in names]
    return frame.drop(found) if found else frame


def _read_table(estimator: Any, frame: nw.DataFrame, reset: bool) -> Views | None:
    """Return the views of a frame that is read as a table; None if it is a matrix of numbers."""
    if not reset:
        table = estimator.fitted_.table
        return None if table is None else table.read(frame)
    reader = table_reader(estimator.views, frame)
    if reader is None:
        return None
    reader = clone(reader)  # the user's stays as it is
    views = reader.fit_transform(frame.to_native())
    estimator.n_features_in_, estimator.feature_names_in_ = reader.n_features_in_, reader.feature_names_in_
    return views


def _one_matrix(estimator: Any, X: Any, reset: bool) -> tuple[Any, pd.Index | None]:
    """Return one checked matrix, and the labels of its rows if they have any.

    The estimator learns, or is compared with, the number and names of its columns.
    """
    frame = as_frame(SINGLE, X)
    if frame is None:
        X = _one_array(X)
        if scipy.sparse.issparse(X):
            check_sparse_indices("X", X)
        # scikit-learn's own checks and messages
        matrix = validate_data(estimator, X, reset=reset, accept_sparse="csr", dtype="numeric", ensure_all_finite=False)
        return matrix, None
    if not is_frame(X):
        raise InvalidViewError(
            "X must have two dimensions, a row for each item; got a series, which may be a row or a column; pass a "
            "frame, or a dict such as {'age': series} for a view of one column."
        )
    matrix, _, index = as_matrix(SINGLE, frame)
    if not matrix.shape[0]:
        raise InvalidViewError("A data frame must have at least one row; got none; pass the rows to work on.")
    validate_data(estimator, frame.to_native(), reset=reset, skip_check_array=True)
    return matrix, index


def _one_array(X: Any) -> Any:
    """Return what is no data frame for scikit-learn to check; refuse, or turn into numbers, what it words badly."""
    if scipy.sparse.issparse(X):
        return X
    if isinstance(X, list | tuple) and len(X) and all(as_frame(SINGLE, row) is not None for row in X):
        raise InvalidViewError(
            "X must be a matrix or several views; got a list of series, which may be rows or columns; pass a frame, or "
            "a dict of name → series for views of one column each."
        )
    if not isinstance(X, list | tuple | np.ndarray):
        return X
    try:
        array = dense_numbers(SINGLE, X)
    except InvalidViewError as error:
        if error.__cause__ is None:
            raise
        # what scikit-learn's own checks expect of objects that are nothing like a number
        raise TypeError(f"{str(error)[:-1]} ({error.__cause__}).") from None
    if array.ndim != 2:
        raise InvalidViewError(
            f"X must have two dimensions, a row for each item and a column for each feature; got shape {array.shape}; "
            "Reshape your data, by reshape(-1, 1) if it has a single feature or reshape(1, -1) if a single item."
        )
    return array


def check_known(
    views: Views, families: dict[str, Family], feature_names: dict[str, list[str]], table: Any = None
) -> Views:
    """Refuse views that the model does not know, and other columns than it was fitted on.

    Views that ``table``, that of the model, has read have the right columns.
    """
    known = ", ".join(map(repr, families))
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
    return views


def names_of_features(name: str, columns: list[str] | None, family: Family) -> list[str]:
    """Return the names of a view's features; columns without names are numbered."""
    return family.codec.feature_names(columns or [f"{name}_{i}" for i in range(family.codec.n_columns)])


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


def with_some_view(views: Views, labels: Labels | None) -> tuple[Views, Labels | None]:
    """Return the items that have at least one view, to learn from; a notice tells of the others."""
    lacking = views.lacking
    if not lacking.any():
        return views, labels
    if lacking.all():
        raise InvalidViewError(
            f"At least one row must have a view; all {len(views)} rows lack every view; pass rows with values."
        )
    notice(
        f"{int(lacking.sum())} of {len(views)} rows lack every view, the first of them "
        f"{views.place(int(np.argmax(lacking)))}, and are left out of training; drop them to be rid of this "
        "notice."
    )
    kept = np.flatnonzero(~lacking)
    if labels is not None:
        labels = replace(labels, targets=labels.targets.take(kept))
        if not labels.targets.known.any():
            raise InvalidViewError(
                "Some row with a known label must have a view; all such rows lack every view; pass rows with values."
            )
    return views[kept], labels


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


def check_supports(views: Views, families: dict[str, Family], hidden: HiddenLayer) -> None:
    """Refuse data outside the support of their family."""
    for name in views.names:
        check_support(name, views.source(name), families[name], hidden)
        check_largest(name, views.source(name), families[name])


def prepare(
    views: Views,
    spec: Any,
    hidden: HiddenLayer,
    added: Mapping[str, Family] | None = None,
    head: Head | None = None,
) -> Problem:
    """Choose and bind the families, check the data against them, and return the problem.

    ``added`` holds families of views that the user's ``spec`` does not know about, such as labels.
    """
    added = added or {}
    given = families_given(families_asked(spec), [name for name in views.names if name not in added]) | dict(added)
    families: dict[str, Family] = {}
    reference: dict[str, np.ndarray] = {}
    for name in views.names:
        if "." in name:
            raise InvalidViewError(f"Names of views must not contain a dot; got {name!r}; rename the view.")
        if name in RESERVED:
            raise InvalidViewError(f"Views must not be named {name!r}; got a view of that name; rename the view.")
        source = views.source(name)
        summary = source.summary()
        check_observed(name, source, summary)
        family = given[name] or source.family
        if family is None:
            family = infer_family(summary, hidden)
            warn_of_large_counts(name, summary)
        check_support(name, source, family, hidden, summary)
        # a head that adds no view has a loss, to which rows of different totals should matter alike
        if hidden.groups.nonnegative or (head is not None and not head.added_views):
            family = length_normalized(family, summary)
        families[name] = family.bind(summary)
        if source.features is not None and len(source.features) != families[name].n_features_:
            raise InvalidViewError(
                f"View {name!r} holds codes that a table has made for {type(source.family).__name__}; got "
                f"{type(family).__name__}(), for which they are numbers; leave the view out, or turn its columns into "
                "zeros and ones first."
            )
        reference[name] = mean_statistic(views, name, families[name], summary)
        features = names_of_features(name, source.columns, families[name])
        warn_of_large_means(name, families[name], reference[name], features)
    return Problem(Energy(families, hidden), reference, head)


def check_same_families(spec: Any, model: FittedModel) -> None:
    """Refuse other families than training, which is to go on, began with; what is inferred stays as it is.

    ``spec`` is the parameter of the estimator.
    """
    asked = families_asked(spec)
    if asked is not spec and model.table is None:
        raise ValueError(
            f"Training can only go on with the views it began with, which are no table; got {type(spec).__name__}(); "
            "set views back, or fit with warm_start=False."
        )
    for name, family in families_given(asked, model.input_names).items():
        if family is not None and not _leads_to(family, model.families[name]):
            raise ValueError(
                f"Training can only go on with the families it began with, {model.families[name]} for {name!r}; got "
                f"{family}; set views back, or fit with warm_start=False."
            )


def _leads_to(asked: Family, bound: Family) -> bool:
    """Return whether a family that is asked for may have become another one, whose settings are decided."""
    if type(asked) is not type(bound):
        return False
    settings, decided = asked.get_params(deep=False), bound.get_params(deep=False)
    is_open = {name for name, value in settings.items() if isinstance(value, str) and value == "auto"}
    return all(np.array_equal(value, decided[name]) for name, value in settings.items() if name not in is_open)


def labelled(views: Views, head: Head | None, labels: Labels | None) -> tuple[Data, dict[str, Family]]:
    """Return the data with what is to be predicted, and the families of views that the head adds."""
    if head is None or labels is None:
        return Data(views), {}
    targets = head.targets(labels)
    for name, added in head.added_views.items():
        if name in views.names:
            raise InvalidViewError(
                f"With {type(head).__name__}() no view of X may be called {name!r}; got one; rename it, or leave it "
                "out."
            )
        views = views.with_view(name, added.data(targets))
    return Data(views, targets), {name: added.family for name, added in head.added_views.items()}


def known_views(estimator: Any, X: Any) -> Views:
    """Return the views of X, checked against what the estimator was fitted on."""
    check_fitted(estimator)
    model: FittedModel = estimator.fitted_
    views = read(estimator, X, reset=False)
    return checked_rows(views, model)


def checked_rows(views: Views, model: FittedModel) -> Views:
    """Return views that a model can be asked about; those in shards are checked shard by shard, as they are read."""
    check_known(views, model.families, model.feature_names, model.table)

    def check(rows: Views, place: str) -> None:
        check_supports(rows, model.families, model.energy.hidden)
        warn_of_lacking_rows(rows, place)

    return views.when_read(check)


def feature_names(views: Views, families: Mapping[str, Family]) -> dict[str, list[str]]:
    """Return the names of the features of the views that are present."""
    return {
        name: views.source(name).features or names_of_features(name, views.source(name).columns, family)
        for name, family in families.items()
        if name in views.names
    }
