"""Units that an item may lack, given their naturals: moments, derivatives and signs against integration."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import expit
from scipy.stats import norm

from harmonium import IBP
from harmonium.hidden import BernoulliUnits, SpikeSlab

NATURALS = np.array([[-3.0, -0.7, 0.0], [0.4, 1.1, 2.5]])
ODDS = np.array([-1.2, 0.3, 0.9])


def layer_at(odds: np.ndarray = ODDS, **parameters: Any) -> SpikeSlab:
    return SpikeSlab(**parameters).bind(len(odds)).at({"log_odds": odds})


@pytest.mark.parametrize("variance", [0.3, 1.0, 2.0])
def test_joint_posterior_of_real_units_by_integration(variance: float) -> None:
    layer = layer_at(kind="real", variance=variance)
    slab = norm(scale=np.sqrt(variance))
    partition, presence = layer.log_partition(NATURALS), layer.presence(NATURALS)
    mean, slope = layer.mean(NATURALS), layer.mean_derivative(NATURALS)
    for (row, k), a in np.ndenumerate(NATURALS):

        def there(power: int, a: float = a, k: int = k) -> float:
            centre, width = variance * a, 12 * np.sqrt(variance)
            return quad(lambda h: h**power * np.exp(ODDS[k] + a * h) * slab.pdf(h), centre - width, centre + width)[0]

        total = 1 + there(0)
        first, second = there(1) / total, there(2) / total
        assert partition[row, k] == pytest.approx(np.log(total))
        assert presence[row, k] == pytest.approx(there(0) / total)
        assert mean[row, k] == pytest.approx(first, abs=1e-8)
        assert slope[row, k] == pytest.approx(second - first**2)


@pytest.mark.parametrize("inference", ["joint", "factorised"])
def test_the_variance_of_the_slab_is_a_scale_of_the_weights(inference: Any) -> None:
    """Units of variance s² with weights W and units of variance 1 with weights s W are the same model of the views."""
    rng, root = np.random.default_rng(0), 1.7
    statistic, weights, bias = rng.normal(size=(4, 6)), rng.normal(size=(6, 3)), rng.normal(size=3)
    wide = layer_at(kind="real", variance=root**2, inference=inference)
    unit = layer_at(kind="real", variance=1.0, inference=inference)
    natural = bias + statistic @ weights
    np.testing.assert_allclose(wide.log_partition(natural), unit.log_partition(root * natural))
    np.testing.assert_allclose(wide.presence(natural), unit.presence(root * natural))
    np.testing.assert_allclose(wide.mean(natural) @ weights.T, unit.mean(root * natural) @ (root * weights).T)


@pytest.mark.parametrize("inference", ["joint", "factorised"])
@pytest.mark.parametrize("kind", ["binary", "real"])
def test_derivatives_of_the_log_partition_and_of_the_mean(kind: Any, inference: Any) -> None:
    layer = layer_at(kind=kind, inference=inference, variance=0.6)
    step = 1e-5
    slope = (layer.log_partition(NATURALS + step) - layer.log_partition(NATURALS - step)) / (2 * step)
    np.testing.assert_allclose(layer.mean(NATURALS), slope, atol=1e-6)
    slope = (layer.mean(NATURALS + step) - layer.mean(NATURALS - step)) / (2 * step)
    np.testing.assert_allclose(layer.mean_derivative(NATURALS), slope, atol=1e-6)


def test_factorised_posterior_is_a_fixed_point_and_a_bound() -> None:
    joint, apart = layer_at(kind="real", variance=0.6), layer_at(kind="real", variance=0.6, inference="factorised")
    presence = apart.presence(NATURALS)
    expected_slab = 0.6 * presence * NATURALS
    np.testing.assert_allclose(presence, expit(ODDS + expected_slab * NATURALS), atol=1e-8)
    np.testing.assert_allclose(apart.mean(NATURALS), presence * expected_slab, atol=1e-12)
    assert np.all(apart.log_partition(NATURALS) <= joint.log_partition(NATURALS) + 1e-12)
    # the two are independent where the views say nothing, so there the bound is tight
    np.testing.assert_allclose(apart.log_partition(np.zeros((1, 3))), joint.log_partition(np.zeros((1, 3))))


def test_binary_units_are_the_same_either_way() -> None:
    joint, apart = layer_at(), layer_at(inference="factorised")
    for method in ("presence", "mean", "mean_derivative", "log_partition", "mode"):
        np.testing.assert_array_equal(getattr(joint, method)(NATURALS), getattr(apart, method)(NATURALS))


@pytest.mark.parametrize("layer_class", [SpikeSlab, IBP])
def test_binary_units_are_bernoulli_units_with_a_shifted_bias(layer_class: type[SpikeSlab]) -> None:
    layer, plain = layer_class().bind(3).at({"log_odds": ODDS}), BernoulliUnits().bind(3)
    for method in ("mean", "mean_derivative", "log_partition", "mode"):
        np.testing.assert_array_equal(getattr(layer, method)(NATURALS), getattr(plain, method)(NATURALS + ODDS))
    np.testing.assert_array_equal(layer.presence(NATURALS), plain.mean(NATURALS + ODDS))
    wide = np.tile(NATURALS, (50, 1))
    one, two = (np.random.default_rng(0) for _ in range(2))
    np.testing.assert_array_equal(layer.sample(wide, one), plain.sample(wide + ODDS, two))
    values = np.array([[0.0, 1.0, 1.0]])
    np.testing.assert_allclose(layer.log_base(values) - plain.log_base(values), ODDS * values)


def test_samples_of_real_units_have_their_moments() -> None:
    layer = layer_at(kind="real", variance=0.6)
    natural = np.repeat(NATURALS[1:], 40_000, axis=0)
    drawn = layer.sample(natural, np.random.default_rng(0))
    error = 5 / np.sqrt(len(drawn))
    np.testing.assert_allclose((drawn != 0).mean(axis=0), layer.presence(NATURALS[1]), atol=error)
    spread = np.sqrt(layer.mean_derivative(NATURALS[1]))
    assert np.all(np.abs(drawn.mean(axis=0) - layer.mean(NATURALS[1])) < error * spread)
    np.testing.assert_allclose(drawn.std(axis=0), spread, rtol=0.03)
