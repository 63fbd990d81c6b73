"""Frames and matrices of odd kinds are read, or refused in one short sentence of the library's own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

import harmonium
from harmonium import Harmonium, HarmoniumClassifier, HarmoniumRegressor, Hinge, Stochastic
from harmonium.exceptions import InvalidViewError
from tests.cases.bad_input import assert_one_sentence, quick, real

VALUES = real()
N = len(VALUES)
#: longer than any sentence
LONG = "n" * 4000
SHORT_ENOUGH = 400
CLASSES = np.arange(N) % 2


def sparse_columns(fill: float) -> pd.DataFrame:
    """A frame whose columns leave out one value, which may be another than zero."""
    cells = np.r_[np.full(N - 10, fill), np.arange(1.0, 11.0)]
    return pd.DataFrame({name: pd.arrays.SparseArray(cells, fill_value=fill) for name in "ab"})


@pytest.mark.parametrize(
    "names", [list("abc"), [0, 1, 2], [(1, 2), (3, 4), (5, 6)], [1.5, 2.5, 3.5]], ids=["text", "int", "tuple", "float"]
)
def test_long_doubles_are_numbers_whatever_columns_are_called(names: list[Any]) -> None:
    frame, plain = (pd.DataFrame(VALUES.astype(kind), columns=names) for kind in (np.longdouble, np.float64))
    latent = quick().fit(plain).transform(plain)
    np.testing.assert_array_equal(quick().fit(frame).transform(frame), latent)


@pytest.mark.parametrize("fill", [0.0, 1.0, np.nan])
def test_sparse_columns_may_leave_out_any_value(fill: float) -> None:
    frame = sparse_columns(fill)
    matrix = harmonium.Views({"a": frame}).source("a").matrix
    dense = matrix.toarray() if scipy.sparse.issparse(matrix) else matrix
    np.testing.assert_array_equal(dense, frame.to_numpy())


ODD: dict[str, Callable[[], Any]] = {
    "number": lambda: 3.0,
    "array without dimensions": lambda: np.array(3.0),
    "one dimension": lambda: np.arange(30.0),
    "sparse of one dimension": lambda: scipy.sparse.coo_array(np.arange(30.0)),
    "three dimensions": lambda: np.zeros((30, 2, 2)),
    "complex": lambda: VALUES + 1j,
    "complex sparse": lambda: scipy.sparse.csr_matrix(VALUES + 1j),
    "complex frame": lambda: pd.DataFrame(VALUES + 1j, columns=list("abc")),
    "no rows": lambda: np.zeros((0, 3)),
    "no columns": lambda: np.zeros((N, 0)),
    "sparse without rows": lambda: scipy.sparse.csr_matrix((0, 3)),
    "sparse without columns": lambda: scipy.sparse.csr_matrix((N, 0)),
    "empty frame": lambda: pd.DataFrame(),
    "empty list": list,
    "rows of nothing": lambda: [[], []],
    "nothing": lambda: None,
    "object": object,
    "set": lambda: {1, 2},
    "generator": lambda: (row for row in VALUES),
    "fields": lambda: np.zeros(N, dtype=[("a", float), ("b", float)]),
    "names that are partly texts": lambda: pd.DataFrame(VALUES, columns=[1, "1", "x"]),
    "a name that is NaN": lambda: pd.DataFrame(VALUES, columns=[np.nan, 1, "x"]),
    "the same long name": lambda: pd.DataFrame(VALUES, columns=[LONG] * 3),
    "a long name of nothing": lambda: pd.DataFrame({LONG: ["x"] * N}),
    "infinity under a long name": lambda: pd.DataFrame(np.full((N, 2), np.inf), columns=[LONG, f"{LONG}s"]),
    "long view of rows of different lengths": lambda: {LONG: [[1, 2], [3]]},
    "long view of other length": lambda: {LONG: VALUES, "m": VALUES[:3]},
    "long view of text": lambda: {LONG: "abc"},
    "long view of three dimensions": lambda: {LONG: np.zeros((N, 2, 2))},
    "long view too large": lambda: {LONG: VALUES * 1e30},
    "sparse view of one dimension": lambda: {"v": scipy.sparse.coo_array(np.arange(30.0))},
}


@pytest.mark.parametrize("kind", [Harmonium, HarmoniumClassifier, HarmoniumRegressor])
@pytest.mark.parametrize("name", ODD)
def test_what_cannot_be_read_is_refused_in_one_short_sentence(name: str, kind: type) -> None:
    model: Any = kind(2, driver=Stochastic(max_iter=1))
    refused(lambda: model.fit(ODD[name](), *([] if kind is Harmonium else [CLASSES])))


TARGETS: dict[str, Any] = {
    "other length": np.arange(N + 1),
    "complex": np.arange(N) + 1j,
    "objects": [object()] * N,
    "a number": 3,
    "one long class": [LONG] * N,
    "name of no column": LONG,
    "all unknown": np.full(N, np.nan),
}


@pytest.mark.parametrize("name", TARGETS)
def test_so_are_targets(name: str) -> None:
    frame = pd.DataFrame(VALUES, columns=[LONG, "b", "c"])
    refused(lambda: HarmoniumClassifier(2).fit(frame, TARGETS[name]))


def test_a_fitted_model_refuses_in_one_sentence_too() -> None:
    model = quick().fit(VALUES)
    for bad in (VALUES[:, :2], scipy.sparse.csr_matrix(VALUES[:, :1]), VALUES[0], 1, VALUES[:0], VALUES + 1j):
        refused(lambda bad=bad: model.transform(bad))
    classifier = HarmoniumClassifier(2, head=Hinge(C=1.0), driver=Stochastic(max_iter=1), validation_fraction=0.0)
    classifier.fit(VALUES, CLASSES)
    refused(lambda: classifier.score(VALUES, np.array([LONG] * N)))


def test_notices_name_long_columns_shortly() -> None:
    frame = pd.DataFrame({LONG: [None] * N, "b": VALUES[:, 0], "c": ["x", "y", "z"] * (N // 3)})
    with pytest.warns(harmonium.HarmoniumWarning) as notices:
        quick().fit(frame)
    assert all(len(str(found.message)) < SHORT_ENOUGH for found in notices)


def refused(call: Callable[[], Any]) -> None:
    with pytest.raises((ValueError, TypeError)) as refusal:
        call()
    message, raised_in = str(refusal.value), Path(refusal.traceback[-1].path)
    assert Path(harmonium.__file__).parent in raised_in.parents, f"{raised_in} says {message}"
    assert len(message) < SHORT_ENOUGH, message
    assert_one_sentence(message)


def test_names_are_cut_and_sentences_are_not() -> None:
    assert str(InvalidViewError("View 'words' must hold numbers.")) == "View 'words' must hold numbers."
    sentence = " ".join(["short"] * 100)
    assert str(InvalidViewError(sentence)) == sentence
    cut = str(InvalidViewError(f"View {LONG!r} must differ from {('a b ' * 100)!r}."))
    assert (cut.count("…"), len(cut)) == (2, 150)


def test_a_target_is_named_by_the_whole_number_that_its_column_has() -> None:
    X = pd.DataFrame({0: np.arange(10.0), 1: [0, 1] * 5})
    model = HarmoniumClassifier(2, driver=Stochastic(max_iter=1), random_state=0).fit(X, 1)
    assert model.classes_.tolist() == [0, 1] and model.n_features_in_ == 1


def test_arrays_in_lists_are_values_like_others() -> None:
    X = pd.DataFrame({"a": [["x", np.eye(2)], ["y", np.float32("nan")]] * 5, "b": np.arange(10.0)})
    assert np.isfinite(quick().fit(X).transform(X)).all()
