"""Labels that later calls bring, scores of labels of which some are unknown, and settings that cannot change."""

from __future__ import annotations

import pickle
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from harmonium import (
    Harmonium,
    HarmoniumClassifier,
    HarmoniumRegressor,
    HarmoniumWarning,
    Hinge,
    Poisson,
    Shards,
    Stochastic,
    TableViews,
)
from harmonium.estimators.input.labels import read_classes
from harmonium.estimators.waiting import ENOUGH
from harmonium.heads import Ordinal

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 4))
Y = (X[:, 0] + 0.5 * RNG.normal(size=200) > 0).astype(int)
TWO_LABELS = (X[:, :2] > 0).astype(int)
QUICK = Stochastic(max_iter=3)


def quick(**settings: Any) -> HarmoniumClassifier:
    """A small model that is fitted in a moment."""
    return HarmoniumClassifier(3, driver=QUICK, random_state=0, **settings)


@pytest.fixture(autouse=True)
def _without_notices() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HarmoniumWarning)
        yield


# ---- unknown labels in scores ------------------------------------------------------------------------------------
def _partly_unknown(mark: Any) -> list[Any]:
    return [None if i == 0 else mark if i % 3 == 0 else int(value) for i, value in enumerate(Y)]


@pytest.mark.parametrize(
    "given",
    [
        _partly_unknown(-1),
        pd.Series(_partly_unknown(-1), dtype="Int64"),
        pd.Series(_partly_unknown(-1)[1:2] + _partly_unknown(-1)[1:], dtype=object),
    ],
    ids=["list", "Int64", "objects without a missing one"],
)
def test_score_leaves_out_what_fit_takes_for_unknown(given: Any) -> None:
    model = quick().fit(X, given)
    np.testing.assert_array_equal(model.classes_, [0, 1])
    known = np.arange(len(Y)) % 3 != 0
    known[0] = not pd.isna(given[0])
    truth = np.array([value if is_known else 0 for value, is_known in zip(given, known, strict=True)], dtype=int)
    assert model.score(X, given) == pytest.approx(np.mean(model.predict(X)[known] == truth[known]))


def test_score_of_objects_that_are_all_known() -> None:
    model = quick().fit(X, Y)
    assert model.score(X, pd.Series(Y.tolist(), dtype=object)) == model.score(X, Y)
    words = np.array(["no", "yes"], dtype=object)[Y]
    assert quick().fit(X, words).score(X, words) == model.score(X, Y)


def test_score_of_labels_that_are_objects_leaves_out_unknown_ones() -> None:
    model = quick().fit(X, TWO_LABELS)
    marked = TWO_LABELS.astype(object)
    marked[::3, 0], marked[1, 1] = -1, None
    known = np.flatnonzero([not (pd.isna(row).any() or -1 in row) for row in marked.tolist()])
    assert model.score(X, marked) == pytest.approx((model.predict(X) == TWO_LABELS).all(axis=1)[known].mean())


# ---- labels in pieces --------------------------------------------------------------------------------------------
def test_minus_one_is_unknown_in_a_piece_without_zeros() -> None:
    some = (TWO_LABELS == 1).any(axis=1)
    models = []
    for mark in (np.nan, -1):
        model = quick()
        for _ in range(3):
            model.partial_fit(X, TWO_LABELS)
        models.append(model.partial_fit(X[some], np.where(TWO_LABELS == 1, 1.0, mark)[some]))
    by_nan, by_minus_one = (model.fitted_.head for model in models)
    np.testing.assert_array_equal(by_nan.outputs_.n_known, by_minus_one.outputs_.n_known)
    np.testing.assert_array_equal(by_nan.frequency_, by_minus_one.frequency_)
    np.testing.assert_array_equal(models[0].predict_proba(X), models[1].predict_proba(X))


@pytest.mark.parametrize("classes", [[0, 1], [[0, 1], [0, 1]]], ids=["numbers of columns", "classes of columns"])
def test_the_first_piece_may_be_without_zeros_if_classes_say_that_there_are_labels(classes: Any) -> None:
    some = (TWO_LABELS == 1).any(axis=1)
    model = quick().partial_fit(X[some], np.where(TWO_LABELS == 1, 1, -1)[some], classes=classes)
    np.testing.assert_array_equal(model.fitted_.head.outputs_.n_known, TWO_LABELS.sum(axis=0))
    assert model.partial_fit(X, TWO_LABELS).predict(X).shape == TWO_LABELS.shape


def test_a_piece_of_unknown_labels_alone_is_refused_whatever_marks_them() -> None:
    model = quick().partial_fit(X, TWO_LABELS)
    for mark in (-1, np.nan):
        with pytest.raises(ValueError, match="y must be known for some rows"):
            model.partial_fit(X, np.full(TWO_LABELS.shape, mark))


def test_columns_of_minus_one_and_one_are_classes_where_nothing_says_otherwise() -> None:
    model = quick().partial_fit(X, 2 * TWO_LABELS - 1)
    np.testing.assert_array_equal(model.classes_, [[-1, 1], [-1, 1]])
    model.partial_fit(X[:50], 2 * TWO_LABELS[:50] - 1)


def test_labels_do_not_go_on_from_columns_of_classes() -> None:
    model = quick().partial_fit(X, TWO_LABELS)
    model.fitted_ = replace(model.fitted_, meaning=replace(model.fitted_.meaning, kind="class"))
    with pytest.raises(ValueError, match="go on with classes, as it began; y holds several labels at once"):
        model.partial_fit(X, TWO_LABELS)


# ---- what held-out rows have taught ------------------------------------------------------------------------------
def test_a_regressor_of_levels_keeps_the_factor_of_its_predictions() -> None:
    stars = np.digitize(X[:, 0] + 0.3 * RNG.normal(size=200), [-1, -0.3, 0.3, 1]) + 1.0
    model = HarmoniumRegressor(3, head=Ordinal(), driver=QUICK, warm_start=True, random_state=0).fit(X, stars)
    factor = model.fitted_.head.outputs_.factors
    assert factor.size
    np.testing.assert_array_equal(model.partial_fit(X[:1], stars[:1]).fitted_.head.outputs_.factors, factor)
    np.testing.assert_array_equal(model.fit(X, stars).fitted_.head.outputs_.factors, factor)


def test_a_regressor_of_numbers_forgets_the_errors_behind_intervals() -> None:
    model = HarmoniumRegressor(3, driver=QUICK, random_state=0).fit(X, X[:, 0])
    with pytest.raises(ValueError, match="Intervals need the errors of held-out rows"):
        model.partial_fit(X[:1], X[:1, 0]).predict(X, interval=0.9)


@pytest.mark.parametrize("given", [Y, TWO_LABELS], ids=["classes", "labels"])
def test_a_few_rows_do_not_replace_the_calibration_of_fit(given: np.ndarray) -> None:
    model = quick().fit(X, given)
    factors = model.fitted_.head.outputs_.factors
    assert factors.size
    model.partial_fit(X[:1], 1 - given[:1])
    np.testing.assert_array_equal(model.fitted_.head.outputs_.factors, factors)
    model.partial_fit(X[:ENOUGH], given[:ENOUGH])
    assert not np.array_equal(model.fitted_.head.outputs_.factors, factors)


def test_rows_of_small_pieces_are_calibrated_on_once_they_are_enough() -> None:
    model = quick().partial_fit(X, Y)
    expected = []
    for first in range(0, ENOUGH, 20):
        assert not model.fitted_.head.outputs_.factors.size
        rows = slice(first, first + 20)
        expected.append(model._scores(X[rows]))
        model = pickle.loads(pickle.dumps(model.partial_fit(X[rows], Y[rows])))
    targets = model.fitted_.head.targets(read_classes(Y[:ENOUGH], None))
    by_hand = model.fitted_.head.outputs_.calibrate(np.concatenate(expected), targets)
    np.testing.assert_allclose(model.fitted_.head.outputs_.factors, by_hand)
    again = model.fitted_.head.outputs_.factors
    np.testing.assert_array_equal(
        model.partial_fit(X[:20], Y[:20]).fitted_.head.outputs_.factors, again
    )  # counted from the start


def test_unknown_labels_do_not_count_as_rows_to_calibrate_on() -> None:
    model = quick().partial_fit(X, Y)
    unknown = np.where(np.arange(len(Y)) < ENOUGH // 2, Y, -1)
    assert not model.partial_fit(X, unknown).fitted_.head.outputs_.factors.size


def test_rows_that_wait_belong_to_one_model() -> None:
    model = quick().partial_fit(X, Y).partial_fit(X[: ENOUGH - 1], Y[: ENOUGH - 1])
    factors = model.fit(X, Y).fitted_.head.outputs_.factors
    np.testing.assert_array_equal(model.partial_fit(X[:1], Y[:1]).fitted_.head.outputs_.factors, factors)
    assert clone(model).fit(X, Y).fitted_.head.outputs_.factors.tolist() == factors.tolist()


# ---- settings that cannot change ---------------------------------------------------------------------------------
@pytest.mark.parametrize("views", ["bernoulli", {"view0": "poisson"}, [Poisson()], TableViews()], ids=str)
def test_other_views_are_refused_where_training_goes_on(views: Any) -> None:
    model = Harmonium(3, driver=QUICK, warm_start=True, random_state=0).fit(X)
    kept = model.fitted_
    for learn in (model.fit, model.partial_fit):
        model.set_params(views=views)
        with pytest.raises(ValueError, match=r"Training can only go on with the .* it began with.*warm_start=False"):
            learn(X)
    assert model.fitted_ is kept
    model.set_params(views="gaussian").fit(X)  # as it was inferred


def test_settings_of_families_that_data_decide_are_no_change() -> None:
    counts = RNG.poisson(0.2, size=(60, 30)).astype(float)
    model = quick(views="poisson", warm_start=True).fit(counts, Y[:60]).fit(counts, Y[:60])
    assert model.families_["view0"].length_normalize is True
    model.set_params(views={"view0": Poisson()}).fit(counts, Y[:60])
    with pytest.raises(ValueError, match="families it began with"):
        model.set_params(views=Poisson(length_normalize=False)).fit(counts, Y[:60])


@pytest.mark.parametrize("setting", ["linear", False])
def test_another_linear_part_is_refused_where_training_goes_on(setting: Any) -> None:
    model = quick(warm_start=True, head=Hinge()).fit(X, Y)
    model.set_params(head=Hinge(C=2.0)).fit(X, Y)
    model.set_params(head=Hinge(linear_part=setting))
    for learn in (model.fit, model.partial_fit):
        with pytest.raises(
            ValueError, match=f"linear part it began with, linear_part='auto'; got linear_part={setting!r}"
        ):
            learn(X, Y)


# ---- columns left out by name ------------------------------------------------------------------------------------
def _frame() -> pd.DataFrame:
    return pd.DataFrame(X, columns=["a", "b", "c", "t"])


@pytest.mark.parametrize("names", ["t", ["c", "t"]])
def test_columns_that_are_left_out_by_name_may_stay_in_the_frame(names: Any) -> None:
    frame, model = _frame(), Harmonium(3, driver=QUICK, random_state=0)
    found = model.fit_transform(frame, names)
    np.testing.assert_array_equal(found, model.transform(frame.drop(columns=names)))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).transform(frame), found)
    np.testing.assert_array_equal(model.transform(Shards([frame[:90], frame[90:]])), found)
    model.partial_fit(frame).partial_fit(frame, names)
    assert model.fit(frame).transform(frame).shape == found.shape and model.n_features_in_ == 4  # forgotten


def test_a_fit_that_is_refused_leaves_the_names_as_they_were() -> None:
    frame, model = _frame(), Harmonium(3, driver=QUICK, random_state=0)
    found = model.fit_transform(frame, "t")
    with pytest.raises(ValueError):
        model.fit(frame.assign(a=np.inf), "c")
    np.testing.assert_array_equal(model.transform(frame), found)
