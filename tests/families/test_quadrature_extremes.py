"""Scores of values far from all others: right, finite, and computed in a moment."""

from __future__ import annotations

import time
import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import gammaln, logit, logsumexp

from harmonium import Harmonium
from harmonium.core.support import Support
from harmonium.families import Binomial, Gaussian, NegativeBinomial, Poisson
from harmonium.families.numerics.quadrature import log_integral, log_sum
from harmonium.hidden import BernoulliUnits
from harmonium.training import Stochastic

COUNTS = Support("counts", 0, integer=True)
PLACES = [0.0, 3e4, 1e8, 1e15]
RNG = np.random.default_rng(0)


def fitted(family: Any, data: np.ndarray) -> Harmonium:
    driver = Stochastic(max_iter=2)
    return Harmonium(3, views={"x": family}, hidden=BernoulliUnits(), driver=driver, random_state=0).fit({"x": data})


MODELS = {
    "poisson": fitted(Poisson(), RNG.poisson(3.0, (30, 4)).astype(float)),
    "negative binomial": fitted(NegativeBinomial(), RNG.poisson(3.0, (30, 4)).astype(float)),
    "gaussian": fitted(Gaussian(), RNG.normal(size=(30, 4))),
    "binomial": fitted(Binomial(n=10**7), RNG.integers(0, 10**7, (30, 4)).astype(float)),
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("natural", [-5.0, 1.0, 7.0, 12.0, 20.0])
def test_sums_of_poisson_and_negative_binomial_counts_are_the_closed_forms(natural: float, place: float) -> None:
    total = log_sum(lambda x: natural * x - gammaln(x + 1), COUNTS, (place, 5.0))
    assert total == pytest.approx(np.exp(natural), rel=1e-9)
    log_p, r = -np.exp(-natural / 2), 2.5
    total = log_sum(lambda x: log_p * x + gammaln(x + r) - gammaln(r) - gammaln(x + 1), COUNTS, (place, 5.0))
    assert total == pytest.approx(-r * np.log(-np.expm1(log_p)), rel=1e-8)


@pytest.mark.parametrize("p", [1e-7, 0.3, 1 - 1e-8])
def test_sums_over_many_trials_are_the_closed_form(p: float) -> None:
    n = 10**8

    def log_density(x: np.ndarray) -> np.ndarray:
        return gammaln(n + 1.0) - gammaln(x + 1) - gammaln(n - x + 1) + x * logit(p)

    total = log_sum(log_density, Support("trials", 0, n, integer=True), (7.0, n * p))
    assert total == pytest.approx(-n * np.log1p(-p), rel=1e-7)


@settings(deadline=None, max_examples=40)
@given(
    seed=st.integers(0, 10**6),
    size=st.sampled_from([0.01, 0.3, 1.0]),
    bias=st.floats(-2, 6),
    place=st.sampled_from([0.0, 50.0, 3000.0, 20000.0]),
)
def test_mixtures_are_summed_like_point_by_point(seed: int, size: float, bias: float, place: float) -> None:
    rng = np.random.default_rng(seed)
    weights, natural = size * rng.normal(size=4), 3 * rng.normal(size=4)

    def log_hidden(x: np.ndarray) -> np.ndarray:
        return np.logaddexp(0, natural + np.outer(x - place, weights)).sum(axis=1)

    def of_counts(x: np.ndarray) -> np.ndarray:
        return bias * x - gammaln(x + 1) + log_hidden(x)

    highest = np.exp(bias + np.maximum(weights, 0).sum())
    if highest < 1e5:
        states = np.arange(0, 1.5 * highest + 2000)
        assert log_sum(of_counts, COUNTS, (place, 5.0)) == pytest.approx(logsumexp(of_counts(states)), abs=1e-7)

    def of_reals(x: np.ndarray) -> np.ndarray:
        return bias * x - x**2 / 2 + log_hidden(x)

    grid = np.arange(-50, 80, 0.1)
    expected = logsumexp(of_reals(grid)) + np.log(0.1)
    assert log_integral(of_reals, (place, bias), 0.125) == pytest.approx(expected, abs=1e-7)


@settings(deadline=None, max_examples=40)
@given(
    name=st.sampled_from(sorted(MODELS)),
    exponent=st.floats(0, 17.9),
    negative=st.booleans(),
    rows=st.integers(1, 4),
)
def test_scores_of_extreme_values_are_finite_or_refused_in_a_second(
    name: str, exponent: float, negative: bool, rows: int
) -> None:
    model, value = MODELS[name], float(np.floor(10**exponent)) * (-1 if negative else 1)
    data = np.full((rows, 4), 2.0)
    data[0] = value
    start = time.process_time()
    try:
        assert np.isfinite(model.score({"x": data}))
        assert np.isfinite(model.score_samples({"x": data})).all()
    except ValueError as error:
        assert str(error).startswith("View 'x'")  # outside the support
    assert time.process_time() - start < 1


@pytest.mark.parametrize(("name", "value"), [("poisson", 1e8), ("gaussian", 1e7), ("negative binomial", 1e8)])
def test_one_value_far_out_costs_neither_time_nor_memory(name: str, value: float) -> None:
    data = np.full((20, 4), 2.0)
    data[3] = value
    tracemalloc.start()
    start = time.process_time()
    MODELS[name].score({"x": data})
    taken, (_, peak) = time.process_time() - start, tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert taken < 1
    assert peak < 50e6
