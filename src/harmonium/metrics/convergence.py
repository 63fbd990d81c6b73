"""Whether Markov chains have converged, and how many independent draws theirs are worth."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.fft
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri
from scipy.stats import rankdata

__all__ = ["effective_sample_size", "split_r_hat"]


def split_r_hat(draws: ArrayLike) -> NDArray[np.float64]:
    """Return how much wider all chains together are than each half of one: rank-normalised split R-hat.

    Near 1 the chains agree; above 1.01 they should not be trusted yet. The larger of two values is returned: that of
    the ranks, which compares locations, and that of the ranks of distances from the median, which compares spreads.

    Parameters
    ----------
    draws : array-like of shape (n_chains, n_draws, ...)
        At least 4 draws of one or more chains. Chains are halved, so that a drift within one counts too.

    Returns
    -------
    ndarray of the shape of the trailing axes
        NaN where all draws are equal.

    References
    ----------
    Vehtari, Gelman, Simpson, Carpenter and Bürkner, "Rank-normalization, folding, and localization: an improved R-hat
    for assessing convergence of MCMC", Bayesian Analysis 16(2), 2021.

    Examples
    --------
    >>> chains = np.random.default_rng(0).normal(size=(4, 1000))
    >>> [round(float(split_r_hat(chains + shift)), 2) for shift in (0, [[0], [0], [0], [1]])]
    [1.0, 1.11]
    """
    halves = _halves(draws)
    folded = np.abs(halves - np.median(halves, axis=(0, 1)))
    return np.maximum(_r_hat(_normal_scores(halves)), _r_hat(_normal_scores(folded)))[()]


def effective_sample_size(draws: ArrayLike) -> NDArray[np.float64]:
    """Return the number of independent draws with the same error of the mean: bulk effective sample size.

    Autocorrelations of the rank-normalised draws are added up as long as sums of neighbouring pairs stay positive, and
    made monotone (Geyer's initial monotone sequence). Below 100 a chain, more draws are needed; draws that alternate
    can be worth more than their number.

    Parameters
    ----------
    draws : array-like of shape (n_chains, n_draws, ...)
        At least 4 draws of one or more chains.

    Returns
    -------
    ndarray of the shape of the trailing axes
        The number of draws itself where they are all equal.

    References
    ----------
    As for `split_r_hat`.

    Examples
    --------
    >>> independent = np.random.default_rng(0).normal(size=(4, 1000))
    >>> bool(abs(effective_sample_size(independent) - 4000) < 400)
    True
    >>> sticky = np.repeat(independent, 10, axis=1)  # every draw ten times
    >>> bool(abs(effective_sample_size(sticky) - 4000) < 800)
    True
    """
    scores = _normal_scores(_halves(draws))
    n_chains, n_draws = scores.shape[:2]
    covariance = _autocovariance(scores).mean(axis=0)
    within = covariance[0] * n_draws / (n_draws - 1)
    total = covariance[0] + scores.mean(axis=1).var(axis=0, ddof=1)
    constant = total < np.finfo(np.float64).resolution
    correlation = 1 - (within - covariance) / np.where(constant, 1.0, total)
    correlation[0] = 1
    # the last pair that is looked at is the first that is not positive, or the last but one there is
    last = max(0, (n_draws - 3) // 2)
    even, odd = correlation[0 : 2 * last + 1 : 2], correlation[1 : 2 * last + 2 : 2]
    pairs = even + odd
    stops = pairs <= 0
    stops[last] = True
    stop = stops.argmax(axis=0)
    before = np.arange(last + 1).reshape(-1, *[1] * stop.ndim) < stop
    summed = np.where(before, np.minimum.accumulate(pairs, axis=0), 0).sum(axis=0)
    # of the pair at which the sum stops, the even half still belongs to it, unless it makes the pair negative
    half, pair = (np.take_along_axis(values, stop[None], axis=0)[0] for values in (even, pairs))
    time = -1 + 2 * summed + np.where((pair >= 0) | (half > 0), half, 0)
    number = n_chains * n_draws
    # draws that alternate are not believed to be worth more than this
    time = np.maximum(time, 1 / np.log10(number))
    return np.where(constant, number, number / time)[()]


def _halves(draws: Any) -> NDArray[np.float64]:
    """Chains cut in two (without the middle draw if their number is odd), along the first axis."""
    array = np.asarray(draws)
    if array.ndim < 2 or len(array) < 1 or array.shape[1] < 4 or array.dtype.kind not in "biuf":
        raise ValueError(
            "draws must be numbers of shape (chains, draws, ...) with at least 4 draws a chain, got shape "
            f"{array.shape} of type {array.dtype}; one chain is draws[None]."
        )
    if not np.isfinite(array).all():
        raise ValueError("draws must be finite, got NaN or infinite values; leave those chains out.")
    half = array.shape[1] // 2
    return np.concatenate([array[:, :half], array[:, -half:]]).astype(np.float64)


def _normal_scores(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Ranks among all draws of all chains, as quantiles of the normal distribution."""
    flat = values.reshape(values.shape[0] * values.shape[1], -1)
    ranks = rankdata(flat, axis=0)
    scores: NDArray[np.float64] = ndtri((ranks - 0.375) / (len(flat) + 0.25)).reshape(values.shape)
    return scores


def _r_hat(values: NDArray[np.float64]) -> NDArray[np.float64]:
    n_draws = values.shape[1]
    within = values.var(axis=1, ddof=1).mean(axis=0)
    between = values.mean(axis=1).var(axis=0, ddof=1)
    with np.errstate(divide="ignore", invalid="ignore"):  # chains that stand still
        ratio: NDArray[np.float64] = np.sqrt(between / within + (n_draws - 1) / n_draws)
    return ratio


def _autocovariance(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of every chain at every lag, by the Fourier transform, divided by the number of draws at all lags alike."""
    n_draws = values.shape[1]
    length = scipy.fft.next_fast_len(2 * n_draws, real=True)
    spectrum = scipy.fft.rfft(values - values.mean(axis=1, keepdims=True), length, axis=1)
    covariance: NDArray[np.float64] = (
        scipy.fft.irfft(np.square(np.abs(spectrum)), length, axis=1)[:, :n_draws] / n_draws
    )
    return covariance
