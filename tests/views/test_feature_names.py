"""Names of columns can be given with a view, by a list or by what made them, and are kept in outputs and files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.preprocessing import StandardScaler

import harmonium
from harmonium import Columns, Poisson, Views
from harmonium.exceptions import InvalidViewError
from tests.cases.bad_input import quick, real, refuse

TEXTS = ["sea and sky", "sky and rain and rain", "red rose", "rose and sea"] * 5
WORDS = ["and", "rain", "red", "rose", "sea", "sky"]


@pytest.fixture
def vectorizer() -> CountVectorizer:
    return CountVectorizer().fit(TEXTS)


def counts(vectorizer: CountVectorizer) -> scipy.sparse.csr_matrix:
    return vectorizer.transform(TEXTS)


def test_topics_are_of_words_and_files_keep_them(vectorizer: CountVectorizer, tmp_path: Path) -> None:
    X = Views({"words": counts(vectorizer), "colour": real(n_rows=20)}, feature_names={"words": vectorizer})
    model = quick().fit(X)
    assert model.fitted_.feature_names == {"words": WORDS, "colour": ["colour_0", "colour_1", "colour_2"]}
    assert set(model.topics("words", n=6).iloc[0]) == set(WORDS)
    assert list(model.topics("words", n=None, by="weight").index) == WORDS
    model.save(tmp_path / "model")
    loaded = harmonium.load(tmp_path / "model")
    assert loaded.fitted_.feature_names == model.fitted_.feature_names
    # new rows need not bring the names, but others are refused
    assert loaded.transform({"words": counts(vectorizer)}).shape == (20, 3)
    other = Views({"words": counts(vectorizer)}, feature_names={"words": WORDS[::-1]})
    refuse(lambda: loaded.transform(other), InvalidViewError, "got 'sky' in place of 'and'")


@pytest.mark.parametrize("form", ["list", "array", "index", "vectoriser", "tuple"])
def test_forms_of_names(form: str, vectorizer: CountVectorizer) -> None:
    names: Any = {"list": WORDS, "array": np.array(WORDS), "index": pd.Index(WORDS), "tuple": tuple(WORDS)}.get(form)
    names = vectorizer if names is None else names
    assert Views({"words": counts(vectorizer)}, feature_names={"words": names}).source("words").columns == WORDS
    model = quick(views={"words": Columns(slice(None), Poisson(), names)}).fit(counts(vectorizer))
    assert model.fitted_.feature_names == {"words": WORDS}


def test_columns_of_a_matrix_are_named(vectorizer: CountVectorizer, tmp_path: Path) -> None:
    X = scipy.sparse.hstack([counts(vectorizer), real(n_rows=20)], format="csr")
    spec = {"words": Columns(slice(0, 6), feature_names=vectorizer), "colour": slice(6, None)}
    model = quick(views=spec).fit(X)
    assert model.fitted_.feature_names["words"] == WORDS and len(model.fitted_.feature_names["colour"]) == 3
    assert clone(model).get_params()["views"]["words"].feature_names == WORDS
    model.save(tmp_path / "model")
    loaded = harmonium.load(tmp_path / "model")
    assert loaded.get_params()["views"]["words"] == spec["words"]
    np.testing.assert_array_equal(loaded.transform(X), model.transform(X))


def test_a_column_transformer_knows_its_names() -> None:
    table = pd.DataFrame({"text": TEXTS, "age": np.arange(20.0)})
    transformer = make_column_transformer((CountVectorizer(), "text"), (StandardScaler(), ["age"]))
    X = transformer.fit_transform(table)
    model = quick().fit(Views({"all": X}, feature_names={"all": transformer}))
    assert model.fitted_.feature_names["all"][0] == "countvectorizer__and"


def test_names_that_make_no_sense_are_refused(vectorizer: CountVectorizer) -> None:
    X = counts(vectorizer)
    refuse(
        lambda: Views({"words": X}, feature_names={"words": CountVectorizer()}),
        InvalidViewError,
        "View 'words' needs names .* got a CountVectorizer that is not fitted; fit it first",
    )
    refuse(lambda: Views({"words": X}, feature_names={"words": "and"}), InvalidViewError, "got 'and'; pass a list")
    refuse(lambda: Views({"words": X}, feature_names={"words": WORDS[1:]}), InvalidViewError, "per column, 6; got 5")
    refuse(lambda: Columns(slice(0, 6), feature_names=3), InvalidViewError, "Columns needs names of its columns")
    refuse(
        lambda: quick(views={"words": Columns(slice(0, 6), feature_names=WORDS[1:])}).fit(X),
        InvalidViewError,
        "View 'words' needs one feature name per column, 6; got 5",
    )
