"""Messages name views, rows and columns in the user's own names, whatever the data came in."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from harmonium import Bernoulli, Categorical, Gaussian, Harmonium, Poisson, Stochastic, Views
from harmonium.exceptions import InvalidViewError
from harmonium.families import ReplicatedSoftmax
from tests.cases.bad_input import assert_one_sentence, quick, refuse, refuse_fit

PEOPLE = [f"patient_{i}" for i in range(6)]


def table(**columns: Any) -> pd.DataFrame:
    plain = {"age": [30.0, 41, 25, 60, 33, 58], "visits": [0.0, 3, 1, 0, 7, 2]}
    return pd.DataFrame({**plain, **columns}, index=PEOPLE)


def with_value(column: str, value: Any) -> pd.DataFrame:
    changed = table()
    changed.loc["patient_4", column] = value
    return changed


HERE = r"row 4 \(label 'patient_4'\)"
NAMED: dict[str, tuple[Any, Callable[[], Any], str]] = {
    "support": (Poisson(), lambda: with_value("visits", -1), f"found -1 at {HERE}, column 'visits'"),
    "infinite": ("infer", lambda: with_value("age", np.inf), f"found inf at {HERE}, column 'age'"),
    "whole_rows": (ReplicatedSoftmax(), lambda: with_value("age", np.nan), f"{HERE} has some NaN cells"),
    "never_observed": ("infer", lambda: table(age=np.nan), "column 'age' is all NaN"),
    "objects": (
        "infer",
        lambda: {"body": table(age=[1, 2, 3, 4, "old", 6]).astype(object)},
        f"'old', a str, at {HERE}, column",
    ),
    "left_out": ({"body": ["age"]}, table, "column 'visits' is in no view"),
    "twice": ({"body": ["age", "visits"], "care": ["visits"]}, table, "column 'visits' is there 2 times"),
}


@pytest.mark.parametrize("case", NAMED)
def test_rows_and_columns_are_named(case: str) -> None:
    views, make, pattern = NAMED[case]
    refuse_fit(quick(views=views), make(), InvalidViewError, pattern)


def test_codes_beyond_those_of_training_are_named() -> None:
    codes = pd.DataFrame({"ward": [0, 1, 2, 0, 1, 2]}, index=PEOPLE)
    model = quick(views=Categorical()).fit({"care": codes})
    pattern = rf"View 'care' .* codes up to 2 in column 'ward'; found 5 at {HERE}"
    changed = codes.copy()
    changed.loc["patient_4"] = 5
    refuse(lambda: model.transform({"care": changed}), InvalidViewError, pattern)


def test_slices_of_views_keep_their_labels() -> None:
    views = Views({"body": table(), "plain": np.full((6, 1), 0.5)})[[5, 4]]
    refuse(
        lambda: quick(views={"body": Gaussian(), "plain": Bernoulli()}).fit(views),
        InvalidViewError,
        r"View 'plain' is Bernoulli .* found 0.5 at row 0 \(label 'patient_5'\), column 0",
    )


def test_views_without_names_are_numbered() -> None:
    matrix = np.zeros((6, 2))
    matrix[4, 1] = -1
    for values in (matrix, scipy.sparse.csr_array(matrix), matrix.tolist()):
        refuse_fit(quick(views={"care": Poisson()}), {"care": values}, InvalidViewError, "-1 at row 4, column 1;")


# ---- arrays that are no numbers --------------------------------------------------------------------------------------
STRANGE: dict[str, tuple[Any, str]] = {
    "texts": (np.array([["x", "y"], ["z", "w"]]), "found 'x', a str, at row 0, column 0; encode it first"),
    "lists_of_texts": ([["x"], ["y"]], "found 'x', a str, at row 0, column 0"),
    "one_text": (np.array([[1, 2.0], [3, "x"]], dtype=object), "found 'x', a str, at row 1, column 1"),
    "numbers_as_text": (np.array([[1], ["2"]], dtype=object), "found '2', a str, at row 1, column 0"),
    "dates": (np.array([["2020-01-01"]], dtype="datetime64[D]"), "found '2020-01-01', a date, .* days since the first"),
    "spans": (np.array([[1], [2]], dtype="timedelta64[s]"), "found '0:00:01', a timedelta, at row 0, column 0"),
    "ragged": ([[1.0, 2.0], [3.0]], "rows of different lengths"),
    "complex": (np.ones((3, 2)) * 1j, "real numbers .* got complex128; pass real and imaginary parts"),
    "infinite": (np.array([[1.0], [np.inf]]), "found inf at row 1, column 0"),
}


@pytest.mark.parametrize("case", STRANGE)
def test_what_is_no_number_is_refused_in_a_matrix_and_in_a_dict(case: str) -> None:
    values, pattern = STRANGE[case]
    refuse_fit(quick(), values, InvalidViewError, pattern.replace("View 'a'", "View 'view0'"))
    refuse_fit(quick(), {"a": values}, InvalidViewError, f"View 'a' .*{pattern}")


@pytest.mark.parametrize("X", [np.arange(5.0), [1.0, 2.0], np.zeros((3, 2, 2)), np.array(3.0)], ids=np.ndim)
def test_a_matrix_has_two_dimensions(X: Any) -> None:
    refuse_fit(quick(), X, InvalidViewError, "X must have two dimensions, .* Reshape your data, by")


def test_a_list_of_series_is_ambiguous() -> None:
    columns = [table()["age"], table()["visits"]]
    refuse_fit(quick(), columns, InvalidViewError, "a list of series, which may be rows or columns; pass a frame")


OBJECTS = np.array([[1, 2.5], [True, None], [Decimal("0.5"), pd.NA], [np.float32(3), np.nan]], dtype=object)
NUMBERS = np.array([[1, 2.5], [1, np.nan], [0.5, np.nan], [3, np.nan]])


@pytest.mark.parametrize("form", ["matrix", "lists", "frame"])
def test_objects_that_are_numbers_are_numbers(form: str) -> None:
    values: Any = {"matrix": OBJECTS, "lists": OBJECTS.tolist(), "frame": pd.DataFrame(OBJECTS, columns=["a", "b"])}[
        form
    ]
    np.testing.assert_array_equal(Views({"a": values}).source("a").matrix, NUMBERS)
    expected = quick().fit({"view0": NUMBERS}).components_
    for X in (values, {"view0": values}):
        np.testing.assert_array_equal(quick().fit(X).components_, expected)


# ---- any table -------------------------------------------------------------------------------------------------------
TYPES = ["float64", "float32", "int64", "uint8", "bool", "Int64", "Float64", "boolean", "int8[pyarrow]", "object"]


@settings(deadline=None, max_examples=40)
@given(
    types=st.lists(st.sampled_from(TYPES), min_size=1, max_size=4),
    seed=st.integers(0, 999),
    share=st.sampled_from([0.0, 0.2]),
    labelled=st.booleans(),
    in_polars=st.booleans(),
)
def test_tables_of_any_types_are_read_or_refused(
    types: list[str], seed: int, share: float, labelled: bool, in_polars: bool
) -> None:
    """Numbers come out as they went in, missing cells are NaN, and names of rows and columns are kept."""
    rng = np.random.default_rng(seed)
    names = [f"column_{i}" for i in range(len(types))]
    values = rng.integers(0, 2, size=(8, len(types))).astype(float)
    nullable = [kind not in ("int64", "uint8", "bool") for kind in types]
    values[(rng.random(values.shape) < share) & nullable] = np.nan
    columns = {
        name: pd.Series(values[:, i]).astype("Int64" if "pyarrow" in kind else "float64").astype(kind)  # type: ignore[call-overload]
        for i, (name, kind) in enumerate(zip(names, types, strict=True))
    }
    index = [f"row_{i}" for i in range(8)]
    frame: Any = pd.DataFrame(columns)
    if labelled:
        frame.index = index
    if in_polars:
        frame = pl.from_pandas(frame.reset_index(drop=True).astype(dict.fromkeys(names, "float64")))
    views = Views({"view0": frame})
    np.testing.assert_array_equal(views.source("view0").matrix, values)
    assert views.source("view0").columns == names
    assert (views.index is not None and views.index.tolist() == index) if labelled and not in_polars else True
    model = Harmonium(2, driver=Stochastic(max_iter=1), random_state=0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            model.fit(frame)
        except InvalidViewError as error:
            assert_one_sentence(str(error))
            assert np.isnan(values).all(axis=0).any()
            return
    lacking = np.isnan(values).all(axis=1).sum()
    assert any(f"{lacking} of 8 rows lack every view" in str(notice.message) for notice in caught) == bool(lacking)
    assert model.fitted_.feature_names == {"view0": names}
