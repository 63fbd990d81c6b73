"""What the weakly supervised classifiers take as samples and labels, and how they refuse the rest."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from harmonium.weak import Bags, LatentSVM
from harmonium.weak.reading import read_labels, read_samples
from tests.cases.bad_input import assert_one_sentence
from tests.cases.targets import COLUMNS

pytest.importorskip("piqp")
BAGS = [np.eye(2)[[number % 2, 0]] * 3.0 for number in range(6)]
Y = [0, 1] * 3


def fitted() -> LatentSVM:
    return LatentSVM(max_iter=2).fit(frames(), Y)


def frames(columns: tuple[str, str] = ("left", "right")) -> list[pd.DataFrame]:
    return [pd.DataFrame(bag, columns=list(columns)) for bag in BAGS]


@pytest.mark.parametrize(
    "samples",
    [
        frames(),
        [pl.from_pandas(frame) for frame in frames()],
        [scipy.sparse.csr_array(bag) for bag in BAGS],
        [bag.tolist() for bag in BAGS],
        np.stack(BAGS),
        Bags.from_list(frames()),
        Bags(pd.concat(frames(), ignore_index=True), np.arange(7) * 2),
    ],
    ids=["pandas", "polars", "sparse", "lists", "array", "bags", "one frame"],
)
def test_every_make_of_samples_is_read_alike(samples: Any) -> None:
    expected = LatentSVM(max_iter=2).fit(BAGS, Y)
    np.testing.assert_array_equal(LatentSVM(max_iter=2).fit(samples, Y).coef_, expected.coef_)


def test_names_of_columns_are_kept_and_compared() -> None:
    model = fitted()
    assert model.feature_names_in_.tolist() == ["left", "right"]
    assert Bags.from_list(frames())[1:].feature_names == ("left", "right")
    np.testing.assert_array_equal(model.predict(frames()), model.predict(BAGS))
    for samples in (frames(("right", "left")), [*frames()[:3], *frames(("right", "left"))[3:]]):
        with pytest.raises(ValueError, match=r"same order; .*'right'.*; reorder or rename") as refusal:
            model.predict(samples)
        assert_one_sentence(str(refusal.value))
    assert not hasattr(model.fit(BAGS, Y), "feature_names_in_")


@pytest.mark.parametrize("make", COLUMNS)
def test_every_make_of_labels_is_read_alike(make: str) -> None:
    for values in (["low", "high"] * 3, Y, [True, False] * 3):
        classes, numbers = read_labels(COLUMNS[make](values), 6)
        expected, positions = np.unique(values, return_inverse=True)
        assert classes.tolist() == expected.tolist() and numbers.tolist() == positions.tolist()
        with pytest.raises(ValueError, match="found None or NaN in y, at sample 5") as refusal:
            read_labels(COLUMNS[make]([*values[:5], None]), 6)
        assert_one_sentence(str(refusal.value))


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "no labels": ({"y": None}, "y must be there"),
    "too few labels": ({"y": Y[:-1]}, r"one label for each of 6 samples; got shape \(5,\)"),
    "mixed labels": ({"y": [0, "a"] * 3}, "all of one kind; got int, str"),
    "fractions": ({"y": [0.5, 1.5] * 3}, "whole numbers, texts or booleans; got 0.5; turn numbers"),
    "infinite labels": ({"y": [0, np.inf] * 3}, "contains infinity"),
    "dates": ({"y": np.array(["2020-01-01", "2020-01-02"] * 3, dtype="M8[D]")}, "got date"),
    "ragged labels": ({"y": [[0], [0, 1]] * 3}, "rows of different lengths"),
    "a table of labels": ({"y": np.eye(6)}, r"got shape \(6, 6\)"),
    "ragged sample": ({"X": [*BAGS[:5], [[1, 2], [3]]]}, "Sample 5 must have as many numbers in every row"),
    "two names": ({"X": [pd.DataFrame(bag, columns=["a", "a"]) for bag in BAGS]}, "Sample 0 .* different names"),
    "texts": ({"X": [pd.DataFrame(bag).astype(str) for bag in BAGS]}, "must be real numbers"),
    "NaN": ({"X": [bag * np.nan for bag in BAGS]}, "must be finite"),
    "ragged candidates": ({"latent": [[0], [0, 1]] * 3}, "latent must be the number of a candidate"),
    "texts for candidates": ({"latent": ["a"] * 6}, "latent must be the number of a candidate"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_bad_input_is_refused_in_one_sentence_and_changes_nothing(case: str) -> None:
    given, pattern = REFUSED[case]
    model = fitted()
    before = pickle.dumps(vars(model))
    with pytest.raises(ValueError, match=pattern) as refusal:
        model.fit(**{"X": BAGS, "y": Y, **given})
    assert_one_sentence(str(refusal.value))
    if "X" not in given:
        with pytest.raises(ValueError) as refusal:
            model.score(**{"X": BAGS, "y": Y, **given})
        assert_one_sentence(str(refusal.value))
    assert pickle.dumps(vars(model)) == before


def test_bags_are_made_of_matrices_and_boxes_of_numbers() -> None:
    for call, kind, pattern in (
        (lambda: Bags.from_list(3), TypeError, "one matrix per sample; got int"),  # type: ignore[arg-type]
        (lambda: Bags.from_list(BAGS, [[["a"] * 4] * 2] * 6), ValueError, "boxes must hold numbers"),
        (lambda: Bags(np.eye(2), [0, 2], [["a"] * 4] * 2), ValueError, "boxes must hold numbers"),
        (lambda: Bags([[1, 2], [3]], [0, 2]), ValueError, "The matrix of candidates must have as many numbers"),
    ):
        with pytest.raises(kind, match=pattern) as refusal:
            call()
        assert_one_sentence(str(refusal.value))


CELLS = st.one_of(st.integers(-9, 9), st.floats(), st.text(max_size=1), st.none(), st.booleans())


@settings(deadline=None, max_examples=80)
@given(st.lists(CELLS, max_size=6), st.lists(st.lists(st.lists(CELLS, max_size=3), max_size=3), max_size=4))
def test_whatever_is_passed_is_read_or_refused_in_one_sentence(labels: list[Any], samples: list[Any]) -> None:
    for call in (lambda: read_labels(labels, len(labels)), lambda: read_samples(samples, None)):
        try:
            call()
        except (TypeError, ValueError) as refusal:
            assert_one_sentence(str(refusal))
