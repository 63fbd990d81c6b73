"""Priors of the use of units: steps against the formulas, the queue, and counts over batches against all rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.special import expit

from harmonium import IBP
from harmonium.core.batch import Batch, ViewBatch
from harmonium.hidden import SpikeSlab
from harmonium.hidden.selection import sticks
from harmonium.hidden.selection.prior import BetaBernoulliPrior
from harmonium.objectives import MeanFieldCD
from harmonium.objectives.statistics import Statistics
from tests.cases.models import random_batch
from tests.cases.selection import cost, evidence_of, three_views
from tests.hidden.selection.test_sticks import plain_update


def random_posterior(prior: BetaBernoulliPrior, rng: np.random.Generator) -> dict[str, np.ndarray]:
    extra = prior.initial()
    extra["beta"] = np.exp(rng.uniform(-1, 4, size=extra["beta"].shape))
    return extra


@pytest.mark.parametrize("alpha", [2.0, "learn"])
@pytest.mark.parametrize("layer_class", [SpikeSlab, IBP])
def test_a_whole_step_is_coordinate_ascent(layer_class: type[SpikeSlab], alpha: Any) -> None:
    for seed in range(10):
        rng = np.random.default_rng(seed)
        prior = layer_class(alpha=alpha).bind(6).selection
        own, counts = random_posterior(prior, rng), rng.uniform(0, 100, size=6)
        ranked = np.sort(counts)[::-1]
        after = prior.updated(own, counts, 100.0, np.full(6, 2.0))
        if layer_class is IBP:
            expected = plain_update(own["beta"], ranked, 100.0, 2.0)
            odds = sticks.stick_log_odds(expected)
        else:
            expected = np.stack([2.0 / 6 + ranked, 1 + 100 - ranked], axis=1)
            odds = sticks.independent_log_odds(expected)
        np.testing.assert_allclose(after["beta"], expected, rtol=1e-8, atol=1e-7)
        np.testing.assert_allclose(after["log_odds"][np.argsort(-counts)], odds, atol=1e-8)
        assert prior.bound(after, ranked, 100.0) >= prior.bound(own, ranked, 100.0) - 1e-9
        assert (after["alpha"][0] != 2.0) == (alpha == "learn")
        # part of a step goes part of the way
        part = prior.updated(own, counts, 100.0, np.full(6, 2.0), share=0.25)
        np.testing.assert_allclose(part["beta"], 0.75 * own["beta"] + 0.25 * expected, rtol=1e-8, atol=1e-7)


def test_units_without_evidence_queue() -> None:
    prior, rng = IBP().bind(5).selection, np.random.default_rng(0)
    evidence = np.array([0.2, 3.0, 0.9, 1.0, 0.5])
    counts = np.array([90.0, 10.0, 1.0, 40.0, 70.0])
    odds = prior.updated(random_posterior(prior, rng), counts, 100.0, evidence)["log_odds"]
    # those with evidence by use, the others by evidence whatever their use
    assert odds[3] > odds[1]
    np.testing.assert_allclose(odds[[2, 4, 0]], prior.waiting_log_odds(3))
    assert np.all(np.diff(prior.waiting_log_odds(200)) <= 0) and np.isfinite(prior.waiting_log_odds(2000)).all()
    assert expit(prior.waiting_log_odds(1)[0]) == pytest.approx(0.2)
    # with a head more of them learn at a time
    np.testing.assert_allclose(expit(prior.waiting_log_odds(3, has_head=True)), 0.2 * 0.95 ** np.arange(3))
    waiting = prior.updated(random_posterior(prior, rng), counts, 100.0, evidence, has_head=True)["log_odds"][[2, 4, 0]]
    np.testing.assert_allclose(waiting, prior.waiting_log_odds(3, has_head=True))


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
    expected = layer.selection.updated(own, 2 * counts, 60, evidence_of(problem, 60).of_all(parameters))
    selection.update(parameters, statistics.counts, 30)
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
