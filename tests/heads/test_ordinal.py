"""Ordinal head: its losses, thresholds and probabilities against plain loops and closed forms; both estimators."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.svm import LinearSVC

from harmonium import HarmoniumClassifier, HarmoniumRegressor, Stochastic, load
from harmonium.core.targets import Labels, Targets, TargetSpec
from harmonium.heads import Ordinal
from harmonium.hidden import GaussianUnits

N_LEVELS = 4
CODES = np.array([0, 1, 2, 3, 1, -1, 2, 0, 3, 3])
WEIGHT = np.random.default_rng(3).uniform(0.5, 2.0, size=len(CODES))
LABELS = Labels(TargetSpec("class", [np.arange(N_LEVELS)]), Targets(CODES[:, None], WEIGHT))
QUICK = Stochastic(max_iter=15, batch_size=25, learning_rate=0.02, schedule="constant", average=True)


def ratings(n_rows: int = 400, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Five levels of a hidden direction, seen through noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 6))
    return X, np.digitize(X[:, 0] - X[:, 1] + 0.4 * rng.normal(size=n_rows), [-1.8, -0.5, 0.5, 1.8]) + 1


def plain_loss(scores: np.ndarray, code: int, margins: str) -> float:
    total = 0.0
    for j, score in enumerate(scores, start=1):
        if margins == "nearest" and j not in (code, code + 1):
            continue
        total += max(0.0, 1 - score) if code >= j else max(0.0, 1 + score)
    return total


@pytest.mark.parametrize("margins", ["all", "nearest"])
def test_losses_are_those_of_a_plain_loop(margins: Any) -> None:
    head = Ordinal(margins=margins).bind(LABELS)
    scores = np.random.default_rng(0).normal(size=(len(CODES), N_LEVELS - 1))
    losses, by_score = head.loss(scores, CODES[:, None])
    expected = [0.0 if code < 0 else plain_loss(row, code, margins) for row, code in zip(scores, CODES, strict=True)]
    np.testing.assert_allclose(losses, expected)
    step = 1e-6
    for j in range(N_LEVELS - 1):
        moved = scores + step * (np.arange(N_LEVELS - 1) == j)
        slope = (head.loss(moved, CODES[:, None])[0] - losses) / step
        np.testing.assert_allclose(by_score[:, j], slope, atol=1e-4)


@pytest.mark.parametrize("margins", ["all", "nearest"])
def test_solution_is_that_of_liblinear_on_copies_of_the_rows(margins: Any) -> None:
    rng = np.random.default_rng(1)
    hidden = rng.normal(size=(60, 3))
    codes = np.digitize(hidden @ [1.0, -0.5, 0.2] + 0.5 * rng.normal(size=60), [-0.7, 0.1, 0.8])
    head = Ordinal(ridge=0.05, margins=margins).bind(
        Labels(TargetSpec("class", [np.arange(4)]), Targets(codes[:, None], np.ones(60)))
    )
    found, _ = head.solve(hidden, Targets(codes[:, None], np.ones(60)), tolerance=1e-8)
    rows, sides, used = [], [], []
    for features, code in zip(hidden, codes, strict=True):
        for j in range(1, 4):
            rows.append([*features, *(np.arange(1, 4) == j), 1.0])
            sides.append(1 if code >= j else -1)
            used.append(margins == "all" or j in (code, code + 1))
    svm = LinearSVC(C=1 / (60 * 0.05), loss="hinge", fit_intercept=False, tol=1e-9, max_iter=10**6)
    svm.fit(np.array(rows)[used], np.array(sides)[used])
    expected = svm.coef_[0]
    np.testing.assert_allclose(found["head.weights"][:, 0], expected[:3], atol=2e-3)
    np.testing.assert_allclose(found["head.bias"], expected[3:6] + expected[6], atol=2e-3)


def test_all_margins_put_thresholds_in_order_by_themselves() -> None:
    X, y = ratings()
    model = HarmoniumClassifier(6, head=Ordinal(C=1.0, solver="alternate"), driver=QUICK, random_state=0).fit(X, y)
    assert (np.diff(model.fitted_.parameters["head.bias"]) < 0).all()  # the higher a level, the higher its threshold


def test_probabilities_are_differences_of_reaching_levels() -> None:
    head = Ordinal().bind(LABELS)
    scores = np.array([[3.0, 1.0, -2.0], [-1.0, 2.0, -3.0]])  # the second row cannot be at 2 without being at 1
    (shares,) = head.outputs_.probabilities(scores)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert (shares >= 0).all()
    reached = 1 / (1 + np.exp(-scores[0]))
    np.testing.assert_allclose(
        shares[0], [1 - reached[0], reached[0] - reached[1], reached[1] - reached[2], reached[2]]
    )
    assert head.outputs_.predict(scores)[:, 0].tolist() == [2, 0]
    (sums,) = head.outputs_.decisions(scores)
    assert sums.argmax(axis=1).tolist() == [2, 0]


def test_calibration_finds_the_factor_that_made_the_levels() -> None:
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(20_000, 1)) + np.array([1.0, 0.0, -1.0])
    outputs = Ordinal().bind(LABELS).outputs_
    (shares,) = outputs.with_factors(np.array([2.5])).probabilities(scores)
    codes = (rng.random((len(scores), 1)) > np.cumsum(shares, axis=1)).sum(axis=1)
    found = outputs.calibrated(scores, Targets(codes[:, None], np.ones(len(codes))))
    assert found.factors[0] == pytest.approx(2.5, rel=0.05)


def test_classifier_and_regressor_learn_ratings() -> None:
    X, y = ratings(800)
    settings: dict[str, Any] = {"head": Ordinal(), "hidden": GaussianUnits(), "driver": QUICK, "random_state": 0}
    classifier = HarmoniumClassifier(8, **settings).fit(X[:500], y[:500])
    found = classifier.predict(X[500:])
    median = np.abs(np.median(y[:500]) - y[500:]).mean()
    assert np.abs(found - y[500:]).mean() < 0.5 * median
    assert set(found) <= {1, 2, 3, 4, 5} and classifier.coef_.shape == (1, 8)
    regressor = HarmoniumRegressor(8, **settings).fit(X[:500], y[:500].astype(float))
    assert regressor.score(X[500:], y[500:]) > 0.7
    assert regressor.predict(X).min() >= 1 and regressor.predict(X).max() <= 5


def test_unknown_levels_teach_about_the_views_only() -> None:
    X, y = ratings()
    some = np.where(np.arange(len(y)) % 3 == 0, -1, y)
    model = HarmoniumClassifier(4, head=Ordinal(C=1.0), driver=QUICK, random_state=0).fit(X, some)
    assert model.classes_.tolist() == [1, 2, 3, 4, 5]
    missing = np.where(some < 0, np.nan, some)
    HarmoniumRegressor(4, head=Ordinal(C=1.0), driver=QUICK, random_state=0).fit(X, missing)


def test_levels_may_be_texts_in_a_given_order() -> None:
    X, y = ratings()
    words = np.array(["awful", "poor", "fair", "good", "superb"])
    model = HarmoniumClassifier(6, head=Ordinal(C=1.0, levels=words.tolist()), driver=QUICK, random_state=0)
    model.fit(X, words[y - 1])
    numbers = HarmoniumClassifier(6, head=Ordinal(C=1.0), driver=QUICK, random_state=0).fit(X, y)
    assert (model.predict(X) == words[numbers.predict(X) - 1]).all()
    order = np.argsort(words)
    np.testing.assert_allclose(model.predict_proba(X), numbers.predict_proba(X)[:, order])
    assert (model.classes_[model.decision_function(X).argmax(axis=1)] == model.predict(X)).all()


def test_two_levels_are_two_classes() -> None:
    X, y = ratings()
    for head in (Ordinal(C=1.0), Ordinal(C=1.0, levels=[1, 0])):
        model = HarmoniumClassifier(4, head=head, hidden=GaussianUnits(), driver=QUICK, random_state=0)
        model.fit(X, (y > 3).astype(int))
        assert ((model.decision_function(X) > 0) == (model.predict(X) == 1)).all()
        assert model.score(X, y > 3) > 0.8


@pytest.mark.parametrize("kind", [HarmoniumClassifier, HarmoniumRegressor])
def test_files_keep_levels_and_factors(kind: Any, tmp_path: Path) -> None:
    X, y = ratings()
    model = kind(4, head=Ordinal(levels=[5, 4, 3, 2, 1]), driver=QUICK, random_state=0).fit(X, y)
    model.save(tmp_path / "model.safetensors")
    again = load(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert again.fitted_.head.outputs_.levels.tolist() == model.fitted_.head.outputs_.levels.tolist()


@pytest.mark.parametrize(
    ("head", "y", "sentence"),
    [
        (Ordinal(), ["good", "bad"] * 10, "texts have no order"),
        (Ordinal(levels=["bad"]), ["good", "bad"] * 10, "levels must name each level of y once"),
        (Ordinal(levels=["bad", "bad"]), ["good", "bad"] * 10, "levels must name each level of y once"),
        (Ordinal(), np.tile([[0, 1], [2, 3], [1, 1], [3, 0]], (5, 1)), "one column of levels"),
        (Ordinal(margins="some"), [0, 1] * 10, "Ordinal needs margins 'all' or 'nearest'"),
    ],
)
def test_what_has_no_order_is_refused(head: Ordinal, y: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        HarmoniumClassifier(2, head=head).fit(np.random.default_rng(0).normal(size=(20, 3)), y)


def test_measurements_are_no_levels() -> None:
    X = np.random.default_rng(0).normal(size=(200, 3))
    with pytest.raises(ValueError, match="at most 100 different ones; y has 200; use EpsilonInsensitive"):
        HarmoniumRegressor(2, head=Ordinal()).fit(X, X[:, 0])
    with pytest.raises(ValueError, match="two levels at least"):
        HarmoniumRegressor(2, head=Ordinal()).fit(X, np.ones(200))


def test_going_on_needs_the_same_levels() -> None:
    X, y = ratings(100)
    model = HarmoniumRegressor(2, head=Ordinal(C=1.0), driver=Stochastic(max_iter=2), random_state=0)
    model.partial_fit(X, y)
    with pytest.raises(ValueError, match=r"levels that training began with, 1, 2, 3, 4, 5; got ([7-9]|1\d); fit anew"):
        model.partial_fit(X, y + 6)


@pytest.mark.parametrize("levels", [["low", None], np.array([1.0, np.nan]), np.array(["a", None], dtype=object)])
def test_levels_that_are_missing_are_refused(levels: Any) -> None:
    with pytest.raises(ValueError, match="levels that are there"):
        HarmoniumClassifier(2, head=Ordinal(levels=levels)).fit(np.eye(4), ["low", "high"] * 2)
