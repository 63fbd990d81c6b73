"""Losses of additive models: slopes and curvatures against finite differences, values against scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit, softmax
from sklearn.metrics import log_loss

from harmonium.additive.losses import Logistic, Loss, Softmax, Squares

RNG = np.random.default_rng(0)
N = 12
NUMBERS = RNG.normal(size=(N, 2))
LABELS = (RNG.random((N, 3)) < 0.5).astype(float)
CLASSES = np.column_stack([np.arange(N) % 2, np.arange(N) % 3])
NUMBERS[0, 0] = LABELS[1, 2] = np.nan
CLASSES[2, 0] = CLASSES[3, 1] = -1
LOSSES = {"squares": Squares(NUMBERS), "logistic": Logistic(LABELS), "softmax": Softmax(CLASSES, [2, 3])}


@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
def test_slopes_and_curvatures_are_those_of_the_loss(loss: Loss) -> None:
    scores, step = RNG.normal(size=(N, loss.outputs.shape[1])), 1e-4
    slope, curvature = loss.newton(scores)
    for number, direction in enumerate(loss.outputs):
        above, here, below = (loss.losses(scores + signed * direction) for signed in (step, 0, -step))
        np.testing.assert_allclose(slope[:, number], (above - below) / (2 * step), atol=1e-6)
        np.testing.assert_allclose(curvature[:, number], (above - 2 * here + below) / step**2, atol=1e-6)


def test_likelihoods_are_those_of_scikit_learn() -> None:
    scores = RNG.normal(size=(N, 5))
    known = np.flatnonzero(CLASSES.min(axis=1) >= 0)
    expected = sum(
        log_loss(CLASSES[known, number], softmax(scores[known][:, part], axis=1))
        for number, part in enumerate((slice(0, 2), slice(2, 5)))
    )
    assert np.isclose(LOSSES["softmax"].losses(scores)[known].mean(), expected)
    column = np.flatnonzero(~np.isnan(LABELS[:, 2]))
    loss = Logistic(LABELS[column][:, [2]]).losses(scores[column, :1])
    assert np.isclose(loss.mean(), log_loss(LABELS[column, 2], expit(scores[column, 0])))


@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
def test_unknown_targets_teach_nothing_and_rows_are_taken(loss: Loss) -> None:
    scores = RNG.normal(size=(N, loss.outputs.shape[1]))
    slope, curvature = loss.newton(scores)
    assert ((slope == 0) == (curvature == 0)).all()
    assert (curvature == 0).sum() == 1 if len(loss.outputs) < 4 else 4  # a column of three classes has three functions
    rows = np.array([3, 1])
    np.testing.assert_array_equal(loss.take(rows).losses(scores[rows]), loss.losses(scores)[rows])


def test_two_classes_move_apart_and_steps_from_certainty_are_short() -> None:
    loss = Softmax(np.array([[1]]), [2])
    slope, curvature = loss.newton(np.array([[40.0, -40.0]]))
    assert np.isclose(slope, -1) and curvature == 1e-3
    assert loss.outputs.sum() == 0
