"""Scores become probabilities: known factors and shifts are recovered."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit, log_expit

from harmonium.heads.calibration import class_probabilities, fit_sigmoid, fit_temperature, label_probabilities


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
    losses = [-np.log(class_probabilities(scores[test], a)[each, classes[test]]).mean() for a in (found, 1.0)]
    assert losses[0] <= losses[1] + 1e-3
    np.testing.assert_allclose(class_probabilities(scores, found).sum(axis=1), 1)
    # a row of weight 2 counts as two rows
    twice = fit_temperature(np.repeat(scores[100:400], 2, axis=0), np.repeat(classes[100:400], 2), np.ones(600))
    assert fit_temperature(scores[100:400], classes[100:400], np.full(300, 2.0)) == pytest.approx(twice, rel=1e-3)


@pytest.mark.parametrize(("factor", "shift"), [(0.3, -1.0), (1.0, 0.0), (4.0, 2.0)])
def test_sigmoid_recovers_known_factor_and_shift(factor: float, shift: float) -> None:
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(20000, 3))
    labels = (rng.random(scores.shape) < expit(factor * scores + shift)).astype(float)
    labels[rng.random(scores.shape) < 0.1] = np.nan
    train, test = slice(10000), slice(10000, None)
    found = fit_sigmoid(scores[train], labels[train], np.ones(10000))
    assert found == pytest.approx((factor, shift), rel=0.1, abs=0.05)
    signs = 2 * labels[test] - 1
    losses = [-np.nanmean(log_expit(signs * (a * scores[test] + b))) for a, b in (found, (1.0, 0.0))]
    assert losses[0] <= losses[1] + 1e-3
    np.testing.assert_allclose(label_probabilities(scores, *found), expit(found[0] * scores + found[1]))
    # what is there counting five times moves the log-odds by log 5
    more = fit_sigmoid(scores[train], labels[train], np.ones(10000), positive_weight=5.0)
    assert more[1] - found[1] == pytest.approx(np.log(5), rel=0.15)


def test_nothing_to_calibrate_by_leaves_scores_as_they_are() -> None:
    scores = np.random.default_rng(0).normal(size=(5, 3))
    assert fit_temperature(scores, np.full(5, -1), np.ones(5)) == 1.0
    assert fit_temperature(scores, np.zeros(5, dtype=int), np.zeros(5)) == 1.0
    assert fit_sigmoid(scores, np.full((5, 3), np.nan), np.ones(5)) == (1.0, 0.0)
