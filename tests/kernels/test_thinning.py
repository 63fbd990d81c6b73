"""Candidates of rare features: every cell as often as looking at all cells would find it, and nothing else."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import poisson

from harmonium.families import Bernoulli, Poisson
from harmonium.families.counts import Counts
from harmonium.kernels.runtime.threads import compute
from harmonium.kernels.sampling.int8_bounds import pack_units
from harmonium.kernels.sampling.thinning import natural_upper_bounds, thinned_candidates
from harmonium.kernels.sparse.csr import csc_from_coo

N_FEATURES, N_UNITS, N_ROWS = 60, 7, 45


def _model(seed: int, gaussian: bool = False) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Weights, bias and units: features from far below the cut to above it, so that both ways are taken."""
    rng = np.random.default_rng(seed)
    weights = rng.normal(scale=0.4, size=(N_FEATURES, N_UNITS)).astype(np.float32)
    bias = np.linspace(-9, 0.5, N_FEATURES).astype(np.float32)
    hidden = rng.normal(size=(N_ROWS, N_UNITS)) if gaussian else rng.random((N_ROWS, N_UNITS)) < 0.3
    return weights, bias, hidden.astype(np.float32)


def test_limits_are_above_all_naturals() -> None:
    weights, bias, hidden = _model(0, gaussian=True)
    middle = (hidden.min(axis=0) + hidden.max(axis=0)) / 2
    reach = (hidden.max(axis=0) - hidden.min(axis=0)) / 2
    limits = np.empty(N_FEATURES, dtype=np.float32)
    natural_upper_bounds(weights, bias, middle, reach, 1, limits)
    every_third = np.empty(N_FEATURES // 3, dtype=np.float32)
    natural_upper_bounds(weights, bias, middle, reach, 3, every_third)
    np.testing.assert_array_equal(every_third, limits[::3])
    np.testing.assert_allclose(limits, bias + weights @ middle + np.abs(weights) @ reach, rtol=1e-5, atol=1e-5)
    assert (limits[:, None] > (bias[:, None] + weights @ hidden.T) - 1e-5).all()


@pytest.mark.parametrize(
    ("gaussian", "n_rows", "shift"), [(False, N_ROWS, 0), (True, N_ROWS, 0), (False, 9, 0), (False, N_ROWS, 4)]
)
def test_candidates_have_the_law_of_numbers_below_a_limit(gaussian: bool, n_rows: int, shift: float) -> None:
    """Every cell is found below its limit as often as a uniform number is, evenly, and with its own natural."""
    weights, bias, hidden = _model(1, gaussian)
    hidden = hidden[:n_rows]  # all cells of few rows are looked at, and all cells where most features are frequent
    bias += np.float32(shift)
    natural = bias[:, None] + weights @ hidden.T
    limit = np.minimum(2.0 * np.exp(natural.astype(np.float64)), 1.0)
    n_draws = 2_000 if shift else 8_000
    found, low = np.zeros((N_FEATURES, n_rows)), np.zeros((N_FEATURES, n_rows))
    rng = np.random.default_rng(2)
    for _ in range(n_draws):
        keys = rng.integers(2**32, size=3, dtype=np.uint32)
        features, rows, uniforms, naturals = thinned_candidates(weights, bias, pack_units(hidden), 2.0, keys, 5)
        below = uniforms <= limit[features, rows]  # a number just below 1 may have been rounded to it
        np.add.at(found, (features[below], rows[below]), 1)
        below = uniforms < limit[features, rows] / 4
        np.add.at(low, (features[below], rows[below]), 1)
    np.testing.assert_allclose(naturals, natural[features, rows], rtol=1e-4, atol=1e-4)
    for count, chance in ((found, limit), (low, limit / 4)):
        uncertain = chance < 1
        deviation = (count - n_draws * chance) / np.sqrt(n_draws * np.maximum(chance * (1 - chance), 1e-12))
        squares = deviation[uncertain] ** 2
        assert abs(squares.mean() - 1) < 5 * np.sqrt(2 / squares.size) + 0.05
        assert np.abs(deviation[uncertain].mean()) < 5 / np.sqrt(squares.size)
        assert (count[~uncertain] == n_draws).all()


@pytest.mark.parametrize("family", [Bernoulli(), Poisson()])
def test_draws_have_the_probabilities_of_the_family(family: Counts) -> None:
    """P(x = k) for k = 1, 2 against closed forms, and pairs of cells that share a feature are not correlated."""
    weights, bias, hidden = _model(3)
    natural = (bias[:, None] + weights @ hidden.T).astype(np.float64)
    n_draws = 5_000
    rng = np.random.default_rng(4)
    drawn = np.zeros((n_draws, N_FEATURES, N_ROWS), dtype=np.int8)
    for i in range(n_draws):
        statistic = family.sample_sparsely(weights, bias, hidden, rng).statistic  # type: ignore[union-attr]
        drawn[i] = statistic.toarray().T
    for k in (1, 2):
        chance = poisson.pmf(k, np.exp(natural)) if isinstance(family, Poisson) else (k == 1) * expit(natural)
        seen = (drawn == k).mean(axis=0)
        deviation = (seen - chance) / np.sqrt(np.maximum(chance * (1 - chance), 1e-9) / n_draws)
        enough = n_draws * chance > 5
        assert (deviation[enough] ** 2).mean() < 1 + 6 * np.sqrt(2 / max(enough.sum(), 1)) if enough.any() else True
        assert not seen[chance == 0].any()
    ones = (drawn[:, 20:40] > 0).sum(axis=2)
    p = 1 - np.exp(-np.exp(natural)) if isinstance(family, Poisson) else expit(natural)
    independent = (p * (1 - p)).sum(axis=1)[20:40]
    np.testing.assert_allclose(ones.var(axis=0) / independent, 1, atol=0.15)
    assert abs((ones.var(axis=0) / independent).mean() - 1) < 0.03


def test_draws_do_not_depend_on_threads() -> None:
    rng = np.random.default_rng(5)
    weights = rng.normal(scale=0.1, size=(20_000, 30)).astype(np.float32)
    bias = rng.uniform(-9, -2, size=20_000).astype(np.float32)
    hidden = (rng.random((100, 30)) < 0.3).astype(np.float32)
    draws = []
    for n_jobs in (1, 2):
        with compute(n_jobs):
            draws.append(Bernoulli().sample_sparsely(weights, bias, hidden, np.random.default_rng(6)))
    one, two = draws
    assert one is not None and two is not None
    np.testing.assert_array_equal(one.statistic.indices, two.statistic.indices)
    np.testing.assert_array_equal(one.statistic.indptr, two.statistic.indptr)
    np.testing.assert_array_equal(one.projection, two.projection)


def test_strange_arguments_are_survived() -> None:
    """No rows; weights that are not numbers, which the driver will refuse; more candidates than expected."""
    weights, bias, hidden = _model(7)
    keys = np.array([1, 2, 3], dtype=np.uint32)
    features, rows, *_ = thinned_candidates(weights, bias, pack_units(hidden[:0]), 1.0, keys, 0)
    assert not len(features) and not len(rows)
    weights[3], weights[50] = np.nan, np.inf
    thinned_candidates(weights, bias, pack_units(hidden), 1.0, keys, 0)
    many = np.zeros((2000, N_UNITS), dtype=np.float32)
    rare = np.zeros((40, N_UNITS), dtype=np.float32), np.full(40, -2.6, dtype=np.float32)
    features, rows, *_ = thinned_candidates(*rare, pack_units(many), 1.0, keys, 0)
    assert abs(len(rows) / (40 * 2000 * np.exp(-2.6)) - 1) < 0.1
    assert (np.diff(features.astype(np.int64) * 2000 + rows) > 0).all()


def test_columns_of_entries_that_are_not_zero() -> None:
    rng = np.random.default_rng(8)
    dense = rng.integers(3, size=(30, 20)).astype(np.float32)
    features, rows = (array.ravel().astype(np.int32) for array in np.indices(dense.shape))
    order = rng.permutation(dense.size)
    start, kept_rows, kept = csc_from_coo(features[order], rows[order], dense.ravel()[order], 30)
    result = np.zeros_like(dense)
    result[np.repeat(np.arange(30), np.diff(start)), kept_rows] = kept
    np.testing.assert_array_equal(result, dense)
    assert (kept != 0).all()
