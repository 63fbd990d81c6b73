"""Estimators on raw tables: from a frame to a saved model and back."""

from __future__ import annotations

import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.inspection import permutation_importance
from sklearn.model_selection import GridSearchCV, cross_val_score

import harmonium
from harmonium import Harmonium, HarmoniumRegressor, HarmoniumWarning, Stochastic, TableViews
from harmonium.exceptions import InvalidViewError
from harmonium.report import topic_table
from harmonium.tables import Words
from tests.cases.tables import quick_classifier, quick_regressor, wine_list

pytestmark = pytest.mark.filterwarnings("ignore:Columns left out")


@pytest.fixture(scope="module")
def wines() -> pd.DataFrame:
    return wine_list()


@pytest.fixture(scope="module")
def model(wines: pd.DataFrame) -> HarmoniumRegressor:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return quick_regressor().fit(wines, "points")


def test_a_raw_table_is_learned_from() -> None:
    train, test = wine_list(600), wine_list(300, seed=1)
    model = HarmoniumRegressor(5, driver=Stochastic(max_iter=20), random_state=0).fit(train, "points")
    assert model.score(test, "points") > 0.9
    assert model.score(test.drop(columns="points"), test["points"]) == model.score(test, "points")


def test_what_was_decided_is_shown(model: HarmoniumRegressor) -> None:
    shown = model.views_
    assert list(shown.columns) == ["role", "view", "family", "features", "missing", "note"]
    assert shown.loc["price"].tolist() == ["number", "numbers", "Gaussian", 1, 0.0, "log scale"]
    assert shown.loc["place", "features"] == 3 and shown.loc["place", "family"] == "Categorical"
    assert shown.loc["awards", "family"] == "Poisson" and shown.loc["tasted", "view"] == "numbers, categories"
    assert "points" not in shown.index
    assert (
        "place=Mosel" in model.fitted_.feature_names["categories"] and "dark" in model.fitted_.feature_names["review"]
    )
    assert sum(shown["features"]) == model.components_.shape[1]


def test_views_of_other_models_are_shown_too() -> None:
    X = np.where(np.arange(40).reshape(20, 2) % 8 == 0, np.nan, np.linspace(0, 1, 40).reshape(20, 2))
    shown = Harmonium(2, driver=Stochastic(max_iter=1)).fit({"a": X, "b": np.eye(20)}).views_
    assert shown["family"].tolist() == ["Gaussian", "Bernoulli"] and shown["missing"].tolist() == [0.125, 0.0]


def test_tables_survive_files_and_new_processes(model: HarmoniumRegressor, wines: pd.DataFrame, tmp_path: Path) -> None:
    for place in ("model.safetensors", "folder"):
        model.save(tmp_path / place)
        again = harmonium.load(tmp_path / place)
        pd.testing.assert_frame_equal(again.views_, model.views_)
        np.testing.assert_array_equal(again.predict(wines), model.predict(wines))
    wines.to_parquet(tmp_path / "new.parquet")
    code = (
        "import sys, harmonium, pandas, numpy\n"
        "model = harmonium.load(sys.argv[1])\n"
        "numpy.save(sys.argv[3], model.predict(pandas.read_parquet(sys.argv[2])))\n"
    )
    paths = [str(tmp_path / name) for name in ("model.safetensors", "new.parquet", "predicted.npy")]
    subprocess.run([sys.executable, "-c", code, *paths], check=True)
    np.testing.assert_array_equal(np.load(paths[2]), model.predict(wines))


def test_settings_of_readers_survive_files(wines: pd.DataFrame, tmp_path: Path) -> None:
    table = TableViews({"review": Words(max_features=5), "year": "category"}, remainder="drop")
    model = quick_regressor(views=table).fit(wines, "points")
    model.save(tmp_path / "m")
    again = harmonium.load(tmp_path / "m")
    assert again.views.roles["review"].max_features == 5 and again.views.remainder == "drop"
    assert clone(again).fit(wines, "points").views_.equals(model.views_)


@pytest.mark.parametrize("kind", ["shuffled columns", "polars", "arrow", "texts", "rows"])
def test_new_tables_may_look_different(kind: str, model: HarmoniumRegressor, wines: pd.DataFrame) -> None:
    expected = model.predict(wines)
    rows = np.arange(len(wines))
    frame: Any = wines
    if kind == "shuffled columns":
        frame = wines[wines.columns[::-1]]
    elif kind == "polars":
        frame = pl.from_pandas(wines)
    elif kind == "arrow":
        frame = pl.from_pandas(wines).to_arrow()
    elif kind == "texts":  # as from a CSV file that was read without types
        frame = wines.astype({"price": str, "year": str, "awards": str, "tasted": str})
    else:
        rows = np.array([5, 3])
        frame = wines.iloc[rows]
    np.testing.assert_allclose(model.predict(frame), expected[rows], rtol=1e-5)


def test_differences_are_told_once(model: HarmoniumRegressor, wines: pd.DataFrame) -> None:
    new = wines.drop(columns=["price", "points"]).assign(place=["Mars", *wines["place"][1:]], colour="red")
    with pytest.warns(HarmoniumWarning) as caught:
        predicted = model.predict(new)
    told = [str(warning.message) for warning in caught]
    assert len(told) == 3 and np.isfinite(predicted).all()
    assert "'price'" in told[0] and "'colour'" in told[1] and "'place' (1 rows)" in told[2]


def test_a_table_of_other_columns_is_refused(model: HarmoniumRegressor) -> None:
    with pytest.raises(InvalidViewError, match="some of the columns"):
        model.predict(pd.DataFrame({"other": ["a", "b"]}))


@pytest.mark.parametrize("wrong", ["records", "row", "array", "number"])
def test_tables_are_asked_for(wrong: str, model: HarmoniumRegressor, wines: pd.DataFrame) -> None:
    given: Any = {"records": wines.to_dict("records"), "row": wines.iloc[0], "array": wines.to_numpy()}.get(wrong, 3)
    with pytest.raises((InvalidViewError, ValueError, TypeError), match="table"):
        model.predict(given)


def test_views_of_another_table_are_refused(model: HarmoniumRegressor, wines: pd.DataFrame) -> None:
    other = TableViews().fit_transform(wines.drop(columns="points").iloc[:60])
    with pytest.raises(InvalidViewError, match="another TableViews"):
        model.predict(other)
    with pytest.raises(InvalidViewError, match="TableViews reads data frames"):
        quick_regressor(views=TableViews()).fit(np.eye(12), np.arange(12.0))
    with pytest.raises(InvalidViewError, match="TableViews reads data frames"):
        quick_regressor(views=TableViews()).fit({"a": np.eye(12)}, np.arange(12.0))


def test_a_target_among_the_inputs_is_told(wines: pd.DataFrame) -> None:
    with pytest.warns(HarmoniumWarning, match="y is called 'points'"):
        quick_regressor().fit(wines, wines["points"])
    with warnings.catch_warnings():
        warnings.simplefilter("error", HarmoniumWarning)
        named = quick_regressor(views=TableViews({"wine_id": "drop", "country": "drop"})).fit(wines, "points")
        named.score(wines, wines["points"])  # the column is no input of this one
    assert "points" not in Harmonium(2, driver=Stochastic(max_iter=1)).fit(wines, "points").views_.index
    with pytest.raises(ValueError, match="'nope'"):
        quick_regressor().fit(wines, ["points", "nope"])
    shuffled = wines["points"].sample(frac=1, random_state=0)
    with pytest.warns(HarmoniumWarning, match="shuffled alone"):
        quick_regressor().fit(wines.drop(columns="points"), shuffled)


def test_reports_take_names(wines: pd.DataFrame) -> None:
    model = quick_classifier().fit(wines, "place")
    assert "classes" in topic_table(model, wines, "place", n_features=2).columns


def test_frames_of_numbers_stay_matrices() -> None:
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(40, 3)), columns=list("abc"))
    frame["y"] = frame["a"] * 2
    model = quick_regressor().fit(frame, "y")
    assert model.fitted_.input_names == ["view0"] and list(model.feature_names_in_) == ["a", "b", "c"]
    np.testing.assert_array_equal(model.predict(frame), model.predict(frame.drop(columns="y")))
    assert quick_regressor(views=TableViews()).fit(frame, "y").fitted_.input_names == ["numbers"]


def test_several_targets_by_name(wines: pd.DataFrame) -> None:
    model = quick_regressor().fit(wines, ["points", "year"])
    assert model.predict(wines).shape == (len(wines), 2) and "year" not in model.views_.index


def test_queries_of_databases_are_tables(wines: pd.DataFrame) -> None:
    duckdb = pytest.importorskip("duckdb")
    query = duckdb.sql("select review, place, price, points from wines")
    with pytest.warns(HarmoniumWarning, match="lazy frame"):
        model = quick_regressor().fit(query, "points")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        predicted = model.predict(query)
    assert ["lazy frame" in str(warning.message) for warning in caught] == [True]
    np.testing.assert_array_equal(predicted, model.predict(wines[["review", "place", "price"]]))


def test_overviews_are_printed_whole(model: HarmoniumRegressor) -> None:
    with pd.option_context("display.width", 20, "display.max_columns", 2, "display.max_rows", 2):
        assert "..." not in repr(model.views_) and "log scale" in repr(model.views_)


def test_labels_are_not_taken_for_names(wines: pd.DataFrame) -> None:
    model = quick_classifier().fit(wines.drop(columns="place"), wines["place"].tolist())
    assert model.classes_.tolist() == ["Mosel", "Napa", "Rioja"]


@pytest.mark.parametrize(("X", "y"), [("frame", "rating"), ("matrix", "points")])
def test_names_that_cannot_be_are_refused(X: str, y: str, wines: pd.DataFrame) -> None:
    data = wines if X == "frame" else np.zeros((len(wines), 2))
    with pytest.raises(ValueError, match="y m"):
        quick_regressor().fit(data, y)


def test_classes_and_topics(wines: pd.DataFrame) -> None:
    model = quick_classifier().fit(wines, "place")
    assert set(model.predict(wines)) <= {"Mosel", "Napa", "Rioja"} and "place" not in model.views_.index
    topics = Harmonium(3, driver=Stochastic(max_iter=1), random_state=0).fit(wines)
    assert topics.transform(wines).shape == (len(wines), 3) and len(topics.topics("review", n=2)) == 3


def test_tools_of_scikit_learn_take_tables(wines: pd.DataFrame) -> None:
    X, y = wines.drop(columns="points"), wines["points"]
    assert len(cross_val_score(quick_regressor(), X, y, cv=2)) == 2
    search = GridSearchCV(quick_regressor(), {"n_components": [2, 3]}, cv=2).fit(X, y)
    importance = permutation_importance(search.best_estimator_, X, y, n_repeats=1, random_state=0)
    assert len(importance.importances_mean) == X.shape[1]


def test_views_read_by_hand_remember_their_table(wines: pd.DataFrame) -> None:
    views = TableViews().fit_transform(wines.drop(columns="points"))
    model = quick_regressor().fit(views[:100], wines["points"][:100])
    np.testing.assert_array_equal(model.predict(views), model.predict(wines))


# ---- any table at all ------------------------------------------------------------------------------------------------
VALUES = {
    "float": st.floats(width=32),
    "whole": st.integers(-(2**40), 2**40),
    "text": st.text(max_size=12),
    "word": st.sampled_from(["red wine", "white wine", "?", "13%", "2020-01-01", "a|b", ""]),
    "bool": st.booleans(),
    "date": st.dates(),
    "list": st.lists(st.sampled_from(["a", "b", "c"]), max_size=3),
    "mixed": st.one_of(st.none(), st.integers(-5, 5), st.text(max_size=3), st.floats(), st.booleans()),
    "number": st.integers(0, 3),
}


@st.composite
def tables(draw: Any) -> pd.DataFrame:
    n_rows = draw(st.integers(12, 25))
    kinds = draw(st.lists(st.sampled_from(sorted(VALUES)), min_size=1, max_size=4))
    cells = {
        f"{kind}{place}": draw(st.lists(st.one_of(st.none(), VALUES[kind]), min_size=n_rows, max_size=n_rows))
        for place, kind in enumerate(kinds)
    }
    frame = pd.DataFrame({name: pd.Series(values, dtype=object) for name, values in cells.items()})
    if draw(st.booleans()):
        frame = frame.infer_objects()
    frame.index = pd.Index(draw(st.permutations(range(n_rows))))
    return frame


@settings(deadline=None, max_examples=60)
@given(tables())
@pytest.mark.filterwarnings("ignore")
def test_any_table_is_read_or_refused_in_a_sentence(frame: pd.DataFrame) -> None:
    before = frame.copy(deep=True)
    table = TableViews()
    try:
        views = table.fit_transform(frame)
    except InvalidViewError as error:
        assert str(error).endswith(".")
        assert not hasattr(table, "table_")
    else:
        again = table.transform(frame)
        assert len(views) == len(frame) and again.names == views.names
        for name in views.names:
            left, right = views.source(name), again.source(name)
            np.testing.assert_array_equal(_dense(left.matrix), _dense(right.matrix))
            finite = _dense(left.matrix)
            assert not np.isinf(finite).any()
    pd.testing.assert_frame_equal(frame, before)


@settings(deadline=None, max_examples=15)
@given(tables(), st.data())
@pytest.mark.filterwarnings("ignore")
def test_any_table_is_fitted_saved_and_predicted(frame: pd.DataFrame, data: Any) -> None:
    target = np.linspace(0, 1, len(frame))
    try:
        model = quick_regressor(driver=Stochastic(max_iter=1)).fit(frame, target)
    except (InvalidViewError, ValueError) as error:
        assert str(error).endswith(".")
        return
    rows = data.draw(st.lists(st.integers(0, len(frame) - 1), min_size=1, max_size=5))
    predicted = model.predict(frame.iloc[rows])
    assert np.isfinite(predicted).all()
    np.testing.assert_allclose(predicted, model.predict(frame)[rows], rtol=1e-3, atol=1e-3)


def _dense(matrix: Any) -> np.ndarray:
    return np.asarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix)


def test_other_types_of_the_same_content_read_alike() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "store_id": rng.integers(0, 9, 90),
            "open": rng.integers(0, 2, 90),
            "day": pd.date_range("2020-01-31", periods=90),
            "n": rng.normal(size=90).round(3),
            "place": rng.choice(["Rome", "Oslo"], 90),
        }
    )
    table = TableViews().fit(frame)
    expected = table.transform(frame)
    for other in (
        frame.astype(str),
        frame.astype({"store_id": float, "open": float}),
        frame.astype({"store_id": float, "open": float}).astype(str),
        frame.astype(object),
        pl.from_pandas(frame),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = table.transform(other)
        for name in expected.names:
            np.testing.assert_array_equal(found.source(name).matrix, expected.source(name).matrix)


TEXTS = ["place", "length", "name", "price"]
DTYPES: dict[str, Callable[[pd.DataFrame], Any]] = {
    "strings": lambda frame: frame.astype(dict.fromkeys(TEXTS, "string")),
    "categories": lambda frame: frame.astype(dict.fromkeys([*TEXTS, "store_id", "open"], "category")),
    "nullable": lambda frame: frame.convert_dtypes(),
    "arrow": lambda frame: frame.convert_dtypes(dtype_backend="pyarrow"),
    "narrow": lambda frame: frame.astype({"store_id": "int8", "open": "float32"}),
    "polars": lambda frame: pl.from_pandas(frame).with_columns(pl.col("place").cast(pl.Categorical)),
}


@pytest.mark.parametrize("dtype", DTYPES)
def test_names_measures_and_codes_of_other_dtypes_read_alike(dtype: str) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "store_id": rng.integers(0, 9, 120),
            "open": rng.integers(0, 2, 120).astype(bool),
            "place": rng.choice(["Rome", "Oslo"], 120),
            "length": rng.choice(["90 min", "2 Seasons", "100 min", "1 Season"], 120),
            "name": [f"{kind} {number}" for number, kind in enumerate(rng.choice(["pulsar", "apache"], 120))],
            "price": rng.choice(["₹ 45,000", "₹ 1,200", "₹ 999"], 120),
        }
    )
    frame.loc[::17, ["place", "price"]] = None
    table = TableViews().fit(frame)
    assert table.columns_["role"].tolist() == ["category", "flag", "category", "measure", "name", "number"]
    expected = table.transform(frame)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = table.transform(DTYPES[dtype](frame))
    for name in expected.names:
        one, other = (scipy.sparse.csr_array(views.source(name).matrix) for views in (found, expected))
        np.testing.assert_array_equal(one.toarray(), other.toarray())


def test_the_format_of_numbers_is_that_of_the_training_data() -> None:
    frame = pd.DataFrame({"price": ["1.234,50", "20,25", "3.000,00", "17,00"] * 5, "text": ["a", "b"] * 10})
    table = TableViews(remainder="infer").fit(frame)
    low, high = table.transform(pd.DataFrame({"price": ["1,234", "1.234"]})).source("numbers").matrix.ravel()
    assert low < high
