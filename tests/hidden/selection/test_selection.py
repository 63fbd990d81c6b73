"""Layers that use all their units have a selection that does nothing."""

from __future__ import annotations

import numpy as np
import pytest

from harmonium.core.parameters import copy_parameters
from harmonium.energy import Energy
from harmonium.hidden import SpikeSlab
from harmonium.hidden.selection import Selection, Use
from harmonium.objectives import MeanFieldCD
from harmonium.objectives.problem import Problem
from harmonium.objectives.statistics import Statistics
from harmonium.training.growth.prune import prune
from harmonium.views import Views
from harmonium.views.data import Data
from tests.cases.models import hidden_names, make_family, make_hidden, make_parameters, random_batch

ALL_USED = [name for name in hidden_names() if not make_hidden(name).selection.selects]


def test_layers_say_whether_they_select() -> None:
    for name in hidden_names():
        assert make_hidden(name).selection.selects == isinstance(make_hidden(name), SpikeSlab)
    assert {"BernoulliUnits", "BinomialUnits", "GaussianUnits"} <= set(ALL_USED)


@pytest.mark.parametrize("hidden", ALL_USED)
def test_nothing_is_charged_changed_or_removed(hidden: str) -> None:
    energy = Energy({"x": make_family("Bernoulli")}, make_hidden(hidden))
    problem, parameters = Problem(energy, {"x": np.full(3, 0.4)}), make_parameters(energy, seed=0)
    before, selection = copy_parameters(parameters), problem.selection(40)
    assert type(selection) is Selection
    statistics = Statistics.zeros_like(parameters)
    batch = random_batch(energy, parameters, 20)
    MeanFieldCD().accumulate(problem, parameters, batch, statistics, np.random.default_rng(0))
    assert statistics.counts == 0.0
    gradient = copy_parameters(statistics.gradient)
    selection.begin(parameters)
    for keywords in ({}, {"last": True}, {"at_once": True}):
        assert selection.charge(statistics.gradient, parameters, 20, **keywords) == 0.0
    for n_before in (None, 0, 3):
        selection.update(parameters, statistics.counts, 20, n_before)
    for name, value in before.items():
        np.testing.assert_array_equal(parameters[name], value)
        np.testing.assert_array_equal(statistics.gradient[name], gradient[name])
    assert selection.read(parameters, pytest.fail) == {}  # without a look at the items
    use = Use(np.zeros(2), np.zeros(2), np.zeros(2), np.eye(2))
    assert selection.prune(parameters, use) is None
    views = Views({"x": np.asarray(batch.views["x"].statistic)})
    assert prune(problem, parameters, Data(views), 40) is None


@pytest.mark.parametrize("hidden", ALL_USED)
def test_all_rows_have_all_units(hidden: str) -> None:
    layer, natural = make_hidden(hidden), np.array([[-0.4, 0.7], [1.2, 0.0]])
    rule, known = layer.selection, np.zeros((2, 2))
    np.testing.assert_array_equal(rule.presence(natural), layer.mean(natural))
    assert rule.presence(natural, known) is known
    assert rule.counts(natural) == rule.counts(natural, known) == 0.0
    assert rule.remark(0) is rule.remark(2) is rule.prior is rule.activity is None
    assert layer.restore(5).n_units_ == 5 and layer.n_units_ == 2
    assert layer.goes_on_from(layer.restore(2)) and not layer.goes_on_from(layer.restore(3))
