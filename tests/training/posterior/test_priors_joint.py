"""A prior with a full covariance: its density, its update, its steps, and data of a known prior."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from scipy.stats import multivariate_normal

from harmonium import BEFH, Gaussian, Langevin, load
from harmonium.training import JointEmpiricalBayes, Metropolis
from harmonium.training.posterior.normals import JointNormal, Normal
from tests.cases.posterior import QUICK

MEAN = np.array([0.3, -0.2, 0.0])
COVARIANCE = np.array([[0.5, 0.3, -0.1], [0.3, 0.4, 0.0], [-0.1, 0.0, 0.2]])


def known_view(n_rows: int = 1500, n_units: int = 8) -> tuple[np.ndarray, np.ndarray]:
    """Real numbers of a model whose columns of weights are correlated, and the covariance of these columns."""
    rng = np.random.default_rng(0)
    correlation = 0.3 * np.eye(4) + 0.7 * np.outer([1, 1, -1, -1], [1, 1, -1, -1])
    weights = rng.multivariate_normal(np.zeros(4), 0.025 * correlation, size=n_units).T
    # both layers have conditional variance 1, so that x has the covariance (I - WWᵀ)⁻¹
    return rng.multivariate_normal(np.zeros(4), np.linalg.inv(np.eye(4) - weights @ weights.T), n_rows), weights


def test_density_and_slope() -> None:
    weights = np.random.default_rng(0).normal(size=(2, 3, 4))
    joint = JointNormal.of(MEAN, COVARIANCE)
    expected = [multivariate_normal(MEAN, COVARIANCE).logpdf(one.T).sum() for one in weights]
    assert joint.log_density(weights[0]) - joint.log_density(weights[1]) == pytest.approx(
        expected[0] - expected[1], rel=1e-4
    )
    for prior in (joint, Normal(joint.mean, joint.variance)):
        found = approx_fprime(weights[0].ravel(), lambda flat, of=prior: of.log_density(flat.reshape(3, 4)), 1e-6)
        np.testing.assert_allclose(prior.slope(weights[0]).ravel(), found, rtol=1e-3, atol=1e-3)


def test_steps_without_data_keep_the_prior_whatever_their_size() -> None:
    joint = JointNormal.of(MEAN, COVARIANCE)
    rng = np.random.default_rng(0)
    weights = np.zeros((3, 4000), np.float32)
    for _ in range(60):
        joint.move(weights, np.zeros_like(weights), 1.0, np.full(3, 0.8, np.float32), rng)
    np.testing.assert_allclose(weights.mean(axis=1), MEAN, atol=0.05)
    np.testing.assert_allclose(np.cov(weights), COVARIANCE, atol=0.05)


@pytest.mark.parametrize("shrinkage", [0.0, 0.5])
def test_update_is_the_covariance_of_columns(shrinkage: float) -> None:
    draws = np.random.default_rng(0).normal(size=(5, 4, 6)) @ np.random.default_rng(1).normal(size=(6, 6))
    prior = JointEmpiricalBayes(shrinkage=shrinkage)
    moments = prior.moments(4)
    for draw in draws:
        moments.add(draw)
    found = prior.update(prior.start(draws[0], 1.0), moments)
    columns = np.concatenate(list(draws), axis=1)
    np.testing.assert_allclose(found.mean, columns.mean(axis=1), rtol=1e-5)
    expected = np.cov(columns, bias=True)
    # six units, and half a unit without covariances for each of the four features
    expected *= np.where(np.eye(4, dtype=bool), 1, 6 / (6 + 4 * shrinkage))
    assert isinstance(found, JointNormal)
    np.testing.assert_allclose(found.covariance, expected, rtol=1e-5)
    np.testing.assert_allclose(found.variance, np.diag(expected), rtol=1e-5)
    assert isinstance(JointEmpiricalBayes(begin="weights").start(draws[0], 1.0), JointNormal)


def test_a_known_prior_is_found() -> None:
    X, weights = known_view()
    prior = JointEmpiricalBayes(centred=True, shrinkage=0.0)
    driver = Langevin(20, 400, 2, 2, prior=prior, start=None)
    model = BEFH(8, Gaussian(), driver=driver, random_state=0).fit(X)
    found, truth = model.fitted_.posterior.prior["view0"], weights @ weights.T / 8
    assert isinstance(found, JointNormal)
    error = np.linalg.norm(found.covariance - truth) / np.linalg.norm(truth)
    without = np.linalg.norm(np.diag(np.diag(truth)) - truth) / np.linalg.norm(truth)
    assert error < 0.35 < 0.7 < without


def test_files_and_other_drivers(tmp_path: Path) -> None:
    X = (known_view(40)[0] > 0).astype(float)
    for driver in (Langevin, Metropolis):
        model = BEFH(2, driver=driver(prior=JointEmpiricalBayes(shrinkage=0.5), **QUICK), random_state=0).fit(X)
        model.save(tmp_path / driver.__name__)
        other = load(tmp_path / driver.__name__)
        np.testing.assert_array_equal(
            other.fitted_.posterior.prior["view0"].covariance, model.fitted_.posterior.prior["view0"].covariance
        )
        assert other.get_params()["driver"].prior.shrinkage == 0.5


def test_too_many_features_are_refused() -> None:
    with pytest.raises(ValueError, match="at most 2000 features; 'view0' has 2001"):
        BEFH(2, driver=Langevin(**QUICK, prior=JointEmpiricalBayes())).fit(np.eye(3, 2001))
