"""Coupling from the past: exact draws of a Boltzmann machine without negative couplings (Propp and Wilson, 1996).

Two chains with the same random numbers start in the past, one from all zeros and one from all ones. If no coupling is
negative, the second chain stays above the first, and all other chains stay between them. If the two have met by now, it
does not matter where the chains started, so their state is a draw from the stationary distribution itself. If they have
not, they start again, further in the past.
"""

from __future__ import annotations

import numpy as np
from numpy import uint64

from harmonium.kernels.compiling import compiled, inlined


@inlined
def _threshold(key, counter):  # type: ignore[no-untyped-def]
    # log(u / (1 - u)) of a uniform number u in (0, 1) for each key and counter. It is a hash (SplitMix64's, in the
    # public domain, of a Weyl sequence), so that numbers of the past can be computed again and need not be stored
    x = uint64(key + uint64(counter) * uint64(0x9E3779B97F4A7C15))
    x = uint64((x ^ (x >> uint64(30))) * uint64(0xBF58476D1CE4E5B9))
    x = uint64((x ^ (x >> uint64(27))) * uint64(0x94D049BB133111EB))
    x = uint64(x ^ (x >> uint64(31)))
    uniform = (np.float64(x >> uint64(12)) + 0.5) * 2.220446049250313e-16  # 52 bits, so that adding a half is exact
    return np.log(uniform / (1 - uniform))


@compiled()
def _update(state: np.ndarray, natural: np.ndarray, site: int, threshold: float, couplings: np.ndarray) -> None:
    value = natural[site] > threshold
    if value != state[site]:
        state[site] = value
        sign = 1.0 if value else -1.0
        for other in range(len(state)):
            natural[other] += sign * couplings[site, other]


@compiled()
def _have_met(
    bias: np.ndarray, couplings: np.ndarray, key: np.uint64, n_sweeps: int, lower: np.ndarray, upper: np.ndarray
) -> bool:
    """Sweep both chains from ``n_sweeps`` ago until now; if they have met, ``lower`` holds their state."""
    n_sites = len(bias)
    lower[:] = False
    upper[:] = True
    lower_natural = bias.copy()
    upper_natural = bias.copy()
    for site in range(n_sites):
        for other in range(n_sites):
            upper_natural[other] += couplings[site, other]
    apart = n_sites
    for ago in range(n_sweeps, 0, -1):
        still_apart = 0
        for site in range(n_sites):
            threshold = _threshold(key, ago * n_sites + site)
            _update(lower, lower_natural, site, threshold, couplings)
            if apart > 0:  # once they have met they stay together
                _update(upper, upper_natural, site, threshold, couplings)
                still_apart += lower[site] != upper[site]
        apart = still_apart
    return apart == 0


@compiled()
def draw_from_the_past(
    bias: np.ndarray, couplings: np.ndarray, keys: np.ndarray, max_sweeps: int, states: np.ndarray, sweeps: np.ndarray
) -> None:
    """Draw exactly from p(x) ∝ exp(bias·x + xᵀ couplings x / 2), x in {0, 1}ⁿ, once for each key.

    Parameters
    ----------
    bias : ndarray of float64 of shape (n_sites,)
        Bias of each site.
    couplings : ndarray of float64 of shape (n_sites, n_sites)
        Symmetric and non-negative, with zeros on the diagonal.
    keys : ndarray of uint64 of shape (n_samples,)
        Seed of each sample.
    max_sweeps : int
        How many sweeps into the past to go at most.
    states : ndarray of bool of shape (n_samples, n_sites)
        Filled with the draws.
    sweeps : ndarray of int64 of shape (n_samples,)
        Filled with how many sweeps ago the chains started, a power of two; 0 from the first sample on whose chains did
        not meet.
    """
    upper = np.empty(len(bias), dtype=np.bool_)
    sweeps[:] = 0
    for sample in range(len(keys)):
        n_sweeps = 1
        while not _have_met(bias, couplings, keys[sample], n_sweeps, states[sample], upper):
            n_sweeps *= 2
            if n_sweeps > max_sweeps:
                return
        sweeps[sample] = n_sweeps
