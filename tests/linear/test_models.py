"""Linear models of classes, labels and numbers: columns side by side, losses worth trying."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
from sklearn.linear_model import Ridge
from sklearn.svm import LinearSVC

from harmonium.core.targets import Targets
from harmonium.linear.models import ClassModels, LabelModels, LinearModels, NumberModels
from harmonium.linear.solvers import LinearLoss

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 4))
WEIGHT = RNG.uniform(0.5, 2, 120)


def test_columns_of_classes_are_separated_one_by_one() -> None:
    noisy = X[:, :2] + RNG.normal(size=(120, 2))
    classes = np.stack([np.digitize(noisy[:, 0], [-0.5, 0.5]), (noisy[:, 1] > 0).astype(int)], axis=1)
    classes[::7, 1] = -1
    weights, bias = ClassModels(n_classes=[3, 2]).solve(X, Targets(classes, WEIGHT), C=0.5)
    first = LinearSVC(C=0.5, dual=False).fit(X, classes[:, 0], WEIGHT)
    np.testing.assert_allclose(X @ weights[:, :3] + bias[:3], first.decision_function(X), atol=2e-3)
    known = classes[:, 1] >= 0
    second = LinearSVC(C=0.5, dual=False).fit(X[known], classes[known, 1], WEIGHT[known])
    scores = X @ weights[:, 3:] + bias[3:]
    np.testing.assert_allclose(scores[:, 1] - scores[:, 0], second.decision_function(X), atol=2e-3)


def test_numbers_are_fitted_by_least_squares_and_labels_too_if_asked() -> None:
    numbers = X[:, :1] + 0.1 * RNG.normal(size=(120, 1))
    weights, bias = NumberModels().solve(X, Targets(numbers, WEIGHT), C=0.1)
    ridge = Ridge(alpha=10).fit(X, numbers[:, 0], WEIGHT)
    np.testing.assert_allclose(X @ weights[:, 0] + bias[0], ridge.predict(X), atol=1e-3)
    labels = (numbers > 0).astype(float)
    weights, bias = LabelModels().solve(X, Targets(labels, WEIGHT), 0.1, LinearLoss("squares"))
    ridge = Ridge(alpha=10).fit(X, 2 * labels[:, 0] - 1, WEIGHT)
    np.testing.assert_allclose(X @ weights[:, 0] + bias[0], ridge.predict(X), atol=1e-3)


def test_losses_that_are_worth_trying() -> None:
    models, plain, logistic = ClassModels(n_classes=[10]), LinearLoss("hinge"), LinearLoss("logistic")
    weighted = plain.with_nb_weights()[1]
    assert models.suits(plain, 10, 10, counted=False) and models.suits(weighted, 10, 10, counted=True)
    assert not models.suits(weighted, 10, 10, counted=False)  # there are no words to weigh
    assert models.suits(logistic, 1000, 500, counted=False) and not models.suits(logistic, 1000, 501, counted=False)


def test_a_head_without_linear_models_allows_nothing() -> None:
    models = LinearModels()
    assert not models.losses and not models.allows_part and not models.allows_kernel
    with pytest.raises(NotImplementedError):
        models.solve(X, Targets(X, WEIGHT), 1.0, LinearLoss("squares"))


def test_features_that_go_together_have_the_optimum_of_the_primal_problem_too() -> None:
    """Of more features than rows, coordinate descent in the dual problem would take thousands of rounds here."""
    rng = np.random.default_rng(1)
    rows = np.tile(rng.random((60, 30)) < 0.5, 10) + 0.1 * rng.random((60, 300))
    classes = rng.integers(0, 2, 60)
    features, sides = scipy.sparse.csr_array(rows), 2 * classes - 1

    def objective(weights: np.ndarray, bias: float) -> float:
        lacking = np.maximum(1 - sides * (features @ weights + bias), 0)
        return 0.5 * (weights @ weights + bias**2) + 100 * float(lacking @ lacking)

    weights, bias = ClassModels(n_classes=[2]).solve(features, Targets(classes[:, None], np.ones(60)), C=100.0)
    best, short = (
        LinearSVC(C=100.0, dual=dual, tol=1e-8, max_iter=n).fit(features, classes)
        for dual, n in ((False, 10_000), (True, 100))
    )
    lowest = objective(best.coef_[0], best.intercept_[0])
    assert objective(weights[:, 1] - weights[:, 0], bias[1] - bias[0]) < 1.05 * lowest
    assert objective(short.coef_[0], short.intercept_[0]) > 1.1 * lowest
