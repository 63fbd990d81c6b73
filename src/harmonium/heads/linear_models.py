"""Linear models on given features: what the direct path of a head is solved by.

Classes and labels: squared hinge loss, one class or label against the rest, by LIBLINEAR (Fan et al. 2008). Numbers:
least squares. Classes may have a multinomial logistic loss instead. The penalty is half the squared norm of the
weights divided by C, always.
"""

from __future__ import annotations

import warnings

import numpy as np
import scipy.sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.svm import LinearSVC

from harmonium.heads.footing import Features

# Gap to the optimum of LIBLINEAR: a convention. Its default of 1e-4 takes several times as long and predicts no better.
_TOLERANCE = 1e-3
_MOST_ITERATIONS = 1000
# By how much the score of a class without rows is below zero: log-odds that no row makes up for.
_ABSENT = 30.0

# Labels beyond which least squares, whose time hardly grows with them, take the place of machines: a convention.
_MANY_LABELS = 100

#: weights of shape (features, outputs), and the bias of each output
Solution = tuple[np.ndarray, np.ndarray]


def separate_classes(features: Features, classes: np.ndarray, weight: np.ndarray, n_classes: int, C: float) -> Solution:
    """Return the scores' weights that separate each class from the rest; classes without rows have a score of -1."""
    weights, bias = np.zeros((features.shape[1], n_classes)), np.full(n_classes, -1.0)
    there = np.unique(classes)
    if len(there) < 2:
        bias[there] = 1.0
        return weights, bias
    model = _fitted(features, classes, weight, C)
    if len(there) == 2:
        # the one score there is, half for and half against each
        sides = np.array([-0.5, 0.5])
        weights[:, there], bias[there] = np.outer(model.coef_[0], sides), model.intercept_[0] * sides
        return weights, bias
    weights[:, there], bias[there] = model.coef_.T, model.intercept_
    return weights, bias


def weigh_classes(features: Features, classes: np.ndarray, weight: np.ndarray, n_classes: int, C: float) -> Solution:
    """Return the weights of multinomial logistic regression; classes without rows have a score below all others."""
    weights, bias = np.zeros((features.shape[1], n_classes)), np.full(n_classes, -_ABSENT)
    there = np.unique(classes)
    if len(there) < 2:
        bias[there] = 0.0
        return weights, bias
    model = LogisticRegression(C=C, max_iter=_MOST_ITERATIONS).fit(features, classes, weight)
    sides = np.array([[-0.5, 0.5]]) if len(there) == 2 else np.eye(len(there))
    weights[:, there], bias[there] = model.coef_.T @ sides, model.intercept_ @ sides
    return weights, bias


def separate_labels(features: Features, labels: np.ndarray, weight: np.ndarray, C: float) -> Solution:
    """Return the weights that separate the rows with each label from those without; NaN is unknown."""
    n_labels = labels.shape[1]
    if n_labels > _MANY_LABELS:
        return fit_numbers(features, 2 * labels - 1, weight, C)
    weights, bias = np.zeros((features.shape[1], n_labels)), np.full(n_labels, -1.0)
    for label in range(n_labels):
        known = np.flatnonzero(~np.isnan(labels[:, label]))
        present = labels[known, label] > 0
        if present.all() or not present.any():
            bias[label] = 1.0 if present.any() else -1.0
            continue
        model = _fitted(features[known], present, weight[known], C)
        weights[:, label], bias[label] = model.coef_[0], model.intercept_[0]
    return weights, bias


def fit_numbers(features: Features, values: np.ndarray, weight: np.ndarray, C: float) -> Solution:
    """Return the weights of least squares with a ridge; NaN is unknown."""
    if not np.isnan(values).any():
        model = Ridge(alpha=1 / C, tol=_TOLERANCE).fit(features, values, weight)
        return model.coef_.T.reshape(-1, values.shape[1]), model.intercept_
    parts = [
        fit_numbers(features[known], values[known, column : column + 1], weight[known], C)
        for column, known in enumerate(~np.isnan(values).T)
    ]
    return np.hstack([weights for weights, _ in parts]), np.concatenate([bias for _, bias in parts])


def _fitted(features: Features, classes: np.ndarray, weight: np.ndarray, C: float) -> LinearSVC:
    n_rows, n_features = features.shape
    # in the primal problem, where features are few, the optimum is reached however large C is
    model = LinearSVC(C=C, dual=n_rows < n_features, tol=_TOLERANCE, max_iter=_MOST_ITERATIONS, random_state=0)
    if scipy.sparse.issparse(features):  # LIBLINEAR takes no others than 32-bit indices
        indices, starts = features.indices.astype(np.int32), features.indptr.astype(np.int32)
        features = scipy.sparse.csr_array((features.data, indices, starts), shape=features.shape)
    with warnings.catch_warnings():
        # a gap that is left after so many rounds is small, and the user did not ask for this model
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(features, classes, weight)
