"""Every kernel against a plain NumPy line, on one thread and on two."""

from __future__ import annotations

import threading

import numpy as np
import pytest
import scipy.sparse
from scipy import stats
from scipy.special import expit

from harmonium import Poisson
from harmonium.families import Binomial, NegativeBinomial
from harmonium.kernels.elementwise import logistic, softplus
from harmonium.kernels.optim.multiclass_hinge import add_multiclass_hinge
from harmonium.kernels.optim.updates import AdamStep, adam_update, momentum_update, sgd_update
from harmonium.kernels.reductions import positive_row_sums
from harmonium.kernels.runtime import threads
from harmonium.kernels.sampling.candidates import find_candidates, flag_bytes
from harmonium.kernels.sampling.coupling_from_the_past import couple_from_the_past
from harmonium.kernels.sampling.inversion import bernoulli, invert_survival
from harmonium.kernels.sampling.normal import fill_normal
from harmonium.kernels.sparse import matrix as matrices
from harmonium.kernels.sparse.csr import (
    BAD_INDEX,
    BAD_INDPTR,
    DUPLICATES,
    VALID,
    SparseRows,
    eliminate_zeros,
    gather_rows,
    validate_csr,
)
from harmonium.kernels.sparse.entries import entries
from harmonium.kernels.sparse.products import (
    add_column_sums,
    add_gradients,
    add_outer_products,
    add_statistic_times_weights,
    hidden_times_weights,
)

RNG = np.random.default_rng(0)


def sparse_pair(n_rows: int, n_columns: int, density: float = 0.05) -> tuple[SparseRows, np.ndarray]:
    matrix = scipy.sparse.random_array((n_rows, n_columns), density=density, format="csr", dtype=np.float32, rng=RNG)
    return SparseRows(matrix.indptr, matrix.indices, matrix.data, n_columns), matrix.toarray()


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("shape", [(7, 5, 3), (100, 5000, 200)])
def test_products(n_jobs: int, shape: tuple[int, int, int]) -> None:
    n_rows, n_features, n_units = shape
    sparse, dense = sparse_pair(n_rows, n_features)
    weights = RNG.normal(size=(n_features, n_units)).astype(np.float32)
    hidden = RNG.normal(size=(n_rows, n_units)).astype(np.float32)
    bias = RNG.normal(size=n_features).astype(np.float32)
    with threads.compute(n_jobs):
        for statistic in (sparse, dense):
            out = np.ones((n_rows, n_units), dtype=np.float32)
            add_statistic_times_weights(statistic, weights, out)
            np.testing.assert_allclose(out, 1 + dense @ weights, rtol=1e-3, atol=1e-3)
            outer = np.ones((n_features, n_units), dtype=np.float32)
            add_outer_products([(statistic, hidden), (dense, -0.5 * hidden)], outer)
            np.testing.assert_allclose(outer, 1 + 0.5 * dense.T @ hidden, rtol=1e-3, atol=1e-3)
            totals = np.ones(n_features, dtype=np.float32)
            add_column_sums(statistic, -1.0, totals)
            np.testing.assert_allclose(totals, 1 - dense.sum(axis=0), atol=1e-4)
            outer, totals, active_rows = np.zeros_like(outer), np.zeros_like(totals), np.zeros(n_features, dtype=bool)
            add_gradients([(statistic, hidden, -1.0), (statistic, hidden, 3.0)], outer, totals, active_rows)
            np.testing.assert_allclose(outer, 2 * dense.T @ hidden, rtol=1e-3, atol=1e-3)
            np.testing.assert_allclose(totals, 2 * dense.sum(axis=0), atol=1e-4)
            filled = dense.any(axis=0)
            assert (active_rows | ~filled).all() and (statistic is dense or (active_rows == filled).all())
        natural = hidden_times_weights(hidden, weights, bias)
        np.testing.assert_allclose(natural, hidden @ weights.T + bias, rtol=1e-3, atol=1e-3)


def test_results_do_not_depend_on_the_number_of_threads() -> None:
    weights = RNG.normal(size=(5000, 200)).astype(np.float32)
    hidden = RNG.normal(size=(300, 200)).astype(np.float32)
    results = []
    for n_jobs in (1, 2, 3):
        with threads.compute(n_jobs):
            results.append(hidden_times_weights(hidden, weights, weights[:, 0]))
    assert np.array_equal(results[0], results[1])
    assert np.array_equal(results[0], results[2])


def test_blocks_run_once_each_and_failures_come_back() -> None:
    for n_jobs in (1, 2, 4):
        done = np.zeros(50, dtype=int)

        def task(block: int, done: np.ndarray = done) -> None:
            done[block] += 1

        with threads.compute(n_jobs):
            for _ in range(20):
                threads.run_blocks(task, 50)
        assert (done == 20).all()

    def fails(block: int) -> None:
        if block == 3:
            raise KeyError("block 3")

    with threads.compute(2), pytest.raises(KeyError, match="block 3"):
        threads.run_blocks(fails, 8)


def test_several_threads_may_compute_at_once() -> None:
    weights = RNG.normal(size=(3000, 200)).astype(np.float32)
    hidden = RNG.normal(size=(200, 200)).astype(np.float32)
    expected = hidden @ weights.T
    wrong: list[float] = []

    def repeat() -> None:
        with threads.compute(2):
            for _ in range(20):
                got = hidden_times_weights(hidden, weights, np.zeros(3000, dtype=np.float32))
                if not np.allclose(got, expected, atol=1e-3):
                    wrong.append(float(np.abs(got - expected).max()))

    workers = [threading.Thread(target=repeat) for _ in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not wrong


def test_logistic_and_softplus_against_scipy() -> None:
    x = np.concatenate([np.linspace(-200, 200, 4001), RNG.normal(size=1000) * 5]).astype(np.float32)
    exact = expit(x.astype(np.float64))
    # far out, the rounding of x · log2(e) is what remains: |x| times the float32 epsilon
    np.testing.assert_allclose(logistic(x), exact, rtol=1e-5, atol=1e-26)
    np.testing.assert_allclose(softplus(x), np.logaddexp(x.astype(np.float64), 0), rtol=1e-5, atol=1e-25)
    near = np.abs(x) < 10
    np.testing.assert_allclose(logistic(x)[near], exact[near], rtol=1e-6)
    small = logistic(np.full(1000, -500, dtype=np.float32))
    assert (small >= np.finfo(np.float32).tiny).all()  # no denormal numbers
    fortran = np.asfortranarray(x[:4000].reshape(40, 100))
    assert logistic(fortran).flags.f_contiguous
    np.testing.assert_array_equal(logistic(fortran), logistic(np.ascontiguousarray(fortran)))


def test_positive_sums() -> None:
    matrix = RNG.normal(size=(30, 7))
    np.testing.assert_allclose(positive_row_sums(matrix), np.maximum(matrix, 0).sum(axis=1))


def test_sparse_rows_and_columns() -> None:
    sparse, dense = sparse_pair(20, 30, 0.2)
    np.testing.assert_array_equal(sparse.toarray(), dense)
    for wide in (dense, dense.astype(np.float64), np.asfortranarray(dense)):
        found, expected = SparseRows.from_dense(wide), scipy.sparse.csr_array(wide)
        for name in ("indptr", "indices", "data"):
            np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
    np.testing.assert_array_equal(sparse.T.toarray(), dense.T)
    columns = sparse.T
    again = SparseRows.from_columns(columns.indptr, columns.indices, columns.data, 20)
    np.testing.assert_array_equal(again.toarray(), dense)
    assert again.shape == sparse.shape and again.nnz == sparse.nnz
    rows = np.array([3, -1, 3, 19])
    got = SparseRows(*gather_rows(sparse.indptr, sparse.indices, sparse.data, rows), 30).toarray()
    np.testing.assert_array_equal(got, np.where((rows < 0)[:, None], 0, dense[rows]))
    assert validate_csr(sparse.indptr, sparse.indices, 30) == VALID
    assert validate_csr(np.array([0, 2]), np.array([4, 4]), 30) == DUPLICATES
    assert validate_csr(np.array([0, 2]), np.array([4, 30]), 30) == BAD_INDEX
    assert validate_csr(np.array([0, 2]), np.array([-1, 3]), 30) == BAD_INDEX
    for starts in ([0, 3], [1, 2], [0, 2, 1], [0, -1, 2]):
        assert validate_csr(np.array(starts), np.array([3, 4]), 30) == BAD_INDPTR


def test_candidates_are_the_cells_that_may_be_non_zero() -> None:
    natural = (RNG.normal(size=(50, 37)) + np.linspace(-8, 2, 50)[:, None]).astype(np.float32).ravel()
    flags = np.empty(flag_bytes(natural.size), dtype=np.uint8)
    cells, uniform = find_candidates(natural, 2.0, np.uint32(9), np.uint32(1000), flags)
    all_numbers = find_candidates(np.zeros_like(natural), 1.0, np.uint32(9), np.uint32(1000), flags)[1]
    np.testing.assert_array_equal(uniform, all_numbers[cells])
    limit = 2.0 * np.exp(natural.astype(np.float64))
    assert (np.diff(cells) > 0).all()
    assert set(np.flatnonzero(all_numbers < limit)) <= set(cells)
    assert np.all(uniform <= np.minimum(limit[cells] * 1.07, 1.0))
    values = np.where(uniform < 0.01, 0, 1).astype(np.float32)
    start, kept_rows, kept_values = eliminate_zeros(np.array([0, len(cells)]), cells, values)
    assert start[-1] == len(kept_rows) == int(values.sum()) and (kept_values == 1).all()


def test_uniform_numbers_of_the_cells_are_uniform_and_unrelated() -> None:
    """With naturals of 0 every cell is a candidate, so all its numbers can be looked at."""
    natural = np.zeros(400 * 500, dtype=np.float32)
    flags = np.empty(flag_bytes(natural.size), dtype=np.uint8)
    draws = [
        find_candidates(natural, 1.0, np.uint32(key), np.uint32(first), flags)[1].astype(np.float64)
        for key, first in ((1, 0), (2, 0), (1, 400 * 500))
    ]
    n = natural.size
    for numbers in draws:
        assert len(numbers) == n
        histogram = np.histogram(numbers, bins=100, range=(0, 1))[0]
        chi_square = ((histogram - n / 100) ** 2 / (n / 100)).sum()
        assert 50 < chi_square < 160  # 99 degrees of freedom
        assert abs(np.corrcoef(numbers[:-1], numbers[1:])[0, 1]) < 5 / np.sqrt(n)
        assert abs(np.corrcoef(numbers[:-500], numbers[500:])[0, 1]) < 5 / np.sqrt(n)
    assert abs(np.corrcoef(draws[0], draws[1])[0, 1]) < 5 / np.sqrt(n)
    assert abs(np.corrcoef(draws[0], draws[2])[0, 1]) < 5 / np.sqrt(n)


def test_coins_show_whether_numbers_are_below_the_logistic_function() -> None:
    uniform = RNG.random(2000).astype(np.float32)
    natural = RNG.normal(scale=4.0, size=2000).astype(np.float32)
    near = np.abs(uniform - expit(natural)) < 1e-6
    np.testing.assert_array_equal(bernoulli(uniform, natural)[~near], (uniform < expit(natural))[~near])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_violations_are_those_of_the_hinge_of_crammer_and_singer(dtype: type) -> None:
    scores = RNG.normal(size=(30, 7)).astype(dtype)
    targets = np.stack([RNG.integers(-1, 3, size=30), RNG.integers(-1, 4, size=30)], axis=1)
    cost = RNG.random((4, 4)) * (1 - np.eye(4))
    losses, by_score = np.ones(30), np.zeros_like(scores)
    add_multiclass_hinge(scores, targets, 1, 3, cost, losses, by_score)
    for row, truth in enumerate(targets[:, 1]):
        raised = scores[row, 3:] + cost[truth]
        expected = np.eye(7)[3 + raised.argmax()] - np.eye(7)[3 + truth] if truth >= 0 else np.zeros(7)
        np.testing.assert_array_equal(by_score[row], expected)
        loss = raised.max() - scores[row, 3 + truth] if truth >= 0 else 0.0
        assert losses[row] == pytest.approx(1 + loss, rel=1e-6)


def test_slices_of_rows_are_those_of_the_dense_matrix() -> None:
    dense = RNG.poisson(0.3, size=(20, 9)).astype(np.float32)
    for matrix in (dense, SparseRows.from_dense(dense)):
        part = matrices.slice_rows(matrix, 4, 11)
        np.testing.assert_array_equal(matrices.to_dense(part), dense[4:11])


def test_updates_are_one_line_of_numpy_each() -> None:
    shape = (40, 30)
    value, gradient = RNG.normal(size=shape).astype(np.float32), RNG.normal(size=shape).astype(np.float32)
    velocity = RNG.normal(size=shape).astype(np.float32)
    first, second = RNG.normal(size=shape).astype(np.float32), RNG.random(shape).astype(np.float32)

    got, used = value.copy(), gradient.copy()
    sgd_update(got, used, 0.1, 0.01)
    np.testing.assert_allclose(got, value - 0.1 * gradient - 0.01 * value, rtol=1e-5, atol=1e-6)
    assert (used == 0).all()

    got, used, moved = value.copy(), gradient.copy(), velocity.copy()
    momentum_update(got, used, moved, 0.1, 0.9, 0.01)
    expected = 0.9 * velocity - 0.1 * gradient
    np.testing.assert_allclose(moved, expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(got, value + expected - 0.01 * value, rtol=1e-5, atol=1e-6)
    assert (used == 0).all()

    got, used, m, v = value.copy(), gradient.copy(), first.copy(), second.copy()
    adam_update(got, used, m, v, AdamStep(scale=0.5, step=0.1, betas=(0.9, 0.99), epsilon=1e-8, decay=0.01))
    g = 0.5 * gradient
    expected_m, expected_v = 0.9 * first + 0.1 * g, 0.99 * second + 0.01 * g**2
    np.testing.assert_allclose(m, expected_m, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(v, expected_v, rtol=1e-4, atol=1e-6)
    step = 0.1 * expected_m / (np.sqrt(expected_v) + 1e-8)
    np.testing.assert_allclose(got, value - step - 0.01 * value, rtol=1e-4, atol=1e-5)
    assert (used == 0).all()


def test_faded_moments_are_zero_not_denormal() -> None:
    value = np.zeros(10, dtype=np.float32)
    velocity = np.full(10, 1e-24, dtype=np.float32)
    for _ in range(200):
        momentum_update(value, np.zeros(10, dtype=np.float32), velocity, 0.1, 0.5, 0.0)
    assert (velocity == 0).all()


def test_number_of_threads() -> None:
    assert threads.effective_n_jobs(1) == 1
    assert threads.effective_n_jobs(-1) >= 1
    assert threads.effective_n_jobs(None) >= 1
    with pytest.raises(ValueError, match="n_jobs"):
        threads.effective_n_jobs(0)


def test_coupling_from_the_past_is_gibbs_sampling_from_both_ends() -> None:
    rng = np.random.default_rng(0)  # whichever tests have run before
    n_sites, n_samples = 4, 100
    couplings = rng.uniform(0, 1.2, size=(n_sites, n_sites))
    couplings = np.triu(couplings, 1) + np.triu(couplings, 1).T
    bias = rng.normal(size=n_sites) - 1
    keys = rng.integers(2**64, size=n_samples, dtype=np.uint64)
    states, sweeps = np.empty((n_samples, n_sites), dtype=bool), np.empty(n_samples, dtype=np.int64)
    couple_from_the_past(bias, couplings, keys, 4096, states, sweeps)
    assert set(sweeps) <= {2**power for power in range(13)} and len(set(sweeps)) > 2

    def uniform(key: int, counter: int) -> float:  # SplitMix64 with whole numbers of any size
        x = (key + counter * 0x9E3779B97F4A7C15) % 2**64
        x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        x = (x ^ x >> 27) * 0x94D049BB133111EB % 2**64
        return (((x ^ x >> 31) >> 12) + 0.5) / 2**52

    def run(start: float, key: int, n_sweeps: int) -> np.ndarray:
        x = np.full(n_sites, start)
        for ago in range(n_sweeps, 0, -1):
            for site in range(n_sites):
                x[site] = uniform(key, ago * n_sites + site) < expit(bias[site] + couplings[site] @ x)
        return x

    for key, state, n_sweeps in zip(keys.tolist(), states, sweeps.tolist(), strict=True):
        np.testing.assert_array_equal(run(0.0, key, n_sweeps), state)
        np.testing.assert_array_equal(run(1.0, key, n_sweeps), state)
        np.testing.assert_array_equal(run(1.0, key, 4 * n_sweeps), state)
        if n_sweeps > 1:
            assert not np.array_equal(run(0.0, key, n_sweeps // 2), run(1.0, key, n_sweeps // 2))
    couple_from_the_past(bias - 75, couplings + 50 * (couplings > 0), keys, 8, states, sweeps)
    assert (sweeps == 0).all()  # all zeros and all ones are two deep modes


def test_normal_numbers_are_box_and_mullers_and_normal() -> None:
    numbers = np.empty(200_000, dtype=np.float32)
    fill_normal(numbers, np.uint32(5), 40)
    radius, angle = np.hypot(*numbers.reshape(2, -1)), np.arctan2(*numbers.reshape(2, -1)[::-1])
    for uniform in (np.exp(-np.square(radius.astype(float)) / 2), angle / (2 * np.pi) + 0.5):
        assert stats.kstest(uniform, "uniform").pvalue > 1e-3
    assert stats.kstest(numbers, "norm").pvalue > 1e-3
    again = np.empty(1000, dtype=np.float32)
    fill_normal(again, np.uint32(5), 40)
    np.testing.assert_array_equal(again[:500], numbers[:500])  # numbers belong to their cells


def test_entries_of_sparse_and_dense_matrices_answer_alike() -> None:
    full = np.where(RNG.random((6, 4)) < 0.4, RNG.normal(size=(6, 4)), 0.0)
    full[:, 0] = [1.0, -2.0, 3.0, 0.5, 0.25, 7.0]  # a column without zeros
    centre, mask = RNG.normal(size=4), RNG.random((6, 4)) < 0.5
    sparse = SparseRows.from_dense(full)
    for matrix in (full, sparse):
        cells = entries(matrix)
        terms = cells.values * cells.at(centre) * np.where(cells.at(mask), 2.0, 1.0)
        expected = full * centre * np.where(mask, 2.0, 1.0)
        np.testing.assert_allclose(cells.row_sums(terms), expected.sum(axis=1), atol=1e-12)
        np.testing.assert_allclose(cells.column_sums(terms), expected.sum(axis=0), atol=1e-12)
        moments = [np.full(4, 6), (full - centre).sum(axis=0), ((full - centre) ** 2).sum(axis=0)]
        np.testing.assert_allclose(cells.moments(centre), moments, atol=1e-12)
        np.testing.assert_array_equal(cells.extremes(), [full.min(axis=0), full.max(axis=0)])
        assert cells.mean_l1_distance(centre) == pytest.approx(np.abs(full - centre).sum(axis=1).mean())
        nothing = np.zeros((6, 4))  # rows that are missing hold nothing
        partly, gone = np.where(np.arange(6)[:, None] < 2, nothing, full), np.tile(np.arange(6)[:, None] < 2, 4)
        other = entries(SparseRows.from_dense(partly) if matrix is sparse else partly)
        expected_distance = np.abs(partly - centre)[2:].sum() / 6
        assert other.mean_l1_distance(centre, gone) == pytest.approx(expected_distance)
        assert cells.mean_squared_distance(centre) == pytest.approx(np.square(full - centre).sum(axis=1).mean())
        row, column, value = cells.first_where(cells.values < 0)
        assert (row, column) == tuple(np.argwhere(full < 0)[0]) and value == full[row, column]
        np.testing.assert_array_equal(matrices.to_dense(matrix), full)
        np.testing.assert_array_equal(matrices.dense_row(matrix, 2), full[2])
        taken = matrices.to_dense(matrices.take_rows(matrix, np.array([4, 1])))
        np.testing.assert_allclose(taken, full[[4, 1]], rtol=1e-6)
        np.testing.assert_array_equal(matrices.to_dense(matrices.upcast_dense(matrix)), full)
        assert matrices.is_sparse(matrix) == (matrix is sparse)


def test_cells_that_are_not_stored_are_found() -> None:
    full = np.array([[1.0, 2.0, 3.0], [4.0, 0.0, 5.0], [0.0, 6.0, 7.0]])
    assert entries(SparseRows.from_dense(full)).first_implicit_zero() == (1, 1, 0.0)
    assert entries(SparseRows.from_dense(full[:1])).first_implicit_zero() is None
    assert entries(full).first_implicit_zero() is None


def test_rows_are_added_to_dense_matrices_and_go_beside_sparse_ones() -> None:
    full = np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 2.0]])
    places, values, empty = np.array([1, 2]), np.array([[0.5, 0.5], [0.0, 0.0]]), np.array([True, False])
    dense, nothing = matrices.add_to_rows(full, places, values, empty)
    np.testing.assert_array_equal(dense, [[1.0, 0.0], [0.5, 0.5], [0.0, 2.0]])
    assert nothing is None and full[1].sum() == 0
    same, beside = matrices.add_to_rows(SparseRows.from_dense(full), places, values, empty)
    np.testing.assert_array_equal(matrices.to_dense(same), full)
    assert beside is not None and beside[0].tolist() == [1] and beside[1].tolist() == [[0.5, 0.5]]


@pytest.mark.parametrize("largest", [1.0, 30.0, 49.0, 400.0])
def test_inversion_of_survival_functions(largest: float) -> None:
    rng = np.random.default_rng(0)
    # not where sums in double precision cannot tell on which side of a step a number is
    uniform = np.r_[rng.random(2000), 1e-6, 1 - 1e-6].astype(np.float32)
    rate = rng.uniform(0, largest, 2002)
    found = invert_survival(uniform, np.exp(-rate), rate, 0.0, 2.0)
    np.testing.assert_array_equal(found, stats.poisson.isf(uniform, rate))
    r = 12.3
    p = rate / (rate + r)
    found = invert_survival(uniform, np.exp(r * np.log1p(-p)), p, 1.0, r)
    np.testing.assert_array_equal(found, stats.nbinom.isf(uniform, r, 1 - p))
    n, odds = int(largest) + 5, rng.random(2002)
    found = invert_survival(uniform, np.exp(-n * np.log1p(odds)), odds, -1.0, n + 2.0)
    np.testing.assert_array_equal(found, stats.binom.isf(uniform, n, odds / (1 + odds)))


@pytest.mark.parametrize("mean", [0.5, 20.0, 40.0, 300.0, 3000.0])
def test_sparse_draws_of_counts_have_the_mean_of_their_distribution(mean: float) -> None:
    families = (Poisson(), Binomial(4000), NegativeBinomial(10.0), NegativeBinomial(500.0))
    for family in (one.restore(1, {}) for one in families):
        natural = family.natural_from_mean(np.array([mean])).astype(np.float32)
        drawn = family.sample_sparsely(np.zeros((1, 1), np.float32), natural, np.zeros((4000, 1), np.float32), RNG)
        assert drawn is not None
        values = matrices.to_dense(drawn.statistic)
        deviation = float(np.sqrt(family.distribution().variance(natural.astype(np.float64))[0]))
        assert abs(values.mean() - mean) < 5 * deviation / np.sqrt(4000), family
