"""From X to a model ready to train: read the views, choose and bind the families, start the parameters."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import _check_feature_names, validate_data

from harmonium.energy import Energy
from harmonium.exceptions import InvalidViewError
from harmonium.families import Family
from harmonium.hidden import HiddenLayer
from harmonium.objectives import Problem
from harmonium.training.initialise import mean_statistic
from harmonium.views import Views
from harmonium.views.inferring import check_observed, check_support, infer_family
from harmonium.views.reading import families_given, is_collection, read_collection, split_columns


def read(estimator: Any, X: Any, reset: bool) -> Views:
    """Views from anything that is accepted as X; ``reset`` is True when fitting."""
    if isinstance(X, str | bytes):
        raise TypeError(f"X must be a matrix or several views of numbers; got {type(X).__name__}.")
    if is_collection(X):
        views = read_collection(X)
        if reset:
            estimator.n_features_in_ = views.shape[1]
            if hasattr(estimator, "feature_names_in_"):
                del estimator.feature_names_in_
        return views
    # one matrix: scikit-learn's own checks and messages
    matrix = validate_data(
        estimator, X, reset=reset, accept_sparse="csr", dtype="numeric", ensure_all_finite="allow-nan"
    )
    if not reset:
        _check_feature_names(estimator, X, reset=False)
    names = getattr(estimator, "feature_names_in_", None)
    if not reset and list(estimator.families_) != ["view0"] and not hasattr(estimator.views, "items"):
        raise InvalidViewError(
            f"The model was fitted on the views {', '.join(map(repr, estimator.families_))}; got one matrix; "
            "pass a dict with the views that are there."
        )
    return split_columns(matrix, names, estimator.views)


def check_known(views: Views, families: dict[str, Family]) -> Views:
    """Refuse views the model does not know, of the wrong width, or outside their support; rows without any view too."""
    known = ", ".join(map(repr, families))
    for name in views.names:
        if name not in families:
            raise InvalidViewError(f"The model has the views {known}; got {name!r}; correct the name or leave it out.")
        if views.source(name).n_columns != families[name].n_columns:
            raise InvalidViewError(
                f"View {name!r} was fitted with {families[name].n_columns} columns; got "
                f"{views.source(name).n_columns}; pass the same columns in the same order."
            )
    check_rows(views)
    return views


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


def prepare(views: Views, spec: Any, hidden: HiddenLayer) -> Problem:
    """Choose and bind the families, check the data against them, and put the model together."""
    check_rows(views)
    given = families_given(spec, views.names)
    families: dict[str, Family] = {}
    reference: dict[str, np.ndarray] = {}
    for name in views.names:
        if "." in name:
            raise InvalidViewError(f"Names of views must not contain a dot; got {name!r}; rename the view.")
        source = views.source(name)
        summary = source.summary()
        check_observed(name, summary)
        family = given[name] or infer_family(summary, hidden)
        check_support(name, source, family, hidden)
        families[name] = family.bind(summary)
        reference[name] = mean_statistic(views, name, families[name], summary)
    return Problem(Energy(families, hidden), reference)
