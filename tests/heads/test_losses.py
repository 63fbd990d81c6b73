"""Heads by registry: rebuilt from their constants; losses, their sub-gradients and errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.metrics import label_ranking_average_precision_score, r2_score

from harmonium import EpsilonInsensitive
from harmonium.core.parts import registered
from harmonium.core.targets import Kind
from harmonium.heads import Head, MultiLabelHinge
from harmonium.heads.outputs import NumberOutputs
from tests.cases.heads import COST, LINEAR, VARIANTS, bound, labelled, labels_of


def test_every_head_is_tested_here() -> None:
    """Heads that are not linear need tests of their own; there is one such head."""
    assert set(registered("head")) - set(LINEAR) == {"LabelView"}
    assert not {"Head", "LinearHead"} & set(registered("head"))


@pytest.mark.parametrize(
    ("name", "kind"), [(name, kind) for name in registered("head") for kind in registered("head")[name].kinds]
)
def test_a_head_is_rebuilt_from_its_constants(name: str, kind: Kind) -> None:
    head, targets = bound(name, kind)
    labels = labels_of(name, kind)
    again = registered("head")[name](**head.get_params()).restored(labels.meaning, head.constants())
    assert isinstance(again, Head) and again.n_outputs_ == head.n_outputs_ and again.takes(kind)
    np.testing.assert_array_equal(again.targets(labels).values, targets.values)
    if isinstance(head.outputs_, NumberOutputs):
        np.testing.assert_allclose(again.outputs_.predict(again.targets(labels).values), labels.targets.values)
        np.testing.assert_allclose(np.nanmean(targets.values, axis=0), 0, atol=1e-12)
        np.testing.assert_allclose(np.nanstd(targets.values, axis=0), 1)
    scores = np.random.default_rng(5).normal(size=(40, head.n_outputs_))
    np.testing.assert_array_equal(again.error(scores, targets.values), head.error(scores, targets.values))
    assert head.error(scores, targets.values)[0] == 0  # nothing is known of this row


# ---- losses ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("name", "settings"), [*VARIANTS, ("Hinge", {"cost": COST})], ids=str)
def test_gradient_by_scores_by_finite_differences(name: str, settings: dict[str, Any]) -> None:
    head, targets = bound(name, **settings)
    scores = np.random.default_rng(2).normal(size=(40, head.n_outputs_))
    losses, by_score = head.loss(scores, targets.values)
    assert losses.shape == (40,) and by_score.shape == scores.shape and (losses >= 0).all() and losses.any()
    for output in range(head.n_outputs_):
        shift = np.zeros_like(scores)
        shift[:, output] = 1e-6
        slope = (head.loss(scores + shift, targets.values)[0] - head.loss(scores - shift, targets.values)[0]) / 2e-6
        np.testing.assert_allclose(by_score[:, output], slope, atol=1e-6)
    assert losses[0] == 0 and not by_score[0].any()


@pytest.mark.parametrize("name", LINEAR)
def test_single_precision_scores_give_single_precision_gradients(name: str) -> None:
    head, targets = bound(name)
    scores = np.random.default_rng(2).normal(size=(40, head.n_outputs_))
    losses, by_score = head.loss(scores.astype(np.float32), targets.values)
    assert by_score.dtype == np.float32 and losses.dtype == np.float64
    np.testing.assert_allclose(losses, head.loss(scores, targets.values)[0], rtol=1e-5, atol=1e-5)


def test_values_of_the_losses() -> None:
    hinge, _ = bound("Hinge", cost=COST)
    scores = np.array([[0.5, 1.0, -1.0]])
    assert hinge.loss(scores, np.array([[0]]))[0] == pytest.approx(1.5)  # 1 + 1 - 0.5
    assert hinge.loss(scores, np.array([[2]]))[0] == pytest.approx(4.5)  # 3 + 0.5 + 1
    assert hinge.error(scores, np.array([[2]])) == pytest.approx(0.7)  # class 1 for class 2
    several, _ = bound("MultiLabelHinge", positive_weight=3.0)
    assert several.loss(np.array([[0.5, 0.5, 9.0]]), np.array([[1.0, 0.0, np.nan]]))[0] == pytest.approx(3 * 0.5 + 1.5)


def test_errors_are_what_they_say() -> None:
    rng = np.random.default_rng(0)
    numbers, values = EpsilonInsensitive(C=1.0), rng.normal(size=(50, 2)) * 3 + 1
    numbers = numbers.bind(labelled("number", values))
    guess = values + rng.normal(size=values.shape)
    error = numbers.error(*(numbers.targets(labelled("number", v)).values for v in (guess, values))).mean()
    assert error == pytest.approx(1 - r2_score(values, guess))
    labels = rng.integers(0, 2, size=(50, 4)).astype(float)
    labels[:, 0] = 1 - labels[:, 1]  # no row without labels
    scores = rng.normal(size=(50, 4))
    several = MultiLabelHinge(C=1.0).bind(labelled("label", labels, [2] * 4))
    expected = 1 - label_ranking_average_precision_score(labels, scores)
    assert several.error(scores, labels).mean() == pytest.approx(expected)
    # labels that no row has, or all have, do not count, however they are ranked
    more = np.column_stack([labels, np.zeros(50), np.ones(50)])
    several = MultiLabelHinge(C=1.0).bind(labelled("label", more, [2] * 6))
    assert several.error(np.column_stack([scores, rng.normal(size=(50, 2))]), more).mean() == pytest.approx(expected)
