"""Rows of views go by their labels where they have some: frames with an index, series, AnnData."""

from __future__ import annotations

import warnings
from typing import Any

import anndata
import mudata
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import cross_val_score

from harmonium import HarmoniumClassifier, HarmoniumWarning, Stochastic, Views
from harmonium.exceptions import InvalidViewError
from tests.cases.bad_input import N_ROWS, binary, quick, real, refuse, refuse_fit

PEOPLE = [f"patient_{i}" for i in range(N_ROWS)]
SHUFFLED = np.random.default_rng(0).permutation(N_ROWS)


def words() -> pd.DataFrame:
    return pd.DataFrame(binary(), index=PEOPLE, columns=list("abcdef"))


def colour() -> pd.DataFrame:
    return pd.DataFrame(real(), index=PEOPLE, columns=["red", "green", "blue"])


@pytest.fixture(scope="module")
def expected() -> np.ndarray:
    X = {"words": binary(), "colour": real()}
    return quick().fit(X).transform(X)


def test_the_same_labels_in_another_order_are_put_in_order(expected: np.ndarray) -> None:
    X = {"words": words(), "colour": colour().iloc[SHUFFLED]}
    np.testing.assert_array_equal(quick().fit(X).transform(X), expected)
    views = Views(X)
    assert views.index is not None and views.index.tolist() == PEOPLE
    # rows follow the first view that has labels, wherever it stands
    third = Views({"plain": real(), "colour": colour().iloc[SHUFFLED], "words": words()})
    assert third.index is not None and third.index.tolist() == [PEOPLE[i] for i in SHUFFLED]
    np.testing.assert_array_equal(third.source("words").rows, SHUFFLED)
    np.testing.assert_array_equal(third.source("plain").rows, np.arange(N_ROWS))


def test_other_labels_are_refused() -> None:
    other = colour().rename(index={"patient_3": "patient_99"})
    refuse_fit(
        quick(),
        {"words": words(), "colour": other},
        InvalidViewError,
        "View 'colour' must name the same rows as view 'words'; its index lacks 'patient_3'",
    )


def test_repeated_labels_go_only_in_the_same_order() -> None:
    visits = [f"patient_{i // 2}" for i in range(N_ROWS)]
    X = {"words": words().set_axis(visits), "colour": colour().set_axis(visits)}
    np.testing.assert_array_equal(Views(X).source("colour").rows, np.arange(N_ROWS))
    X["colour"] = X["colour"].iloc[::-1]
    refuse(lambda: Views(X), InvalidViewError, "'patient_0' is twice|'patient_14' is twice")


def test_an_index_that_counts_goes_by_position(expected: np.ndarray) -> None:
    counted = colour().reset_index(drop=True)
    for X in (
        {"words": words(), "colour": counted},
        {"words": words(), "colour": pl.from_pandas(counted)},
        {"words": words(), "colour": real()},
    ):
        np.testing.assert_array_equal(quick().fit(X).transform(X), expected)
    assert Views({"colour": counted}).index is None


def test_shuffled_rows_beside_counted_ones_are_told_of() -> None:
    counted = {"words": words().reset_index(drop=True), "colour": colour().reset_index(drop=True)}
    shuffled = {**counted, "colour": counted["colour"].iloc[SHUFFLED]}
    with pytest.warns(HarmoniumWarning, match="View 'words' has no labels but .* goes by position") as notices:
        views = Views(shuffled)
    assert len(notices) == 1 and notices[0].filename == __file__
    np.testing.assert_array_equal(views.source("colour").rows, np.arange(N_ROWS))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Views(counted)
        Views({"words": binary(), "colour": shuffled["colour"]})
        Views({name: table.iloc[SHUFFLED] for name, table in counted.items()})


def test_a_mask_with_labels_is_put_in_order_too() -> None:
    has_colour = pd.Series(np.arange(N_ROWS) % 3 > 0, index=PEOPLE)
    views = Views({"words": words(), "colour": colour()}, present={"colour": has_colour.iloc[SHUFFLED]})
    np.testing.assert_array_equal(views.source("colour").rows >= 0, has_colour)


def test_labels_can_be_given() -> None:
    views = Views({"words": binary(), "colour": colour().iloc[SHUFFLED]}, index=PEOPLE)
    np.testing.assert_array_equal(views.source("colour").rows, np.argsort(SHUFFLED))
    assert views[[3, 1]].index.tolist() == ["patient_3", "patient_1"]  # type: ignore[union-attr]
    assert views.without("words").index is views.index
    refuse(lambda: Views({"words": binary()}, index=PEOPLE[:4]), InvalidViewError, "a label for each of the 30 rows")


def test_a_series_is_aligned_too() -> None:
    age = pd.Series(np.arange(30.0), index=PEOPLE, name="age")
    views = Views({"words": words(), "age": age.iloc[SHUFFLED]})
    np.testing.assert_array_equal(views.source("age").matrix[views.source("age").rows, 0], age)
    assert views.source("age").columns == ["age"]


def test_anndata_and_frames_go_together(expected: np.ndarray) -> None:
    cells = anndata.AnnData(binary(), obs=pd.DataFrame(index=PEOPLE))
    X = {"words": cells, "colour": colour().iloc[SHUFFLED]}
    np.testing.assert_array_equal(quick().fit(X).transform(X), expected)
    shuffled = anndata.AnnData(real()[SHUFFLED], obs=pd.DataFrame(index=colour().index[SHUFFLED]))
    X = {"words": words(), "colour": shuffled}
    np.testing.assert_array_equal(quick().fit(X).transform(X), expected)
    # names that AnnData made up are none
    X = {"words": anndata.AnnData(binary()), "colour": colour()}
    np.testing.assert_array_equal(quick().fit(X).transform(X), expected)


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_frames_carry_the_labels() -> None:
    inputs: dict[str, Any] = {
        "frames": {"words": words(), "colour": colour()},
        "mixed": {"words": binary(), "colour": colour()},
        "views": Views({"words": binary(), "colour": colour()}),
        "mudata": mudata.MuData(
            {
                "words": anndata.AnnData(binary(), obs=pd.DataFrame(index=PEOPLE)),
                "colour": anndata.AnnData(real(), obs=pd.DataFrame(index=PEOPLE)),
            }
        ),
    }
    for X in inputs.values():
        latent = quick().set_output(transform="pandas").fit(X).transform(X)
        assert latent.index.tolist() == PEOPLE
        assert latent.columns.tolist() == ["topic_0", "topic_1", "topic_2"]
        assert quick().set_output(transform="pandas").fit_transform(X).index.tolist() == PEOPLE
    assert quick().set_output(transform="pandas").fit_transform(colour()).index.tolist() == PEOPLE
    assert quick().set_output(transform="polars").fit_transform(inputs["frames"]).shape == (N_ROWS, 3)
    assert isinstance(quick().fit_transform(inputs["frames"]), np.ndarray)


def test_cross_validation_keeps_rows_together() -> None:
    y = pd.Series((real()[:, 0] > 0).astype(int), index=PEOPLE)
    views = Views({"words": words(), "colour": colour().iloc[SHUFFLED]})
    model = HarmoniumClassifier(2, driver=Stochastic(max_iter=5), random_state=0)
    plain = Views({"words": binary(), "colour": real()})
    np.testing.assert_array_equal(cross_val_score(model, views, y, cv=3), cross_val_score(model, plain, y, cv=3))


LABELS = st.lists(st.one_of(st.integers(-5, 5), st.text(max_size=2)), min_size=4, max_size=8)


@settings(deadline=None, max_examples=60)
@given(labels=LABELS, seed=st.integers(0, 99), lost=st.booleans(), kind=st.sampled_from([int, float, bool]))
def test_any_index_is_aligned_or_refused(labels: list[Any], seed: int, lost: bool, kind: Any) -> None:
    """Rows of equal labels stand beside each other afterwards, or the views are refused in one sentence."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(labels))
    first = pd.DataFrame({"a": np.arange(len(labels)), "b": rng.normal(size=len(labels))}, index=pd.Index(labels))
    second = pd.DataFrame({"c": order.astype(kind), "d": order}, index=pd.Index([labels[i] for i in order]))
    if lost:
        second = second.rename(index={labels[0]: "another label"})
    try:
        views = Views({"first": first, "second": second})
    except InvalidViewError as error:
        unique = len(set(labels)) == len(labels)
        assert lost or not unique or first.index.nunique() < len(labels)
        assert "View 'second' must name the same rows as view 'first'" in str(error)
        return
    paired = [views.source(name).matrix[views.source(name).rows] for name in ("first", "second")]
    if first.index.is_unique:
        np.testing.assert_array_equal(paired[0][:, 0], paired[1][:, 1])


def test_equal_numbers_of_rows_need_no_notice_and_shuffled_ones_need_one() -> None:
    counted = pd.DataFrame(real(2), columns=["a", "b"])
    same = pd.DataFrame(real(2), columns=["c", "d"], index=pd.Index(list(range(len(counted)))))
    with warnings.catch_warnings():
        warnings.simplefilter("error", HarmoniumWarning)
        quick().fit_transform({"x": counted, "y": same})
    for call in (quick().fit, quick().fit_transform):
        with pytest.warns(HarmoniumWarning, match="in another order") as notices:
            call({"x": counted, "y": same[::-1]})
        assert len(notices) == 1
