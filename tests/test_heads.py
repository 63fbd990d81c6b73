"""Heads by registry: sub-gradients by finite differences, exact solvers against liblinear, labels by enumeration."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit, log_expit, logsumexp, softmax
from sklearn.metrics import label_ranking_average_precision_score, r2_score
from sklearn.svm import LinearSVC, LinearSVR

from harmonium import (
    LBFGS,
    Discriminative,
    EpsilonInsensitive,
    ExactLikelihood,
    Harmonium,
    HarmoniumClassifier,
    Head,
    Hinge,
    LabelView,
    MeanFieldCD,
    MultiLabelHinge,
    PersistentCD,
    SampledCD,
    Stochastic,
)
from harmonium.batch import Batch, Targets, ViewBatch
from harmonium.energy import Energy
from harmonium.families import Bernoulli, Categorical, Gaussian
from harmonium.heads import LABEL, LinearHead
from harmonium.heads.calibration import class_probabilities, fit_sigmoid, fit_temperature, label_probabilities
from harmonium.heads.label_view import class_scores, natural_without_label
from harmonium.inference.exact import hidden_states
from harmonium.inference.mean_field import fill_missing
from harmonium.kernels import dual
from harmonium.objectives import Objective, Problem, Statistics
from harmonium.params import HEAD_BIAS, HEAD_WEIGHTS, Parameters
from harmonium.parts import registered

from .conftest import hidden_names, make_family, make_hidden, make_parameters, random_batch

COST = np.array([[0.0, 1.0, 2.0], [0.5, 0.0, 1.5], [3.0, 0.7, 0.0]])
N_CLASSES = [3, 2]
LINEAR = sorted(name for name, head in registered("head").items() if issubclass(head, LinearHead))
HIDDEN = hidden_names()
# settings that matter to the loss, beside the defaults that every head is tried with
SETTINGS: dict[str, dict[str, Any]] = {
    "Hinge": {"cost": 0.7},
    "EpsilonInsensitive": {"epsilon": 0.3},
    "MultiLabelHinge": {"positive_weight": 3.0},
}
VARIANTS = [(name, settings) for name in LINEAR for settings in ({}, SETTINGS.get(name, {"ridge": 0.2}))]


def targets_for(kind: str, n_rows: int, seed: int = 0, columns: int | None = None) -> tuple[np.ndarray, list[int]]:
    """Targets of which some are unknown (all of row 0), and the number of classes of each column."""
    rng = np.random.default_rng(seed)
    if kind == "class":
        n_classes = N_CLASSES[:columns]
        values = np.stack([rng.integers(-1, number, size=n_rows) for number in n_classes], axis=1)
        values[0] = -1
        return values, n_classes
    values = rng.normal(size=(n_rows, 2)) if kind == "number" else rng.integers(0, 2, size=(n_rows, 3)).astype(float)
    values[rng.random(values.shape) < 0.2] = np.nan
    values[0] = np.nan
    return values, [] if kind == "number" else [2, 2, 2]


def bound(name: str, kind: str | None = None, n_rows: int = 40, **settings: Any) -> tuple[Any, Targets]:
    """A head, and targets it takes, as it encodes them."""
    head_class: Any = registered("head")[name]
    head = head_class(C=1.0, **settings) if issubclass(head_class, LinearHead) else head_class(**settings)
    head.check()
    several = issubclass(head_class, LinearHead) and np.ndim(settings.get("cost", 1.0)) == 0
    values, n_classes = targets_for(kind or head.kinds[0], n_rows, columns=None if several else 1)
    weight = np.random.default_rng(1).uniform(0.2, 2.0, size=n_rows)
    head = head.bind(Targets(values, weight), n_classes)
    return head, Targets(head.encode(values), weight)


def test_every_head_is_tested_here() -> None:
    """Heads that are not linear need tests of their own; there is one such head."""
    assert set(registered("head")) - set(LINEAR) == {"LabelView"}
    assert not {"Head", "LinearHead"} & set(registered("head"))


@pytest.mark.parametrize(
    ("name", "kind"), [(name, kind) for name in registered("head") for kind in registered("head")[name].kinds]
)
def test_a_head_is_rebuilt_from_its_constants(name: str, kind: str) -> None:
    head, targets = bound(name, kind)
    n_classes = targets_for(kind, 40, columns=None if name in LINEAR else 1)[1]
    again = registered("head")[name](**head.get_params()).restore(n_classes, head.constants())
    assert isinstance(again, Head) and again.n_outputs_ == head.n_outputs_ and again.takes(kind)
    values = targets_for(kind, 40, columns=None if name in LINEAR else 1)[0]
    np.testing.assert_array_equal(again.encode(values), targets.values)
    if kind == "number":
        np.testing.assert_allclose(again.decode(again.encode(values)), values)
        np.testing.assert_allclose(np.nanmean(targets.values, axis=0), 0, atol=1e-12)
        np.testing.assert_allclose(np.nanstd(targets.values, axis=0), 1)
    scores = np.random.default_rng(5).normal(size=(40, head.n_outputs_))
    np.testing.assert_array_equal(again.error(scores, targets.values), head.error(scores, targets.values))
    assert head.error(scores, targets.values)[0] == 0  # nothing is known of this row


# ---- losses ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("name", "settings"), [*VARIANTS, ("Hinge", {"cost": COST})], ids=str)
def test_gradient_by_scores_by_finite_differences(name: str, settings: dict[str, Any]) -> None:
    head, targets = bound(name, **settings)
    scores = np.random.default_rng(2).normal(size=(40, head.n_outputs_))
    losses, by_score = head.loss(scores, targets.values)
    assert losses.shape == (40,) and by_score.shape == scores.shape and (losses >= 0).all() and losses.any()
    for output in range(head.n_outputs_):
        shift = np.zeros_like(scores)
        shift[:, output] = 1e-6
        slope = (head.loss(scores + shift, targets.values)[0] - head.loss(scores - shift, targets.values)[0]) / 2e-6
        np.testing.assert_allclose(by_score[:, output], slope, atol=1e-6)
    assert losses[0] == 0 and not by_score[0].any()


@pytest.mark.parametrize("name", LINEAR)
def test_single_precision_scores_give_single_precision_gradients(name: str) -> None:
    head, targets = bound(name)
    scores = np.random.default_rng(2).normal(size=(40, head.n_outputs_))
    losses, by_score = head.loss(scores.astype(np.float32), targets.values)
    assert by_score.dtype == np.float32 and losses.dtype == np.float64
    np.testing.assert_allclose(losses, head.loss(scores, targets.values)[0], rtol=1e-5, atol=1e-5)


def test_values_of_the_losses() -> None:
    hinge, _ = bound("Hinge", cost=COST)
    scores = np.array([[0.5, 1.0, -1.0]])
    assert hinge.loss(scores, np.array([[0]]))[0] == pytest.approx(1.5)  # 1 + 1 - 0.5
    assert hinge.loss(scores, np.array([[2]]))[0] == pytest.approx(4.5)  # 3 + 0.5 + 1
    assert hinge.error(scores, np.array([[2]])) == pytest.approx(0.7)  # class 1 for class 2
    several, _ = bound("MultiLabelHinge", positive_weight=3.0)
    assert several.loss(np.array([[0.5, 0.5, 9.0]]), np.array([[1.0, 0.0, np.nan]]))[0] == pytest.approx(3 * 0.5 + 1.5)


def test_errors_are_what_they_say() -> None:
    rng = np.random.default_rng(0)
    numbers, values = EpsilonInsensitive(C=1.0), rng.normal(size=(50, 2)) * 3 + 1
    numbers = numbers.bind(Targets(values, np.ones(50)), [])
    guess = values + rng.normal(size=values.shape)
    error = numbers.error(numbers.encode(guess), numbers.encode(values)).mean()
    assert error == pytest.approx(1 - r2_score(values, guess))
    labels = rng.integers(0, 2, size=(50, 4)).astype(float)
    labels[:, 0] = 1  # no row without labels
    scores = rng.normal(size=(50, 4))
    several = MultiLabelHinge(C=1.0).bind(Targets(labels, np.ones(50)), [2] * 4)
    expected = 1 - label_ranking_average_precision_score(labels, scores)
    assert several.error(scores, labels).mean() == pytest.approx(expected)


# ---- heads and views together ----------------------------------------------------------------------------------------
def two_views(hidden: str, n_rows: int, seed: int = 1) -> tuple[Energy, Parameters, Batch]:
    energy = Energy({"a": make_family("Bernoulli"), "b": make_family("Gaussian")}, make_hidden(hidden))
    energy.families["b"].variance = "learn"  # so that own parameters take part
    parameters = make_parameters(energy, seed=seed, scale=0.2 if not energy.hidden.bounded else 0.4)
    return energy, parameters, random_batch(energy, parameters, n_rows)


def joint_problem(name: str, hidden: str, **settings: Any) -> tuple[Problem, Parameters, Batch]:
    head, targets = bound(name, n_rows=9, ridge=0.1, **settings)
    energy, parameters, batch = two_views(hidden, 9)
    rng = np.random.default_rng(4)
    parameters[HEAD_WEIGHTS] = rng.normal(size=(2, head.n_outputs_))
    parameters[HEAD_BIAS] = rng.normal(size=head.n_outputs_)
    batch.targets = targets
    reference = {"a": np.full(3, 0.5), "b": np.zeros(3)}
    return Problem(energy, reference, head, strength=1.7), parameters, batch


def statistics_of(objective: Objective, problem: Problem, parameters: Parameters, batch: Batch, **keywords: Any):
    statistics = Statistics.zeros_like(parameters)
    objective.accumulate(problem, parameters, batch, statistics, np.random.default_rng(0), **keywords)
    return statistics


def assert_gradient(
    problem: Problem, gradient: Parameters, loss: Callable[[Parameters], float], parameters: Parameters
) -> None:
    """Every entry that gradients move against central differences."""
    for name, value in problem.moving(parameters).items():
        for index in np.ndindex(value.shape):
            moved = [value.copy(), value.copy()]
            moved[0][index] += 1e-5
            moved[1][index] -= 1e-5
            slope = (loss({**parameters, name: moved[0]}) - loss({**parameters, name: moved[1]})) / 2e-5
            assert gradient[name][index] == pytest.approx(slope, abs=3e-5, rel=1e-4), (name, index)


@pytest.mark.parametrize("hidden", HIDDEN)
@pytest.mark.parametrize(("name", "settings"), [*VARIANTS, ("Hinge", {"cost": COST})], ids=str)
def test_gradient_of_likelihood_and_head_by_finite_differences(
    name: str, settings: dict[str, Any], hidden: str
) -> None:
    """Through all parameters: weights of the views, hidden bias, weights and bias of the head; some targets unknown."""
    problem, parameters, batch = joint_problem(name, hidden, **{k: v for k, v in settings.items() if k != "ridge"})
    gradient = statistics_of(ExactLikelihood(), problem, parameters, batch).gradient

    def loss(moved: Parameters) -> float:
        return statistics_of(ExactLikelihood(), problem, moved, batch).loss

    assert_gradient(problem, gradient, loss, parameters)
    # the head has its say in all of them
    alone = statistics_of(ExactLikelihood(), Problem(problem.energy, problem.reference), parameters, batch).gradient
    for key in ("hidden.bias", "a.weights", "b.weights"):
        assert np.abs(gradient[key] - alone[key]).max() > 0.01
    for key in ("a.bias", "b.bias"):
        np.testing.assert_array_equal(gradient[key], alone[key])


@pytest.mark.parametrize("name", LINEAR)
def test_alternating_heads_pull_but_do_not_move(name: str) -> None:
    problem, parameters, batch = joint_problem(name, "BernoulliUnits")
    joint = statistics_of(ExactLikelihood(), problem, parameters, batch)
    problem.head = type(problem.head)(**{**problem.head.get_params(), "solver": "alternate"}).bind(
        batch.targets, targets_for(problem.head.kinds[0], 9)[1]
    )
    apart = statistics_of(ExactLikelihood(), problem, parameters, batch)
    assert apart.loss == joint.loss
    for key, value in joint.gradient.items():
        if key in (HEAD_WEIGHTS, HEAD_BIAS):
            assert value.any() and not apart.gradient[key].any()
            assert key not in problem.moving(parameters)
        else:
            np.testing.assert_array_equal(apart.gradient[key], value)


@pytest.mark.parametrize(
    "objective", [ExactLikelihood(), MeanFieldCD(), SampledCD(), PersistentCD(n_chains=3)], ids=str
)
@pytest.mark.parametrize("name", LINEAR)
def test_statistics_are_additive(name: str, objective: Objective) -> None:
    problem, parameters, batch = joint_problem(name, "BernoulliUnits")

    def part(rows: slice) -> Batch:
        assert batch.targets is not None
        views = {key: ViewBatch(view.statistic[rows]) for key, view in batch.views.items()}
        return Batch(views, len(range(9)[rows]), batch.targets.take(rows))

    accumulated, together = Statistics.zeros_like(parameters), Statistics.zeros_like(parameters)
    for rows in (slice(4), slice(4, 9)):
        objective.accumulate(
            problem, parameters, part(rows), accumulated, np.random.default_rng(rows.stop), with_loss=True
        )
        one = Statistics.zeros_like(parameters)
        objective.accumulate(problem, parameters, part(rows), one, np.random.default_rng(rows.stop), with_loss=True)
        together = together + one
    assert accumulated.count == together.count == 9
    assert accumulated.loss == pytest.approx(together.loss)
    whole = statistics_of(objective, problem, parameters, batch, with_loss=True)
    for key in parameters:
        np.testing.assert_allclose(accumulated.gradient[key], together.gradient[key], atol=1e-12)
        if objective.has_loss or key in (HEAD_WEIGHTS, HEAD_BIAS):  # the head's own is not sampled
            np.testing.assert_allclose(accumulated.gradient[key], whole.gradient[key], atol=1e-10)
    if objective.has_loss:
        assert whole.loss == pytest.approx(accumulated.loss)


@pytest.mark.parametrize("name", LINEAR)
def test_losses_are_weighted_and_rows_without_targets_count_for_the_views_only(name: str) -> None:
    problem, parameters, batch = joint_problem(name, "BernoulliUnits")
    assert batch.targets is not None
    scores = problem.head.scores(problem.energy, parameters, batch)
    losses, _ = problem.head.loss(scores, batch.targets.values)
    plain = statistics_of(ExactLikelihood(), Problem(problem.energy, problem.reference), parameters, batch).loss
    penalty = 9 * 0.1 / 2 * np.square(parameters[HEAD_WEIGHTS]).sum()
    loss = statistics_of(ExactLikelihood(), problem, parameters, batch).loss
    assert loss == pytest.approx(plain + 1.7 * (losses @ batch.targets.weight + penalty))


# ---- exact solvers ---------------------------------------------------------------------------------------------------
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
    targets = Targets(classes[:, None], weight)
    head = Hinge(ridge=ridge).bind(targets, [4])
    svm = LinearSVC(multi_class="crammer_singer", C=1 / (120 * ridge), tol=1e-8, max_iter=100000, random_state=0)
    svm.fit(features, classes, sample_weight=weight)
    oracle = objective_of(head, features, targets, svm.coef_.T, svm.intercept_)
    assert solved(head, features, targets)[0] == pytest.approx(oracle, rel=1e-3)


@pytest.mark.parametrize("weighted", [False, True])
def test_two_classes_like_a_binary_machine(weighted: bool) -> None:
    """Between two classes w and -w, the margin 2 w·x >= 1 is that of a binary SVM with weights 2 w."""
    features, classes, weight = overlapping(80, 2)
    weight = weight if weighted else np.ones(80)
    targets, ridge = Targets(classes[:, None], weight), 0.02
    head = Hinge(ridge=ridge).bind(targets, [2])
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
    head = EpsilonInsensitive(ridge=ridge, epsilon=0.2).bind(Targets(values, weight), [])
    targets = Targets(head.encode(values), weight)
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
    targets = Targets(labels, weight)
    head = MultiLabelHinge(ridge=0.01, positive_weight=positive_weight).bind(targets, [2] * 3)
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
    targets = Targets(classes[:, None], weight)
    head = Hinge(ridge=0.1, cost=COST).bind(targets, [3])
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
        own = Targets(targets.values[:, column : column + 1], targets.weight)
        alone = Hinge(C=1.0).bind(own, [N_CLASSES[column]])
        np.testing.assert_array_equal(alone.solve(features, own)[0][HEAD_WEIGHTS], solution[HEAD_WEIGHTS][:, outputs])


@pytest.mark.parametrize("name", LINEAR)
def test_warm_start_ends_at_the_same_optimum_sooner(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    passes: list[int] = []
    descend = dual._descend

    def counting(one_pass: Any, objectives: Any, *rest: Any) -> None:
        def counted(order: np.ndarray) -> None:
            passes[-1] += 1
            one_pass(order)

        descend(counted, objectives, *rest)

    monkeypatch.setattr(dual, "_descend", counting)
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


# ---- labels that are views -------------------------------------------------------------------------------------------
def label_problem(hidden: str, kind: str = "class", n_rows: int = 6) -> tuple[Problem, Parameters, Batch]:
    """Two views and a label: 3 classes, 2 numbers or 3 labels; row 0 has none."""
    values, n_classes = targets_for(kind, n_rows, columns=1)
    targets = Targets(values, np.random.default_rng(3).uniform(0.2, 2.0, size=n_rows))
    head = LabelView().bind(targets, n_classes)
    width = head.n_outputs_
    family: Any = {
        "class": lambda: Categorical().restore(width, {"groups": np.array([0, width])}),
        "number": lambda: Gaussian("learn").restore(width, {"location": np.zeros(width), "scale": np.ones(width)}),
        "label": lambda: Bernoulli().restore(width, {}),
    }[kind]()
    families = {"a": make_family("Bernoulli"), "b": make_family("Gaussian"), LABEL: family}
    energy = Energy(families, make_hidden(hidden))
    parameters = make_parameters(energy, seed=2, scale=0.2 if not energy.hidden.bounded else 0.6)
    batch = random_batch(energy, parameters, n_rows)
    statistic = np.array(family.encode(head.matrix(Targets(head.encode(values), targets.weight))), dtype=np.float64)
    missing = family.missing_sites(statistic)
    batch.views[LABEL] = ViewBatch(np.nan_to_num(statistic), missing=missing)
    batch.targets = targets
    reference = {"a": np.full(3, 0.5), "b": np.zeros(3), LABEL: np.full(width, 1 / 3)}
    return Problem(energy, reference, head), parameters, batch


def without_label(batch: Batch) -> Batch:
    return Batch({name: view for name, view in batch.views.items() if name != LABEL}, batch.n_rows)


@pytest.mark.parametrize("hidden", HIDDEN)
def test_exact_scores_by_enumeration(hidden: str) -> None:
    """log Σ_h p(class, x, h), the hidden states one by one, up to what all classes of a row share."""
    problem, parameters, batch = label_problem(hidden)
    energy = problem.energy
    scores = class_scores(energy, parameters, natural_without_label(energy, parameters, batch))
    states, log_weights = hidden_states(energy)
    for row in range(batch.n_rows):
        expected = []
        for number in range(3):
            views = {
                name: ViewBatch(np.repeat(view.statistic[row : row + 1], len(states), axis=0))
                for name, view in batch.views.items()
            }
            views[LABEL] = ViewBatch(np.tile(np.eye(3)[number], (len(states), 1)))
            expected.append(logsumexp(energy.joint(parameters, Batch(views, len(states)), states) + log_weights))
        np.testing.assert_allclose(softmax(scores[row]), softmax(expected), atol=1e-6)
    exact = LabelView(inference="exact").restore([3], problem.head.constants())
    np.testing.assert_array_equal(exact.scores(energy, parameters, batch), scores)


def test_mean_field_expectation_of_a_gaussian_label_is_exact_between_gaussians() -> None:
    """E[y | x] by enumeration of the hidden states, with the label summed out."""
    problem, parameters, batch = label_problem("GaussianUnits", "number")
    energy, others = problem.energy, without_label(batch)
    blind = Batch({**others.views, LABEL: ViewBatch(np.zeros((6, 2)), missing=np.ones((6, 2), bool))}, 6)
    filled = fill_missing(energy, parameters, blind, problem.reference, n_iterations=200)
    got = problem.head.scores(energy, parameters, filled)
    states, log_weights = hidden_states(energy)
    natural = energy.view_natural(parameters, LABEL, states)
    own = energy.own(parameters, LABEL)
    family = energy.families[LABEL]
    by_state = family.log_partition(natural, own).sum(axis=1) + log_weights + energy.hidden.log_base(states).sum(axis=1)
    log_joint = energy.hidden_natural(parameters, others) @ states.T + by_state
    expected = softmax(log_joint, axis=1) @ family.mean(natural, own)
    np.testing.assert_allclose(got, expected, atol=1e-5)


@pytest.mark.parametrize("hidden", HIDDEN)
@pytest.mark.parametrize("kind", LabelView.kinds)
def test_mean_field_scores_are_a_fixed_point(kind: str, hidden: str) -> None:
    """Naturals of classes and labels, expected values of numbers, at the hidden mean that they imply themselves."""
    problem, parameters, batch = label_problem(hidden, kind)
    energy, family = problem.energy, problem.energy.families[LABEL]
    label = batch.views[LABEL]
    nothing = ViewBatch(np.zeros_like(label.statistic), missing=np.ones_like(label.missing))
    blind = Batch({**batch.views, LABEL: nothing}, batch.n_rows)
    filled = fill_missing(energy, parameters, blind, problem.reference, n_iterations=300)
    scores = problem.head.scores(energy, parameters, filled)
    mean = scores if kind == "number" else family.mean(scores)
    again = energy.hidden_natural(parameters, Batch({**batch.views, LABEL: ViewBatch(mean)}, batch.n_rows))
    natural = energy.view_natural(parameters, LABEL, energy.layer(parameters).mean(again))
    expected = family.mean(natural, energy.own(parameters, LABEL)) if kind == "number" else natural
    np.testing.assert_allclose(scores, expected, atol=1e-6)


def test_kind_of_label_is_what_the_estimator_says_not_what_the_values_look_like() -> None:
    values = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    assert isinstance(LabelView().bind(Targets(values, np.ones(3)), []).family, Gaussian)
    assert isinstance(LabelView().bind(Targets(values, np.ones(3)), [2, 2]).family, Bernoulli)
    assert LabelView("exact").takes("class") and not LabelView("exact").takes("number")


# ---- conditional likelihood ------------------------------------------------------------------------------------------
@pytest.mark.parametrize("hidden", HIDDEN)
def test_conditional_gradient_by_finite_differences(hidden: str) -> None:
    problem, parameters, batch = label_problem(hidden)

    def conditional(moved: Parameters) -> Statistics:
        statistics = Statistics.zeros_like(moved)
        Discriminative()._add_conditional(problem, moved, batch, statistics)
        return statistics

    gradient = conditional(parameters).gradient
    assert_gradient(problem, gradient, lambda moved: conditional(moved).loss, parameters)
    for key in ("hidden.bias", "a.weights", "b.weights", f"{LABEL}.weights", f"{LABEL}.bias"):
        assert np.abs(gradient[key]).max() > 1e-3


def test_conditional_loss_is_the_weighted_log_probability_of_known_classes() -> None:
    problem, parameters, batch = label_problem("BernoulliUnits")
    assert batch.targets is not None
    scores = class_scores(problem.energy, parameters, natural_without_label(problem.energy, parameters, batch))
    log_probability = scores - logsumexp(scores, axis=1, keepdims=True)
    classes = batch.targets.values[:, 0]
    known = classes >= 0
    assert 0 < known.sum() < len(known)
    expected = -batch.targets.weight[known] @ log_probability[known, classes[known]]
    statistics = statistics_of(Discriminative(), problem, parameters, batch)
    assert statistics.loss == pytest.approx(expected)
    assert statistics.count == batch.n_rows


def test_hybrid_is_the_sum_of_both_gradients() -> None:
    problem, parameters, batch = label_problem("BernoulliUnits")
    conditional = statistics_of(Discriminative(), problem, parameters, batch).gradient
    joint = statistics_of(SampledCD(2), problem, parameters, batch).gradient
    hybrid = statistics_of(Discriminative(generative=0.3, n_steps=2), problem, parameters, batch)
    for key, value in hybrid.gradient.items():
        np.testing.assert_allclose(value, conditional[key] + 0.3 * joint[key], atol=1e-12)
    assert hybrid.count == batch.n_rows
    assert Discriminative().has_loss and not Discriminative(generative=0.3).has_loss


@pytest.mark.parametrize("driver", [Stochastic(max_iter=1), LBFGS(max_iter=1)], ids=str)
def test_conditional_likelihood_needs_a_label(driver: Any) -> None:
    X = (np.random.default_rng(0).random((20, 4)) < 0.5).astype(float)
    sentence = "Discriminative needs classes that are a view; the model has none; pass head=LabelView"
    with pytest.raises(ValueError, match=sentence):
        Harmonium(2, objective=Discriminative(), driver=driver).fit(X)
    with pytest.raises(ValueError, match=sentence):  # a view of that name is not a label
        Harmonium(2, objective=Discriminative(), driver=driver).fit({"x": X, "label": X})
    model = HarmoniumClassifier(2, head=Hinge(1.0), objective=Discriminative(), driver=driver, validation_fraction=0)
    with pytest.raises(ValueError, match=sentence):
        model.fit(X, [0, 1] * 10)


def test_share_of_the_joint_likelihood_is_checked() -> None:
    X = (np.random.default_rng(0).random((20, 4)) < 0.5).astype(float)
    with pytest.raises(ValueError, match="generative >= 0; got -1"):
        Harmonium(2, objective=Discriminative(-1), driver=Stochastic(max_iter=1)).fit(X)


def test_batch_training_of_the_hybrid_is_refused() -> None:
    X = (np.random.default_rng(0).random((20, 4)) < 0.5).astype(float)
    model = HarmoniumClassifier(2, head=LabelView(), objective=Discriminative(0.1), driver=LBFGS(max_iter=2))
    with pytest.raises(ValueError, match="LBFGS needs an objective with a loss"):
        model.fit(X, [0, 1] * 10)


# ---- probabilities ---------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("factor", [0.2, 1.0, 5.0])
def test_temperature_recovers_a_known_factor(factor: float) -> None:
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(20000, 4))
    classes = np.argmax(factor * scores + rng.gumbel(size=scores.shape), axis=1)
    weight = np.ones(20000)
    classes[:50] = -1
    weight[50:100], classes[50:100] = 0.0, 0
    train, test = slice(10000), slice(10000, None)
    found = fit_temperature(scores[train], classes[train], weight[train])
    assert found == pytest.approx(factor, rel=0.1)
    each = np.arange(10000)
    losses = [-np.log(class_probabilities(scores[test], a)[each, classes[test]]).mean() for a in (found, 1.0)]
    assert losses[0] <= losses[1] + 1e-3
    np.testing.assert_allclose(class_probabilities(scores, found).sum(axis=1), 1)
    # a row of weight 2 counts as two rows
    twice = fit_temperature(np.repeat(scores[100:400], 2, axis=0), np.repeat(classes[100:400], 2), np.ones(600))
    assert fit_temperature(scores[100:400], classes[100:400], np.full(300, 2.0)) == pytest.approx(twice, rel=1e-3)


@pytest.mark.parametrize(("factor", "shift"), [(0.3, -1.0), (1.0, 0.0), (4.0, 2.0)])
def test_sigmoid_recovers_known_factor_and_shift(factor: float, shift: float) -> None:
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(20000, 3))
    labels = (rng.random(scores.shape) < expit(factor * scores + shift)).astype(float)
    labels[rng.random(scores.shape) < 0.1] = np.nan
    train, test = slice(10000), slice(10000, None)
    found = fit_sigmoid(scores[train], labels[train], np.ones(10000))
    assert found == pytest.approx((factor, shift), rel=0.1, abs=0.05)
    signs = 2 * labels[test] - 1
    losses = [-np.nanmean(log_expit(signs * (a * scores[test] + b))) for a, b in (found, (1.0, 0.0))]
    assert losses[0] <= losses[1] + 1e-3
    np.testing.assert_allclose(label_probabilities(scores, *found), expit(found[0] * scores + found[1]))
    # what is there counting five times moves the log-odds by log 5
    more = fit_sigmoid(scores[train], labels[train], np.ones(10000), positive_weight=5.0)
    assert more[1] - found[1] == pytest.approx(np.log(5), rel=0.15)


def test_nothing_to_calibrate_by_leaves_scores_as_they_are() -> None:
    scores = np.random.default_rng(0).normal(size=(5, 3))
    assert fit_temperature(scores, np.full(5, -1), np.ones(5)) == 1.0
    assert fit_temperature(scores, np.zeros(5, dtype=int), np.zeros(5)) == 1.0
    assert fit_sigmoid(scores, np.full((5, 3), np.nan), np.ones(5)) == (1.0, 0.0)
