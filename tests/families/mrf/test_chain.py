"""Chains against brute force over all sequences: kernels, family, engine, recipes."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from scipy.special import logsumexp

from harmonium import LBFGS, Harmonium, Sequences
from harmonium.core.batch import Batch, ViewBatch
from harmonium.energy import Energy
from harmonium.families import Chain
from harmonium.families.numerics.chain_states import chain_states
from harmonium.hidden import BernoulliUnits
from harmonium.inference.gibbs import sample_views
from harmonium.kernels.chains.counts import count_chains
from harmonium.kernels.chains.forward_backward import MAX_NATURAL, chain_log_partition, chain_means
from harmonium.kernels.chains.sampling import draw_chains
from harmonium.kernels.runtime import threads
from harmonium.kernels.sparse.csr import SparseRows
from harmonium.objectives import ExactLikelihood, MeanFieldCD
from harmonium.objectives.problem import Problem
from harmonium.objectives.statistics import Statistics
from tests.cases.models import make_parameters


def counts_of(sequences: np.ndarray) -> np.ndarray:
    """Ones and neighbouring ones of binary sequences, (sequences, 2)."""
    return np.stack([sequences.sum(axis=1), (sequences[:, :-1] * sequences[:, 1:]).sum(axis=1)], axis=1)


def all_sequences(length: int) -> np.ndarray:
    return np.array(list(itertools.product([0, 1], repeat=length)), dtype=float).reshape(2**length, length)


def brute_force(node: float, edge: float, length: int) -> tuple[float, np.ndarray]:
    """Log-partition and expected counts of one chain, by the sum over all sequences."""
    counts = counts_of(all_sequences(length))
    scores = counts @ np.array([node, edge])
    log_partition = logsumexp(scores)
    return float(log_partition), np.exp(scores - log_partition) @ counts


def random_chains(n_features: int, n_items: int, scale: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n_features, n_items)) * scale, rng.normal(size=(n_features, n_items)) * scale


# ---- kernels -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("scale", [1.0, 6.0])
def test_means_and_log_partition_by_brute_force(scale: float, dtype: type) -> None:
    """Lengths 0 to 5 at once, so that items of different lengths stand side by side."""
    node, edge = (part.astype(dtype) for part in random_chains(7, 12, scale))
    lengths = np.arange(12) % 6
    means, totals = chain_means(node, edge, lengths), chain_log_partition(node, edge, lengths)
    exact = dtype is np.float64
    precision = {"rtol": 1e-9, "atol": 1e-30} if exact else {"rtol": 5e-6, "atol": 2e-7}
    for item, length in enumerate(lengths):
        expected = [brute_force(node[i, item], edge[i, item], length) for i in range(7)]
        assert totals[item] == pytest.approx(sum(value for value, _ in expected), rel=1e-12 if exact else 3e-6)
        for i, (_, mean) in enumerate(expected):
            np.testing.assert_allclose(means[[i, 7 + i], item], mean, **precision)


def test_fast_kernels_against_plain_numpy_on_long_chains() -> None:
    node, edge = random_chains(40, 30, 3.0, seed=1)
    node -= 3.0
    lengths = np.random.default_rng(2).integers(0, 200, size=30)
    narrow = node.astype(np.float32), edge.astype(np.float32)
    wide = [part.astype(np.float64) for part in narrow]
    np.testing.assert_allclose(chain_means(*narrow, lengths), chain_means(*wide, lengths), rtol=2e-4, atol=1e-10)
    np.testing.assert_allclose(chain_log_partition(*narrow, lengths), chain_log_partition(*wide, lengths), rtol=1e-5)


def test_extreme_naturals_stay_finite_and_exact() -> None:
    """At the limits, and beyond them, where single precision is left."""
    values = np.array([-1.0, -0.5, 0.5, 1.0])
    for limit in (MAX_NATURAL, 500.0):
        grid = np.array(list(itertools.product(limit * values, limit * values)), dtype=np.float32).T
        node, edge = grid[:1], grid[1:]
        for length in (1, 2, 5):
            lengths = np.full(16, length)
            means, totals = chain_means(node, edge, lengths), chain_log_partition(node, edge, lengths)
            for item in range(16):
                total, mean = brute_force(float(node[0, item]), float(edge[0, item]), length)
                assert totals[item] == pytest.approx(total, rel=1e-5, abs=1e-6)
                np.testing.assert_allclose(means[:, item], mean, rtol=1e-5, atol=2e-7)


def test_results_do_not_depend_on_the_number_of_threads() -> None:
    node, edge = (part.astype(np.float32) for part in random_chains(3000, 40, 2.0))
    lengths = np.arange(40) % 7
    results = []
    for n_jobs in (1, 2, 3):
        with threads.compute(n_jobs):
            drawn = draw_chains(node - 3, edge, lengths, np.random.default_rng(0)).toarray()
            results.append([chain_means(node, edge, lengths), chain_log_partition(node, edge, lengths), drawn])
    for other in results[1:]:
        for one, two in zip(results[0], other, strict=True):
            np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("shift", [-5.0, 0.0, 2.0])
def test_draws_have_the_exact_distribution(shift: float) -> None:
    """Every state of (ones, neighbouring ones) as often as its probability, for rare and for frequent features."""
    rng = np.random.default_rng(3)
    n_items, length = 40_000, 4
    for edge in (-2.0, 0.3, 3.0):
        node = np.full((1, n_items), shift, dtype=np.float32)
        drawn = draw_chains(node, np.full_like(node, edge), np.full(n_items, length), rng).toarray()
        states, log_numbers = chain_states(length)
        scores = states @ np.array([shift, edge]) + log_numbers
        for state, probability in zip(states, np.exp(scores - logsumexp(scores)), strict=True):
            share = (drawn == state).all(axis=1).mean()
            assert abs(share - probability) < 5 * np.sqrt(probability * (1 - probability) / n_items) + 1e-6


def test_features_are_drawn_independently() -> None:
    node = np.full((20, 20_000), -1.0, dtype=np.float32)
    values = draw_chains(node, node + 1.5, np.full(20_000, 3), np.random.default_rng(0)).toarray()
    correlation = np.corrcoef(values[:, :20].T)
    assert np.abs(correlation - np.eye(20)).max() < 5 / np.sqrt(20_000)


def test_counts_against_a_plain_line() -> None:
    rng = np.random.default_rng(0)
    lengths = np.array([3, 0, 1, 5, 2])
    rows = (rng.random((11, 6)) < 0.6).astype(np.float32)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    matrix = scipy.sparse.csr_array(rows)
    counted = SparseRows(*count_chains(matrix.indptr, matrix.indices, offsets, 6), 12).toarray()
    for item in range(5):
        part = rows[offsets[item] : offsets[item + 1]]
        np.testing.assert_array_equal(counted[item, :6], part.sum(axis=0))
        np.testing.assert_array_equal(counted[item, 6:], (part[:-1] * part[1:]).sum(axis=0))


# ---- the family --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("length", [0, 1, 2, 3, 5, 8])
def test_numbers_of_sequences_by_counting_them(length: int) -> None:
    states, log_numbers = chain_states(length)
    found, numbers = np.unique(counts_of(all_sequences(length)), axis=0, return_counts=True)
    np.testing.assert_array_equal(states, found)
    np.testing.assert_allclose(np.exp(log_numbers), numbers, rtol=1e-9)


def test_mode_is_the_most_probable_sequence() -> None:
    family = Chain().restore(2, {"typical_size": np.array(3.0)})
    rng = np.random.default_rng(0)
    for length in (1, 2, 5):
        counts = counts_of(all_sequences(length))
        natural = rng.normal(size=(50, 2)) * 2
        found = family.mode(natural, size=np.full(50, float(length)))
        np.testing.assert_allclose((found * natural).sum(axis=1), (counts @ natural.T).max(axis=0), atol=1e-12)
        assert all((counts == row).all(axis=1).any() for row in found)


def test_naturals_of_means_give_the_means_back() -> None:
    """Up to what the ends of a chain do, which a stationary chain does not have."""
    family = Chain().restore(8, {"typical_size": np.array(40.0)})
    natural = np.array([-3.0, -1.0, 0.0, 0.5, 2.0, 1.0, 0.0, -1.0])
    mean = family.mean(natural[None, :], size=np.array([40.0]))[0]
    again = family.mean(family.natural_from_mean(mean)[None, :], size=np.array([40.0]))[0]
    np.testing.assert_allclose(again, mean, rtol=0.1)


def test_variance_of_statistics() -> None:
    family = Chain().restore(2, {"typical_size": np.array(4.0)})
    mean = np.array([1.3, 0.5])
    natural = family.natural_from_mean(mean)
    counts = counts_of(all_sequences(4))
    scores = counts @ natural
    share = np.exp(scores - logsumexp(scores))
    expected = share @ counts**2 - (share @ counts) ** 2
    np.testing.assert_allclose(family.statistic_variance(mean), expected, rtol=1e-5)


# ---- in the engine -----------------------------------------------------------------------------------------------
def engine(n_features: int = 30, dtype: type = np.float32) -> tuple[Energy, dict[str, np.ndarray]]:
    family = Chain().restore(2 * n_features, {"typical_size": np.array(4.0)})
    energy = Energy({"x": family}, BernoulliUnits().bind(3))
    parameters = make_parameters(energy, seed=3, dtype=dtype)
    parameters["x.bias"][:n_features] = np.linspace(-6, 1, n_features)
    return energy, parameters


def test_sparse_draws_have_the_exact_means_and_their_projection() -> None:
    energy, parameters = engine()
    n_rows = 20_000
    hidden = np.tile(np.array([[1, 0, 1]], dtype=np.float32), (n_rows, 1))
    sizes = {"x": np.tile([2.0, 5.0], n_rows // 2)}
    with threads.compute(2):
        view = sample_views(energy, parameters, hidden, np.random.default_rng(0), sizes, {"x"}).views["x"]
    assert isinstance(view.statistic, SparseRows) and view.projection is not None
    drawn = view.statistic.toarray()
    np.testing.assert_allclose(view.projection, drawn @ parameters["x.weights"], atol=1e-3)
    natural = energy.view_natural(parameters, "x", hidden[:2])
    for number, mean in enumerate(energy.families["x"].mean(natural, size=sizes["x"][:2])):
        part = drawn[number::2]
        error = part.std(axis=0) / np.sqrt(len(part)) + 2e-4
        assert np.all(np.abs(part.mean(axis=0) - mean) < 5 * error)


@pytest.mark.parametrize("objective", [MeanFieldCD(2), ExactLikelihood()])
def test_sparse_and_dense_statistics_agree(objective: Any) -> None:
    """With items of different lengths, each of which has a partition function of its own."""
    energy, parameters = engine(6, np.float64)
    lengths = np.array([1.0, 3.0, 4.0, 3.0])
    hidden = np.random.default_rng(0).integers(0, 2, size=(4, 3)).astype(float)
    dense = sample_views(energy, parameters, hidden, np.random.default_rng(1), {"x": lengths}).views["x"].statistic
    results = []
    for statistic in (dense, SparseRows.from_dense(dense)):
        into = Statistics.zeros_like(parameters)
        batch = Batch({"x": ViewBatch(statistic, lengths)}, 4)
        problem = Problem(energy, {"x": dense.mean(axis=0)})
        objective.accumulate(problem, parameters, batch, into, np.random.default_rng(0), with_loss=True)
        results.append(into)
    assert results[0].loss == pytest.approx(results[1].loss, rel=1e-9)
    for name in parameters:
        np.testing.assert_allclose(results[0].gradient[name], results[1].gradient[name], atol=1e-9)


def test_links_of_a_known_model_are_recovered() -> None:
    """One feature goes on and one does not, with the same frequency: exact likelihood finds how much."""
    rng = np.random.default_rng(0)
    family = Chain().restore(4, {"typical_size": np.array(5.0)})
    truth = np.tile([-1.5, -0.4, 1.2, -0.8], (4000, 1))
    counts = family.sample(truth, rng, size=np.full(4000, 5.0))
    sequences = Sequences.from_counts(counts, np.full(4000, 5), rng)
    model = Harmonium(1, objective=ExactLikelihood(), driver=LBFGS(max_iter=200), random_state=0).fit(sequences)
    hidden = model.transform(sequences).mean(axis=0)
    found = model.fitted_.parameters["view0.bias"] + model.fitted_.parameters["view0.weights"] @ hidden
    np.testing.assert_allclose(found, truth[0], atol=0.2)
