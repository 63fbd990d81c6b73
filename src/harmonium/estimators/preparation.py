"""From X to a model ready to train: read the views, choose and bind the families, put the problem together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.utils.validation import check_is_fitted, validate_data

from harmonium.energy import Energy
from harmonium.exceptions import InvalidViewError
from harmonium.families import Family
from harmonium.heads import Head
from harmonium.hidden import HiddenLayer
from harmonium.kernels.compressed import check_before_conversion
from harmonium.objectives.problem import Problem
from harmonium.params import RESERVED
from harmonium.targets import Labels
from harmonium.training import FittedModel
from harmonium.training.initialise import mean_statistic
from harmonium.views import Views
from harmonium.views.container import as_frame, as_matrix
from harmonium.views.data import Data
from harmonium.views.inferring import check_largest, check_observed, check_support, infer_family
from harmonium.views.reading import SINGLE, families_given, is_collection, read_collection, split_columns


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
    if is_collection(X):
        views = read_collection(X)
        if not len(views):
            raise InvalidViewError("Views must have at least one row; got none; pass the rows to work on.")
        if reset:
            estimator.n_features_in_ = views.shape[1]
            if hasattr(estimator, "feature_names_in_"):
                del estimator.feature_names_in_
        return views
    if not reset and estimator.fitted_.input_names != [SINGLE] and not isinstance(estimator.views, Mapping):
        raise InvalidViewError(
            f"The model was fitted on the views {', '.join(map(repr, estimator.fitted_.input_names))}; got one matrix; "
            "pass a dict with the views that are there."
        )
    matrix = _one_matrix(estimator, X, reset)
    return split_columns(matrix, getattr(estimator, "feature_names_in_", None), estimator.views)


def _one_matrix(estimator: Any, X: Any, reset: bool) -> Any:
    """Return one checked matrix; the estimator learns, or is compared with, the number and names of its columns."""
    if as_frame(SINGLE, X) is None:
        if scipy.sparse.issparse(X):
            check_before_conversion("X", X)
        # scikit-learn's own checks and messages
        return validate_data(
            estimator, X, reset=reset, accept_sparse="csr", dtype="numeric", ensure_all_finite="allow-nan"
        )
    matrix, _ = as_matrix(SINGLE, X)
    if not matrix.shape[0]:
        raise InvalidViewError("A data frame must have at least one row; got none; pass the rows to work on.")
    validate_data(estimator, X, reset=reset, skip_check_array=True)
    return matrix


def check_known(views: Views, families: dict[str, Family], feature_names: dict[str, list[str]]) -> Views:
    """Refuse views that the model does not know, other columns than it was fitted on, and rows without any view."""
    known = ", ".join(map(repr, families))
    for name in views.names:
        if name not in families:
            raise InvalidViewError(f"The model has the views {known}; got {name!r}; correct the name or leave it out.")
        source, family = views.source(name), families[name]
        if source.n_columns != family.n_columns:
            raise InvalidViewError(
                f"View {name!r} was fitted with {family.n_columns} columns; got {source.n_columns}; "
                "pass the same columns in the same order."
            )
        _check_columns(name, source.columns, family, feature_names[name])
    check_rows(views)
    return views


def names_of_features(name: str, columns: list[str] | None, family: Family) -> list[str]:
    """Return the names of a view's features; columns without names are numbered."""
    return family.feature_names(columns or [f"{name}_{i}" for i in range(family.n_columns)])


def _check_columns(name: str, columns: list[str] | None, family: Family, fitted: list[str]) -> None:
    # only names that both sides brought can disagree
    """Refuse columns with other names than the model was fitted on."""
    if columns is None or fitted == names_of_features(name, None, family):
        return
    for got, expected in zip(names_of_features(name, columns, family), fitted, strict=True):
        if got != expected:
            raise InvalidViewError(
                f"View {name!r} must have the columns it was fitted on, in the same order; got {got!r} in place of "
                f"{expected!r}; reorder or rename the columns."
            )


def check_rows(views: Views) -> None:
    """Refuse rows that lack every view."""
    nowhere = np.all([views.source(name).rows < 0 for name in views.names], axis=0)
    if nowhere.any():
        raise InvalidViewError(
            f"Every row must have at least one view; row {int(np.argmax(nowhere))} has none; drop such rows."
        )


def check_supports(views: Views, families: dict[str, Family], hidden: HiddenLayer) -> None:
    """Refuse data outside the support of their family."""
    for name in views.names:
        check_support(name, views.source(name), families[name], hidden)
        check_largest(name, views.source(name), families[name])


def prepare(views: Views, spec: Any, hidden: HiddenLayer, added: Mapping[str, Family] | None = None) -> Problem:
    """Choose and bind the families, check the data against them, and return the problem.

    ``added`` holds families of views that the user's ``spec`` does not know about, such as labels.
    """
    check_rows(views)
    added = added or {}
    given = families_given(spec, [name for name in views.names if name not in added]) | dict(added)
    families: dict[str, Family] = {}
    reference: dict[str, np.ndarray] = {}
    for name in views.names:
        if "." in name:
            raise InvalidViewError(f"Names of views must not contain a dot; got {name!r}; rename the view.")
        if name in RESERVED:
            raise InvalidViewError(f"Views must not be named {name!r}; got a view of that name; rename the view.")
        source = views.source(name)
        summary = source.summary()
        check_observed(name, summary)
        family = given[name] or infer_family(summary, hidden)
        check_support(name, source, family, hidden)
        families[name] = family.bind(summary)
        reference[name] = mean_statistic(views, name, families[name], summary)
    return Problem(Energy(families, hidden), reference)


def labelled(views: Views, head: Head | None, labels: Labels | None) -> tuple[Data, dict[str, Family]]:
    """Return the data with what is to be predicted, and the families of views that the head adds."""
    if head is None or labels is None:
        return Data(views), {}
    targets = head.targets(labels)
    added = head.added_views(targets)
    for name, (_, matrix) in added.items():
        if name in views.names:
            raise InvalidViewError(
                f"With {type(head).__name__}() no view of X may be called {name!r}; got one; rename it, or leave it "
                "out."
            )
        views = views.with_view(name, matrix)
    return Data(views, targets), {name: family for name, (family, _) in added.items()}


def known_views(estimator: Any, X: Any) -> Views:
    """Return the views of X, checked against what the estimator was fitted on."""
    check_is_fitted(estimator)
    model: FittedModel = estimator.fitted_
    views = read(estimator, X, reset=False)
    check_known(views, model.families, model.feature_names)
    check_supports(views, model.families, model.energy.hidden)
    return views


def feature_names(views: Views, families: Mapping[str, Family]) -> dict[str, list[str]]:
    """Return the names of the features of the views that are present."""
    return {
        name: names_of_features(name, views.source(name).columns, family)
        for name, family in families.items()
        if name in views.names
    }
