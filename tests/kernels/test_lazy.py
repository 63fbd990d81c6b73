"""Rows that wait: the same moments and values as if they had taken every step, and nothing waits for long."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

from harmonium import Harmonium, Stochastic
from harmonium.core.batch import Batch, ViewBatch
from harmonium.core.parameters import Parameters
from harmonium.kernels.optim.updates import ema_update
from harmonium.kernels.sparse.csr import SparseRows
from harmonium.objectives import SampledCD
from harmonium.objectives.statistics import Statistics
from harmonium.training import Adam, Momentum
from harmonium.training.drivers.optimizers import Step

N_FEATURES, N_UNITS = 300, 13


def _train(lazy: bool, n_steps: int, optimizer: Adam, flush_every: int = 1000, decay: float = 0.5) -> Parameters:
    """Parameters after some steps whose gradients are zero in most rows, with or without being told so."""
    rng = np.random.default_rng(0)
    weights = rng.normal(size=(N_FEATURES, N_UNITS)).astype(np.float32)
    parameters = {"hidden.bias": np.zeros(N_UNITS, np.float32), "x.weights": weights}
    optimizer_state = optimizer.start(parameters)
    for step in range(1, n_steps + 1):
        active_rows = rng.random(N_FEATURES) < rng.choice([0.02, 0.3])
        gradient = rng.normal(size=weights.shape).astype(np.float32) * active_rows[:, None]
        statistics = Statistics(
            {"hidden.bias": rng.normal(size=N_UNITS).astype(np.float32), "x.weights": gradient}, count=3.0
        )
        known = {"x.weights": active_rows} if lazy else {}
        rate = 0.01 / (1 + step / 20)
        taken = Step(rate, decay, {"x.weights": 0.3}, active_rows=known)
        optimizer.update(parameters, statistics, optimizer_state, taken)
        assert not any(value.any() for value in statistics.gradient.values())
        if step % flush_every == 0:
            optimizer.flush(parameters, optimizer_state)
    optimizer.flush(parameters, optimizer_state)
    moments = {
        f"{kind}.{name}": optimizer_state.arrays[kind][name] for kind in ("first", "second") for name in parameters
    }
    return {**parameters, **moments}


@pytest.mark.parametrize("flush_every", [1, 7, 1000])
@pytest.mark.parametrize("decay", [0.0, 0.5])
def test_rows_that_wait_take_the_same_steps(flush_every: int, decay: float) -> None:
    at_once = _train(False, 45, Adam(), decay=decay)
    later = _train(True, 45, Adam(), flush_every, decay)
    assert at_once.keys() == later.keys() and len(at_once) == 6
    for name, value in at_once.items():
        np.testing.assert_allclose(later[name], value, rtol=2e-4, atol=1e-9 if "second" in name else 2e-6)


@pytest.mark.parametrize("optimizer", [Adam(beta1=0.0), Adam(beta2=0.0), Adam(shared=True)])
def test_settings_without_a_common_path_take_every_step(optimizer: Adam) -> None:
    at_once, later = _train(False, 20, optimizer), _train(True, 20, optimizer)
    for name, value in at_once.items():
        np.testing.assert_allclose(later[name], value, rtol=2e-4, atol=2e-6)


def test_a_step_without_knowledge_of_rows_lets_all_catch_up_first() -> None:
    results = []
    for told in (True, False):
        rng = np.random.default_rng(1)
        parameters = {"hidden.bias": np.zeros(2, np.float32), "x.weights": np.ones((5, 2), np.float32)}
        optimizer = Adam()
        optimizer_state = optimizer.start(parameters)
        active_rows = np.array([True, False, True, False, False])
        for step in range(1, 5):
            gradient = rng.normal(size=(5, 2)).astype(np.float32)
            known = told and step != 4
            gradient[~active_rows] *= step in (1, 4)
            names = {"x.weights": active_rows | (step == 1)} if known else {}
            statistics = Statistics({"hidden.bias": np.zeros(2, np.float32), "x.weights": gradient}, count=1.0)
            optimizer.update(parameters, statistics, optimizer_state, Step(0.1, 0.1, active_rows=names))
        results.append(parameters["x.weights"].copy())
    np.testing.assert_allclose(results[0], results[1], rtol=1e-5)


def test_average_approaches_its_goal() -> None:
    rng = np.random.default_rng(2)
    value, goal = rng.normal(size=(2, 40, 3)).astype(np.float32)
    expected = value + 0.25 * (goal - value)
    ema_update(value, goal, 0.25)
    np.testing.assert_allclose(value, expected, rtol=1e-5, atol=1e-6)


def test_statistics_know_the_rows_they_touch() -> None:
    """Every row with a gradient is marked, and sums of statistics have the marks of both."""
    weights = np.zeros((4, 2), np.float32)
    one = Statistics({"x.weights": weights}, active_rows={"x.weights": np.array([True, False, False, True])})
    two = Statistics({"x.weights": weights}, active_rows={"x.weights": np.array([True, True, False, False])})
    assert (one + two).active_rows["x.weights"].tolist() == [True, True, False, True]
    assert (one + Statistics({"x.weights": weights})).active_rows["x.weights"].tolist() == [True, False, False, True]


def _words(n_rows: int = 400, n_words: int = 3000) -> scipy.sparse.csr_matrix:
    rng = np.random.default_rng(3)
    frequency = 0.3 / np.arange(1, n_words + 1) ** 0.7
    return scipy.sparse.csr_matrix((rng.random((n_rows, n_words)) < frequency).astype(np.float32))


@pytest.mark.parametrize("optimizer", [Adam(), Momentum()])
def test_a_fit_of_many_words_does_not_depend_on_threads(optimizer: Adam | Momentum) -> None:
    words = _words()
    driver = Stochastic(max_iter=3, batch_size=20, learning_rate=0.01, optimizer=optimizer, average=True)
    fits = [
        Harmonium(8, objective=SampledCD(), driver=driver, random_state=0, n_jobs=jobs).fit(words) for jobs in (1, 2)
    ]
    one, two = (model.fitted_.parameters for model in fits)
    for name, value in one.items():
        np.testing.assert_array_equal(two[name], value)


def test_rows_outside_the_batch_and_the_sample_have_no_gradient() -> None:
    words = _words(200)
    model = Harmonium(5, objective=SampledCD(), driver=Stochastic(max_iter=1), random_state=0).fit(words)
    problem, parameters = model.fitted_.problem, model.fitted_.parameters
    (name,) = problem.energy.families
    batch = Batch({name: ViewBatch(SparseRows.from_dense(words[:30].toarray()))}, 30)
    statistics = Statistics.zeros_like(parameters)
    SampledCD().accumulate(problem, parameters, batch, statistics, np.random.default_rng(0))
    active_rows = statistics.active_rows[f"{name}.weights"]
    has_gradient = statistics.gradient[f"{name}.weights"].any(axis=1)
    assert (active_rows | ~has_gradient).all() and 0 < active_rows.sum() < words.shape[1]
