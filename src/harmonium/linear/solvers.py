"""Solvers of linear models: linear SVM, logistic regression, ridge.

Classes and labels: squared hinge loss, one class or label against the rest, by LIBLINEAR (Fan et al. 2008). Numbers:
least squares, for all values of C at once where features are sparse (`harmonium.linear.ridge_path`). Classes may have a
multinomial logistic loss instead. The penalty is half the squared norm of the weights divided by C, always; of features
with naive-Bayes weights (`harmonium.linear.nb_weights`), of the weights that the scaled features have.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np
import scipy.sparse

from harmonium.linear.nb_weights import FeatureSums, multiplied, naive_bayes_weights
from harmonium.linear.ridge_path import RidgePath
from harmonium.linear.scaling import Features

# Gap to the optimum of LIBLINEAR: a convention. Its default of 1e-4 takes several times as long and predicts no better.
_TOLERANCE = 1e-3
_MAX_ITERATIONS = 1000
# Rounds of coordinate descent in the dual problem, after which the primal one is solved instead: a convention. Words
# take 10 to 100 rounds, and half the time of the primal problem; character n-grams, which go together, take hundreds.
_MAX_ROUNDS = 100
# By how much the score of a class without rows is below zero: log-odds that no row makes up for.
_ABSENT = 30.0

# Labels beyond which least squares, whose time hardly grows with them, take the place of machines: a convention.
_MANY_LABELS = 100

# Smoothing of naive-Bayes weights, in rows of length 1: conventions, of which held-out rows choose. Little suits words
# that give a topic away, more suits opinions, to which many words add.
_LITTLE, _MORE = 0.1, 1.0
# Largest smoothing for each row of the smaller side: with 1, the words of a class of ten rows would all weigh the same.
_MAX_A_ROW = 0.01

# Columns of numbers up to which ridges keep what serves another C: a convention.
_FEW_COLUMNS = 16

#: weights of shape (features, outputs), and the bias of each output
Solution = tuple[np.ndarray, np.ndarray]
#: solution for each C; the next C may be solved for sooner
Path = Callable[[float], Solution]


@dataclass(frozen=True)
class LinearLoss:
    """A loss of linear models.

    Attributes
    ----------
    kind : {"hinge", "logistic", "squares"}
        Squared hinge loss, multinomial logistic loss or least squares.
    smoothing : float, optional
        Smoothing of naive-Bayes weights of the features; None if they have none.

    Examples
    --------
    >>> [loss.smoothing for loss in LinearLoss("hinge").with_nb_weights()]
    [None, 0.1, 1.0]
    """

    kind: Literal["hinge", "logistic", "squares"]
    smoothing: float | None = None

    def with_nb_weights(self) -> tuple[LinearLoss, ...]:
        """Return the loss as it is, and with naive-Bayes weights of two smoothings."""
        return (self, replace(self, smoothing=_LITTLE), replace(self, smoothing=_MORE))


def fit_svm(
    features: Features,
    classes: np.ndarray,
    weight: np.ndarray,
    n_classes: int,
    C: float,
    smoothing: float | None = None,
) -> Solution:
    """Return the scores' weights that separate each class from the rest; classes without rows have a score of -1."""
    features, classes, weight = _counting(features, classes, weight)
    weights, bias = np.zeros((features.shape[1], n_classes)), np.full(n_classes, -1.0)
    there = np.unique(classes)
    if len(there) < 2:
        bias[there] = 1.0
    elif len(there) == 2:
        # the one score there is, half for and half against each
        sides = np.array([-0.5, 0.5])
        one, shift = _binary_svm(features, classes == there[1], weight, C, smoothing)
        weights[:, there], bias[there] = np.outer(one, sides), shift * sides
    elif smoothing is None:
        model = _linear_svc(features, classes, weight, C)
        weights[:, there], bias[there] = model.coef_.T, model.intercept_
    else:
        sums = FeatureSums.of(features)
        for code in there:
            weights[:, code], bias[code] = _binary_svm(features, classes == code, weight, C, smoothing, sums)
    return weights, bias


def fit_logistic(features: Features, classes: np.ndarray, weight: np.ndarray, n_classes: int, C: float) -> Solution:
    """Return the weights of multinomial logistic regression; classes without rows have a score below all others."""
    features, classes, weight = _counting(features, classes, weight)
    weights, bias = np.zeros((features.shape[1], n_classes)), np.full(n_classes, -_ABSENT)
    there = np.unique(classes)
    if len(there) < 2:
        bias[there] = 0.0
        return weights, bias
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(C=C, max_iter=_MAX_ITERATIONS).fit(features, classes, weight)
    sides = np.array([[-0.5, 0.5]]) if len(there) == 2 else np.eye(len(there))
    weights[:, there], bias[there] = model.coef_.T @ sides, model.intercept_ @ sides
    return weights, bias


def ridge_path_of_classes(features: Features, classes: np.ndarray, weight: np.ndarray, n_classes: int) -> Path:
    """Return least squares for scores of 1 of a row's class and -1 of the others, by C."""
    return ridge_path(features, np.where(classes[:, None] == np.arange(n_classes), 1.0, -1.0), weight)


def fit_label_svms(
    features: Features, labels: np.ndarray, weight: np.ndarray, C: float, smoothing: float | None = None
) -> Solution:
    """Return the weights that separate the rows with each label from those without; NaN is unknown."""
    n_labels = labels.shape[1]
    if n_labels > _MANY_LABELS:
        return ridge_path(features, 2 * labels - 1, weight)(C)
    weights, bias = np.zeros((features.shape[1], n_labels)), np.full(n_labels, -1.0)
    sums = None if smoothing is None else FeatureSums.of(features)
    for label in range(n_labels):
        known = np.flatnonzero(~np.isnan(labels[:, label]) & (weight > 0))
        present = labels[known, label] > 0
        if present.all() or not present.any():
            bias[label] = 1.0 if present.any() else -1.0
            continue
        if len(known) == len(labels):
            solution = _binary_svm(features, present, weight, C, smoothing, sums)
        else:
            solution = _binary_svm(features[known], present, weight[known], C, smoothing)
        weights[:, label], bias[label] = solution
    return weights, bias


def ridge_path(features: Features, values: np.ndarray, weight: np.ndarray, smoothing: float | None = None) -> Path:
    """Return least squares with a ridge, by C; NaN is unknown.

    Naive-Bayes weights compare rows above the mean with rows below, each by its distance.
    """
    if smoothing is None and not scipy.sparse.issparse(features) and not np.isnan(values).any():
        return partial(_dense_ridge, features, values, weight)
    make = [partial(_column_path, features, column, weight, smoothing) for column in values.T]
    # what each keeps from one C to the next has the size of many features times many columns otherwise
    paths = [one() for one in make] if len(make) <= _FEW_COLUMNS else None

    def solve(C: float) -> Solution:
        found = [path(C) for path in paths] if paths is not None else [one()(C) for one in make]
        return np.stack([weights for weights, _ in found], axis=1), np.array([bias for _, bias in found])

    return solve


def _column_path(
    features: Features, values: np.ndarray, weight: np.ndarray, smoothing: float | None
) -> Callable[[float], tuple[np.ndarray, float]]:
    """Return least squares of one column, by C."""
    known, factors = ~np.isnan(values), np.ones(features.shape[1])
    if not known.any():  # a fold may lack all values of a column; zero is the mean of what is standardised
        return lambda C: (np.zeros_like(factors), 0.0)
    if not known.all():
        features, values, weight = features[known], values[known], weight[known]
    if smoothing is not None:
        distance = weight * (values - np.average(values, weights=weight))
        factors = naive_bayes_weights(features, np.maximum(distance, 0), np.maximum(-distance, 0), smoothing)
        features = multiplied(features, factors)
    path = RidgePath(features, values, weight, _TOLERANCE) if scipy.sparse.issparse(features) else None

    def solve(C: float) -> tuple[np.ndarray, float]:
        if path is not None:
            weights, bias = path.solve(C)
        else:
            column, intercept = _dense_ridge(features, values[:, None], weight, C)
            weights, bias = column[:, 0], float(intercept[0])
        return factors * weights, bias

    return solve


def _dense_ridge(features: np.ndarray, values: np.ndarray, weight: np.ndarray, C: float) -> Solution:
    from sklearn.linear_model import Ridge

    model = Ridge(alpha=1 / C, tol=_TOLERANCE).fit(features, values, weight)
    return model.coef_.T.reshape(-1, values.shape[1]), model.intercept_


def _counting(features: Features, classes: np.ndarray, weight: np.ndarray) -> tuple[Features, np.ndarray, np.ndarray]:
    """Return the rows whose weight is above zero: LIBLINEAR drops the others, and with them classes of theirs alone."""
    if (weight > 0).all():
        return features, classes, weight
    rows = np.flatnonzero(weight > 0)
    return features[rows], classes[rows], weight[rows]


def _binary_svm(
    features: Features,
    present: np.ndarray,
    weight: np.ndarray,
    C: float,
    smoothing: float | None,
    sums: FeatureSums | None = None,
) -> tuple[np.ndarray, float]:
    """Return weights and bias of the score that separates some rows from the others."""
    factors = np.ones(features.shape[1])
    if smoothing is not None:
        fewer = min(present.sum(), (~present).sum())
        smoothing = min(smoothing, max(_LITTLE, _MAX_A_ROW * fewer))
        factors = naive_bayes_weights(features, weight * present, weight * ~present, smoothing, sums)
        features = multiplied(features, factors)
    model = _linear_svc(features, present, weight, C)
    return factors * model.coef_[0], float(model.intercept_[0])


def _linear_svc(features: Features, classes: np.ndarray, weight: np.ndarray, C: float) -> Any:
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.svm import LinearSVC

    if scipy.sparse.issparse(features):  # LIBLINEAR takes no others than 32-bit indices
        indices, starts = features.indices.astype(np.int32), features.indptr.astype(np.int32)
        features = scipy.sparse.csr_array((features.data, indices, starts), shape=features.shape)
    n_rows, n_features = features.shape
    with warnings.catch_warnings():
        # a gap that is left after so many rounds is small, and the user did not ask for this model
        warnings.simplefilter("ignore", ConvergenceWarning)
        if n_rows < n_features:
            model = LinearSVC(C=C, tol=_TOLERANCE, max_iter=_MAX_ROUNDS, random_state=0).fit(features, classes, weight)
            if model.n_iter_ < _MAX_ROUNDS:
                return model
        # in the primal problem the optimum is reached however large C is
        model = LinearSVC(C=C, dual=False, tol=_TOLERANCE, max_iter=_MAX_ITERATIONS, random_state=0)
        return model.fit(features, classes, weight)
