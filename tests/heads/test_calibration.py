"""Scores become probabilities: known factors and shifts are recovered."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import approx_fprime, minimize
from scipy.special import expit, log_expit, log_softmax, softmax
from scipy.stats import rankdata
from sklearn.calibration import _SigmoidCalibration

from harmonium.core.targets import Targets
from harmonium.heads.outputs import ClassOutputs, LabelOutputs, LevelOutputs
from harmonium.heads.outputs.calibration import MarginScaling, fit_sigmoid, fit_sigmoids, fit_temperature


@pytest.mark.parametrize("factor", [0.2, 1.0, 5.0])
def test_temperature_recovers_a_known_factor(factor: float) -> None:
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(20000, 4))
    classes = np.argmax(factor * scores + rng.gumbel(size=scores.shape), axis=1)
    weight = np.ones(20000)
    classes[:50] = -1
    weight[50:100], classes[50:100] = 0.0, 0
    train, test = slice(10000), slice(10000, None)
    found = fit_temperature(scores[train], classes[train], weight[train])
    assert found == pytest.approx(factor, rel=0.1)
    each = np.arange(10000)
    calibrated, plain = (
        ClassOutputs([4], factors=np.array(factors)).probabilities(scores)[0] for factors in ([found], [])
    )
    losses = [-np.log(probability[test][each, classes[test]]).mean() for probability in (calibrated, plain)]
    assert losses[0] <= losses[1] + 1e-3
    np.testing.assert_allclose(calibrated.sum(axis=1), 1)
    # a row of weight 2 counts as two rows
    twice = fit_temperature(np.repeat(scores[100:400], 2, axis=0), np.repeat(classes[100:400], 2), np.ones(600))
    assert fit_temperature(scores[100:400], classes[100:400], np.full(300, 2.0)) == pytest.approx(twice, rel=1e-3)


@pytest.mark.parametrize("power", [-0.4, 0.0, 0.8])
@pytest.mark.parametrize("n_classes", [2, 5])
def test_margin_scaling_recovers_a_known_power(power: float, n_classes: int) -> None:
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(100_000, n_classes))
    truth = MarginScaling(1.5, power, 0.9)
    classes = np.argmax(truth.scaled(scores) + rng.gumbel(size=scores.shape), axis=1)
    found = MarginScaling.fitted(scores, classes, np.ones(100_000))
    assert found.power == pytest.approx(power, abs=0.06)
    probability = softmax(found.scaled(scores), axis=1)
    np.testing.assert_allclose(probability, softmax(truth.scaled(scores), axis=1), atol=0.03)
    # rows keep the order of their scores, and of two classes a larger score is a larger probability
    np.testing.assert_array_equal(np.argsort(probability, axis=1), np.argsort(scores, axis=1))
    if n_classes == 2:
        ahead = np.argsort(scores[:, 1] - scores[:, 0], kind="stable")
        assert (np.diff(probability[ahead, 1]) >= 0).all()


def test_margin_scaling_is_the_most_probable_one() -> None:
    """Of all factors and powers, by a search without slopes over the loss as it is written."""
    rng = np.random.default_rng(0)
    scores, weight = rng.normal(size=(60, 3)), rng.uniform(0.5, 2.0, size=60)
    classes = np.argmax(2 * scores + rng.gumbel(size=scores.shape), axis=1)
    classes[:5] = -1
    found = MarginScaling.fitted(scores, classes, weight)
    rows = classes >= 0
    n_seen = np.bincount(classes[rows], weight[rows], 3)[classes[rows]]
    aims = np.repeat((1 / (n_seen + 2) / 2)[:, None], 3, axis=1)
    aims[np.arange(55), classes[rows]] = (n_seen + 1) / (n_seen + 2)

    def loss(point: np.ndarray) -> float:
        scaled = MarginScaling(np.exp(point[0]), point[1], found.unit).scaled(scores[rows])
        return -float(weight[rows] @ (aims * log_softmax(scaled, axis=1)).sum(axis=1)) + point[1] ** 2 / (2 * 0.5**2)

    best = minimize(loss, np.zeros(2), method="Nelder-Mead", options={"xatol": 1e-6, "fatol": 1e-9}).x
    assert (np.log(found.factor), found.power) == pytest.approx(best, abs=1e-3)
    np.testing.assert_allclose(approx_fprime(best, loss, 1e-6), 0, atol=1e-2)


def test_one_factor_for_each_column_is_that_of_older_files() -> None:
    """0.2.0 kept temperatures."""
    scores = np.random.default_rng(0).normal(size=(9, 5))
    outputs = ClassOutputs([2, 3]).with_factors(np.array([2.0, 0.5]))
    for found, column, factor in zip(outputs.probabilities(scores), outputs.columns(), (2.0, 0.5), strict=True):
        np.testing.assert_allclose(found, softmax(factor * scores[:, column], axis=1))
    for wrong in (np.ones(3), np.ones((2, 2)), np.array([[1.0, 1.0], [0.0, 0.0], [1.0, 0.0]]), np.full((3, 2), np.nan)):
        assert not outputs.accepts(wrong)


@pytest.mark.parametrize(("factor", "shift"), [(0.3, -1.0), (1.0, 0.0), (4.0, 2.0)])
def test_sigmoid_recovers_known_factor_and_shift(factor: float, shift: float) -> None:
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(20000, 3))
    labels = (rng.random(scores.shape) < expit(factor * scores + shift)).astype(float)
    labels[rng.random(scores.shape) < 0.1] = np.nan
    train, test = slice(10000), slice(10000, None)
    found = fit_sigmoid(scores[train], labels[train], np.ones(10000))
    # standard errors of a label's factor and shift, by Fisher's information; all labels together have a third of it
    probability = expit(factor * scores[train, 0] + shift)
    inputs = np.stack([scores[train, 0], np.ones(10000)])
    error = np.sqrt(np.diag(np.linalg.inv(0.9 * (inputs * probability * (1 - probability)) @ inputs.T)))
    assert (np.abs(np.subtract(found, (factor, shift))) < 4 * error / np.sqrt(3)).all()
    signs = 2 * labels[test] - 1
    losses = [-np.nanmean(log_expit(signs * (a * scores[test] + b))) for a, b in (found, (1.0, 0.0))]
    assert losses[0] <= losses[1] + 1e-3
    # labels that are alike have what they share
    factors, shifts = fit_sigmoids(scores[train], labels[train], np.ones(10000))
    assert np.abs(factors - factor).max() < 4 * error[0]
    assert np.abs(shifts - shift).max() < 4 * error[1]
    probability = (
        LabelOutputs.of(labels).with_factors(np.concatenate([factors, shifts, np.zeros(3)])).probabilities(scores)
    )
    np.testing.assert_allclose(probability, expit(factors * scores + shifts))


@pytest.mark.parametrize("factors", [[], [0.01, -1.0], [1.0, 0.3], [5.0, 2.0], [900.0, -20.0]], ids=str)
def test_probabilities_of_labels_order_rows_as_decisions_do(factors: list[float]) -> None:
    """Ties too: scores may differ by rounding errors, which decisions could show and probabilities not."""
    factor, shift = factors or (1.0, 0.0)
    log_odds = np.linspace(-12, 12, 97)
    scores = (log_odds - shift) / factor
    scores = np.concatenate([scores, np.nextafter(scores, np.inf), scores + 1e-6 / factor])[:, None]
    found = np.array([*factors, 0.0] if factors else [])
    outputs = LabelOutputs(np.array([0.5]), np.array([9.0]), factors=found)
    probability, decision = outputs.probabilities(scores), outputs.decisions(scores)
    np.testing.assert_array_equal(rankdata(probability), rankdata(decision))
    assert len(np.unique(decision)) == 2 * 97
    np.testing.assert_array_equal(outputs.predict(scores), probability > 0.5)
    np.testing.assert_allclose(decision, factor * scores + shift, atol=1e-8)
    np.testing.assert_allclose(probability, expit(factor * scores + shift))


def test_nothing_to_calibrate_by_leaves_scores_as_they_are() -> None:
    scores = np.random.default_rng(0).normal(size=(5, 3))
    assert fit_temperature(scores, np.full(5, -1), np.ones(5)) == 1.0
    assert fit_temperature(scores, np.zeros(5, dtype=int), np.zeros(5)) == 1.0
    assert MarginScaling.fitted(scores, np.full(5, -1), np.ones(5)) == MarginScaling()
    unknown = np.full((5, 3), np.nan)
    assert fit_sigmoid(scores, unknown, np.ones(5)) == (1.0, 0.0)
    outputs = LabelOutputs(np.full(3, 0.5), np.full(3, 9.0), "example_f1")
    found = outputs.calibrated(scores, Targets(unknown, np.ones(5)))
    np.testing.assert_array_equal(found.decisions(scores), outputs.decisions(scores))


@pytest.mark.parametrize("n_rows", [10, 40, 400])
def test_rows_that_scores_separate_make_no_certain_probabilities(n_rows: int) -> None:
    """Perfect rows are aimed at with Platt's (n + 1) / (n + 2), where n of them were seen."""
    codes = np.arange(n_rows) % 2
    weight, right = np.ones(n_rows), (n_rows / 2 + 1) / (n_rows / 2 + 2)
    scores = np.where(codes[:, None] == np.arange(2), 3.0, -3.0)
    classes = ClassOutputs([2]).calibrated(scores, Targets(codes[:, None], weight))
    probability = classes.probabilities(scores)[0][np.arange(n_rows), codes]
    np.testing.assert_allclose(probability, right, rtol=1e-3)
    labels = LabelOutputs.of(codes[:, None].astype(float))
    labels = labels.calibrated(scores[:, 1:], Targets(codes[:, None].astype(float), weight))
    probability = labels.probabilities(scores[:, 1:])[:, 0]
    np.testing.assert_allclose(np.where(codes == 1, probability, 1 - probability), right, rtol=1e-3)
    levels = LevelOutputs.counted(np.arange(2), False, codes[:, None])
    levels = levels.calibrated(scores[:, 1:], Targets(codes[:, None], weight))
    probability = levels.probabilities(scores[:, 1:])[0][np.arange(n_rows), codes]
    np.testing.assert_allclose(probability, right, rtol=1e-3)


def test_smoothed_sigmoid_is_that_of_scikit_learn() -> None:
    rng = np.random.default_rng(0)
    scores = rng.normal(size=60)
    labels = (rng.random(60) < expit(2 * scores)).astype(float)
    weight = rng.uniform(0.5, 2.0, size=60)
    theirs = _SigmoidCalibration().fit(scores, labels, weight)
    factor, shift = fit_sigmoid(scores[:, None], labels[:, None], weight)
    assert (factor, shift) == pytest.approx((-theirs.a_, -theirs.b_), abs=1e-3)
