"""The scale that numbers are learned on: chosen where held-out rows clearly prefer it, and kept by files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import harmonium
from harmonium import EpsilonInsensitive, HarmoniumRegressor, Stochastic

RNG = np.random.default_rng(0)
X = np.hstack([RNG.normal(size=(600, 4)), RNG.exponential(size=(600, 1))])
SIGNAL = X @ [1.0, 0.5, -0.5, 0.3, 0.0]
WAITS = X @ [0.2, 0.1, -0.1, 0.0, 2.0]
NOISE = RNG.normal(size=600)
PRICES = np.exp(SIGNAL + 0.3 * NOISE)


def fitted(y: Any, rows: slice = slice(400), **settings: Any) -> HarmoniumRegressor:
    head = EpsilonInsensitive(**{"linear_part": "linear", **settings})
    return HarmoniumRegressor(3, head=head, driver=Stochastic(max_iter=3), random_state=0).fit(X[rows], y[rows])


def logs(model: HarmoniumRegressor) -> Any:
    return model.fitted_.head.outputs_.logs


def test_products_are_learned_as_logarithms_and_predicted_without_bias(tmp_path: Path) -> None:
    auto, linear = fitted(PRICES), fitted(PRICES, target_scale="linear")
    assert logs(auto) is not None and logs(linear) is None
    test = slice(400, 600)
    assert auto.score(X[test], PRICES[test]) > linear.score(X[test], PRICES[test]) + 0.02
    # of the known distribution: means of a few draws hang on the largest
    factor = np.exp(0.3**2 / 2)
    assert logs(auto).smearing[0] == pytest.approx(factor, rel=0.02)
    assert (auto.predict(X[test]) / (factor * np.exp(SIGNAL[test]))).mean() == pytest.approx(1, rel=0.1)
    # shares add up to the logarithm, which the factor of means is no part of
    explained = np.array([one.scores[0] for one in auto.explain(X[test][:5])])
    np.testing.assert_allclose(logs(auto).back(explained[:, None])[:, 0], auto.predict(X[test][:5]), rtol=1e-5)
    auto.save(tmp_path / "model")
    again = harmonium.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict(X), auto.predict(X))
    again.partial_fit(X, PRICES)
    assert logs(again) is not None
    with pytest.raises(ValueError, match="learned on a logarithmic scale; got -"):
        again.partial_fit(X, -PRICES)


def test_a_model_of_logarithms_is_that_of_given_logarithms() -> None:
    chosen, given = fitted(PRICES, target_scale="log"), fitted(np.log(PRICES))
    np.testing.assert_allclose(chosen.explain(X[:1])[0].scores, given.predict(X[:1]), rtol=1e-5)


@pytest.mark.parametrize("y", [SIGNAL + NOISE, WAITS - WAITS.min() + 1.0 + 0.1 * NOISE**2], ids=["even", "skewed"])
def test_sums_stay_as_they_are(y: np.ndarray) -> None:
    """Also if an input makes them skewed; where noise does, logarithms may well predict better."""
    assert logs(fitted(y)) is None


def test_each_output_has_its_own_scale() -> None:
    y = np.stack([PRICES, SIGNAL], axis=1)
    model = fitted(y)
    assert logs(model).is_log.tolist() == [True, False]
    # no price above those of training rows is predicted
    test = np.flatnonzero((np.arange(600) >= 400) & (PRICES[:400].max() > PRICES))
    assert model.score(X[test], y[test]) > 0.8


def test_another_scale_needs_a_new_fit() -> None:
    model = fitted(PRICES).set_params(warm_start=True, head__target_scale="linear")
    with pytest.raises(ValueError, match="go on with the scale of targets it began with, target_scale='auto'; got"):
        model.fit(X, PRICES)
