"""Values outside their support, and views, rows and columns that are not there, are refused by fit."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse

from harmonium import Bernoulli, Categorical, Columns, Gaussian, Poisson, Views
from harmonium.exceptions import InvalidViewError
from harmonium.families import Binomial, Family, NegativeBinomial, ReplicatedSoftmax
from tests.cases.bad_input import N_ROWS, assert_unchanged, at, binary, quick, real, refuse, refuse_fit, snapshot

# ---- support ---------------------------------------------------------------------------------------------------------
OUTSIDE: list[tuple[Family, float, str, str]] = [
    (Bernoulli(), 7, "0 or 1", "Poisson() for counts"),
    (Bernoulli(), 0.5, "0 or 1", "Gaussian() for real numbers"),
    (Poisson(), -1, "whole numbers from 0 up", "Gaussian() for real numbers"),
    (Poisson(), 1.5, "whole numbers from 0 up", "Gaussian() for real numbers"),
    (NegativeBinomial(), 2.5, "whole numbers from 0 up", "Gaussian() for real numbers"),
    (ReplicatedSoftmax(), -3, "whole numbers from 0 up", "Gaussian() for real numbers"),
    (Binomial(4), 5, "whole numbers from 0 to 4", "Poisson() for counts"),
    (Categorical(), 0.5, "category codes 0, 1, 2, …", "Gaussian() for real numbers"),
    (Categorical(), -1, "category codes 0, 1, 2, …", "Gaussian() for real numbers"),
]


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize(("family", "value", "needs", "instead"), OUTSIDE, ids=str)
def test_values_outside_the_support(family: Family, value: float, needs: str, instead: str, sparse: bool) -> None:
    matrix = at(np.zeros((N_ROWS, 20)), 5, 1, 1.0)
    values: Any = at(matrix.copy(), 3, 12, value)
    if sparse:
        values, matrix = scipy.sparse.csr_array(values), scipy.sparse.csr_array(matrix)
    sentence = (
        f"View 'text' is {type(family).__name__} and needs {needs}; found {value:g} at row 3, column 12; "
        f"pass {instead}, or transform the view first."
    )
    refuse_fit(quick(views={"text": family}), {"text": values}, InvalidViewError, "^" + re.escape(sentence) + "$")
    model = quick(views={"text": family}).fit({"text": matrix})
    before = snapshot(model)
    for method in ("transform", "score", "score_samples", "reconstruct", "partial_fit"):
        refuse(lambda method=method: getattr(model, method)({"text": values}), InvalidViewError, "at row 3, column 12")
        assert_unchanged(model, before)


def test_the_row_is_that_of_the_items_passed() -> None:
    X = Views({"text": at(binary(), 20, 2, 9)})
    refuse(lambda: quick(views=[Bernoulli()]).fit(X[10:]), InvalidViewError, "row 10, column 2")


def test_codes_a_model_has_not_seen() -> None:
    codes = np.random.default_rng(0).integers(3, size=(N_ROWS, 2))
    model = quick(views=Categorical()).fit(codes)
    unseen = codes.copy()
    unseen[4, 1] = 3
    for X in (unseen, scipy.sparse.csr_array(unseen)):
        refuse(lambda X=X: model.transform(X), InvalidViewError, r"codes up to 2 in column 1; found 3 at row 4")
    refuse_fit(quick(views=Categorical(3)), unseen, ValueError, "column 1 has code 3")


def test_some_missing_counts_of_a_row_have_no_total() -> None:
    counts = at(binary(), 7, 1, np.nan)
    refuse_fit(
        quick(views={"x": ReplicatedSoftmax()}), {"x": counts}, InvalidViewError, "View 'x' .* row 7 has some NaN"
    )
    model = quick(views={"x": ReplicatedSoftmax()}).fit({"x": binary()})
    refuse(lambda: model.transform({"x": counts}), InvalidViewError, "row 7 has some NaN")


# ---- what is not there -----------------------------------------------------------------------------------------------
def nothing(n_rows: int, n_columns: int) -> np.ndarray:
    return np.full((n_rows, n_columns), np.nan)


FIT_REFUSALS: dict[str, tuple[Any, str]] = {
    "rows_without_views": ({"a": nothing(N_ROWS, 1), "b": nothing(N_ROWS, 2)}, "all 30 rows lack every view"),
    "view_without_rows": ({"a": real(), "b": nothing(N_ROWS, 2)}, "View 'b' must be there for at least one item"),
    "column_never_seen": (
        {"a": np.where([[False, True, False]], np.nan, real())},
        "Every column of view 'a' .* column 1 is all NaN",
    ),
    "no_columns": ({"a": real(), "b": np.empty((N_ROWS, 0))}, "View 'b' must have at least one column"),
    "no_columns_sparse": ({"b": scipy.sparse.csr_array((N_ROWS, 0))}, "View 'b' must have at least one column"),
    "no_columns_frame": ({"b": pd.DataFrame(index=range(N_ROWS))}, "View 'b' must have at least one column"),
    "no_rows": ({"a": np.empty((0, 3))}, "at least one row"),
    "no_rows_sparse": ({"a": scipy.sparse.csr_array((0, 3))}, "at least one row"),
    "no_rows_frame": (pd.DataFrame({"a": np.empty(0)}), "at least one row"),
    "no_rows_left": (Views({"a": real()})[:0], "at least one row"),
    "no_views": ({}, "At least one view is needed"),
    "only_none": ({"a": None}, "At least one view is needed"),
    "lengths": ({"a": real(), "b": binary(n_rows=29)}, "All views must have one row per item.*'a' has 30, 'b' has 29"),
    "infinite": ({"a": at(real(), 2, 1, np.inf)}, "View 'a' must hold finite values .* found inf at row 2, column 1"),
    "minus_infinite": ({"a": at(real(), 2, 1, -np.inf)}, "found -inf at row 2, column 1"),
    "too_large": ({"a": at(real(), 2, 1, 1e30)}, r"found 1e\+30 at row 2, column 1"),
    "sparse_nan": ({"a": scipy.sparse.csr_array(at(binary(12), 2, 1, np.nan) * (real(12) > 1))}, "mark missing rows"),
    "sparse_infinite": ({"a": scipy.sparse.csr_array(at(np.zeros((N_ROWS, 4)), 2, 1, np.inf))}, "is sparse and must"),
    "one_dimension": ({"a": np.arange(30.0)}, "View 'a' must be a matrix .* shape \\(30,\\)"),
    "three_dimensions": ({"a": np.zeros((30, 2, 2))}, "View 'a' must be a matrix"),
    "a_number": ({"a": 3.0}, "View 'a' must be a matrix"),
    "ragged": ({"a": [[1.0], [1.0, 2.0]]}, "rows of different lengths"),
    "series": (pd.Series(np.arange(30.0)), "X must have two dimensions, .* a series, which may be a row or a column"),
    "sparse_vector": ({"a": scipy.sparse.coo_array(np.arange(30.0))}, "View 'a' must be a matrix"),
    "list_with_vector": ([real(), np.arange(30.0)], "View 'view1' must be a matrix"),
    "text": ({"a": np.array([["x"], ["y"]])}, "View 'a' must hold real numbers"),
    "objects": ({"a": np.array([[None], [{}]])}, "View 'a' must hold real numbers"),
    "complex": ({"a": real() * 1j}, "View 'a' must hold real numbers"),
    "dates": ({"a": np.array([["2020-01-01"]], dtype="datetime64[D]")}, "View 'a' must hold real numbers"),
    "text_column": ({"v": pd.DataFrame({"a": ["x", "y"]})}, "column 'a' is String"),
    "category_column": ({"v": pd.DataFrame({"a": pd.Categorical(["x", "y"])})}, "column 'a' is Categorical"),
    "date_column": ({"v": pl.DataFrame({"a": pd.to_datetime(["2020-01-01"])})}, "column 'a' is Datetime"),
    "same_column_twice": (pd.DataFrame(real(2), columns=["a", "a"]), "different names"),
    "dot_in_name": ({"a.b": real()}, "must not contain a dot"),
    "name_of_the_layer": ({"hidden": real()}, "must not be named 'hidden'"),
    "same_name": ({1: real(), "1": real()}, "must differ as text"),
}


@pytest.mark.parametrize("case", FIT_REFUSALS)
def test_fit_refuses(case: str) -> None:
    X, pattern = FIT_REFUSALS[case]
    refuse_fit(quick(), X, InvalidViewError, pattern)


def test_text_is_not_data() -> None:
    refuse_fit(quick(), "some words", TypeError, "got str; pass a list of texts")


def test_views_container_refuses() -> None:
    refuse(lambda: Views(real()), TypeError, "got ndarray")  # type: ignore[arg-type]
    refuse(lambda: Views({"a": real()}, present={"b": np.ones(30, bool)}), InvalidViewError, "present may only name")
    refuse(lambda: Views({"a": real()}, present={"a": np.ones(3, bool)}), InvalidViewError, r"got shape \(3,\)")
    refuse(lambda: Views({"a": real()}, present={"a": np.ones(30)}), InvalidViewError, "boolean mask")
    refuse(lambda: Views({"a": real()}, feature_names={"a": ["x"]}), InvalidViewError, "one feature name per column, 3")


SPEC_REFUSALS: dict[str, tuple[Any, type[Exception], str]] = {
    "unknown_view": ({"b": Bernoulli()}, InvalidViewError, r"views may only name views of the data \('a'\); got 'b'"),
    "class": ({"a": Bernoulli}, TypeError, "got the class Bernoulli; add parentheses"),
    "word": (
        {"a": "normal"},
        TypeError,
        r"views\['a'\] must be a family, columns, 'infer', or one of 'balanced', 'bernoulli', ",
    ),
    "misspelt_word": ({"a": "gausian"}, TypeError, r"got 'gausian' \(did you mean 'gaussian'\?\); pass for example"),
    "word_that_is_not_enough": ({"a": "binomial"}, TypeError, r"got 'binomial'; pass for example Bernoulli\(\)"),
    "number": ({"a": 3}, TypeError, r"views\['a'\] must be a family"),
    "word_alone": ("guess", ValueError, "views 'infer', a family"),
    "too_many": ([Gaussian(), Gaussian()], ValueError, "a family for each of the 1 views; got 2"),
    "columns_of_no_family": ({"a": Columns(slice(0, 3), "gauss")}, TypeError, r"views\['a'\] must be a family"),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("case", SPEC_REFUSALS)
def test_specification_of_views_is_checked(case: str) -> None:
    spec, kind, pattern = SPEC_REFUSALS[case]
    refuse_fit(quick(views=spec), {"a": real()}, kind, pattern)


COLUMN_REFUSALS: dict[str, tuple[Any, str]] = {
    "left_out": ({"a": slice(0, 2)}, "column 2 is in no view"),
    "twice": ({"a": slice(0, 2), "b": slice(1, 3)}, "column 1 is there 2 times"),
    "twice_in_one": ({"a": [0, 1, 1, 2]}, "column 1 is there 2 times"),
    "none": ({"a": slice(0, 3), "b": []}, "View 'b' must have at least one column"),
    "beyond": ({"a": [0, 1, 3]}, "columns below 3; got 3"),
    "before": ({"a": [0, 1, -4]}, "columns below 3; got -4"),
    "names": ({"a": ["x", "y", "z"]}, "no column 'x'"),
    "fractions": ({"a": [0.0, 1.0, 2.5]}, "needs columns as a slice"),
    "short_mask": ({"a": [True, False]}, "needs columns as a slice"),
}


@pytest.mark.parametrize("case", COLUMN_REFUSALS)
def test_columns_are_checked(case: str) -> None:
    spec, pattern = COLUMN_REFUSALS[case]
    refuse_fit(quick(views=spec), real(), InvalidViewError, pattern)
