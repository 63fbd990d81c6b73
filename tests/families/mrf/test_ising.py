"""Ising views: missing columns against enumeration, starts of biases, edges that carry the class, edges found."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import logsumexp

import harmonium
from harmonium import Bernoulli, Columns, Harmonium, HarmoniumClassifier, Hinge, Stochastic
from harmonium.families import Ising, grid_edges, learn_edges

SQUARE = grid_edges(2, 2)


def bound(edges: np.ndarray, n_columns: int) -> Ising:
    return Ising(edges).restore(n_columns + len(edges), {"edges": edges})


def pixels(family: Any, n_columns: int) -> dict[str, Columns]:
    return {"pixels": Columns(slice(n_columns), family)}


def drawn(edges: np.ndarray, n_columns: int, n_rows: int, strength: np.ndarray, seed: int = 0) -> np.ndarray:
    """Rows whose edges pull together (or apart) by row, with columns that are ones half of the time."""
    natural = np.repeat(strength[:, None], n_columns + len(edges), axis=1)
    natural[:, :n_columns] *= -np.bincount(edges.ravel(), minlength=n_columns) / 2
    family = bound(edges, n_columns)
    return family.codec.decode(family.sample(natural, np.random.default_rng(seed)))


def test_missing_columns_given_the_observed_ones() -> None:
    family, rng = bound(SQUARE, 4), np.random.default_rng(0)
    natural, values = rng.normal(size=(6, 8)) * 1.5, rng.integers(0, 2, (6, 4)).astype(float)
    missing = rng.random((6, 4)) < 0.5
    missing[:2] = [[True] * 4, [False] * 4]
    statistic = family.codec.encode(np.where(missing, np.nan, values))
    assert np.array_equal(np.isnan(statistic), family.codec.spread(missing))
    given = family.given(np.nan_to_num(statistic), missing)
    mean, log_partition = given.mean(natural), given.log_partition(natural)
    states = np.array(list(itertools.product([0.0, 1.0], repeat=4)))
    scores = natural @ family.codec.encode(states).T
    for row, unknown in enumerate(missing):
        if unknown.any():
            fits = (states[:, ~unknown] == values[row, ~unknown]).all(axis=1)
            probability = np.exp(scores[row, fits] - logsumexp(scores[row, fits]))
            fill = family.codec.spread(unknown[None])[0]
            assert np.allclose(mean[row, fill], (probability @ family.codec.encode(states[fits]))[fill])
            observed = np.nan_to_num(statistic[row]) @ natural[row]
            total = np.where(unknown, log_partition[row], 0).sum() + observed
            assert np.isclose(total, logsumexp(scores[row, fits]))


@pytest.mark.parametrize(("edges", "n_columns"), [(np.array([[0, 1], [1, 2], [1, 3]]), 4), (SQUARE, 4)])
def test_biases_start_at_the_means(edges: np.ndarray, n_columns: int) -> None:
    family = bound(edges, n_columns)
    rows = drawn(edges, n_columns, 500, np.full(500, 1.0))
    mean = family.codec.encode(rows).mean(axis=0)
    found = family.mean(family.natural_from_mean(mean)[None])[0]
    assert np.allclose(found, mean, atol=0.005 if len(edges) < n_columns else 0.1)


def test_a_class_that_only_edges_tell() -> None:
    """Every column is a coin in both classes; in one neighbours agree, in the other they differ."""
    y = np.arange(600) % 2
    X = drawn(grid_edges(3, 3), 9, 600, np.where(y, 2.0, -2.0))
    settings: dict[str, Any] = {
        "head": Hinge(linear_part="linear"),
        "driver": Stochastic(max_iter=20),
        "random_state": 0,
    }
    flat = HarmoniumClassifier(4, views=pixels(Bernoulli(), 9), **settings).fit(X[:400], y[:400])
    structured = HarmoniumClassifier(4, views=pixels(Ising(grid_edges(3, 3)), 9), **settings).fit(X[:400], y[:400])
    assert structured.score(X[400:], y[400:]) > 0.9
    assert flat.score(X[400:], y[400:]) < structured.score(X[400:], y[400:]) - 0.2


def test_half_of_a_row_from_the_other_half_and_files(tmp_path: Path) -> None:
    edges = grid_edges(3, 4)
    X = drawn(edges, 12, 400, np.full(400, 2.5))
    model = Harmonium(2, views=pixels(Ising(edges), 12), driver=Stochastic(max_iter=20), random_state=0).fit(X[:300])
    half = X[300:].copy()
    half[:, 6:] = np.nan
    filled = model.reconstruct(half)[:, 6:]
    assert ((filled > 0.5) == X[300:, 6:]).mean() > 0.75
    model.save(tmp_path / "model.safetensors")
    again = harmonium.load(tmp_path / "model.safetensors")
    assert np.array_equal(again.reconstruct(half)[:, 6:], filled)
    assert np.array_equal(again.transform(half), model.transform(half))


def test_edges_are_found() -> None:
    edges = grid_edges(3, 3)
    rows = drawn(edges, 9, 2000, np.full(2000, 1.5))
    found = learn_edges(rows, max_edges=len(edges))
    assert sorted(map(tuple, found.tolist())) == sorted(map(tuple, edges.tolist()))


def test_wide_graphs_are_approximated() -> None:
    edges = np.array(list(itertools.combinations(range(14), 2)))
    assert bound(SQUARE, 4).is_exact and not bound(edges, 14).is_exact
    X = np.random.default_rng(0).integers(0, 2, (60, 14))
    model = Harmonium(2, views=pixels(Ising(edges), 14), driver=Stochastic(max_iter=2), random_state=0).fit(X)
    assert np.isfinite(model.transform(X)).all()


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ([[0, 4]], "two different of the 4 columns; got \\[0, 4\\]"),
        ([[1, 1]], "two different"),
        ([[0, 1], [1, 0]], "given once"),
        ("grid", "'chain' or an array"),
        ([[0.5, 1.0]], "'chain' or an array"),
        ([[0, 1], [2]], "'chain' or an array"),
    ],
)
def test_bad_edges_get_one_sentence(edges: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Harmonium(2, views=pixels(Ising(edges), 4)).fit(np.eye(4))
