"""What weights cost, its gradient, and the steps that share second moments."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from harmonium import Hinge
from harmonium.core.parameters import HEAD_WEIGHTS, HIDDEN_BIAS, Parameters, weights_of
from harmonium.core.targets import Labels, Targets, TargetSpec
from harmonium.kernels.runtime.threads import compute
from harmonium.objectives import MeanFieldCD
from harmonium.objectives.statistics import Statistics
from harmonium.training import Adam
from harmonium.training.drivers.optimizers import Step
from tests.cases.models import random_batch
from tests.cases.selection import cost, evidence_of, three_views

INFORMATIVE = 0.2  # share of the items that counts, from the definition of the cost


# ---- what weights cost -----------------------------------------------------------------------------------------------
VARIANCE = {"a": [0.09, 0.25, 0.16], "b": [1.0, 1.0, 1.0], "c": [0.5, 1.0, 1.5]}  # of 0/1, standardised, counts


def spread_of(parameters: Parameters) -> np.ndarray:
    return sum(np.array(VARIANCE[name]) @ np.square(parameters[weights_of(name)]) for name in VARIANCE)


@pytest.mark.parametrize("loss_weight", [0.0, 3.0])
def test_cost_of_weights_and_its_gradient(loss_weight: float) -> None:
    problem, parameters = three_views(relevance=0.7, loss_weight=loss_weight)
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
    evidence = evidence_of(problem, 500)
    np.testing.assert_allclose(evidence.of_all(parameters), spread_of(parameters) * 500 * 0.2 / 9, rtol=1e-4)
    # weights of standard deviation 1/√(D ρ), each in units of its feature: what chance would give them
    at_chance = dict(parameters)
    for name, variance in VARIANCE.items():
        at_chance[weights_of(name)] = np.tile(1 / np.sqrt(500 * 0.2 * np.array(variance))[:, None], (1, 4))
    np.testing.assert_allclose(evidence.of_all(at_chance), 1, rtol=1e-3)
    with_head = evidence_of(three_views(loss_weight=4.0)[0], 500)
    np.testing.assert_allclose(with_head.of_all(parameters), 5 * evidence.of_all(parameters), rtol=1e-6)
    # what the views say alone is the same, head or none
    np.testing.assert_allclose(with_head.of_views(parameters), evidence.of_all(parameters), rtol=1e-6)
    np.testing.assert_array_equal(evidence.of_views(parameters), evidence.of_all(parameters))


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
    optimizer, rate, decay = Adam(shared=True), 0.05, 0.3
    optimizer_state = optimizer.start(parameters)
    for step in range(1, 6):
        gradient = adam_arrays(6, 4, seed=step)
        learning_rate_scale = {weights_of("x"): 0.5}
        statistics = Statistics({name: value.copy() for name, value in gradient.items()}, count=7.0)
        optimizer.update(parameters, statistics, optimizer_state, Step(rate, decay, learning_rate_scale))
        for name, value in expected.items():
            g = gradient[name].astype(np.float64) / 7
            size = np.abs(g).max(axis=axis[name], keepdims=True) if name in axis else g
            first[name] = 0.9 * first[name] + 0.1 * g
            second[name] = 0.999 * second[name] + 0.001 * np.square(size) * np.ones_like(g)
            corrected = first[name] / (1 - 0.9**step) / (np.sqrt(second[name] / (1 - 0.999**step)) + 1e-8)
            shrink = rate * decay if name.endswith(".weights") else 0.0
            expected[name] = value - rate * learning_rate_scale.get(name, 1.0) * corrected - shrink * value
    for name, value in expected.items():
        np.testing.assert_allclose(parameters[name], value, rtol=2e-4, atol=2e-5, err_msg=name)


def test_shared_adam_uses_up_the_gradient_and_is_the_same_on_two_threads() -> None:
    results = []
    for n_threads in (1, 2):
        parameters, optimizer = adam_arrays(4000, 200), Adam(shared=True)
        optimizer_state = optimizer.start(parameters)
        with compute(n_threads):
            for step in (1, 2):
                statistics = Statistics(adam_arrays(4000, 200, seed=step), count=3.0)
                optimizer.update(parameters, statistics, optimizer_state, Step(0.01, 0.1))
                assert not any(value.any() for value in statistics.gradient.values())
        results.append(parameters)
    for name, value in results[0].items():
        np.testing.assert_array_equal(results[1][name], value)


# ---- targets ---------------------------------------------------------------------------------------------------------
def test_targets_do_not_reach_the_counts() -> None:
    """Presence is counted from the views, whatever the head wants it to be."""
    problem, parameters = three_views()
    batch = random_batch(problem.energy, parameters, 12)
    alone = Statistics.zeros_like(parameters)
    MeanFieldCD().accumulate(problem, parameters, batch, alone, np.random.default_rng(0))
    targets = Targets(np.arange(12)[:, None] % 2, np.ones(12))
    head = Hinge(C=1.0).bind(Labels(TargetSpec("class", [np.arange(2)]), targets))
    problem = replace(problem, head=head, loss_weight=5.0)
    parameters = {**parameters, **head.initial_parameters(problem.energy.hidden)}
    parameters[HEAD_WEIGHTS] = np.random.default_rng(0).normal(size=parameters[HEAD_WEIGHTS].shape)
    batch.targets = targets
    together = Statistics.zeros_like(parameters)
    MeanFieldCD().accumulate(problem, parameters, batch, together, np.random.default_rng(0))
    np.testing.assert_array_equal(together.counts, alone.counts)
    assert np.shape(alone.counts) == (4,)
    assert not np.allclose(together.gradient[HIDDEN_BIAS], alone.gradient[HIDDEN_BIAS])
