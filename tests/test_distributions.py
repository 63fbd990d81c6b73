"""Every law against sums and integrals over its support, and against finite differences."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import logsumexp

from harmonium.laws import BernoulliLaw, BinomialLaw, Law, NegativeBinomialLaw, NormalLaw, PoissonLaw

LAWS = [
    BernoulliLaw(),
    BinomialLaw(5),
    NormalLaw(math.log(0.7)),
    NormalLaw(np.log(np.array([0.5, 1.0, 2.0]))),
    PoissonLaw(),
    NegativeBinomialLaw(0.6),
    NegativeBinomialLaw(3.0),
]
NATURAL = np.array([[-2.0, -1.0, -0.3]])  # below the pole of the negative binomial


def test_no_law_is_left_out() -> None:
    assert {type(law) for law in LAWS} == set(Law.__subclasses__())


def densities(law: Law) -> tuple[np.ndarray, np.ndarray]:
    """Values, (values, 1), and their unnormalised log-weights at the naturals, (values, naturals)."""
    values, log_weights = law.support.grid(truncation=400, points=2001)
    cells = np.repeat(values[:, None], NATURAL.shape[1], axis=1)
    return values[:, None], NATURAL * cells + law.log_base(cells) + log_weights[:, None]


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_log_partition_mean_variance_and_mode_are_those_of_the_densities(law: Law) -> None:
    values, scores = densities(law)
    total = logsumexp(scores, axis=0)
    probability = np.exp(scores - total)
    mean = (probability * values).sum(axis=0)
    np.testing.assert_allclose(law.log_partition(NATURAL)[0], total, atol=1e-8)
    np.testing.assert_allclose(law.mean(NATURAL)[0], mean, atol=1e-7)
    np.testing.assert_allclose(law.variance(NATURAL)[0], (probability * (values - mean) ** 2).sum(axis=0), atol=1e-6)
    np.testing.assert_allclose(law.mode(NATURAL)[0], values[scores.argmax(axis=0), 0], atol=0.01)


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_variances_are_slopes_of_means(law: Law) -> None:
    step = 1e-5
    slope = (law.mean(NATURAL + step) - law.mean(NATURAL - step)) / (2 * step)
    np.testing.assert_allclose(law.variance(NATURAL), slope, rtol=1e-6)


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_samples_have_the_moments_of_the_law(law: Law) -> None:
    number = 40_000
    drawn = law.sample(np.repeat(NATURAL, number, axis=0), np.random.default_rng(0))
    assert law.support.contains(drawn).all()
    error = np.sqrt(law.variance(NATURAL)[0] / number)
    assert (np.abs(drawn.mean(axis=0) - law.mean(NATURAL)[0]) < 5 * error).all()
    np.testing.assert_allclose(drawn.var(axis=0), law.variance(NATURAL)[0], rtol=0.1)


@pytest.mark.parametrize("law", LAWS[:3] + LAWS[4:], ids=repr)
def test_single_precision_stays_single(law: Law) -> None:
    natural = NATURAL.astype(np.float32)
    rng = np.random.default_rng(0)
    for answer in (law.log_partition, law.mean, law.variance, law.mode):
        assert answer(natural).dtype == np.float32
        np.testing.assert_allclose(answer(natural), answer(NATURAL), rtol=1e-4)
    drawn = law.sample(natural, rng)
    assert drawn.dtype == law.log_base(drawn).dtype == np.float32
