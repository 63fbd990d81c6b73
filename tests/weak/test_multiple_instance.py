"""Classifiers of bags: the unit tests of multiple-instance learners, an oracle of the solver, input, files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import approx_fprime
from sklearn.calibration import CalibratedClassifierCV
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import harmonium
from harmonium.weak import (
    Bags,
    CandidateTransformer,
    DissimilarityClassifier,
    LatentSVM,
    MultipleInstanceClassifier,
)
from harmonium.weak.solvers.presence import learn_presence, objective

Made = tuple[list[np.ndarray], np.ndarray]


def bags_of(concepts: Any, n_bags: int, seed: int) -> Made:
    """Background instances N(0, I) in 16 dimensions, and those that ``concepts`` adds by label."""
    rng = np.random.default_rng(seed)
    y = np.arange(n_bags) % 2
    background = [rng.normal(size=(rng.integers(4, 10), 16)) for _ in y]
    return [np.vstack([b, *concepts(rng, int(label))]) for b, label in zip(background, y, strict=True)], y


def some(rng: np.random.Generator, mean: float, deviation: float, number: int = 1) -> np.ndarray:
    return rng.normal(mean, deviation, size=(number, 16))


def poison(rng: np.random.Generator) -> np.ndarray:
    return some(rng, -10, 0.1)


def single(is_test: bool) -> Any:
    """Positive bags have a wide instance; negative ones poison, which moves to the positive ones in tests."""
    return lambda rng, y: [some(rng, 0, 3)] * y + [poison(rng)] * ((y == 1) == is_test)


def both_poisoned(is_test: bool) -> Any:
    """Positive bags have both concepts, negative ones one of them, and poison as above."""

    def concepts(rng: np.random.Generator, y: int) -> list[np.ndarray]:
        first, second = some(rng, 2, 0.1), some(rng, 3, 0.1)
        own = [first, second] if y else [[first], [second], []][rng.integers(3)]
        return own + [poison(rng)] * ((y == 1) == is_test)

    return concepts


def both_by_frequency(is_test: bool) -> Any:
    """Positive bags have both concepts; negative ones one of them, once in training and often in tests."""

    def concepts(rng: np.random.Generator, y: int) -> list[np.ndarray]:
        number = 1 + 9 * ((y == 0) == is_test)
        first, second = some(rng, -2, 0.1, number), some(rng, 2, 0.1, number)
        return [first, second] if y else [[first], [second]][rng.integers(2)]

    return concepts


@pytest.mark.parametrize("concepts", [single, both_poisoned, both_by_frequency])
def test_unit_tests_of_multiple_instance_learners(concepts: Any) -> None:
    """Raff & Holt (2023), Reproducibility in multiple instance learning: a case for algorithmic unit tests.

    A learner fails if its area under the curve in the test is below a half: it has learned that the absence of
    something makes a bag positive, or how many instances there are.
    """
    model = MultipleInstanceClassifier(negative=0, random_state=0).fit(*bags_of(concepts(False), 200, 0))
    seen, new = (bags_of(concepts(is_test), 200, 1) for is_test in (False, True))
    assert roc_auc_score(seen[1], model.decision_function(seen[0])) > 0.75
    assert roc_auc_score(new[1], model.decision_function(new[0])) > 0.75


def test_the_unit_tests_can_fail() -> None:
    model = MultipleInstanceClassifier(random_state=0).fit(*bags_of(single(False), 200, 0))
    bags, y = bags_of(single(True), 200, 1)
    assert roc_auc_score(y, model.decision_function(bags)) < 0.5


def test_weights_are_those_of_logistic_regression() -> None:
    rng = np.random.default_rng(0)
    features, labels = rng.random((60, 5)), rng.integers(0, 3, 60).astype(np.int32)
    weights = rng.random(60)
    weights /= weights.sum()
    coef, bias = learn_presence(features, labels, weights, 20.0, 3, None)
    other = LogisticRegression(C=20.0, tol=1e-10, max_iter=10_000).fit(features, labels, sample_weight=weights)
    assert np.allclose(coef, other.coef_, atol=1e-3)
    assert np.allclose(bias - bias.mean(), other.intercept_ - other.intercept_.mean(), atol=1e-3)
    flat = rng.normal(size=18)
    arguments = (features, labels, weights, 20.0, 3)
    slope = approx_fprime(flat, lambda at: objective(at, *arguments)[0], 1e-7)
    assert np.allclose(objective(flat, *arguments)[1], slope, atol=1e-4)
    coef, bias = learn_presence(features, labels, weights, 20.0, 3, default=1)
    assert (coef >= 0).all() and not coef[1].any() and bias[1] == 0 and coef.any()


def three(n_bags: int = 60, seed: int = 0) -> Made:
    rng = np.random.default_rng(seed)
    y = np.arange(n_bags) % 3
    bags = [rng.normal(size=(4, 3)) for _ in y]
    for bag, label in zip(bags, y, strict=True):
        bag[2] += 5 * np.eye(3)[label]
    return bags, np.array(["a", "b", "c"])[y]


def test_several_classes_probabilities_instances_and_search(tmp_path: Path) -> None:
    bags, y = three()
    model = MultipleInstanceClassifier(random_state=0).fit(bags, y)
    new, new_y = three(seed=1)
    assert model.score(new, new_y) > 0.9
    assert np.allclose(model.predict_proba(new).sum(axis=1), 1)
    assert (model.predict_proba(new).argmax(axis=1) == model.decision_function(new).argmax(axis=1)).all()
    alone = MultipleInstanceClassifier.predict(model, [bag[2:3] for bag in new])
    assert [labels[2] for labels in model.predict_instances(new)] == alone.tolist()
    assert np.allclose(model.instance_scores(new)[0][2], model.decision_function([new[0][2:3]])[0])
    found = GridSearchCV(model, {"gamma": [0.1, 1.0]}, cv=3).fit(Bags.from_list(bags), y)
    assert found.best_score_ > 0.9
    model.save(tmp_path / "model.safetensors")
    again = harmonium.load(tmp_path / "model.safetensors")
    assert np.array_equal(again.predict_proba(new), model.predict_proba(new)) and again.n_features_in_ == 3


@pytest.mark.parametrize("kind", [LatentSVM, DissimilarityClassifier])
def test_latent_machines_in_pipelines(kind: Any) -> None:
    bags, y = three()
    kernel = make_pipeline(StandardScaler(), Nystroem(gamma=0.2, n_components=40, random_state=0))
    model = make_pipeline(CandidateTransformer(kernel), kind(C=100.0, random_state=0))
    assert cross_val_score(model, Bags.from_list(bags), y, cv=3, scoring="accuracy").mean() > 0.8
    calibrated = CalibratedClassifierCV(model, cv=3).fit(Bags.from_list(bags), y)
    assert calibrated.predict_proba(bags).shape == (60, 3)
    model.fit(bags, y)
    scores = model[-1].instance_scores(model[0].transform(bags))
    assert np.allclose([s.max(axis=0) for s in scores], model.decision_function(bags))
    assert model[-1].predict_instances(model[0].transform(bags))[0].shape == (4,)


@pytest.mark.parametrize("kind", [LatentSVM, DissimilarityClassifier, MultipleInstanceClassifier])
def test_a_class_of_weight_two_is_that_class_twice(kind: Any) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 1, 3)), np.arange(40) % 2
    X[:, 0, 0] += y
    doubled = np.concatenate([X, X[y == 1]]), np.concatenate([y, y[y == 1]])
    settings: dict[str, Any] = {"C": 10.0, "random_state": 0}
    if kind is MultipleInstanceClassifier:
        settings["gamma"] = 0.5
    else:
        settings["tol"] = 1e-7
    weighted = kind(**settings, class_weight={1: 2.0}).fit(X, y)
    if kind is MultipleInstanceClassifier:  # the same landmarks and scales, so that only the weights are compared
        embedded = weighted._embedded(Bags.from_list(list(doubled[0])))
        shares = np.full(len(embedded), 1 / len(embedded))
        coef, _ = learn_presence(embedded, doubled[1].astype(np.int32), shares, 10.0, 2, None)
        assert np.allclose(weighted.coef_, coef, atol=1e-3)
    else:
        assert np.allclose(weighted.coef_, kind(**settings).fit(*doubled).coef_, atol=1e-3)
    balanced = kind(**settings, class_weight="balanced").fit(*doubled)
    assert (balanced.predict(X) == 1).mean() < (kind(**settings).fit(*doubled).predict(X) == 1).mean()


def test_frames_with_a_column_of_bags() -> None:
    frame = pd.DataFrame({"bag": ["q", "p", "q"], "y": [1, 0, 1], "u": [1.0, 2.0, 3.0], "v": [0.0, 0.0, 5.0]})
    bags, y = Bags.from_frame(frame, "bag", label="y")
    assert bags.keys is not None and bags.keys.tolist() == ["q", "p"] and y.tolist() == [1, 0]
    assert bags.features.tolist() == [[1, 0], [3, 5], [2, 0]] and bags.feature_names == ("u", "v")
    assert bags[[1]].keys.tolist() == ["p"]
    with pytest.raises(ValueError, match="same label; bag q has 1 and 0"):
        Bags.from_frame(frame.assign(y=[1, 0, 0]), "bag", label="y")
    with pytest.raises(ValueError, match="must have a column 'sack'"):
        Bags.from_frame(frame, "sack")
    with pytest.raises(ValueError, match="must name its bag"):
        Bags.from_frame(frame.assign(bag=["q", None, "q"]), "bag")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"negative": "z"}, "negative must be a class of y, 'a', 'b', 'c'; got 'z'"),
        ({"class_weight": {"z": 1.0}}, "class_weight may only name classes of y"),
        ({"class_weight": {"a": 0.0}}, r"class_weight\['a'\]"),
        ({"gamma": -1.0}, "gamma > 0"),
    ],
)
def test_bad_settings_get_one_sentence(settings: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        MultipleInstanceClassifier(**settings).fit(*three())
    with pytest.raises(TypeError, match="'balanced' or a dict"):
        LatentSVM(class_weight=3).fit(*three())
