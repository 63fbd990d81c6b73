"""One door: what X is, is asked once, nothing is written, and every form of the same rows gives the same views."""

from __future__ import annotations

import sys
from copy import copy
from typing import Any

import numpy as np
import pandas as pd
import pytest

from harmonium import Harmonium, HarmoniumClassifier, HarmoniumRegressor, Shards, Stochastic, Views
from harmonium.estimators.input.labels import read_numbers
from harmonium.estimators.input.read_input import read_input
from harmonium.tables.column import Column

MATRIX = np.random.default_rng(0).normal(size=(30, 3))
TEXTS = {"text": ["red sky", "blue sea", "red sea"] * 10, "kind": list("abcde") * 6}
FRAME = pd.DataFrame({**TEXTS, "size": MATRIX[:, 0], "price": MATRIX[:, 1]})
QUICK = Stochastic(max_iter=2)


@pytest.mark.parametrize(
    "X",
    [MATRIX, pd.DataFrame(MATRIX, columns=list("abc")), {"view0": MATRIX}, Views({"view0": MATRIX}), [MATRIX]],
    ids=["matrix", "frame", "dict", "Views", "list"],
)
def test_forms_of_the_same_rows_are_the_same_views_and_nothing_is_written(X: Any) -> None:
    estimator = Harmonium(2)
    before = dict(vars(estimator))
    given = read_input(estimator, X)
    assert vars(estimator) == before and given.n_features == 3
    np.testing.assert_array_equal(given.views.source("view0").matrix, MATRIX)
    assert (given.feature_names is None) != isinstance(X, pd.DataFrame)


def test_shards_are_described_by_their_first_block() -> None:
    given = read_input(Harmonium(2), Shards([MATRIX[:10], MATRIX[10:]]))
    assert (given.n_features, len(given.views), given.is_lazy) == (3, 30, False)


def test_a_target_that_is_named_is_set_apart() -> None:
    given = read_input(HarmoniumRegressor(), FRAME, "price", read_target=read_numbers)
    assert given.target_columns == ("price",) and "price" not in given.views.source("numbers").columns
    np.testing.assert_array_equal(given.labels.targets.values[:, 0], FRAME["price"])


def test_a_refused_call_leaves_a_fitted_estimator_as_it_was() -> None:
    model = Harmonium(2, driver=QUICK, random_state=0).fit(MATRIX)
    before = copy(vars(model))
    with pytest.raises(ValueError, match="X must have two dimensions"):
        model.fit(MATRIX[0])
    with pytest.raises(ValueError, match="is Poisson and needs"):
        Harmonium.fit(model.set_params(views={"view0": "poisson"}), MATRIX)
    assert {**vars(model), "views": "infer"} == before


@pytest.mark.parametrize("form", ["frame", "matrix"])
def test_what_X_is_is_asked_once_in_a_fit_and_a_column_is_looked_at_once(form: str, monkeypatch: Any) -> None:
    asked, made = [], []
    door = sys.modules[read_input.__module__]
    monkeypatch.setattr(door, "as_data", lambda X, ask=door.as_data: asked.append(X) or ask(X))
    monkeypatch.setattr(Column, "__init__", _counting(Column.__init__, made))
    X = FRAME.drop(columns="price") if form == "frame" else MATRIX
    HarmoniumClassifier(2, driver=QUICK, validation_fraction=0).fit(X, FRAME["price"] > 0)
    assert len(asked) == 1 and sorted(made) == (sorted(X.columns) if form == "frame" else [])


def _counting(make: Any, made: list[str]) -> Any:
    def init(self: Column, name: str, series: Any) -> None:
        made.append(name)
        make(self, name, series)

    return init
