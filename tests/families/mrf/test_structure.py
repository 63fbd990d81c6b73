"""Edges learned from data: what is taken, what is refused, and which family whole numbers get."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from harmonium.families import Gaussian, GaussianMRF, Ising, Potts, learn_edges

ROWS = np.random.default_rng(0).integers(0, 2, (200, 2)).repeat(2, axis=1).astype(float)
EDGES = [[0, 1], [2, 3]]


@pytest.mark.parametrize(
    "X",
    [
        scipy.sparse.csr_array(ROWS),
        pd.DataFrame(ROWS).astype("Int64").mask(np.arange(800).reshape(200, 4) < 30),
        np.vstack([ROWS, np.full((50, 4), np.nan)]),
        ROWS.astype(bool),
        ROWS.tolist(),
    ],
    ids=["sparse", "nullable", "missing", "truth", "lists"],
)
def test_data_of_every_kind(X: Any) -> None:
    assert sorted(learn_edges(X).tolist()) == EDGES


def test_no_edges() -> None:
    assert learn_edges(np.ones((5, 3))).shape == learn_edges(ROWS, max_edges=0).shape == (0, 2)


def test_large_whole_numbers_are_no_codes() -> None:
    """A regression for each of their values would take long."""
    counts = np.random.default_rng(0).poisson(100.0, (300, 2)).repeat(2, axis=1)
    assert learn_edges(counts, max_edges=2).tolist() == learn_edges(counts, max_edges=2, family=GaussianMRF()).tolist()
    codes = np.where(ROWS > 0, 10.0**9, 3.0)
    assert sorted(learn_edges(codes, family=Potts()).tolist()) == EDGES


@pytest.mark.parametrize("n_rows", [100, 5000])
def test_few_edges_of_noise(n_rows: int) -> None:
    """Independent numbers, of which 190 pairs may be joined, whatever their units."""
    noise = np.random.default_rng(0).normal(3.0, 100.0, (n_rows, 20))
    assert len(learn_edges(noise)) < 8
    noise[:, 1] += 0.5 * noise[:, 0]
    assert learn_edges(noise, max_edges=1).tolist() == [[0, 1]]


@pytest.mark.parametrize(
    ("X", "settings", "message"),
    [
        (ROWS, {"C": 0}, "learn_edges needs a number C > 0; got 0"),
        (ROWS, {"C": "much"}, "learn_edges needs a number C > 0"),
        (ROWS, {"max_edges": -1}, "learn_edges needs a whole number max_edges >= 0; got -1"),
        (ROWS, {"family": Ising}, "learn_edges needs family to be an instance; got the class Ising"),
        (ROWS, {"family": "Ising"}, "learn_edges needs family to be a Family or None; got 'Ising'"),
        (ROWS, {"family": Gaussian()}, "learn_edges needs a family of columns with edges; got Gaussian()"),
        (ROWS[0], {}, "learn_edges needs a matrix of two columns or more; got shape (4,)"),
        (ROWS[:, :1], {}, "learn_edges needs a matrix of two columns or more; got shape (200, 1)"),
        (np.where(np.eye(4) > 0, np.nan, 1.0), {}, "two rows or more that lack nothing; got 0 among 4"),
        ([[1, 2], [3]], {}, "learn_edges needs a matrix of real numbers; got [[1, 2], [3]]"),
        ([["a", "b"], ["c", "d"]], {}, "learn_edges needs a matrix of real numbers"),
    ],
)
def test_bad_input_gets_one_sentence(X: Any, settings: dict[str, Any], message: str) -> None:
    with pytest.raises((TypeError, ValueError)) as raised:
        learn_edges(X, **settings)
    assert message in str(raised.value)
