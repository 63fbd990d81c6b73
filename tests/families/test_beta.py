"""Shares: known numbers of Beta distributions, ends of the interval, recovery of a known truth, files, reports."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from scipy.special import polygamma
from scipy.stats import beta, kstest

import harmonium
from harmonium import Bernoulli, Gaussian, Harmonium, HarmoniumClassifier, Hinge, Stochastic, Views
from harmonium.core.batch import Batch, ViewBatch
from harmonium.core.parameters import HIDDEN_BIAS, bias_of, weights_of
from harmonium.energy import Energy, log_weight
from harmonium.exceptions import IncompatiblePartsError, InvalidViewError
from harmonium.families import Beta
from harmonium.families.beta import _trigamma
from harmonium.hidden import BernoulliUnits, BinomialUnits, GaussianUnits
from harmonium.inference.exact import exact_expectations, exact_log_partition, hidden_states
from harmonium.inference.gibbs import gibbs_step
from harmonium.inspection import annotate_view, log_partition
from harmonium.objectives import ExactLikelihood, Objective, SampledCD
from harmonium.report import explained_table, feature_examples, topic_table
from harmonium.training.drivers.projection import project
from tests.cases.bad_input import refuse, refuse_fit
from tests.cases.persist import refused, rewritten, tensor

# a and b of columns that are flat, skewed, tight, and pushed to both ends or to one
SHAPES = np.array([[1.0, 2.0, 3000.0, 0.05, 6.0], [1.0, 5.0, 1000.0, 0.3, 0.4]])


def bound(shares: np.ndarray, **settings: Any) -> Beta:
    return Beta(**settings).bind(Views({"x": shares}).source("x").summary())


def columns_of(shapes: np.ndarray, n_rows: int = 400, seed: int = 0) -> np.ndarray:
    return np.clip(np.random.default_rng(seed).beta(*shapes, size=(n_rows, shapes.shape[1])), 1e-12, 1 - 1e-12)


@pytest.fixture(scope="module")
def family() -> Beta:
    return bound(columns_of(SHAPES))


@pytest.fixture(scope="module")
def natural(family: Beta) -> np.ndarray:
    return SHAPES.ravel()[None, :] * family.scale_


# ---- known numbers ---------------------------------------------------------------------------------------------------
def test_densities_are_those_of_scipy(family: Beta, natural: np.ndarray) -> None:
    """In the user's units, whatever the constants."""
    shares = columns_of(SHAPES, 7, seed=1)
    log_density = log_weight(family, ViewBatch(family.codec.encode(shares)), natural, {})
    log_density += family.codec.log_volume.sum() - family.log_partition(natural).sum()
    np.testing.assert_allclose(log_density, beta.logpdf(shares, *SHAPES).sum(axis=1), rtol=1e-9)


def test_moments_of_logarithms_are_sums_of_fractions() -> None:
    """Of Beta(2, 3): ψ(5) - ψ(2) = 1/2 + 1/3 + 1/4, and ψ'(2) - ψ'(5) = 1/4 + 1/9 + 1/16."""
    family = Beta().restore(2, {"location": np.zeros(2), "scale": np.ones(2), "deviation": np.ones(1)})
    shapes = np.array([[2.0, 3.0]])
    np.testing.assert_allclose(family.mean(shapes), [[-13 / 12, -7 / 12]])
    np.testing.assert_allclose(family.statistic_variance(family.mean(shapes)[0]), [61 / 144, 25 / 144])
    np.testing.assert_allclose(family.natural_from_mean(np.array([-13 / 12, -7 / 12])), [2, 3])
    np.testing.assert_allclose(family.expected(shapes), [[0.4]])
    np.testing.assert_allclose(family.log_partition(shapes), [[np.log(1 / 12)]])  # B(2, 3) = 1! 2! / 4!


def test_means_and_variances_are_slopes(family: Beta, natural: np.ndarray) -> None:
    def log_partition(moved: np.ndarray) -> float:
        return float(family.log_partition(moved).sum())

    mean, variance = family.mean(natural)[0], family.statistic_variance(family.mean(natural)[0])
    for feature in range(family.n_features_):
        step = 1e-4 * natural[0, feature]
        shift = np.zeros_like(natural)
        shift[0, feature] = step
        slope = (log_partition(natural + shift) - log_partition(natural - shift)) / (2 * step)
        assert mean[feature] == pytest.approx(slope, rel=1e-5, abs=1e-6)
        slope = (family.mean(natural + shift) - family.mean(natural - shift))[0, feature] / (2 * step)
        assert variance[feature] == pytest.approx(slope, rel=1e-4)


def test_trigamma_is_that_of_scipy() -> None:
    values = 10 ** np.linspace(-4, 8, 200)
    np.testing.assert_allclose(_trigamma(values), polygamma(1, values), rtol=1e-12)


def test_samples_follow_the_distribution(family: Beta, natural: np.ndarray) -> None:
    drawn = family.sample(np.repeat(natural, 5000, axis=0), np.random.default_rng(0))
    assert np.isfinite(drawn).all()
    for column, shares in enumerate(family.codec.decode(drawn).T):
        assert kstest(shares, beta(*SHAPES[:, column]).cdf).pvalue > 1e-3


def test_logarithms_of_tiny_shares_are_drawn_exactly() -> None:
    """-a log x of Beta(a, 1) is exponential, though at a = 0.02 a quarter of the shares lie below 1e-30."""
    family = Beta().restore(2, {"location": np.zeros(2), "scale": np.ones(2), "deviation": np.ones(1)})
    for natural, column in ((np.array([[0.02, 1.0]]), 0), (np.array([[1.0, 0.02]]), 1)):
        drawn = family.sample(np.repeat(natural, 5000, axis=0), np.random.default_rng(1))
        assert drawn[:, column].min() < np.log(1e-30)
        assert kstest(-0.02 * drawn[:, column], "expon").pvalue > 1e-3
        assert (drawn[:, 1 - column] < 0).all()
        shares = family.codec.decode(drawn).astype(np.float32)
        assert family.support.contains(shares).all()


def test_naturals_are_found_from_means_of_any_size() -> None:
    shapes = 10 ** np.random.default_rng(0).uniform(-2, 4, size=(2, 200))
    family = Beta().restore(
        400, {"location": np.full(400, -1.0), "scale": np.full(400, 0.3), "deviation": np.ones(200)}
    )
    natural = shapes.ravel() * family.scale_
    np.testing.assert_allclose(family.natural_from_mean(family.mean(natural[None, :])[0]), natural, rtol=1e-5)


def test_naturals_are_maximum_likelihood_estimates(family: Beta) -> None:
    shares = columns_of(SHAPES[:, :3])
    part = bound(shares)
    found = (part.natural_from_mean(part.codec.encode(shares).mean(axis=0)) / part.scale_).reshape(2, -1)
    for column in range(3):
        np.testing.assert_allclose(found[:, column], beta.fit(shares[:, column], floc=0, fscale=1)[:2], rtol=2e-3)


def test_means_that_no_distribution_has_get_a_finite_natural() -> None:
    """Shares that never vary have the logarithms of a point."""
    constant = bound(np.full((5, 2), 0.3))
    natural = constant.natural_from_mean(constant.codec.encode(np.full((1, 2), 0.3))[0])
    assert np.isfinite(natural).all()
    np.testing.assert_allclose(constant.expected(natural[None, :]), 0.3, rtol=1e-4)


@pytest.mark.parametrize(
    ("shapes", "share"),
    [
        ((3, 2), 2 / 3),
        ((2, 1), 0.99),
        ((1, 2), 0.01),
        ((0.5, 3), 0.01),
        ((0.3, 0.2), 0.99),
        ((0.3, 0.3), 0.01),
        ((1, 1), 0.5),
    ],
)
def test_modes(shapes: tuple[float, float], share: float) -> None:
    """The peak, or the end that has the larger density, as far as the margin."""
    constants = {"location": np.zeros(2), "scale": np.ones(2), "deviation": np.ones(1)}
    family = Beta(margin=0.01).restore(2, constants)
    found = family.codec.decode(family.mode(np.array([shapes], dtype=float)))[0, 0]
    assert found == pytest.approx(share)
    grid = np.linspace(0.01, 0.99, 981)
    assert beta.pdf(found, *shapes) >= beta.pdf(grid, *shapes).max() - 1e-9


# ---- constants -------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "shares",
    [
        columns_of(SHAPES),
        0.5 + 1e-5 * np.random.default_rng(0).normal(size=(300, 2)),
        np.where(np.arange(300)[:, None] % 2, 0.02, 0.98) + 0.001 * np.random.default_rng(0).normal(size=(300, 2)),
        np.random.default_rng(0).beta(0.5, 1e7, size=(300, 2)),
        1 - np.random.default_rng(0).beta(2, 1e5, size=(300, 2)),
    ],
    ids=["mixed", "tight", "two peaks", "tiny", "near one"],
)
def test_statistics_are_standardised(shares: np.ndarray) -> None:
    """About, as only mean, variance and range of the shares are known."""
    family = bound(shares)
    statistic = family.codec.encode(shares)
    assert (np.abs(statistic.mean(axis=0)) < 1.2).all()
    assert ((statistic.std(axis=0) > 0.2) & (statistic.std(axis=0) < 3)).all()
    np.testing.assert_allclose(family.codec.decode(statistic), shares, rtol=1e-7)


def test_columns_that_never_vary_have_constants_too() -> None:
    family = bound(np.full((5, 1), 0.7))
    assert (family.scale_ > 0).all() and (family.deviation_ > 0).all()
    np.testing.assert_allclose(family.codec.encode(np.array([[0.7]])), 0, atol=1e-9)


def test_share_and_rest_are_features_of_one_site() -> None:
    family = bound(columns_of(SHAPES))
    assert (family.codec.n_columns, family.codec.n_sites, family.n_features_) == (5, 5, 10)
    values = columns_of(SHAPES, 3)
    values[1, 2] = np.nan
    statistic = family.codec.encode(values)
    missing = family.codec.missing_sites(statistic)
    assert missing.sum() == 1 and missing[1, 2]
    np.testing.assert_array_equal(family.codec.spread(missing), np.isnan(statistic))
    assert family.codec.feature_names(["liver"] * 5)[4:6] == ["liver", "1 - liver"]


# ---- ends of the interval --------------------------------------------------------------------------------------------
def shares_of_items(n_rows: int = 60, n_columns: int = 4) -> np.ndarray:
    return columns_of(np.full((2, n_columns), 3.0), n_rows)


def quick(views: Any = None, **settings: Any) -> Harmonium:
    return Harmonium(3, views=views or {"x": Beta()}, driver=Stochastic(max_iter=3), random_state=0, **settings)


@pytest.mark.parametrize("value", [0.0, 1.0, -0.1, 1.5])
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_shares_outside_are_refused(value: float, sparse: bool) -> None:
    wrong = shares_of_items()
    wrong[7, 2] = value
    # a zero of a sparse matrix is not even stored
    X = {"x": scipy.sparse.csr_array(wrong) if sparse else wrong}
    message = (
        f"View 'x' is Beta and needs shares above 0 and below 1; found {value:g} at row 7, column 2; pass Gaussian() "
        "for real numbers, or clip it to [0.001, 0.999] first, as Beta(margin=0.001) does with 0 and 1."
    )
    refuse_fit(quick(), X, InvalidViewError, f"^{re.escape(message)}$")
    model = quick().fit({"x": shares_of_items()})
    for method in (model.transform, model.score_samples, model.reconstruct):
        refuse(lambda method=method: method(X), InvalidViewError, "row 7, column 2")


def test_a_margin_pulls_shares_inside() -> None:
    shares = shares_of_items()
    shares[7, 2], shares[8, 2], shares[9, 1] = 0, 1, 0.004
    pulled = np.clip(shares, 0.01, 0.99)
    model = quick({"x": Beta(margin=0.01)}).fit({"x": shares})
    for X in (pulled, scipy.sparse.csr_array(shares)):
        np.testing.assert_allclose(model.transform({"x": X}), model.transform({"x": shares}), atol=1e-6)
        np.testing.assert_allclose(model.score_samples({"x": X}), model.score_samples({"x": shares}), rtol=1e-5)
    refuse(lambda: model.transform({"x": shares * 2}), InvalidViewError, "needs shares from 0 to 1; found")


@pytest.mark.parametrize("margin", [-0.1, 0.5, np.nan])
def test_margins_are_checked(margin: float) -> None:
    message = "Beta needs a number margin >= 0 and < 0.5"
    refuse_fit(quick({"x": Beta(margin=margin)}), {"x": shares_of_items()}, ValueError, message)


def test_shares_are_not_taken_for_such_unasked() -> None:
    model = quick({"x": "infer"}).fit({"x": shares_of_items()})
    assert isinstance(model.families_["x"], Gaussian)


def test_unbounded_units_are_refused() -> None:
    message = (
        r"'x' is Beta and cannot be normalised with GaussianUnits: its natural parameters θ \+ W h must stay above"
    )
    with pytest.raises(IncompatiblePartsError, match=message):
        quick(hidden=GaussianUnits()).fit({"x": shares_of_items()})


@pytest.mark.parametrize("largest", [1, 3])
def test_projection_keeps_both_shapes_above_zero(largest: int) -> None:
    family = bound(columns_of(SHAPES))
    energy = Energy({"x": family}, BinomialUnits(M=largest).bind(4))
    rng = np.random.default_rng(0)
    parameters = {
        HIDDEN_BIAS: np.zeros(4, dtype=np.float32),
        weights_of("x"): rng.normal(size=(10, 4)).astype(np.float32),
        bias_of("x"): rng.normal(size=10).astype(np.float32),
    }
    project(energy, parameters)
    states, _ = hidden_states(energy)
    shapes = energy.view_natural(parameters, "x", states.astype(np.float32)) / family.scale_
    assert (shapes >= family.domain.lower).all() and shapes.min() < 0.5
    before = {name: value.copy() for name, value in parameters.items()}
    project(energy, parameters)
    for name, value in before.items():
        np.testing.assert_allclose(parameters[name], value, atol=1e-5)
    assert np.isposinf(family.log_partition(np.full((1, 10), -0.1))).all()


# ---- models ----------------------------------------------------------------------------------------------------------
def known_model() -> tuple[Energy, dict[str, np.ndarray]]:
    """Two units, each of which lifts half of six shares from 0.2 to 0.8."""
    constants = {"location": np.full(12, -0.8), "scale": np.full(12, 0.7), "deviation": np.full(6, 0.3)}
    family = Beta().restore(12, constants)
    energy = Energy({"x": family}, BernoulliUnits().bind(2))
    lifts = 6 * np.repeat(np.eye(2), 3, axis=0)
    weights = np.concatenate([lifts, -lifts]) * 0.7
    bias = np.concatenate([np.full(6, 2.0), np.full(6, 8.0)]) * 0.7
    parameters = {HIDDEN_BIAS: np.zeros(2), weights_of("x"): weights, bias_of("x"): bias}
    # as probable as not
    states, _ = hidden_states(energy)
    log_marginal = energy.log_marginal_of_hidden(parameters, states)
    parameters[HIDDEN_BIAS] = np.full(2, float(log_marginal[0] - log_marginal[-1]) / 2)
    return energy, parameters


def drawn(n_rows: int, seed: int) -> np.ndarray:
    energy, parameters = known_model()
    rng = np.random.default_rng(seed)
    state = rng.integers(2, size=(n_rows, 2)).astype(float)
    for _ in range(20):
        state, batch = gibbs_step(energy, parameters, state, rng)
    return energy.families["x"].codec.decode(np.asarray(batch.views["x"].statistic))


def true_log_density(shares: np.ndarray) -> float:
    energy, parameters = known_model()
    family = energy.families["x"]
    batch = Batch({"x": ViewBatch(family.codec.encode(shares))}, len(shares))
    log_density = -energy.free_energy(parameters, batch) - exact_log_partition(energy, parameters)
    return float(log_density.mean() + family.codec.log_volume.sum())


def log_likelihood(model: Harmonium, shares: np.ndarray) -> float:
    return float(model.score_samples({"x": shares}).mean() - log_partition(model, "exact").value)


def learned_by(objective: Objective) -> Harmonium:
    """Return the best of several starts: from one in three, both units come to say the same of one half of shares."""
    train = drawn(1500, 0)
    starts = [
        Harmonium(
            2,
            views={"x": Beta()},
            objective=objective,
            driver=Stochastic(max_iter=6, learning_rate=0.05),
            warm_start=True,
            random_state=seed,
        ).fit({"x": train})
        for seed in range(8)
    ]
    best = max(starts, key=lambda model: log_likelihood(model, train))
    return best.set_params(driver__max_iter=60).fit({"x": train})


@pytest.fixture(scope="module")
def learned() -> Harmonium:
    """States lie far apart: with a single step CD does not learn how probable each is."""
    return learned_by(SampledCD(5))


@pytest.fixture(scope="module")
def learned_exactly() -> Harmonium:
    return learned_by(ExactLikelihood())


def test_densities_integrate_to_one() -> None:
    model = quick(hidden=BernoulliUnits(3)).fit({"x": columns_of(np.array([[0.7], [2.0]]))})
    values, log_weights = model.families_["x"].support.grid(width=30, points=2001)
    log_density = model.score_samples({"x": values[:, None]}) - log_partition(model, "exact").value
    assert np.exp(log_density + log_weights).sum() == pytest.approx(1, abs=1e-4)


@pytest.mark.parametrize("name", ["learned", "learned_exactly"])
def test_a_known_truth_is_recovered(name: str, request: pytest.FixtureRequest) -> None:
    model = request.getfixturevalue(name)
    train, test = drawn(1500, 0), drawn(2000, 1)
    found = log_likelihood(model, test)
    truth = true_log_density(test)
    alone = sum(
        beta.logpdf(test[:, i], *beta.fit(train[:, i], floc=0, fscale=1)[:2]).mean() for i in range(train.shape[1])
    )
    assert truth - found < 0.1 * (truth - alone)
    # units are the true ones but for order and sign: what either says of the items agrees
    energy, parameters = known_model()
    encoded = energy.families["x"].codec.encode(test)
    batch = Batch({"x": ViewBatch(encoded)}, len(test))
    states = energy.hidden.mean(energy.hidden_natural(parameters, batch))
    agreement = np.abs(np.corrcoef(states.T, model.transform({"x": test}).T)[:2, 2:])
    assert agreement.max(axis=1).min() > 0.95


def test_annealing_agrees_with_enumeration(learned: Harmonium) -> None:
    estimate = log_partition(learned, n_chains=300, n_temperatures=200)
    assert abs(estimate.value - log_partition(learned, "exact").value) < 4 * estimate.standard_error + 0.02


def test_missing_shares_are_inferred(learned: Harmonium) -> None:
    test = drawn(500, 2)
    gaps = test.copy()
    gaps[:, [0, 3]] = np.nan
    guess = learned.reconstruct({"x": gaps})
    mean = drawn(1500, 0).mean(axis=0)
    left = np.square(guess - test)[:, [0, 3]].sum() / np.square(mean - test)[:, [0, 3]].sum()
    known = learned.reconstruct({"x": test})
    whole = np.square(known - test)[:, [0, 3]].sum() / np.square(mean - test)[:, [0, 3]].sum()
    assert left < 0.25 and left < whole + 0.1
    assert np.isfinite(learned.score_samples({"x": gaps})).all()
    again = quick().fit({"x": np.where(np.random.default_rng(0).random(test.shape) < 0.2, np.nan, test)})
    assert np.isfinite(again.topics("x", n=None, by="weight").to_numpy()).all()


def test_one_view_from_another() -> None:
    rng = np.random.default_rng(0)
    group = rng.integers(2, size=400)
    shares = rng.beta(np.where(group[:, None] == np.arange(6) % 2, 8.0, 2.0), 3.0)
    tags = (rng.random((400, 8)) < np.where(group[:, None] == np.arange(8) % 2, 0.9, 0.05)).astype(float)
    views = {"shares": Beta(), "tags": Bernoulli()}
    driver = Stochastic(max_iter=40, learning_rate=0.02)
    shares_known = shares.copy()
    shares_known[::5] = np.nan  # items that lack the view
    model = Harmonium(4, views=views, driver=driver, random_state=0).fit({"shares": shares_known, "tags": tags})
    guess, lower, upper = model.predict_view("shares", {"tags": tags}, interval=0.9)
    assert guess.shape == (400, 6) and ((guess > 0) & (guess < 1)).all()
    expected = np.where(group[:, None] == np.arange(6) % 2, 8 / 11, 2 / 5)
    assert np.abs(guess - expected).mean() < 0.05
    assert 0.8 < ((shares >= lower) & (shares <= upper)).mean() < 0.97
    assert Beta().support.contains(model.sample(50, random_state=0)["shares"]).all()
    labels = annotate_view(model, "shares", {"tags": tags[:1]}, top=6)["label"]
    assert sorted(labels) == [f"shares_{i}" for i in range(6)]


def test_reports_speak_of_shares(learned: Harmonium) -> None:
    test = {"x": drawn(300, 3)}
    assert learned.fitted_.feature_names["x"][5:7] == ["x_5", "1 - x_0"]
    topics = learned.topics("x", n=3)
    assert topics.columns.get_level_values("weight").unique().tolist() == ["share", "rest"]
    for topic in range(2):  # what a topic lifts it does not lower
        lifted, lowered = (set(topics.loc[topic, group]) for group in ("share", "rest"))
        assert len(lifted) == 3 and not {f"1 - {name}" for name in lifted} & lowered
    assert topic_table(learned, test).columns.tolist()[:2] == ["x (share)", "x (rest)"]
    assert len(feature_examples(learned, test, "x")) == 2
    explained = explained_table(learned, test).loc["x"]
    residual = np.square(learned.reconstruct(test) - test["x"]).sum()
    r_squared = 1 - residual / np.square(test["x"] - test["x"].mean(axis=0)).sum()
    assert explained["all"] == pytest.approx(r_squared, abs=0.1)


def test_classes_have_a_price_beside_shares() -> None:
    """C is in units of what an item costs to describe: about the same for shares as for standardised numbers."""
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=200)
    shares = rng.beta(np.where(y[:, None] == np.arange(10) % 2, 60.0, 40.0), 50.0)
    head, driver, costs = Hinge(C=1.0), Stochastic(max_iter=30, learning_rate=0.02), []
    for family in (Beta(), Gaussian()):
        model = HarmoniumClassifier(3, views={"x": family}, head=head, driver=driver, random_state=0)
        model.set_params(validation_fraction=0).fit({"x": shares[:150]}, y[:150])
        assert model.score({"x": shares[150:]}, y[150:]) > 0.9
        costs.append(model.fitted_.baseline_nll)
    assert costs[0] == pytest.approx(costs[1], rel=0.2)


@pytest.mark.parametrize("ending", ["model.safetensors", "model"])
def test_files_keep_margin_and_constants(tmp_path: Path, ending: str) -> None:
    shares = np.clip(shares_of_items(), 0, 1)
    shares[0, 0] = 0
    model = quick({"x": Beta(margin=0.002), "y": Gaussian()}).fit({"x": shares, "y": shares[:, :2]})
    model.save(tmp_path / ending)
    again = harmonium.load(tmp_path / ending)
    assert again.families_["x"].margin == 0.002
    for name, value in model.families_["x"].constants().items():
        np.testing.assert_array_equal(again.families_["x"].constants()[name], value)
    X = {"x": shares, "y": shares[:, :2]}
    np.testing.assert_array_equal(again.score_samples(X), model.score_samples(X))
    np.testing.assert_array_equal(again.predict_view("x", {"y": X["y"]}), model.predict_view("x", {"y": X["y"]}))


@pytest.mark.parametrize("name", ["location", "scale", "deviation"])
def test_files_with_constants_of_another_width_are_refused(name: str, tmp_path: Path) -> None:
    quick().fit({"x": shares_of_items()}).save(tmp_path / "model.safetensors")
    change = tensor(f"constants/x/{name}", np.ones(3), described=True)
    refused(rewritten(tmp_path / "model.safetensors", tmp_path, change), "View 'x' must have the constants of Beta")


def test_expectations_of_the_known_model_are_those_of_its_states() -> None:
    """An average of two Beta distributions, by hand."""
    energy, parameters = known_model()
    found = exact_expectations(energy, parameters).statistics[bias_of("x")][:1]
    family = energy.families["x"]
    on, off = (beta(*shapes).expect(np.log) for shapes in ((8.0, 2.0), (2.0, 8.0)))
    np.testing.assert_allclose(found * family.scale_[0] + family.location_[0], (on + off) / 2, rtol=1e-6)
