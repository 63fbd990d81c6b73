"""Tags as the target: one label for each tag of lists and of texts with separators."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import harmonium
from harmonium import HarmoniumClassifier, HarmoniumWarning, Stochastic
from harmonium.core.targets import TargetSpec
from harmonium.estimators.input.labels import read_classes
from harmonium.estimators.input.tags import indicator_of_tags, read_tags
from tests.cases.bad_input import assert_one_sentence

N_ROWS = 60
RNG = np.random.default_rng(0)
TRUTH = (RNG.random((N_ROWS, 3)) < 0.5).astype(int)
NAMES = np.array(["drama", "sci-fi", "war"])
LISTS = [NAMES[row > 0][::-1].tolist() for row in TRUTH]
TEXTS = ["|".join(tags) for tags in LISTS]
QUICK: dict[str, Any] = {"n_components": 3, "driver": Stochastic(max_iter=3), "random_state": 0}


def frame_of(tags: Any) -> pd.DataFrame:
    numbers = TRUTH + 0.1 * RNG.normal(size=TRUTH.shape)
    return pd.DataFrame({"a": numbers[:, 0], "b": numbers[:, 1], "c": numbers[:, 2], "tags": tags})


@pytest.fixture(scope="module")
def fitted() -> tuple[HarmoniumClassifier, pd.DataFrame]:
    frame = frame_of(LISTS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HarmoniumWarning)
        return HarmoniumClassifier(**QUICK).fit(frame, "tags"), frame


# ---- reading ---------------------------------------------------------------------------------------------------------
ALIKE = {
    "pandas": pd.Series(LISTS, name="tags"),
    "frame": pd.DataFrame({"tags": LISTS}),
    "polars": pl.Series("tags", LISTS),
    "arrow": pa.chunked_array([pa.array(LISTS)]),
    "list of lists": LISTS,
    "list of sets": [set(row) for row in LISTS],
    "sets": pd.Series([set(row) for row in LISTS]),
    "written": pd.Series([str(row) for row in LISTS]),
}


@pytest.mark.parametrize("case", ALIKE)
def test_lists_of_any_library_are_tags(case: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        labels = read_classes(ALIKE[case], None)
    assert labels.meaning.kind == "label" and labels.meaning.names == tuple(NAMES) and labels.meaning.separator == ""
    np.testing.assert_array_equal(labels.targets.values, TRUTH)


@pytest.mark.parametrize("mark", ["|", ";", ", "])
@pytest.mark.parametrize("make", [pd.Series, np.array, list])
def test_texts_with_separators_are_tags(mark: str, make: Any) -> None:
    # with other words beside them, as a few tags in all combinations are no more than categories with commas
    rows = [row or ["war"] for row in LISTS]
    with pytest.warns(HarmoniumWarning, match=f"tags between '\\{mark[0]}', such as 'drama'.*Categorical"):
        labels = read_classes(make([mark.join(row) for row in rows]), None)
    expected = [[name in row for name in NAMES] for row in rows]
    np.testing.assert_array_equal(labels.targets.values, expected)
    assert labels.meaning.names == tuple(NAMES) and labels.meaning.separator == mark[0]


@pytest.mark.parametrize(
    "y",
    [
        pd.Series(TEXTS, dtype="category"),
        pd.Series(["a|b", "c|d", "e|f"] * 20),
        pd.Series(["Paris, France", "Rome, Italy"] * 30),
        pd.Series(["yes", "no"] * 30),
        np.arange(60) % 3,
        TRUTH,
        pd.DataFrame(TRUTH),
        [["a", "x"], ["b", "y"], ["a", "y"]],
    ],
)
def test_classes_and_indicators_stay_what_they_are(y: Any) -> None:
    assert read_tags(y) is None


def test_rows_without_tags_and_rows_of_unknown_tags() -> None:
    y = pd.Series([None if row == 5 else tags for row, tags in enumerate(LISTS)], dtype=object)
    weight = np.where(np.arange(N_ROWS) == 7, 0.0, 1.0)
    values = read_classes(y, weight).targets.values
    assert np.isnan(values[[5, 7]]).all() and not np.isnan(np.delete(values, [5, 7], axis=0)).any()
    empty = [row for row, tags in enumerate(LISTS) if not tags and row not in (5, 7)]
    assert empty and not values[empty].any()


def test_rare_tags_are_left_out_with_one_notice() -> None:
    y = pd.Series([[*tags, f"own {row}"] for row, tags in enumerate(LISTS)])
    with pytest.warns(HarmoniumWarning, match="60 tags of y are in fewer than 3 rows, such as 'own 0'") as told:
        labels = read_classes(y, None)
    assert len(told) == 1 and labels.meaning.names == tuple(NAMES)
    with pytest.raises(ValueError, match="two or more that are in 3 rows each; got 0 of 60") as refusal:
        read_classes(pd.Series([[f"own {row}"] for row in range(N_ROWS)]), None)
    assert_one_sentence(str(refusal.value))


def test_known_tags_are_the_only_ones() -> None:
    spec = TargetSpec("label", [np.array([0, 1])] * 2, False, 2, ("drama", "war"), "")
    found = indicator_of_tags(pd.Series([["war", "new"], None, []]), spec)
    np.testing.assert_array_equal(found, [[0, 1], [np.nan, np.nan], [0, 0]])
    np.testing.assert_array_equal(indicator_of_tags(TRUTH, spec), TRUTH)


# ---- models ----------------------------------------------------------------------------------------------------------
def test_a_model_of_tags_is_that_of_their_indicator_matrix(fitted: Any) -> None:
    model, frame = fitted
    inputs = frame.drop(columns="tags")
    by_matrix = HarmoniumClassifier(**QUICK).fit(inputs, pd.DataFrame(TRUTH, columns=NAMES))
    np.testing.assert_array_equal(model.predict_proba(frame), by_matrix.predict_proba(inputs))
    assert model.classes_.tolist() == model.output_names_.tolist() == NAMES.tolist()
    assert set(model.annotate(frame, top=1)["label"]) <= set(NAMES)
    assert model.score(frame, "tags") == by_matrix.score(inputs, TRUTH) == model.score(inputs, TRUTH)
    some = frame.assign(tags=[None, *LISTS[1:]])
    assert model.score(some, "tags") == by_matrix.score(inputs[1:], TRUTH[1:])


def test_a_plain_list_of_lists_is_a_target_of_tags(fitted: Any) -> None:
    model, frame = fitted
    X = frame.drop(columns="tags")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HarmoniumWarning)
        same = HarmoniumClassifier(**QUICK).fit(X, LISTS)
    np.testing.assert_array_equal(same.predict(X), model.predict(X))
    alone = [row for row, tags in enumerate(LISTS) if len(tags) == 1][:4]  # no longer ragged
    assert model.score(X.iloc[alone], [LISTS[row] for row in alone]) == model.score(frame.iloc[alone], "tags")


def test_tags_survive_files_and_go_on(fitted: Any, tmp_path: Path) -> None:
    model, frame = fitted
    model.save(tmp_path / "model")
    again = harmonium.load(tmp_path / "model")
    assert again.classes_.tolist() == NAMES.tolist() and again.score(frame, "tags") == model.score(frame, "tags")
    np.testing.assert_array_equal(again.predict(frame), model.predict(frame.drop(columns="tags")))
    few = frame[:4].assign(tags=[["war"], [], ["new", "drama"], None])
    again.partial_fit(few, "tags")
    assert again.classes_.tolist() == NAMES.tolist()
    again.partial_fit(frame[:4].drop(columns="tags"), TRUTH[:4])
    assert again.classes_.tolist() == NAMES.tolist()


def test_tags_named_before_they_are_seen() -> None:
    frame = frame_of(LISTS)
    model = HarmoniumClassifier(**QUICK).partial_fit(frame[:20], "tags", classes=["drama", "rare", "sci-fi", "war"])
    assert model.classes_.tolist() == ["drama", "rare", "sci-fi", "war"]
    assert model.partial_fit(frame[20:], "tags").predict(frame).shape == (N_ROWS, 4)


def test_columns_called_like_tags_are_inputs() -> None:
    frame = frame_of(LISTS).rename(columns={"a": "war"})
    model = HarmoniumClassifier(**QUICK).fit(frame, "tags")
    assert "war" in model.feature_names_in_ and model.predict(frame).shape == TRUTH.shape
