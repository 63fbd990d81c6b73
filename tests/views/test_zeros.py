"""Dense views that are mostly zero: batches are sparse where that pays, and answers are those of sparse input."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse

from harmonium import Bernoulli, Gaussian, Harmonium, HarmoniumClassifier, Poisson, Stochastic, Views
from harmonium.families import Family, ReplicatedSoftmax
from harmonium.kernels.sparse.matrix import is_sparse
from harmonium.views.sources import zeros
from harmonium.views.sources.zeros import sparse_rows_of

WIDTH = 320


def counts(n_rows: int = 60, share: float = 0.05, dtype: Any = np.float32) -> np.ndarray:
    """Return dense counts, mostly zero."""
    rng = np.random.default_rng(0)
    return ((rng.random((n_rows, WIDTH)) < share) * rng.integers(1, 4, (n_rows, WIDTH))).astype(dtype)


def bound(family: Family, X: Any) -> Family:
    return family.bind(Views({"x": X}).source("x").summary())


# ---- when ------------------------------------------------------------------------------------------------------------
def test_limits() -> None:
    X = np.zeros((100, 300))
    X[:, :30] = 1
    for same in (X, X.astype(bool), X.astype(np.uint8), X.astype(np.float32), np.asfortranarray(X), X[::2]):
        found = sparse_rows_of(same)
        assert found is not None and found.dtype == np.float32
        np.testing.assert_array_equal(found.toarray(), same)
    assert sparse_rows_of(X[:, :299]) is None
    assert sparse_rows_of(scipy.sparse.csr_array(X)) is None
    assert sparse_rows_of(X[:0]) is None
    for place, value in [((99, 31), 1.0), ((99, 0), -1.0), ((99, 0), np.nan)]:
        other = X.copy()
        other[place] = value
        assert sparse_rows_of(other) is None


def test_blocks_are_put_together(monkeypatch: pytest.MonkeyPatch) -> None:
    X = counts(dtype=np.float64)
    monkeypatch.setattr(zeros, "_BLOCK_CELLS", 7 * WIDTH)
    found = sparse_rows_of(X)
    assert found is not None
    np.testing.assert_array_equal(found.toarray(), X)


def test_memory_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    X = counts()
    monkeypatch.setattr(zeros, "_MEMORY", 0)
    assert 0.04 < np.count_nonzero(X) / X.size < 0.06
    assert sparse_rows_of(X * (np.arange(WIDTH) % 2)) is not None
    assert sparse_rows_of(X.astype(np.uint8)) is None


@pytest.mark.parametrize(("family", "sparse"), [(Bernoulli(), True), (Poisson(), True), (Gaussian(), False)])
def test_only_families_that_keep_zeros_have_sparse_batches(family: Family, sparse: bool) -> None:
    X = np.minimum(counts(), 1)
    source = Views({"x": X}).source("x")
    batch = source.batch(np.arange(5), bound(family, X))
    assert is_sparse(batch.statistic) == sparse
    assert source.kind == "dense"


def test_a_missing_cell_keeps_the_view_dense() -> None:
    X = counts()
    X[3, 7] = np.nan
    batch = Views({"x": X}).source("x").batch(np.arange(5), bound(Poisson(), X))
    assert not is_sparse(batch.statistic)
    assert batch.missing is not None and batch.missing[3, 7] and batch.missing.sum() == 1


# ---- what ------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, np.uint8])
@pytest.mark.parametrize("order", ["C", "F"])
def test_batches_are_those_of_sparse_input(dtype: Any, order: Any) -> None:
    X = np.array(counts(dtype=dtype), order=order)
    present = np.arange(len(X)) % 4 != 1
    family = bound(ReplicatedSoftmax(), X)
    items = np.array([5, 1, 0, 58, 5])
    got, expected = (
        Views({"x": matrix}, present={"x": present}).source("x").batch(items, family)
        for matrix in (X, scipy.sparse.csr_array(X))
    )
    assert is_sparse(got.statistic) and got.statistic.dtype == np.float32
    np.testing.assert_array_equal(got.statistic.toarray(), expected.statistic.toarray())
    np.testing.assert_array_equal(got.size, expected.size)
    np.testing.assert_array_equal(got.missing, expected.missing)


@pytest.mark.parametrize("family", [Bernoulli(), Poisson(), ReplicatedSoftmax()])
def test_fit_and_transform_are_those_of_sparse_input(family: Family) -> None:
    X = np.minimum(counts(), 1) if isinstance(family, Bernoulli) else counts()
    sparse = scipy.sparse.csr_array(X)
    models = [
        Harmonium(n_components=3, views=[family], driver=Stochastic(max_iter=3), random_state=0).fit(matrix)
        for matrix in (X, sparse)
    ]
    for name, value in models[0].fitted_.parameters.items():
        np.testing.assert_allclose(value, models[1].fitted_.parameters[name], rtol=1e-4, atol=1e-5)
    expected = models[1].transform(sparse)
    np.testing.assert_allclose(models[0].transform(X), expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(models[1].transform(X), expected, rtol=1e-6)
    # rows that are not mostly zero by themselves are read as dense, with the same answer
    dense = np.where(np.arange(WIDTH) < WIDTH // 2, np.maximum(X[:5], 1), X[:5])
    assert sparse_rows_of(dense) is None
    np.testing.assert_allclose(
        models[1].transform(dense), models[1].transform(scipy.sparse.csr_array(dense)), atol=1e-5
    )


def test_predictions_are_those_of_sparse_input() -> None:
    X = counts(120)
    y = np.arange(120) % 2
    X[y == 1, :4] += 1
    scores = [
        HarmoniumClassifier(n_components=3, driver=Stochastic(max_iter=3), random_state=0)
        .fit(matrix, y)
        .decision_function(matrix)
        for matrix in (X, scipy.sparse.csr_array(X))
    ]
    np.testing.assert_allclose(scores[0], scores[1], rtol=1e-3, atol=1e-3)
