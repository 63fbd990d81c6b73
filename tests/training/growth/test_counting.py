"""As many topics as there are in the data, where nobody names a number."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse

from harmonium import Harmonium, HarmoniumClassifier, HarmoniumRegressor, Hinge, Stochastic
from harmonium.hidden import BernoulliUnits
from harmonium.training.growth.counting import n_standing_out

FEW = Stochastic(max_iter=1)


def documents(n_topics: int, seed: int, alone: bool = False, uneven: bool = False) -> tuple[Any, np.ndarray]:
    """2,000 sparse documents of 600 words: some topics each, or only one, which make 30 words likely."""
    rng = np.random.default_rng(seed)
    has = rng.random((2000, max(n_topics, 1))) < min(0.3, 1.5 / max(n_topics, 1))
    if alone:
        has = np.eye(n_topics, dtype=bool)[rng.integers(n_topics, size=2000)]
    log_absent = np.full((2000, 600), np.log(1 - 0.03))
    for topic in range(n_topics):
        words = rng.choice(600, 30, replace=False)
        log_absent[:, words] += np.where(has[:, topic], np.log(1 - 0.4), 0)[:, None]
    if uneven:  # short documents and long ones
        log_absent *= np.exp(rng.normal(0, 0.5, size=(2000, 1)))
    return scipy.sparse.csr_array((rng.random((2000, 600)) < -np.expm1(log_absent)).astype(float)), has


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("n_topics", [5, 12])
@pytest.mark.parametrize("kind", [{}, {"alone": True}, {"uneven": True}], ids=["any", "one", "uneven lengths"])
def test_topics_of_documents(n_topics: int, kind: dict[str, bool], seed: int) -> None:
    X, _ = documents(n_topics, seed, **kind)
    assert abs(Harmonium(driver=FEW, random_state=seed).fit(X).n_components_ - n_topics) <= 0.3 * n_topics


@pytest.mark.parametrize("n_topics", [5, 12])
def test_beside_dimensions(n_topics: int) -> None:
    X, has = documents(n_topics, 3)
    model = HarmoniumClassifier(driver=Stochastic(max_iter=3), random_state=0).fit(X, has[:, 0])
    assert abs(model.fitted_.n_topics - n_topics) <= 0.3 * n_topics
    assert model.fitted_.n_units == model.fitted_.n_topics + 30


def test_dense_and_sparse_rows_have_as_many() -> None:
    X, _ = documents(5, 4)
    numbers = [Harmonium(driver=FEW, random_state=0).fit(one).n_components_ for one in (X, X.toarray())]
    assert numbers[0] == numbers[1]


@pytest.mark.parametrize("seed", range(3))
def test_clusters_of_numbers(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = 3 * rng.normal(size=(3, 10))[rng.integers(3, size=300)] + rng.normal(size=(300, 10))
    assert Harmonium(driver=FEW, random_state=0).fit(X).n_components_ == 3
    X[rng.random(X.shape) < 0.05] = np.nan
    assert Harmonium(driver=FEW, random_state=0).fit(X).n_components_ == 3


@pytest.mark.parametrize("seed", range(2))
def test_noise_has_few(seed: int) -> None:
    rng = np.random.default_rng(seed)
    views = {"a": rng.normal(size=(400, 30)), "b": rng.normal(size=(400, 30))}
    views["b"][:200] = np.nan
    for X in (documents(0, seed)[0], documents(0, seed, uneven=True)[0], rng.standard_t(3, size=(400, 60)), views):
        assert Harmonium(driver=FEW, random_state=0).fit(X).n_components_ <= 3


def test_numbers_that_are_stated_stay() -> None:
    X, has = documents(5, 0)
    assert Harmonium(9, driver=FEW).fit(X).n_components_ == 9
    assert Harmonium(hidden=BernoulliUnits(9), driver=FEW).fit(X).n_components_ == 9
    # units that predict are no topics to count: 0.4 times the root of 2,000
    units = HarmoniumClassifier(hidden="bernoulli", head=Hinge(1.0), driver=FEW, validation_fraction=0)
    assert units.fit(X, has[:, 0]).n_components_ == 18


@pytest.mark.parametrize("n_features", [40, 500])
def test_false_alarms_are_rare(n_features: int) -> None:
    rng = np.random.default_rng(5)
    tables = [rng.normal(size=(300, n_features)).astype(np.float32) for _ in range(20)]
    assert sum(n_standing_out(table - table.mean(axis=0), 10) > 0 for table in tables) <= 4
    assert n_standing_out(np.zeros((5, 3), dtype=np.float32), 2) == 0


@pytest.mark.parametrize("kind", [Harmonium, HarmoniumClassifier, HarmoniumRegressor])
def test_sparse_rows_whose_columns_are_in_no_order_stay_as_they_are(kind: type[Harmonium]) -> None:
    rng = np.random.default_rng(0)
    X = scipy.sparse.random_array((120, 150), density=0.1, format="csr", rng=rng, dtype=np.float32)
    X.data[:] = rng.integers(1, 5, X.nnz)
    for row in range(120):
        part = slice(X.indptr[row], X.indptr[row + 1])
        X.indices[part] = X.indices[part][::-1].copy()
    X.has_sorted_indices = False
    data, indices = X.data.copy(), X.indices.copy()
    kind(random_state=0).fit(X, rng.integers(2, size=120))
    np.testing.assert_array_equal(X.data, data)
    np.testing.assert_array_equal(X.indices, indices)
