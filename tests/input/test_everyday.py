"""Everyday data at the doors of the estimators: what once went wrong in silence."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from harmonium import Columns, Harmonium, HarmoniumClassifier, Hinge, Stochastic, TableViews, Views
from harmonium.estimators.input import known_views
from harmonium.exceptions import InvalidViewError
from harmonium.heads import Ordinal

RNG = np.random.default_rng(0)
N_ROWS = 60
QUICK: dict[str, Any] = {"driver": Stochastic(max_iter=2), "random_state": 0}
KIND = np.where(RNG.random(N_ROWS) < 0.5, "a", "b")
FRAME = pd.DataFrame({"price": RNG.lognormal(5, 1, N_ROWS), "size": RNG.normal(size=N_ROWS), "kind": KIND})
NUMBERS = FRAME[["price", "size"]]


def classifier(**settings: Any) -> HarmoniumClassifier:
    return HarmoniumClassifier(2, **{"head": Hinge(C=1.0), "validation_fraction": 0, **QUICK, **settings})


def test_raw_columns_do_not_pass_by_the_table_that_scales_them() -> None:
    model = Harmonium(2, views=TableViews(), **QUICK).fit(FRAME)
    assert np.isfinite(model.transform(FRAME[["price"]])).all()
    assert np.isfinite(model.transform(known_views(model, FRAME))).all()
    with pytest.raises(InvalidViewError, match="columns that are there"):
        model.transform({"numbers": FRAME[["price"]]})


def test_rows_without_the_last_category_can_be_fitted() -> None:
    views = TableViews().fit_transform(FRAME.assign(kind=[*KIND[:-2], "z", "z"]))
    model = Harmonium(2, **QUICK).fit(views[:30])
    assert np.isfinite(model.transform(views)).all()


def test_labels_of_a_mask_need_a_view_with_labels() -> None:
    mask = pd.Series([True, False, True], index=list("cab"))
    frame = pd.DataFrame(np.eye(3), index=list("abc"))
    assert Views({"w": frame}, present={"w": mask}).source("w").rows.tolist() == [-1, 1, 2]
    with pytest.raises(InvalidViewError, match="in the order of the rows"):
        Views({"w": scipy.sparse.csr_array(np.eye(3))}, present={"w": mask}, index=list("abc"))


@pytest.mark.parametrize("form", [pd.unique, pd.Series, pd.Index, pd.Categorical, list])
def test_classes_may_be_named_in_any_form(form: Any) -> None:
    model = classifier().partial_fit(NUMBERS, KIND, classes=form(pd.Series(KIND)))
    assert model.classes_.tolist() == ["a", "b"] and model.classes_.dtype.kind == "U"
    assert 0 <= model.partial_fit(NUMBERS, KIND, classes=form(pd.Series(KIND))).score(NUMBERS, KIND) <= 1


def test_labels_are_named_alike_in_every_call() -> None:
    labels = np.stack([KIND == "a", RNG.random(N_ROWS) < 0.3], axis=1).astype(int)
    model = HarmoniumClassifier(2, **QUICK).partial_fit(NUMBERS, labels, classes=[[0, 1], [0, 1]])
    model.partial_fit(NUMBERS, labels, classes=[[0, 1], [0, 1]])


def test_unknown_classes_do_not_count_as_mistakes() -> None:
    model = classifier().fit(NUMBERS, (KIND == "a").astype(int))
    right = model.predict(NUMBERS)
    for unknown in (-1, np.nan):
        assert model.score(NUMBERS, np.where(np.arange(N_ROWS) % 2 == 0, unknown, right)) == 1
    signs = classifier().fit(NUMBERS, np.where(KIND == "a", 1, -1))  # -1 is a class here
    assert signs.score(NUMBERS, -signs.predict(NUMBERS)) == 0


def test_levels_that_are_not_in_alphabetical_order_are_calibrated_alike() -> None:
    codes = np.argsort(np.argsort(NUMBERS["size"])) * 3 // N_ROWS
    found = []
    for names in (["low", "mid", "top"], ["low", "mid", "high"]):
        y = pd.Series(pd.Categorical(np.array(names)[codes], categories=names, ordered=True))
        model = classifier(head=Ordinal(C=1.0))
        for _ in range(3):
            model.partial_fit(NUMBERS, y, classes=names)
        places = [model.classes_.tolist().index(name) for name in names]
        found.append(model.predict_proba(NUMBERS)[:, places])
    np.testing.assert_allclose(found[0], found[1], atol=1e-6)


def test_columns_that_y_names_are_left_out_whatever_is_called() -> None:
    frame = NUMBERS.assign(stars=1.0 + np.arange(N_ROWS) % 5)
    for model in (
        Harmonium(2, **QUICK).fit(frame, "stars"),
        Harmonium(2, **QUICK).fit(frame, ["stars"]),
        Harmonium(2, **QUICK).partial_fit(frame, "stars"),
        Harmonium(2, **QUICK).fit(NUMBERS, KIND),
    ):
        assert model.n_features_in_ == 2


def test_a_target_without_a_name_of_its_own_takes_no_column_away() -> None:
    X, y = pd.DataFrame(RNG.normal(size=(50, 3))), pd.DataFrame(RNG.integers(0, 2, 50))[0]
    assert classifier().fit(X, y).predict(X).shape == (50,)


def test_other_weights_of_views_do_not_go_on_in_silence() -> None:
    X = {"a": RNG.normal(size=(30, 3)), "b": RNG.normal(size=(30, 2))}
    model = Harmonium(2, warm_start=True, view_weights={"a": 2.0}, **QUICK).fit(X)
    model.fit(X)
    with pytest.raises(ValueError, match="view_weights it began with"):
        model.set_params(view_weights={"a": 9.0}).fit(X)
    assert model.fitted_.view_weights == {"a": 2.0, "b": 1.0}


def test_columns_of_a_matrix_are_none_of_a_view() -> None:
    X = RNG.normal(size=(30, 5))
    model = Harmonium(2, views={"w": Columns(slice(0, 2)), "rest": slice(2, 5)}, **QUICK)
    assert model.fit(X).fitted_.input_names == ["w", "rest"]
    with pytest.raises(InvalidViewError, match="those of one matrix"):
        model.fit({"w": X, "rest": X})
