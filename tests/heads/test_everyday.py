"""Heads with everyday weights, unknown labels and fits that go on."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import log_loss

from harmonium import Harmonium, HarmoniumClassifier, Hinge, Stochastic
from harmonium.heads import LabelView
from harmonium.linear.solvers import fit_label_svms, fit_logistic, fit_svm


def _labels(seed: int, n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    X = np.random.default_rng(seed).normal(size=(n_rows, 4))
    return X, np.c_[X[:, 0] > 0, X[:, 1] > 1, X[:, 2] - X[:, 3] > 0.5].astype(int)


def test_labels_keep_their_linear_part_and_calibration_when_a_fit_goes_on() -> None:
    (X, Y), (fresh, truth) = _labels(0, 200), _labels(1, 300)
    model = HarmoniumClassifier(3, random_state=0, warm_start=True).fit(X, Y)
    assert model.fitted_.head.input_parts_ and model.fitted_.head.outputs_.factors.size
    model.fit(X, Y)
    assert model.fitted_.head.input_parts_ and model.fitted_.head.outputs_.factors.size
    assert model.score(fresh, truth) > 0.7  # the cuts are those of the first fit
    assert model.fitted_.head.outputs_.n_known[0] > 200  # rows of both calls


def test_labels_as_a_view_keep_their_calibration() -> None:
    X, Y = _labels(0, 200)
    head = LabelView()
    model = HarmoniumClassifier(3, head=head, random_state=0, warm_start=True).fit(X, Y)
    assert model.fitted_.head.outputs_.factors.size
    assert model.fit(X, Y).fitted_.head.outputs_.factors.size


@pytest.mark.parametrize("n_classes", [2, 3])
def test_classes_of_weight_zero_are_absent_classes(n_classes: int) -> None:
    X = np.random.default_rng(0).normal(size=(200, 4))
    y = np.digitize(X[:, 0], np.linspace(-0.7, 0.7, n_classes - 1))
    weight = np.where(y == n_classes - 1, 0.0, 1.0)
    known = weight > 0
    for solve in (fit_svm, fit_logistic):
        found, expected = solve(X, y, weight, n_classes, 1.0), solve(X[known], y[known], weight[known], n_classes, 1.0)
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(one, other, atol=1e-6)
    labels = (y[:, None] == np.arange(n_classes)).astype(float)
    found, expected = (
        fit_label_svms(X, labels, weight, 1.0),
        fit_label_svms(X[known], labels[known], weight[known], 1.0),
    )
    np.testing.assert_allclose(found[0], expected[0], atol=1e-6)
    if n_classes > 2:
        head = Hinge(class_weight={n_classes - 1: 0.0})
        model = HarmoniumClassifier(3, head=head, driver=Stochastic(max_iter=3), random_state=0).fit(X, y)
        assert n_classes - 1 not in model.predict(X)


def test_weights_that_add_up_to_one_leave_probabilities_alone() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1200, 5))  # most of them to judge by: what differs beyond chance shows
    y = (X[:, 0] - X[:, 1] + 0.3 * rng.normal(size=1200) > 0).astype(int)
    losses = []
    for weight in (None, np.full(200, 1 / 300)):
        model = HarmoniumClassifier(5, random_state=0).fit(X[:200], y[:200], sample_weight=weight)
        losses.append(log_loss(y[200:], model.predict_proba(X[200:])))
    assert losses[1] == pytest.approx(losses[0], abs=0.1)  # by chance a looser choice differs so; blind is 0.69


def test_unknown_labels_do_not_count_where_labels_are_ranked() -> None:
    X, Y = _labels(0, 120)
    head = HarmoniumClassifier(3, driver=Stochastic(max_iter=2), random_state=0).fit(X, Y).fitted_.head
    unknown = np.array([[np.nan, 1.0, 0.0]])
    assert head.error(np.array([[2.0, 1.0, 0.0]]), unknown) == head.error(np.array([[0.5, 1.0, 0.0]]), unknown) == 0
    assert head.error(np.array([[2.0, 0.0, 1.0]]), unknown) == 0.5


@pytest.mark.parametrize("seed", range(4))
def test_a_search_sees_the_epoch_that_stops_early(seed: int) -> None:
    X = np.random.default_rng(0).normal(size=(60, 4))
    driver = Stochastic(max_iter=5, early_stopping="free_energy_gap", patience=1)
    model = HarmoniumClassifier(3, driver=driver, random_state=seed).fit(X, (X[:, 0] > 0).astype(int))
    assert set(model.predict(X)) <= {0, 1}
    assert Harmonium(3, driver=driver, random_state=seed).fit(X).n_iter_ <= 5
