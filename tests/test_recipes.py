"""Recipes by registry: each fits, encodes and round-trips; RAP's signs and modes are what the paper says."""

from __future__ import annotations

import numpy as np
import pytest

from harmonium import Harmonium, Stochastic, load, recipes
from harmonium.inference.exact import exact_log_partition
from harmonium.params import HIDDEN_BIAS, weights_of


def data_for(name: str) -> object:
    rng = np.random.default_rng(0)
    words = (rng.random((80, 20)) < 0.3).astype(float)
    if name == "RAP":
        return rng.poisson(1.0, size=(80, 20)).astype(float)
    if name == "DWH":
        return {"tags": words, "colour": rng.normal(size=(80, 4))}
    return words


@pytest.mark.parametrize("name", recipes.__all__)
def test_every_recipe_fits_encodes_and_is_saved(name: str, tmp_path) -> None:
    recipe = getattr(recipes, name)
    assert "References" in recipe.__doc__
    model = recipe(4, driver=Stochastic(max_iter=3), random_state=0)
    assert isinstance(model, Harmonium) and model.n_components == 4
    data = data_for(name)
    latent = model.fit_transform(data)
    assert latent.shape == (80, 4) and np.isfinite(latent).all()
    model.save(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(load(tmp_path / "model.safetensors").transform(data), latent)


@pytest.fixture(scope="module")
def rap() -> tuple[Harmonium, np.ndarray]:
    rng = np.random.default_rng(0)
    topic = rng.integers(0, 2, size=400)
    rates = np.where(np.arange(8)[None, :] // 4 == topic[:, None], 3.0, 0.3)
    counts = rng.poisson(rates).astype(float)
    model = recipes.RAP(3, M=2, driver=Stochastic(max_iter=30, learning_rate=0.02), random_state=1).fit(counts)
    return model, counts


def test_coordinates_are_the_product_with_the_weights(rap) -> None:
    model, counts = rap
    np.testing.assert_allclose(model.transform(counts), counts @ model.components_.T, rtol=1e-4, atol=1e-4)


def test_canonical_signs_change_nothing_but_the_signs(rap) -> None:
    """Turning units over leaves p(x) alone, and w·x̄ > 0 afterwards for all of them."""
    model, counts = rap
    before = model.score_samples(counts) - exact_log_partition(model.energy_, model.parameters_)
    # turn two units over by hand, so that there is something to turn back
    parameters = {name: value.copy() for name, value in model.parameters_.items()}
    for unit in (0, 2):
        weights = parameters[weights_of("view0")]
        parameters["view0.bias"] += 2 * weights[:, unit]
        weights[:, unit] *= -1
        parameters[HIDDEN_BIAS][unit] *= -1
    model._training.parameters = parameters
    turned = model.score_samples(counts) - exact_log_partition(model.energy_, parameters)
    np.testing.assert_allclose(turned, before, atol=2e-3)
    model.canonical_signs()
    after = model.score_samples(counts) - exact_log_partition(model.energy_, model.parameters_)
    np.testing.assert_allclose(after, before, atol=2e-3)
    assert (counts.mean(axis=0) @ model.parameters_[weights_of("view0")] > 0).all()


def test_modes_are_prototypes(rap) -> None:
    model, counts = rap
    views, hidden = model.modes(counts)
    assert views.shape == counts.shape and hidden.shape == (400, 3)
    assert np.array_equal(views, np.floor(views)) and hidden.max() <= 2
    # modes are fixed points: climbing from them goes nowhere
    again, _ = model.modes(views)
    np.testing.assert_array_equal(again, views)


def test_signs_of_gaussian_units_are_refused() -> None:
    model = recipes.EFH(2, driver=Stochastic(max_iter=2)).fit(np.random.default_rng(0).normal(size=(20, 5)))
    with pytest.raises(ValueError, match="Signs are free for BernoulliUnits"):
        model.canonical_signs()
