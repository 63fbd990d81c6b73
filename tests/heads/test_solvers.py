"""Exact solvers of heads against liblinear and a generic solver."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.svm import LinearSVC, LinearSVR

from harmonium import EpsilonInsensitive, Hinge
from harmonium.core.parameters import HEAD_BIAS, HEAD_WEIGHTS
from harmonium.core.targets import Targets
from harmonium.heads import LinearHead, MultiLabelHinge
from harmonium.kernels.optim import dual_coordinate_descent
from tests.cases.heads import COST, LINEAR, N_CLASSES, bound, labelled


def objective_of(
    head: LinearHead, features: np.ndarray, targets: Targets, weights: np.ndarray, bias: np.ndarray
) -> float:
    losses, _ = head.loss(features @ weights + bias, targets.values)
    norm = np.square(weights).sum() + np.square(bias).sum()
    return float(losses @ targets.weight) / len(features) + 0.5 * head.ridge * float(norm)


def solved(head: LinearHead, features: np.ndarray, targets: Targets, start: Any = None) -> tuple[float, Any]:
    solution, state = head.solve(features, targets, start)
    return objective_of(head, features, targets, solution[HEAD_WEIGHTS], solution[HEAD_BIAS]), state


def overlapping(n_rows: int, n_classes: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    classes = rng.integers(0, n_classes, size=n_rows)
    features = rng.normal(size=(n_rows, 5)) + 1.5 * np.eye(n_classes, 5)[classes]
    return features, classes, rng.uniform(0.1, 3.0, size=n_rows)


@pytest.mark.parametrize("ridge", [0.3, 0.003])
@pytest.mark.parametrize("weighted", [False, True])
def test_classes_like_liblinear(ridge: float, weighted: bool) -> None:
    features, classes, weight = overlapping(120, 4)
    weight = weight if weighted else np.ones(120)
    labels = labelled("class", classes[:, None], [4], weight)
    head, targets = Hinge(ridge=ridge).bind(labels), labels.targets
    svm = LinearSVC(multi_class="crammer_singer", C=1 / (120 * ridge), tol=1e-8, max_iter=100000, random_state=0)
    svm.fit(features, classes, sample_weight=weight)
    oracle = objective_of(head, features, targets, svm.coef_.T, svm.intercept_)
    assert solved(head, features, targets)[0] == pytest.approx(oracle, rel=1e-3)


@pytest.mark.parametrize("weighted", [False, True])
def test_two_classes_like_a_binary_machine(weighted: bool) -> None:
    """Between two classes w and -w, the margin 2 w·x >= 1 is that of a binary SVM with weights 2 w."""
    features, classes, weight = overlapping(80, 2)
    weight = weight if weighted else np.ones(80)
    labels, ridge = labelled("class", classes[:, None], [2], weight), 0.02
    head, targets = Hinge(ridge=ridge).bind(labels), labels.targets
    # loss(2 w) + ridge ‖w‖² = loss(u) + ridge/4 ‖u‖²
    svm = LinearSVC(loss="hinge", C=2 / (80 * ridge), tol=1e-9, max_iter=100000, random_state=0)
    svm.fit(features, classes, sample_weight=weight)
    weights, bias = np.outer(svm.coef_[0], [-0.5, 0.5]), svm.intercept_[0] * np.array([-0.5, 0.5])
    oracle = objective_of(head, features, targets, weights, bias)
    assert solved(head, features, targets)[0] == pytest.approx(oracle, rel=1e-3)


@pytest.mark.parametrize("ridge", [0.3, 0.003])
@pytest.mark.parametrize("weighted", [False, True])
def test_numbers_like_liblinear(ridge: float, weighted: bool) -> None:
    rng = np.random.default_rng(0)
    features = rng.normal(size=(120, 5))
    values = features @ rng.normal(size=(5, 2)) + rng.normal(size=(120, 2)) + 0.5
    weight = rng.uniform(0.1, 3.0, size=120) if weighted else np.ones(120)
    labels = labelled("number", values, weight=weight)
    head = EpsilonInsensitive(ridge=ridge, epsilon=0.2).bind(labels)
    targets = head.targets(labels)
    oracle = []
    for column in targets.values.T:
        svm = LinearSVR(epsilon=0.2, C=1 / (120 * ridge), tol=1e-8, max_iter=100000, random_state=0)
        oracle.append(svm.fit(features, column, sample_weight=weight))
    weights, bias = np.stack([svm.coef_ for svm in oracle], axis=1), np.array([svm.intercept_[0] for svm in oracle])
    assert solved(head, features, targets)[0] == pytest.approx(
        objective_of(head, features, targets, weights, bias), rel=1e-3
    )


@pytest.mark.parametrize("positive_weight", [1.0, 4.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_labels_like_liblinear(positive_weight: float, weighted: bool) -> None:
    rng = np.random.default_rng(0)
    features = rng.normal(size=(120, 5))
    labels = (features @ rng.normal(size=(5, 3)) + rng.normal(size=(120, 3)) > 0.5).astype(float)
    weight = rng.uniform(0.1, 3.0, size=120) if weighted else np.ones(120)
    told = labelled("label", labels, [2] * 3, weight)
    head, targets = MultiLabelHinge(ridge=0.01, positive_weight=positive_weight).bind(told), told.targets
    oracle = []
    for column in labels.T:
        svm = LinearSVC(loss="hinge", C=1 / (120 * 0.01), tol=1e-8, max_iter=100000, random_state=0)
        svm.set_params(class_weight={0: 1.0, 1: positive_weight})
        oracle.append(svm.fit(features, column, sample_weight=weight))
    weights = np.stack([svm.coef_[0] for svm in oracle], axis=1)
    bias = np.array([svm.intercept_[0] for svm in oracle])
    assert solved(head, features, targets)[0] == pytest.approx(
        objective_of(head, features, targets, weights, bias), rel=1e-3
    )


def test_costs_like_a_generic_solver() -> None:
    """The smooth form with slacks, by SLSQP; the solution is sharper for costly mistakes."""
    features, classes, weight = overlapping(14, 3, seed=3)
    features = features[:, :2]
    labels = labelled("class", classes[:, None], [3], weight)
    head, targets = Hinge(ridge=0.1, cost=COST).bind(labels), labels.targets
    x, n_weights = np.hstack([features, np.ones((14, 1))]), 9

    def slack(point: np.ndarray) -> np.ndarray:
        scores = x @ point[:n_weights].reshape(3, 3)
        violation = scores + COST[classes] - scores[np.arange(14), classes][:, None]
        return (point[n_weights:, None] - violation).ravel()

    def value(point: np.ndarray) -> tuple[float, np.ndarray]:
        loss = weight @ point[n_weights:] / 14 + 0.05 * np.square(point[:n_weights]).sum()
        return float(loss), np.concatenate([0.1 * point[:n_weights], weight / 14])

    start = np.concatenate([np.zeros(n_weights), np.full(14, 3.0)])
    found = minimize(
        value,
        start,
        jac=True,
        method="SLSQP",
        constraints={"type": "ineq", "fun": slack},
        options={"maxiter": 500, "ftol": 1e-12},
    )
    assert found.success
    assert solved(head, features, targets)[0] == pytest.approx(found.fun, rel=1e-3)


@pytest.mark.parametrize("name", LINEAR)
def test_rows_without_targets_are_not_looked_at(name: str) -> None:
    head, targets = bound(name, n_rows=60)
    features = np.random.default_rng(0).normal(size=(60, 4))
    expected, _ = head.solve(features, targets)
    other = features.copy()
    other[0] = 100.0  # of which nothing is known
    np.testing.assert_array_equal(head.solve(other, targets)[0][HEAD_WEIGHTS], expected[HEAD_WEIGHTS])
    no_weight = Targets(targets.values, np.where(np.arange(60) == 7, 0.0, targets.weight))
    other = features.copy()
    other[7] = 100.0
    one, two = (head.solve(f, no_weight)[0][HEAD_WEIGHTS] for f in (features, other))
    np.testing.assert_array_equal(one, two)


def test_columns_of_classes_are_solved_one_by_one() -> None:
    head, targets = bound("Hinge", n_rows=60)
    features = np.random.default_rng(0).normal(size=(60, 4))
    solution, _ = head.solve(features, targets)
    for column, outputs in ((0, slice(0, 3)), (1, slice(3, 5))):
        labels = labelled("class", targets.values[:, column : column + 1], [N_CLASSES[column]], targets.weight)
        alone, _ = Hinge(C=1.0).bind(labels).solve(features, labels.targets)
        np.testing.assert_array_equal(alone[HEAD_WEIGHTS], solution[HEAD_WEIGHTS][:, outputs])


@pytest.mark.parametrize("name", LINEAR)
def test_warm_start_ends_at_the_same_optimum_sooner(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    passes: list[int] = []
    descend = dual_coordinate_descent._descend

    def counting(one_pass: Any, objectives: Any, *rest: Any) -> None:
        def counted(order: np.ndarray) -> None:
            passes[-1] += 1
            one_pass(order)

        descend(counted, objectives, *rest)

    monkeypatch.setattr(dual_coordinate_descent, "_descend", counting)
    head, targets = bound(name, n_rows=200, ridge=0.002)
    rng = np.random.default_rng(0)
    features = rng.normal(size=(200, 6))
    results = {}
    for label, moved in (("same", features), ("near", features + 0.01 * rng.normal(size=features.shape))):
        passes.append(0)
        cold, _ = solved(head, moved, targets)
        _, state = solved(head, features, targets)
        passes.append(0)
        warm, _ = solved(head, moved, targets, state)
        results[label] = passes[-2:]
        assert warm == pytest.approx(cold, rel=1e-3)
    assert results["same"][1] < results["same"][0]
    assert results["near"][1] < results["near"][0]
