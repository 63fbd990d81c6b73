"""Coupling from the past: exact draws of a Boltzmann machine (Propp and Wilson, 1996), whatever its couplings' signs.

All chains with the same random numbers start in the past, from every state. Two states bound theirs: a site is 0 in all
chains if the upper bound is 0, and 1 in all if the lower one is 1 (the summary states of Childs, Patterson and MacKay,
2001). If the bounds have met by now, it does not matter where the chains started, so their state is a draw from the
stationary distribution itself. If they have not, they start again, further in the past. Where no coupling is negative,
the bounds are themselves chains, from all zeros and from all ones; otherwise they may be wider than the chains.
"""

from __future__ import annotations

import numpy as np
from numpy import uint64

from harmonium.kernels.runtime.jit import inline, jit


@inline
def _logistic_hash(key, counter):  # type: ignore[no-untyped-def]
    # log(u / (1 - u)) of a uniform number u in (0, 1) for each key and counter. It is a hash (SplitMix64's, in the
    # public domain, of a Weyl sequence), so that numbers of the past can be computed again and need not be stored
    x = uint64(key + uint64(counter) * uint64(0x9E3779B97F4A7C15))
    x = uint64((x ^ (x >> uint64(30))) * uint64(0xBF58476D1CE4E5B9))
    x = uint64((x ^ (x >> uint64(27))) * uint64(0x94D049BB133111EB))
    x = uint64(x ^ (x >> uint64(31)))
    uniform = (np.float64(x >> uint64(12)) + 0.5) * 2.220446049250313e-16  # 52 bits, so that adding a half is exact
    return np.log(uniform / (1 - uniform))


@jit()
def _add_couplings(couplings: np.ndarray, factor: float, same: np.ndarray, opposite: np.ndarray) -> None:
    """Add couplings times a factor: to ``same`` if they are positive, to ``opposite`` if they are negative."""
    for other in range(len(couplings)):
        if couplings[other] > 0:
            same[other] += factor * couplings[other]
        else:
            opposite[other] += factor * couplings[other]


@jit()
def _update_site(
    state: np.ndarray,
    same: np.ndarray,
    opposite: np.ndarray,
    site: int,
    threshold: float,
    couplings: np.ndarray,
) -> None:
    """Update one bound at a site, whose naturals are ``same``, and the naturals of both bounds."""
    value = same[site] > threshold
    if value != state[site]:
        state[site] = value
        _add_couplings(couplings[site], 1.0 if value else -1.0, same, opposite)


@jit()
def _coalesced(
    naturals: np.ndarray, couplings: np.ndarray, key: np.uint64, n_sweeps: int, lower: np.ndarray, upper: np.ndarray
) -> bool:
    """Sweep both bounds from ``n_sweeps`` ago until now; if they have met, ``lower`` holds their state.

    The naturals of each site are given as bounds over all states, the least and the largest.
    """
    n_sites = len(lower)
    lower[:] = False
    upper[:] = True
    least, most = naturals[0].copy(), naturals[1].copy()
    n_apart = n_sites
    for ago in range(n_sweeps, 0, -1):
        still_apart = 0
        for site in range(n_sites):
            threshold = _logistic_hash(key, ago * n_sites + site)
            if n_apart > 0:
                _update_site(lower, least, most, site, threshold, couplings)
                _update_site(upper, most, least, site, threshold, couplings)
                still_apart += lower[site] != upper[site]
            else:  # once they have met they stay together, and one chain is enough
                _update_site(lower, least, least, site, threshold, couplings)
        n_apart = still_apart
    return n_apart == 0


@jit()
def couple_from_the_past(
    bias: np.ndarray, couplings: np.ndarray, keys: np.ndarray, max_sweeps: int, states: np.ndarray, sweeps: np.ndarray
) -> None:
    """Draw exactly from p(x) ∝ exp(bias·x + xᵀ couplings x / 2), x in {0, 1}ⁿ, once for each key.

    Parameters
    ----------
    bias : ndarray of float64 of shape (n_sites,)
        Bias of each site.
    couplings : ndarray of float64 of shape (n_sites, n_sites)
        Symmetric, with zeros on the diagonal.
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
    naturals = np.empty((2, len(bias)))
    naturals[:] = bias
    for site in range(len(bias)):
        _add_couplings(couplings[site], 1.0, naturals[1], naturals[0])
    sweeps[:] = 0
    for sample in range(len(keys)):
        n_sweeps = 1
        while not _coalesced(naturals, couplings, keys[sample], n_sweeps, states[sample], upper):
            n_sweeps *= 2
            if n_sweeps > max_sweeps:
                return
        sweeps[sample] = n_sweeps
