"""Every family × hidden pair against brute force over joint states, and everything else against that enumeration."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.special import logsumexp

from harmonium import Harmonium, Stochastic
from harmonium.core.batch import Batch, ViewBatch
from harmonium.core.parameters import HIDDEN_BIAS, Parameters, bias_of, weights_of
from harmonium.energy import Energy
from harmonium.families import Bernoulli, Gaussian, NegativeBinomial
from harmonium.families.exclusive import Exclusive
from harmonium.hidden import BernoulliUnits, GaussianUnits, SpikeSlab
from harmonium.inference.ais import annealed_log_partition
from harmonium.inference.exact import exact_expectations, exact_log_partition, hidden_states
from harmonium.inference.gibbs import gibbs_step
from harmonium.inference.mean_field import mean_field_free_energy, mean_views
from harmonium.inference.modes import iterate_modes
from harmonium.inference.pseudo import pseudo_log_likelihood
from harmonium.objectives import ExactLikelihood
from harmonium.objectives.problem import Problem
from tests.cases.models import (
    SIZE,
    TRIALS,
    compatible_pairs,
    make_family,
    make_hidden,
    make_parameters,
    random_batch,
    sizes_for,
)

PAIRS = [*compatible_pairs(), ("Poisson", TRIALS), ("ReplicatedSoftmax", TRIALS)]


def visible_states(family, points: int = 61) -> tuple[np.ndarray, np.ndarray]:
    """All statistics of a few columns with their log-weights, straight from the meaning of each family."""
    name = type(family).__name__
    if family.codec.largest is not None:
        codes = np.array(list(itertools.product(*(np.arange(last + 1.0) for last in family.codec.largest))))
        return family.codec.encode(codes).astype(float), np.zeros(len(codes))
    if name == "ReplicatedSoftmax":
        states = [s for s in itertools.product(range(int(SIZE) + 1), repeat=3) if sum(s) == SIZE]
        return np.array(states, dtype=float), np.zeros(len(states))
    if name == "Chain":
        # every pair of sequences of three, by its counts
        sequences = np.array(list(itertools.product([0, 1], repeat=int(SIZE))))
        counts = np.stack([sequences.sum(axis=1), (sequences[:, :-1] * sequences[:, 1:]).sum(axis=1)], axis=1)
        first, second = (grid.ravel() for grid in np.meshgrid(*[np.arange(len(counts))] * 2))
        states = np.stack([counts[first], counts[second]], axis=2).reshape(len(first), 4)
        return states.astype(float), np.zeros(len(states))
    if family.support.integer:
        values, weights = family.support.grid(truncation=30)
    else:
        values, weights = family.support.grid(width=12.0, points=points)
    grids = np.meshgrid(*[values] * family.codec.n_columns, indexing="ij")
    weight = np.meshgrid(*[weights] * family.codec.n_columns, indexing="ij")
    states = family.codec.encode(np.stack([g.ravel() for g in grids], axis=1))
    return states, np.sum([w.ravel() for w in weight], axis=0) + family.codec.log_volume.sum()


def small_model(family_name: str, hidden_name: str, scale: float = 0.4):
    energy = Energy({"x": make_family(family_name)}, make_hidden(hidden_name, n_units=2))
    if family_name in ("Gaussian", "Balanced") and not energy.hidden.support.bounded:
        scale = 0.2  # far from the border ‖W‖ = 1, where no grid is wide enough
    return energy, make_parameters(energy, seed=len(family_name), scale=scale)


def as_batch(energy: Energy, states: np.ndarray) -> Batch:
    size = sizes_for(energy, len(states)).get("x")
    return Batch({"x": ViewBatch(states, size)}, len(states))


@pytest.mark.parametrize(("family", "hidden"), PAIRS)
def test_free_energy_sums_to_the_enumerated_log_partition(family: str, hidden: str) -> None:
    """Σ_x exp(-F(x)) over the visible states equals Z from the hidden states: ties log_base, log_partition and F."""
    energy, parameters = small_model(family, hidden)
    states, log_weights = visible_states(energy.families["x"])
    free = energy.free_energy(parameters, as_batch(energy, states))
    exact = exact_log_partition(energy, parameters, sizes_for(energy, 1))
    assert logsumexp(-free + log_weights) == pytest.approx(exact, abs=2e-5)


@pytest.mark.parametrize(("family", "hidden"), PAIRS)
def test_expectations_are_the_derivatives_of_log_partition(family: str, hidden: str) -> None:
    energy, parameters = small_model(family, hidden)
    sizes = sizes_for(energy, 1)
    expected = exact_expectations(energy, parameters, sizes)
    for name, value in Problem(energy, {}).moving(parameters).items():
        for index in np.ndindex(value.shape):
            step = 1e-5
            moved = [{**parameters, name: value + sign * step * _unit(value.shape, index)} for sign in (1, -1)]
            slope = (exact_log_partition(energy, moved[0], sizes) - exact_log_partition(energy, moved[1], sizes)) / (
                2 * step
            )
            assert expected.statistics[name][index] == pytest.approx(slope, abs=2e-6, rel=2e-5), name


def _unit(shape: tuple[int, ...], index: tuple[int, ...]) -> np.ndarray:
    unit = np.zeros(shape)
    unit[index] = 1.0
    return unit


@pytest.mark.parametrize(("family", "hidden"), PAIRS)
def test_joint_is_consistent_with_both_marginals(family: str, hidden: str) -> None:
    energy, parameters = small_model(family, hidden)
    batch = random_batch(energy, parameters, 4)
    states, log_weights = hidden_states(energy)
    for row in range(4):
        repeated = as_batch(energy, np.repeat(batch.views["x"].statistic[row : row + 1], len(states), axis=0))
        joint = energy.joint(parameters, repeated, states) + log_weights
        alone = as_batch(energy, batch.views["x"].statistic[row : row + 1])
        assert logsumexp(joint) == pytest.approx(-energy.free_energy(parameters, alone)[0], abs=1e-6)


@pytest.mark.parametrize(("family", "hidden"), PAIRS)
def test_gibbs_sampling_has_the_exact_moments(family: str, hidden: str) -> None:
    energy, parameters = small_model(family, hidden)
    n_chains, sweeps = 4000, 30
    rng = np.random.default_rng(3)
    sizes = sizes_for(energy, n_chains)
    state = energy.layer(parameters).sample(np.zeros((n_chains, 2)), rng)
    for _ in range(sweeps):
        state, batch = gibbs_step(energy, parameters, state, rng, sizes)
    expected = exact_expectations(energy, parameters, sizes_for(energy, 1)).statistics
    for drawn, name in ((state, HIDDEN_BIAS), (batch.views["x"].statistic, bias_of("x"))):
        error = drawn.std(axis=0) / np.sqrt(n_chains)
        assert np.all(np.abs(drawn.mean(axis=0) - expected[name]) < 5 * error + 1e-9), name


@pytest.mark.parametrize(("family", "hidden"), PAIRS)
def test_annealed_importance_sampling_is_within_its_error(family: str, hidden: str) -> None:
    energy, parameters = small_model(family, hidden)
    exact = exact_log_partition(energy, parameters, sizes_for(energy, 1))
    sizes = dict.fromkeys(sizes_for(energy, 1), SIZE)
    rng = np.random.default_rng(0)
    estimate = annealed_log_partition(energy, parameters, rng, n_chains=400, n_temperatures=60, sizes=sizes)
    assert 0 <= estimate.standard_error < 0.1
    assert abs(estimate.value - exact) < 4 * estimate.standard_error + 1e-6


def test_annealing_may_start_from_reference_means() -> None:
    energy, parameters = small_model("Bernoulli", "BernoulliUnits", scale=1.0)
    exact = exact_log_partition(energy, parameters)
    reference = {"x": exact_expectations(energy, parameters).statistics[bias_of("x")]}
    rng = np.random.default_rng(0)
    estimate = annealed_log_partition(energy, parameters, rng, 400, 60, reference=reference)
    assert abs(estimate.value - exact) < 4 * estimate.standard_error


@pytest.mark.parametrize(("family", "hidden"), PAIRS)
def test_mean_field_free_energy_bounds_the_exact_one(family: str, hidden: str) -> None:
    """Variational free energy is at least -log Z, and falls with each mean-field step."""
    energy, parameters = small_model(family, hidden)
    exact = exact_log_partition(energy, parameters, sizes_for(energy, 1))
    sizes = sizes_for(energy, 1)
    layer = energy.layer(parameters)
    hidden_mean = layer.mean(np.array([[0.7, -0.4]]))
    last = np.inf
    for _ in range(6):
        batch, naturals = mean_views(energy, parameters, hidden_mean, sizes)
        value = mean_field_free_energy(energy, parameters, batch, naturals)[0]
        assert -exact - 1e-8 <= value <= last + 1e-9
        last = value
        hidden_mean = layer.mean(energy.hidden_natural(parameters, batch))


class InTurn:
    """A source of randomness that draws every site, or token, exactly as often as its probability says."""

    def __init__(self, n_draws: int) -> None:
        self.n_draws, self.n_drawn = n_draws, 0

    def choice(self, values: np.ndarray | int, p: np.ndarray | None = None) -> int:
        values = np.arange(values) if isinstance(values, int) else values
        share = (self.n_drawn % self.n_draws + 0.5) / self.n_draws
        self.n_drawn += 1
        return values[np.searchsorted(np.cumsum(np.full(len(values), 1 / len(values)) if p is None else p), share)]

    def integers(self, end: int) -> int:
        return self.choice(end)


@pytest.mark.parametrize(("family", "hidden"), PAIRS)
def test_pseudo_likelihood_matches_conditionals_by_enumeration(family: str, hidden: str) -> None:
    energy, parameters = small_model(family, hidden)
    batch = random_batch(energy, parameters, 3, seed=5)
    n_probes = 6  # two or three sites, or tokens
    estimate = pseudo_log_likelihood(energy, parameters, batch, InTurn(n_probes), n_probes=n_probes)
    np.testing.assert_allclose(estimate, enumerated_conditionals(energy, parameters, batch), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("family", ["Bernoulli", "Beta", "ReplicatedSoftmax", "Chain"])  # each draws in its own way
def test_sites_drawn_at_random_give_the_pseudo_likelihood_on_average(family: str) -> None:
    energy, parameters = small_model(family, "BernoulliUnits")
    batch = random_batch(energy, parameters, 3, seed=5)
    n_probes = 400
    estimate = pseudo_log_likelihood(energy, parameters, batch, np.random.default_rng(0), n_probes=n_probes)
    expected = enumerated_conditionals(energy, parameters, batch)
    # the spread over sites divided by the root of the probes bounds the error of the estimate
    assert np.all(np.abs(estimate - expected) <= 0.6 * np.abs(expected) / np.sqrt(n_probes) * 5 + 1e-5)


def enumerated_conditionals(energy: Energy, parameters: Parameters, batch: Batch) -> np.ndarray:
    """The log-probability of each site of a row given the others, summed over sites."""
    kind, total = energy.families["x"], np.zeros(batch.n_rows)
    for row in range(batch.n_rows):
        x = batch.views["x"].statistic[row]
        if isinstance(kind, Exclusive):
            expected = 0.0
            for token in np.flatnonzero(x):
                rivals = np.array([x - np.eye(3)[token] + np.eye(3)[other] for other in range(3)])
                # tokens are ordered here: the base measure of unordered counts does not enter
                score = -energy.free_energy(parameters, as_batch(energy, rivals))
                score -= kind.log_base(rivals).sum(axis=1)
                expected += x[token] * (score[token] - logsumexp(score))
        elif kind.support.data == "sequences":
            expected = 0.0
            states, _ = visible_states(kind)
            now = -energy.free_energy(parameters, as_batch(energy, x[None, :]))[0]
            for other in (0, 1):  # the chain that stays; the other one takes all its sequences
                same = states[(states[:, [other, other + 2]] == x[[other, other + 2]]).all(axis=1)]
                # sequences of the chain that stays with the same counts were all found
                copies = len(same) / 2**SIZE
                score = -energy.free_energy(parameters, as_batch(energy, same))
                expected += now - logsumexp(score) + np.log(copies)
        else:
            log_volumes = kind.codec.spread(np.eye(kind.codec.n_sites)) @ kind.codec.log_volume
            expected = 0.0
            for column in range(kind.codec.n_columns):
                values, log_weights = kind.support.grid()
                if kind.codec.largest is not None:
                    values, log_weights = np.arange(kind.codec.largest[column] + 1.0), 0.0
                states = np.repeat(kind.codec.decode(x[None, :]), len(values), axis=0)
                states[:, column] = values
                score = -energy.free_energy(parameters, as_batch(energy, kind.codec.encode(states))) + log_weights
                now = -energy.free_energy(parameters, as_batch(energy, x[None, :]))[0]
                expected += now - logsumexp(score) - log_volumes[column]
        total[row] = expected
    return total


@pytest.mark.parametrize(("family", "hidden"), PAIRS)
def test_modes_never_lower_the_joint_density(family: str, hidden: str) -> None:
    energy, parameters = small_model(family, hidden)
    start = random_batch(energy, parameters, 5, seed=2)
    sizes = sizes_for(energy, 5)
    hidden_start = energy.layer(parameters).mode(energy.hidden_natural(parameters, start))
    batch, hidden_end = iterate_modes(energy, parameters, start, sizes)
    before = energy.joint(parameters, start, hidden_start)
    after = energy.joint(parameters, batch, hidden_end)
    if isinstance(energy.hidden, SpikeSlab) and energy.hidden.support.atom:
        # a probability cannot be compared with a density: a unit is there if that is more probable than not
        peak = 0.5 * np.log(2 * np.pi * energy.hidden.variance)
        before += peak * (hidden_start != 0).sum(axis=1)
        after += peak * (hidden_end != 0).sum(axis=1)
    assert np.all(after >= before - 1e-9)


def test_two_gaussian_layers_have_the_closed_form() -> None:
    """log Z of a Gaussian pair is a determinant: an oracle that involves no grid."""
    energy = Energy({"x": make_family("Gaussian")}, GaussianUnits().bind(2))
    parameters = make_parameters(energy, seed=1, scale=0.3)
    weights, bias = parameters[weights_of("x")], parameters[bias_of("x")]
    precision = np.block(
        [
            [np.diag(np.exp(-parameters["x.log_variance"])), -weights],
            [-weights.T, np.eye(2)],
        ]
    )
    linear = np.concatenate([bias, parameters[HIDDEN_BIAS]])
    log_z = 0.5 * (
        5 * np.log(2 * np.pi) - np.linalg.slogdet(precision)[1] + linear @ np.linalg.solve(precision, linear)
    )
    assert exact_log_partition(energy, parameters) == pytest.approx(log_z, abs=1e-8)


def test_several_views_add_up() -> None:
    families = {"a": make_family("Bernoulli"), "b": make_family("Gaussian"), "c": make_family("Poisson")}
    energy = Energy(families, BernoulliUnits().bind(3))
    parameters = make_parameters(energy, seed=4, scale=0.4)
    batch = random_batch(energy, parameters, 6)
    states, log_weights = hidden_states(energy)
    for row in range(6):
        views = {
            name: ViewBatch(np.repeat(view.statistic[row : row + 1], len(states), axis=0))
            for name, view in batch.views.items()
        }
        total = logsumexp(energy.joint(parameters, Batch(views, len(states)), states) + log_weights)
        alone = Batch({name: ViewBatch(view.statistic[row : row + 1]) for name, view in batch.views.items()}, 1)
        assert total == pytest.approx(-energy.free_energy(parameters, alone)[0], abs=1e-9)


def test_refused_pairs_say_why() -> None:
    from harmonium.exceptions import IncompatiblePartsError

    for family in ("Poisson", "NegativeBinomial"):
        with pytest.raises(
            IncompatiblePartsError, match=f"'x' is {family} and cannot be normalised with GaussianUnits"
        ):
            Energy({"x": make_family(family)}, make_hidden("GaussianUnits"))


def test_learned_gaussian_variance_enters_every_formula() -> None:
    family = Gaussian(variance="learn").restore(3, {"location": np.zeros(3), "scale": np.ones(3)})
    assert family.extra_parameters.bounds["log_variance"][0] < family.extra_parameters.bounds["log_variance"][1]
    energy = Energy({"x": family, "y": Bernoulli().restore(2, {})}, make_hidden("BinomialUnits"))
    parameters = make_parameters(energy, seed=2)
    expected = exact_expectations(energy, parameters).statistics["x.log_variance"]
    step = 1e-5
    for i in range(3):
        moved = [
            {**parameters, "x.log_variance": parameters["x.log_variance"] + sign * step * np.eye(3)[i]}
            for sign in (1, -1)
        ]
        slope = (exact_log_partition(energy, moved[0]) - exact_log_partition(energy, moved[1])) / (2 * step)
        assert expected[i] == pytest.approx(slope, rel=1e-5)


def test_variances_that_are_given_stay() -> None:
    X = np.random.default_rng(0).normal(size=(40, 3))
    driver = Stochastic(max_iter=20, learning_rate=0.01)
    model = Harmonium(1, views=Gaussian(), hidden=BernoulliUnits(), objective=ExactLikelihood(), driver=driver).fit(X)
    assert not model.fitted_.parameters["view0.log_variance"].any()


def test_units_that_vary_less_than_the_grid_can_tell_are_refused() -> None:
    wide, narrow = (
        Energy({"x": Bernoulli().restore(3, {})}, GaussianUnits(variance).bind(2)) for variance in (1.0, 0.01)
    )
    assert np.isfinite(exact_log_partition(wide, make_parameters(wide, 0)))
    with pytest.raises(ValueError, match=r"standard deviation given the views is at least 0\.19; got 0\.1"):
        exact_log_partition(narrow, make_parameters(narrow, 0))


@pytest.mark.parametrize("mean", [0.3, 90.0, 1100.0, 5000.0])
def test_variances_of_counts_are_those_of_their_law(mean: float) -> None:
    for r in (0.1, 1.0, 10.0):
        family = NegativeBinomial(r).restore(1, {})
        assert family.statistic_variance(np.array([mean]))[0] == pytest.approx(mean + mean**2 / r, rel=1e-6)
