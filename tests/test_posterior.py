"""Posterior sampling: chains against exact posteriors, priors, alignment, checkpoints, and what estimators show."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import logsumexp
from sklearn.exceptions import NotFittedError

import harmonium
from harmonium import (
    BDWH,
    BEFH,
    IBP,
    Bernoulli,
    BernoulliUnits,
    EmpiricalBayes,
    ExactLikelihood,
    GaussianPrior,
    Harmonium,
    HarmoniumClassifier,
    IncompatiblePartsError,
    Langevin,
    MeanFieldCD,
    Metropolis,
    ModelFileError,
    PersistentCD,
    SampledCD,
    Stochastic,
)
from harmonium.energy import Energy
from harmonium.hidden import HiddenLayer, SpikeSlab
from harmonium.inference.symmetry import align
from harmonium.kernels.langevin import langevin_step
from harmonium.kernels.threads import compute
from harmonium.objectives import Objective, Problem
from harmonium.params import Parameters
from harmonium.training import Driver, Training, checkpoint
from harmonium.training.metropolis import _log_ratio_of_partitions
from harmonium.training.priors import Moments, Normal
from harmonium.training.progress import Silent
from harmonium.views import Sequences, Views

from .conftest import compatible_pairs, make_family, make_hidden, make_parameters, random_batch

QUICK = {"n_draws": 6, "n_warmup": 20, "thin": 2, "n_chains": 2, "start": Stochastic(max_iter=2)}


def two_views(n_rows: int = 40, seed: int = 0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    topics = rng.normal(size=(n_rows, 2))
    return {
        "words": (rng.random((n_rows, 9)) < 1 / (1 + np.exp(-topics @ rng.normal(size=(2, 9))))).astype(float),
        "colour": topics @ rng.normal(size=(2, 4)) + 0.5 * rng.normal(size=(n_rows, 4)),
    }


def fitted(**settings: Any) -> Harmonium:
    return BDWH(3, driver=Langevin(**{**QUICK, **settings}), random_state=0).fit(two_views())


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
        return items @ bias + np.logaddexp(0, hidden_bias + points @ items.T)

    everything = np.array(list(itertools.product([0.0, 1.0], repeat=3)))
    data = np.asarray(views.batch(slice(None), problem.energy.families).views["x"].statistic, dtype=float)
    log_posterior = log_density(data).sum(axis=1) - len(data) * logsumexp(log_density(everything), axis=1)
    log_posterior -= np.square(points).sum(axis=1) / 2 / scale**2
    weight = np.exp(log_posterior - log_posterior.max())
    return np.einsum("k,ki,kj->ij", weight / weight.sum(), points, points)


def sampled_moments(driver: Driver, objective: Objective, parts: tuple[Problem, Views, Parameters]) -> np.ndarray:
    problem, views, parameters = parts
    training = Training({name: value.copy() for name, value in parameters.items()})
    driver.run(problem, objective, views, training, np.random.default_rng(0), Silent())
    assert training.posterior is not None
    weights = training.posterior.array("x.weights")[..., 0]
    return np.einsum("cki,ckj->cij", weights, weights) / weights.shape[1]


FIXED: dict[str, Any] = {"start": None, "prior": GaussianPrior(scale=0.8)}


@pytest.mark.parametrize("settings", [{}, {"precondition": False}, {"schedule": "decaying"}, {"step": 0.3}], ids=str)
def test_chains_have_the_moments_of_the_exact_posterior(settings: dict[str, Any]) -> None:
    parts = tiny(BernoulliUnits())
    exact = exact_moments(*parts, scale=0.8)
    driver = Langevin(250, 100, thin=4, n_chains=4, biases="fixed", **FIXED, **settings)
    found = sampled_moments(driver, ExactLikelihood(), parts)
    error = found.std(axis=0, ddof=1) / 2
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


def test_metropolis_has_the_moments_of_the_exact_posterior() -> None:
    parts = tiny(BernoulliUnits(), n_rows=12)
    exact = exact_moments(*parts, scale=0.8)
    driver = Metropolis(200, 200, thin=5, n_chains=4, **FIXED)
    found = sampled_moments(driver, SampledCD(20), parts)
    # the estimated ratio of partition functions is noisy: a tenth of the prior's variance is what it is good for
    assert (np.abs(found.mean(axis=0) - exact) < 5 * found.std(axis=0, ddof=1) / 2 + 0.064).all()


@pytest.mark.parametrize(("family", "hidden"), compatible_pairs())
def test_every_pair_can_be_sampled(family: str, hidden: str) -> None:
    energy = Energy({"x": make_family(family)}, make_hidden(hidden))
    parameters = make_parameters(energy, 0, dtype=np.float32)
    batch = random_batch(energy, parameters, 20)
    statistic = np.asarray(batch.views["x"].statistic, dtype=np.float32)
    if energy.families["x"].data == "sequences":
        views = Views({"x": Sequences.from_counts(statistic, batch.views["x"].size)})
    else:
        views = Views({"x": np.asarray(energy.families["x"].decode_sample(statistic), dtype=np.float32)})
    problem = Problem(energy, {"x": statistic.mean(axis=0)})
    driver = Langevin(4, 10, 1, 2, start=None)
    training = Training(parameters)
    if isinstance(energy.hidden, SpikeSlab):
        with pytest.raises(IncompatiblePartsError, match="selects units"):
            driver.run(problem, SampledCD(), views, training, np.random.default_rng(0), Silent())
        return
    driver.run(problem, SampledCD(), views, training, np.random.default_rng(0), Silent())
    assert training.posterior is not None and training.posterior.array("x.weights").shape[:2] == (2, 4)
    assert np.isfinite(energy.free_energy(training.parameters, batch)).all()


def test_ratios_of_partitions_are_estimated_for_each_total() -> None:
    log_weights = np.log([1.0, 3.0, 10.0, 30.0])
    kinds = np.array([[0.0, 1], [0, 1], [0, 5], [0, 5]])
    expected = 2 * np.log(2.0) + 2 * np.log(20.0)
    np.testing.assert_allclose(_log_ratio_of_partitions(log_weights, kinds), expected)


def test_views_of_zeros_and_chains_without_warm_up() -> None:
    model = BEFH(2, driver=Langevin(**{**QUICK, "start": None}), random_state=0).fit(np.eye(40)[:, :3])
    assert np.abs(model.posterior_["view0.weights"]).max() < 10
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


# ---- estimators ------------------------------------------------------------------------------------------------------
def test_draws_mean_and_spread() -> None:
    model, X = fitted(), two_views()
    draws = model.posterior_
    assert draws["words.weights"].shape == (2, 6, 9, 3)
    np.testing.assert_allclose(model.parameters_["words.weights"], draws["words.weights"].mean(axis=(0, 1)), atol=1e-6)
    mean, deviation = model.transform(X, return_std=True)
    np.testing.assert_allclose(mean, model.transform(X), atol=1e-4)
    by_hand = [
        X["words"] @ draws["words.weights"][c, k]
        + model.families_["colour"].encode(X["colour"]) @ draws["colour.weights"][c, k]
        + draws["hidden.bias"][c, k]
        for c in range(2)
        for k in range(6)
    ]
    np.testing.assert_allclose(mean, np.mean(by_hand, axis=0), atol=1e-4)
    np.testing.assert_allclose(deviation, np.std(by_hand, axis=0), atol=1e-4)


def test_binary_units_average_their_means_over_draws() -> None:
    X = two_views()["words"]
    model = BEFH(3, hidden=BernoulliUnits(), driver=Langevin(**QUICK), random_state=0).fit(X)
    draws = model.posterior_
    by_hand = [
        1 / (1 + np.exp(-(X @ draws["view0.weights"][c, k] + draws["hidden.bias"][c, k])))
        for c in range(2)
        for k in range(6)
    ]
    np.testing.assert_allclose(model.transform(X), np.mean(by_hand, axis=0), atol=1e-5)


@pytest.mark.parametrize("of", ["value", "mean"])
def test_intervals_of_a_view(of: Any) -> None:
    model, X = fitted(), two_views()
    mean, lower, upper = model.predict_view("colour", {"words": X["words"]}, interval=0.8, of=of)
    assert mean.shape == (40, 4) and (lower <= upper).all()
    np.testing.assert_allclose(mean, model.predict_view("colour", {"words": X["words"]}))
    wider = model.predict_view("colour", {"words": X["words"]}, interval=0.95, of=of)
    assert (wider.upper - wider.lower).mean() > (upper - lower).mean()


def test_values_have_intervals_without_draws_too() -> None:
    X = two_views()
    model = harmonium.DWH(3, driver=Stochastic(max_iter=20), random_state=0).fit(X)
    _, lower, upper = model.predict_view("colour", {"words": X["words"]}, interval=0.9)
    assert 0.7 < ((X["colour"] > lower) & (X["colour"] < upper)).mean() < 1


def test_missing_views_and_cells_are_inferred_by_every_draw() -> None:
    X = two_views()
    X["colour"][3], X["colour"][5, 1] = np.nan, np.nan
    model = BDWH(3, driver=Langevin(**QUICK), random_state=0).fit(X)
    mean, deviation = model.transform(X, return_std=True)
    assert np.isfinite(mean).all() and (deviation > 0).all()
    np.testing.assert_allclose(mean, model.transform(X), atol=1e-5)


def test_same_seed_same_draws_on_one_thread_or_two() -> None:
    first, second = (
        BDWH(3, driver=Langevin(**QUICK), random_state=1, n_jobs=n_jobs).fit(two_views()).posterior_
        for n_jobs in (1, 2)
    )
    for name, value in first.items():
        np.testing.assert_array_equal(value, second[name])


def test_fitting_on_adds_draws(tmp_path: Path) -> None:
    model = fitted().set_params(warm_start=True)
    first = model.diagnostics(5)
    model.fit(two_views())
    assert model.posterior_["words.weights"].shape[:2] == (2, 12)
    assert list(first.columns) == ["mean", "std", "ess", "r_hat"]
    model.set_params(driver=Langevin(**{**QUICK, "n_chains": 3}))
    with pytest.raises(ValueError, match="2 chains it began with"):
        model.fit(two_views())
    for other in (Langevin(**{**QUICK, "prior": GaussianPrior(scale=2.0)}), Metropolis(**QUICK)):
        with pytest.raises(ValueError, match="warm_start=False"):
            model.set_params(driver=other).fit(two_views())
    with pytest.raises(ValueError, match="warm_start=False"):
        model.set_params(driver=Langevin(**QUICK)).fit(two_views(seed=1))
    model.set_params(driver=Stochastic(max_iter=1)).fit(two_views())
    with pytest.raises(AttributeError, match="single set"):
        model.posterior_  # noqa: B018


def test_learning_on_by_batches_drops_the_draws() -> None:
    model, X = fitted(), two_views()
    model.set_params(driver=Stochastic(learning_rate=0.5)).partial_fit(X)
    moved = model.transform(X)
    with pytest.raises(AttributeError, match="single set"):
        model.posterior_  # noqa: B018
    by_hand = X["words"] @ model.parameters_["words.weights"]
    by_hand += model.families_["colour"].encode(X["colour"]) @ model.parameters_["colour.weights"]
    np.testing.assert_allclose(moved, by_hand + model.parameters_["hidden.bias"], atol=1e-3)


def test_a_few_draws_simulate_enough_values() -> None:
    X = two_views()
    narrow = fitted(n_draws=1, n_chains=1).predict_view("colour", {"words": X["words"]}, interval=0.9)
    assert ((X["colour"] > narrow.lower) & (X["colour"] < narrow.upper)).mean() > 0.7


def test_files_keep_draws_and_prior(tmp_path: Path) -> None:
    model, X = fitted(), two_views()
    model.save(tmp_path / "model.safetensors")
    loaded = harmonium.load(tmp_path / "model.safetensors")
    for one, other in zip(model.transform(X, return_std=True), loaded.transform(X, return_std=True), strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(model.prior_["words"].variance, loaded.prior_["words"].variance)
    loaded.set_params(warm_start=True).fit(X)
    assert loaded.posterior_["words.weights"].shape[:2] == (2, 12)


def test_signs_turn_all_draws() -> None:
    X = two_views()["words"]
    model = BEFH(3, hidden=BernoulliUnits(), driver=Langevin(**QUICK), random_state=0).fit(X)
    model.canonical_signs()
    weights = model.posterior_["view0.weights"]
    np.testing.assert_allclose(model.parameters_["view0.weights"], weights.mean(axis=(0, 1)), atol=1e-5)


def test_export_to_arviz() -> None:
    arviz = pytest.importorskip("arviz")
    model = fitted(n_draws=20)
    summary = arviz.summary(model.to_arviz(n_pairs=4), round_to="none")
    ours = model.diagnostics(n_pairs=4)
    np.testing.assert_allclose(summary["r_hat"].to_numpy(float), ours["r_hat"].to_numpy(), rtol=1e-5)


def test_priors_by_view_and_what_they_do() -> None:
    prior = {"words": GaussianPrior(scale=1e-3), "colour": EmpiricalBayes()}
    model = BDWH(3, prior=prior, random_state=0)
    model.set_params(driver__n_draws=5, driver__n_warmup=40, driver__n_chains=1, driver__start=Stochastic(max_iter=1))
    model.fit(two_views())
    assert np.abs(model.parameters_["words.weights"]).max() < 0.01
    np.testing.assert_allclose(model.prior_["words"].variance, 1e-6, rtol=1e-5)


@pytest.mark.parametrize("objective", [SampledCD(2), PersistentCD(), MeanFieldCD()], ids=repr)
def test_any_gradient_will_do(objective: Objective) -> None:
    model = BDWH(2, objective=objective, driver=Langevin(**QUICK), random_state=0).fit(two_views())
    assert np.isfinite(model.transform(two_views())).all()


def test_rows_in_part() -> None:
    model = BDWH(2, driver=Langevin(**QUICK, batch_size=7), random_state=0).fit(two_views())
    assert model.posterior_["words.weights"].shape == (2, 6, 9, 2)


# ---- checkpoints -----------------------------------------------------------------------------------------------------
class Interrupted(Exception):
    pass


@pytest.mark.parametrize("driver", [Langevin(**QUICK), Langevin(**QUICK, batch_size=9), Metropolis(**QUICK)], ids=repr)
@pytest.mark.parametrize("after", [9, 25])
def test_interrupted_runs_go_on_exactly(
    driver: Driver, after: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = BDWH(3, driver=driver, random_state=0).fit(two_views())
    monkeypatch.setattr(checkpoint, "_SECONDS", 0.0)
    path = tmp_path / "run.safetensors"
    kept = driver.bound().set_params(checkpoint=path)
    move, count = type(driver).move, 0

    def interrupted(self: Any, *arguments: Any) -> None:
        nonlocal count
        count += 1
        if count > 2 * after:
            raise Interrupted
        move(self, *arguments)

    model = BDWH(3, driver=kept, random_state=0)
    with monkeypatch.context() as patch:
        patch.setattr(type(driver), "move", interrupted)
        with pytest.raises(Interrupted):
            model.fit(two_views())
    assert path.exists() and not hasattr(model, "families_")
    with pytest.raises(ValueError, match="same settings and data"):
        BDWH(2, driver=kept, random_state=0).fit(two_views())
    model.fit(two_views())
    assert not path.exists()
    for name, value in whole.posterior_.items():
        np.testing.assert_array_equal(value, model.posterior_[name])
    np.testing.assert_array_equal(whole.history_["step"], model.history_["step"])


def test_what_is_no_checkpoint_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("not a model")
    with pytest.raises(ModelFileError, match="earlier fit"):
        fitted(checkpoint=path)
    assert path.read_text() == "not a model"


# ---- what is refused -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_draws": 0}, "n_draws"),
        ({"n_warmup": -1}, "n_warmup"),
        ({"n_warmup": 0}, "tunes its steps"),
        ({"thin": 1.5}, "thin"),
        ({"n_chains": 0}, "n_chains"),
        ({"step": "large"}, "'auto'"),
        ({"step": -1.0}, "step"),
        ({"schedule": "cosine"}, "schedule"),
        ({"precondition": "yes"}, "precondition"),
        ({"batch_size": 0}, "batch_size"),
        ({"biases": "free"}, "biases"),
        ({"start": "here"}, "start"),
        ({"start": Langevin()}, "start"),
        ({"prior": 1.0}, "prior"),
        ({"prior": GaussianPrior(scale=0.0)}, "scale"),
        ({"prior": EmpiricalBayes(per="word")}, "per"),  # type: ignore[arg-type]
        ({"prior": {"sound": GaussianPrior()}}, "sound"),
        ({"checkpoint": 3}, "checkpoint"),
    ],
    ids=str,
)
def test_bad_settings_get_one_sentence(settings: dict[str, Any], message: str) -> None:
    model = BDWH(3, driver=Langevin(**{**QUICK, **settings}), random_state=0)
    with pytest.raises((ValueError, TypeError), match=message) as caught:
        model.fit(two_views())
    assert str(caught.value).count("\n") == 0 and not hasattr(model, "families_")


def test_what_draws_are_needed_for_says_so() -> None:
    X = two_views()
    model = harmonium.DWH(3, driver=Stochastic(max_iter=1), random_state=0).fit(X)
    with pytest.raises(ValueError, match="Langevin"):
        model.transform(X, return_std=True)
    with pytest.raises(ValueError, match="of='value'"):
        model.predict_view("colour", {"words": X["words"]}, interval=0.9, of="mean")
    with pytest.raises(ValueError, match="between 0 and 1"):
        model.predict_view("colour", {"words": X["words"]}, interval=1.0)
    with pytest.raises(AttributeError, match="Langevin"):
        model.to_arviz()
    with pytest.raises(NotFittedError):
        Harmonium().diagnostics()


def test_what_cannot_be_sampled_is_refused() -> None:
    X = two_views()
    with pytest.raises(IncompatiblePartsError, match="head"):
        HarmoniumClassifier(3, driver=Langevin(**QUICK)).fit(X, np.arange(40) % 2)
    with pytest.raises(IncompatiblePartsError, match="selects units"):
        Harmonium(hidden=IBP(truncation=4), driver=Langevin(**QUICK)).fit(X)
    with pytest.raises(IncompatiblePartsError, match="SampledCD"):
        BDWH(3, objective=MeanFieldCD(), driver=Metropolis(**QUICK)).fit(X)
    with pytest.raises(IncompatiblePartsError, match="remembers nothing"):
        BDWH(3, objective=PersistentCD(), driver=Langevin(**QUICK, checkpoint="run.safetensors")).fit(X)
    with pytest.raises(ValueError, match="pass it to the driver"):
        BDWH(3, prior=GaussianPrior(), driver=Langevin())
