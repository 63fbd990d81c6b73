"""Baselines: a linear model of the same columns, prepared as one would, and a constant prediction.

Words and tags are weighed by idf in rows of length 1; numbers are standardised, with the mean in place of what is
missing. Ridge regression or logistic regression takes them side by side, with the penalty chosen by cross-validation.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse

from harmonium.core.batch import ViewBatch
from harmonium.core.targets import TargetSpec
from harmonium.families import Family
from harmonium.linear.scaling import ViewScaler
from harmonium.views import Views

# Penalties are chosen among these, on at most this many rows: conventions.
_PENALTIES = np.logspace(-2, 3, 6)
_COSTS = np.logspace(-1, 3, 5)
_MOST_ROWS = 5000
_STEPS = 300
# Rows whose features are made together: for memory only.
_ROWS_AT_ONCE = 1000


def trivial_predictions(meaning: TargetSpec, truth: np.ndarray, n_rows: int) -> np.ndarray:
    """Return constant predictions: mean numbers, or the shares of classes and labels.

    Parameters
    ----------
    meaning : TargetSpec
        What is predicted.
    truth : ndarray of shape (n_labelled, n_columns)
        Targets to learn from, as `HeldOut` has them.
    n_rows : int
        Number of rows to predict.

    Returns
    -------
    ndarray of shape (n_rows, n_outputs)
        The same for every row.
    """
    if meaning.kind != "class":
        return np.tile(np.nanmean(truth, axis=0), (n_rows, 1))
    shares = []
    for column, number in enumerate(meaning.n_classes):
        labelled = truth[truth[:, column] >= 0, column].astype(int)
        shares.append(np.bincount(labelled, minlength=number) / max(len(labelled), 1))
    return np.tile(np.concatenate(shares), (n_rows, 1))


def linear_predictions(
    meaning: TargetSpec, families: dict[str, Family], train: Views, truth: np.ndarray, test: Views
) -> np.ndarray:
    """Return what a linear model of the same views predicts.

    Parameters
    ----------
    meaning : TargetSpec
        What is predicted.
    families : dict of str to Family
        Families of the views, which know what counts something.
    train : Views
        Rows to learn from.
    truth : ndarray of shape (n_train, n_columns)
        Their targets, as `HeldOut` has them.
    test : Views
        Rows to predict.

    Returns
    -------
    ndarray of shape (n_test, n_outputs)
        Predicted numbers, or probabilities, as `HeldOut` has them.
    """
    scalers = {name: ViewScaler.fitted(families[name], _batches(train, name, families), True) for name in train.names}
    rows, others = (_features(views, scalers, families) for views in (train, test))
    parts = []
    for column in range(truth.shape[1]):
        labelled = truth[:, column] >= 0 if meaning.kind == "class" else ~np.isnan(truth[:, column])
        n_classes = meaning.n_classes[column] if meaning.kind == "class" else 2
        parts.append(_fit_predict(meaning.kind, rows[labelled], truth[labelled, column], others, n_classes))
    return np.hstack(parts)


def _fit_predict(kind: str, rows: Any, truth: np.ndarray, others: Any, n_classes: int) -> np.ndarray:
    """Return the predictions for one column of targets."""
    from sklearn.linear_model import LogisticRegression, Ridge  # late, for a quick start

    if kind == "number":
        model = _tuned(Ridge(), {"alpha": _PENALTIES}, rows, truth, "r2")
        return model.fit(rows, truth).predict(others)[:, None]
    present = np.unique(truth).astype(int)
    if len(present) == 1:  # a class or label that all labelled rows have
        shares = np.zeros((others.shape[0], n_classes))
        shares[:, present[0]] = 1.0
    else:
        shares = np.zeros((others.shape[0], n_classes))
        with warnings.catch_warnings():  # the model that it is compared with has questioned them
            warnings.filterwarnings("ignore", "The number of unique classes", UserWarning)
            model = _tuned(LogisticRegression(max_iter=_STEPS), {"C": _COSTS}, rows, truth, "neg_log_loss")
            shares[:, present] = model.fit(rows, truth).predict_proba(others)
    return shares[:, 1:] if kind == "label" else shares


def _tuned(model: Any, grid: dict[str, Any], rows: Any, truth: np.ndarray, scoring: str) -> Any:
    """Return a model with the setting that is best by cross-validation on some of the rows."""
    some = np.linspace(0, rows.shape[0] - 1, min(rows.shape[0], _MOST_ROWS)).astype(int)
    if scoring != "r2":
        counts = np.unique(truth[some], return_counts=True)[1]
        if len(counts) == 1 or counts.min() < 3:  # too few of a class for three folds, or none among these rows
            return model
    from sklearn.model_selection import GridSearchCV  # late, for a quick start

    return GridSearchCV(model, grid, cv=3, scoring=scoring).fit(rows[some], truth[some]).best_estimator_


def _features(views: Views, scalers: dict[str, ViewScaler], families: dict[str, Family]) -> scipy.sparse.csr_array:
    """Return the features of all views side by side."""
    blocks = []
    for name, scaler in scalers.items():
        parts = [scaler.transform(families[name], batch) for batch in _batches(views, name, families)]
        blocks.append(scipy.sparse.vstack([scipy.sparse.csr_array(part) for part in parts]))
    return scipy.sparse.csr_array(scipy.sparse.hstack(blocks, format="csr"))


def _batches(views: Views, name: str, families: dict[str, Family]) -> Iterator[ViewBatch]:
    """Yield the statistics of one view, some rows at a time."""
    for first in range(0, len(views), _ROWS_AT_ONCE):
        items = slice(first, min(first + _ROWS_AT_ONCE, len(views)))
        yield views.batch(items, {name: families[name]}).views[name]
