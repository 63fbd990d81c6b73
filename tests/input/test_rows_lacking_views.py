"""Rows that lack every view: left out of training, answered from what the model expects of any row, and told of."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from harmonium import Harmonium, HarmoniumClassifier, HarmoniumRegressor, HarmoniumWarning, Stochastic, Views
from harmonium.exceptions import InvalidViewError
from harmonium.heads import LabelView
from harmonium.inspection import log_partition, modes
from tests.cases.bad_input import N_ROWS, binary, quick, real, refuse

NOWHERE = [2, 7]
KEPT = np.delete(np.arange(N_ROWS), NOWHERE)
LACK = "2 of 30 rows lack every view, the first of them row 2"


def with_holes() -> dict[str, np.ndarray]:
    """Two views, both of which two rows lack."""
    X = {"words": binary(), "colour": real()}
    for matrix in X.values():
        matrix[NOWHERE] = np.nan
    return X


def without_holes() -> dict[str, np.ndarray]:
    return {name: matrix[KEPT] for name, matrix in with_holes().items()}


@pytest.fixture(scope="module")
def model() -> Harmonium:
    return quick().fit(without_holes())


@pytest.fixture(scope="module")
def labels() -> np.ndarray:
    return (real()[:, 0] > 0).astype(int)


CALLS: dict[str, Callable[[Harmonium, Any], Any]] = {
    "transform": lambda model, X: model.transform(X),
    "reconstruct": lambda model, X: model.reconstruct(X)["colour"],
    "score_samples": lambda model, X: model.score_samples(X),
    "modes": lambda model, X: modes(model, X)[1],
    "predict_view": lambda model, X: model.predict_view("words", {"colour": X["colour"]}),
    "predict_view_interval": lambda model, X: model.predict_view("words", {"colour": X["colour"]}, interval=0.8)[0],
}


@pytest.mark.parametrize("call", CALLS)
def test_all_rows_are_answered_with_one_notice(model: Harmonium, call: str) -> None:
    with pytest.warns(HarmoniumWarning, match=LACK) as notices:
        answers = CALLS[call](model, with_holes())
    assert len(notices) == 1 and notices[0].filename == __file__
    assert len(answers) == N_ROWS and np.isfinite(answers).all()
    np.testing.assert_array_equal(answers[2], answers[7])  # nothing is known of either
    np.testing.assert_allclose(answers[KEPT], CALLS[call](model, without_holes()), rtol=1e-5, atol=1e-6)


def test_the_score_of_rows_is_finite(model: Harmonium) -> None:
    with pytest.warns(HarmoniumWarning, match=LACK):
        assert np.isfinite(model.score(with_holes()))


def test_nothing_is_a_certain_event() -> None:
    """Minus log Z, the log-density of a row of which nothing is observed is a lower bound of log 1."""
    small = Harmonium(2, driver=Stochastic(max_iter=20), random_state=0).fit(binary(4))
    with pytest.warns(HarmoniumWarning):
        nothing = small.score_samples(np.full((1, 4), np.nan))[0]
    log_z = log_partition(small, "exact").value
    assert log_z - 0.1 < nothing <= log_z + 1e-5


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_such_rows_are_left_out_of_training(method: str, sparse: bool) -> None:
    X: Any = with_holes()
    plain: Any = without_holes()
    if sparse:
        present = ~np.isnan(X["words"]).all(axis=1)
        X = Views(
            {"words": scipy.sparse.csr_array(np.nan_to_num(X["words"])), "colour": X["colour"]},
            present={"words": present},
        )
        plain["words"] = scipy.sparse.csr_array(plain["words"])
    with pytest.warns(HarmoniumWarning, match=f"{LACK}, and are left out of training") as notices:
        model = getattr(quick(), method)(X)
    assert notices[0].filename == __file__
    expected = getattr(quick(), method)(plain)
    np.testing.assert_array_equal(model.components_, expected.components_)


PREDICTORS: dict[str, Any] = {
    "classifier": HarmoniumClassifier,
    "regressor": HarmoniumRegressor,
    "label_view": lambda *arguments, **keywords: HarmoniumClassifier(*arguments, head=LabelView(), **keywords),
}


@pytest.mark.parametrize("kind", PREDICTORS)
def test_predictors_leave_them_out_and_predict_them(kind: str, labels: np.ndarray) -> None:
    def fresh() -> Any:
        return PREDICTORS[kind](3, driver=Stochastic(max_iter=2), random_state=0)

    with pytest.warns(HarmoniumWarning, match="left out of training"):
        model = fresh().fit(with_holes(), labels)
    np.testing.assert_array_equal(model.components_, fresh().fit(without_holes(), labels[KEPT]).components_)
    for method in ("predict", "predict_proba", "transform"):
        if hasattr(model, method):
            with pytest.warns(HarmoniumWarning, match=LACK) as notices:
                answers = getattr(model, method)(with_holes())
            assert len(notices) == 1 and len(answers) == N_ROWS and np.isfinite(answers).all()


def test_labels_of_rows_without_views_teach_nothing() -> None:
    known = np.full(N_ROWS, -1)
    known[NOWHERE] = [0, 1]  # beside 1 alone, -1 would be a class
    with pytest.warns(HarmoniumWarning, match="left out"):
        refuse(
            lambda: HarmoniumClassifier(3).fit(with_holes(), known),
            InvalidViewError,
            "Some row with a known label must have a view; all such rows lack every view",
        )


def test_labels_of_rows_are_named() -> None:
    table = pd.DataFrame(real(), index=[f"patient_{i}" for i in range(N_ROWS)])
    table.iloc[4] = np.nan
    with pytest.warns(HarmoniumWarning, match=r"1 of 30 rows .* row 4 \(label 'patient_4'\)"):
        quick().fit(table)


@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 999), share=st.floats(0.0, 0.9), dtype=st.sampled_from([np.float32, np.float64]))
def test_any_pattern_of_missing_rows(seed: int, share: float, dtype: Any) -> None:
    rng = np.random.default_rng(seed)
    views = {name: rng.normal(size=(12, 2)).astype(dtype) for name in ("a", "b")}
    for matrix in views.values():
        matrix[rng.random(12) < share] = np.nan
    lacking = np.isnan(np.hstack(list(views.values()))).all(axis=1)
    model = Harmonium(2, driver=Stochastic(max_iter=1), random_state=0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if any(np.isnan(matrix).all() for matrix in views.values()):
            with pytest.raises(InvalidViewError):
                model.fit(views)
            return
        model.fit(views)
        latent = model.transform(views)
    told = [str(warning.message) for warning in caught if "lack every view" in str(warning.message)]
    assert len(told) == (2 if lacking.any() else 0) and np.isfinite(latent).all()
    assert all(message.startswith(f"{lacking.sum()} of 12 rows") for message in told)
