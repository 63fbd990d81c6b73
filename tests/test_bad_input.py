"""Bad input gets one sentence: what must hold, what was got, what to do; and a refused call changes nothing."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from harmonium import (
    LBFGS,
    Bernoulli,
    Binomial,
    BinomialUnits,
    Categorical,
    Columns,
    DivergenceError,
    Family,
    Gaussian,
    GaussianUnits,
    Harmonium,
    IncompatiblePartsError,
    InvalidViewError,
    MeanFieldCD,
    NegativeBinomial,
    PersistentCD,
    Poisson,
    ReplicatedSoftmax,
    SampledCD,
    Stochastic,
    Views,
)

N_ROWS = 30


def quick(**keywords: Any) -> Harmonium:
    defaults: dict[str, Any] = {"n_components": 3, "driver": Stochastic(max_iter=2, batch_size=10), "random_state": 0}
    return Harmonium(**{**defaults, **keywords})


def binary(n_columns: int = 6, n_rows: int = N_ROWS) -> np.ndarray:
    return (np.random.default_rng(0).random((n_rows, n_columns)) < 0.4).astype(np.float64)


def real(n_columns: int = 3, n_rows: int = N_ROWS) -> np.ndarray:
    return np.random.default_rng(1).normal(size=(n_rows, n_columns))


def at(matrix: np.ndarray, row: int, column: int, value: float) -> np.ndarray:
    """The matrix with one value replaced."""
    matrix[row, column] = value
    return matrix


def assert_one_sentence(message: str) -> None:
    assert message.endswith("."), message
    # a full stop, or the like, followed by a capital would begin a second one
    assert not re.search(r"[.!?]\s+[A-Z]", message), message
    assert len(re.findall("[;:] ", message)) >= 2, f"says what must hold, what was got and what to do: {message}"
    assert "\n" not in message


def snapshot(model: Harmonium) -> dict[str, Any]:
    return deepcopy(vars(model))


def assert_unchanged(model: Harmonium, before: dict[str, Any]) -> None:
    assert list(vars(model)) == list(before)
    for name in ("n_features_in_", "n_iter_", "history_", "feature_names_"):
        assert vars(model).get(name) == before.get(name)
    for name in model.get_params(deep=False):
        assert repr(getattr(model, name)) == repr(before[name])
    if "_training" in before:
        assert list(model.families_) == list(before["families_"])
        assert model._training.n_updates == before["_training"].n_updates
        assert model._stream.bit_generator.state == before["_stream"].bit_generator.state
        for name, value in before["_training"].parameters.items():
            np.testing.assert_array_equal(model.parameters_[name], value)


def refuse(call: Callable[[], Any], kind: type[Exception], pattern: str) -> None:
    with pytest.raises(kind, match=pattern) as refusal:
        call()
    assert_one_sentence(str(refusal.value))


def refuse_fit(model: Harmonium, X: Any, kind: type[Exception], pattern: str) -> None:
    """Refused by fit and partial_fit, of a new model and of a fitted one, none of which it changes."""
    for fitted in (False, True):
        tried = deepcopy(model)
        if fitted:
            good = quick().fit(real(2))
            vars(tried).update({name: value for name, value in vars(good).items() if name not in vars(tried)})
        before = snapshot(tried)
        refuse(lambda tried=tried: tried.fit(X), kind, pattern)  # type: ignore[misc]
        assert_unchanged(tried, before)
    before = snapshot(model)
    if hasattr(model, "partial_fit"):
        refuse(lambda: model.partial_fit(X), kind, pattern)
        assert_unchanged(model, before)


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
    "row_without_views": ({"a": at(nothing(N_ROWS, 1), 0, 0, 1.0)}, "Every row must have at least one view; row 1"),
    "row_without_both": (
        {"a": np.where(np.arange(N_ROWS)[:, None] == 4, np.nan, real()), "b": nothing(N_ROWS, 2)},
        "row 4 has none",
    ),
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
    "series": ({"a": pd.Series(np.arange(30.0))}, "View 'a' must be a matrix"),
    "sparse_vector": ({"a": scipy.sparse.coo_array(np.arange(30.0))}, "View 'a' must be a matrix"),
    "list_with_vector": ([real(), np.arange(30.0)], "View 'view1' must be a matrix"),
    "text": ({"a": np.array([["x"], ["y"]])}, "View 'a' must hold real numbers"),
    "objects": ({"a": np.array([[None], [{}]])}, "View 'a' must hold real numbers"),
    "complex": ({"a": real() * 1j}, "View 'a' must hold real numbers"),
    "dates": ({"a": np.array([["2020-01-01"]], dtype="datetime64[D]")}, "View 'a' must hold real numbers"),
    "text_column": (pd.DataFrame({"a": ["x", "y"]}), "column 'a' is String"),
    "category_column": ({"v": pd.DataFrame({"a": pd.Categorical(["x", "y"])})}, "column 'a' is Categorical"),
    "date_column": (pl.DataFrame({"a": pd.to_datetime(["2020-01-01"])}), "column 'a' is Datetime"),
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
    refuse_fit(quick(), "some words", TypeError, "got str; turn text into counts first")


def test_views_container_refuses() -> None:
    refuse(lambda: Views(real()), TypeError, "got ndarray")  # type: ignore[arg-type]
    refuse(lambda: Views({"a": real()}, present={"b": np.ones(30, bool)}), InvalidViewError, "present may only name")
    refuse(lambda: Views({"a": real()}, present={"a": np.ones(3, bool)}), InvalidViewError, r"got shape \(3,\)")
    refuse(lambda: Views({"a": real()}, present={"a": np.ones(30)}), InvalidViewError, "boolean mask")
    refuse(lambda: Views({"a": real()}, feature_names={"a": ["x"]}), InvalidViewError, "one feature name per column, 3")


SPEC_REFUSALS: dict[str, tuple[Any, type[Exception], str]] = {
    "unknown_view": ({"b": Bernoulli()}, InvalidViewError, r"views may only name views of the data \('a'\); got 'b'"),
    "class": ({"a": Bernoulli}, TypeError, "got the class Bernoulli; add parentheses"),
    "word": ({"a": "bernoulli"}, TypeError, r"views\['a'\] must be a family"),
    "number": ({"a": 3}, TypeError, r"views\['a'\] must be a family"),
    "word_alone": ("guess", ValueError, "views must be 'infer'"),
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


# ---- parts -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("family", [Poisson(), NegativeBinomial()], ids=str)
def test_what_cannot_be_normalised_is_refused(family: Family) -> None:
    model = quick(hidden=GaussianUnits(), views={"a": family})
    pattern = f"View 'a' is {type(family).__name__} and cannot be normalised with GaussianUnits"
    refuse_fit(model, {"a": binary()}, IncompatiblePartsError, pattern)


PART_REFUSALS: list[tuple[dict[str, Any], str]] = [
    ({"hidden": GaussianUnits(n_units=0)}, "GaussianUnits needs a whole number n_units >= 1; got 0"),
    ({"hidden": GaussianUnits(n_units=2.5)}, "n_units >= 1; got 2.5"),  # type: ignore[arg-type]
    ({"hidden": GaussianUnits(variance=-1)}, "variance > 0; got -1"),
    ({"hidden": GaussianUnits(variance="big")}, "variance > 0; got 'big'"),  # type: ignore[arg-type]
    ({"hidden": BinomialUnits(M=0)}, "BinomialUnits needs a whole number M >= 1; got 0"),
    ({"views": Gaussian(variance=0)}, "variance > 0; got 0"),
    ({"views": Gaussian(variance=None)}, "variance > 0; got None"),  # type: ignore[arg-type]
    ({"views": Binomial(n=0.5)}, "Binomial needs"),  # type: ignore[arg-type]
    ({"views": NegativeBinomial(r=np.nan)}, "r > 0; got nan"),
    ({"views": Categorical([2, 2])}, "n_categories"),
    ({"views": Categorical("many")}, "n_categories"),  # type: ignore[arg-type]
    ({"objective": SampledCD(n_steps=0)}, "SampledCD needs a whole number n_steps >= 1; got 0"),
    ({"objective": PersistentCD(n_steps="one")}, "n_steps >= 1; got 'one'"),  # type: ignore[arg-type]
    ({"objective": MeanFieldCD(n_steps=None)}, "n_steps >= 1; got None"),  # type: ignore[arg-type]
    ({"driver": Stochastic(max_iter=0)}, "max_iter >= 1; got 0"),
    ({"driver": Stochastic(batch_size="all")}, "batch_size >= 1; got 'all'"),  # type: ignore[arg-type]
    ({"driver": Stochastic(learning_rate=0)}, "learning_rate > 0; got 0"),
    ({"driver": Stochastic(learning_rate=np.nan)}, "learning_rate > 0; got nan"),
    ({"driver": Stochastic(weight_decay=-1)}, "weight_decay >= 0; got -1"),
    ({"driver": Stochastic(schedule="never")}, "schedule must be one of"),  # type: ignore[arg-type]
    ({"driver": Stochastic(early_stopping=True)}, "early_stopping must be None or one of"),  # type: ignore[arg-type]
    ({"driver": Stochastic(validation_fraction=1)}, "validation_fraction must lie between 0 and 1"),
    ({"driver": Stochastic(patience=0)}, "patience >= 1"),
    ({"driver": Stochastic(optimiser="adam")}, "optimiser must be"),  # type: ignore[arg-type]
    ({"driver": LBFGS(max_iter=0), "objective": MeanFieldCD()}, "LBFGS needs a whole number max_iter >= 1; got 0"),
    ({"driver": LBFGS(batch_size=0), "objective": MeanFieldCD()}, "batch_size >= 1; got 0"),
    ({"driver": LBFGS()}, "LBFGS needs an objective with a loss; SampledCD"),
    ({"n_jobs": 0}, "n_jobs must be a positive number"),
]


@pytest.mark.parametrize(("parameters", "pattern"), PART_REFUSALS, ids=lambda value: str(value)[:50])
def test_settings_of_parts_are_checked(parameters: dict[str, Any], pattern: str) -> None:
    refuse_fit(quick(**parameters), np.zeros((N_ROWS, 1)), Exception, pattern)


@pytest.mark.parametrize(
    "parameters",
    [
        {"n_components": 0},
        {"n_components": 2.5},
        {"views": 3},
        {"hidden": BinomialUnits},
        {"hidden": "gaussian"},
        {"objective": "cd"},
        {"driver": "adam"},
        {"output": "means"},
        {"warm_start": "yes"},
        {"random_state": "seed"},
        {"n_jobs": 1.5},
        {"verbose": "loud"},
    ],
    ids=str,
)
def test_wrong_kinds_of_parameters(parameters: dict[str, Any]) -> None:
    # these sentences are scikit-learn's own
    model = quick(**parameters)
    before = snapshot(model)
    for method in ("fit", "partial_fit"):
        with pytest.raises(ValueError, match=f"The '{next(iter(parameters))}' parameter of Harmonium must be"):
            getattr(model, method)(real())
        assert list(vars(model)) == list(before)


# ---- a fitted model --------------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def fitted() -> Harmonium:
    words = pd.DataFrame(binary(), columns=list("abcdef"))
    return quick().fit({"words": words, "colour": real()})


CALL_REFUSALS: dict[str, tuple[Any, str]] = {
    "unknown_view": ({"sound": real()}, "The model has the views 'words', 'colour'; got 'sound'"),
    "width": ({"colour": real(4)}, "View 'colour' was fitted with 3 columns; got 4"),
    "one_matrix": (real(9), "fitted on the views 'words', 'colour'; got one matrix"),
    "support": ({"words": binary() * 2}, "View 'words' is Bernoulli and needs 0 or 1; found 2"),
    "row_without_views": ({"colour": np.full((2, 3), np.nan)}, "row 0 has none"),
    "no_rows": ({"colour": np.empty((0, 3))}, "at least one row"),
    "lengths": ({"words": binary(), "colour": real(n_rows=3)}, "one row per item"),
    "order_of_columns": (
        {"words": pd.DataFrame(binary(), columns=list("abcdfe"))},
        "View 'words' must have the columns it was fitted on, in the same order; got 'f' in place of 'e'",
    ),
    "no_views": ({}, "At least one view"),
}


@pytest.mark.parametrize("method", ["transform", "score", "score_samples", "reconstruct", "partial_fit"])
@pytest.mark.parametrize("case", CALL_REFUSALS)
def test_calls_are_refused_and_change_nothing(fitted: Harmonium, case: str, method: str) -> None:
    X, pattern = CALL_REFUSALS[case]
    before = snapshot(fitted)
    refuse(lambda: getattr(fitted, method)(X), InvalidViewError, pattern)
    assert_unchanged(fitted, before)


def test_predict_view_refuses(fitted: Harmonium) -> None:
    refuse(
        lambda: fitted.predict_view("sound", {"colour": real()}), ValueError, "view must be one of 'words', 'colour'"
    )
    refuse(lambda: fitted.predict_view("colour", {"colour": real()}), ValueError, "needs another view")
    refuse(lambda: fitted.predict_view("words", {"colour": real(4)}), InvalidViewError, "fitted with 3 columns")
    refuse(lambda: fitted.predict_view("words", {"colour": real()}, n_iterations=0), ValueError, "n_iterations >= 1")
    # the view that is predicted is not looked at
    assert fitted.predict_view("words", {"colour": real(), "words": np.full((N_ROWS, 2), 7)}).shape == (N_ROWS, 6)


def test_other_methods_refuse(fitted: Harmonium) -> None:
    refuse(lambda: fitted.topics("sound"), ValueError, "view must be one of")
    refuse(lambda: fitted.topics(), ValueError, "With several views one has to be named")
    refuse(lambda: fitted.inverse_transform(real(5)), ValueError, "X must have 3 columns, one per topic; got 5")
    refuse(lambda: fitted.sample(0), ValueError, "n_samples >= 1; got 0")
    refuse(lambda: fitted.log_partition(method="guess"), ValueError, "method must be 'ais', 'exact' or 'naive'")  # type: ignore[arg-type]


def test_width_of_one_matrix_is_checked_by_scikit_learn() -> None:
    model = quick().fit(real())
    with pytest.raises(ValueError, match="X has 4 features, but Harmonium is expecting 3 features as input"):
        model.transform(real(4))


# ---- data at the border ----------------------------------------------------------------------------------------------
@pytest.mark.parametrize("family", ["infer", Gaussian(variance="learn"), Categorical(), ReplicatedSoftmax()], ids=str)
@pytest.mark.parametrize("value", [0, 1, 7])
@pytest.mark.parametrize("hidden", [None, GaussianUnits()], ids=["binary", "real"])
def test_columns_that_never_vary(value: int, family: Any, hidden: Any) -> None:
    constant = np.full((N_ROWS, 2), value)
    model = quick(views={"a": family}, hidden=hidden).fit({"a": constant, "b": real()})
    assert np.isfinite(model.transform({"a": constant})).all()
    assert np.isfinite(model.predict_view("a", {"b": real()})).all()


@pytest.mark.parametrize("driver", [Stochastic(max_iter=3), LBFGS(max_iter=3)], ids=lambda part: type(part).__name__)
@pytest.mark.parametrize("make", [binary, real])
def test_one_row_is_enough(make: Callable[..., np.ndarray], driver: Any) -> None:
    X = make(n_rows=1)
    model = quick(driver=driver, objective=MeanFieldCD()).fit(X)
    assert np.isfinite(model.transform(X)).all()
    assert np.isfinite(model.score(X))


def test_early_stopping_needs_a_row_to_spare() -> None:
    model = quick(driver=Stochastic(max_iter=3, early_stopping="reconstruction"))
    refuse_fit_only(model, real(n_rows=1), "early_stopping needs at least 2 rows; got 1")
    assert np.isfinite(model.fit_transform(real(n_rows=2))).all()


def refuse_fit_only(model: Harmonium, X: Any, pattern: str) -> None:
    before = snapshot(model)
    refuse(lambda: model.fit(X), ValueError, pattern)
    assert_unchanged(model, before)


# ---- divergence ------------------------------------------------------------------------------------------------------
DIVERGING: list[tuple[dict[str, Any], np.ndarray]] = [
    ({}, binary()),
    ({}, real()),
    ({"hidden": GaussianUnits()}, real()),
    ({"hidden": BinomialUnits()}, 3 * binary()),
    ({"views": {"text": NegativeBinomial()}}, 3 * binary()),
    ({"views": {"text": ReplicatedSoftmax()}}, 3 * binary()),
]


@pytest.mark.parametrize("learning_rate", [1e5, 1e30])
@pytest.mark.parametrize(("parameters", "values"), DIVERGING, ids=lambda value: str(value)[:40])
def test_divergence_names_the_view_and_the_remedy(
    parameters: dict[str, Any], values: np.ndarray, learning_rate: float
) -> None:
    driver = Stochastic(max_iter=5, batch_size=10, learning_rate=learning_rate)
    model = quick(driver=driver, **parameters)
    before = snapshot(model)
    for _ in range(2):
        with warnings.catch_warnings(), pytest.raises(DivergenceError) as failure:
            warnings.simplefilter("ignore", RuntimeWarning)  # overflow on the way
            model.fit({"text": values})
        message = str(failure.value)
        assert_one_sentence(message)
        assert re.search(r"diverged in (view 'text'|the hidden layer)", message)
        assert f"learning_rate below {learning_rate:g}" in message
        assert_unchanged(model, before)
        # once more, with a model that was fitted before
        model.set_params(driver=Stochastic(max_iter=2)).fit({"text": values})
        model.set_params(driver=driver, warm_start=True)
        before = snapshot(model)


def test_partial_fit_that_diverges_changes_nothing() -> None:
    model = quick().fit(real())
    model.set_params(driver=Stochastic(learning_rate=1e30, batch_size=10))
    before = snapshot(model)
    with warnings.catch_warnings(), pytest.raises(DivergenceError):
        warnings.simplefilter("ignore", RuntimeWarning)
        model.partial_fit(real())
    assert_unchanged(model, before)
    assert np.isfinite(model.transform(real())).all()


# ---- properties ------------------------------------------------------------------------------------------------------
@settings(max_examples=40, deadline=None)
@given(
    value=st.one_of(st.floats(width=32), st.sampled_from([np.nan, np.inf, -np.inf, 1e300, -1e-300])),
    row=st.integers(0, 5),
    column=st.integers(0, 2),
    family=st.sampled_from([Bernoulli(), Poisson(), Binomial(3), Gaussian(), ReplicatedSoftmax(), None]),
    sparse=st.booleans(),
)
def test_any_value_is_learned_from_or_refused_in_one_sentence(
    value: float, row: int, column: int, family: Family | None, sparse: bool
) -> None:
    values: Any = at(np.zeros((6, 3)), row, column, value)
    model = quick(views={"x": family if family is not None else "infer"})
    before = snapshot(model)
    X = {"x": scipy.sparse.csr_array(values) if sparse else values}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            latent = model.fit_transform(X)
    except (InvalidViewError, DivergenceError) as refusal:
        assert_one_sentence(str(refusal))
        assert_unchanged(model, before)
    else:
        assert np.isfinite(latent).all()
        assert np.isfinite(model.components_).all()
