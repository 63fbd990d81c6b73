"""Views and targets from anything that is passed as X and y.

`as_data` alone asks what X is; everything after it takes what `as_data` returns.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np
from sklearn.base import clone

from harmonium.core.targets import Labels
from harmonium.core.validation import few_of
from harmonium.estimators.input.labels import in_order_of
from harmonium.estimators.input.matrix import checked_matrix
from harmonium.estimators.input.target_columns import check_order, from_obs, set_apart
from harmonium.estimators.input.texts import as_table
from harmonium.exceptions import InvalidViewError
from harmonium.tables.table import columns_of
from harmonium.tables.transformer import families_asked, frame_of, table_reader
from harmonium.training import FittedModel
from harmonium.views import Shards, Views
from harmonium.views.annotated import is_annotated
from harmonium.views.frames import is_frame
from harmonium.views.reading import SINGLE, columns_asked, read_collection, split_columns
from harmonium.views.sharding.conversion import Conversion
from harmonium.views.shards import as_shards

#: turns y and the weights of rows, in the order of the rows, into labels
ReadTarget = Callable[[Any, Any], Labels]


@dataclass(frozen=True, eq=False)
class Input:
    """What a call of an estimator was given.

    Attributes
    ----------
    views : Views
        Views of the items.
    n_features : int
        Number of columns of X, summed over views.
    feature_names : ndarray of str, optional
        Names of the columns, if X is one data frame whose columns have names.
    labels : Labels, optional
        What is to be predicted.
    target_columns : tuple of str
        Columns of X that y names, which are no part of the views.
    is_lazy : bool
        Whether the rows are partitions of dask collections.
    is_annotated : bool
        Whether X is AnnData or MuData.
    """

    views: Views
    n_features: int
    feature_names: np.ndarray | None = None
    labels: Labels | None = None
    target_columns: tuple[str, ...] = ()
    is_lazy: bool = False
    is_annotated: bool = False


def as_data(X: Any) -> Any:
    """Return X as `Shards`, a narwhals frame or `Views`; as it is if it is none of them, but perhaps a matrix.

    Parameters
    ----------
    X : object
        What a user passed as X, or what this function returned.

    Returns
    -------
    Shards, narwhals.DataFrame, Views or object
        The data. Lazy frames are collected, of which a notice tells.
    """
    shards = as_shards(X)
    if shards is not None:
        return shards
    table = X if is_frame(X) else as_table(X)
    if table is not None:
        return frame_of(table)
    views = read_collection(X)
    return X if views is None else views


def read_input(
    estimator: Any,
    X: Any,
    y: Any = None,
    sample_weight: Any = None,
    *,
    model: FittedModel | None = None,
    read_target: ReadTarget | None = None,
) -> Input:
    """Return the views and targets that an estimator was given; the estimator is read and stays as it is.

    Parameters
    ----------
    estimator : estimator
        Its ``views``, and what it remembers of the columns of the last fit.
    X : dict, list, Views, Shards, Sequences, matrix, data frame, AnnData, MuData or dask collection
        Views of the items.
    y : object, optional
        Targets, or names of columns of X.
    sample_weight : array-like of shape (n_rows,), optional
        Weights of the rows.
    model : FittedModel, optional
        The model that X is for. Default: X is to be fitted anew.
    read_target : callable, optional
        Reads y and the weights. Default: nothing is predicted, and y can only name columns that are left out.

    Returns
    -------
    Input
        What was given.
    """
    if read_target is not None:
        check_order(X, y)
    data, labels = as_data(X), None
    target_columns: tuple[str, ...] = ()
    if y is not None or read_target is not None:
        data, y, target_columns = set_apart(data, from_obs(X, y), is_fit=read_target is not None)
    if read_target is not None:
        labels = read_target(in_order_of(data, "y", y), in_order_of(data, "sample_weight", sample_weight))
    if isinstance(data, Shards):
        read = _read_shards(estimator, data, model)
    else:
        read = _read(estimator, data, model, is_read=isinstance(X, Views))
    return replace(read, labels=labels, target_columns=target_columns, is_annotated=is_annotated(X))


def split_target(X: Any, y: Any) -> tuple[Any, Any]:
    """Return X without the columns that y names, and these columns; both as they are if y names none.

    Parameters
    ----------
    X : object
        Views of items.
    y : object
        Targets, or the name (a list of names) of columns of X, which must then be a data frame.

    Returns
    -------
    X, y : object
        Views and targets.

    Examples
    --------
    >>> import pandas as pd
    >>> X, y = split_target(pd.DataFrame({"price": [3, 4], "stars": [1, 5]}), "stars")
    >>> list(X.columns), y.tolist()
    (['price'], [1, 5])
    """
    data, y, _ = set_apart(as_data(X), from_obs(X, y))
    return nw.to_native(data, pass_through=True), y


def names_of_targets(estimator: Any, model: FittedModel) -> set[str]:
    """Return the names of the targets of a fitted estimator, and of columns that were left out by name.

    Names of columns that it was fitted on, too, are not among them.
    """
    targets = () if model.meaning is None else model.meaning.columns
    return {*targets, *estimator._left_out} - set(getattr(estimator, "feature_names_in_", ()))


def _read(estimator: Any, data: Any, model: FittedModel | None, is_read: bool) -> Input:
    """Return the views of data in memory; ``is_read`` says that the user has made them `Views`."""
    if isinstance(data, Views):
        return _read_views(estimator, data, model, is_read)
    if isinstance(data, nw.DataFrame):
        return _read_frame(estimator, data, model)
    if isinstance(data, str | bytes):
        raise TypeError(
            f"X must be a matrix or several views of numbers; got {type(data).__name__}; pass a list of texts, or "
            "a data frame."
        )
    if model is not None and model.table is not None:
        raise InvalidViewError(
            f"The model was fitted on a table; got {type(data).__name__}; pass a data frame with the columns "
            f"{few_of(estimator.feature_names_in_)}."
        )
    return _read_matrix(estimator, data, model)


def _read_views(estimator: Any, views: Views, model: FittedModel | None, is_read: bool) -> Input:
    asked = columns_asked(estimator.views) if model is None else {}
    if asked:
        raise InvalidViewError(
            f"Columns are those of one matrix; got several views, and columns for {next(iter(asked))!r}; leave these "
            "out, or pass the matrix."
        )
    if model is None and views.table is None and families_asked(estimator.views) is not estimator.views:
        raise InvalidViewError("TableViews reads data frames; got views; pass the frame, or name families in views.")
    table = None if model is None else model.table
    if (
        table is not None and views.table is None and not is_read
    ):  # raw columns, whose scales are not those of the table
        raise InvalidViewError(
            "The model was fitted on a table, whose columns it reads by their roles; got views; pass a data frame with "
            "the columns that are there."
        )
    if table is not None and views.table is not None and not table.reads_like(views.table):
        raise InvalidViewError(
            "Views must be read by the table that the model was fitted on; got those of another TableViews; pass the "
            "data frame itself, or call transform of the same TableViews."
        )
    if not len(views):
        raise InvalidViewError("Views must have at least one row; got none; pass the rows to work on.")
    return Input(views, views.shape[1])


def _read_frame(estimator: Any, frame: nw.DataFrame, model: FittedModel | None) -> Input:
    if model is None:
        columns = columns_of(frame)
        reader = table_reader(estimator.views, frame, columns)
        if reader is None:
            return _read_matrix(estimator, frame, model)
        reader = clone(reader)  # the user's stays as it is
        views = reader.learn(frame, columns)
        return Input(views, reader.n_features_in_, reader.feature_names_in_)
    names = names_of_targets(estimator, model)
    if names and frame.shape[1] > estimator.n_features_in_:  # if none are too many, they are what they are called
        frame = frame.drop([name for name in frame.columns if str(name) in names])
    if model.table is None:
        return _read_matrix(estimator, frame, model)
    return Input(model.table.read(frame), estimator.n_features_in_)


def _read_matrix(estimator: Any, data: Any, model: FittedModel | None) -> Input:
    if model is None and families_asked(estimator.views) is not estimator.views:
        raise InvalidViewError(
            f"TableViews reads data frames; got {type(data).__name__}; pass a frame, or other views."
        )
    if model is not None and model.input_names != [SINGLE] and not isinstance(estimator.views, Mapping):
        raise InvalidViewError(
            f"The model was fitted on the views {few_of(model.input_names)}; got one matrix; pass a dict "
            "with the views that are there."
        )
    matrix, index, names = checked_matrix(estimator, data, is_new=model is None)
    return Input(split_columns(matrix, names, estimator.views, index), matrix.shape[1], names)


def _read_shards(estimator: Any, shards: Shards, model: FittedModel | None) -> Input:
    """Return the views of shards; of the first block it is learned what would be of all of them."""

    def learn(block: Any) -> Input:
        data = as_data(block)
        is_table = model is None and isinstance(data, nw.DataFrame)
        if is_table and table_reader(estimator.views, data, columns_of(data)) is not None:
            raise InvalidViewError(
                "A table in shards needs a TableViews that has seen more than one of them; got a frame with columns "
                "that are no numbers; pass Shards.from_parquet(..., read=TableViews().fit(shards.sample()))."
            )
        return _read(estimator, data, model, is_read=isinstance(block, Views))

    conversion = Conversion(estimator.views)
    if model is not None:
        conversion = Conversion(estimator.views, model.table, tuple(sorted(names_of_targets(estimator, model))))
    return replace(shards.first(learn), views=shards.views(conversion), is_lazy=shards.is_lazy)
