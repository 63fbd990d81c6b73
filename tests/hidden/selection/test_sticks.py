"""The prior of units: sticks against plain loops and quadrature, and how they follow the data."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import digamma, expit
from scipy.stats import beta as beta_distribution

from harmonium.hidden.selection import sticks


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
