"""Coordinates of sampled biases: gradients against finite differences, and the way back."""

from __future__ import annotations

import numpy as np
import pytest

from harmonium import Bernoulli
from harmonium.core.parameters import Parameters, bias_of, copy_parameters, weights_of
from harmonium.energy import Energy
from harmonium.hidden import BernoulliUnits, FactorUnits, GaussianUnits, HiddenLayer
from harmonium.objectives.problem import Problem
from harmonium.training.posterior.centring import CentredBiases


def made(hidden: HiddenLayer) -> tuple[CentredBiases, Parameters]:
    """Two views of some units, and parameters in double precision."""
    families = {"x": Bernoulli().restore(4, {}), "y": Bernoulli().restore(3, {})}
    rng = np.random.default_rng(0)
    means = {"x": np.array([0.1, 0.5, 0.9, 1.0]), "y": np.array([0.2, 0.5, 0.6])}
    parameters = {"hidden.bias": rng.normal(size=2)}
    if isinstance(hidden, FactorUnits):
        parameters["hidden.covariance"] = np.array([[1.0, 0.3], [0.3, 0.5]])
    for view, mean in means.items():
        parameters |= {bias_of(view): rng.normal(size=len(mean)), weights_of(view): rng.normal(size=(len(mean), 2))}
    return CentredBiases(Problem(Energy(families, hidden.bind(2)), means), 50), parameters


LAYERS = [GaussianUnits(), GaussianUnits(variance=0.5), FactorUnits(), BernoulliUnits()]


@pytest.mark.parametrize("hidden", LAYERS, ids=repr)
def test_gradients_are_those_for_fixed_centred_biases(hidden: HiddenLayer) -> None:
    centred, parameters = made(hidden)
    rng = np.random.default_rng(1)
    slopes = {name: rng.normal(size=value.shape) for name, value in parameters.items()}  # of a linear loss
    gradient = copy_parameters(slopes)
    centred.change_gradient(gradient, parameters)
    biases = centred.of(parameters)
    direction, losses = rng.normal(size=(4, 2)), []
    for step in (-1e-2, 1e-2):
        moved = copy_parameters(parameters)
        moved["x.weights"] += step * direction
        centred.restore(moved, biases)
        losses.append(sum(float((slopes[name] * value).sum()) for name, value in moved.items()))
    assert (losses[1] - losses[0]) / 2e-2 == pytest.approx((gradient["x.weights"] * direction).sum(), rel=1e-3)


def test_biases_come_back_and_their_prior_is_worth_a_row() -> None:
    centred, parameters = made(GaussianUnits())
    back = copy_parameters(parameters)
    centred.restore(back, centred.of(parameters))
    np.testing.assert_allclose(back["x.bias"], parameters["x.bias"], atol=1e-5)
    # a feature that is always one counts as one that differs in one of the 50 rows
    np.testing.assert_allclose(centred.priors["x"].precision, [0.09, 0.25, 0.09, 0.02], rtol=1e-3)
    np.testing.assert_allclose(centred.priors["y"].mean, np.log([0.25, 1.0, 1.5]), atol=1e-5)
