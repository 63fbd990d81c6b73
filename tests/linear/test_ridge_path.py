"""Ridges of sparse features for all values of C, against scikit-learn's solver of each."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
from sklearn.linear_model import Ridge

from harmonium.linear.ridge_path import RidgePath

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("shape", [(60, 20), (20, 60), (1, 3), (5, 1)])
def test_every_C_has_the_solution_of_scikit_learn(shape: tuple[int, int]) -> None:
    """The order of the values of C does not matter, and weights of rows count."""
    dense = RNG.normal(size=shape) * (RNG.random(shape) < 0.5)
    values, weight = RNG.normal(size=shape[0]) + 2, RNG.uniform(0.5, 2, shape[0])
    path = RidgePath(scipy.sparse.csr_array(dense), values, weight, tolerance=1e-10)
    for C in (1.0, 100.0, 0.01, 4.0):
        weights, bias = path.solve(C)
        model = Ridge(alpha=1 / C, solver="cholesky").fit(dense, values, weight)
        np.testing.assert_allclose(weights, model.coef_, atol=1e-7)
        assert bias == pytest.approx(model.intercept_, abs=1e-7)


def test_another_C_takes_few_passes_over_the_features() -> None:
    features = scipy.sparse.random_array((300, 900), density=0.05, rng=RNG, format="csr")
    values = features @ RNG.normal(size=900)
    path = RidgePath(features, values, np.ones(300))
    path.solve(10.0)
    n_steps = len(path._diagonal)
    path.solve(0.1)
    assert len(path._diagonal) == n_steps  # a stronger ridge has converged before


@pytest.mark.parametrize("values", [np.full(4, 3.0), np.zeros(4)])
def test_numbers_that_never_vary_have_no_weights(values: np.ndarray) -> None:
    weights, bias = RidgePath(scipy.sparse.csr_array(np.eye(4)), values, np.ones(4)).solve(1.0)
    assert not weights.any()
    assert bias == values[0]


def test_features_of_zeros_have_no_weights() -> None:
    weights, bias = RidgePath(scipy.sparse.csr_array((3, 2)), np.array([1.0, 2.0, 6.0]), np.ones(3)).solve(1.0)
    assert not weights.any()
    assert bias == pytest.approx(3.0)
