"""`HarmoniumClassifier` and `HarmoniumRegressor`: scikit-learn's checks, labels of all kinds, choices made in fit."""

from __future__ import annotations

import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.metrics import f1_score, log_loss
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.svm import LinearSVC, LinearSVR
from sklearn.utils.estimator_checks import parametrize_with_checks

import harmonium
from harmonium import (
    LBFGS,
    BernoulliUnits,
    Discriminative,
    DiscriminativeRBM,
    EpsilonInsensitive,
    Gaussian,
    Harmonium,
    HarmoniumClassifier,
    HarmoniumRegressor,
    HarmoniumWarning,
    Hinge,
    LabelView,
    MeanFieldCD,
    MultiLabelHinge,
    SampledCD,
    Stochastic,
    Views,
    metrics,
)
from harmonium.params import HEAD_BIAS, HEAD_WEIGHTS
from harmonium.recipes import TWH
from harmonium.training.path import AUTO_PATH

N_ROWS = 240
QUICK: dict[str, Any] = {"n_components": 5, "random_state": 0, "driver": Stochastic(10, 20, learning_rate=0.1)}


def classifier(**keywords: Any) -> HarmoniumClassifier:
    """Trains in a tenth of a second."""
    return HarmoniumClassifier(**{**QUICK, "head": Hinge(C=1.0), "validation_fraction": 0, **keywords})


def regressor(**keywords: Any) -> HarmoniumRegressor:
    return HarmoniumRegressor(**{**QUICK, "head": EpsilonInsensitive(C=1.0), "validation_fraction": 0, **keywords})


def two_views(n_rows: int = N_ROWS, seed: int = 0, n_classes: int = 3) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Words and colours that both tell of the class, though neither for certain."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, size=n_rows)
    likely = np.arange(6 * n_classes) // 6 == y[:, None]
    words = (rng.random(likely.shape) < np.where(likely, 0.6, 0.15)).astype(float)
    return {"words": words, "colour": 2 * np.eye(n_classes)[y] + rng.normal(size=(n_rows, n_classes))}, y


def two_numbers(n_rows: int = N_ROWS, seed: int = 0) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Two numbers behind both views; words are on the sunny side of the first."""
    rng = np.random.default_rng(seed)
    causes = rng.normal(size=(n_rows, 2))
    words = (rng.random((n_rows, 12)) < 1 / (1 + np.exp(-3 * causes[:, [0] * 6 + [1] * 6]))).astype(float)
    colour = np.repeat(causes, 3, axis=1) + 0.5 * rng.normal(size=(n_rows, 6))
    return {"words": words, "colour": colour}, 10 + 5 * causes


def some_labels(n_rows: int = N_ROWS, seed: int = 0) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """An indicator matrix of four labels, of which the last is less frequent."""
    rng = np.random.default_rng(seed)
    labels = (rng.random((n_rows, 4)) < [0.5, 0.5, 0.4, 0.3]).astype(int)
    words = (rng.random((n_rows, 16)) < np.where(np.repeat(labels, 4, axis=1) > 0, 0.7, 0.1)).astype(float)
    return {"words": words, "colour": labels[:, :2] + 0.5 * rng.normal(size=(n_rows, 2))}, labels


X, Y = two_views()
FRESH, Y_FRESH = two_views(400, seed=1)


def assert_same_predictions(one: Any, two: Any, data: Any = FRESH) -> None:
    for method in ("predict", "decision_function", "predict_proba", "transform"):
        if hasattr(one, method):
            first, second = getattr(one, method)(data), getattr(two, method)(data)
            for a, b in zip(*([p] if not isinstance(p, list) else p for p in (first, second)), strict=True):
                np.testing.assert_array_equal(a, b)


# ---- scikit-learn ----------------------------------------------------------------------------------------------------
BY_DESIGN = (
    "rows of weight 0 are unlabelled, not absent, and a weight of 2 doubles a row's label, not its views, which teach "
    "the model too; training is stochastic besides"
)


@parametrize_with_checks(
    [
        classifier(),
        regressor(),
        HarmoniumClassifier(**{**QUICK, "driver": Stochastic(8, 25, learning_rate=0.1)}),
        HarmoniumRegressor(**{**QUICK, "driver": Stochastic(8, 25, learning_rate=0.1)}),
        TWH(**QUICK, hidden=BernoulliUnits(), validation_fraction=0),
        TWH(**QUICK, task="regression", views=Gaussian("learn"), validation_fraction=0),
        DiscriminativeRBM(**QUICK, validation_fraction=0),
        classifier(
            head=Hinge(C=1.0, ridge=0.02, solver="alternate"), objective=MeanFieldCD(), driver=LBFGS(max_iter=20)
        ),
        regressor(
            head=EpsilonInsensitive(1.0, 0.02, solver="alternate"), objective=MeanFieldCD(), driver=LBFGS(max_iter=20)
        ),
    ],
    expected_failed_checks=lambda estimator: {
        "check_sample_weight_equivalence_on_dense_data": BY_DESIGN,
        "check_sample_weight_equivalence_on_sparse_data": BY_DESIGN,
    },
)
def test_passes_the_checks_of_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)


def test_clone_and_nested_parameters() -> None:
    model = classifier(head=Hinge(C=1.0, cost=[[0, 1, 1], [2, 0, 1], [1, 1, 0]])).fit(X, Y)
    copy = clone(model)
    assert copy.head is not model.head and not hasattr(copy, "head_")
    assert copy.get_params()["head__C"] == 1.0
    assert_same_predictions(copy.fit(X, Y), model)
    copy.set_params(head__C=0.1, head__solver="alternate", driver__max_iter=2)
    assert (copy.head.C, copy.head.solver, copy.driver.max_iter) == (0.1, "alternate", 2)
    assert model.head.C == 1.0 and model.head is not model.head_  # the user's part stays as it is


def test_stock_search_over_the_weight_of_the_head() -> None:
    grid = {"head__C": [0.1, 1.0], "head__solver": ["joint", "alternate"]}
    search = GridSearchCV(classifier(), grid, cv=2, error_score="raise").fit(Views(X), Y)
    assert (search.cv_results_["mean_test_score"] > 0.85).all()
    assert search.score(Views(FRESH), Y_FRESH) > 0.9
    numbers, y = two_numbers()
    assert cross_val_score(regressor(), Views(numbers), y[:, 0], cv=2, error_score="raise").mean() > 0.6


def test_output_containers_and_names() -> None:
    frame = pd.DataFrame(X["colour"], columns=["red", "green", "blue"])
    model = classifier().set_output(transform="pandas")
    latent = model.fit_transform(frame, Y)
    assert list(latent.columns) == list(model.get_feature_names_out())
    assert latent.columns[0] == "harmoniumclassifier0"
    assert list(model.feature_names_in_) == ["red", "green", "blue"]
    assert model.coef_.shape == (3, 5) and model.components_.shape == (5, 3)
    assert list(regressor().fit(frame, Y).get_feature_names_out())[-1] == "harmoniumregressor4"
    # a label that is a view is no input
    label = classifier(head=LabelView()).fit(frame, Y)
    assert label.n_features_in_ == 3 and label.input_names_ == ["view0"] and label.coef_.shape == (3, 5)
    assert label.transform(frame).shape == (N_ROWS, 5)


# ---- learning --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "model",
    [
        classifier(),
        HarmoniumClassifier(**QUICK),
        classifier(head=Hinge(C=1.0, ridge=0.02, solver="alternate")),
        classifier(
            head=Hinge(C=1.0, ridge=0.02, solver="alternate"), objective=MeanFieldCD(), driver=LBFGS(max_iter=20)
        ),
        TWH(**QUICK),
        DiscriminativeRBM(**QUICK),
        DiscriminativeRBM(**QUICK, generative=0.01),
    ],
    ids=["joint", "auto", "alternate", "batch", "label", "conditional", "hybrid"],
)
def test_classes_are_learned_and_predicted_from_any_views(model: HarmoniumClassifier) -> None:
    model.fit(X, Y)
    both, words, colour = (
        model.score(data, Y_FRESH) for data in (FRESH, {"words": FRESH["words"]}, {"colour": FRESH["colour"]})
    )
    assert both > 0.93
    assert words > 0.7 and colour > 0.7
    assert both > max(words, colour)
    partly = {"words": FRESH["words"].copy(), "colour": FRESH["colour"].copy()}
    partly["colour"][::2] = np.nan
    assert max(words, colour) - 0.05 < model.score(partly, Y_FRESH) < both + 0.01


@pytest.mark.parametrize(
    "model",
    [
        regressor(driver=Stochastic(30, 20, learning_rate=0.05)),
        regressor(head=EpsilonInsensitive(C=1.0, solver="alternate")),
        HarmoniumRegressor(**QUICK),
        TWH(
            6,
            task="regression",
            views={"colour": Gaussian("learn")},
            driver=Stochastic(40, 20, 0.03),
            random_state=0,
            validation_fraction=0,
        ),
    ],
    ids=["joint", "alternate", "auto", "label"],
)
def test_numbers_are_learned_one_or_several(model: HarmoniumRegressor) -> None:
    data, y = two_numbers()
    fresh, expected = two_numbers(300, seed=1)
    assert model.fit(data, y).score(fresh, expected) > 0.8
    assert model.predict(fresh).shape == (300, 2)
    one = clone(model).fit(data, y[:, 0])
    assert one.predict(fresh).shape == (300,) and one.score(fresh, expected[:, 0]) > 0.8
    assert one.score({"colour": fresh["colour"]}, expected[:, 0]) > 0.5


def test_numbers_that_look_like_classes_stay_numbers() -> None:
    data, y = two_numbers()
    for head in (EpsilonInsensitive(C=1.0), LabelView()):
        model = regressor(head=head).fit(data, (y[:, 0] > 10).astype(int))
        assert model.predict(data).min() > -0.6 and model.predict(data).max() < 1.6
        assert model.score(data, (y[:, 0] > 10).astype(int)) > 0.3


@pytest.mark.parametrize("head", [None, MultiLabelHinge(C=1.0), LabelView()], ids=["auto", "hinge", "label"])
def test_several_labels_dense_or_sparse(head: Any) -> None:
    data, labels = some_labels()
    fresh, expected = some_labels(300, seed=1)
    model = classifier(n_components=10, head=head, validation_fraction=0.15 if head is None else 0).fit(data, labels)
    assert_same_predictions(clone(model).fit(data, scipy.sparse.csr_array(labels)), model, fresh)
    assert_same_predictions(clone(model).fit(data, labels.astype(bool)), model, fresh)
    predicted, probability = model.predict(fresh), model.predict_proba(fresh)
    assert predicted.shape == probability.shape == model.decision_function(fresh).shape == (300, 4)
    assert f1_score(expected, predicted, average="micro") > 0.75
    np.testing.assert_array_equal(predicted, probability > 0.5)
    np.testing.assert_array_equal(predicted, model.decision_function(fresh) > 0)
    np.testing.assert_array_equal(model.classes_, np.arange(4))
    table = model.annotate(fresh, top=2, names=["tree", "sun", "sea", "bird"])
    assert table.shape == (600, 4) and set(table["label"]) <= {"tree", "sun", "sea", "bird"}
    first = table[table["rank"] == 1]
    np.testing.assert_allclose(first["probability"], probability.max(axis=1))


def test_weight_of_labels_that_are_there_finds_more_of_them() -> None:
    data, labels = some_labels()
    found = [
        classifier(head=MultiLabelHinge(C=0.3, positive_weight=w), validation_fraction=fraction)
        .fit(data, labels)
        .predict(data)
        .sum()
        for fraction in (0, 0.15)
        for w in (0.2, 5.0)
    ]
    assert found[0] < 0.9 * found[1] and found[2] < 0.9 * found[3]


def test_several_columns_of_classes() -> None:
    data, y = two_views()
    other = np.where(data["colour"][:, 0] > 1, "warm", "cold")
    table = np.stack([y.astype(object), other.astype(object)], axis=1)
    model = classifier().fit(data, table)
    assert [list(classes) for classes in model.classes_] == [[0, 1, 2], ["cold", "warm"]]
    predicted = model.predict(data)
    assert predicted.shape == (N_ROWS, 2) and set(predicted[:, 0]) == {0, 1, 2}
    assert (predicted == table).mean(axis=0).min() > 0.85
    assert [part.shape for part in model.predict_proba(data)] == [(N_ROWS, 3), (N_ROWS, 2)]
    assert [part.shape for part in model.decision_function(data)] == [(N_ROWS, 3), (N_ROWS,)]
    numbers = classifier().fit(data, np.stack([y, y % 2 + 5], axis=1))
    assert numbers.predict(data).dtype.kind == "i"
    # one column unknown, the other not
    table[::3, 0] = None
    table[1::3, 1] = None
    partly = classifier().fit(data, table)
    assert [list(classes) for classes in partly.classes_] == [[0, 1, 2], ["cold", "warm"]]
    assert (partly.predict(data)[:, 0] == y).mean() > 0.85
    chosen = classifier(validation_fraction=0.15).fit(data, table)
    assert (chosen.predict(data)[:, 0] == y).mean() > 0.85
    with pytest.raises(ValueError, match="annotate is for one column"):
        model.annotate(data)


# ---- labels ----------------------------------------------------------------------------------------------------------
LABELS: dict[str, Any] = {
    "whole": lambda y: y,
    "small": lambda y: y.astype(np.int8),
    "float": lambda y: y.astype(float) + 1,
    "negative": lambda y: y * 3 - 4,
    "text": lambda y: np.array(["ant", "bee", "cat"])[y],
    "object": lambda y: np.array(["ant", "bee", "cat"], dtype=object)[y],
    "list": lambda y: y.tolist(),
    "series": lambda y: pd.Series(y, index=np.arange(len(y)) + 7),
    "categories": lambda y: pd.Series(pd.Categorical.from_codes(y, ["ant", "bee", "cat"])),
    "nullable": lambda y: pd.Series(y, dtype="Int64"),
    "strings": lambda y: pd.Series(np.array(["ant", "bee", "cat"])[y], dtype="string"),
}


@pytest.mark.parametrize("form", LABELS)
def test_labels_of_every_form(form: str) -> None:
    model = classifier().fit(X, LABELS[form](Y))
    reference = classifier().fit(X, Y)
    np.testing.assert_array_equal(model.decision_function(FRESH), reference.decision_function(FRESH))
    np.testing.assert_array_equal(model.predict(FRESH), model.classes_[reference.predict(FRESH)])
    np.testing.assert_array_equal(model.classes_, np.unique(np.asarray(LABELS[form](Y))))
    assert model.score(FRESH, LABELS[form](Y_FRESH)) > 0.93


@pytest.mark.parametrize("classes", [(False, True), (-1, 1), ("no", "yes"), (3, 7)], ids=str)
def test_two_classes(classes: tuple[Any, Any]) -> None:
    data, y = two_views(n_classes=2)
    model = classifier().fit(data, np.array(classes)[y])
    assert tuple(model.classes_.tolist()) == classes
    decision = model.decision_function(data)
    assert decision.shape == (N_ROWS,)
    np.testing.assert_array_equal(model.predict(data), np.array(classes)[(decision > 0).astype(int)])
    assert model.score(data, np.array(classes)[y]) > 0.9


UNKNOWN: dict[str, Any] = {
    "minus_one": lambda y, mask: np.where(mask, -1, y),
    "minus_one_object": lambda y, mask: np.where(mask, -1, y).astype(object),
    "nan": lambda y, mask: np.where(mask, np.nan, y),
    "none": lambda y, mask: np.array([None if m else int(v) for v, m in zip(y, mask, strict=True)], dtype=object),
    "nullable": lambda y, mask: pd.Series(y, dtype="Int64").mask(mask),
    "no_weight": lambda y, mask: y,
}


@pytest.mark.parametrize("form", UNKNOWN)
def test_unknown_classes_of_every_form(form: str) -> None:
    """They leave the classes alone, and what stood there before has no influence."""
    mask = np.random.default_rng(2).random(N_ROWS) < 0.7
    weight = np.where(mask, 0.0, 1.0) if form == "no_weight" else None
    model = classifier().fit(X, UNKNOWN[form](Y, mask), sample_weight=weight)
    np.testing.assert_array_equal(model.classes_, [0, 1, 2])
    other = np.where(mask, (Y + 1) % 3, Y)
    assert_same_predictions(classifier().fit(X, UNKNOWN[form](other, mask), sample_weight=weight), model)
    assert_same_predictions(classifier().fit(X, np.where(mask, -1, Y)), model)
    assert model.predict(X).dtype.kind == "i" and model.score(FRESH, Y_FRESH) > 0.9


@pytest.mark.parametrize("head", [Hinge(C=1.0), LabelView(), LabelView("exact")], ids=str)
@pytest.mark.parametrize("fraction", [0, 0.15])
def test_unlabelled_rows_teach_about_the_views(head: Any, fraction: float) -> None:
    mask = np.arange(N_ROWS) >= 24
    model = classifier(head=head, validation_fraction=fraction).fit(X, np.where(mask, -1, Y))
    assert model.score(FRESH, Y_FRESH) > 0.6
    few = classifier(head=head, validation_fraction=fraction).fit({k: v[:24] for k, v in X.items()}, Y[:24])
    assert not np.array_equal(model.components_, few.components_)


def test_unknown_texts_numbers_and_labels() -> None:
    names = np.where(Y == 0, None, np.array(["ant", "bee", "cat"], dtype=object)[Y])
    assert list(classifier().fit(X, names).classes_) == ["bee", "cat"]
    data, y = two_numbers()
    y[::2, 0] = np.nan
    y[1::3, 1] = np.nan
    fresh, expected = two_numbers(300, seed=1)
    assert regressor().fit(data, y).score(fresh, expected) > 0.7
    objects = y[:, 0].astype(object)
    objects[::2] = None
    np.testing.assert_array_equal(
        regressor().fit(data, objects).predict(fresh), regressor().fit(data, y[:, 0]).predict(fresh)
    )
    some, labels = some_labels()
    mask = np.random.default_rng(5).random(labels.shape) < 0.3
    model = classifier(n_components=10, head=MultiLabelHinge(C=1.0))
    nan = model.fit(some, np.where(mask, np.nan, labels))
    with pytest.warns(HarmoniumWarning, match="Labels of -1 are taken as unknown"):
        minus = clone(model).fit(some, np.where(mask, -1, labels))
    assert_same_predictions(nan, minus, some)
    assert f1_score(labels, nan.predict(some), average="micro") > 0.8


def test_minus_one_is_a_class_only_beside_one() -> None:
    data, y = two_views(n_classes=2)
    assert list(classifier().fit(data, 2 * y - 1).classes_) == [-1, 1]
    with pytest.warns(HarmoniumWarning, match="Labels of -1 are taken as unknown, and 0 and 1"):
        assert list(classifier().fit(X, Y - 1).classes_) == [0, 1]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert list(classifier().fit(X, np.where(Y == 0, -1, Y + 3)).classes_) == [4, 5]


# ---- views -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("head", [Hinge(C=1.0), Hinge(C=1.0, ridge=0.02, solver="alternate"), LabelView()], ids=str)
def test_views_missing_for_some_rows(head: Any) -> None:
    partly = {name: view.copy() for name, view in X.items()}
    partly["words"][::3] = np.nan
    partly["colour"][1::3] = np.nan
    partly["colour"][2::6, 0] = np.nan
    model = classifier(n_components=10, head=head).fit(partly, Y)
    assert model.score(partly, Y) > 0.7 and model.score(FRESH, Y_FRESH) > 0.9
    sparse = Views(
        {"words": scipy.sparse.csr_array(X["words"]), "colour": X["colour"]}, {"words": np.arange(N_ROWS) > 99}
    )
    assert clone(model).fit(sparse, Y).score(FRESH, Y_FRESH) > 0.9


def test_a_view_may_be_called_label_unless_the_label_is_one() -> None:
    data = {"words": X["words"], "label": X["colour"]}
    fresh = {"words": FRESH["words"], "label": FRESH["colour"]}
    model = classifier(validation_fraction=0.15).fit(data, Y)
    reference = classifier(validation_fraction=0.15).fit(X, Y)
    assert model.selection_ == reference.selection_
    np.testing.assert_array_equal(model.predict_proba(fresh), reference.predict_proba(FRESH))
    alone = classifier(validation_fraction=0.15).fit({"label": X["colour"]}, Y)
    assert alone.score({"label": FRESH["colour"]}, Y_FRESH) > 0.75


def test_order_of_rows_and_slices_do_not_change_predictions() -> None:
    for model in (classifier(), classifier(head=LabelView()), classifier(head=LabelView("exact"))):
        model.fit(X, Y)
        order = np.random.default_rng(0).permutation(400)
        whole = model.predict_proba(Views(FRESH))
        np.testing.assert_allclose(model.predict_proba(Views(FRESH)[order]), whole[order], rtol=1e-6)
        np.testing.assert_allclose(model.predict_proba(Views(FRESH)[3:9]), whole[3:9], rtol=1e-6)


# ---- weights and costs -----------------------------------------------------------------------------------------------
def hard_pair() -> tuple[np.ndarray, np.ndarray]:
    """Two classes that overlap, the second a quarter of the rows."""
    rng = np.random.default_rng(0)
    y = (rng.random(400) < 0.25).astype(int)
    return rng.normal(size=(400, 3)) + 0.7 * y[:, None], y


@pytest.mark.parametrize("solver", ["joint", "alternate"])
def test_weights_move_predictions_to_what_weighs_more(solver: Any) -> None:
    data, y = hard_pair()

    def share(weight: Any = None, **settings: Any) -> float:
        model = classifier(head=Hinge(C=1.0, ridge=0.02, solver=solver, **settings), views=Gaussian())
        return float(model.fit(data, y, sample_weight=weight).predict(data).mean())

    plain = share()
    by_sample, by_class = share(np.where(y > 0, 6.0, 1.0)), share(class_weight={1: 6.0})
    assert by_sample > plain + 0.2
    assert by_sample == by_class
    assert share(class_weight="balanced") > plain + 0.1
    assert share(class_weight={0: 6.0}) <= plain


def test_weights_of_numbers() -> None:
    data, y = two_numbers()
    half = np.arange(N_ROWS) % 2 == 0
    shifted = np.where(half, y[:, 0], y[:, 0] + 20)
    low = regressor().fit(data, shifted, sample_weight=np.where(half, 10.0, 0.1)).predict(data)
    high = regressor().fit(data, shifted, sample_weight=np.where(half, 0.1, 10.0)).predict(data)
    assert low.mean() + 10 < high.mean()
    alone = regressor().fit(data, shifted, sample_weight=half.astype(float))
    np.testing.assert_allclose(alone.head_.location_, shifted[half].mean())


@pytest.mark.parametrize("solver", ["joint", "alternate"])
def test_costly_mistakes_are_made_less_often(solver: Any) -> None:
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, size=600)
    data = rng.normal(size=(600, 3)) + np.eye(3)[y]

    def mistakes(cost: Any) -> int:
        model = classifier(head=Hinge(C=1.0, ridge=0.02, solver=solver, cost=cost), views=Gaussian()).fit(data, y)
        return int(((model.predict(data) == 1) & (y == 0)).sum())

    costly = 1.0 - np.eye(3)
    costly[0, 1] = 8.0
    assert mistakes(costly) < 0.5 * mistakes(1.0)


def test_weights_of_a_label_that_is_a_view() -> None:
    """It is there or not; the conditional likelihood can weigh rows."""
    data, y = hard_pair()
    weight = np.where(y > 0, 6.0, 1.0)
    with pytest.warns(HarmoniumWarning, match="of sample_weight only zeros are used"):
        classifier(head=LabelView()).fit(data, y, sample_weight=weight)
    shares = [
        classifier(head=LabelView("exact"), objective=Discriminative(), views=Gaussian())
        .fit(data, y, sample_weight=w)
        .predict(data)
        .mean()
        for w in (None, weight)
    ]
    assert shares[1] > shares[0] + 0.2


# ---- probabilities ---------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "head", [Hinge(C=1.0), Hinge(C=1.0, ridge=0.02, solver="alternate"), LabelView(), LabelView("exact")], ids=str
)
@pytest.mark.parametrize("fraction", [0, 0.15])
def test_probabilities_are_probabilities(head: Any, fraction: float) -> None:
    model = classifier(head=head, validation_fraction=fraction).fit(X, Y)
    probability = model.predict_proba(FRESH)
    assert probability.shape == (400, 3) and (probability >= 0).all()
    np.testing.assert_allclose(probability.sum(axis=1), 1)
    np.testing.assert_array_equal(model.classes_[probability.argmax(axis=1)], model.predict(FRESH))
    np.testing.assert_array_equal(model.decision_function(FRESH).argmax(axis=1), probability.argmax(axis=1))


def test_held_out_rows_calibrate() -> None:
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, size=1400)
    data = rng.normal(size=(1400, 3)) + np.eye(3)[y]
    train, test = slice(400), slice(400, None)
    raw, calibrated = (
        classifier(views=Gaussian(), validation_fraction=fraction).fit(data[train], y[train]).predict_proba(data[test])
        for fraction in (0, 0.15)
    )
    errors = [metrics.expected_calibration_error(p, y[test]) for p in (raw, calibrated)]
    assert errors[1] < min(0.06, errors[0])
    assert log_loss(y[test], calibrated) < log_loss(y[test], raw)


# ---- choosing --------------------------------------------------------------------------------------------------------
def test_choice_of_the_weight_is_recorded() -> None:
    model = HarmoniumClassifier(**QUICK).fit(X, Y)
    record = pd.DataFrame(model.selection_)
    assert list(record.columns) == ["C", "epoch", "error"]
    assert list(record["C"].unique()) == list(AUTO_PATH)
    assert model.C_ in AUTO_PATH
    # the C whose best epoch is best, and at that the first
    best = record.groupby("C", sort=False)["error"].min()
    assert best.idxmin() == model.C_
    assert record["error"].between(0, 1).all()
    chosen = record[record["C"] == model.C_]
    epochs = chosen[chosen["error"] == chosen["error"].min()]["epoch"].max()
    before = sum(
        part[part["error"] == part["error"].min()]["epoch"].max()
        for C, part in record.groupby("C", sort=False)
        if C > model.C_
    )
    assert model.n_iter_ == before + epochs
    fixed = model.set_params(head=Hinge(C=0.7)).fit(X, Y)
    assert fixed.C_ == 0.7 and set(fixed.selection_["C"]) == {0.7}
    assert not hasattr(model.set_params(validation_fraction=0).fit(X, Y), "selection_")


def test_few_labels_are_not_held_out() -> None:
    few = np.where(np.arange(N_ROWS) < 8, Y, -1)
    model = HarmoniumClassifier(**QUICK).fit(X, few)
    assert model.C_ == 1.0 and not hasattr(model, "selection_") and model.n_iter_ == 10


def test_rare_classes_do_not_stop_the_choice() -> None:
    rare = Y.copy()
    rare[0] = 9
    assert list(HarmoniumClassifier(**QUICK).fit(X, rare).classes_) == [0, 1, 2, 9]


@pytest.mark.parametrize("driver", [Stochastic(6, 20, 0.1, average=True), Stochastic(6, 20, 0.1), LBFGS(10)], ids=str)
@pytest.mark.parametrize("kind", ["class", "number", "label"])
def test_alternating_head_ends_at_its_optimum(kind: str, driver: Any) -> None:
    """For the hidden means as they are in the end; liblinear is the oracle."""
    objective = MeanFieldCD() if isinstance(driver, LBFGS) else SampledCD()
    ridge = 0.01
    keywords: dict[str, Any] = {"driver": driver, "objective": objective}
    if kind == "class":
        data, y = two_views()
        model: Any = classifier(head=Hinge(1.0, ridge, "alternate"), **keywords).fit(data, y)
        svm = LinearSVC(multi_class="crammer_singer", C=1 / (N_ROWS * ridge), tol=1e-8, max_iter=100000, random_state=0)
        machines = [svm.fit(model.transform(data), y)]
        weights, bias = machines[0].coef_.T, machines[0].intercept_
        targets = y[:, None]
    else:
        data, y = two_numbers() if kind == "number" else some_labels()
        head: Any = (EpsilonInsensitive if kind == "number" else MultiLabelHinge)(1.0, ridge, "alternate")
        model = (regressor if kind == "number" else classifier)(head=head, **keywords).fit(data, y)
        targets = model.head_.encode(y.astype(float))
        make: Any = LinearSVR(epsilon=0.1) if kind == "number" else LinearSVC(loss="hinge")
        make.set_params(C=1 / (N_ROWS * ridge), tol=1e-8, max_iter=100000, random_state=0)
        machines = [clone(make).fit(model.transform(data), column) for column in targets.T]
        weights = np.stack([svm.coef_.ravel() for svm in machines], axis=1)
        bias = np.array([svm.intercept_[0] for svm in machines])

    def loss(weights: np.ndarray, bias: np.ndarray) -> float:
        losses, _ = model.head_.loss(model.transform(data).astype(float) @ weights + bias, targets)
        return float(losses.mean() + 0.5 * ridge * (np.square(weights).sum() + np.square(bias).sum()))

    assert loss(model.parameters_[HEAD_WEIGHTS], model.parameters_[HEAD_BIAS]) == pytest.approx(
        loss(weights, bias), rel=1e-3
    )


def test_alternating_head_with_early_stopping_and_choice_of_the_weight() -> None:
    """Rows held out for stopping change from stage to stage: no dual may outlive the rows it belongs to."""
    driver = Stochastic(8, 20, 0.1, early_stopping="reconstruction", patience=1)
    model = HarmoniumClassifier(5, head=Hinge(ridge=0.02, solver="alternate"), driver=driver, random_state=0).fit(X, Y)
    assert model.score(FRESH, Y_FRESH) > 0.9


# ---- going on --------------------------------------------------------------------------------------------------------
def test_partial_fit_learns_from_pieces() -> None:
    model = classifier(driver=Stochastic(batch_size=20, learning_rate=0.05))
    pieces = Views(X)
    model.partial_fit(pieces[:40], np.where(Y[:40] == 2, 0, Y[:40]), classes=[0, 1, 2])
    np.testing.assert_array_equal(model.classes_, [0, 1, 2])
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)  # before anything is calibrated
    for _ in range(8):
        for first in range(0, N_ROWS, 60):
            model.partial_fit(pieces[first : first + 60], Y[first : first + 60])
    assert model.score(FRESH, Y_FRESH) > 0.9 and model.n_iter_ == 33 and model.C_ == 1.0
    assert model.partial_fit({"words": X["words"]}, Y).score(FRESH, Y_FRESH) > 0.9  # a view is missing in this piece
    balanced = classifier(head=Hinge(class_weight="balanced"))
    assert balanced.partial_fit(pieces[:40], Y[:40] % 2, classes=[0, 1, 2]).C_ == 1.0


def test_partial_fit_of_several_columns_labels_and_numbers() -> None:
    table = np.stack([Y, Y % 2], axis=1)
    model = classifier().partial_fit(X, np.minimum(table, 1), classes=[[0, 1, 2], [0, 1]])
    model.partial_fit(X, table).partial_fit(X, np.minimum(table, 1))  # though this looks like labels
    assert model.predict(X).shape == (N_ROWS, 2) and len(model.classes_) == 2
    data, labels = some_labels()
    several = classifier(head=MultiLabelHinge(C=1.0)).partial_fit(data, labels, classes=np.arange(4))
    assert several.partial_fit(data, labels, classes=np.arange(4)).predict_proba(data).shape == (N_ROWS, 4)
    data, y = two_numbers()
    numbers = regressor()
    for _ in range(30):
        numbers.partial_fit(data, y)
    assert numbers.score(data, y) > 0.7


def test_partial_fit_is_there_for_joint_steps_only() -> None:
    assert hasattr(classifier(), "partial_fit") and hasattr(HarmoniumRegressor(), "partial_fit")
    assert not hasattr(classifier(head=Hinge(solver="alternate")), "partial_fit")
    assert not hasattr(classifier(objective=MeanFieldCD(), driver=LBFGS()), "partial_fit")


def test_partial_fit_goes_on_after_fit() -> None:
    model = classifier(validation_fraction=0.15).fit(X, Y)
    n_iter, before = model.n_iter_, model.decision_function(FRESH)
    model.partial_fit(X, Y)
    assert model.n_iter_ == n_iter + 1 and not np.array_equal(model.decision_function(FRESH), before)


def test_warm_start_goes_on() -> None:
    for head in (Hinge(C=0.5), Hinge(C=0.5, ridge=0.05, solver="alternate"), LabelView()):
        warm = classifier(head=head, warm_start=True).fit(X, Y)
        first = warm.decision_function(FRESH)
        warm.fit(X, Y)
        assert warm.n_iter_ == 20 and len(warm.history_["epoch"]) == 20
        assert not np.array_equal(warm.decision_function(FRESH), first)
        assert warm.score(FRESH, Y_FRESH) > 0.9
        np.testing.assert_array_equal(warm.set_params(warm_start=False).fit(X, Y).decision_function(FRESH), first)


# ---- reproducibility -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "model",
    [
        HarmoniumClassifier(**QUICK),
        classifier(head=Hinge(C=1.0, ridge=0.02, solver="alternate")),
        TWH(**QUICK),
        DiscriminativeRBM(**QUICK, generative=0.1),
    ],
    ids=["auto", "alternate", "label", "hybrid"],
)
def test_same_result_on_one_thread_or_two(model: HarmoniumClassifier) -> None:
    """Wide enough that products are cut into blocks, so that threads really share the work."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, size=150)
    words = scipy.sparse.random_array((150, 2500), density=0.01, rng=rng, format="csr")
    words.data[:] = 1
    data = {"words": words, "colour": np.eye(3)[y] + rng.normal(size=(150, 3))}
    model.set_params(n_components=20, driver=Stochastic(2, 50))
    one, two = (clone(model).set_params(n_jobs=n_jobs).fit(data, y) for n_jobs in (1, 2))
    for name, value in one.parameters_.items():
        np.testing.assert_array_equal(two.parameters_[name], value)
    assert_same_predictions(one, two, data)


def test_random_state_decides() -> None:
    model = HarmoniumClassifier(**QUICK).set_params(driver__max_iter=3)
    assert_same_predictions(clone(model).fit(X, Y), model.fit(X, Y))
    other = clone(model).set_params(random_state=1).fit(X, Y)
    assert not np.array_equal(other.components_, model.components_)


def test_pickle_keeps_the_model() -> None:
    model = HarmoniumClassifier(**QUICK).fit(X, Y)
    assert_same_predictions(pickle.loads(pickle.dumps(model)), model)


def test_turning_units_over_changes_no_prediction() -> None:
    model = classifier().fit(X, Y)
    before = model.decision_function(FRESH)
    weights = {name: value.copy() for name, value in model.parameters_.items()}
    np.testing.assert_allclose(model.canonical_signs().decision_function(FRESH), before, atol=1e-4)
    assert any(not np.array_equal(value, weights[name]) for name, value in model.parameters_.items())
    np.testing.assert_array_equal(model.classes_[model.predict_proba(FRESH).argmax(axis=1)], model.predict(FRESH))


# ---- files -----------------------------------------------------------------------------------------------------------
SAVED: dict[str, tuple[Any, Any]] = {
    "auto": (HarmoniumClassifier(**QUICK), lambda: (X, Y)),
    "texts": (classifier(), lambda: (X, np.array(["ant", "bee", "cat"])[Y])),
    "booleans": (classifier(), lambda: (X, Y > 0)),
    "floats": (classifier(), lambda: (X, Y + 0.0)),
    "costs": (classifier(head=Hinge(C=1.0, cost=1.5 - 1.5 * np.eye(3))), lambda: (X, Y)),
    "costs_listed": (classifier(head=Hinge(C=1.0, cost=[[0, 1, 2], [1, 0, 1], [3, 1, 0]])), lambda: (X, Y)),
    "weights": (classifier(head=Hinge(C=1.0, class_weight={1: 2.0})), lambda: (X, Y)),
    "columns": (classifier(), lambda: (X, np.stack([Y.astype(object), np.array(["a", "b", "c"])[Y]], axis=1))),
    "labels": (classifier(head=None, validation_fraction=0.15), some_labels),
    "number": (regressor(), lambda: (two_numbers()[0], two_numbers()[1][:, 0])),
    "numbers": (HarmoniumRegressor(**QUICK), two_numbers),
    "tri_wing": (TWH(**QUICK), lambda: (X, np.array(["ant", "bee", "cat"])[Y])),
    "tri_wing_labels": (TWH(**QUICK, validation_fraction=0), some_labels),
    "tri_wing_numbers": (TWH(**QUICK, task="regression", validation_fraction=0), two_numbers),
    "conditional": (DiscriminativeRBM(**QUICK), lambda: (X, Y)),
}


@pytest.mark.parametrize("case", SAVED)
def test_saved_models_predict_bit_for_bit(case: str, tmp_path: Path) -> None:
    model, make = SAVED[case]
    data, y = make()
    model = clone(model).set_params(driver__max_iter=4).fit(data, y)
    ending = "model" if len(case) % 2 else "model.safetensors"
    model.save(tmp_path / ending)
    again = harmonium.load(tmp_path / ending)
    assert type(again) is type(model) and repr(again) == repr(model)
    assert_same_predictions(model, again, data)
    np.testing.assert_array_equal(again.coef_, model.coef_)
    assert again.C_ == model.C_ and getattr(again, "selection_", None) == getattr(model, "selection_", None)
    if hasattr(model, "classes_"):
        for one, two in zip(model._classes, again._classes, strict=True):
            np.testing.assert_array_equal(one, two)
            assert one.dtype == two.dtype
    # it goes on learning and is saved again
    again.partial_fit(data, y).save(tmp_path / ending)
    assert_same_predictions(again, harmonium.load(tmp_path / ending), data)
    n_iter = again.n_iter_
    assert again.set_params(warm_start=True).fit(data, y).n_iter_ == n_iter + 4


def test_the_unsupervised_model_is_untouched_by_all_this() -> None:
    assert not hasattr(Harmonium(), "predict") and not hasattr(Harmonium(), "head")


# ---- what was learned ------------------------------------------------------------------------------------------------
def test_topics_by_effect_weigh_features_by_their_deviation() -> None:
    rng = np.random.default_rng(0)
    tags = (rng.random((200, 4)) < [0.02, 0.1, 0.5, 0.9]).astype(float)
    counts = rng.poisson([0.2, 1.0, 3.0], size=(200, 3))
    model = Harmonium(2, driver=Stochastic(max_iter=2), random_state=0).fit({"tags": tags, "counts": counts})
    share, rate = tags.mean(axis=0), counts.mean(axis=0)
    for view, deviation in (("tags", np.sqrt(share * (1 - share))), ("counts", np.sqrt(rate))):
        effects = model.loadings(view).to_numpy() * deviation[:, None]
        expected = np.argsort(-effects, axis=0).T
        names = np.asarray(model.feature_names_[view])
        np.testing.assert_array_equal(model.topics(view, n=4, by="effect").to_numpy(), names[expected])
    with pytest.raises(ValueError, match="by must be"):
        model.topics("tags", by="size")


def test_annotate_view_ranks_what_predict_view_expects() -> None:
    rng = np.random.default_rng(0)
    tags, colour = (rng.random((60, 5)) < 0.4).astype(float), rng.normal(size=(60, 3))
    model = Harmonium(3, driver=Stochastic(max_iter=3), random_state=0).fit({"tags": tags, "colour": colour})
    table = model.annotate_view("tags", {"colour": colour}, top=2)
    expected = model.predict_view("tags", {"colour": colour})
    assert len(table) == 120
    np.testing.assert_allclose(table.query("rank == 1")["probability"], expected.max(axis=1))
    with pytest.raises(ValueError, match="top"):
        model.annotate_view("tags", {"colour": colour}, top=0)
