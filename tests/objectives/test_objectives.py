"""Gradients: finite differences of exact losses, expectations of sampled ones, additivity, sparse against dense."""

from __future__ import annotations

import numpy as np
import pytest

from harmonium.core.batch import Batch, ViewBatch
from harmonium.core.parameters import HIDDEN_BIAS, bias_of, weights_of
from harmonium.core.parts import registered
from harmonium.core.targets import Labels, Targets, TargetSpec
from harmonium.energy import Energy
from harmonium.heads import LabelView
from harmonium.inference.exact import hidden_states
from harmonium.inference.gibbs import sizes_of
from harmonium.inference.mean_field import fill_missing, mean_field_free_energy, mean_views
from harmonium.kernels.sparse.csr import SparseRows
from harmonium.objectives import ExactLikelihood, MeanFieldCD, PersistentCD, SampledCD
from harmonium.objectives.problem import Problem
from harmonium.objectives.statistics import Statistics
from tests.cases.models import compatible_pairs, make_family, make_hidden, make_parameters, random_batch, sizes_for

PAIRS = compatible_pairs()


def small_problem(family: str, hidden: str, scale: float = 0.4, seed: int = 1):
    energy = Energy({"x": make_family(family)}, make_hidden(hidden))
    if family in ("Gaussian", "Balanced") and not energy.hidden.support.bounded:
        scale = 0.2
    parameters = make_parameters(energy, seed=seed, scale=scale)
    reference = {"x": np.full(energy.families["x"].n_features_, 0.3)}
    return Problem(energy, reference), parameters


def statistics_of(objective, problem, parameters, batch, seed: int = 0, **keywords) -> Statistics:
    statistics = Statistics.zeros_like(parameters)
    objective.accumulate(problem, parameters, batch, statistics, np.random.default_rng(seed), **keywords)
    return statistics


@pytest.mark.parametrize(("family", "hidden"), PAIRS)
def test_exact_gradient_by_finite_differences(family: str, hidden: str) -> None:
    problem, parameters = small_problem(family, hidden)
    batch = random_batch(problem.energy, parameters, 7)
    if family == "Gaussian":
        problem.energy.families["x"].variance = "learn"  # so that the extra parameters take part
    gradient = statistics_of(ExactLikelihood(), problem, parameters, batch).gradient
    for name, value in problem.moving(parameters).items():
        for index in np.ndindex(value.shape):
            losses = []
            for sign in (1, -1):
                moved = value.copy()
                moved[index] += sign * 1e-5
                losses.append(statistics_of(ExactLikelihood(), problem, {**parameters, name: moved}, batch).loss)
            slope = (losses[0] - losses[1]) / 2e-5
            assert gradient[name][index] == pytest.approx(slope, abs=3e-5, rel=1e-4), (name, index)


@pytest.mark.parametrize(("family", "hidden"), PAIRS)
def test_mean_field_gradient_by_finite_differences_at_fixed_means(family: str, hidden: str) -> None:
    """With the reconstruction held fixed, the gradient is that of F(data) - F_mean_field(reconstruction)."""
    problem, parameters = small_problem(family, hidden)
    energy = problem.energy
    batch = random_batch(energy, parameters, 5)
    gradient = statistics_of(MeanFieldCD(n_steps=2), problem, parameters, batch).gradient
    layer = energy.layer(parameters)
    hidden_mean = layer.mean(energy.hidden_natural(parameters, batch))
    for _ in range(2):
        means, naturals = mean_views(energy, parameters, hidden_mean, sizes_of(batch))
        hidden_mean = layer.mean(energy.hidden_natural(parameters, means))

    def loss(moved: dict[str, np.ndarray]) -> float:
        data = energy.free_energy(moved, batch).sum()
        # q is fixed: its entropy does not move, and its expected energy is linear in the parameters
        return float(data - mean_field_free_energy(energy, moved, means, naturals).sum())

    for name in (HIDDEN_BIAS, weights_of("x"), bias_of("x")):
        value = parameters[name]
        for index in np.ndindex(value.shape):
            slopes = []
            for sign in (1, -1):
                moved = value.copy()
                moved[index] += sign * 1e-5
                slopes.append(loss({**parameters, name: moved}))
            assert gradient[name][index] == pytest.approx((slopes[0] - slopes[1]) / 2e-5, abs=1e-5, rel=1e-4), name


def test_mean_field_loss_is_free_energy_difference() -> None:
    problem, parameters = small_problem("Bernoulli", "BernoulliUnits")
    batch = random_batch(problem.energy, parameters, 5)
    loss = statistics_of(MeanFieldCD(n_steps=3), problem, parameters, batch, with_loss=True).loss
    assert loss > 0  # the reconstruction is closer to equilibrium than the data


@pytest.mark.parametrize(("family", "hidden"), PAIRS)
def test_sampled_cd_has_the_exact_expectation(family: str, hidden: str) -> None:
    """E over h0 ~ p(h|x0), x1 ~ p(x|h0), summed exactly, against the average of many sampled gradients."""
    problem, parameters = small_problem(family, hidden)
    energy = problem.energy
    row = random_batch(energy, parameters, 1, seed=9)
    n_copies = 20000
    size = sizes_for(energy, n_copies).get("x")
    batch = Batch({"x": ViewBatch(np.repeat(row.views["x"].statistic, n_copies, axis=0), size)}, n_copies)
    got = statistics_of(SampledCD(), problem, parameters, batch).gradient
    # exact E[x1] through the distribution of h0
    states, log_weights = hidden_states(energy)
    repeated = Batch({"x": ViewBatch(np.repeat(row.views["x"].statistic, len(states), axis=0))}, len(states))
    if size is not None:
        repeated.views["x"].size = size[:1].repeat(len(states))
    log_joint = energy.joint(parameters, repeated, states) + log_weights
    probability = np.exp(log_joint - log_joint.max())
    probability /= probability.sum()
    own = energy.extra(parameters, "x")
    row_size = None if size is None else np.full(len(states), size[0])
    mean = energy.families["x"].mean(energy.view_natural(parameters, "x", states), own, row_size)
    expected = probability @ mean - row.views["x"].statistic[0]
    # the spread of one draw of x1, from its second moment over the copies
    spread = np.sqrt(probability @ mean**2 + np.abs(probability @ mean) + 1.0)
    assert np.all(np.abs(got[bias_of("x")] / n_copies - expected) < 5 * spread / np.sqrt(n_copies))


@pytest.mark.parametrize("hidden", ["BernoulliUnits", "SpikeSlab"])
@pytest.mark.parametrize("name", sorted(registered("objective")))
def test_statistics_are_additive(name: str, hidden: str) -> None:
    """Counts of how often units are there included, where the layer learns from them."""
    problem, parameters = small_problem("Bernoulli", hidden)
    if name == "Discriminative":
        classes = Targets(np.array([[0], [1], [2]]), np.ones(3))
        head = LabelView().bind(Labels(TargetSpec("class", [np.arange(3)]), classes))
        energy = Energy({"x": make_family("Bernoulli"), "label": make_family("Categorical")}, problem.energy.hidden)
        problem, parameters = Problem(energy, problem.reference, head), make_parameters(energy, seed=1)
    batch = random_batch(problem.energy, parameters, 8)
    objective = registered("objective")[name]()
    if (name, hidden) == ("Discriminative", "SpikeSlab"):  # which is refused unless views have a share
        objective = objective.set_params(generative=0.5)
    first, second = (
        Batch({view: ViewBatch(part.statistic[rows]) for view, part in batch.views.items()}, 4)
        for rows in (slice(4), slice(4, 8))
    )
    one = statistics_of(objective, problem, parameters, first)
    two = statistics_of(objective, problem, parameters, second, seed=1)
    together = one + two
    accumulated = Statistics.zeros_like(parameters)
    objective.accumulate(problem, parameters, first, accumulated, np.random.default_rng(0))
    objective.accumulate(problem, parameters, second, accumulated, np.random.default_rng(1))
    assert together.count == accumulated.count == 8
    for key in parameters:
        np.testing.assert_allclose(together.gradient[key], accumulated.gradient[key], atol=1e-12)
    assert np.shape(one.counts) == ((2,) if hidden == "SpikeSlab" else ())
    np.testing.assert_allclose(together.counts, accumulated.counts, atol=1e-12)
    if objective.has_loss:  # deterministic: also equal to the whole batch at once
        whole = statistics_of(objective, problem, parameters, batch)
        for key in parameters:
            np.testing.assert_allclose(together.gradient[key], whole.gradient[key], atol=1e-10)
        np.testing.assert_allclose(together.counts, whole.counts, atol=1e-10)


def test_sums_of_statistics_have_the_counts_of_both() -> None:
    gradient = {"x.bias": np.ones(2)}
    one = Statistics(gradient, 1.0, 3.0, np.array([2.0, 0.5]))
    two = Statistics(gradient, 2.0, 4.0, np.array([1.0, 3.0]))
    together = one + two
    np.testing.assert_array_equal(together.counts, [3.0, 3.5])
    assert (together.loss, together.count) == (3.0, 7.0)
    np.testing.assert_array_equal(one.counts, [2.0, 0.5])  # which stay as they are
    # nothing counted yet, or by a layer that counts nothing
    np.testing.assert_array_equal((one + Statistics.zeros_like(gradient)).counts, one.counts)
    assert (Statistics(gradient) + Statistics(gradient)).counts == 0.0


@pytest.mark.parametrize(
    "family", ["Bernoulli", "Poisson", "NegativeBinomial", "Binomial", "Gaussian", "ReplicatedSoftmax"]
)
def test_sparse_and_dense_statistics_agree(family: str) -> None:
    problem, parameters = small_problem(family, "BernoulliUnits")
    parameters = {name: value.astype(np.float32) for name, value in parameters.items()}
    if family == "Gaussian":
        problem.energy.families["x"].variance = "learn"
    batch = random_batch(problem.energy, parameters, 9)
    dense = batch.views["x"].statistic.astype(np.float32)
    dense[dense < 0.2] = 0.0
    size = dense.sum(axis=1).astype(float) if batch.views["x"].size is not None else None
    as_dense = Batch({"x": ViewBatch(dense, size)}, 9)
    as_sparse = Batch({"x": ViewBatch(SparseRows.from_dense(dense), size)}, 9)
    for objective in (MeanFieldCD(), ExactLikelihood()):
        one = statistics_of(objective, problem, parameters, as_dense, with_loss=True)
        two = statistics_of(objective, problem, parameters, as_sparse, with_loss=True)
        assert one.loss == pytest.approx(two.loss, rel=1e-5)
        for key in parameters:
            np.testing.assert_allclose(one.gradient[key], two.gradient[key], atol=2e-4)


@pytest.mark.parametrize("family", ["Bernoulli", "Poisson", "NegativeBinomial", "Binomial"])
def test_sparse_sampling_has_the_right_moments(family: str) -> None:
    """The block sampler against the family's mean and variance, feature by feature."""
    from harmonium.inference.gibbs import sample_views

    rng = np.random.default_rng(0)
    kind = make_family(family).restore(40, {})
    energy = Energy({"x": kind}, make_hidden("BernoulliUnits", 3))
    parameters = make_parameters(energy, seed=3, dtype=np.float32)
    parameters["x.bias"] = np.linspace(-6, 1.5 if family != "NegativeBinomial" else -4, 40).astype(np.float32)
    n_rows = 20000
    hidden = np.tile(np.array([[1, 0, 1]], dtype=np.float32), (n_rows, 1))
    drawn = sample_views(energy, parameters, hidden, rng, sparse={"x"}).views["x"].statistic
    assert isinstance(drawn, SparseRows)
    values = drawn.toarray()
    reference = kind.sample(energy.view_natural(parameters, "x", hidden), rng)
    mean = kind.mean(energy.view_natural(parameters, "x", hidden[:1]))[0]
    error = reference.std(axis=0) / np.sqrt(n_rows) + 1e-4
    assert np.all(np.abs(values.mean(axis=0) - mean) < 5 * error)
    np.testing.assert_allclose(values.std(axis=0), reference.std(axis=0), rtol=0.1, atol=0.02)
    # cells are independent: correlations between neighbours vanish like 1/√n
    correlation = np.corrcoef(values[:, 20:].T)
    assert np.abs(correlation - np.eye(20)).max() < 5 / np.sqrt(n_rows)


def test_sparse_tokens_have_the_right_totals_and_means() -> None:
    from harmonium.inference.gibbs import sample_views

    energy = Energy(
        {"x": make_family("ReplicatedSoftmax").restore(30, {"typical_size": np.array(9.0)})},
        make_hidden("GaussianUnits"),
    )
    parameters = make_parameters(energy, seed=3, dtype=np.float32)
    n_rows = 20000
    hidden = np.tile(np.array([[0.7, -0.4]], dtype=np.float32), (n_rows, 1))
    sizes = {"x": np.random.default_rng(0).integers(0, 20, size=n_rows).astype(float)}
    drawn = sample_views(energy, parameters, hidden, np.random.default_rng(1), sizes, {"x"}).views["x"].statistic
    assert isinstance(drawn, SparseRows)
    values = drawn.toarray()
    np.testing.assert_array_equal(values.sum(axis=1), sizes["x"])
    many = energy.families["x"].sample_sparsely(
        np.zeros((30, 2)), np.zeros(30), np.zeros((2, 2)), np.random.default_rng(0), np.array([3e5, 2.0])
    )
    assert many is not None
    np.testing.assert_array_equal(many.statistic.toarray().sum(axis=1), [3e5, 2.0])
    share = energy.families["x"].mean(energy.view_natural(parameters, "x", hidden[:1]), size=np.ones(1))[0]
    error = np.sqrt(share * sizes["x"].sum()) / sizes["x"].sum()
    assert np.all(np.abs(values.sum(axis=0) / sizes["x"].sum() - share) < 5 * error)


def test_persistent_chains_go_on_between_batches() -> None:
    problem, parameters = small_problem("Bernoulli", "BernoulliUnits")
    batch = random_batch(problem.energy, parameters, 4)
    objective = PersistentCD()
    rng = np.random.default_rng(0)
    chains = objective.start(problem, batch, rng)
    before = chains["hidden"].copy()
    for _ in range(20):
        objective.accumulate(problem, parameters, batch, Statistics.zeros_like(parameters), rng, chains)
    assert not np.array_equal(before, chains["hidden"])


def test_missing_sites_get_their_exact_conditional_mean_when_hidden_units_are_off() -> None:
    """With W = 0 the mean-field fill is the family's own mean; with W it is a fixed point of the two means."""
    energy = Energy({"a": make_family("Bernoulli"), "b": make_family("Gaussian")}, make_hidden("BernoulliUnits"))
    parameters = make_parameters(energy, seed=1, scale=0.8)
    data = random_batch(energy, parameters, 6)
    missing = np.zeros((6, 3), dtype=bool)
    missing[2] = True
    missing[4, 1] = True
    statistic = np.where(missing, 0.0, data.views["b"].statistic)
    batch = Batch({"a": data.views["a"], "b": ViewBatch(statistic, missing=missing)}, 6)
    reference = {"a": np.full(3, 0.5), "b": np.zeros(3)}
    filled = fill_missing(energy, parameters, batch, reference, n_iterations=200)
    hidden_mean = energy.hidden.mean(energy.hidden_natural(parameters, filled))
    means, _ = mean_views(energy, parameters, hidden_mean)
    np.testing.assert_allclose(filled.views["b"].statistic[missing], means.views["b"].statistic[missing], atol=1e-6)
    np.testing.assert_array_equal(filled.views["b"].statistic[~missing], data.views["b"].statistic[~missing])
    assert np.all(batch.views["b"].statistic[missing] == 0)  # the input is left alone
