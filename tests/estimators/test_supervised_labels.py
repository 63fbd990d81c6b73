"""Targets of every form, known or not."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.metrics import f1_score

from harmonium import EpsilonInsensitive, HarmoniumClassifier, HarmoniumRegressor, HarmoniumWarning, Hinge, Stochastic
from harmonium.heads import LabelView, MultiLabelHinge
from tests.cases.supervised import (
    FRESH,
    N_ROWS,
    Y_FRESH,
    X,
    Y,
    assert_same_predictions,
    classifier,
    regressor,
    some_labels,
    two_numbers,
    two_views,
)

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


def test_rows_without_a_target_do_not_count_in_scores() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    numbers = pd.Series(X[:, 0].round(3)).mask(np.arange(60) % 7 == 0)
    texts = pd.Series(np.where(X[:, 0] > 0, "high", "low")).mask(np.arange(60) % 7 == 0, None)
    known = numbers.notna().to_numpy()
    driver = Stochastic(max_iter=2)
    for model, y in (
        (HarmoniumRegressor(2, head=EpsilonInsensitive(C=1.0), driver=driver, random_state=0), numbers),
        (HarmoniumClassifier(2, head=Hinge(C=1.0), driver=driver, random_state=0), texts),
    ):
        model.set_params(validation_fraction=0.0).fit(X, y)
        assert model.score(X, y) == pytest.approx(model.score(X[known], y[known].to_numpy()))
        with pytest.raises(ValueError, match="known for some rows"):
            model.score(X, y.where(~known))
