"""Warnings point at the line of the user that caused them, however deep in the library they arise."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from harmonium import IBP, Harmonium, HarmoniumClassifier, HarmoniumWarning, Hinge, Poisson, Stochastic
from harmonium.heads import LabelView

N_ROWS = 30
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N_ROWS, 3))
Y = np.arange(N_ROWS) % 3
DRIVER = Stochastic(max_iter=1, batch_size=10)


def classifier(head: Any) -> HarmoniumClassifier:
    return HarmoniumClassifier(2, head=head, driver=DRIVER, validation_fraction=0, random_state=0)


def idle() -> Harmonium:
    """Units that all rows turn on."""
    return Harmonium(
        2, views=Poisson(), driver=Stochastic(max_iter=10, batch_size=10, learning_rate=0.1), random_state=0
    )


COUNTS = RNG.poisson(3.0, size=(N_ROWS, 20)).astype(float)
WEIGHT = np.where(Y > 0, 2.0, 1.0)
NOISE = RNG.normal(size=(100, 10))
CALLS: dict[str, tuple[str, Callable[[Path], Any]]] = {
    "fit": ("are the same for all training rows", lambda path: idle().fit(COUNTS)),
    "fit_transform": ("are the same for all training rows", lambda path: idle().fit_transform(COUNTS)),
    "pipeline": (
        "found no unit",
        lambda path: make_pipeline(StandardScaler(), Harmonium(hidden=IBP(4), driver=DRIVER, random_state=0)).fit(
            NOISE
        ),
    ),
    "units": ("found no unit", lambda path: Harmonium(hidden=IBP(4), driver=DRIVER, random_state=0).fit(NOISE)),
    "weights": ("only zeros are used", lambda path: classifier(LabelView()).fit(X, Y, sample_weight=WEIGHT)),
    "weights_of_pieces": (
        "only zeros are used",
        lambda path: classifier(LabelView()).partial_fit(X, Y, sample_weight=WEIGHT),
    ),
    "labels": ("Labels of -1 are taken as unknown", lambda path: classifier(Hinge(1.0)).fit(X, Y - 1)),
    "save": (
        "saved as None",
        lambda path: Harmonium(2, driver=DRIVER, random_state=np.random.RandomState(0)).fit(X).save(path / "model"),
    ),
}


@pytest.mark.parametrize("case", CALLS)
def test_warnings_point_at_the_line_of_the_user(case: str, tmp_path: Path) -> None:
    message, call = CALLS[case]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call(tmp_path)
    found = [warning for warning in caught if issubclass(warning.category, HarmoniumWarning)]
    assert [message in str(warning.message) for warning in found] == [True]
    assert found[0].filename == __file__
    assert found[0].lineno == call.__code__.co_firstlineno
