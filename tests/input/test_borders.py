"""Data at the border is learned from; what diverges says so; any value is learned from or refused."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from harmonium import LBFGS, Bernoulli, Categorical, Gaussian, Harmonium, Poisson, Stochastic
from harmonium.exceptions import DivergenceError, InvalidViewError
from harmonium.families import Binomial, Family, NegativeBinomial, ReplicatedSoftmax
from harmonium.hidden import BinomialUnits, GaussianUnits
from harmonium.objectives import MeanFieldCD
from tests.cases.bad_input import (
    N_ROWS,
    assert_one_sentence,
    assert_unchanged,
    at,
    binary,
    quick,
    real,
    refuse,
    snapshot,
)


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
