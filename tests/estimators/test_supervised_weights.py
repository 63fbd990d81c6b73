"""Weights of rows, costs of mistakes, and probabilities of classes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.metrics import log_loss

from harmonium import Gaussian, HarmoniumClassifier, HarmoniumWarning, Hinge, Stochastic, metrics
from harmonium.heads import LabelView
from harmonium.objectives import Discriminative
from tests.cases.supervised import FRESH, N_ROWS, X, Y, classifier, regressor, two_numbers


# ---- weights and costs -----------------------------------------------------------------------------------------------
def hard_pair() -> tuple[np.ndarray, np.ndarray]:
    """Two classes that overlap, the second a quarter of the rows."""
    rng = np.random.default_rng(0)
    y = (rng.random(400) < 0.25).astype(int)
    return rng.normal(size=(400, 3)) + 0.7 * y[:, None], y


@pytest.mark.parametrize("solver", ["joint", "alternate"])
def test_weights_move_predictions_to_what_weighs_more(solver: Any) -> None:
    data, y = hard_pair()

    def share(weight: Any = None, **settings: Any) -> float:
        model = classifier(head=Hinge(C=1.0, ridge=0.02, solver=solver, **settings), views=Gaussian())
        return float(model.fit(data, y, sample_weight=weight).predict(data).mean())

    plain = share()
    by_sample, by_class = share(np.where(y > 0, 6.0, 1.0)), share(class_weight={1: 6.0})
    assert by_sample > plain + 0.2
    assert by_sample == by_class
    assert share(class_weight="balanced") > plain + 0.1
    assert share(class_weight={0: 6.0}) <= plain


@pytest.mark.parametrize("weight", ["soft", "balanced", {1: 6.0}, None])
def test_weights_of_classes_are_those_of_the_head(weight: Any) -> None:
    data, y = hard_pair()
    quick = {"views": Gaussian(), "random_state": 0, "driver": Stochastic(max_iter=3)}
    direct = HarmoniumClassifier(2, class_weight=weight, **quick).fit(data, y)
    by_head = HarmoniumClassifier(2, head=Hinge(class_weight=weight), **quick).fit(data, y)
    np.testing.assert_array_equal(direct.decision_function(data), by_head.decision_function(data))
    assert direct.get_params()["class_weight"] == weight
    partly = classifier(class_weight=weight, head=Hinge(C=0.5)).fit(data, y)  # a head that leaves it open takes it
    assert partly.fitted_.head.get_params()["class_weight"] == weight and partly.head.class_weight == "auto"


def test_weights_of_classes_change_with_a_warm_start() -> None:
    model = classifier(head=None, warm_start=True).fit(X, Y)
    model.set_params(class_weight="balanced").fit(X, Y)
    assert model.fitted_.head.class_weight == "balanced"


@pytest.mark.parametrize(
    ("settings", "y", "message"),
    [
        ({"head": Hinge(class_weight="soft")}, Y, "may be given once; got 'balanced' for .* and 'soft' for its head"),
        ({"head": Hinge(class_weight=None)}, Y, "may be given once; got 'balanced' for .* and None for its head"),
        ({"head": LabelView()}, Y, "for heads that weigh classes, such as Hinge.*; got 'balanced' and LabelView"),
        ({"head": None}, np.eye(3, dtype=int)[Y], "got 'balanced' and MultiLabelHinge, which predicts several labels"),
    ],
)
def test_weights_of_classes_need_a_head_that_lacks_them(settings: Any, y: np.ndarray, message: str) -> None:
    model = classifier(class_weight="balanced", **settings)
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)
    assert not hasattr(model, "fitted_")
    with pytest.raises(TypeError, match="HarmoniumClassifier needs class_weight None, 'auto'"):
        model.set_params(class_weight=3).fit(X, Y)


def test_weights_of_numbers() -> None:
    data, y = two_numbers()
    half = np.arange(N_ROWS) % 2 == 0
    shifted = np.where(half, y[:, 0], y[:, 0] + 20)
    low = regressor().fit(data, shifted, sample_weight=np.where(half, 10.0, 0.1)).predict(data)
    high = regressor().fit(data, shifted, sample_weight=np.where(half, 0.1, 10.0)).predict(data)
    assert low.mean() + 10 < high.mean()
    alone = regressor().fit(data, shifted, sample_weight=half.astype(float))
    np.testing.assert_allclose(alone.fitted_.head.outputs_.location, shifted[half].mean())


@pytest.mark.parametrize("solver", ["joint", "alternate"])
def test_costly_mistakes_are_made_less_often(solver: Any) -> None:
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, size=600)
    data = rng.normal(size=(600, 3)) + np.eye(3)[y]

    def mistakes(cost: Any) -> int:
        model = classifier(head=Hinge(C=1.0, ridge=0.02, solver=solver, cost=cost), views=Gaussian()).fit(data, y)
        return int(((model.predict(data) == 1) & (y == 0)).sum())

    costly = 1.0 - np.eye(3)
    costly[0, 1] = 8.0
    assert mistakes(costly) < 0.5 * mistakes(1.0)


def test_weights_of_a_label_that_is_a_view() -> None:
    """It is there or not; the conditional likelihood can weigh rows."""
    data, y = hard_pair()
    weight = np.where(y > 0, 6.0, 1.0)
    with pytest.warns(HarmoniumWarning, match="of sample_weight only zeros are used"):
        classifier(head=LabelView()).fit(data, y, sample_weight=weight)
    shares = [
        classifier(head=LabelView("exact"), objective=Discriminative(), views=Gaussian())
        .fit(data, y, sample_weight=w)
        .predict(data)
        .mean()
        for w in (None, weight)
    ]
    assert shares[1] > shares[0] + 0.2


# ---- probabilities ---------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "head", [Hinge(C=1.0), Hinge(C=1.0, ridge=0.02, solver="alternate"), LabelView(), LabelView("exact")], ids=str
)
@pytest.mark.parametrize("fraction", [0, 0.15])
def test_probabilities_are_probabilities(head: Any, fraction: float) -> None:
    model = classifier(head=head, validation_fraction=fraction).fit(X, Y)
    probability = model.predict_proba(FRESH)
    assert probability.shape == (400, 3) and (probability >= 0).all()
    np.testing.assert_allclose(probability.sum(axis=1), 1)
    np.testing.assert_array_equal(model.classes_[probability.argmax(axis=1)], model.predict(FRESH))
    np.testing.assert_array_equal(model.decision_function(FRESH).argmax(axis=1), probability.argmax(axis=1))


def test_held_out_rows_calibrate() -> None:
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, size=1400)
    data = rng.normal(size=(1400, 3)) + np.eye(3)[y]
    train, test = slice(400), slice(400, None)
    raw, calibrated = (
        classifier(views=Gaussian(), validation_fraction=fraction).fit(data[train], y[train]).predict_proba(data[test])
        for fraction in (0, 0.15)
    )
    errors = [metrics.expected_calibration_error(p, y[test]) for p in (raw, calibrated)]
    assert errors[1] < min(0.06, errors[0])
    assert log_loss(y[test], calibrated) < log_loss(y[test], raw)
