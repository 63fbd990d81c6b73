"""Layers that select their units: the maths of their prior, their posteriors, and how many units they find."""

from __future__ import annotations

import json
import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors import safe_open
from safetensors.numpy import load_file, save_file
from scipy.integrate import quad
from scipy.special import digamma, expit
from scipy.stats import beta as beta_distribution
from scipy.stats import norm
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import parametrize_with_checks

import harmonium
from harmonium import (
    IBP,
    LBFGS,
    Adam,
    Bernoulli,
    BernoulliUnits,
    Discriminative,
    Harmonium,
    HarmoniumClassifier,
    HarmoniumRegressor,
    HarmoniumWarning,
    Hinge,
    IncompatiblePartsError,
    LabelView,
    MeanFieldCD,
    ModelFileError,
    MultiLabelHinge,
    PersistentCD,
    Poisson,
    SpikeSlab,
    Stochastic,
)
from harmonium.batch import Batch, Targets, ViewBatch
from harmonium.energy import Energy
from harmonium.estimators.preparation import read
from harmonium.hidden import sticks
from harmonium.hidden.spike_slab import wakefulness
from harmonium.inference.exact import exact_log_partition
from harmonium.inference.symmetry import canonical_signs
from harmonium.kernels.threads import compute
from harmonium.objectives import Problem, Relevance, Statistics
from harmonium.params import HEAD_WEIGHTS, HIDDEN_BIAS, LOG_ODDS, Parameters, bias_of, weights_of
from harmonium.training import merging
from harmonium.training.selection import Selection, prune

from .conftest import make_family, make_parameters, random_batch

INFORMATIVE = 0.2  # share of the items that counts, from the definition of the cost


# ---- sticks ----------------------------------------------------------------------------------------------------------
def plain_update(gamma: np.ndarray, counts: np.ndarray, n_items: float, alpha: float) -> np.ndarray:
    """The formulas of the design, one sum at a time."""
    T = len(counts)
    blame = np.zeros((T, T))
    for k in range(T):
        for i in range(k + 1):
            total = sum(digamma(gamma[j].sum()) for j in range(i + 1))
            blame[k, i] = np.exp(digamma(gamma[i, 1]) + sum(digamma(gamma[j, 0]) for j in range(i)) - total)
        blame[k] /= blame[k].sum()
    result = np.zeros((T, 2))
    for k in range(T):
        passed_on = sum((n_items - counts[m]) * blame[m, k + 1 : m + 1].sum() for m in range(k + 1, T))
        result[k, 0] = alpha + counts[k:].sum() + passed_on
        result[k, 1] = 1 + sum((n_items - counts[m]) * blame[m, k] for m in range(k, T))
    return result


def plain_bound(gamma: np.ndarray, k: int) -> float:
    """Multinomial bound on E[log(1 - π_k)], with the best multinomial."""
    exponent = [
        digamma(gamma[i, 1])
        + sum(digamma(gamma[j, 0]) for j in range(i))
        - sum(digamma(gamma[j].sum()) for j in range(i + 1))
        for i in range(k + 1)
    ]
    q = np.exp(exponent) / np.exp(exponent).sum()
    return float(q @ exponent - q @ np.log(q))


@st.composite
def stick_cases(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, float, float]:
    """Sticks to start from, counts, number of items and α, over many orders of magnitude."""
    n_sticks = draw(st.integers(1, 12))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_items = float(draw(st.integers(1, 100_000)))
    counts = n_items * rng.beta(0.4, 1.0, size=n_sticks) * rng.integers(0, 2, size=n_sticks)
    gamma = np.exp(rng.uniform(-2, np.log(n_items) + 1, size=(n_sticks, 2)))
    return gamma, counts, n_items, draw(st.floats(0.05, 50.0))


@given(stick_cases())
@settings(max_examples=60, deadline=None)
def test_sticks_are_updated_as_the_formulas_say(case: tuple[np.ndarray, np.ndarray, float, float]) -> None:
    gamma, counts, n_items, alpha = case
    expected = plain_update(gamma, counts, n_items, alpha)
    # the linear-time form subtracts sums of up to all the items
    tolerance = 1e-10 * n_items * len(counts)
    np.testing.assert_allclose(
        sticks.stick_update(gamma, counts, n_items, alpha), expected, rtol=1e-8, atol=tolerance + 1e-9
    )
    odds = [
        sum(digamma(gamma[j, 0]) - digamma(gamma[j].sum()) for j in range(k + 1)) - plain_bound(gamma, k)
        for k in range(len(counts))
    ]
    np.testing.assert_allclose(sticks.stick_log_odds(gamma), odds, atol=1e-9)


@given(stick_cases())
@settings(max_examples=60, deadline=None)
def test_updates_never_lower_the_bound(case: tuple[np.ndarray, np.ndarray, float, float]) -> None:
    gamma, counts, n_items, alpha = case
    before = sticks.stick_bound(gamma, counts, n_items, alpha)
    for _ in range(3):
        gamma = sticks.stick_update(gamma, counts, n_items, alpha)
        after = sticks.stick_bound(gamma, counts, n_items, alpha)
        assert after >= before - 1e-9 * max(1.0, abs(before))
        learned = sticks.best_alpha(gamma)
        before = sticks.stick_bound(gamma, counts, n_items, learned)
        assert before >= after - 1e-9 * max(1.0, abs(after))
        # nothing near it is better
        for factor in (0.9, 1.1):
            assert sticks.stick_bound(gamma, counts, n_items, learned * factor) < before
        alpha = learned


@given(stick_cases())
@settings(max_examples=40, deadline=None)
def test_the_posterior_of_independent_units_is_exact(case: tuple[np.ndarray, np.ndarray, float, float]) -> None:
    gamma, counts, n_items, alpha = case
    posterior = sticks.independent_update(counts, n_items, alpha)
    best = sticks.independent_bound(posterior, counts, n_items, alpha)
    assert best >= sticks.independent_bound(gamma, counts, n_items, alpha) - 1e-9 * abs(best)
    shared = 1 / len(counts)
    learned = sticks.best_alpha(posterior, shared)
    for other in (alpha, 0.9 * learned, 1.1 * learned):
        bound = sticks.independent_bound(posterior, counts, n_items, other)
        assert sticks.independent_bound(posterior, counts, n_items, learned) >= bound - 1e-9 * abs(bound)


@pytest.mark.parametrize("seed", range(4))
def test_the_multinomial_bound_is_one(seed: int) -> None:
    """Monte Carlo of E[log(1 - Π v)]; for one stick the bound is exact."""
    rng = np.random.default_rng(seed)
    gamma = np.exp(rng.uniform(-0.5, 3, size=(6, 2)))
    draws = rng.beta(gamma[:, 0], gamma[:, 1], size=(40_000, 6))
    lack = np.log1p(-np.clip(np.cumprod(draws, axis=1), 0, 1 - 1e-15))
    error = lack.std(axis=0) / np.sqrt(len(draws))
    log_v = digamma(gamma[:, 0]) - digamma(gamma.sum(axis=1))
    bound = np.cumsum(log_v) - sticks.stick_log_odds(gamma)
    assert np.all(bound <= lack.mean(axis=0) + 4 * error)
    assert bound[0] == pytest.approx(digamma(gamma[0, 1]) - digamma(gamma[0].sum()), abs=1e-12)
    assert np.all(bound > lack.mean(axis=0) - 1.0)  # and not a loose one


def test_one_stick_has_a_closed_form() -> None:
    update = sticks.stick_update(np.array([[1.0, 1.0]]), np.array([30.0]), 100.0, 2.0)
    np.testing.assert_allclose(update, [[32.0, 71.0]])
    np.testing.assert_allclose(sticks.stick_log_odds(update), digamma(32.0) - digamma(71.0))


def test_independent_posterior_by_quadrature() -> None:
    """Beta(α / K, 1) times binomial likelihoods, normalised by numbers; log-odds as expectations."""
    counts, n_items, alpha = np.array([0.0, 3.5, 20.0]), 25.0, 1.5
    posterior = sticks.independent_update(counts, n_items, alpha)
    for k, count in enumerate(counts):
        prior = beta_distribution(alpha / 3, 1.0)
        exact = beta_distribution(*posterior[k])
        points = np.linspace(0.05, 0.95, 7)
        ratio = prior.logpdf(points) + count * np.log(points) + (n_items - count) * np.log1p(-points)
        ratio -= exact.logpdf(points)
        np.testing.assert_allclose(ratio, ratio[0], atol=1e-9)
        # in logits the ends of the interval are far away
        expected = quad(lambda t, q=exact: t * q.pdf(expit(t)) * expit(t) * expit(-t), -60, 30, limit=300)[0]
        assert sticks.independent_log_odds(posterior)[k] == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize(("a", "b"), [(2.0, 1.0), (0.3, 1.0), (5.0, 2.5)])
def test_cost_of_sticks_is_a_divergence(a: float, b: float) -> None:
    gamma = np.array([[1.5, 2.0], [8.0, 1.2], [3.0, 30.0]])
    total = 0.0
    for row in gamma:
        q, p = beta_distribution(*row), beta_distribution(a, b)
        total += quad(lambda x, q=q, p=p: q.pdf(x) * (q.logpdf(x) - p.logpdf(x)), 0, 1, limit=200)[0]
    assert sticks.cost_of_sticks(gamma, a, b) == pytest.approx(total, abs=1e-6)
    assert sticks.cost_of_sticks(np.tile([a, b], (4, 1)), a, b) == pytest.approx(0.0, abs=1e-12)


# ---- units given their naturals --------------------------------------------------------------------------------------
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


@pytest.mark.parametrize("seed", range(3))
def test_turning_units_over_keeps_the_distribution(seed: int) -> None:
    energy = Energy({"x": make_family("Bernoulli")}, IBP().bind(3))
    parameters = make_parameters(energy, seed=seed, scale=1.0)
    turned_parameters, turned = canonical_signs(energy, parameters, {"x": np.full(3, 0.4)})
    states = np.array([[i >> 2 & 1, i >> 1 & 1, i & 1] for i in range(8)], dtype=float)
    batch = Batch({"x": ViewBatch(states)}, 8)
    before, after = (
        -energy.free_energy(p, batch) - exact_log_partition(energy, p) for p in (parameters, turned_parameters)
    )
    np.testing.assert_allclose(after, before, atol=1e-10)
    np.testing.assert_array_equal(turned_parameters[LOG_ODDS], parameters[LOG_ODDS])
    means = [energy.layer(p).mean(energy.hidden_natural(p, batch)) for p in (parameters, turned_parameters)]
    np.testing.assert_allclose(means[1], np.where(turned, 1 - means[0], means[0]), atol=1e-12)


# ---- what weights cost -----------------------------------------------------------------------------------------------
REFERENCE = {"a": np.array([0.1, 0.5, 0.8]), "b": np.zeros(3), "c": np.array([0.5, 1.0, 1.5])}
VARIANCE = {"a": [0.09, 0.25, 0.16], "b": [1.0, 1.0, 1.0], "c": [0.5, 1.0, 1.5]}  # of 0/1, standardised, counts


def three_views(relevance: float = 1.0, strength: float = 0.0) -> tuple[Problem, Parameters]:
    families = {"a": make_family("Bernoulli"), "b": make_family("Gaussian"), "c": make_family("Poisson")}
    energy = Energy(families, IBP(relevance=relevance).bind(4))
    return Problem(energy, REFERENCE, strength=strength), make_parameters(energy, seed=3)


def spread_of(parameters: Parameters) -> np.ndarray:
    return sum(np.array(VARIANCE[name]) @ np.square(parameters[weights_of(name)]) for name in VARIANCE)


def cost(problem: Problem, parameters: Parameters, n_items: int, n_rows: int) -> Statistics:
    statistics = Statistics.zeros_like(parameters)
    Relevance(problem, n_items).add(statistics, parameters, n_rows)
    return statistics


@pytest.mark.parametrize("strength", [0.0, 3.0])
def test_cost_of_weights_and_its_gradient(strength: float) -> None:
    problem, parameters = three_views(relevance=0.7, strength=strength)
    found = cost(problem, parameters, 200, 200)
    # a head changes what stands out, not what weights cost
    expected = 0.7 * 0.5 * 9 * np.log1p(200 * INFORMATIVE * spread_of(parameters) / 9).sum()
    assert found.loss == pytest.approx(expected, rel=1e-4)
    for name in map(weights_of, VARIANCE):
        for index in np.ndindex(parameters[name].shape):
            losses = []
            for sign in (1, -1):
                moved = parameters[name].copy()
                moved[index] += sign * 1e-4
                losses.append(cost(problem, {**parameters, name: moved}, 200, 200).loss)
            # the gradient is in single precision
            assert found.gradient[name][index] == pytest.approx((losses[0] - losses[1]) / 2e-4, rel=2e-4, abs=1e-4)
    for name in set(parameters) - set(map(weights_of, VARIANCE)):
        assert not found.gradient[name].any()


def test_cost_is_additive_over_rows() -> None:
    problem, parameters = three_views()
    whole, halves = cost(problem, parameters, 200, 200), cost(problem, parameters, 200, 80)
    halves = halves + cost(problem, parameters, 200, 120)
    assert halves.loss == pytest.approx(whole.loss)
    for name, value in whole.gradient.items():
        np.testing.assert_allclose(halves.gradient[name], value, rtol=1e-6)
    assert whole.count == 0  # no items are added, only what their weights cost


def test_a_relevance_of_zero_costs_nothing() -> None:
    problem, parameters = three_views(relevance=0.0)
    nothing = cost(problem, parameters, 200, 200)
    assert nothing.loss == 0 and not any(value.any() for value in nothing.gradient.values())


def test_evidence_is_one_at_what_chance_would_give() -> None:
    problem, parameters = three_views()
    relevance = Relevance(problem, 500)
    np.testing.assert_allclose(relevance.evidence(parameters), spread_of(parameters) * 500 * 0.2 / 9, rtol=1e-4)
    # weights of standard deviation 1/√(D ρ), each in units of its feature: what chance would give them
    at_chance = dict(parameters)
    for name, variance in VARIANCE.items():
        at_chance[weights_of(name)] = np.tile(1 / np.sqrt(500 * 0.2 * np.array(variance))[:, None], (1, 4))
    np.testing.assert_allclose(relevance.evidence(at_chance), 1, rtol=1e-3)
    with_head = Relevance(three_views(strength=4.0)[0], 500).evidence(parameters)
    np.testing.assert_allclose(with_head, 5 * relevance.evidence(parameters), rtol=1e-6)


# ---- shared second moments -------------------------------------------------------------------------------------------
def adam_arrays(n_features: int, n_units: int, seed: int = 0) -> Parameters:
    rng = np.random.default_rng(seed)
    shapes = {
        weights_of("x"): (n_features, n_units),
        "x.bias": (n_features,),
        HIDDEN_BIAS: (n_units,),
        HEAD_WEIGHTS: (n_units, 3),
        "head.bias": (3,),
    }
    return {name: rng.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}


def test_shared_adam_is_adam_with_the_largest_gradient_of_all_units() -> None:
    axis = {weights_of("x"): 1, HIDDEN_BIAS: 0, HEAD_WEIGHTS: 0}
    parameters = adam_arrays(6, 4)
    expected = {name: value.astype(np.float64) for name, value in parameters.items()}
    first = {name: np.zeros_like(value) for name, value in expected.items()}
    second = {name: np.zeros_like(value) for name, value in expected.items()}
    optimiser, rate, decay = Adam(shared=True), 0.05, 0.3
    slots = optimiser.start(parameters)
    for step in range(1, 6):
        gradient = adam_arrays(6, 4, seed=step)
        shares = {weights_of("x"): 0.5}
        statistics = Statistics({name: value.copy() for name, value in gradient.items()}, count=7.0)
        optimiser.update(parameters, statistics, slots, rate, decay, step, shares)
        for name, value in expected.items():
            g = gradient[name].astype(np.float64) / 7
            size = np.abs(g).max(axis=axis[name], keepdims=True) if name in axis else g
            first[name] = 0.9 * first[name] + 0.1 * g
            second[name] = 0.999 * second[name] + 0.001 * np.square(size) * np.ones_like(g)
            corrected = first[name] / (1 - 0.9**step) / (np.sqrt(second[name] / (1 - 0.999**step)) + 1e-8)
            shrink = rate * decay if name.endswith(".weights") else 0.0
            expected[name] = value - rate * shares.get(name, 1.0) * corrected - shrink * value
    for name, value in expected.items():
        np.testing.assert_allclose(parameters[name], value, rtol=2e-4, atol=2e-5, err_msg=name)


def test_shared_adam_uses_up_the_gradient_and_is_the_same_on_two_threads() -> None:
    results = []
    for n_threads in (1, 2):
        parameters, optimiser = adam_arrays(4000, 200), Adam(shared=True)
        slots = optimiser.start(parameters)
        with compute(n_threads):
            for step in (1, 2):
                statistics = Statistics(adam_arrays(4000, 200, seed=step), count=3.0)
                optimiser.update(parameters, statistics, slots, 0.01, 0.1, step)
                assert not any(value.any() for value in statistics.gradient.values())
        results.append(parameters)
    for name, value in results[0].items():
        np.testing.assert_array_equal(results[1][name], value)


# ---- how the prior follows the data ----------------------------------------------------------------------------------
def own_of_layer(layer: SpikeSlab, rng: np.random.Generator) -> dict[str, np.ndarray]:
    own = layer.own_parameters()
    own["beta"] = np.exp(rng.uniform(-1, 4, size=own["beta"].shape))
    return own


@pytest.mark.parametrize("alpha", [2.0, "learn"])
@pytest.mark.parametrize("layer_class", [SpikeSlab, IBP])
def test_a_whole_step_is_coordinate_ascent(layer_class: type[SpikeSlab], alpha: Any) -> None:
    for seed in range(10):
        rng = np.random.default_rng(seed)
        layer = layer_class(alpha=alpha).bind(6)
        own, counts = own_of_layer(layer, rng), rng.uniform(0, 100, size=6)
        ranked = np.sort(counts)[::-1]
        after = layer.settle(own, counts, 100.0, np.full(6, 2.0))
        if layer_class is IBP:
            expected = plain_update(own["beta"], ranked, 100.0, 2.0)
            odds = sticks.stick_log_odds(expected)
        else:
            expected = np.stack([2.0 / 6 + ranked, 1 + 100 - ranked], axis=1)
            odds = sticks.independent_log_odds(expected)
        np.testing.assert_allclose(after["beta"], expected, rtol=1e-8, atol=1e-7)
        np.testing.assert_allclose(after["log_odds"][np.argsort(-counts)], odds, atol=1e-8)
        assert layer.prior_bound(after, ranked, 100.0) >= layer.prior_bound(own, ranked, 100.0) - 1e-9
        assert (after["alpha"][0] != 2.0) == (alpha == "learn")
        # part of a step goes part of the way
        part = layer.settle(own, counts, 100.0, np.full(6, 2.0), share=0.25)
        np.testing.assert_allclose(part["beta"], 0.75 * own["beta"] + 0.25 * expected, rtol=1e-8, atol=1e-7)


def test_units_without_evidence_queue() -> None:
    layer, rng = IBP().bind(5), np.random.default_rng(0)
    evidence = np.array([0.2, 3.0, 0.9, 1.0, 0.5])
    counts = np.array([90.0, 10.0, 1.0, 40.0, 70.0])
    odds = layer.settle(own_of_layer(layer, rng), counts, 100.0, evidence)["log_odds"]
    # those with evidence by use, the others by evidence whatever their use
    assert odds[3] > odds[1]
    np.testing.assert_allclose(odds[[2, 4, 0]], wakefulness(np.arange(3)))
    assert np.all(np.diff(wakefulness(np.arange(200))) <= 0) and np.isfinite(wakefulness(np.arange(2000))).all()
    assert expit(wakefulness(np.array([0]))[0]) == pytest.approx(0.2)


@pytest.mark.parametrize("missing", [False, True])
def test_use_is_counted_over_batches(missing: bool) -> None:
    problem, parameters = three_views()
    energy = problem.energy
    batch = random_batch(energy, parameters, 30)
    if missing:
        gap = np.zeros((30, 3), dtype=bool)
        gap[::4] = True
        batch.views["b"] = ViewBatch(np.where(gap, 0, batch.views["b"].statistic), missing=gap)
    statistics, selection = Statistics.zeros_like(parameters), Selection(problem, 60)
    for rows in (slice(0, 11), slice(11, 30)):
        views = {
            name: ViewBatch(view.statistic[rows], missing=None if view.missing is None else view.missing[rows])
            for name, view in batch.views.items()
        }
        part = Batch(views, len(range(30)[rows]))
        MeanFieldCD().accumulate(problem, parameters, part, statistics, np.random.default_rng(0))
        selection.charge(statistics, parameters, part.n_rows)
    layer = energy.layer(parameters)
    assert isinstance(layer, IBP)
    counts = layer.presence(energy.hidden_natural(parameters, problem.complete(parameters, batch))).sum(axis=0)
    np.testing.assert_allclose(statistics.gradient[LOG_ODDS], counts, rtol=1e-6)
    # half of the items were seen, so that each stands for two
    own = {name: parameters[f"hidden.{name}"].copy() for name in ("log_odds", "beta", "alpha")}
    expected = layer.settle(own, 2 * counts, 60, Relevance(problem, 60).evidence(parameters))
    selection.settle(parameters, statistics)
    for name, value in expected.items():
        np.testing.assert_allclose(parameters[f"hidden.{name}"], value, rtol=1e-6)
    assert not statistics.gradient[LOG_ODDS].any()


def test_all_rows_of_a_pass_are_charged_whatever_the_number_of_batches() -> None:
    for n_batches in (1, 3, 5, 12):
        problem, parameters = three_views()
        selection, statistics = Selection(problem, 100), Statistics.zeros_like(parameters)
        for number in range(n_batches):
            selection.charge(statistics, parameters, 10, last=number + 1 == n_batches)
        whole = cost(problem, parameters, 100, 10 * n_batches)
        assert statistics.loss == pytest.approx(whole.loss)


# ---- learning --------------------------------------------------------------------------------------------------------
QUICK = Stochastic(max_iter=80, batch_size=None, learning_rate=0.09)
FEW = Stochastic(max_iter=3, batch_size=30, learning_rate=0.09)


def features(n_rows: int = 300, n_found: int = 3, width: int = 15, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rows with some of a few features, each of which adds its own pattern, at right angles and of the same size."""
    rng = np.random.default_rng(seed)
    has = rng.random((n_rows, n_found)) < 0.4
    patterns = 8 * np.linalg.qr(rng.normal(size=(width, n_found)))[0].T
    return has @ patterns + rng.normal(size=(n_rows, width)), has


X, HAS = features()


def quick(truncation: int = 8, layer: dict[str, Any] | None = None, **settings_: Any) -> Harmonium:
    defaults = {"hidden": IBP(truncation=truncation, **(layer or {})), "driver": QUICK, "random_state": 0}
    return Harmonium(**{**defaults, **settings_})


def assert_found(model: Harmonium, has: np.ndarray, data: Any) -> None:
    """Each feature is one of the units, or its opposite."""
    latent = model.transform(data)
    agreement = np.abs(np.corrcoef(has.T, latent.T)[: has.shape[1], has.shape[1] :])
    assert (agreement.max(axis=1) > 0.8).all(), agreement.round(2)


@pytest.fixture(scope="module")
def selected() -> Harmonium:
    return quick().fit(X)


def test_five_features_of_fifty_units() -> None:
    """The example of the documentation."""
    rng = np.random.default_rng(0)
    has = rng.random((500, 5)) < 0.4
    data = has @ rng.normal(size=(5, 30)) * 2 + rng.normal(size=(500, 30))
    model = Harmonium(hidden=IBP(truncation=50), random_state=0).fit(data)
    assert model.n_components_ == 5 and not model.truncation_reached_
    assert_found(model, has, data)


@pytest.mark.parametrize("seed", range(3))
def test_the_number_depends_neither_on_the_truncation_nor_on_the_seed(seed: int) -> None:
    data, has = features(seed=10 + seed)
    numbers = []
    for truncation in (6, 12):
        model = quick(truncation, random_state=seed).fit(data)
        numbers.append(model.n_components_)
        assert_found(model, has, data)
    assert abs(numbers[0] - 3) <= 1 and abs(numbers[0] - numbers[1]) <= 1


@pytest.mark.parametrize("seed", range(2))
def test_noise_has_no_features(seed: int) -> None:
    noise = np.random.default_rng(seed).normal(size=(300, 15))
    with pytest.warns(HarmoniumWarning, match=r"IBP found no unit that stands out of chance.*; use more rows.*\.$"):
        model = quick(random_state=seed).fit(noise)
    assert model.n_components_ == 1 and not model.truncation_reached_
    assert model.transform(noise).shape == (300, 1)


def test_too_small_a_truncation_is_said() -> None:
    with pytest.warns(HarmoniumWarning, match=r"All 2 units of IBP are in use.*; pass a larger truncation\.$") as found:
        model = quick(2).fit(X)
    assert model.truncation_reached_ and model.n_components_ == 2
    assert found[0].filename == __file__
    with pytest.warns(HarmoniumWarning, match=r"All 2 units of SpikeSlab are in use.*; pass a larger n_units\.$"):
        Harmonium(2, hidden=SpikeSlab(), driver=QUICK, random_state=0).fit(X)


@pytest.mark.parametrize(
    "settings_",
    [
        {"hidden": SpikeSlab(n_units=8)},
        {"hidden": IBP("learn", truncation=8)},
        {"objective": PersistentCD()},
        {"driver": Stochastic(max_iter=200, batch_size=150, learning_rate=0.09)},  # two batches
    ],
    ids=["SpikeSlab", "learn", "PersistentCD", "large batches"],
)
def test_other_parts_find_them_too(settings_: dict[str, Any]) -> None:
    model = quick(**settings_).fit(X)
    assert 3 <= model.n_components_ <= 4 and not model.truncation_reached_
    assert_found(model, HAS, X)
    assert model.history_["n_components"][-1] == model.n_components_
    assert np.isfinite(model.history_["prior_bound"]).all()
    if model.hidden.alpha == "learn":
        assert model.parameters_["hidden.alpha"][0] != 2.0


def test_whole_batches_find_them_too() -> None:
    """Means in place of samples hold units back less: more of them stay, but those of the data are among them."""
    model = quick(10, objective=MeanFieldCD(), driver=LBFGS(max_iter=60)).fit(X)
    assert model.n_components_ >= 3
    assert_found(model, HAS, X)
    assert model.history_["loss"][-1] < model.history_["loss"][0]


def test_real_units_need_no_more_than_there_are_directions() -> None:
    model = quick(layer={"kind": "real"}).fit(X)
    assert 1 <= model.n_components_ <= 5
    layer = model.energy_.layer(model.parameters_)
    natural = clone_output(model, "natural").transform(X)
    np.testing.assert_allclose(layer.presence(natural).mean(axis=0), model.unit_usage_, atol=1e-5)
    apart = quick(layer={"kind": "real", "inference": "factorised"}, driver=FEW).fit(X)
    assert np.isfinite(apart.transform(X)).all() and np.isfinite(apart.score(X))


def clone_output(model: Harmonium, output: str) -> Harmonium:
    return pickle.loads(pickle.dumps(model)).set_params(output=output)


def test_usage_is_the_mean_presence(selected: Harmonium) -> None:
    assert selected.unit_usage_.shape == (selected.n_components_,) == (3,)
    np.testing.assert_allclose(selected.unit_usage_, selected.transform(X).mean(axis=0), atol=1e-5)
    share = HAS.mean(axis=0)
    near = [min(abs(share - use).min(), abs(1 - share - use).min()) for use in selected.unit_usage_]
    assert max(near) < 0.1


def test_turning_units_over_turns_their_usage() -> None:
    """Columns of 0 and 1, which have a mean that units can be aligned with."""
    data = (features()[0] > 0).astype(float)
    model = quick(driver=Stochastic(max_iter=40, batch_size=None, learning_rate=0.09)).fit(data)
    weights = model.parameters_["view0.weights"]
    weights[:, 0] *= -1 if data.mean(axis=0) @ weights[:, 0] > 0 else 1  # so that there is one to turn
    model.unit_usage_ = model.transform(data).mean(axis=0)
    before = model.score_samples(data)
    settled = model._training.n_settled, model._training.n_items
    model.canonical_signs()
    np.testing.assert_allclose(model.unit_usage_, model.transform(data).mean(axis=0), atol=1e-5)
    difference = model.score_samples(data) - before
    np.testing.assert_allclose(difference, difference.mean(), atol=1e-3)
    assert (model._training.n_settled, model._training.n_items) == settled


def test_pruning_folds_the_others_into_the_biases(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(merging, "_AGREEMENT", 2.0)  # units that agree are the next test's
    y = HAS[:, 0].astype(int)
    model = HarmoniumClassifier(hidden=IBP(truncation=8), head=Hinge(C=1.0), driver=QUICK, random_state=0)
    for _ in range(40):
        model.partial_fit(X, y)
    # more than a chance effect in a unit that is dropped, so that there is something to fold
    model.parameters_["view0.weights"][:, 7] = 0.02
    model.parameters_[HEAD_WEIGHTS][7] = 1.0
    views = read(model, X, reset=False)
    problem, parameters = model._problem, model.parameters_
    result = prune(problem, parameters, views, len(X))
    left = result.parameters["view0.weights"]
    found = np.array([(column[:, None] == left).all(axis=0).any() for column in parameters["view0.weights"].T])
    assert 1 <= result.n_found < 8 and result.problem.energy.hidden.n_units_ == result.n_found == found.sum()
    assert (Relevance(problem, len(X)).evidence(parameters)[found] >= 1).all()
    batch = views.batch(np.arange(len(X)), problem.energy.families)
    means, natural = {}, {}
    for name, energy, values in (
        ("all", problem.energy, parameters),
        ("kept", result.problem.energy, result.parameters),
    ):
        means[name] = energy.layer(values).mean(energy.hidden_natural(values, batch))
        natural[name] = energy.view_natural(values, "view0", means[name])
    np.testing.assert_allclose(means["kept"], means["all"][:, found], atol=1e-5)
    np.testing.assert_allclose(result.usage, means["all"][:, found].mean(axis=0), atol=1e-5)
    # on average nothing changes, and little for any row
    np.testing.assert_allclose(natural["kept"].mean(axis=0), natural["all"].mean(axis=0), atol=1e-4)
    assert np.abs(natural["kept"] - natural["all"]).max() < 0.1 * natural["all"].std()
    before = means["all"] @ parameters[HEAD_WEIGHTS] + parameters["head.bias"]
    after = means["kept"] @ result.parameters[HEAD_WEIGHTS] + result.parameters["head.bias"]
    np.testing.assert_allclose(after.mean(axis=0), before.mean(axis=0), atol=1e-4)
    assert (after.argmax(axis=1) == before.argmax(axis=1)).mean() > 0.98


def twin_units(kind: str = "binary") -> tuple[Problem, Parameters, np.ndarray]:
    """Three units; the second is the first in halves, the third turned over; all far from the fence for every row."""
    energy = Energy({"x": Bernoulli().restore(4, {})}, SpikeSlab(kind=kind).bind(3))
    x = np.array([[1, 1, 0, 0], [1, 1, 1, 0], [0, 0, 1, 0], [0, 0, 0, 1]], dtype=np.float32)
    pattern, log_odds = np.array([30.0, 30.0, 1.0, -1.0]), np.array([-0.5, -1.5, 0.7])
    weights = np.stack([pattern, pattern / 2, -pattern], axis=1)
    bias = np.array([-30.0, -15.0, 30.0]) - log_odds
    own = energy.hidden.own_parameters() | {"log_odds": log_odds}
    parameters = {HIDDEN_BIAS: bias, weights_of("x"): weights, bias_of("x"): np.array([-20.0, -20.0, 0.3, 0.2])}
    parameters |= {HEAD_WEIGHTS: np.array([[1.0, -1.0], [2.0, 0.0], [0.5, 0.25]]), "head.bias": np.array([0.1, 0.2])}
    parameters |= {f"hidden.{name}": value for name, value in own.items()}
    return Problem(energy, {"x": x.mean(axis=0)}), parameters, x


def test_units_that_agree_become_one_and_nothing_else_changes() -> None:
    problem, parameters, x = twin_units()
    batch = Batch({"x": ViewBatch(x)}, len(x))
    before = problem.energy.layer(parameters).mean(problem.energy.hidden_natural(parameters, batch))
    assert (np.minimum(before, 1 - before) < 1e-3).all()  # saturated: z is the same as its mean
    correlation, evidence = np.corrcoef(before.T), np.array([3.0, 2.0, 1.0])
    merged, left = merging.merge_units(problem, parameters, np.ones(3, dtype=bool), correlation, evidence)
    assert left.tolist() == [True, False, False]
    assert not merged[weights_of("x")][:, 1:].any() and not merged[HEAD_WEIGHTS][1:].any()
    after = problem.energy.layer(merged).mean(problem.energy.hidden_natural(merged, batch))
    np.testing.assert_allclose(after[:, 0], before[:, 0], atol=1e-3)
    for weights, bias in ((weights_of("x"), bias_of("x")), (HEAD_WEIGHTS, "head.bias")):
        turn = (lambda w: w.T) if weights != HEAD_WEIGHTS else (lambda w: w)
        old = before @ turn(parameters[weights]) + parameters[bias]
        np.testing.assert_allclose(after @ turn(merged[weights]) + merged[bias], old, atol=0.1)
    # the energy of joint states in which the units agree is the same up to a constant
    agreeing = np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    one = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    for row in x:
        alone = Batch({"x": ViewBatch(np.stack([row, row]))}, 2)
        difference = problem.energy.joint(parameters, alone, agreeing) - problem.energy.joint(merged, alone, one)
        np.testing.assert_allclose(difference[0], difference[1], atol=1e-4)


def test_only_candidates_and_binary_units_are_merged() -> None:
    problem, parameters, _ = twin_units()
    same = np.ones((3, 3))
    _, left = merging.merge_units(problem, parameters, np.array([True, False, True]), same, np.array([1.0, 2.0, 3.0]))
    assert left.tolist() == [False, False, True]
    problem, parameters, _ = twin_units("real")
    merged, left = merging.merge_units(problem, parameters, np.ones(3, dtype=bool), same, np.ones(3))
    assert left.all() and (merged[weights_of("x")] == parameters[weights_of("x")]).all()


def test_partial_fit_again_and_again_keeps_all_units() -> None:
    model = quick()
    for _ in range(30):
        for rows in (slice(0, 100), slice(100, 200), slice(200, 300)):
            model.partial_fit(X[rows])
    assert model.n_components_ == 8 and not hasattr(model, "unit_usage_")
    assert_found(model, HAS, X)
    # units nothing speaks for are the same for every row
    assert (model.transform(X).std(axis=0) > 0.1).sum() <= 5
    assert model._training.n_items == 9000


def test_partial_fit_goes_on_after_fit(selected: Harmonium) -> None:
    model = pickle.loads(pickle.dumps(selected))
    settled = model._training.n_settled
    model.partial_fit(X[:50])
    assert model.n_components_ == 3 and model._training.n_settled > settled
    assert_found(model, HAS, X)


def test_lbfgs_counts_its_steps_so_that_batches_can_follow() -> None:
    model = quick(objective=MeanFieldCD(), driver=LBFGS(max_iter=30)).fit(X)
    odds = model.parameters_[LOG_ODDS].copy()
    assert model._training.n_settled >= 1
    model.set_params(driver=Stochastic(batch_size=300, learning_rate=1e-9)).partial_fit(X)
    # the units are not sent to the queue of those that know nothing yet
    np.testing.assert_allclose(model.parameters_[LOG_ODDS], odds, atol=0.5)


def test_warm_start_goes_on_with_the_units_that_are_left(selected: Harmonium) -> None:
    model = pickle.loads(pickle.dumps(selected)).set_params(warm_start=True, driver=FEW)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # three of eight: the truncation is not what limits it
        model.fit(X)
    assert model.n_components_ == 3 and not model.truncation_reached_
    assert model.n_iter_ == selected.n_iter_ + 3
    assert_found(model, HAS, X)
    with pytest.raises(ValueError, match="can only go on with"):
        model.set_params(hidden__alpha=3.0).fit(X)


def test_another_layer_leaves_no_usage_behind(selected: Harmonium) -> None:
    model = pickle.loads(pickle.dumps(selected))
    model.set_params(hidden=BernoulliUnits(2), driver=FEW).fit(X)
    assert not hasattr(model, "unit_usage_") and not hasattr(model, "truncation_reached_")


def test_several_views_some_missing() -> None:
    data, has = features(width=24)
    views = {"a": data[:, :10], "b": data[:, 10:18].copy(), "c": (data[:, 18:] > 0).astype(float)}
    views["b"][::5] = np.nan
    views["a"] = np.where(np.random.default_rng(1).random(views["a"].shape) < 0.05, np.nan, views["a"])
    model = quick().fit(views)
    assert 3 <= model.n_components_ <= 4
    assert_found(model, has, views)
    assert model.transform({"a": views["a"]}).shape == (300, model.n_components_)
    assert model.predict_view("b", {"a": views["a"], "c": views["c"]}).shape == (300, 8)


# ---- with something to predict ---------------------------------------------------------------------------------------
def classes_of(has: np.ndarray) -> np.ndarray:
    return has[:, 0] + 2 * has[:, 1]


QUICK_HEAD = Stochastic(
    max_iter=30, batch_size=None, learning_rate=0.06, reach=3.0, schedule="constant", weight_decay=0.08, average=True
)


@pytest.mark.parametrize(
    "settings_",
    [
        {"head": Hinge(C=1.0)},
        {"head": Hinge(C=1.0, solver="alternate")},
        {"head": LabelView(), "driver": QUICK},
        {"head": LabelView(), "objective": Discriminative(0.5), "driver": QUICK},
    ],
    ids=["joint", "alternate", "label", "discriminative"],
)
def test_classes_some_unknown(settings_: dict[str, Any]) -> None:
    y = classes_of(HAS)
    partly = np.where(np.arange(300) % 4 == 0, -1, y)
    defaults = {"hidden": IBP(truncation=8), "driver": QUICK_HEAD, "validation_fraction": 0, "random_state": 0}
    model = HarmoniumClassifier(**{**defaults, **settings_}).fit(X, partly)
    assert 2 <= model.n_components_ <= 7 and model.unit_usage_.shape == (model.n_components_,)
    assert model.score(X[::4], y[::4]) > 0.85
    assert model.coef_.shape == (4, model.n_components_)


def test_numbers() -> None:
    y = HAS @ np.array([1.0, -2.0, 0.5]) + 10
    model = HarmoniumRegressor(hidden=IBP(truncation=8), driver=QUICK_HEAD, validation_fraction=0.2, random_state=0)
    partly = np.where(np.arange(300) % 4 == 0, np.nan, y)
    assert model.fit(X, partly).score(X[::4], y[::4]) > 0.8
    assert model.n_components_ < 8 and model.C_ > 0


def test_several_labels() -> None:
    model = HarmoniumClassifier(
        hidden=IBP(truncation=8), head=MultiLabelHinge(C=1.0), driver=QUICK_HEAD, validation_fraction=0, random_state=0
    ).fit(X, HAS.astype(int))
    assert (model.predict(X) == HAS).mean() > 0.9 and model.n_components_ < 8


def test_batches_without_a_single_label() -> None:
    y = np.full(300, -1)
    y[:10] = np.arange(10) % 2
    model = HarmoniumClassifier(hidden=IBP(truncation=8), head=Hinge(C=1.0), driver=FEW, random_state=0)
    model.fit(X, y)
    assert np.isfinite(model.transform(X)).all() and set(model.predict(X)) <= {0, 1}


# ---- scikit-learn ----------------------------------------------------------------------------------------------------
BY_DESIGN = "rows of weight 0 are unlabelled, not absent; training is stochastic besides"


@parametrize_with_checks(
    [
        quick(6, driver=FEW),
        quick(6, layer={"kind": "real"}, objective=MeanFieldCD(), driver=LBFGS(max_iter=3)),
        HarmoniumClassifier(
            hidden=IBP(truncation=6),
            head=Hinge(C=1.0),
            driver=Stochastic(8, 25, learning_rate=0.1),
            validation_fraction=0,
            random_state=0,
        ),
    ],
    expected_failed_checks=lambda estimator: {
        "check_sample_weight_equivalence_on_dense_data": BY_DESIGN,
        "check_sample_weight_equivalence_on_sparse_data": BY_DESIGN,
    },
)
def test_passes_the_checks_of_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)


def test_parameters_are_nested_and_cloned(selected: Harmonium) -> None:
    model = clone(selected)
    assert not hasattr(model, "unit_usage_") and model.hidden is not selected.hidden
    assert model.get_params()["hidden__truncation"] == 8 and model.get_params()["hidden__alpha"] == 2.0
    model.set_params(hidden__truncation=4, hidden__alpha="learn")
    assert repr(model.hidden) == "IBP(alpha='learn', truncation=4)" and selected.hidden.truncation == 8
    assert "n_units" not in IBP().get_params()
    # the layer wins over the estimator's own number, which is the default
    assert IBP(truncation=4).bind(9).n_units_ == 4 and IBP().bind(9).n_units_ == 9


def test_search_over_alpha() -> None:
    search = GridSearchCV(quick(5, driver=FEW), {"hidden__alpha": [0.5, 5.0, "learn"]}, cv=2).fit(X)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.best_estimator_.hidden.alpha == search.best_params_["hidden__alpha"]


def test_pickle_keeps_the_model(selected: Harmonium) -> None:
    again = pickle.loads(pickle.dumps(selected))
    np.testing.assert_array_equal(again.transform(X), selected.transform(X))
    np.testing.assert_array_equal(again.unit_usage_, selected.unit_usage_)


@pytest.mark.parametrize("head", [None, Hinge(C=1.0)], ids=["views", "head"])
def test_same_result_on_one_thread_or_two(head: Hinge | None) -> None:
    results = []
    for n_jobs in (1, 2):
        settings_: dict[str, Any] = {"hidden": IBP(truncation=8), "driver": FEW, "random_state": 3, "n_jobs": n_jobs}
        if head is None:
            model = Harmonium(**settings_).fit(X)
        else:
            model = HarmoniumClassifier(head=head, **settings_).fit(X, classes_of(HAS))
        results.append(model)
    for name, value in results[0].parameters_.items():
        np.testing.assert_array_equal(results[1].parameters_[name], value)
    np.testing.assert_array_equal(results[0].unit_usage_, results[1].unit_usage_)


# ---- files -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("ending", ["model.safetensors", "model"])
def test_saved_models_are_the_same_and_go_on(selected: Harmonium, tmp_path: Path, ending: str) -> None:
    selected.save(tmp_path / ending)
    again = harmonium.load(tmp_path / ending)
    np.testing.assert_array_equal(again.transform(X), selected.transform(X))
    np.testing.assert_array_equal(again.score_samples(X), selected.score_samples(X))
    np.testing.assert_array_equal(again.unit_usage_, selected.unit_usage_)
    assert again.unit_usage_.dtype == selected.unit_usage_.dtype
    assert again.truncation_reached_ is selected.truncation_reached_ is False
    assert again.history_ == selected.history_ and repr(again) == repr(selected)
    for name, value in selected.parameters_.items():
        np.testing.assert_array_equal(again.parameters_[name], value)
    training = again._training
    assert (training.n_items, training.n_settled) == (300, selected._training.n_settled) and training.n_settled > 1
    again.partial_fit(X[:60])
    assert again.n_components_ == 3 and again._training.n_items == 360
    again.set_params(warm_start=True, driver=FEW).fit(X)
    assert again.n_components_ == 3 and again.n_iter_ == selected.n_iter_ + 4


def test_models_of_partial_fit_and_with_heads_are_saved_too(tmp_path: Path) -> None:
    model = quick().partial_fit(X)
    model.save(tmp_path / "model.safetensors")
    again = harmonium.load(tmp_path / "model.safetensors")
    assert not hasattr(again, "unit_usage_") and again.n_components_ == 8
    np.testing.assert_array_equal(again.transform(X), model.transform(X))
    classifier = HarmoniumClassifier(
        hidden=IBP(truncation=8), head=Hinge(C=1.0), driver=FEW, validation_fraction=0, random_state=0
    ).fit(X, classes_of(HAS))
    classifier.save(tmp_path / "classifier.safetensors")
    again = harmonium.load(tmp_path / "classifier.safetensors")
    np.testing.assert_array_equal(again.decision_function(X), classifier.decision_function(X))
    np.testing.assert_array_equal(again.unit_usage_, classifier.unit_usage_)


def tensor(name: str, value: np.ndarray) -> Any:
    def change(description: dict[str, Any], tensors: dict[str, np.ndarray]) -> None:
        tensors[name] = value
        description["tensors"][name] = {"dtype": value.dtype.name, "shape": list(value.shape)}

    return change


def fact(name: str, value: Any) -> Any:
    def change(description: dict[str, Any], tensors: dict[str, np.ndarray]) -> None:
        description["fitted"][name] = value

    return change


def setting(name: str, value: Any) -> Any:
    def change(description: dict[str, Any], tensors: dict[str, np.ndarray]) -> None:
        place = description["hidden"]
        (place if name == "n_units" else place["parameters"])[name] = value

    return change


def lost_fact(description: dict[str, Any], tensors: dict[str, np.ndarray]) -> None:
    del description["fitted"]["n_settled"]


BROKEN = {
    "odds of other units": (tensor("parameters/hidden.log_odds", np.zeros(4, np.float32)), "must be numbers of shape"),
    "odds that are infinite": (tensor("parameters/hidden.log_odds", np.full(3, np.inf, np.float32)), "finite"),
    "sticks of another shape": (tensor("parameters/hidden.beta", np.ones((3, 3), np.float32)), "of shape"),
    "two alphas": (tensor("parameters/hidden.alpha", np.ones(2, np.float32)), "of shape"),
    "usage of other units": (fact("unit_usage_", [0.5, 0.5]), "unit_usage_ must have 3 numbers"),
    "usage that is text": (fact("unit_usage_", "often"), "unit_usage_"),
    "number that is text": (fact("n_items", "many"), "can be put together"),
    "lost number": (lost_fact, "n_settled"),
    "more units than memory": (setting("n_units", 10**15), "of shape"),
    "bad truncation": (setting("truncation", "many"), "truncation >= 1; got 'many'"),
    "bad alpha": (setting("alpha", -1.0), "alpha > 0; got -1"),
    "bad kind": (setting("kind", "complex"), "kind 'binary' or 'real'; got 'complex'"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_broken_files_are_refused(selected: Harmonium, tmp_path: Path, case: str) -> None:
    change, pattern = BROKEN[case]
    selected.save(tmp_path / "model.safetensors")
    with safe_open(tmp_path / "model.safetensors", framework="numpy") as file:
        description = json.loads(file.metadata()["harmonium"])
    tensors = load_file(tmp_path / "model.safetensors")
    change(description, tensors)
    save_file(tensors, tmp_path / "changed.safetensors", metadata={"harmonium": json.dumps(description)})
    with pytest.raises(ModelFileError, match=pattern) as error:
        harmonium.load(tmp_path / "changed.safetensors")
    assert str(error.value).endswith(".")


# ---- bad input -------------------------------------------------------------------------------------------------------
REFUSED: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"alpha": 0}, ValueError, "needs a number alpha > 0; got 0; 2.0 is usual, 'learn' infers it."),
    ({"alpha": -2.0}, ValueError, "needs a number alpha > 0; got -2.0"),
    ({"alpha": np.nan}, ValueError, "alpha > 0; got nan"),
    ({"alpha": "lern"}, TypeError, "alpha > 0; got 'lern'; 2.0 is usual, 'learn' infers it."),
    ({"kind": "complex"}, ValueError, "needs kind 'binary' or 'real'; got 'complex'; take one of them."),
    ({"inference": "exact"}, ValueError, "needs inference 'joint' or 'factorised'; got 'exact'"),
    ({"relevance": -0.5}, ValueError, "needs a number relevance >= 0; got -0.5; 1.0 is usual."),
    ({"variance": 0.0}, ValueError, "needs a number variance > 0; got 0.0"),
    ({"variance": -1}, ValueError, "variance > 0; got -1"),
]
SIZES: list[tuple[Any, type[Exception]]] = [(0, ValueError), (1.5, TypeError), ("many", TypeError), (True, TypeError)]


def assert_refused(model: Harmonium, data: Any, kind: type[Exception], words: str) -> None:
    before = dict(vars(model))
    with pytest.raises(kind) as error:
        model.fit(data)
    message = str(error.value)
    assert words in message and message.endswith(".") and "\n" not in message
    assert vars(model) == before


@pytest.mark.parametrize("layer_class", [SpikeSlab, IBP])
@pytest.mark.parametrize(("parameters", "kind", "words"), REFUSED, ids=lambda value: str(value)[:30])
def test_bad_settings_are_refused(
    layer_class: type[SpikeSlab], parameters: dict[str, Any], kind: type[Exception], words: str
) -> None:
    layer = layer_class(**parameters)
    assert_refused(Harmonium(3, hidden=layer), X, kind, f"{layer_class.__name__} " if "needs" in words else "")
    assert_refused(Harmonium(3, hidden=layer), X, kind, words)


@pytest.mark.parametrize(("size", "kind"), SIZES, ids=str)
def test_bad_sizes_are_refused(size: Any, kind: type[Exception]) -> None:
    words = f"IBP needs a whole number truncation >= 1; got {size!r}; None takes the estimator's n_components."
    assert_refused(Harmonium(3, hidden=IBP(truncation=size)), X, kind, words)
    assert_refused(Harmonium(3, hidden=SpikeSlab(n_units=size)), X, kind, f"n_units >= 1; got {size!r}")


@pytest.mark.parametrize("layer", [SpikeSlab(kind="real"), IBP(kind="real")], ids=str)
def test_counts_that_real_units_would_blow_up_are_refused(layer: SpikeSlab) -> None:
    words = f"View 'view0' is Poisson and cannot be normalised with {type(layer).__name__}"
    assert_refused(Harmonium(3, views=Poisson(), hidden=layer), np.ones((10, 3)), IncompatiblePartsError, words)


def test_fewest_rows_and_units() -> None:
    for n_rows in (1, 2, 9):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", HarmoniumWarning)
            for kind in ("binary", "real"):
                model = Harmonium(hidden=IBP(truncation=1, kind=kind), driver=FEW, random_state=0).fit(X[:n_rows])
                assert model.n_components_ == 1 and np.isfinite(model.transform(X)).all()


def test_views_that_never_meet() -> None:
    data = {"a": X[:, :7].copy(), "b": X[:, 7:].copy()}
    data["a"][:150] = np.nan  # whole batches lack one of the views
    data["b"][150:] = np.nan
    for objective in (None, MeanFieldCD()):
        model = quick(driver=FEW, objective=objective).fit(data)
        assert np.isfinite(model.transform(data)).all() and np.isfinite(model.unit_usage_).all()


def test_targets_do_not_reach_the_counts() -> None:
    """Presence is counted from the views, whatever the head wants it to be."""
    problem, parameters = three_views()
    batch = random_batch(problem.energy, parameters, 12)
    alone = Statistics.zeros_like(parameters)
    MeanFieldCD().accumulate(problem, parameters, batch, alone, np.random.default_rng(0))
    targets = Targets(np.arange(12)[:, None] % 2, np.ones(12))
    head = Hinge(C=1.0).bind(targets, [2])
    problem.head, problem.strength = head, 5.0
    parameters = {**parameters, **head.initial_parameters(problem.energy.hidden)}
    parameters[HEAD_WEIGHTS] = np.random.default_rng(0).normal(size=parameters[HEAD_WEIGHTS].shape)
    batch.targets = targets
    together = Statistics.zeros_like(parameters)
    MeanFieldCD().accumulate(problem, parameters, batch, together, np.random.default_rng(0))
    np.testing.assert_array_equal(together.gradient[LOG_ODDS], alone.gradient[LOG_ODDS])
    assert not np.allclose(together.gradient[HIDDEN_BIAS], alone.gradient[HIDDEN_BIAS])


def test_units_cannot_be_selected_by_labels_alone() -> None:
    model = HarmoniumClassifier(hidden=IBP(truncation=4), head=LabelView(), objective=Discriminative(), driver=QUICK)
    with pytest.raises(ValueError, match=r"IBP selects units by what they explain of the views.*generative=0\.1"):
        model.fit(X, HAS[:, 0].astype(int))
    assert not hasattr(model, "families_")
