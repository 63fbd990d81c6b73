"""Drivers: they lower exact losses, recover known truth, stop when told to, and keep models normalisable."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

from harmonium import LBFGS, Bernoulli, Gaussian, Harmonium, Poisson, Stochastic
from harmonium.core.parameters import bias_of, weights_of
from harmonium.energy import Energy
from harmonium.exceptions import DivergenceError
from harmonium.families import NegativeBinomial
from harmonium.hidden import BernoulliUnits, BinomialUnits, GaussianUnits
from harmonium.inference.exact import exact_expectations, exact_log_partition
from harmonium.inference.gibbs import gibbs_step
from harmonium.inspection import log_partition
from harmonium.objectives import ExactLikelihood, MeanFieldCD, PersistentCD, SampledCD
from harmonium.training import Adam, Momentum
from harmonium.training.drivers.projection import project
from tests.cases.models import make_parameters


def exact_data(energy: Energy, parameters: dict[str, np.ndarray], n_rows: int, seed: int = 0) -> np.ndarray:
    """Rows from a known model, by many Gibbs sweeps of independent chains."""
    rng = np.random.default_rng(seed)
    hidden = energy.hidden.sample(np.zeros((n_rows, energy.hidden.n_units_)), rng)
    for _ in range(60):
        hidden, batch = gibbs_step(energy, parameters, hidden, rng)
    return np.asarray(batch.views["view0"].statistic)


def mean_log_likelihood(model: Harmonium, rows: np.ndarray) -> float:
    return float(model.score_samples(rows).mean()) - log_partition(model, "exact").value


@pytest.fixture(scope="module")
def truth() -> tuple[Energy, dict[str, np.ndarray], np.ndarray, np.ndarray]:
    """A model of 10 binary features with 3 strong units, 4,000 training and 4,000 test rows."""
    energy = Energy({"view0": Bernoulli().restore(10, {})}, BernoulliUnits().bind(3))
    parameters = make_parameters(energy, seed=7, scale=2.0)
    # symmetric about one half: units and features are on as often as off
    parameters["view0.bias"] = -parameters["view0.weights"].sum(axis=1) / 2
    parameters["hidden.bias"] = -parameters["view0.weights"].sum(axis=0) / 2
    return energy, parameters, exact_data(energy, parameters, 4000), exact_data(energy, parameters, 4000, seed=1)


@pytest.mark.parametrize(
    ("objective", "driver", "slack"),
    [
        (ExactLikelihood(), LBFGS(max_iter=300, weight_decay=0.0), 0.02),
        (ExactLikelihood(), Stochastic(max_iter=60, learning_rate=0.02), 0.04),
        (PersistentCD(n_steps=5), Stochastic(max_iter=100, learning_rate=0.02), 0.05),
        (SampledCD(n_steps=10), Stochastic(max_iter=100, learning_rate=0.02), 0.05),
        (SampledCD(), Stochastic(max_iter=100, learning_rate=0.02), 0.05),
        (MeanFieldCD(n_steps=5), Stochastic(max_iter=60, learning_rate=0.01), 0.6),
        (MeanFieldCD(n_steps=5), LBFGS(max_iter=100), 0.6),
    ],
)
def test_known_truth_is_recovered(truth, objective, driver, slack: float) -> None:
    """Held-out log-likelihood (exact log Z) close to that of the true model, and far above independent features."""
    energy, parameters, train, test = truth
    model = Harmonium(3, views=Bernoulli(), objective=objective, driver=driver, random_state=0).fit(train)
    reached = mean_log_likelihood(model, test)
    from harmonium.core.batch import Batch, ViewBatch

    of_truth = -energy.free_energy(parameters, Batch({"view0": ViewBatch(test)}, len(test))).mean()
    of_truth -= exact_log_partition(energy, parameters)
    share = train.mean(axis=0)
    independent = float((test * np.log(share) + (1 - test) * np.log1p(-share)).sum(axis=1).mean())
    assert of_truth - independent > 0.8  # there is something to learn
    assert reached > of_truth - slack
    assert reached > independent


def test_recovered_moments_of_counts() -> None:
    """Poisson views with binomial units: the fitted model has the moments of the data it was drawn from."""
    energy = Energy({"view0": Poisson().restore(6, {})}, BinomialUnits(M=3).bind(2))
    parameters = make_parameters(energy, seed=3, scale=0.3)
    train = exact_data(energy, parameters, 4000)
    model = Harmonium(
        2,
        views=Poisson(),
        hidden=BinomialUnits(M=3),
        objective=ExactLikelihood(),
        driver=LBFGS(weight_decay=0.0),
        random_state=0,
    ).fit(train)
    got = exact_expectations(model.fitted_.energy, model.fitted_.parameters).statistics[bias_of("view0")]
    np.testing.assert_allclose(got, train.mean(axis=0), rtol=0.02)


def test_learned_variances_of_gaussian_views() -> None:
    """Features with little and much noise around a shared factor get small and large conditional variances."""
    rng = np.random.default_rng(0)
    factor = rng.choice([-1.0, 1.0], size=(3000, 1))
    noise = np.array([0.3, 0.3, 1.0, 1.0])
    X = factor + noise * rng.normal(size=(3000, 4))
    expected = noise**2 / (1 + noise**2)  # of the standardised features
    model = Harmonium(
        1,
        views=Gaussian(variance="learn"),
        objective=ExactLikelihood(),
        driver=LBFGS(max_iter=400, weight_decay=0.0),
        random_state=0,
    ).fit(X)
    np.testing.assert_allclose(np.exp(model.fitted_.parameters["view0.log_variance"]), expected, rtol=0.1)


@pytest.mark.parametrize("optimizer", [Adam(), Momentum(0.9), Momentum(0.0)])
@pytest.mark.parametrize("schedule", ["linear", "constant", "inverse"])
def test_optimizers_and_schedules_lower_the_loss(truth, optimizer, schedule: str) -> None:
    _, _, train, _ = truth
    rate = 0.01 if isinstance(optimizer, Adam) else 0.1
    driver = Stochastic(max_iter=8, learning_rate=rate, optimizer=optimizer, schedule=schedule)
    model = Harmonium(3, views=Bernoulli(), driver=driver, random_state=0).fit(train)
    losses = model.history_["reconstruction"]
    assert losses[-1] < losses[0]
    assert len(model.history_["epoch"]) == model.n_iter_ == 8


def test_weight_decay_shrinks_weights(truth) -> None:
    _, _, train, _ = truth
    norms = []
    for decay in (0.0, 5.0):
        driver = Stochastic(max_iter=10, learning_rate=0.02, weight_decay=decay)
        model = Harmonium(3, views=Bernoulli(), driver=driver, random_state=0).fit(train)
        norms.append(np.linalg.norm(model.components_))
    assert norms[1] < 0.8 * norms[0]


@pytest.mark.parametrize("criterion", ["reconstruction", "free_energy_gap"])
def test_early_stopping_stops_and_keeps_the_best(criterion: str) -> None:
    rng = np.random.default_rng(0)
    train = (rng.random((60, 200)) < 0.2).astype(float)  # noise: all that can be learned is overfitting
    driver = Stochastic(
        max_iter=300, batch_size=20, learning_rate=0.02, early_stopping=criterion, stopping_fraction=0.3, patience=3
    )
    model = Harmonium(40, views=Bernoulli(), driver=driver, random_state=0).fit(train)
    assert model.n_iter_ < 300
    values = model.history_["validation_reconstruction" if criterion == "reconstruction" else "free_energy_gap"]
    assert len(values) == model.n_iter_
    if criterion == "reconstruction":
        assert min(values) <= values[-1]


def test_lbfgs_refuses_noisy_objectives() -> None:
    with pytest.raises(ValueError, match="LBFGS needs an objective with a loss"):
        Harmonium(2, objective=SampledCD(), driver=LBFGS()).fit(np.eye(4))


def test_negative_binomial_stays_below_its_pole() -> None:
    rng = np.random.default_rng(0)
    counts = rng.negative_binomial(0.5, 0.3, size=(300, 8)).astype(float)
    driver = Stochastic(max_iter=30, learning_rate=0.1, batch_size=50)
    model = Harmonium(4, views=NegativeBinomial(r=0.5), driver=driver, random_state=0).fit(counts)
    weights, bias = model.fitted_.parameters[weights_of("view0")], model.fitted_.parameters[bias_of("view0")]
    assert np.all(bias + np.maximum(weights, 0).sum(axis=1) < 0)
    assert np.isfinite(log_partition(model, "exact").value)


def test_two_gaussian_layers_stay_normalisable() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2)) @ rng.normal(size=(2, 20)) * 3 + 0.1 * rng.normal(size=(200, 20))
    driver = Stochastic(max_iter=50, learning_rate=0.05)
    model = Harmonium(5, hidden=GaussianUnits(), objective=MeanFieldCD(), driver=driver, random_state=0).fit(X)
    assert np.linalg.norm(model.fitted_.parameters[weights_of("view0")], 2) < 1
    assert np.isfinite(model.transform(X)).all()


def test_projection_leaves_models_inside_alone() -> None:
    energy = Energy({"x": NegativeBinomial().restore(3, {})}, BinomialUnits(M=2).bind(2))
    parameters = make_parameters(energy, seed=0, scale=0.1, dtype=np.float32)
    before = {name: value.copy() for name, value in parameters.items()}
    project(energy, parameters)
    for name, value in parameters.items():
        np.testing.assert_array_equal(value, before[name])
    parameters["x.weights"] += 5.0
    project(energy, parameters)
    assert np.all(parameters["x.bias"] + 2 * np.maximum(parameters["x.weights"], 0).sum(axis=1) < 0)


def test_divergence_names_the_view_and_the_remedy() -> None:
    rng = np.random.default_rng(0)
    data = {"words": rng.poisson(5.0, size=(100, 30)).astype(float), "size": rng.normal(size=(100, 2))}
    model = Harmonium(5, driver=Stochastic(max_iter=30, learning_rate=1000.0, optimizer=Momentum()), random_state=0)
    with pytest.raises(DivergenceError, match=r"Training diverged in .* at epoch .*learning_rate below 1000"):
        model.fit(data)
    assert not hasattr(model, "families_")


def test_units_start_unsaturated_and_features_at_their_marginals() -> None:
    rng = np.random.default_rng(0)
    words = scipy.sparse.random_array((500, 2000), density=0.03, format="csr", rng=rng)
    words.data[:] = rng.poisson(3, size=words.nnz) + 1.0
    model = Harmonium(20, views=Poisson(), driver=Stochastic(max_iter=1, learning_rate=1e-9), random_state=0).fit(words)
    means = model.transform(words)
    assert 0.3 < means.mean() < 0.7 and means.std(axis=0).max() < 0.2
    expected = model.reconstruct(words).mean(axis=0)
    np.testing.assert_allclose(expected, np.asarray(words.mean(axis=0)).ravel(), rtol=0.15, atol=0.01)


def test_missing_views_are_learned_from_what_is_there() -> None:
    """Half the rows lack a view; predicting it from the other still works, for rows never seen."""
    rng = np.random.default_rng(0)
    topic = rng.integers(0, 3, size=900)
    words = (rng.random((900, 30)) < np.where(np.arange(30)[None, :] // 10 == topic[:, None], 0.6, 0.05)).astype(float)
    colour = np.eye(3)[topic] * 3 + rng.normal(size=(900, 3)) * 0.5
    partly = colour.copy()
    partly[rng.random(900) < 0.5] = np.nan
    driver = Stochastic(max_iter=60, learning_rate=0.01)
    model = Harmonium(8, driver=driver, random_state=0).fit({"words": words[:600], "colour": partly[:600]})
    predicted = model.predict_view("colour", {"words": words[600:]})
    error = np.mean((predicted - colour[600:]) ** 2)
    assert error < 0.35 * np.mean((colour[600:] - colour[:600].mean(axis=0)) ** 2)
    tags = model.predict_view("words", {"colour": colour[600:]})
    own = tags[np.arange(300)[:, None], topic[600:, None] * 10 + np.arange(10)].mean()
    assert own > tags.mean() + 0.2


@pytest.mark.parametrize("base", [5, 100])
def test_units_stay_alive_on_large_counts(base: int) -> None:
    """Row totals of a thousand and of twenty thousand: units still tell the four groups apart."""
    rng = np.random.default_rng(0)
    group = rng.integers(0, 4, 500)
    counts = rng.poisson(np.where(np.arange(200) // 50 == group[:, None], base * 1.3, base)).astype(float)
    latent = Harmonium(10, random_state=0).fit_transform(counts)
    assert (np.ptp(latent, axis=0) > 0.1).all()
    centres = np.stack([latent[group == g].mean(axis=0) for g in range(4)])
    nearest = ((latent[:, None, :] - centres) ** 2).sum(axis=2).argmin(axis=1)
    assert (nearest == group).mean() > 0.9


def test_idle_units_are_reported() -> None:
    from harmonium import HarmoniumWarning

    X = np.tile(np.array([[1.0, 0.0, 1.0]]), (20, 1))  # rows that do not differ leave units nothing to tell apart
    with pytest.warns(HarmoniumWarning, match="hidden units are the same for all training rows"):
        Harmonium(2, views=Bernoulli(), driver=Stochastic(max_iter=2), random_state=0).fit(X)


def test_schedules_go_by_epochs_whatever_they_are_cut_into() -> None:
    for schedule, expected in (("linear", 1 - 2.5 / 5), ("inverse", 1 / 3.5), ("constant", 1.0)):
        driver = Stochastic(schedule=schedule)
        assert driver._share(0.5, (2, 5)) == pytest.approx(expected)
        # the same place in rounds, of which ten make an epoch
        assert driver._share(0.0, (25, 50, 10)) == pytest.approx(expected)
