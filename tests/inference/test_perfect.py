"""Perfect samples against enumeration of all states, and the naive estimate of Z against exact ones."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import chi2

from harmonium import Bernoulli, Categorical, Harmonium, Poisson, Stochastic
from harmonium.core.batch import Batch, ViewBatch
from harmonium.core.parameters import HIDDEN_BIAS, Parameters, bias_of, weights_of
from harmonium.energy import Energy
from harmonium.hidden import BernoulliUnits, BinomialUnits, ComposedUnits, GaussianUnits, HiddenLayer, SpikeSlab
from harmonium.inference.exact import exact_expectations, exact_log_partition
from harmonium.inference.naive import naive_log_partition
from harmonium.inference.perfect import ChainsApartError, boltzmann_machine, perfect_sample
from harmonium.inspection import log_partition, sample_exact
from harmonium.kernels.runtime.threads import compute
from harmonium.kernels.sampling.coupling_from_the_past import couple_from_the_past
from tests.cases.models import SIZE, compatible_pairs, make_family, make_hidden, make_parameters, sizes_for

LAYERS = [GaussianUnits(variance=0.7), BernoulliUnits()]


def coupled(layer: HiddenLayer, seed: int = 0, lowest: float = 0.0) -> tuple[Energy, Parameters]:
    """Two binary views, 4 + 3 features, with weights from ``lowest`` to 0.9; biases of both signs."""
    rng = np.random.default_rng(seed)
    energy = Energy({"a": Bernoulli().restore(4, {}), "b": Bernoulli().restore(3, {})}, layer.bind(2))
    parameters = {HIDDEN_BIAS: rng.normal(size=2)}
    for name, family in energy.families.items():
        parameters[weights_of(name)] = rng.uniform(lowest, 0.9, size=(family.n_features_, 2))
        parameters[bias_of(name)] = rng.normal(size=family.n_features_) - 1.0
    return energy, parameters


def all_states(width: int) -> np.ndarray:
    return np.array(list(itertools.product([0.0, 1.0], repeat=width)))


def as_batch(states: np.ndarray) -> Batch:
    return Batch({"a": ViewBatch(states[:, :4]), "b": ViewBatch(states[:, 4:])}, len(states))


def drawn_states(batch: Batch) -> np.ndarray:
    return np.concatenate([view.statistic for view in batch.views.values()], axis=1)


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize(("seed", "lowest"), [(0, 0.0), (1, 0.0), (2, -0.9), (3, -0.9)])
def test_frequencies_of_all_states_are_their_probabilities(layer: HiddenLayer, seed: int, lowest: float) -> None:
    energy, parameters = coupled(layer, seed, lowest)
    assert (boltzmann_machine(energy, parameters)[1].min() < 0) == (lowest < 0)
    n_samples = 20_000
    batch, sweeps = perfect_sample(energy, parameters, n_samples, np.random.default_rng(seed + 10))
    assert sweeps.min() >= 1 and sweeps.max() > 1
    probability = np.exp(
        -energy.free_energy(parameters, as_batch(all_states(7))) - exact_log_partition(energy, parameters)
    )
    assert probability.sum() == pytest.approx(1)
    numbers = drawn_states(batch) @ 2 ** np.arange(6, -1, -1)
    frequency = np.bincount(numbers.astype(int), minlength=128) / n_samples
    statistic = n_samples * (np.square(frequency - probability) / probability).sum()
    assert chi2.sf(statistic, 127) > 1e-4
    # a frequency is off by sqrt(2 p (1 - p) / (π n)) on average; the sum varies little
    expected = np.sqrt(2 * probability * (1 - probability) / (np.pi * n_samples)).sum() / 2
    assert np.abs(frequency - probability).sum() / 2 < 1.35 * expected


@pytest.mark.parametrize("layer", LAYERS)
def test_moments_are_those_of_the_enumeration(layer: HiddenLayer) -> None:
    energy, parameters = coupled(layer, seed=5)
    batch, _ = perfect_sample(energy, parameters, 20_000, np.random.default_rng(0))
    expected = exact_expectations(energy, parameters).statistics
    hidden_mean = energy.layer(parameters).mean(energy.hidden_natural(parameters, batch))
    for name, view in batch.views.items():
        terms = np.einsum("ri,rk->rik", view.statistic, hidden_mean)
        for values, key in ((view.statistic, bias_of(name)), (terms, weights_of(name))):
            error = values.std(axis=0) / np.sqrt(len(values))
            assert np.all(np.abs(values.mean(axis=0) - expected[key]) < 4.5 * error), key


def test_free_energy_is_that_of_the_boltzmann_machine() -> None:
    energy, parameters = coupled(LAYERS[0])
    states = all_states(7)
    bias, couplings = boltzmann_machine(energy, parameters)
    log_density = states @ bias + 0.5 * np.einsum("ri,ij,rj->r", states, couplings, states)
    difference = log_density + energy.free_energy(parameters, as_batch(states))
    np.testing.assert_allclose(difference, difference[0], atol=1e-10)


@pytest.mark.parametrize("layer", [BernoulliUnits(), SpikeSlab(), ComposedUnits(dimensions=BernoulliUnits(1))], ids=str)
def test_free_energy_is_that_of_the_machine_with_its_units_summed_out(layer: HiddenLayer) -> None:
    energy = Energy({"a": Bernoulli().restore(4, {}), "b": Bernoulli().restore(3, {})}, layer.bind(2))
    parameters = make_parameters(energy, seed=1)
    bias, couplings = boltzmann_machine(energy, parameters)
    states, of_units = all_states(7), all_states(energy.hidden.n_units_)
    both = np.array([[*x, *h] for x in states for h in of_units])
    log_density = (both @ bias + 0.5 * np.einsum("ri,ij,rj->r", both, couplings, both)).reshape(len(states), -1)
    difference = logsumexp(log_density, axis=1) + energy.free_energy(parameters, as_batch(states))
    np.testing.assert_allclose(difference, difference[0], atol=1e-10)


def test_draws_depend_on_the_seed_and_not_on_the_threads() -> None:
    energy, parameters = coupled(LAYERS[0])
    draws = []
    for seed, n_jobs in ((0, 1), (0, 2), (0, 3), (1, 1)):
        with compute(n_jobs):
            draws.append(drawn_states(perfect_sample(energy, parameters, 500, np.random.default_rng(seed))[0]))
    assert np.array_equal(draws[0], draws[1]) and np.array_equal(draws[0], draws[2])
    assert not np.array_equal(draws[0], draws[3])
    assert len(np.unique(draws[0], axis=0)) > 20


def fitted(views: object = "infer", hidden: HiddenLayer | None = None, width: int = 5) -> Harmonium:
    X = (np.random.default_rng(0).random((60, width)) < 0.4).astype(float)
    driver = Stochastic(max_iter=2, learning_rate=1e-3)
    return Harmonium(2, views=views, hidden=hidden or GaussianUnits(), driver=driver, random_state=0).fit(X)


def test_estimators_draw_items() -> None:
    model = fitted()
    weights = model.fitted_.parameters["view0.weights"]
    weights[:] = np.abs(weights) + 0.3
    drawn = sample_exact(model, 7, random_state=3)
    assert drawn.shape == (7, 5) and drawn.dtype == np.float32 and set(np.unique(drawn)) <= {0.0, 1.0}
    np.testing.assert_array_equal(drawn, sample_exact(model, 7, random_state=3))
    assert sample_exact(model).shape == (1, 5)
    X = np.eye(6)
    two = Harmonium(1, hidden=GaussianUnits(), driver=Stochastic(max_iter=1)).fit({"a": X[:, :4], "b": X[:, 4:]})
    for name in ("a.weights", "b.weights"):
        two.fitted_.parameters[name][:] = 0.5
    assert {name: value.shape for name, value in sample_exact(two, 3).items()} == {"a": (3, 4), "b": (3, 2)}


def test_models_that_cannot_be_sampled_exactly_are_refused() -> None:
    with pytest.raises(ValueError, match="needs Bernoulli views; 'view0' is Poisson; draw with sample"):
        sample_exact(fitted(Poisson(), BernoulliUnits()))
    with pytest.raises(ValueError, match="needs Bernoulli views; 'view0' is Categorical"):
        sample_exact(fitted(Categorical()))
    with pytest.raises(ValueError, match="such as GaussianUnits or BernoulliUnits; got BinomialUnits"):
        sample_exact(fitted(hidden=BinomialUnits(M=2)))
    with pytest.raises(ValueError, match="n_samples >= 1; got 0"):
        sample_exact(fitted(), 0)


def test_bounds_are_the_same_whichever_value_of_a_feature_is_called_one() -> None:
    bias, couplings = boltzmann_machine(*coupled(LAYERS[0]))
    turned = np.array([1.0, -1, 1, -1, -1, 1, 1])  # x becomes 1 - x where it is -1
    other = turned[:, None] * couplings * turned
    other_bias = turned * (bias + couplings @ (turned < 0))
    keys = np.random.default_rng(0).integers(2**64, size=2000, dtype=np.uint64)
    found = []
    for machine in ((bias, couplings), (other_bias, other)):
        states, sweeps = np.empty((len(keys), 7), dtype=np.bool_), np.empty(len(keys), dtype=np.int64)
        couple_from_the_past(*machine, keys, 2**10, states, sweeps)
        found.append((states.mean(axis=0), np.log2(sweeps).mean()))
    (means, sweeps), (other_means, other_sweeps) = found
    expected = np.where(turned > 0, means, 1 - means)
    assert np.abs(other_means - expected).max() < 5 * np.sqrt(0.5 / len(keys))
    assert other_sweeps == pytest.approx(sweeps, abs=0.15)  # negative couplings that can be turned away cost nothing


def test_chains_that_do_not_meet_are_given_up() -> None:
    energy, parameters = coupled(LAYERS[0])
    for name in energy.families:  # two modes, all zeros and all ones, with next to nothing in between
        parameters[weights_of(name)][:] = 3.0
        parameters[bias_of(name)][:] = -0.5 * 0.7 * 18 * 7
    parameters[HIDDEN_BIAS][:] = 0
    with pytest.raises(ChainsApartError, match="meet within 64 sweeps; those of this model did not"):
        perfect_sample(energy, parameters, 5, np.random.default_rng(0), max_sweeps=64)


# ---- naive Monte Carlo of Z ------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("family", "hidden"), compatible_pairs())
def test_naive_estimates_are_within_their_errors(family: str, hidden: str) -> None:
    energy = Energy({"x": make_family(family)}, make_hidden(hidden))
    # small weights: the draws of larger ones are so heavy-tailed that the error is not known either
    parameters = make_parameters(energy, seed=len(family), scale=0.1)
    exact = exact_log_partition(energy, parameters, sizes_for(energy, 1))
    sizes = dict.fromkeys(sizes_for(energy, 1), SIZE)
    estimate = naive_log_partition(energy, parameters, np.random.default_rng(0), n_draws=4000, sizes=sizes)
    assert 0 < estimate.standard_error < 0.1
    assert abs(estimate.value - exact) < 4 * estimate.standard_error


def test_naive_estimates_spread_as_their_errors_say() -> None:
    energy = Energy({"x": make_family("Bernoulli")}, make_hidden("GaussianUnits"))
    parameters = make_parameters(energy, seed=1, scale=0.5)
    runs = [naive_log_partition(energy, parameters, np.random.default_rng(seed), 2500) for seed in range(60)]
    spread = np.std([run.value for run in runs], ddof=1)
    assert spread == pytest.approx(np.mean([run.standard_error for run in runs]), rel=0.4)
    assert np.mean([run.value for run in runs]) == pytest.approx(exact_log_partition(energy, parameters), abs=0.02)


def test_estimators_estimate_naively() -> None:
    model = fitted()
    naive = log_partition(model, "naive", n_chains=5000)
    assert abs(naive.value - log_partition(model, "exact").value) < 4 * naive.standard_error + 1e-4
