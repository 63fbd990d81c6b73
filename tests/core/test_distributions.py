"""Every distribution against sums and integrals over its support, and against finite differences."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import logsumexp

from harmonium.core.distributions import (
    BernoulliDistribution,
    BinomialDistribution,
    Distribution,
    NegativeBinomialDistribution,
    NormalDistribution,
    PoissonDistribution,
)

LAWS = [
    BernoulliDistribution(),
    BinomialDistribution(5),
    NormalDistribution(math.log(0.7)),
    NormalDistribution(np.log(np.array([0.5, 1.0, 2.0]))),
    PoissonDistribution(),
    NegativeBinomialDistribution(0.6),
    NegativeBinomialDistribution(3.0),
]
NATURAL = np.array([[-2.0, -1.0, -0.3]])  # below the pole of the negative binomial


def test_no_law_is_left_out() -> None:
    ours = {found for found in Distribution.__subclasses__() if found.__module__.startswith("harmonium.")}
    assert {type(distribution) for distribution in LAWS} == ours  # skeletons have others


def densities(distribution: Distribution) -> tuple[np.ndarray, np.ndarray]:
    """Values, (values, 1), and their unnormalised log-weights at the naturals, (values, naturals)."""
    values, log_weights = distribution.support.grid(truncation=400, points=2001)
    cells = np.repeat(values[:, None], NATURAL.shape[1], axis=1)
    return values[:, None], NATURAL * cells + distribution.log_base(cells) + log_weights[:, None]


@pytest.mark.parametrize("distribution", LAWS, ids=repr)
def test_log_partition_mean_variance_and_mode_are_those_of_the_densities(distribution: Distribution) -> None:
    values, scores = densities(distribution)
    total = logsumexp(scores, axis=0)
    probability = np.exp(scores - total)
    mean = (probability * values).sum(axis=0)
    np.testing.assert_allclose(distribution.log_partition(NATURAL)[0], total, atol=1e-8)
    np.testing.assert_allclose(distribution.mean(NATURAL)[0], mean, atol=1e-7)
    np.testing.assert_allclose(
        distribution.variance(NATURAL)[0], (probability * (values - mean) ** 2).sum(axis=0), atol=1e-6
    )
    np.testing.assert_allclose(distribution.mode(NATURAL)[0], values[scores.argmax(axis=0), 0], atol=0.01)


@pytest.mark.parametrize("distribution", LAWS, ids=repr)
def test_variances_are_slopes_of_means(distribution: Distribution) -> None:
    step = 1e-5
    slope = (distribution.mean(NATURAL + step) - distribution.mean(NATURAL - step)) / (2 * step)
    np.testing.assert_allclose(distribution.variance(NATURAL), slope, rtol=1e-6)


@pytest.mark.parametrize("distribution", LAWS, ids=repr)
def test_samples_have_the_moments_of_the_law(distribution: Distribution) -> None:
    number = 40_000
    drawn = distribution.sample(np.repeat(NATURAL, number, axis=0), np.random.default_rng(0))
    assert distribution.support.contains(drawn).all()
    error = np.sqrt(distribution.variance(NATURAL)[0] / number)
    assert (np.abs(drawn.mean(axis=0) - distribution.mean(NATURAL)[0]) < 5 * error).all()
    np.testing.assert_allclose(drawn.var(axis=0), distribution.variance(NATURAL)[0], rtol=0.1)


@pytest.mark.parametrize("distribution", LAWS[:3] + LAWS[4:], ids=repr)
def test_single_precision_stays_single(distribution: Distribution) -> None:
    natural = NATURAL.astype(np.float32)
    rng = np.random.default_rng(0)
    for answer in (distribution.log_partition, distribution.mean, distribution.variance, distribution.mode):
        assert answer(natural).dtype == np.float32
        np.testing.assert_allclose(answer(natural), answer(NATURAL), rtol=1e-4)
    drawn = distribution.sample(natural, rng)
    assert drawn.dtype == distribution.log_base(drawn).dtype == np.float32
