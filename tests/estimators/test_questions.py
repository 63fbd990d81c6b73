"""Notices of targets that little can be learned from: one sentence, and none of other packages."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from harmonium import Harmonium, HarmoniumClassifier, HarmoniumRegressor, Stochastic
from harmonium.exceptions import HarmoniumWarning
from harmonium.model_folder import fit_folder

X = np.random.default_rng(0).normal(size=(40, 3))
DRIVER = Stochastic(max_iter=1)


def said(model: Harmonium, rows: int, y: list[object] | None) -> str:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X[:rows], y)
    (one,) = caught
    assert issubclass(one.category, HarmoniumWarning)
    return str(one.message)


def test_a_class_for_each_row_is_questioned_once() -> None:
    assert "y has 40 classes in 40 rows" in said(
        HarmoniumClassifier(2, driver=DRIVER), 40, [f"c{row}" for row in range(40)]
    )


def test_few_rows_are_questioned() -> None:
    assert said(HarmoniumRegressor(2, driver=DRIVER), 5, [1.0, 2.0, 3.0, 4.0, 5.5]).startswith(
        "Only 5 rows have a target"
    )


@pytest.mark.parametrize(("rows", "sentence"), [(5, "Only 5 rows to learn from"), (1, "Only 1 row to learn from")])
def test_few_rows_are_questioned_without_a_target(rows: int, sentence: str) -> None:
    assert said(Harmonium(2, driver=DRIVER), rows, None).startswith(sentence)


def test_enough_rows_are_not_questioned() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Harmonium(2, driver=DRIVER).fit(X)


def test_a_comparison_on_held_out_rows_questions_classes_once(tmp_path: Path) -> None:
    frame = pd.DataFrame({"x": np.arange(80) % 13, "z": np.arange(80) % 7})
    frame["name"] = [f"item {min(row, 50)}" for row in range(80)]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit_folder(tmp_path / "names", HarmoniumClassifier(2, driver=DRIVER, random_state=0), frame, "name")
    assert caught and all("most of them once" in str(one.message) for one in caught)


def test_a_prediction_lies_within_the_clipped_ends_of_its_interval() -> None:
    x = np.linspace(-1, 1, 400)[:, None]
    stars = np.clip(np.round(3 + 4 * x[:, 0]), 1, 5)
    model = HarmoniumRegressor(2, driver=Stochastic(max_iter=2), random_state=0).fit(x, stars)
    prediction, lower, upper = model.predict(np.array([[-1.5], [0.0], [1.5]]), interval=0.9)
    assert (lower <= prediction).all() and (prediction <= upper).all() and upper.max() == 5.0
    assert prediction[1] == pytest.approx(model.predict(np.zeros((1, 1)))[0])
