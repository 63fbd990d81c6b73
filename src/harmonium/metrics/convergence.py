"""Convergence of Markov chains, and the number of independent draws that they are worth.

ArviZ has the same measures and is the oracle of their test; it is an extra, as it takes a second to import and brings
xarray, and both measures are needed without it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.fft
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri
from scipy.stats import rankdata


def split_r_hat(draws: ArrayLike) -> NDArray[np.float64]:
    """Return rank-normalised split R-hat, which tells whether chains agree.

    Near 1 the chains agree; above 1.01 they should not be trusted yet. R-hat compares the spread of all draws with the
    spread within the halves of each chain, so that a drift within one chain counts too.

    Parameters
    ----------
    draws : array-like of shape (n_chains, n_draws, ...)
        Draws of one or more chains, at least 4 from each; further axes are separate quantities.

    Returns
    -------
    ndarray of float64
        One value for each quantity, of the shape of the further axes; NaN where all draws are equal.

    Notes
    -----
    The larger of two values is returned: the R-hat of the ranks, which compares locations, and the R-hat of the ranks
    of the distances from the median, which compares spreads [1]_. The limit of 1.01 is the recommendation of the same
    paper.

    References
    ----------
    .. [1] A. Vehtari, A. Gelman, D. Simpson, B. Carpenter and P.-C. Bürkner, "Rank-normalization, folding, and
       localization: an improved R-hat for assessing convergence of MCMC", Bayesian Analysis 16(2), 2021.

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
    """Return how many independent draws would give the mean as exactly.

    This is the bulk effective sample size. With fewer than 100 for each chain, more draws are needed. Draws that
    alternate around the mean can be worth more than their number.

    Parameters
    ----------
    draws : array-like of shape (n_chains, n_draws, ...)
        Draws of one or more chains, at least 4 from each; further axes are separate quantities.

    Returns
    -------
    ndarray of float64
        One value for each quantity, of the shape of the further axes; the number of draws where all of them are equal.

    Notes
    -----
    Autocorrelations of the rank-normalised draws are added up as long as the sums of neighbouring pairs are positive,
    and these sums are made monotone (Geyer's initial monotone sequence) [1]_. The result is at most the number of draws
    times its decimal logarithm, and the limit of 100 for each chain is the paper's, too: 400 for the usual four chains.

    References
    ----------
    .. [1] A. Vehtari, A. Gelman, D. Simpson, B. Carpenter and P.-C. Bürkner, "Rank-normalization, folding, and
       localization: an improved R-hat for assessing convergence of MCMC", Bayesian Analysis 16(2), 2021.

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
    # the sum stops at the first pair that is not positive, and at the last pair but one in any case
    last = max(0, (n_draws - 3) // 2)
    even, odd = correlation[0 : 2 * last + 1 : 2], correlation[1 : 2 * last + 2 : 2]
    pairs = even + odd
    stops = pairs <= 0
    stops[last] = True
    stop = stops.argmax(axis=0)
    before = np.arange(last + 1).reshape(-1, *[1] * stop.ndim) < stop
    summed = np.where(before, np.minimum.accumulate(pairs, axis=0), 0).sum(axis=0)
    # of the pair at which it stops, the even half still counts, unless the pair is negative because of it
    half, pair = (np.take_along_axis(values, stop[None], axis=0)[0] for values in (even, pairs))
    time = -1 + 2 * summed + np.where((pair >= 0) | (half > 0), half, 0)
    number = n_chains * n_draws
    # draws that alternate are not believed to be worth more than number * log10(number), as in the paper
    time = np.maximum(time, 1 / np.log10(number))
    return np.where(constant, number, number / time)[()]


def _halves(draws: Any) -> NDArray[np.float64]:
    """Cut chains in two along the first axis, leaving out the middle draw if their number is odd."""
    array = np.asarray(draws)
    if array.ndim < 2 or len(array) < 1 or array.shape[1] < 4 or array.dtype.kind not in "biuf":
        raise ValueError(
            "draws must be numbers of shape (chains, draws, ...) with at least 4 draws per chain, got shape "
            f"{array.shape} of type {array.dtype}; one chain is draws[None]."
        )
    if not np.isfinite(array).all():
        raise ValueError("draws must be finite, got NaN or infinite values; leave those chains out.")
    half = array.shape[1] // 2
    return np.concatenate([array[:, :half], array[:, -half:]]).astype(np.float64)


def _normal_scores(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the ranks among all draws of all chains, as quantiles of the normal distribution."""
    flat = values.reshape(values.shape[0] * values.shape[1], -1)
    ranks = rankdata(flat, axis=0)
    # the fractional offset of Blom (1958), as in the paper
    scores: NDArray[np.float64] = ndtri((ranks - 0.375) / (len(flat) + 0.25)).reshape(values.shape)
    return scores


def _r_hat(values: NDArray[np.float64]) -> NDArray[np.float64]:
    n_draws = values.shape[1]
    within = values.var(axis=1, ddof=1).mean(axis=0)
    between = values.mean(axis=1).var(axis=0, ddof=1)
    with np.errstate(divide="ignore", invalid="ignore"):  # chains that do not move
        ratio: NDArray[np.float64] = np.sqrt(between / within + (n_draws - 1) / n_draws)
    return ratio


def _autocovariance(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the autocovariance of each chain at each lag, all divided by the number of draws."""
    n_draws = values.shape[1]
    length = scipy.fft.next_fast_len(2 * n_draws, real=True)
    spectrum = scipy.fft.rfft(values - values.mean(axis=1, keepdims=True), length, axis=1)
    covariance: NDArray[np.float64] = (
        scipy.fft.irfft(np.square(np.abs(spectrum)), length, axis=1)[:, :n_draws] / n_draws
    )
    return covariance
