"""Names of the columns of y are kept to the end; ordered categories keep their order; rows go by their index."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.model_selection import cross_val_score
from typer.testing import CliRunner

import harmonium
from harmonium import HarmoniumClassifier, HarmoniumRegressor, Stochastic
from harmonium.cli import app
from harmonium.estimators.input.labels import read_classes, read_numbers
from harmonium.heads import LabelView, Ordinal
from tests.cases.bad_input import assert_one_sentence
from tests.cases.targets import (
    CODES,
    COLUMNS,
    FRAMES,
    LABELS,
    NAMES,
    ROWS,
    TEXTS,
    WORDS,
    X,
    classifier,
    regressor,
    tagger,
)


def columns(table: np.ndarray) -> dict[str, Any]:
    return dict(zip(NAMES, table.T, strict=True))


# ---- names -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("make", FRAMES)
def test_names_of_labels_are_kept(make: str) -> None:
    model = tagger().fit(X, FRAMES[make](columns(LABELS)))
    assert model.output_names_.tolist() == NAMES
    assert model.classes_.tolist() == [0, 1, 2]  # scikit-learn knows labels by the numbers of their columns
    assert set(model.annotate(X, top=3)["label"]) == set(NAMES)
    np.testing.assert_array_equal(model.predict(X), tagger().fit(X, LABELS).predict(X))


@pytest.mark.parametrize("make", FRAMES)
def test_names_of_classes_and_numbers_are_kept(make: str) -> None:
    several = {"mood": TEXTS, "age": CODES}
    model = classifier().fit(X, FRAMES[make](several))
    assert model.output_names_.tolist() == ["mood", "age"]
    assert [classes.tolist() for classes in model.classes_] == [sorted(WORDS), [0, 1, 2]]
    numbers = regressor().fit(X, FRAMES[make]({"height": X[:, 0], "weight": X[:, 1]}))
    assert numbers.output_names_.tolist() == ["height", "weight"] and numbers.predict(X).shape == (len(X), 2)


def test_a_series_names_its_output() -> None:
    for y in (pd.Series(TEXTS, name="mood"), pl.Series("mood", TEXTS)):
        assert classifier().fit(X, y).output_names_.tolist() == ["mood"]
    for y in (TEXTS, pd.Series(TEXTS), pl.Series(TEXTS), pd.DataFrame(LABELS)):
        model = (classifier() if np.ndim(y) == 1 else tagger()).fit(X, y)
        assert not hasattr(model, "output_names_")
        with pytest.raises(AttributeError, match="had none; pass y as a data frame") as refusal:
            model.output_names_  # noqa: B018
        assert_one_sentence(str(refusal.value))


def test_a_label_that_is_a_view_is_called_like_the_output() -> None:
    mood = classifier(head=LabelView()).fit(X, pd.Series(TEXTS, name="mood"))
    assert mood.fitted_.feature_names["label"] == ["mood=high", "mood=low", "mood=middle"]
    assert classifier(head=LabelView()).fit(X, TEXTS).fitted_.feature_names["label"][0] == "label_0=high"
    tags = classifier(head=LabelView()).fit(X, pd.DataFrame(columns(LABELS)))
    assert tags.fitted_.feature_names["label"] == NAMES
    assert set(tags.topics("label").to_numpy().ravel()) == set(NAMES)
    assert regressor(head=LabelView()).fit(X, pd.Series(X[:, 0], name="age")).fitted_.feature_names["label"] == ["age"]


@pytest.mark.parametrize("head", [None, LabelView()], ids=str)
def test_names_are_in_files(tmp_path: Path, head: Any) -> None:
    model = tagger(**({} if head is None else {"head": head})).fit(X, pd.DataFrame(columns(LABELS)))
    model.save(tmp_path / "model.safetensors")
    again = harmonium.load(tmp_path / "model.safetensors")
    assert again.output_names_.tolist() == NAMES and again.fitted_.feature_names == model.fitted_.feature_names
    shown = CliRunner(env={"COLUMNS": "120"}).invoke(app, ["info", str(tmp_path / "model.safetensors")])
    assert "Predicts several labels at once: sea, sky, sun" in shown.output
    tagger().fit(X, LABELS).save(tmp_path / "unnamed.safetensors")
    assert not hasattr(harmonium.load(tmp_path / "unnamed.safetensors"), "output_names_")


def test_training_goes_on_with_the_columns_it_began_with() -> None:
    frame = pd.DataFrame(columns(LABELS))
    model = tagger(warm_start=True).fit(X, frame)
    for method in (model.fit, model.partial_fit):
        with pytest.raises(ValueError, match="got 'sun' in place of 'sea'; reorder or rename") as refusal:
            method(X, frame[NAMES[::-1]])
        assert_one_sentence(str(refusal.value))
    model.partial_fit(X, LABELS)  # no names, nothing to disagree
    assert model.output_names_.tolist() == NAMES


def test_names_that_occur_twice_are_refused() -> None:
    with pytest.raises(ValueError, match="y must have columns of different names") as refusal:
        tagger().fit(X, pd.DataFrame(LABELS, columns=["sea", "sea", "sun"]))
    assert_one_sentence(str(refusal.value))


# ---- makes -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("make", COLUMNS)
@pytest.mark.parametrize("missing", [False, True], ids=["known", "missing"])
@pytest.mark.parametrize("values", [TEXTS.tolist(), CODES.tolist(), (CODES > 0).tolist()], ids=["text", "int", "bool"])
def test_every_make_of_column_is_read_alike(make: str, missing: bool, values: list[Any]) -> None:
    given = [None, *values[1:]] if missing else values
    labels = read_classes(COLUMNS[make](given), None)
    classes, codes = np.unique(np.array(values[missing:]), return_inverse=True)
    assert labels.meaning.classes[0].tolist() == classes.tolist()
    assert labels.targets.values[:, 0].tolist() == [*[-1] * missing, *codes]


@pytest.mark.parametrize("make", sorted(set(COLUMNS) - {"pandas categories"}))
def test_every_make_of_column_is_read_alike_as_numbers(make: str) -> None:
    values = read_numbers(COLUMNS[make]([None, *X[1:, 0].tolist()]), None).targets.values
    np.testing.assert_array_equal(values[:, 0], [np.nan, *X[1:, 0]])


@pytest.mark.parametrize("make", FRAMES)
def test_every_make_of_frame_is_read_alike(make: str) -> None:
    some = {name: [None, *column[1:]] for name, column in columns(LABELS.astype(object)).items()}
    values = read_classes(FRAMES[make](some), None).targets.values
    assert np.isnan(values[0]).all()
    np.testing.assert_array_equal(values[1:], LABELS[1:])


def test_what_is_missing_among_texts_is_no_class() -> None:
    for missing in (np.nan, None, pd.NA):
        assert read_classes([*TEXTS[:-1], missing], None).meaning.classes[0].tolist() == sorted(WORDS)
    with pytest.raises(ValueError, match="all of one kind; got int, str") as refusal:
        read_classes([*TEXTS[:-1], 1], None)
    assert_one_sentence(str(refusal.value))


def test_masked_values_are_unknown() -> None:
    mask = np.arange(len(CODES)) < 2
    assert read_classes(np.ma.masked_array(CODES, mask), None).targets.values[:2, 0].tolist() == [-1, -1]
    assert np.isnan(read_numbers(np.ma.masked_array(X[:, 0], mask), None).targets.values[:2]).all()


@pytest.mark.filterwarnings("ignore:A column-vector y was passed")
def test_whole_numbers_beside_missing_ones_are_not_rounded() -> None:
    large = [2**60, 2**60 + 1, None] * 4
    for y in (pd.Series(large, dtype="Int64"), pl.Series(large), pd.DataFrame({"a": pd.Series(large, dtype="Int64")})):
        assert read_classes(y, None).meaning.classes[0].tolist() == [2**60, 2**60 + 1]


# ---- order -----------------------------------------------------------------------------------------------------------
ORDERED = {
    "pandas": pd.Series(pd.Categorical(TEXTS, categories=WORDS, ordered=True)),
    "pandas array": pd.Categorical(TEXTS, categories=[*WORDS, "never"], ordered=True),
    "polars": pl.Series(TEXTS.tolist(), dtype=pl.Enum(WORDS.tolist())),
    "frame": pd.DataFrame({"mood": pd.Categorical(TEXTS, categories=WORDS, ordered=True)}),
}


@pytest.mark.filterwarnings("ignore:A column-vector y was passed")
@pytest.mark.parametrize("make", ORDERED)
def test_ordered_categories_are_the_levels(make: str) -> None:
    model = classifier(head=Ordinal(C=1.0)).fit(X, ORDERED[make])
    same = classifier(head=Ordinal(C=1.0, levels=WORDS.tolist())).fit(X, TEXTS)
    assert model.classes_.tolist() == sorted(WORDS)
    np.testing.assert_array_equal(model.predict_proba(X), same.predict_proba(X))
    np.testing.assert_array_equal(model.fitted_.head.outputs_.levels, same.fitted_.head.outputs_.levels)


def test_categories_without_an_order_and_levels_that_are_given() -> None:
    for y in (pd.Categorical(TEXTS, categories=WORDS), pl.Series(TEXTS.tolist(), dtype=pl.Categorical)):
        with pytest.raises(ValueError, match=r"pass them in order as levels=.*, or y with ordered categories"):
            classifier(head=Ordinal(C=1.0)).fit(X, y)
    turned = classifier(head=Ordinal(C=1.0, levels=WORDS[::-1].tolist())).fit(X, ORDERED["pandas"])
    assert turned.fitted_.head.outputs_.levels.tolist() == [0, 2, 1]


# ---- index -----------------------------------------------------------------------------------------------------------
FRAME = pd.DataFrame(X, index=ROWS)
SHUFFLED = np.random.default_rng(3).permutation(len(X))


@pytest.mark.parametrize("data", [FRAME, {"numbers": FRAME}, [FRAME]], ids=["frame", "mapping", "list"])
def test_rows_of_y_go_by_the_index_of_x(data: Any) -> None:
    weight = pd.Series(np.linspace(1, 2, len(X)), index=ROWS)
    for make, y in ((classifier, TEXTS), (regressor, X[:, 0])):
        named = pd.Series(y, index=ROWS)
        expected = make().fit(data, named, weight)
        model = make().fit(data, named.iloc[SHUFFLED], weight.iloc[SHUFFLED[::-1]])
        np.testing.assert_array_equal(model.components_, expected.components_)
        assert model.score(data, named.iloc[SHUFFLED]) == expected.score(data, y)
        part = make().partial_fit(data, named.iloc[SHUFFLED])
        np.testing.assert_array_equal(part.components_, make().partial_fit(data, y).components_)


def test_other_rows_are_refused_and_rows_without_names_go_by_position() -> None:
    other = pd.Series(TEXTS, index=[*ROWS[1:], "item 99"])
    model = classifier()
    for call in (model.fit, model.partial_fit):
        with pytest.raises(ValueError, match="y must name the same rows as X; its index lacks 'item 0'") as refusal:
            call(FRAME, other)
        assert_one_sentence(str(refusal.value))
    with pytest.raises(ValueError, match="sample_weight must name the same rows as X"):
        model.fit(FRAME, TEXTS, pd.Series(1.0, index=other.index))
    assert not hasattr(model, "classes_")
    expected = classifier().fit(X, TEXTS).components_
    for data, y in ((X, other), (FRAME, pd.Series(TEXTS)), (pd.DataFrame(X), other), (FRAME, pl.Series(TEXTS))):
        np.testing.assert_array_equal(classifier().fit(data, y).components_, expected)


def test_cross_validation_of_frames_is_that_of_arrays() -> None:
    frame, y = FRAME.iloc[SHUFFLED], pd.Series(TEXTS, index=ROWS).iloc[SHUFFLED]
    by_name = cross_val_score(classifier(), frame, y, cv=3)
    np.testing.assert_array_equal(by_name, cross_val_score(classifier(), frame.to_numpy(), y.to_numpy(), cv=3))


# ---- obs of AnnData and MuData ---------------------------------------------------------------------------------------
@pytest.mark.parametrize("kind", ["anndata", "mudata"])
def test_targets_are_columns_of_obs(kind: str) -> None:
    anndata, mudata = pytest.importorskip("anndata"), pytest.importorskip("mudata")
    rng = np.random.default_rng(0)
    matrix = rng.normal(size=(40, 3)).astype(np.float32)
    obs = pd.DataFrame(
        {"kind": np.where(matrix[:, 0] > 0, "a", "b"), "size": matrix[:, 1], "age": matrix[:, 2]},
        index=[f"cell{i}" for i in range(40)],
    )
    data = anndata.AnnData(matrix, obs=obs)
    if kind == "mudata":
        data = mudata.MuData({"rna": anndata.AnnData(matrix, obs=obs[[]])})
        data.obs = obs
    quick: dict[str, Any] = {"n_components": 2, "driver": Stochastic(max_iter=2), "random_state": 0}
    named = HarmoniumClassifier(**quick).fit(data, "kind")
    given = HarmoniumClassifier(**quick).fit(data, obs["kind"])
    np.testing.assert_array_equal(named.predict_proba(data), given.predict_proba(data))
    assert named.score(data, "kind") == given.score(data, obs["kind"])
    both = HarmoniumRegressor(**quick).fit(data, ["size", "age"])
    assert both.predict(data).shape == (40, 2) and both.output_names_.tolist() == ["size", "age"]
    with pytest.raises(ValueError, match=r"y must name a column of obs, which has .*'kind'.*; got 'sort'; correct"):
        named.fit(data, "sort")
