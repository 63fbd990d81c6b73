"""Heads and views together: gradients by finite differences, sums over batches, rows without targets."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from harmonium.core.batch import Batch, ViewBatch
from harmonium.core.parameters import HEAD_BIAS, HEAD_WEIGHTS, Parameters
from harmonium.energy import Energy
from harmonium.objectives import ExactLikelihood, MeanFieldCD, Objective, PersistentCD, SampledCD
from harmonium.objectives.problem import Problem
from harmonium.objectives.statistics import Statistics
from tests.cases.heads import COST, HIDDEN, LINEAR, VARIANTS, assert_gradient, bound, labels_of, statistics_of
from tests.cases.models import make_family, make_hidden, make_parameters, random_batch


def two_views(hidden: str, n_rows: int, seed: int = 1) -> tuple[Energy, Parameters, Batch]:
    energy = Energy({"a": make_family("Bernoulli"), "b": make_family("Gaussian")}, make_hidden(hidden))
    energy.families["b"].variance = "learn"  # so that extra parameters take part
    parameters = make_parameters(energy, seed=seed, scale=0.2 if not energy.hidden.support.bounded else 0.4)
    return energy, parameters, random_batch(energy, parameters, n_rows)


def joint_problem(name: str, hidden: str, **settings: Any) -> tuple[Problem, Parameters, Batch]:
    head, targets = bound(name, n_rows=9, ridge=0.1, **settings)
    energy, parameters, batch = two_views(hidden, 9)
    rng = np.random.default_rng(4)
    parameters[HEAD_WEIGHTS] = rng.normal(size=(2, head.n_directions))
    parameters[HEAD_BIAS] = rng.normal(size=head.n_outputs_)
    batch.targets = targets
    reference = {"a": np.full(3, 0.5), "b": np.zeros(3)}
    return Problem(energy, reference, head, loss_weight=1.7), parameters, batch


@pytest.mark.parametrize("hidden", [name for name in HIDDEN if name != "ComposedUnits"])  # no loss moves its topics
@pytest.mark.parametrize(("name", "settings"), [*VARIANTS, ("Hinge", {"cost": COST})], ids=str)
def test_gradient_of_likelihood_and_head_by_finite_differences(
    name: str, settings: dict[str, Any], hidden: str
) -> None:
    """Through all parameters: weights of the views, hidden bias, weights and bias of the head; some targets unknown."""
    problem, parameters, batch = joint_problem(name, hidden, **{k: v for k, v in settings.items() if k != "ridge"})
    gradient = statistics_of(ExactLikelihood(), problem, parameters, batch).gradient

    def loss(moved: Parameters) -> float:
        return statistics_of(ExactLikelihood(), problem, moved, batch).loss

    assert_gradient(problem, gradient, loss, parameters)
    # the head has its say in all of them
    alone = statistics_of(ExactLikelihood(), Problem(problem.energy, problem.reference), parameters, batch).gradient
    for key in ("hidden.bias", "a.weights", "b.weights"):
        assert np.abs(gradient[key] - alone[key]).max() > 0.01
    for key in ("a.bias", "b.bias"):
        np.testing.assert_array_equal(gradient[key], alone[key])


@pytest.mark.parametrize("name", LINEAR)
def test_alternating_heads_pull_but_do_not_move(name: str) -> None:
    problem, parameters, batch = joint_problem(name, "BernoulliUnits")
    joint = statistics_of(ExactLikelihood(), problem, parameters, batch)
    settings = {**problem.head.get_params(), "solver": "alternate"}
    head = type(problem.head)(**settings).bind(labels_of(name, problem.head.kinds[0], 9))
    problem = replace(problem, head=head)
    apart = statistics_of(ExactLikelihood(), problem, parameters, batch)
    assert apart.loss == joint.loss
    for key, value in joint.gradient.items():
        if key in (HEAD_WEIGHTS, HEAD_BIAS):
            assert value.any() and not apart.gradient[key].any()
            assert key not in problem.moving(parameters)
        else:
            np.testing.assert_array_equal(apart.gradient[key], value)


@pytest.mark.parametrize(
    "objective", [ExactLikelihood(), MeanFieldCD(), SampledCD(), PersistentCD(n_chains=3)], ids=str
)
@pytest.mark.parametrize("name", LINEAR)
def test_statistics_are_additive(name: str, objective: Objective) -> None:
    problem, parameters, batch = joint_problem(name, "BernoulliUnits")

    def part(rows: slice) -> Batch:
        assert batch.targets is not None
        views = {key: ViewBatch(view.statistic[rows]) for key, view in batch.views.items()}
        return Batch(views, len(range(9)[rows]), batch.targets.take(rows))

    accumulated, together = Statistics.zeros_like(parameters), Statistics.zeros_like(parameters)
    for rows in (slice(4), slice(4, 9)):
        objective.accumulate(
            problem, parameters, part(rows), accumulated, np.random.default_rng(rows.stop), with_loss=True
        )
        one = Statistics.zeros_like(parameters)
        objective.accumulate(problem, parameters, part(rows), one, np.random.default_rng(rows.stop), with_loss=True)
        together = together + one
    assert accumulated.count == together.count == 9
    assert accumulated.loss == pytest.approx(together.loss)
    whole = statistics_of(objective, problem, parameters, batch, with_loss=True)
    for key in parameters:
        np.testing.assert_allclose(accumulated.gradient[key], together.gradient[key], atol=1e-12)
        if objective.has_loss or key in (HEAD_WEIGHTS, HEAD_BIAS):  # the head's own is not sampled
            np.testing.assert_allclose(accumulated.gradient[key], whole.gradient[key], atol=1e-10)
    if objective.has_loss:
        assert whole.loss == pytest.approx(accumulated.loss)


@pytest.mark.parametrize("name", LINEAR)
def test_losses_are_weighted_and_rows_without_targets_count_for_the_views_only(name: str) -> None:
    problem, parameters, batch = joint_problem(name, "BernoulliUnits")
    assert batch.targets is not None
    scores = problem.head.scores(problem.energy, parameters, batch)
    losses, _ = problem.head.loss(scores, batch.targets.values)
    plain = statistics_of(ExactLikelihood(), Problem(problem.energy, problem.reference), parameters, batch).loss
    penalty = 9 * 0.1 / 2 * np.square(parameters[HEAD_WEIGHTS]).sum()
    loss = statistics_of(ExactLikelihood(), problem, parameters, batch).loss
    assert loss == pytest.approx(plain + 1.7 * (losses @ batch.targets.weight + penalty))
