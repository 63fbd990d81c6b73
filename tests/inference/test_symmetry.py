"""Symmetries of models: parameters of the same p(x), by enumeration."""

from __future__ import annotations

import numpy as np
import pytest

from harmonium.core.batch import Batch, ViewBatch
from harmonium.core.parameters import HIDDEN, extra_of
from harmonium.energy import Energy
from harmonium.inference.exact import exact_log_partition
from harmonium.inference.symmetry import canonical_signs
from tests.cases.models import TRIALS, hidden_names, make_family, make_hidden, make_parameters

BOUNDED = [name for name in (*hidden_names(), TRIALS) if make_hidden(name).support.bounded]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("hidden", BOUNDED)
def test_turning_units_over_keeps_the_distribution(hidden: str, seed: int) -> None:
    energy = Energy({"x": make_family("Bernoulli")}, make_hidden(hidden, n_units=3))
    parameters = make_parameters(energy, seed=seed, scale=1.0)
    turned_parameters, turned = canonical_signs(energy, parameters, {"x": np.full(3, 0.4)})
    states = np.array([[i >> 2 & 1, i >> 1 & 1, i & 1] for i in range(8)], dtype=float)
    batch = Batch({"x": ViewBatch(states)}, 8)
    before, after = (
        -energy.free_energy(p, batch) - exact_log_partition(energy, p) for p in (parameters, turned_parameters)
    )
    np.testing.assert_allclose(after, before, atol=1e-10)
    for name in (extra_of(HIDDEN, name) for name in energy.hidden.extra_parameters()):  # the prior stays
        np.testing.assert_array_equal(turned_parameters[name], parameters[name])
    means = [energy.layer(p).mean(energy.hidden_natural(p, batch)) for p in (parameters, turned_parameters)]
    largest = energy.hidden.groups.largest
    np.testing.assert_allclose(means[1], np.where(turned, largest - means[0], means[0]), atol=1e-12)
