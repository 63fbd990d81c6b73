"""The prior of units: sticks against plain loops and quadrature, and how they follow the data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import digamma, expit
from scipy.stats import beta as beta_distribution

from harmonium import IBP, MeanFieldCD, SpikeSlab
from harmonium.batch import Batch, ViewBatch
from harmonium.hidden import sticks
from harmonium.objectives.statistics import Statistics
from tests.cases.models import random_batch
from tests.cases.selection import cost, evidence_of, three_views


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
    np.testing.assert_allclose(odds[[2, 4, 0]], layer.waiting_log_odds(3))
    assert np.all(np.diff(layer.waiting_log_odds(200)) <= 0) and np.isfinite(layer.waiting_log_odds(2000)).all()
    assert expit(layer.waiting_log_odds(1)[0]) == pytest.approx(0.2)
    # with a head more of them learn at a time
    np.testing.assert_allclose(expit(layer.waiting_log_odds(3, has_head=True)), 0.2 * 0.95 ** np.arange(3))
    waiting = layer.settle(own_of_layer(layer, rng), counts, 100.0, evidence, has_head=True)["log_odds"][[2, 4, 0]]
    np.testing.assert_allclose(waiting, layer.waiting_log_odds(3, has_head=True))


@pytest.mark.parametrize("missing", [False, True])
def test_use_is_counted_over_batches(missing: bool) -> None:
    problem, parameters = three_views()
    energy = problem.energy
    batch = random_batch(energy, parameters, 30)
    if missing:
        gap = np.zeros((30, 3), dtype=bool)
        gap[::4] = True
        batch.views["b"] = ViewBatch(np.where(gap, 0, batch.views["b"].statistic), missing=gap)
    statistics, selection = Statistics.zeros_like(parameters), problem.selection(60, streams=True)
    for rows in (slice(0, 11), slice(11, 30)):
        views = {
            name: ViewBatch(view.statistic[rows], missing=None if view.missing is None else view.missing[rows])
            for name, view in batch.views.items()
        }
        part = Batch(views, len(range(30)[rows]))
        MeanFieldCD().accumulate(problem, parameters, part, statistics, np.random.default_rng(0))
        selection.charge(statistics.gradient, parameters, part.n_rows)
    layer = energy.layer(parameters)
    assert isinstance(layer, IBP)
    counts = layer.presence(energy.hidden_natural(parameters, problem.complete(parameters, batch))).sum(axis=0)
    np.testing.assert_allclose(statistics.counts, counts, rtol=1e-6)
    # half of the items were seen, so that each stands for two
    own = {name: parameters[f"hidden.{name}"].copy() for name in ("log_odds", "beta", "alpha")}
    expected = layer.settle(own, 2 * counts, 60, evidence_of(problem, 60).of_all(parameters))
    selection.settle(parameters, statistics.counts, 30)
    for name, value in expected.items():
        np.testing.assert_allclose(parameters[f"hidden.{name}"], value, rtol=1e-6)
    assert not statistics.gradient["hidden.log_odds"].any()  # no gradient moves it


def test_all_rows_of_a_pass_are_charged_whatever_the_number_of_batches() -> None:
    for n_batches in (1, 3, 5, 12):
        problem, parameters = three_views()
        selection, statistics = problem.selection(100, streams=True), Statistics.zeros_like(parameters)
        for number in range(n_batches):
            is_last = number + 1 == n_batches
            statistics.loss += selection.charge(statistics.gradient, parameters, 10, last=is_last)
        whole = cost(problem, parameters, 100, 10 * n_batches)
        assert statistics.loss == pytest.approx(whole.loss)
        for name, value in whole.gradient.items():
            np.testing.assert_allclose(statistics.gradient[name], value, rtol=1e-5)
