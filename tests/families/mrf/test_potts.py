"""Potts views: missing columns against enumeration, starts of biases, edges that carry the class, edges found."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from scipy.special import logsumexp

import harmonium
from harmonium import Categorical, Columns, Harmonium, HarmoniumClassifier, Hinge, Stochastic
from harmonium.families import Ising, Potts, grid_edges, learn_edges

SQUARE, TREE = grid_edges(2, 2), np.array([[0, 1], [1, 2], [1, 3]])
SIZES = np.array([3, 2, 4, 3])


def bound(edges: np.ndarray, sizes: Any, coupling: Literal["agree", "table"] = "agree") -> Potts:
    groups = np.cumsum([0, *sizes])
    n_pairs = len(edges) if coupling == "agree" else int(np.prod(np.asarray(sizes)[edges], axis=1).sum())
    return Potts(edges, coupling).restore(int(groups[-1]) + n_pairs, {"edges": edges, "groups": groups})


def pixels(family: Any, n_columns: int) -> dict[str, Columns]:
    return {"pixels": Columns(slice(n_columns), family)}


def drawn(edges: np.ndarray, n_columns: int, n_rows: int, strength: np.ndarray) -> np.ndarray:
    """Rows of three codes whose edges pull together (or apart) by row, all codes being as frequent."""
    natural = np.zeros((n_rows, 3 * n_columns + len(edges)))
    natural[:, 3 * n_columns :] = strength[:, None]
    family = bound(edges, [3] * n_columns)
    return family.codec.decode(family.sample(natural, np.random.default_rng(0)))


@pytest.mark.parametrize("coupling", ["agree", "table"])
def test_columns_given_others_by_enumeration(coupling: Literal["agree", "table"]) -> None:
    family, rng = bound(SQUARE, SIZES, coupling), np.random.default_rng(0)
    states = np.array(list(itertools.product(*map(range, SIZES)))).astype(float)
    encoded = family.codec.encode(states)
    assert np.array_equal(family.codec.decode(encoded), states)
    pairs = family.n_features_ - SIZES.sum()
    assert np.array_equal(encoded[:, -pairs:].sum(axis=1), [4] * len(states)) or coupling == "agree"
    natural, values = rng.normal(size=(6, family.n_features_)) * 1.5, states[rng.integers(0, len(states), 6)]
    missing = rng.random((6, 4)) < 0.5
    missing[:2] = [[True] * 4, [False] * 4]
    statistic = family.codec.encode(np.where(missing, np.nan, values))
    assert np.array_equal(np.isnan(statistic), family.codec.spread(missing))
    assert np.array_equal(family.codec.missing_sites(statistic), missing)
    given = family.given(np.nan_to_num(statistic), missing)
    mean, log_partition, scores = given.mean(natural), given.log_partition(natural), natural @ encoded.T
    for row, unknown in enumerate(missing):
        if unknown.any():
            fits = (states[:, ~unknown] == values[row, ~unknown]).all(axis=1)
            probability = np.exp(scores[row, fits] - logsumexp(scores[row, fits]))
            fill = family.codec.spread(unknown[None])[0]
            assert np.allclose(mean[row, fill], (probability @ encoded[fits])[fill])
            total = log_partition[row].sum() + np.nan_to_num(statistic[row]) @ natural[row]
            assert np.isclose(total, logsumexp(scores[row, fits]))
    assert np.allclose(family.log_partition(natural).sum(axis=1), logsumexp(scores, axis=1))


@pytest.mark.parametrize("coupling", ["agree", "table"])
@pytest.mark.parametrize("edges", [TREE, SQUARE])
def test_biases_start_at_the_means(edges: np.ndarray, coupling: Literal["agree", "table"]) -> None:
    family = bound(edges, SIZES, coupling)
    natural = np.random.default_rng(1).normal(size=(1, family.n_features_))
    mean = family.mean(natural)[0]
    found = family.mean(family.natural_from_mean(mean)[None])[0]
    assert np.allclose(found, mean, atol=0.003 if edges is TREE else 0.06)


def test_two_codes_are_an_ising_model() -> None:
    """Agreement of two codes is a product and a shift of both columns."""
    ising, potts = Ising(SQUARE).restore(8, {"edges": SQUARE}), bound(SQUARE, [2] * 4)
    natural = np.random.default_rng(0).normal(size=(3, 8))
    same = np.zeros((3, 12))
    same[:, 1:8:2], same[:, 8:] = natural[:, :4], natural[:, 4:] / 2
    for edge, (i, j) in enumerate(SQUARE):
        same[:, [2 * i + 1, 2 * j + 1]] += natural[:, [4 + edge]] / 2
    assert np.allclose(potts.mean(same)[:, 1:8:2], ising.mean(natural)[:, :4])


def test_a_class_that_only_edges_tell() -> None:
    """Every code is as frequent in both classes; in one neighbours agree, in the other they differ."""
    edges, y = grid_edges(2, 5), np.arange(400) % 2
    X = drawn(edges, 10, 400, np.where(y, 1.5, -1.5))
    settings: dict[str, Any] = {
        "head": Hinge(linear_part="linear"),
        "driver": Stochastic(max_iter=10),
        "random_state": 0,
    }
    flat = HarmoniumClassifier(4, views=pixels(Categorical(), 10), **settings).fit(X[:300], y[:300])
    structured = HarmoniumClassifier(4, views=pixels(Potts(edges), 10), **settings).fit(X[:300], y[:300])
    assert structured.score(X[300:], y[300:]) > 0.9
    assert flat.score(X[300:], y[300:]) < structured.score(X[300:], y[300:]) - 0.2


def test_half_of_a_row_from_the_other_half_and_files(tmp_path: Path) -> None:
    edges = grid_edges(2, 3)
    X = drawn(edges, 6, 400, np.full(400, 2.5))
    views = pixels(Potts(edges, coupling="table"), 6)
    model = Harmonium(2, views=views, driver=Stochastic(max_iter=10), random_state=0).fit(X[:300])
    half = np.where(np.arange(6) < 3, X[300:], np.nan)
    filled = model.reconstruct(half)
    assert filled.shape == (100, 18)  # what edges look at is no part of the data
    codes = filled[:, 9:18].reshape(-1, 3, 3).argmax(axis=2)
    assert (codes == X[300:, 3:]).mean() > 0.75
    model.save(tmp_path / "model.safetensors")
    again = harmonium.load(tmp_path / "model.safetensors")
    assert np.array_equal(again.reconstruct(half), filled)
    with pytest.raises(ValueError, match="codes up to 2"):
        model.transform(np.full((1, 6), 5.0))


def test_edges_are_found() -> None:
    edges = grid_edges(2, 3)
    rows = drawn(edges, 6, 1000, np.full(1000, 1.5))
    found = learn_edges(rows, max_edges=len(edges))
    assert sorted(map(tuple, found.tolist())) == sorted(map(tuple, edges.tolist()))
    with pytest.raises(ValueError, match="learn_edges needs 0 or 1"):
        learn_edges(rows, family=Ising())


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"edges": [[0, 4]]}, "two different of the 4 columns"),
        ({"coupling": "pairs"}, "coupling"),
        ({"n_categories": 2}, "column 0 has code 2"),
        ({"n_categories": "three"}, "Potts needs a whole number n_categories"),
    ],
)
def test_bad_settings_get_one_sentence(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Harmonium(2, views=pixels(Potts(**settings), 4)).fit(2 * np.eye(4))
