"""Units that are left: their usage, what pruning folds into biases, and units that become one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from harmonium import IBP, Bernoulli, Harmonium, HarmoniumClassifier, Hinge, Stochastic
from harmonium.core.batch import Batch, ViewBatch
from harmonium.core.parameters import HEAD_WEIGHTS, HIDDEN_BIAS, Parameters, bias_of, weights_of
from harmonium.energy import Energy
from harmonium.estimators.input import known_views
from harmonium.hidden import SpikeSlab
from harmonium.hidden.selection import Use, merging
from harmonium.inspection import canonical_signs
from harmonium.objectives.problem import Problem
from harmonium.training.growth.prune import prune
from harmonium.views.data import Data
from tests.cases.selection import HAS, QUICK, X, evidence_of, features, quick, select


@pytest.fixture(scope="module")
def selected() -> Harmonium:
    return select()


def test_usage_is_the_mean_presence(selected: Harmonium) -> None:
    assert selected.fitted_.usage.shape == (selected.n_components_,) == (3,)
    np.testing.assert_allclose(selected.fitted_.usage, selected.transform(X).mean(axis=0), atol=1e-5)
    share = HAS.mean(axis=0)
    near = [min(abs(share - use).min(), abs(1 - share - use).min()) for use in selected.fitted_.usage]
    assert max(near) < 0.1


def test_turning_units_over_turns_their_usage() -> None:
    """Columns of 0 and 1, which have a mean that units can be aligned with."""
    data = (features()[0] > 0).astype(float)
    model = quick(driver=Stochastic(max_iter=40, batch_size=0.05, learning_rate=0.09)).fit(data)
    weights = model.fitted_.parameters["view0.weights"]
    weights[:, 0] *= -1 if data.mean(axis=0) @ weights[:, 0] > 0 else 1  # so that there is one to turn
    model.fitted_ = replace(model.fitted_, usage=model.transform(data).mean(axis=0))
    before = model.score_samples(data)
    settled = model.fitted_.training.n_settled, model.fitted_.training.n_items
    model = canonical_signs(model)
    np.testing.assert_allclose(model.fitted_.usage, model.transform(data).mean(axis=0), atol=1e-5)
    difference = model.score_samples(data) - before
    np.testing.assert_allclose(difference, difference.mean(), atol=1e-3)
    assert (model.fitted_.training.n_settled, model.fitted_.training.n_items) == settled


def test_pruning_folds_the_others_into_the_biases(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(merging, "_AGREEMENT", 2.0)  # units that agree are the next test's
    y = HAS[:, 0].astype(int)
    model = HarmoniumClassifier(hidden=IBP(truncation=8), head=Hinge(C=1.0), driver=QUICK, random_state=0)
    for _ in range(40):
        model.partial_fit(X, y)
    # more than a chance effect in a unit that is dropped, so that there is something to fold
    model.fitted_.parameters["view0.weights"][:, 7] = 0.02
    model.fitted_.parameters[HEAD_WEIGHTS][7] = 1.0
    data = Data(known_views(model, X))
    problem, parameters = model.fitted_.problem, model.fitted_.parameters
    result = prune(problem, parameters, data, len(X))
    assert result is not None
    left = result.parameters["view0.weights"]
    found = np.array([(column[:, None] == left).all(axis=0).any() for column in parameters["view0.weights"].T])
    assert 1 <= result.n_found < 8 and result.problem.energy.hidden.n_units_ == result.n_found == found.sum()
    assert (evidence_of(problem, len(X)).of_all(parameters)[found] >= 1).all()
    batch = data.batch(np.arange(len(X)), problem.energy.families)
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
    own = energy.hidden.extra_parameters() | {"log_odds": log_odds}
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
    odds = parameters["hidden.log_odds"]
    merged, left = merging.merge_units(parameters, odds, np.ones(3, dtype=bool), correlation, evidence)
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
    same, odds = np.ones((3, 3)), parameters["hidden.log_odds"]
    _, left = merging.merge_units(parameters, odds, np.array([True, False, True]), same, np.array([1.0, 2.0, 3.0]))
    assert left.tolist() == [False, False, True]
    use = Use(np.ones(3), np.ones(3), np.ones(3), same)
    for kind, n_left in (("binary", 1), ("real", 3)):
        problem, parameters, _ = twin_units(kind)
        pruned = problem.selection(100).prune(parameters, use)
        assert pruned is not None and pruned.layer.n_units_ == n_left and pruned.n_found == 3
    assert (pruned.parameters[weights_of("x")] == parameters[weights_of("x")]).all()
