"""R-hat and effective sample size against ArviZ and against closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.signal import lfilter

from harmonium.metrics import effective_sample_size, split_r_hat


def autoregressive(correlation: float, shape: tuple[int, ...], seed: int = 0) -> np.ndarray:
    """x_t = ρ x_{t-1} + noise, stationary from the start, along the second axis."""
    noise = np.random.default_rng(seed).normal(size=shape)
    noise[:, 0] /= np.sqrt(1 - correlation**2)
    return lfilter([1.0], [1.0, -correlation], noise, axis=1)


def cases() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(1)
    drifting = rng.normal(size=(2, 301)) + np.linspace(0, 3, 301)
    return {
        "white noise": rng.normal(size=(4, 500)),
        "correlated": autoregressive(0.9, (4, 500)),
        "alternating": autoregressive(-0.6, (3, 200)),
        "strongly alternating": autoregressive(-0.97, (2, 100)),
        "apart": rng.normal(size=(3, 50)) + np.arange(3)[:, None],
        "different spreads": rng.normal(size=(4, 250)) * np.array([1, 1, 1, 4])[:, None],
        "drifting, odd": drifting,
        "heavy tails": rng.standard_cauchy(size=(4, 100)),
        "ties": rng.integers(0, 3, size=(4, 80)).astype(float),
        "few": rng.normal(size=(2, 4)),
        "five": rng.normal(size=(2, 5)),
        "eleven": autoregressive(0.99, (3, 11)),
        "thirteen": autoregressive(0.99, (3, 13), seed=4),
    }


@pytest.mark.parametrize("name", cases())
def test_same_as_arviz(name: str) -> None:
    arviz = pytest.importorskip("arviz")
    draws = cases()[name]
    assert split_r_hat(draws) == pytest.approx(float(arviz.rhat(draws)), rel=1e-9)
    assert effective_sample_size(draws) == pytest.approx(float(arviz.ess(draws)), rel=1e-9)


def test_many_small_chains_are_the_same_as_in_arviz() -> None:
    """Short chains stop their sums of autocorrelations in all possible ways."""
    arviz = pytest.importorskip("arviz")
    rng = np.random.default_rng(0)
    for n_draws in (4, 6, 7, 9, 16, 25):
        draws = np.cumsum(rng.normal(size=(2, n_draws, 30)), axis=1) * np.linspace(0, 1, 30) + rng.normal(
            size=(2, n_draws, 30)
        )
        ours = effective_sample_size(draws)
        theirs = [float(arviz.ess(draws[:, :, i])) for i in range(30)]
        np.testing.assert_allclose(ours, theirs, rtol=1e-9)


def test_trailing_axes_are_done_one_by_one() -> None:
    draws = autoregressive(0.5, (3, 60, 2, 4)) + np.arange(4)
    for measure in (split_r_hat, effective_sample_size):
        together = measure(draws)
        assert together.shape == (2, 4)
        for index in np.ndindex(2, 4):
            assert together[index] == pytest.approx(float(measure(draws[(slice(None), slice(None), *index)])), rel=1e-9)


def test_closed_forms() -> None:
    shape = (4, 4000, 20)
    assert effective_sample_size(autoregressive(0.0, shape)).mean() == pytest.approx(16_000, rel=0.03)
    for correlation in (0.5, 0.8, -0.4):  # the sum of the autocorrelations of AR(1) is (1 + ρ) / (1 - ρ)
        expected = 16_000 * (1 - correlation) / (1 + correlation)
        found = effective_sample_size(autoregressive(correlation, shape)).mean()
        assert found == pytest.approx(expected, rel=0.06), correlation
    assert np.all(split_r_hat(autoregressive(0.5, shape)) < 1.01)


def test_what_does_not_change_them() -> None:
    # of few binary digits, so that nothing is rounded: two draws are as far from the median as each other, a tie that
    # rounding would break in one way or the other
    draws = np.round(autoregressive(0.7, (3, 100)) * 2**20) / 2**20
    for measure in (split_r_hat, effective_sample_size):
        assert measure(np.exp(draws)) == pytest.approx(measure(draws), rel=0.05)
        assert measure(draws[::-1]) == pytest.approx(measure(draws))
        assert measure(5 - 3 * draws) == pytest.approx(measure(draws))
    assert split_r_hat(draws[:1]) > 0.9  # one chain has two halves


def test_chains_that_do_not_agree_are_found() -> None:
    rng = np.random.default_rng(0)
    draws = rng.normal(size=(4, 500))
    assert split_r_hat(draws) < 1.01
    assert split_r_hat(draws + np.array([[0], [0], [0], [1]])) > 1.05
    assert split_r_hat(draws * np.array([[1], [1], [1], [3]])) > 1.05
    assert split_r_hat(draws + np.linspace(0, 2, 500)) > 1.05
    assert effective_sample_size(draws + np.array([[0], [0], [0], [3]])) < 20


def test_standing_still_and_wrong_input() -> None:
    still = np.full((2, 10), 3.0)
    assert np.isnan(split_r_hat(still)) and effective_sample_size(still) == 20
    for measure in (split_r_hat, effective_sample_size):
        for wrong in (np.zeros(10), np.zeros((2, 3)), np.full((2, 10), np.nan), np.array([["a"] * 5])):
            with pytest.raises(ValueError, match=r"^draws must .*\.$"):
                measure(wrong)
