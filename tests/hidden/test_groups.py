"""Groups of units: what holds for each unit follows from what its group says."""

from __future__ import annotations

import numpy as np
import pytest

from harmonium.core.parameters import bias_of, weights_of
from harmonium.energy import Energy
from harmonium.hidden import BernoulliUnits, BinomialUnits, ComposedUnits, GaussianUnits
from harmonium.hidden.layers.composed import with_frozen_dimensions
from harmonium.training.drivers.projection import project
from tests.cases.models import hidden_names, make_family, make_hidden, make_parameters

LAYER = ComposedUnits(BernoulliUnits(2, weights="nonnegative"), BinomialUnits(M=3, n_units=1)).bind(2)


@pytest.mark.parametrize("name", [name for name in hidden_names() if name != "ComposedUnits"])
def test_layers_of_one_group_are_topics_that_predict(name: str) -> None:
    layer = make_hidden(name)
    groups = layer.groups
    assert groups.parts == ((slice(0, 2), layer),) and groups.predictors is layer and groups.dimensions is None
    assert groups.are_topics.tolist() == [True, True] and groups.unit_names == ["topic_0", "topic_1"]


def test_units_follow_their_groups() -> None:
    groups = LAYER.groups
    assert groups.predictors is groups.dimensions and groups.are_topics.tolist() == [True, True, False]
    assert groups.unit_names == ["topic_0", "topic_1", "dimension_0"] and groups.largest.tolist() == [1, 1, 3]
    assert groups.lower_bounds.tolist() == [0, 0, -np.inf] and groups.nonnegative


def test_idle_units_hardly_differ_for_their_range() -> None:
    deviation = np.array([2e-3, 0.5e-3, 2e-3])
    assert LAYER.groups.idle(deviation).tolist() == [False, True, True]
    assert LAYER.groups.idle(deviation[:2]).tolist() == [False, True]  # of the topics alone
    assert GaussianUnits().bind(3).groups.idle(deviation).tolist() == [False, True, False]


def test_projection_bounds_topics_and_puts_frozen_dimensions_back() -> None:
    energy = Energy({"x": make_family("Bernoulli")}, LAYER)
    before = make_parameters(energy, seed=0)
    frozen = Energy(energy.families, with_frozen_dimensions(LAYER, before))
    moved = {name: value - 1.0 for name, value in before.items()}
    project(frozen, moved)
    weights, expected = moved[weights_of("x")], before[weights_of("x")]
    np.testing.assert_array_equal(weights[:, :2], np.maximum(expected[:, :2] - 1.0, 0))
    np.testing.assert_array_equal(weights[:, 2], expected[:, 2])
    assert moved["hidden.bias"].tolist() == [*before["hidden.bias"][:2] - 1.0, before["hidden.bias"][2]]
    np.testing.assert_array_equal(moved[bias_of("x")], before[bias_of("x")] - 1.0)
    assert not LAYER.groups.frozen
