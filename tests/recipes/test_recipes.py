"""Recipes by registry: each fits, encodes and round-trips; RAP's signs and modes are what the paper says."""

from __future__ import annotations

from dataclasses import replace
from inspect import signature

import numpy as np
import pytest

from harmonium import (
    IBP,
    LBFGS,
    Bernoulli,
    Gaussian,
    Harmonium,
    HarmoniumClassifier,
    HarmoniumRegressor,
    Hinge,
    Sequences,
    Stochastic,
    TopicModel,
    load,
    recipes,
)
from harmonium.core.parameters import HIDDEN_BIAS, weights_of
from harmonium.hidden import GaussianUnits
from harmonium.inference.exact import exact_log_partition
from harmonium.inspection import canonical_signs, modes
from harmonium.objectives import MeanFieldCD


def data_for(name: str) -> object:
    rng = np.random.default_rng(0)
    words = (rng.random((80, 20)) < 0.3).astype(float)
    if name == "RAP":
        return rng.poisson(1.0, size=(80, 20)).astype(float)
    if name.startswith("struct"):
        return Sequences(np.repeat(words, 3, axis=0), np.arange(0, 241, 3))
    if name in ("BDWH", "DWH", "MMH", "TWH"):
        return {"tags": words, "colour": rng.normal(size=(80, 4))}
    return words


@pytest.mark.parametrize("name", recipes.__all__)
def test_every_recipe_fits_encodes_and_is_saved(name: str, tmp_path) -> None:
    recipe = getattr(recipes, name)
    assert "References" in recipe.__doc__
    model = recipe(4, driver=Stochastic(max_iter=3), random_state=0)
    infinite = isinstance(model.hidden, IBP)
    assert isinstance(model, Harmonium) and (infinite or model.n_components == 4)
    data = data_for(name)
    y = np.arange(80) % 3 if isinstance(model, HarmoniumClassifier) else None
    latent = model.fit_transform(data, y)
    assert latent.shape == (80, model.n_components_ if infinite else 4) and np.isfinite(latent).all()
    model.save(tmp_path / "model.safetensors")
    again = load(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(again.transform(data), latent)
    if y is not None:
        np.testing.assert_array_equal(again.predict_proba(data), model.predict_proba(data))


PUBLISHED = [name for name in recipes.__all__ if "published" in signature(getattr(recipes, name)).parameters]


def test_all_models_of_the_papers_have_their_configuration() -> None:
    assert set(PUBLISHED) == {"BDWH", "BEFH", "DWH", "MMH", "RAP", "TWH", "iEFH", "iMMH", "structDWH", "structMMH"}
    for name in ("MMH", "structMMH"):
        model = getattr(recipes, name)(4, published=True, C=0.4)
        assert repr(model.hidden) == "GaussianUnits()" and repr(model.objective) == "MeanFieldCD(n_steps=5)"
        assert repr(model.head) == "Hinge(C=0.4, linear_part=False, solver='alternate')"
        assert isinstance(model.driver, LBFGS)
    for name in ("DWH", "structDWH"):
        assert getattr(recipes, name)(4, published=True).objective.n_steps == 5
    assert recipes.TWH(4, task="regression", published=True).objective.n_steps == 5
    for name in ("iEFH", "iMMH"):
        model = getattr(recipes, name)(4, published=True)
        assert model.hidden.inference == "factorised" and model.objective.n_steps == 1
    for name in ("BEFH", "BDWH"):
        prior = getattr(recipes, name)(4, published=True).driver.prior
        assert repr(prior) == "EmpiricalBayes(begin='weights', per='input')"
    assert recipes.RAP(4, published=True).driver.updates == 200_000
    # what is given goes before the paper
    assert isinstance(recipes.MMH(4, published=True, driver=Stochastic()).driver, Stochastic)


@pytest.mark.parametrize("name", PUBLISHED)
def test_configurations_of_the_papers_train(name: str) -> None:
    settings = {} if "B" in name else {"driver": LBFGS(max_iter=2) if "MMH" in name else Stochastic(max_iter=2)}
    if name in ("BEFH", "BDWH"):
        settings = {}
    model = getattr(recipes, name)(4, published=True, random_state=0, **settings)
    if settings == {}:
        model.set_params(driver__n_chains=1, driver__n_draws=2, driver__n_warmup=2)
    y = np.arange(80) % 3 if isinstance(model, HarmoniumClassifier) else None
    assert np.isfinite(model.fit_transform(data_for(name), y)).all()


def told_by(y: np.ndarray) -> dict[str, np.ndarray]:
    """Tags and colours that follow from a number."""
    rng = np.random.default_rng(0)
    tags = (rng.random((len(y), 9)) < 1 / (1 + np.exp(-3 * y[:, None] * ([1, -1, 1] * 3)))).astype(float)
    return {"tags": tags, "colour": y[:, None] + 0.3 * rng.normal(size=(len(y), 4))}


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("name", ["MMH", "TWH"])
def test_recipes_that_predict_have_two_tasks(name: str, task: str) -> None:
    numbers = np.random.default_rng(1).normal(size=200)
    y = np.where(numbers > 0, "high", "low") if task == "classification" else numbers
    families = {"tags": Bernoulli(), "colour": Gaussian("learn")}
    driver = Stochastic(max_iter=20, batch_size=20, learning_rate=0.05)
    model = getattr(recipes, name)(6, families, task=task, driver=driver, random_state=0, validation_fraction=0.2)
    expected = HarmoniumClassifier if task == "classification" else HarmoniumRegressor
    assert type(model) is expected and model.views == families
    data = told_by(numbers)
    assert model.fit(data, y).score(data, y) > 0.8
    assert model.score({"colour": data["colour"]}, y) > 0.7
    with pytest.raises(ValueError, match="task must be 'classification' or 'regression'; got 'ranking'"):
        getattr(recipes, name)(task="ranking")


def test_parts_of_the_recipes_that_predict() -> None:
    assert recipes.MMH(C=0.3).head.C == 0.3 and recipes.MMH(task="regression", C=0.3).head.C == 0.3
    assert repr(recipes.MMH().head) == "Hinge(linear_part=False)"
    assert repr(recipes.TWH(task="regression").head) == "LabelView()"
    paper = recipes.MMH(
        4,
        hidden=GaussianUnits(),
        objective=MeanFieldCD(5),
        head=Hinge(1.0, solver="alternate"),
        driver=LBFGS(max_iter=20),
        validation_fraction=0,
    )
    numbers = np.random.default_rng(1).normal(size=120)
    assert paper.fit(told_by(numbers), numbers > 0).score(told_by(numbers), numbers > 0) > 0.9


@pytest.mark.parametrize("generative", [0.0, 0.05])
def test_discriminative_rbm(generative: float) -> None:
    numbers = np.random.default_rng(1).normal(size=200)
    y, tags = numbers > 0, told_by(numbers)["tags"]
    driver = Stochastic(max_iter=20, batch_size=20, learning_rate=0.05)
    model = recipes.DiscriminativeRBM(5, Bernoulli(), generative=generative, driver=driver, random_state=0)
    assert model.fit(tags, y).score(tags, y) > 0.85
    np.testing.assert_allclose(model.predict_proba(tags).sum(axis=1), 1)
    if not generative:  # it has a loss, so batches may be whole
        whole = recipes.DiscriminativeRBM(5, driver=LBFGS(max_iter=30), random_state=0, validation_fraction=0)
        assert whole.fit(tags, y).score(tags, y) > 0.85


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
    before = model.score_samples(counts) - exact_log_partition(model.fitted_.energy, model.fitted_.parameters)
    # turn two units over by hand, so that there is something to turn back
    parameters = {name: value.copy() for name, value in model.fitted_.parameters.items()}
    for unit in (0, 2):
        weights = parameters[weights_of("view0")]
        parameters["view0.bias"] += 2 * weights[:, unit]
        weights[:, unit] *= -1
        parameters[HIDDEN_BIAS][unit] *= -1
    model.fitted_ = replace(model.fitted_, training=replace(model.fitted_.training, parameters=parameters))
    turned = model.score_samples(counts) - exact_log_partition(model.fitted_.energy, parameters)
    np.testing.assert_allclose(turned, before, atol=2e-3)
    model = canonical_signs(model)
    after = model.score_samples(counts) - exact_log_partition(model.fitted_.energy, model.fitted_.parameters)
    np.testing.assert_allclose(after, before, atol=2e-3)
    assert (counts.mean(axis=0) @ model.fitted_.parameters[weights_of("view0")] > 0).all()


def test_modes_are_prototypes(rap) -> None:
    model, counts = rap
    views, hidden = modes(model, counts)
    assert views.shape == counts.shape and hidden.shape == (400, 3)
    assert np.array_equal(views, np.floor(views)) and hidden.max() <= 2
    # modes are fixed points: climbing from them goes nowhere
    again, _ = modes(model, views)
    np.testing.assert_array_equal(again, views)


def test_signs_of_gaussian_units_are_refused() -> None:
    model = recipes.EFH(2, driver=Stochastic(max_iter=2)).fit(np.random.default_rng(0).normal(size=(20, 5)))
    with pytest.raises(ValueError, match="Signs are free for BernoulliUnits"):
        model = canonical_signs(model)


def test_a_setting_that_no_recipe_has_is_told_by_name() -> None:
    with pytest.raises(TypeError, match=r"takes those of Harmonium, n_components, .* got 'random_sate' \(did you mean"):
        TopicModel(20, random_sate=0)
    with pytest.raises(TypeError, match="got 'n_topics'; correct the name"):
        TopicModel(n_topics=20)
