"""Uneven classes: weights, folds that have all classes on both sides, and a head that is solved at the end."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.metrics import f1_score
from sklearn.svm import LinearSVC

from harmonium import HarmoniumClassifier, Hinge, Stochastic
from harmonium.core.parameters import HEAD_BIAS, HEAD_WEIGHTS
from harmonium.core.targets import Targets
from harmonium.linear.comparison import is_better
from harmonium.training.state import Training
from harmonium.training.supervised.choices import HeadRefit, held_out_folds, refit_head
from harmonium.views import Views
from harmonium.views.data import Data
from tests.cases.heads import labelled

SIZES = (300, 120, 40, 12, 4, 2, 1)
Y = np.repeat(np.arange(len(SIZES)), SIZES)
RNG = np.random.default_rng(0)
X = np.eye(len(SIZES))[Y] * 3 + RNG.normal(size=(len(Y), len(SIZES)))


def model_of(**keywords: Any) -> HarmoniumClassifier:
    settings: dict[str, Any] = {"n_components": 10, "driver": Stochastic(6, 20, 0.05), "random_state": 0}
    return HarmoniumClassifier(**{**settings, **keywords})


@pytest.mark.parametrize("n_rows", [len(Y), 8 * len(Y)])
def test_every_class_with_two_rows_is_on_both_sides(n_rows: int) -> None:
    """Of a single hold-out; with three folds a class of two rows is held out in two of them."""
    classes = np.tile(Y, n_rows // len(Y))
    folds = held_out_folds(Targets(classes[:, None], np.ones(n_rows)), 0.15, np.random.default_rng(0))
    for train, held in folds:
        assert len(np.intersect1d(train, held)) == 0 and len(train) + len(held) == n_rows
    if len(folds) == 1:
        train, held = folds[0]
        assert set(classes[train]) == set(classes) and set(classes[held]) == set(classes)
    else:
        assert set(np.concatenate([classes[held] for _, held in folds])) == set(classes)


def test_weights_of_classes_do_not_count_in_held_out_errors() -> None:
    """Errors are those of plain rows, so that fits with other weights can be compared."""
    labels = labelled("class", Y[:, None], [len(SIZES)])
    head = Hinge(C=1.0, class_weight="balanced").bind(labels)
    targets = head.targets(labels)
    np.testing.assert_array_equal(targets.weight, 1)
    rows = np.bincount(Y)
    np.testing.assert_allclose(targets.loss_weight, (len(Y) / (len(rows) * rows))[Y])  # that of scikit-learn
    soft = Hinge(C=1.0, class_weight="soft").bind(labels).targets(labels)
    assert soft.loss_weight.mean() == pytest.approx(1)
    np.testing.assert_allclose(soft.loss_weight[0] / soft.loss_weight[-1], np.sqrt(1 / 300))


def test_a_refitted_head_is_the_optimum_for_the_means() -> None:
    model = model_of(head=Hinge(C=1.0, linear_part=False)).fit(X, Y)
    problem, views = model.fitted_.problem, Views({"view0": X})
    targets = model.fitted_.head.targets(labelled("class", Y[:, None], [len(SIZES)]))
    done = HeadRefit(0.1, []).apply(problem, Data(views, targets), Training(model.fitted_.parameters))
    means = model.transform(X).astype(float)
    oracle = LinearSVC(C=0.1, dual=False, tol=1e-6).fit(means, Y)
    found = means @ done.parameters[HEAD_WEIGHTS] + done.parameters[HEAD_BIAS]
    np.testing.assert_allclose(found, oracle.decision_function(means), atol=0.02)
    for name in set(model.fitted_.parameters) - {HEAD_WEIGHTS, HEAD_BIAS}:
        np.testing.assert_array_equal(done.parameters[name], model.fitted_.parameters[name])


def test_a_head_is_refitted_only_if_held_out_rows_say_so() -> None:
    model = model_of(head=Hinge(C=1.0, linear_part=False)).fit(X, Y)
    targets = model.fitted_.head.targets(labelled("class", Y[:, None], [len(SIZES)]))
    data, rows = Data(Views({"view0": X}), targets), np.arange(len(Y))
    folds = [(rows[::2], rows[1::2])]
    right = np.eye(len(SIZES))[Y[1::2]]
    assert refit_head(model.fitted_.problem, data, folds, [model.fitted_.parameters], [right]) is None
    found = refit_head(model.fitted_.problem, data, folds, [model.fitted_.parameters], [1 - right])
    assert found is not None
    errors = model.fitted_.head.error(found.scores[0], targets.values[1::2])
    assert is_better(errors, np.ones(len(errors)), np.ones(len(errors)))


def test_rare_classes_are_found() -> None:
    rng = np.random.default_rng(1)
    y = np.repeat(np.arange(4), (200, 60, 15, 8))
    fresh = np.eye(4)[y] * 3 + rng.normal(size=(len(y), 4))
    train = np.eye(4)[y] * 3 + rng.normal(size=(len(y), 4))
    model = model_of().fit(train, y)
    assert f1_score(y, model.predict(fresh), average="macro") > 0.8
