"""Bad labels, costs, weights and heads: one sentence each, and the estimator stays as it was."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harmonium import (
    LBFGS,
    EpsilonInsensitive,
    HarmoniumClassifier,
    HarmoniumRegressor,
    HarmoniumWarning,
    Hinge,
    Stochastic,
)
from harmonium.core.targets import TargetSpec
from harmonium.estimators.input import labels as reading
from harmonium.exceptions import DivergenceError, InvalidViewError
from harmonium.heads import LabelView, MultiLabelHinge
from tests.cases.bad_input import assert_one_sentence

N_ROWS = 30
X = np.random.default_rng(0).normal(size=(N_ROWS, 3))
Y = np.arange(N_ROWS) % 3
QUICK: dict[str, Any] = {
    "n_components": 3,
    "driver": Stochastic(max_iter=2, batch_size=10),
    "validation_fraction": 0,
    "random_state": 0,
}


def classifier(**keywords: Any) -> HarmoniumClassifier:
    return HarmoniumClassifier(**{**QUICK, "head": Hinge(C=1.0), **keywords})


def regressor(**keywords: Any) -> HarmoniumRegressor:
    return HarmoniumRegressor(**{**QUICK, "head": EpsilonInsensitive(C=1.0), **keywords})


def at(values: Any, row: int, value: Any) -> np.ndarray:
    """The values with one replaced."""
    result = np.array(values)
    result[row] = value
    return result


def refuse(model: Any, call: Callable[[], Any], pattern: str, kind: type[Exception] = ValueError) -> None:
    """One sentence, and nothing about the model is different afterwards: every attribute, to the last bit."""
    before, fitted = pickle.dumps(vars(model)), getattr(model, "fitted_", None)
    with warnings.catch_warnings(), pytest.raises(kind, match=pattern) as refusal:
        warnings.simplefilter("ignore", HarmoniumWarning)
        call()
    assert_one_sentence(str(refusal.value))
    assert pickle.dumps(vars(model)) == before and getattr(model, "fitted_", None) is fitted


@cache
def fitted(kind: type) -> bytes:
    """A pickled model that was fitted to what can be learned from."""
    return pickle.dumps(kind(**{**QUICK, "validation_fraction": 0.2}).fit(X, Y))


def refuse_fit(model: Any, y: Any, pattern: str, kind: type[Exception] = ValueError, **keywords: Any) -> None:
    """By fit and partial_fit of a new model, and by fit of one that was fitted before."""
    refuse(model, lambda: model.fit(X, y, **keywords), pattern, kind)
    assert not hasattr(model, "classes_") and not hasattr(model, "head_")
    if hasattr(model, "partial_fit"):
        refuse(model, lambda: model.partial_fit(X, y, **keywords), pattern, kind)
    good = pickle.loads(fitted(type(model)))
    good.set_params(**model.get_params(deep=False))
    refuse(good, lambda: good.fit(X, y, **keywords), pattern, kind)
    assert np.isfinite(good.transform(X)).all() and len(good.predict(X)) == N_ROWS


# ---- labels ----------------------------------------------------------------------------------------------------------
LABELS: dict[str, tuple[Any, str]] = {
    "one_class": (np.zeros(N_ROWS), "number of classes has to be greater than one; got 1 class, 0"),
    "one_text": (["ant"] * N_ROWS, "got 1 class, ant; use Harmonium to learn without labels"),
    "one_known_class": (np.where(Y == 2, 2, -1), "got 1 class, 2"),
    "one_class_beside_nan": (at(np.ones(N_ROWS), 3, np.nan), "got 1 class, 1"),
    "one_class_in_a_column": (np.stack([Y, np.full(N_ROWS, 7)], axis=1), "got 1 class, 7"),
    "too_short": (Y[:-1], "inconsistent numbers of samples: X has 30 rows, y 29; pass one label per row"),
    "too_long": (np.append(Y, 1), "X has 30 rows, y 31"),
    "too_short_table": (np.stack([Y, Y], axis=1)[:-2], "X has 30 rows, y 28"),
    "too_short_indicator": (np.eye(3)[Y][:-2], "X has 30 rows, y 28"),
    "no_rows": (np.empty(0), "y must be known for some rows"),
    "none": (None, "requires y to be passed, but the target y is None; pass one label per row"),
    "a_number": (3, "y must have one or two dimensions"),
    "three_dimensions": (np.zeros((N_ROWS, 2, 2)), "y must have one or two dimensions.*got shape"),
    "no_columns": (np.zeros((N_ROWS, 0)), "at least one column; got shape"),
    "fractions": (Y + 0.5, "Unknown label type: .*got 0.5; use HarmoniumRegressor"),
    "fractions_in_a_column": (np.stack([Y, Y + 0.25], axis=1), "got 0.25; use HarmoniumRegressor"),
    "infinite": (at(Y + 0.0, 4, np.inf), "contains infinity.*labels must be finite, .*; got inf"),
    "mixed": (at(Y.astype(object), 4, "ant"), "Unknown label type: .*all of one kind; got int, str"),
    "objects": (np.array([{}, set()] * 15, dtype=object), "all of one kind; got dict, set"),
    "lists": (pd.Series([[1], [2]] * 15), "Hinge predicts classes; y holds several labels at once"),
    "sequences": (pd.Series([0, ()] * 15), "all of one kind; got int, tuple"),
    "ragged": ([[0], [0, 1]] * 15, "as many labels in every row; got rows of different lengths"),
    "dates": (np.array(["2020-01-01", "2020-01-02"] * 15, dtype="datetime64[D]"), "got date"),
    "complex": (Y + 1j, "Complex data not supported: y must hold real numbers; got complex128"),
    "all_minus_one": (np.full(N_ROWS, -1), "y must be known for some rows; all are missing; use Harmonium"),
    "all_nan": (np.full(N_ROWS, np.nan), "all are missing"),
    "all_none": ([None] * N_ROWS, "all are missing"),
    "all_nan_table": (np.full((N_ROWS, 2), np.nan), "all are missing"),
    "column_of_nan": (np.stack([Y, np.full(N_ROWS, np.nan)], axis=1), "all are missing"),
}


@pytest.mark.parametrize("case", LABELS)
def test_labels_that_are_refused(case: str) -> None:
    y, pattern = LABELS[case]
    refuse_fit(classifier(head=None if "indicator" in case else Hinge(C=1.0), validation_fraction=0.2), y, pattern)


NUMBERS: dict[str, tuple[Any, str]] = {
    "infinite": (at(Y + 0.0, 4, np.inf), "contains infinity.*labels must be finite, .*; got inf; put NaN"),
    "minus_infinite": (at(np.stack([Y, Y], axis=1) + 0.0, 4, -np.inf), "got -inf"),
    "text": (
        np.array(["ant", "bee", "cat"])[Y],
        "y must hold numbers to predict; got dtype <U3; use HarmoniumClassifier",
    ),
    "objects": (at(Y.astype(object), 4, "ant"), "y must hold numbers to predict; got dtype object"),
    "complex": (Y + 1j, "Complex data not supported"),
    "all_nan": (np.full(N_ROWS, np.nan), "y must be known for some rows; all are missing"),
    "all_none": ([None] * N_ROWS, "all are missing"),
    "column_of_nan": (np.stack([Y, np.full(N_ROWS, np.nan)], axis=1), "column 1 is all NaN; leave it out"),
    "too_short": (Y[:-1], "X has 30 rows, y 29"),
    "none": (None, "requires y to be passed"),
    "a_number": (3.5, "y must have one or two dimensions"),
    "three_dimensions": (np.zeros((N_ROWS, 2, 2)), "y must have one or two dimensions"),
}


@pytest.mark.parametrize("case", NUMBERS)
def test_numbers_that_are_refused(case: str) -> None:
    y, pattern = NUMBERS[case]
    refuse_fit(regressor(), y, pattern)


WEIGHTS: dict[str, tuple[Any, str]] = {
    "negative": (at(np.ones(N_ROWS), 4, -1.0), "numbers >= 0; got -1 in row 4; 0 leaves a label out"),
    "nan": (at(np.ones(N_ROWS), 4, np.nan), "got nan in row 4"),
    "infinite": (at(np.ones(N_ROWS), 4, np.inf), "got inf in row 4"),
    "too_short": (np.ones(N_ROWS - 1), r"as many numbers as y has rows, 30; got shape \(29,\)"),
    "table": (np.ones((N_ROWS, 2)), r"got shape \(30, 2\)"),
    "text": (["heavy"] * N_ROWS, "must hold one number per row"),
    "all_zero": (np.zeros(N_ROWS), "above zero for some rows; got zero for all of them"),
}


@pytest.mark.parametrize("case", WEIGHTS)
@pytest.mark.parametrize("make", [classifier, regressor])
def test_weights_that_are_refused(make: Any, case: str) -> None:
    weight, pattern = WEIGHTS[case]
    refuse_fit(make(), Y, pattern, sample_weight=weight)


# ---- heads -----------------------------------------------------------------------------------------------------------
HEADS: list[tuple[Any, Any, str, type[Exception]]] = [
    (Hinge(1.0, cost=np.ones((2, 2)) - np.eye(2)), Y, r"a matrix of 3 x 3.*got shape \(2, 2\)", ValueError),
    (Hinge(1.0, cost=[0, 1, 1]), Y, r"a matrix of 3 x 3.*got shape \(3,\)", ValueError),
    (Hinge(1.0, cost=[[0, 1, 1], [1, 0, -2], [1, 1, 0]]), Y, "numbers >= 0.*got -2 in row 1, column 2", ValueError),
    (Hinge(1.0, cost=[[0, 1, 1], [1, 0.5, 2], [1, 1, 0]]), Y, "0 on the diagonal; got 0.5 in row 1", ValueError),
    (Hinge(1.0, cost=[[0, 1, np.nan], [1, 0, 2], [1, 1, 0]]), Y, "got nan in row 0, column 2", ValueError),
    (Hinge(1.0, cost=-1.0), Y, "numbers >= 0.*got -1", ValueError),
    (Hinge(1.0, cost=0.0), Y, "above 0 for some mistake; got 0", ValueError),
    (Hinge(1.0, cost="high"), Y, "cost must be a number or a matrix of numbers.*got 'high'", ValueError),
    (Hinge(1.0, cost=[[0, 1], [1]]), Y, "cost must be a number or a matrix of numbers", ValueError),
    (Hinge(1.0, class_weight={5: 2.0}), Y, "class_weight may only name classes of y, 0, 1, 2; got 5", ValueError),
    (Hinge(1.0, class_weight={1: -2.0}), Y, r"class_weight\[1\] >= 0; got -2.0", ValueError),
    (
        Hinge(1.0, class_weight="heavy"),
        Y,
        "class_weight None, 'auto', 'soft', 'balanced' or a dict.*got 'heavy'",
        TypeError,
    ),
    (Hinge(1.0, class_weight=[1, 2, 1]), Y, "class_weight None, 'auto', 'soft', 'balanced' or a dict", TypeError),
    (Hinge(0.0), Y, "Hinge needs a number C > 0; got 0.0; 1.6 is usual", ValueError),
    (Hinge("best"), Y, "C > 0; got 'best'", TypeError),  # type: ignore[arg-type]
    (Hinge(1.0, ridge=0.0), Y, "ridge > 0; got 0.0", ValueError),
    (Hinge(1.0, solver="newton"), Y, "solver 'joint' or 'alternate'; got 'newton'", ValueError),  # type: ignore[arg-type]
    (Hinge(1.0), np.eye(3)[Y], "Hinge predicts classes; y holds several labels at once; leave head out", ValueError),
    (MultiLabelHinge(1.0), Y, "MultiLabelHinge predicts several labels at once; y holds classes", ValueError),
    (MultiLabelHinge(1.0, positive_weight=0), np.eye(3)[Y], "positive_weight > 0; got 0", ValueError),
    (EpsilonInsensitive(1.0), Y, "EpsilonInsensitive predicts numbers; y holds classes", ValueError),
    (LabelView("gibbs"), Y, "inference 'mean_field' or 'exact'; got 'gibbs'", ValueError),  # type: ignore[arg-type]
    (LabelView("exact"), np.eye(3)[Y], "LabelView needs inference='mean_field'.*got 'exact'", ValueError),
    (LabelView(), np.stack([Y, Y], axis=1), "LabelView takes one column of classes; got 2", ValueError),
]


@pytest.mark.parametrize(("head", "y", "pattern", "kind"), HEADS, ids=lambda value: str(value)[:40])
def test_heads_that_are_refused(head: Any, y: Any, pattern: str, kind: type[Exception]) -> None:
    refuse_fit(classifier(head=head), y, pattern, kind)


@pytest.mark.parametrize(
    ("head", "pattern"),
    [
        (EpsilonInsensitive(1.0, epsilon=-0.1), "epsilon >= 0; got -0.1"),
        (EpsilonInsensitive(1.0, epsilon=np.inf), "epsilon >= 0; got inf"),
        (Hinge(1.0), "Hinge predicts classes; y holds numbers; leave head out"),
        (MultiLabelHinge(1.0), "predicts several labels at once; y holds numbers"),
        (LabelView("exact"), "LabelView needs inference='mean_field'"),
    ],
    ids=str,
)
def test_heads_of_numbers_that_are_refused(head: Any, pattern: str) -> None:
    refuse_fit(regressor(head=head), Y, pattern)


def test_a_view_must_not_be_called_like_the_label() -> None:
    for model in (classifier(head=LabelView()), regressor(head=LabelView())):
        data = {"label": X}
        pattern = r"With LabelView\(\) no view of X may be called 'label'; got one; rename it"
        refuse(model, lambda model=model, data=data: model.fit(data, Y), pattern, InvalidViewError)  # type: ignore[misc]


def test_views_that_are_refused_leave_the_labels_alone() -> None:
    model = HarmoniumClassifier(**{**QUICK, "validation_fraction": 0.2}).fit(X, Y)
    other = np.array(["ant", "bee"])[Y % 2]
    refuse(model, lambda: model.fit({"a": X, "b": X[:-1]}, other), "All views must have one row per item", ValueError)
    for method in ("predict", "predict_proba", "decision_function", "transform"):
        refuse(model, lambda method=method: getattr(model, method)({"b": X}), "got 'b'")  # type: ignore[misc]
    refuse(model, lambda: model.partial_fit({"b": X}, Y), "got 'b'")


# ---- going on --------------------------------------------------------------------------------------------------------
def test_partial_fit_refuses_other_classes() -> None:
    model = classifier().partial_fit(X, Y)
    for y, pattern in (
        (at(Y, 4, 7), "only hold the classes that training began with, 0, 1, 2; got 7; name all classes"),
        (np.array(["ant", "bee", "cat"])[Y], "began with, 0, 1, 2; got 'ant'"),
        (Y[:-1], "X has 30 rows, y 29"),
        (np.stack([Y, Y], axis=1), "as many columns as training began with, 1; got 2"),
        (np.eye(3)[Y], "can only go on with the classes it began with"),
        (np.eye(4)[Y], "as many columns as training began with, 1; got 4"),
        (Y + 0.5, "Unknown label type"),
        (np.full(N_ROWS, -1), "all are missing"),
    ):
        refuse(model, lambda y=y: model.partial_fit(X, y), pattern)  # type: ignore[misc]
    refuse(model, lambda: model.partial_fit(X, Y, classes=[0, 1]), "classes must be those that training began with")
    first = classifier()
    refuse(first, lambda: first.partial_fit(X, Y, classes=[0, 1]), "began with, 0, 1; got 2")
    refuse(first, lambda: first.partial_fit(X, np.zeros(N_ROWS), classes=[0]), "got 1 class, 0")
    texts = classifier().partial_fit(X, np.array(["ant", "bee", "cat"])[Y])
    refuse(texts, lambda: texts.partial_fit(X, Y), "began with, 'ant', 'bee', 'cat'; got 0")
    several = classifier(head=None).partial_fit(X, np.eye(3)[Y])
    refuse(several, lambda: several.partial_fit(X, np.eye(4)[Y]), "only go on with the classes it began with")
    refuse(several, lambda: several.partial_fit(X, Y), "as many columns as training began with, 3; got 1")


def test_partial_fit_refuses_other_outputs() -> None:
    model = regressor().partial_fit(X, Y)
    refuse(model, lambda: model.partial_fit(X, np.stack([Y, Y], axis=1)), "with the 1 outputs it began with; y has 2")
    refuse(model, lambda: model.partial_fit(X, Y[:-1]), "X has 30 rows, y 29")
    refuse(model, lambda: model.partial_fit(X, at(Y + 0.0, 2, np.inf)), "labels must be finite")


def test_warm_start_refuses_other_classes_and_outputs() -> None:
    model = classifier(warm_start=True).fit(X, Y)
    for y in (Y + 1, Y % 2, np.array(["ant", "bee", "cat"])[Y], np.eye(3)[Y], np.stack([Y, Y], axis=1)):
        refuse(model, lambda y=y: model.fit(X, y), "can only go on with the classes it began with")  # type: ignore[misc]
    model.set_params(head=LabelView())
    refuse(model, lambda: model.fit(X, Y), "can only go on with the head it began with, Hinge; got LabelView")
    numbers = regressor(warm_start=True).fit(X, Y)
    refuse(numbers, lambda: numbers.fit(X, np.stack([Y, Y], axis=1)), "can only go on with the 1 outputs")


@pytest.mark.parametrize("learning_rate", [1e5, 1e30])
@pytest.mark.parametrize("make", [classifier, regressor])
def test_divergence_leaves_the_model_as_it_was(make: Any, learning_rate: float) -> None:
    model = make(validation_fraction=0.2).fit(X, Y)
    model.set_params(driver=Stochastic(max_iter=5, batch_size=10, learning_rate=learning_rate))
    for call in (model.fit, model.partial_fit)[: 1 if learning_rate < 1e30 else 2]:
        before, fitted = pickle.dumps(vars(model)), model.fitted_
        with warnings.catch_warnings(), pytest.raises(DivergenceError) as failure:
            warnings.simplefilter("ignore", RuntimeWarning)
            for _ in range(5):
                call(X, Y)
                before, fitted = pickle.dumps(vars(model)), model.fitted_
        assert_one_sentence(str(failure.value))
        assert pickle.dumps(vars(model)) == before and model.fitted_ is fitted


def test_batch_driver_has_no_pieces() -> None:
    for model in (classifier(driver=LBFGS()), classifier(head=Hinge(1.0, solver="alternate"))):
        with pytest.raises(AttributeError, match="has no attribute 'partial_fit'") as refusal:
            model.partial_fit(X, Y)
        assert_one_sentence(str(refusal.value.__cause__))


# ---- properties ------------------------------------------------------------------------------------------------------
ANYTHING = st.one_of(
    st.sampled_from([None, np.nan, -1, 0, 1, 2, "ant", "", True, 0.5, np.inf, 10**30, pd.NA, (), b"x"]),
    st.integers(-3, 5),
    st.floats(),
)


@settings(max_examples=40, deadline=None)
@given(values=st.lists(ANYTHING, min_size=1, max_size=4), kind=st.sampled_from(["classes", "numbers"]))
def test_any_labels_are_learned_from_or_refused_in_one_sentence(values: list[Any], kind: str) -> None:
    y = np.empty(N_ROWS, dtype=object)
    y[:] = [values[i % len(values)] for i in range(N_ROWS)]
    model: Any = (classifier if kind == "classes" else regressor)(driver=Stochastic(1, 30))
    before = pickle.dumps(vars(model))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HarmoniumWarning)
        try:
            predicted = model.fit(X, y).predict(X)
        except ValueError as refusal:
            assert_one_sentence(str(refusal))
            assert pickle.dumps(vars(model)) == before
            return
    assert len(predicted) == N_ROWS
    if kind == "numbers":
        assert np.isfinite(predicted).all()
    else:
        assert set(predicted.tolist()) <= set(model.classes_.tolist())


# ---- very many -------------------------------------------------------------------------------------------------------
def test_very_many_classes_are_announced_before_the_work_begins() -> None:
    classes = TargetSpec("class", [np.arange(100_000)], True, 1)
    with pytest.warns(
        HarmoniumWarning, match="200,000 rows of 100,000 take 222 hours or more, and at least"
    ) as notices:
        reading.announce_size(classes, 200_000)
    assert len(notices) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        reading.announce_size(replace(classes, classes=[np.arange(20)]), 200_000)
        reading.announce_size(TargetSpec("number", []), 10**9)


def test_tags_that_no_memory_holds_are_refused_before_they_are_laid_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "_MOST_LABELS", 10_000)
    y = pd.Series([[f"t{row % 50}"] for row in range(1_000)])
    with pytest.raises(ValueError, match="got 1,000 rows of 50 tags; keep the most frequent ones") as refusal:
        reading.read_classes(y, None)
    assert_one_sentence(str(refusal.value))


@pytest.mark.parametrize("values", [[1, 2] * 10, [{"a": 1}, {"a": 2}] * 10], ids=["128 bits", "records"])
def test_columns_that_numpy_cannot_hold_are_read_or_refused(values: list[Any]) -> None:
    polars = pytest.importorskip("polars")
    is_number = isinstance(values[0], int)
    y = polars.Series(values, dtype=polars.Int128 if is_number else None)
    model = HarmoniumClassifier(2, driver=Stochastic(max_iter=1), random_state=0)
    if is_number:
        assert model.fit(np.eye(20), y).classes_.tolist() == [1, 2]
    else:
        with pytest.raises(ValueError, match="got dict; convert y first"):
            model.fit(np.eye(20), y)
