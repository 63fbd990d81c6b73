"""How much each view weighs while a model is trained: given, chosen on held-out rows, kept, refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harmonium import LBFGS, Harmonium, HarmoniumClassifier, Hinge, Stochastic, load
from harmonium.objectives import MeanFieldCD
from harmonium.training import Momentum

RNG = np.random.default_rng(0)
N_ROWS = 400
Y = RNG.integers(0, 3, N_ROWS)
#: a narrow view that tells the class, and a wide one of noise
X = {"told": np.eye(3)[Y] + 0.6 * RNG.normal(size=(N_ROWS, 3)), "noise": RNG.normal(size=(N_ROWS, 80))}


def after_one_step(view_weights: Any) -> dict[str, np.ndarray]:
    """Parameters after a single step along a gradient that involves no random numbers."""
    driver = Stochastic(1, N_ROWS, 0.01, optimizer=Momentum(0.0), schedule="constant", weight_decay=0.0)
    model = Harmonium(4, objective=MeanFieldCD(), driver=driver, view_weights=view_weights, random_state=0)
    return model.fit(X).fitted_.parameters


@pytest.mark.parametrize("form", [dict, list])
def test_a_weight_is_a_factor_of_the_step(form: type) -> None:
    quarter, half, whole = (
        after_one_step({"told": weight} if form is dict else [weight, 1.0]) for weight in (0.25, 0.5, 1.0)
    )
    step = half["told.weights"] - quarter["told.weights"]
    assert np.abs(step).max() > 1e-5
    np.testing.assert_allclose(whole["told.weights"] - half["told.weights"], 2 * step, atol=1e-6)
    for name in set(whole) - {"told.weights"}:
        np.testing.assert_array_equal(half[name], whole[name])


def test_only_ratios_of_weights_count() -> None:
    first, second = after_one_step({"told": 4.0}), after_one_step({"told": 1.0, "noise": 0.25})
    for name, value in first.items():
        np.testing.assert_array_equal(second[name], value)


@pytest.mark.parametrize("weight", [10.0, 1e6, 1e-6])
def test_any_weights_can_be_trained_with(weight: float) -> None:
    model = HarmoniumClassifier(3, head=Hinge(linear_part=False), view_weights={"told": weight}, random_state=0).fit(
        X, Y
    )
    assert weight < 1 or model.score(X, Y) > 0.6


def test_all_views_weigh_the_same_where_nothing_is_predicted() -> None:
    for given in ("auto", None):
        model = Harmonium(2, view_weights=given, driver=Stochastic(1), random_state=0).fit(X)
        assert model.fitted_.view_weights == {"told": 1.0, "noise": 1.0}


def test_noise_weighs_less_and_predictions_gain(tmp_path: Path) -> None:
    even, chosen = (
        HarmoniumClassifier(10, head=Hinge(linear_part=False), view_weights=given, random_state=0).fit(X, Y)
        for given in (None, "auto")
    )
    assert even.fitted_.view_weights == {"told": 1.0, "noise": 1.0}
    assert chosen.fitted_.view_weights["told"] == 1.0 and chosen.fitted_.view_weights["noise"] <= 0.25
    assert min(chosen.fitted_.validation["error"]) < min(even.fitted_.validation["error"])
    chosen.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.fitted_.view_weights == chosen.fitted_.view_weights and again.view_weights == "auto"
    assert again.partial_fit(X, Y).fitted_.view_weights == chosen.fitted_.view_weights


def test_weights_that_are_given_are_not_chosen() -> None:
    model = HarmoniumClassifier(3, view_weights={"noise": 2}, driver=Stochastic(2), random_state=0).fit(X, Y)
    assert model.fitted_.view_weights == {"told": 1.0, "noise": 2.0}


@pytest.mark.parametrize(
    ("given", "message", "kind"),
    [
        ("even", "view_weights 'auto', None, a dict of view to weight or a list; got 'even'", TypeError),
        (2.0, "view_weights 'auto', None, a dict of view to weight or a list; got 2.0", TypeError),
        ({"told": 0}, r"view_weights\['told'\] > 0; got 0", ValueError),
        ([1.0, float("nan")], r"view_weights\[1\] > 0; got nan", ValueError),
        ([1.0], "view_weights must have an entry for each of the 2 views; got 1", ValueError),
        ({"sound": 2.0}, "view_weights may only name views of X, 'told', 'noise'; got 'sound'", ValueError),
    ],
)
def test_what_is_no_weight_is_refused(given: Any, message: str, kind: type[Exception]) -> None:
    with pytest.raises(kind, match=message):
        Harmonium(2, view_weights=given).fit(X)


def test_drivers_without_steps_for_views_refuse_weights() -> None:
    model = Harmonium(2, view_weights={"told": 2.0}, objective=MeanFieldCD(), driver=LBFGS(max_iter=2))
    with pytest.raises(ValueError, match=r"view_weights need a driver .*; got LBFGS; leave them out"):
        model.fit(X)
    model.set_params(view_weights="auto").fit(X)
