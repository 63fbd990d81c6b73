"""Small models for every pair of family and hidden layer, found by registry so that a new part cannot escape."""

from __future__ import annotations

import numpy as np

from harmonium.core.batch import Batch, ViewBatch
from harmonium.core.parameters import HIDDEN, HIDDEN_BIAS, Parameters, bias_of, extra_of, weights_of
from harmonium.core.parts import registered
from harmonium.energy import Energy
from harmonium.exceptions import IncompatiblePartsError
from harmonium.families import Binomial, Family
from harmonium.hidden import BernoulliUnits, BinomialUnits, ComposedUnits, HiddenLayer, SpikeSlab
from harmonium.training.drivers.projection import project

SIZE = 3.0  # total or length of the rows of families that have one


def make_family(name: str) -> Family:
    """A bound family of 3 features, or of 2 columns with two statistics each."""
    family_class = registered("family")[name]
    family = Binomial(4) if family_class is Binomial else family_class()
    constants: dict[str, np.ndarray] = {}
    if name == "Gaussian":
        constants = {"location": np.zeros(3), "scale": np.ones(3)}
    elif name == "GaussianMRF":
        constants = {"location": np.zeros(3), "scale": np.ones(3), "edges": np.array([[0, 1], [1, 2]])}
    elif name == "Balanced":
        constants = {"location": np.zeros(3), "scale": np.ones(3), "kind": np.array(0)}
    elif name == "Categorical":
        constants = {"groups": np.array([0, 3])}
    elif name in ("ReplicatedSoftmax", "Chain"):
        constants = {"typical_size": np.array(SIZE)}
    elif name == "Beta":
        location, scale = np.array([-1.0, -0.5, -0.3, -1.4]), np.array([0.8, 1.2, 0.6, 1.5])
        constants = {"location": location, "scale": scale, "deviation": np.array([0.2, 0.3])}
    elif name == "Ising":
        return family.restore(5, {"edges": np.array([[0, 1], [1, 2]])})
    elif name == "Potts":
        return family.restore(6, {"edges": np.array([[0, 1]]), "groups": np.array([0, 3, 5])})
    return family.restore(4 if name in ("Chain", "Beta") else 3, constants)


# units that are real where they are there are as good as another layer; both layers that can have them share the code
REAL = "SpikeSlab-real"
# units that differ in their numbers of trials, for tests that ask for them
TRIALS = "BinomialUnits-trials"


def hidden_names() -> list[str]:
    return sorted([*registered("hidden"), REAL])


def make_hidden(name: str, n_units: int = 2) -> HiddenLayer:
    if name == REAL:
        return SpikeSlab(kind="real", variance=0.8).bind(n_units)
    if name == TRIALS:
        return BinomialUnits(M=[3, 1, 2][:n_units]).bind(n_units)
    if name == "ComposedUnits":  # one topic, and the other units with values of their own
        return ComposedUnits(BernoulliUnits(1), BinomialUnits(M=3, n_units=n_units - 1)).bind(n_units)
    hidden_class = registered("hidden")[name]
    hidden = BinomialUnits(M=3) if hidden_class is BinomialUnits else hidden_class()
    return hidden.bind(n_units)


def make_parameters(energy: Energy, seed: int, scale: float = 0.5, dtype: type = np.float64) -> Parameters:
    rng = np.random.default_rng(seed)
    n_units = energy.hidden.n_units_
    parameters: Parameters = {HIDDEN_BIAS: rng.normal(size=n_units) * scale}
    for name, family in energy.families.items():
        shift = {"Poisson": -2.0, "NegativeBinomial": -5.0, "Beta": 5.0}.get(type(family).__name__, 0.0)
        parameters[weights_of(name)] = rng.normal(size=(family.n_features_, n_units)) * scale
        parameters[bias_of(name)] = rng.normal(size=family.n_features_) * scale + shift
        for extra_name, value in family.extra_parameters.initial.items():
            parameters[extra_of(name, extra_name)] = value + rng.normal(size=value.shape) * 0.2 - 0.5
    extra = energy.hidden.extra_parameters()
    parameters |= {extra_of(HIDDEN, extra_name): value for extra_name, value in extra.items()}
    if "log_odds" in extra:
        parameters[extra_of(HIDDEN, "log_odds")] = rng.normal(size=n_units) * 0.7
    if "covariance" in extra:
        root = np.eye(n_units) + 0.3 * rng.normal(size=(n_units, n_units))
        parameters[extra_of(HIDDEN, "covariance")] = root @ root.T / 2
    project(energy, parameters)
    return {name: value.astype(dtype) for name, value in parameters.items()}


def compatible_pairs() -> list[tuple[str, str]]:
    pairs = []
    for family in registered("family"):
        for hidden in hidden_names():
            try:
                Energy({"x": make_family(family)}, make_hidden(hidden))
            except IncompatiblePartsError:
                continue
            pairs.append((family, hidden))
    return pairs


def sizes_for(energy: Energy, n_rows: int) -> dict[str, np.ndarray]:
    return {
        name: np.full(n_rows, SIZE) for name, family in energy.families.items() if family.length.typical(1) is not None
    }


def random_batch(energy: Energy, parameters: Parameters, n_rows: int, seed: int = 0) -> Batch:
    """Rows drawn from the views at random hidden states."""
    rng = np.random.default_rng(seed)
    hidden = energy.layer(parameters).sample(np.zeros((n_rows, energy.hidden.n_units_)), rng)
    sizes = sizes_for(energy, n_rows)
    views = {}
    for name, family in energy.families.items():
        natural = energy.view_natural(parameters, name, hidden)
        size = sizes.get(name)
        views[name] = ViewBatch(family.sample(natural, rng, energy.extra(parameters, name), size), size)
    return Batch(views, n_rows)
