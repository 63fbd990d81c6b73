"""A fitted model refuses bad calls and is not changed by them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from harmonium import Harmonium
from harmonium.exceptions import InvalidViewError
from harmonium.inspection import log_partition
from tests.cases.bad_input import N_ROWS, assert_unchanged, binary, quick, real, refuse, snapshot


@pytest.fixture(scope="module")
def fitted() -> Harmonium:
    words = pd.DataFrame(binary(), columns=list("abcdef"))
    return quick().fit({"words": words, "colour": real()})


CALL_REFUSALS: dict[str, tuple[Any, str]] = {
    "unknown_view": ({"sound": real()}, "The model has the views 'words', 'colour'; got 'sound'"),
    "width": ({"colour": real(4)}, "View 'colour' was fitted with 3 columns; got 4"),
    "one_matrix": (real(9), "fitted on the views 'words', 'colour'; got one matrix"),
    "support": ({"words": binary() * 2}, "View 'words' is Bernoulli and needs 0 or 1; found 2"),
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
    refuse(lambda: log_partition(fitted, method="guess"), ValueError, "method must be 'ais', 'exact' or 'naive'")  # type: ignore[arg-type]


def test_width_of_one_matrix_is_checked_by_scikit_learn() -> None:
    model = quick().fit(real())
    with pytest.raises(ValueError, match="X has 4 features, but Harmonium is expecting 3 features as input"):
        model.transform(real(4))
