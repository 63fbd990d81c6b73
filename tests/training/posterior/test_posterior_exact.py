"""Chains against exact posteriors: the step, the priors, moments, and alignment of draws."""

from __future__ import annotations

import itertools
from functools import partial
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import norm

from harmonium import BEFH, Bernoulli, Gaussian, Harmonium, Langevin, Poisson
from harmonium.core.parameters import Parameters
from harmonium.energy import Energy
from harmonium.exceptions import IncompatiblePartsError
from harmonium.families import ReplicatedSoftmax
from harmonium.hidden import BernoulliUnits, FactorUnits, GaussianUnits, HiddenLayer, SpikeSlab
from harmonium.inference.symmetry import align
from harmonium.inspection import posterior_draws
from harmonium.kernels.runtime.threads import compute
from harmonium.kernels.sampling.langevin import langevin_step
from harmonium.objectives import ExactLikelihood, Objective, SampledCD
from harmonium.objectives.problem import Problem
from harmonium.training import AdjustedLangevin, Driver, EmpiricalBayes, GaussianPrior, HierarchicalPrior, Metropolis
from harmonium.training.drivers.run import Run
from harmonium.training.posterior.adjusted import _log_ratio
from harmonium.training.posterior.metropolis import _log_of_means
from harmonium.training.posterior.normals import Moments, Normal
from harmonium.training.state import Training
from harmonium.views import Sequences, Views
from harmonium.views.data import Data
from tests.cases.checkpoints import interrupting
from tests.cases.models import compatible_pairs, make_family, make_hidden, make_parameters, random_batch
from tests.cases.posterior import QUICK


# ---- the kernel and the priors ---------------------------------------------------------------------------------------
@pytest.mark.parametrize("shape", [(7, 3), (2000, 200)])
def test_step_is_the_line_of_the_formula(shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(0)
    value, gradient = (rng.normal(size=shape).astype(np.float32) for _ in range(2))
    mean, variance = rng.normal(size=shape[0]).astype(np.float32), rng.uniform(1, 2, shape[0]).astype(np.float32)
    squared_step = np.full(shape[0], 0.01, dtype=np.float32)
    slope = -3.0 * gradient - (value - mean[:, None]) / variance[:, None]
    before = value.copy()
    squares = langevin_step(value, gradient, 3.0, mean, variance, squared_step, np.random.default_rng(1))
    np.testing.assert_allclose(squares, np.square(slope).mean(axis=1), rtol=1e-4)
    noise = (value - before - 0.005 * slope) / np.sqrt(0.01 * (1 - 0.0025 / variance[:, None]))
    assert not gradient.any()
    assert abs(noise.mean()) < 5 / np.sqrt(noise.size) and abs(noise.std() - 1) < 5 / np.sqrt(noise.size)


def test_step_is_the_same_on_one_thread_or_two_and_tamed() -> None:
    results = []
    for n_jobs in (1, 2):
        rng = np.random.default_rng(0)
        value = rng.normal(size=(3000, 100)).astype(np.float32)
        gradient = 1e6 * rng.normal(size=value.shape).astype(np.float32)
        before = value.copy()
        ones = np.ones(3000, dtype=np.float32)
        with compute(n_jobs):
            langevin_step(value, gradient, 1.0, 0 * ones, ones, 0.01 * ones, rng)
        results.append(value)
        moved = np.sqrt(np.square(value - before).mean(axis=1))
        assert moved.max() < 0.3  # noise of 0.1 and a drift of twice as much
    np.testing.assert_array_equal(*results)


def test_empirical_bayes_takes_mean_and_variance_over_units_chains_and_draws() -> None:
    draws = np.random.default_rng(0).normal(2, 3, size=(5, 4, 6))
    moments = Moments.none(4)
    for draw in draws:
        moments.add(draw)
    start = Normal(np.zeros(4, np.float32), np.ones(4, np.float32))
    each = EmpiricalBayes(per="input").update(start, moments)
    np.testing.assert_allclose(each.mean, draws.mean(axis=(0, 2)), rtol=1e-5)
    np.testing.assert_allclose(each.variance, draws.var(axis=(0, 2)), rtol=1e-5)
    shared = EmpiricalBayes().update(start, moments)
    np.testing.assert_allclose([shared.mean[0], shared.variance[0]], [draws.mean(), draws.var()], rtol=1e-5)
    centred = EmpiricalBayes(centred=True).update(start, moments)
    np.testing.assert_allclose([centred.mean[0], centred.variance[0]], [0, np.square(draws).mean()], rtol=1e-5)
    shrunk = EmpiricalBayes(centred=True, shrinkage=0.25).update(start, moments, unit_scale=2.0)
    np.testing.assert_allclose(shrunk.variance, 0.75 * np.square(draws).mean() + 0.25 * 4.0, rtol=1e-5)


def test_variances_are_drawn_from_their_conditional_distribution() -> None:
    """Each is (sum of squares + degrees · scale²) / chi-squared, whose mean is that over two degrees less."""
    rng = np.random.default_rng(0)
    weights, prior = rng.normal(size=(5, 4)), HierarchicalPrior(degrees=2.0)
    current = prior.start(weights, 0.5)
    drawn = np.array([prior.draw(current, weights, 0.5, rng).variance[0] for _ in range(4000)])
    expected = (np.square(weights).sum() + 2 * 0.25) / (weights.size + 2 - 2)
    assert abs(drawn.mean() - expected) < 5 * drawn.std() / np.sqrt(4000)
    np.testing.assert_allclose(current.variance, 0.25)


# ---- against exact posteriors ----------------------------------------------------------------------------------------
def tiny(hidden: HiddenLayer, n_rows: int = 30) -> tuple[Problem, Views, Parameters]:
    """Three binary features and one unit: a posterior of three weights."""
    energy = Energy({"x": Bernoulli().restore(3, {})}, hidden.bind(1))
    values = np.random.default_rng(0).random((n_rows, 1)) < [[0.3, 0.5, 0.6]]
    values[: n_rows // 2, 1] = values[: n_rows // 2, 0]
    parameters = {
        "hidden.bias": np.full(1, -0.2, np.float32),
        "x.weights": np.full((3, 1), 0.1, np.float32),
        "x.bias": np.array([-0.5, 0.0, 0.3], np.float32),
    }
    x = values.astype(np.float32)
    return Problem(energy, {"x": x.mean(axis=0)}), Views({"x": x}), parameters


def exact_moments(problem: Problem, views: Views, parameters: Parameters, scale: float) -> np.ndarray:
    """E[WWᵀ] under the exact posterior: all states of the features, and quadrature over the three weights."""
    grid = np.linspace(-5 * scale, 5 * scale, 31)
    points = np.stack(np.meshgrid(grid, grid, grid, indexing="ij"), axis=-1).reshape(-1, 3)
    bias, hidden_bias = parameters["x.bias"].astype(float), float(parameters["hidden.bias"][0])

    def log_density(items: np.ndarray) -> np.ndarray:
        return items @ bias + problem.energy.hidden.log_partition(hidden_bias + points @ items.T)

    everything = np.array(list(itertools.product([0.0, 1.0], repeat=3)))
    data = np.asarray(views.batch(slice(None), problem.energy.families).views["x"].statistic, dtype=float)
    log_posterior = log_density(data).sum(axis=1) - len(data) * logsumexp(log_density(everything), axis=1)
    log_posterior -= np.square(points).sum(axis=1) / 2 / scale**2
    weight = np.exp(log_posterior - log_posterior.max())
    return np.einsum("k,ki,kj->ij", weight / weight.sum(), points, points)


def sampled_moments(driver: Driver, objective: Objective, parts: tuple[Problem, Views, Parameters]) -> np.ndarray:
    problem, views, parameters = parts
    training = Training({name: value.copy() for name, value in parameters.items()})
    driver.run(Run(problem, objective, Data(views), training, np.random.default_rng(0)))
    assert training.posterior is not None
    weights = training.posterior.array("x.weights")[..., 0]
    return np.einsum("cki,ckj->cij", weights, weights) / weights.shape[1]


FIXED: dict[str, Any] = {"start": None, "prior": GaussianPrior(scale=0.8)}


@pytest.mark.parametrize("settings", [{}, {"precondition": False}, {"schedule": "decaying"}, {"step": 0.3}], ids=str)
def test_chains_have_the_moments_of_the_exact_posterior(settings: dict[str, Any]) -> None:
    parts = tiny(BernoulliUnits())
    exact = exact_moments(*parts, scale=0.8)
    # the standard error is that of chains, which four would not tell well enough
    driver = Langevin(125, 100, thin=4, n_chains=8, biases="fixed", **FIXED, **settings)
    found = sampled_moments(driver, ExactLikelihood(), parts)
    error = found.std(axis=0, ddof=1) / np.sqrt(8)
    assert (np.abs(found.mean(axis=0) - exact) < 5 * error + 0.04).all()


def test_smaller_steps_are_nearer_to_the_exact_posterior() -> None:
    parts = tiny(BernoulliUnits())
    exact = exact_moments(*parts, scale=0.8)
    errors = []
    for step, thin in ((1.2, 1), (0.3, 6)):
        driver = Langevin(300, 50, thin, 4, step=step, precondition=False, biases="fixed", **FIXED)
        errors.append(np.abs(sampled_moments(driver, ExactLikelihood(), parts).mean(axis=0) - exact).mean())
    assert errors[1] < 0.5 * errors[0]


def test_without_data_chains_draw_from_the_prior_whatever_the_step() -> None:
    problem, _, parameters = tiny(BernoulliUnits())
    one = Views(
        {"x": np.zeros((1, 3), np.float32)}
    )  # an item of zeros says nothing of the weights with exact gradients
    parameters["hidden.bias"][:] = 0
    parameters["x.bias"][:] = -30.0  # nor does the model ever have a one
    driver = Langevin(
        1500, 50, 2, 4, step=1.0, precondition=False, biases="fixed", start=None, prior=GaussianPrior(0, 0.8)
    )
    found = sampled_moments(driver, ExactLikelihood(), (problem, one, parameters)).mean(axis=0)
    np.testing.assert_allclose(np.diag(found), 0.64, rtol=0.15)


@pytest.mark.parametrize("hidden", [BernoulliUnits(), GaussianUnits()], ids=repr)
def test_metropolis_has_the_moments_of_the_exact_posterior(hidden: HiddenLayer) -> None:
    parts = tiny(hidden)
    exact = exact_moments(*parts, scale=0.8)
    found = sampled_moments(Metropolis(80, 150, thin=6, n_chains=6, **FIXED), SampledCD(), parts)
    # nothing but chance: 6 standard errors of Student's t with 5 degrees of freedom are exceeded twice in a thousand
    assert (np.abs(found.mean(axis=0) - exact) < 6 * found.std(axis=0, ddof=1) / np.sqrt(6)).all()


@pytest.mark.parametrize("step", ["auto", 0.2, 0.8])
def test_adjusted_chains_have_the_exact_moments_whatever_the_step(step: Any) -> None:
    parts = tiny(BernoulliUnits())
    exact = exact_moments(*parts, scale=0.8)
    found = sampled_moments(AdjustedLangevin(40, 80, 4, 12, step, **FIXED), ExactLikelihood(), parts)
    assert (np.abs(found.mean(axis=0) - exact) < 6 * found.std(axis=0, ddof=1) / np.sqrt(12)).all()


def test_ratios_of_adjusted_steps_are_those_of_posteriors_and_proposals() -> None:
    rng = np.random.default_rng(0)
    prior = Normal(*(rng.uniform(0.5, 2, 3).astype(np.float32) for _ in range(2)))
    places = [{"x.weights": rng.normal(size=(3, 2)).astype(np.float32)} for _ in range(2)]
    known = [{"loss": rng.normal(size=1), "gradient.x": rng.normal(size=(3, 2))} for _ in range(2)]
    step, log_posterior, centre = 0.7, [], []
    for place, likelihood in zip(places, known, strict=True):
        weights, scale = place["x.weights"].astype(float), np.sqrt(prior.variance)[:, None]
        log_posterior.append(norm.logpdf(weights, prior.mean[:, None], scale).sum() - likelihood["loss"][0])
        slope = -(weights - prior.mean[:, None]) / scale**2 - likelihood["gradient.x"]
        centre.append(weights + step**2 / 2 * slope)
    forth, back = (norm.logpdf(places[to]["x.weights"], centre[start], step).sum() for start, to in ((0, 1), (1, 0)))
    expected = log_posterior[1] - log_posterior[0] + back - forth
    found = _log_ratio({"x": prior}, places[0], known[0], places[1], known[1], step)
    assert found == pytest.approx(expected, rel=1e-5)


def test_metropolis_by_gibbs_steps_where_items_cannot_be_drawn_exactly() -> None:
    counts = np.array([[0], [1], [3], [0], [4], [2], [0], [5], [1], [0]], dtype=np.float32)
    energy = Energy({"x": Poisson().restore(1, {})}, BernoulliUnits().bind(1))
    problem = Problem(energy, {"x": counts.mean(axis=0)})
    bias = {"hidden.bias": np.zeros(1, np.float32), "x.bias": np.zeros(1, np.float32)}
    training = Training({**bias, "x.weights": np.full((1, 1), 0.1, np.float32)})
    driver = Metropolis(100, 100, thin=3, n_chains=6, n_steps=5, **FIXED)
    driver.run(Run(problem, SampledCD(), Data(Views({"x": counts})), training, np.random.default_rng(0)))
    assert training.posterior is not None and training.log.history["exact"][-1] == 0
    weight = np.linspace(-4, 4, 2001)
    # Z = e + exp(e^W), as a count of mean 1 or e^W goes with a unit that is 0 or 1
    log_posterior = np.logaddexp(0, counts * weight).sum(axis=0) - len(counts) * np.logaddexp(1, np.exp(weight))
    posterior = np.exp(log_posterior - weight**2 / 2 / 0.8**2)
    expected = (posterior * weight**2).sum() / posterior.sum()  # even powers alone, as draws are turned to agree
    found = np.square(training.posterior.array("x.weights")).mean(axis=(1, 2, 3))
    assert abs(found.mean() - expected) < 6 * found.std(ddof=1) / np.sqrt(6)


@pytest.mark.parametrize("driver", [Metropolis, partial(Langevin, biases="fixed")], ids=str)
def test_chains_with_fixed_biases_share_them(driver: Any) -> None:
    model = BEFH(2, driver=driver(**QUICK), random_state=0).fit(np.eye(40)[:, :3])
    assert np.abs(posterior_draws(model)["view0.bias"] - model.fitted_.parameters["view0.bias"]).max() < 1e-6
    assert np.ptp(np.linalg.norm(posterior_draws(model)["hidden.bias"], axis=-1)) < 1e-6  # draws are rotated
    assert np.ptp(posterior_draws(model)["view0.weights"][:, 0], axis=0).max() > 0


def test_metropolis_refuses_weights_that_cannot_be_normalised() -> None:
    X = np.random.default_rng(0).normal(size=(30, 1)) @ np.ones((1, 2))  # two Gaussian layers need a norm below 1
    driver = Metropolis(40, 0, thin=1, n_chains=1, step=0.5, prior=GaussianPrior(scale=5.0), start=None)
    model = BEFH(1, Gaussian(), driver=driver, random_state=0).fit(X)
    norms = np.linalg.norm(posterior_draws(model)["view0.weights"][0], axis=(1, 2))
    assert norms.max() < 0.995 and len(np.unique(norms)) > 1
    assert (np.diff(norms) == 0).any()


@pytest.mark.parametrize(("family", "hidden"), compatible_pairs())
def test_every_pair_can_be_sampled(family: str, hidden: str) -> None:
    energy = Energy({"x": make_family(family)}, make_hidden(hidden))
    parameters = make_parameters(energy, 0, dtype=np.float32)
    batch = random_batch(energy, parameters, 20)
    statistic = np.asarray(batch.views["x"].statistic, dtype=np.float32)
    if energy.families["x"].support.data == "sequences":
        views = Views({"x": Sequences.from_counts(statistic, batch.views["x"].size)})
    else:
        views = Views({"x": np.asarray(energy.families["x"].codec.decode(statistic), dtype=np.float32)})
    problem = Problem(energy, {"x": statistic.mean(axis=0)})
    driver = Langevin(4, 10, 1, 2, start=None)
    training = Training(parameters)
    if isinstance(energy.hidden, SpikeSlab):
        with pytest.raises(IncompatiblePartsError, match="selects units"):
            driver.check_model(problem, SampledCD())
        return
    driver.check_model(problem, SampledCD())
    driver.run(Run(problem, SampledCD(), Data(views), training, np.random.default_rng(0)))
    assert training.posterior is not None and training.posterior.array("x.weights").shape[:2] == (2, 4)
    assert np.isfinite(energy.free_energy(training.parameters, batch)).all()


def test_pooled_ratios_are_estimated_for_each_total() -> None:
    gains = np.log([1.0, 3.0, 10.0, 30.0])
    kinds = np.array([[0.0, 1], [0, 1], [0, 5], [0, 5]])
    expected = 2 * np.log(2.0) + 2 * np.log(20.0)
    np.testing.assert_allclose(_log_of_means(gains, kinds), expected)


def test_views_of_zeros_and_chains_without_warm_up() -> None:
    model = BEFH(2, driver=Langevin(**{**QUICK, "start": None}), random_state=0).fit(np.eye(40)[:, :3])
    assert np.abs(posterior_draws(model)["view0.weights"]).max() < 10
    with pytest.raises(ValueError, match="warm-up"):
        BEFH(2, driver=Metropolis(**{**QUICK, "n_warmup": 0})).fit(np.eye(4))
    prior = {"prior": EmpiricalBayes(), "n_warmup": 0, "step": 0.1, "precondition": False}
    with pytest.raises(ValueError, match="learns in the warm-up"):
        BEFH(2, driver=Langevin(**{**QUICK, **prior})).fit(np.eye(4))


# ---- alignment -------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("hidden", ["GaussianUnits", "BernoulliUnits", "BinomialUnits"])
def test_alignment_changes_no_density_and_undoes_what_is_arbitrary(hidden: str) -> None:
    energy = Energy({"x": make_family("Bernoulli")}, make_hidden(hidden, 3))
    reference = make_parameters(energy, 0)
    other = make_parameters(energy, 1)
    aligned = align(energy, other, reference)
    batch = random_batch(energy, reference, 8)
    difference = energy.free_energy(other, batch) - energy.free_energy(aligned, batch)
    np.testing.assert_allclose(difference, difference[0], atol=1e-9)
    distance = [np.square(p["x.weights"] - reference["x.weights"]).sum() for p in (aligned, other)]
    assert distance[0] <= distance[1] + 1e-9
    order = [2, 0, 1]
    turned = {
        **reference,
        "x.weights": reference["x.weights"][:, order],
        "hidden.bias": reference["hidden.bias"][order],
    }
    np.testing.assert_allclose(align(energy, turned, reference)["x.weights"], reference["x.weights"], atol=1e-9)


def test_alignment_turns_the_covariance_of_factors_too() -> None:
    energy = Energy({"x": make_family("Bernoulli")}, FactorUnits().bind(2))
    reference, other = make_parameters(energy, 0), make_parameters(energy, 1)
    other["hidden.covariance"] = np.array([[1.0, 0.3], [0.3, 0.4]])
    batch = random_batch(energy, reference, 8)
    aligned = align(energy, other, reference)
    assert np.abs(aligned["x.weights"] - other["x.weights"]).max() > 0.01
    np.testing.assert_allclose(energy.free_energy(other, batch), energy.free_energy(aligned, batch), atol=1e-9)


def test_chains_that_go_on_after_an_interrupt_know_where_they_are() -> None:
    X = (np.random.default_rng(0).random((20, 4)) < 0.5).astype(float)
    driver = AdjustedLangevin(n_draws=6, n_warmup=6, thin=10, n_chains=2, start=None)
    model = Harmonium(2, objective=ExactLikelihood(), driver=driver, warm_start=True, random_state=0)
    with interrupting(AdjustedLangevin, "move", 2 * (6 + 25)), pytest.raises(KeyboardInterrupt):
        model.fit(X)
    recalled = []
    with patch.object(AdjustedLangevin, "recall", lambda *given: recalled.append(given[-1])):
        model.fit(X)
    assert len(recalled) == 2


def test_word_counts_are_sampled_too() -> None:
    """Words of two planted subjects, in texts of different lengths: words of one subject are coupled, by all draws."""
    rng = np.random.default_rng(0)
    subjects = np.where(np.arange(8) < 4, [[0.22], [0.03]], [[0.03], [0.22]])
    counts = np.stack([rng.multinomial(rng.integers(8, 30), subjects[row % 2]) for row in range(60)]).astype(float)
    model = BEFH(2, ReplicatedSoftmax(), driver=Langevin(**QUICK), random_state=0).fit(counts)
    draws = posterior_draws(model)["view0.weights"].reshape(-1, 8, 2)
    draws = draws - draws.mean(axis=1, keepdims=True)  # what all words have in common says nothing
    couplings = draws @ draws.transpose(0, 2, 1)
    within, between = couplings[:, :4, 1:4].mean(axis=(1, 2)), couplings[:, :4, 4:].mean(axis=(1, 2))
    assert (within > between).all()
    mean, deviation = model.transform(counts, return_std=True)
    assert np.isfinite(mean).all() and (deviation > 0).all()
