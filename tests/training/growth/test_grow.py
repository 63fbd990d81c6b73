"""Units that are born from what is left unexplained: how many, what the prior says, and what they begin as."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from harmonium import IBP, Bernoulli, Gaussian, Harmonium
from harmonium.hidden import SpikeSlab
from harmonium.kernels.rotation import ica_rotation
from harmonium.training.growth.spectrum import components, factors, residuals
from harmonium.views import Views
from harmonium.views.data import Data
from tests.cases.selection import assert_found


def binary_columns(n_features: int, n_items: int = 1000, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    has = rng.random((n_items, n_features)) < 0.3
    natural = has @ rng.normal(size=(n_features, 60))
    return (rng.random(natural.shape) < 1 / (1 + np.exp(-natural))).astype(float), has


@pytest.mark.parametrize("n_features", [3, 6])
def test_as_many_as_there_are(n_features: int) -> None:
    data, has = binary_columns(n_features)
    model = Harmonium(hidden=IBP(truncation=30), views=Bernoulli(), random_state=0).fit(data)
    assert model.n_components_ == n_features
    assert_found(model, has, data)


@pytest.mark.parametrize("n_features", [3, 12])
def test_as_many_real_ones_as_there_are(n_features: int) -> None:
    """Features are strong, so that a variance of 1 is far too large for what they leave."""
    rng = np.random.default_rng(n_features)
    has = (rng.random((1000, n_features)) < 0.3) * rng.normal(size=(1000, n_features))
    data = has @ rng.normal(size=(n_features, 60)) + rng.normal(size=(1000, 60))
    model = Harmonium(hidden=IBP(truncation=40, kind="real"), views=Gaussian(), random_state=0).fit(data)
    assert model.n_components_ == n_features


def test_nothing_linear_in_units_is_left() -> None:
    data, _ = binary_columns(3, n_items=300)
    model = Harmonium(hidden=IBP(truncation=10), views=Bernoulli(), random_state=0).fit(data)
    left = residuals(model.fitted_.problem, model.fitted_.parameters, Data(Views({"view0": data})), np.arange(300))
    means = model.transform(data)
    np.testing.assert_allclose((means - means.mean(axis=0)).T @ left, 0, atol=1e-2)


def test_where_there_are_no_features_held_out_rows_decide() -> None:
    """Of words that lengths and topics with heavy tails bring together, components stand out without end."""
    rng = np.random.default_rng(0)
    topics, lengths = rng.gamma(0.05, size=(30, 150)), rng.gamma(0.7, size=(1000, 1))
    topics /= topics.sum(axis=1, keepdims=True)
    words = rng.poisson(60 * lengths * (rng.dirichlet(np.full(30, 0.2), 1000) @ topics)) > 0
    model = Harmonium(hidden=IBP(truncation=140), views=Bernoulli(), random_state=0).fit(words * 1.0)
    assert 10 <= model.n_components_ < 140


def test_another_unit_of_the_buffet_is_poisson() -> None:
    n_units, n_items = np.arange(5), 200
    law = stats.poisson(3.0 * sum(1 / i for i in range(1, n_items + 1)))
    expected = law.logpmf(n_units + 1) - law.logpmf(n_units)
    np.testing.assert_allclose(IBP(alpha=3.0).bind(9).selection.log_odds_of_another(n_units, n_items), expected)
    assert not IBP(alpha="learn").bind(9).selection.log_odds_of_another(n_units, n_items).any()


def test_another_unit_of_finitely_many_is_binomial() -> None:
    """A unit is used by an item unless a Beta-Bernoulli urn of all items stays empty."""
    alpha, n_most, n_items, n_units = 3.0, 7, 50, np.arange(5)
    unused = stats.betabinom(n_items, alpha / n_most, 1.0).pmf(0)
    law = stats.binom(n_most, 1 - unused)
    expected = law.logpmf(n_units + 1) - law.logpmf(n_units)
    layer = SpikeSlab(alpha=alpha).bind(n_most)
    np.testing.assert_allclose(layer.selection.log_odds_of_another(n_units, n_items), expected)


def test_a_binary_unit_is_as_rare_as_its_source() -> None:
    rng = np.random.default_rng(0)
    share = np.array([0.1, 0.3, 0.8])
    has = rng.random((50_000, 3)) < share
    sources = (has - share) / np.sqrt(share * (1 - share))
    weights, found = SpikeSlab().bind(3).selection.weights_from_sources(np.ones((1, 3)), sources)
    np.testing.assert_allclose(found, [0.1, 0.3, 0.2], atol=0.01)  # the rarer side, so that the last one is turned
    np.testing.assert_allclose(weights[0], [1, 1, -1] / np.sqrt(found * (1 - found)))


def test_real_units_have_the_covariance_of_their_factors() -> None:
    """With all units present, (I - s² W Wᵀ)⁻¹ is the covariance of views with noise 1, here I + L Lᵀ."""
    loadings = np.random.default_rng(0).normal(size=(6, 2))
    weights, _ = SpikeSlab(kind="real", variance=2.0).bind(2).selection.weights_from_sources(loadings, np.zeros((1, 2)))
    found = np.linalg.inv(np.eye(6) - 2.0 * weights @ weights.T)
    np.testing.assert_allclose(found, np.eye(6) + loadings @ loadings.T, atol=1e-10)


def test_factors_allow_for_noise_of_each_feature() -> None:
    rng = np.random.default_rng(0)
    loadings, noise = rng.normal(size=(20, 2)), rng.uniform(0.2, 3.0, 20)
    data = rng.normal(size=(20_000, 2)) @ loadings.T + rng.normal(size=(20_000, 20)) * noise
    deviation = data.std(axis=0)
    found = factors(((data - data.mean(axis=0)) / deviation).astype(np.float32), 2, rng).loadings * deviation[:, None]
    np.testing.assert_allclose(found @ found.T, loadings @ loadings.T, atol=0.15)


@pytest.mark.parametrize("shape", [(50, 8), (8, 50)])
def test_components_are_those_of_a_decomposition(shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(0)
    table = rng.normal(size=shape)
    leading = components(table, 3, rng)
    _, singular, right = np.linalg.svd(table)
    np.testing.assert_allclose(leading.variances, singular[:3] ** 2 / len(table))
    np.testing.assert_allclose(np.abs(leading.directions.T @ right[:3].T), np.eye(3), atol=1e-6)
    assert leading.rest == pytest.approx((singular[3:] ** 2).sum() / len(table) / 5)


def test_noise_does_not_hide_sources() -> None:
    rng = np.random.default_rng(0)
    share = np.array([0.1, 0.21, 0.5])  # the second has no fourth cumulant, the third no third one
    sources = ((rng.random((20_000, 3)) < share) - share) / np.sqrt(share * (1 - share))
    turned = sources @ np.linalg.qr(rng.normal(size=(3, 3)))[0]
    rotation = ica_rotation(turned + rng.normal(0, 0.7, size=turned.shape), rng)
    agreement = np.abs(np.corrcoef(turned @ rotation.T, sources, rowvar=False)[:3, 3:])
    assert (agreement.max(axis=0) > 0.98).all()
    np.testing.assert_allclose(rotation @ rotation.T, np.eye(3), atol=1e-10)
