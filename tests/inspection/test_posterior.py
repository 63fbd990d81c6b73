"""What estimators make of draws: means and spreads, intervals, files, and learning on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import harmonium
from harmonium import BDWH, BEFH, Langevin, Stochastic
from harmonium.hidden import BernoulliUnits
from harmonium.inspection import canonical_signs, diagnostics, posterior_draws, to_arviz
from harmonium.objectives import ExactLikelihood, MeanFieldCD, Objective, PersistentCD, SampledCD
from harmonium.training import AdjustedLangevin, EmpiricalBayes, GaussianPrior, HierarchicalPrior, Metropolis
from tests.cases.posterior import QUICK, fitted, two_views


def test_draws_mean_and_spread() -> None:
    model, X = fitted(), two_views()
    draws = posterior_draws(model)
    assert draws["words.weights"].shape == (2, 6, 9, 3)
    np.testing.assert_allclose(
        model.fitted_.parameters["words.weights"], draws["words.weights"].mean(axis=(0, 1)), atol=1e-6
    )
    mean, deviation = model.transform(X, return_std=True)
    np.testing.assert_allclose(mean, model.transform(X), atol=1e-4)
    by_hand = [
        X["words"] @ draws["words.weights"][c, k]
        + model.families_["colour"].codec.encode(X["colour"]) @ draws["colour.weights"][c, k]
        + draws["hidden.bias"][c, k]
        for c in range(2)
        for k in range(6)
    ]
    np.testing.assert_allclose(mean, np.mean(by_hand, axis=0), atol=1e-4)
    np.testing.assert_allclose(deviation, np.std(by_hand, axis=0), atol=1e-4)


def test_binary_units_average_their_means_over_draws() -> None:
    X = two_views()["words"]
    model = BEFH(3, hidden=BernoulliUnits(), driver=Langevin(**QUICK), random_state=0).fit(X)
    draws = posterior_draws(model)
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
        posterior_draws(BDWH(3, driver=Langevin(**QUICK), random_state=1, n_jobs=n_jobs).fit(two_views()))
        for n_jobs in (1, 2)
    )
    for name, value in first.items():
        np.testing.assert_array_equal(value, second[name])


def test_fitting_on_adds_draws(tmp_path: Path) -> None:
    model = fitted().set_params(warm_start=True)
    first = diagnostics(model, 5)
    model.fit(two_views())
    assert posterior_draws(model)["words.weights"].shape[:2] == (2, 12)
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
        posterior_draws(model)


def test_learning_on_by_batches_drops_the_draws() -> None:
    model, X = fitted(), two_views()
    model.set_params(driver=Stochastic(learning_rate=0.5)).partial_fit(X)
    moved = model.transform(X)
    with pytest.raises(AttributeError, match="single set"):
        posterior_draws(model)
    by_hand = X["words"] @ model.fitted_.parameters["words.weights"]
    by_hand += model.families_["colour"].codec.encode(X["colour"]) @ model.fitted_.parameters["colour.weights"]
    np.testing.assert_allclose(moved, by_hand + model.fitted_.parameters["hidden.bias"], atol=1e-3)


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
    np.testing.assert_array_equal(
        model.fitted_.posterior.prior["words"].variance, loaded.fitted_.posterior.prior["words"].variance
    )
    loaded.set_params(warm_start=True).fit(X)
    assert posterior_draws(loaded)["words.weights"].shape[:2] == (2, 12)


def test_signs_turn_all_draws() -> None:
    X = two_views()["words"]
    model = BEFH(3, hidden=BernoulliUnits(), driver=Langevin(**QUICK), random_state=0).fit(X)
    model = canonical_signs(model)
    weights = posterior_draws(model)["view0.weights"]
    np.testing.assert_allclose(model.fitted_.parameters["view0.weights"], weights.mean(axis=(0, 1)), atol=1e-5)


def test_export_to_arviz() -> None:
    arviz = pytest.importorskip("arviz")
    model = fitted(n_draws=20)
    summary = arviz.summary(to_arviz(model, n_pairs=4), round_to="none")
    ours = diagnostics(model, n_pairs=4)
    np.testing.assert_allclose(summary["r_hat"].to_numpy(float), ours["r_hat"].to_numpy(), rtol=1e-5)


def test_priors_by_view_and_what_they_do() -> None:
    prior = {"words": GaussianPrior(scale=1e-3), "colour": EmpiricalBayes()}
    model = BDWH(3, prior=prior, random_state=0)
    model.set_params(driver__n_draws=5, driver__n_warmup=40, driver__n_chains=1, driver__start=Stochastic(max_iter=1))
    model.fit(two_views())
    assert np.abs(model.fitted_.parameters["words.weights"]).max() < 0.01
    np.testing.assert_allclose(model.fitted_.posterior.prior["words"].variance, 1e-6, rtol=1e-5)


def test_langevin_draws_the_scale_of_its_prior_unless_one_is_given() -> None:
    default, drawn, given = (
        fitted(prior=prior).fitted_.posterior.prior["words"] for prior in (None, HierarchicalPrior(), GaussianPrior())
    )
    np.testing.assert_array_equal(default.variance, drawn.variance)
    np.testing.assert_array_equal(default.mean, 0)
    assert (default.variance != given.variance).all()
    without_warm_up = fitted(prior=None, n_warmup=0, step=0.05, precondition=False)
    assert (without_warm_up.fitted_.posterior.prior["words"].variance != given.variance).all()
    names_one_view = fitted(prior={"colour": GaussianPrior(scale=0.5)})
    np.testing.assert_allclose(names_one_view.fitted_.posterior.prior["colour"].variance, 0.25, rtol=1e-6)
    assert (names_one_view.fitted_.posterior.prior["words"].variance != given.variance).all()


def test_other_drivers_take_the_prior_as_it_begins() -> None:
    X = two_views()["words"]
    for kind, objective in ((Metropolis, SampledCD()), (AdjustedLangevin, ExactLikelihood())):
        of_default, of_given = (
            BEFH(2, objective=objective, driver=kind(**QUICK, prior=prior), random_state=0)
            .fit(X)
            .fitted_.posterior.prior["view0"]
            for prior in (None, GaussianPrior())
        )
        np.testing.assert_array_equal(of_default.variance, of_given.variance)


@pytest.mark.parametrize("objective", [SampledCD(2), PersistentCD(), MeanFieldCD()], ids=repr)
def test_any_gradient_will_do(objective: Objective) -> None:
    model = BDWH(2, objective=objective, driver=Langevin(**QUICK), random_state=0).fit(two_views())
    assert np.isfinite(model.transform(two_views())).all()


def test_rows_in_part() -> None:
    model = BDWH(2, driver=Langevin(**QUICK, batch_size=7), random_state=0).fit(two_views())
    assert posterior_draws(model)["words.weights"].shape == (2, 6, 9, 2)
