"""Gaussian Markov random fields: closed forms against dense algebra, missing columns, couplings and edges found."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import multivariate_normal

import harmonium
from harmonium import Columns, Gaussian, Harmonium, Stochastic
from harmonium.families import GaussianMRF, Potts, grid_edges, learn_edges
from harmonium.families.mrf.gaussian_mrf import precision_matrix
from harmonium.families.numerics import gaps

GRID = grid_edges(2, 3)
RNG = np.random.default_rng(0)
EXTRA = {"log_variance": RNG.normal(size=6) * 0.5, "coupling": RNG.normal(size=len(GRID))}
PRECISION = precision_matrix(EXTRA, GRID)
COVARIANCE = np.linalg.inv(PRECISION)


def bound(edges: np.ndarray, n_columns: int) -> GaussianMRF:
    constants = {"edges": edges, "location": np.zeros(n_columns), "scale": np.ones(n_columns)}
    return GaussianMRF(edges).restore(n_columns, constants)


def field(edges: np.ndarray, n_columns: int, n_rows: int, coupling: float) -> np.ndarray:
    extra = {"log_variance": np.zeros(n_columns), "coupling": np.full(len(edges), coupling)}
    return bound(edges, n_columns).sample(np.zeros((n_rows, n_columns)), np.random.default_rng(0), extra)


def pixels(family: Any, n_columns: int) -> dict[str, Columns]:
    return {"pixels": Columns(slice(n_columns), family)}


def test_precisions_have_the_edges_and_are_positive_definite() -> None:
    joined = np.eye(6, dtype=bool)
    joined[tuple(GRID.T)] = joined[tuple(GRID[:, ::-1].T)] = True
    assert np.array_equal(PRECISION != 0, joined)
    strong = {"log_variance": np.full(6, np.log(100.0)), "coupling": RNG.choice([-100.0, 100.0], len(GRID))}
    assert np.linalg.eigvalsh(precision_matrix(strong, GRID))[0] > 0


def test_densities_means_and_draws_in_closed_form() -> None:
    family, natural = bound(GRID, 6), RNG.normal(size=(3, 6))
    mean = natural @ COVARIANCE
    assert np.allclose(family.mean(natural, EXTRA), mean)
    values = RNG.normal(size=(3, 6))
    log_density = (natural * values + family.log_base(values, EXTRA)).sum(axis=1)
    log_density -= family.log_partition(natural, EXTRA).sum(axis=1)
    expected = [multivariate_normal(mean[row], COVARIANCE).logpdf(values[row]) for row in range(3)]
    assert np.allclose(log_density, expected)
    assert np.allclose(family.mean(family.saturated_natural(values, natural, EXTRA), EXTRA), values)
    assert np.allclose(family.statistic_variance(mean[0], EXTRA), np.diag(COVARIANCE))
    drawn = family.sample(np.repeat(natural[:1], 20_000, axis=0), np.random.default_rng(0), EXTRA)
    assert np.allclose(drawn.mean(axis=0), mean[0], atol=0.05)
    assert np.allclose(np.cov(drawn.T), COVARIANCE, atol=0.05)


def test_missing_columns_given_the_observed_ones() -> None:
    natural, values = RNG.normal(size=(5, 6)), RNG.normal(size=(5, 6))
    missing = RNG.random((5, 6)) < 0.5
    missing[:2] = [[True] * 6, [False] * 6]
    given = bound(GRID, 6).given(np.where(missing, 0, values), missing)
    mean, log_partition = given.mean(natural, EXTRA), given.log_partition(natural, EXTRA).sum(axis=1)
    drawn = given.sample(natural, np.random.default_rng(0), EXTRA)
    for row, unknown in enumerate(missing):
        known, own = values[row, ~unknown], np.ix_(unknown, unknown)
        shifted = natural[row, unknown] - PRECISION[np.ix_(unknown, ~unknown)] @ known
        assert np.allclose(mean[row, unknown], np.linalg.solve(PRECISION[own], shifted))
        assert np.array_equal(drawn[row, ~unknown], known)
        total = 0.5 * shifted @ np.linalg.solve(PRECISION[own], shifted) + 0.5 * unknown.sum() * np.log(2 * np.pi)
        assert np.isclose(log_partition[row], total - 0.5 * np.linalg.slogdet(PRECISION[own])[1])


@pytest.mark.parametrize("is_short_of_memory", [False, True])
def test_patterns_are_solved_once_and_together(is_short_of_memory: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if is_short_of_memory:
        monkeypatch.setattr(gaps, "_BLOCK_CELLS", 1)
        monkeypatch.setattr(gaps, "_MOST_KEPT", 0)
    solved, root_of = [], gaps._root

    def counted(precision: np.ndarray, columns: np.ndarray) -> np.ndarray:
        solved.append(len(columns))
        return root_of(precision, columns)

    monkeypatch.setattr(gaps, "_root", counted)
    rng = np.random.default_rng(0)
    missing, values, natural = rng.random((60, 6)) < 0.3, rng.normal(size=(60, 6)), rng.normal(size=(60, 6))
    given = bound(GRID, 6).given(values, missing)
    mean = given.mean(natural, EXTRA)
    for row in range(60):
        alone = bound(GRID, 6).given(values[[row]], missing[[row]]).mean(natural[[row]], EXTRA)
        assert np.allclose(mean[[row]], alone)
    solved.clear()
    total = given.log_partition(natural, EXTRA).sum()
    n_patterns = len(np.unique(missing[missing.any(axis=1)], axis=0))
    assert sum(solved) == (n_patterns if is_short_of_memory else 0)
    other = {**EXTRA, "log_variance": EXTRA["log_variance"] + 1}
    solved.clear()
    assert given.log_partition(natural, other).sum() != total
    assert sum(solved) == n_patterns and (max(solved) > 1) != is_short_of_memory


def test_expected_derivatives_of_what_is_inferred() -> None:
    """Moments of missing columns are those of draws; without any, derivatives are those of the density."""
    family, missing = bound(GRID, 6), np.tile(np.arange(6) < 3, (20_000, 1))
    values, natural = np.tile(RNG.normal(size=6), (20_000, 1)), np.tile(RNG.normal(size=6), (20_000, 1))
    given = family.given(values, missing)
    extra = family.extra_parameters
    found = extra.statistics(given.mean(natural, EXTRA)[:1], EXTRA, missing[:1])
    drawn = extra.statistics(given.sample(natural, np.random.default_rng(0), EXTRA), EXTRA, inferred=False)
    for name, value in EXTRA.items():
        assert np.allclose(found[name][0], drawn[name].mean(axis=0), atol=0.05)
        step = 1e-6 * np.eye(len(value))
        slopes = [
            (family.log_base(values[:1], {**EXTRA, name: value + row}).sum() - family.log_base(values[:1], EXTRA).sum())
            for row in step
        ]
        exact = extra.statistics(values[:1], EXTRA, inferred=False)[name][0]
        assert np.allclose(np.array(slopes) / 1e-6, exact, atol=1e-4)


def test_couplings_fill_in_what_is_missing(tmp_path: Path) -> None:
    edges = grid_edges(4, 4)
    X = field(edges, 16, 600, 3.0) + 10
    driver = Stochastic(max_iter=20, batch_size=50, learning_rate=0.05)
    model = Harmonium(1, views=pixels(GaussianMRF(edges), 16), driver=driver, random_state=0).fit(X[:400])
    flat = Harmonium(1, views=pixels(Gaussian(), 16), driver=driver, random_state=0).fit(X[:400])
    lacks = np.random.default_rng(0).random((200, 16)) < 0.3
    holes = np.where(lacks, np.nan, X[400:])
    errors = [np.square((fitted.reconstruct(holes) - X[400:])[lacks]).mean() for fitted in (model, flat)]
    assert errors[0] < 0.85 * errors[1]
    model.save(tmp_path / "model.safetensors")
    again = harmonium.load(tmp_path / "model.safetensors")
    assert np.array_equal(again.reconstruct(holes), model.reconstruct(holes))


def test_edges_are_found() -> None:
    edges = grid_edges(2, 3)
    rows = field(edges, 6, 1000, 3.0)
    found = learn_edges(rows, max_edges=len(edges))
    assert sorted(map(tuple, found.tolist())) == sorted(map(tuple, edges.tolist()))
    with pytest.raises(ValueError, match="learn_edges needs category codes"):
        learn_edges(rows, family=Potts())


def test_bad_edges_get_one_sentence() -> None:
    X = np.random.default_rng(0).normal(size=(20, 4))
    with pytest.raises(ValueError, match="two different of the 4 columns"):
        Harmonium(2, views=pixels(GaussianMRF([[0, 4]]), 4)).fit(X)
