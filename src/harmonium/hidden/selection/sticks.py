"""Posteriors of how often units are used, and the bound on the prior terms that they maximise.

A posterior is an array of shape (units, 2) of Beta parameters. ``counts`` are expected numbers of items that have each
unit, out of ``n_items``. Everything is in float64, and nothing here knows about views or weights.
"""

from __future__ import annotations

import numpy as np
from scipy.special import betaln, digamma


def expected_logs(beta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return E[log v] and E[log(1 - v)] for each v ~ Beta."""
    total = digamma(beta.sum(axis=1))
    return digamma(beta[:, 0]) - total, digamma(beta[:, 1]) - total


def cost_of_sticks(beta: np.ndarray, a: np.ndarray | float, b: np.ndarray | float) -> float:
    """Return KL(q ‖ prior), summed over sticks whose prior is Beta(a, b)."""
    log_v, log_rest = expected_logs(beta)
    prior = betaln(a, b) * np.ones(len(beta))
    each = (beta[:, 0] - a) * log_v + (beta[:, 1] - b) * log_rest - betaln(beta[:, 0], beta[:, 1]) + prior
    return float(each.sum())


# ---- independent units: π_k ~ Beta(α / K, 1) ---------------------------------------------------------------------
def independent_update(counts: np.ndarray, n_items: float, alpha: float) -> np.ndarray:
    """Return the exact posterior of each π_k."""
    return np.stack([alpha / len(counts) + counts, 1.0 + np.maximum(n_items - counts, 0.0)], axis=1)


def independent_log_odds(beta: np.ndarray) -> np.ndarray:
    """Return E[log π_k] - E[log(1 - π_k)]."""
    log_use, log_rest = expected_logs(beta)
    return log_use - log_rest


def independent_bound(beta: np.ndarray, counts: np.ndarray, n_items: float, alpha: float) -> float:
    """Return E[log p(z | π)] - KL(q(π) ‖ p(π))."""
    log_use, log_rest = expected_logs(beta)
    return float(counts @ log_use + (n_items - counts) @ log_rest) - cost_of_sticks(beta, alpha / len(beta), 1.0)


# ---- the Indian buffet process: π_k = Π_{j≤k} v_j, v_j ~ Beta(α, 1) --------------------------------------------------
def _lack(beta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the exponents t_i, and the bound log Σ_{i≤k} exp(t_i) on E[log(1 - π_k)].

    1 - Π v telescopes into Σ_i (1 - v_i) Π_{j<i} v_j, so by Jensen's inequality E[log(1 - π_k)] is at least the
    expectation under any q_k of t_i - log q_k(i), with t_i = E[log(1 - v_i)] + Σ_{j<i} E[log v_j]; the best is
    q_k(i) ∝ exp(t_i), i ≤ k: which stick is to blame when a unit is lacked (Doshi-Velez et al. 2009).
    """
    log_v, log_rest = expected_logs(beta)
    exponent = log_rest + np.cumsum(log_v) - log_v
    return exponent, np.logaddexp.accumulate(exponent)


def _from_here_on(values: np.ndarray) -> np.ndarray:
    """Return the sums Σ_{m≥k} of the values from each place on."""
    return np.cumsum(values[::-1])[::-1]


def stick_update(beta: np.ndarray, counts: np.ndarray, n_items: float, alpha: float) -> np.ndarray:
    """Take one round of coordinate ascent: the best blame for the sticks as they are, then the best sticks for it.

    γ_k1 = α + Σ_{m≥k} n_m + Σ_{m>k} (D - n_m) Σ_{i=k+1..m} q_m(i) and γ_k2 = 1 + Σ_{m≥k} (D - n_m) q_m(k); as all q_m
    are cut from the same exponents, suffix sums give both in time linear in the number of sticks.
    """
    exponent, lack = _lack(beta)
    lacking = n_items - counts
    blamed = _from_here_on(lacking * np.exp(-lack))
    after = np.append(blamed[1:], 0.0)
    passed_on = np.append(_from_here_on(lacking)[1:], 0.0) - np.exp(lack) * after
    first = alpha + _from_here_on(counts) + np.maximum(passed_on, 0.0)
    return np.stack([first, 1.0 + np.exp(exponent) * blamed], axis=1)


def stick_log_odds(beta: np.ndarray) -> np.ndarray:
    """Return E[log π_k] minus the bound on E[log(1 - π_k)]."""
    log_v, _ = expected_logs(beta)
    return np.cumsum(log_v) - _lack(beta)[1]


def stick_bound(beta: np.ndarray, counts: np.ndarray, n_items: float, alpha: float) -> float:
    """Return a lower bound of E[log p(z | v)] - KL(q(v) ‖ p(v))."""
    log_v, _ = expected_logs(beta)
    used = counts @ np.cumsum(log_v) + (n_items - counts) @ _lack(beta)[1]
    return float(used) - cost_of_sticks(beta, alpha, 1.0)


def best_alpha(beta: np.ndarray, share: float = 1.0) -> float:
    """Return the α that maximises the bound for sticks v ~ Beta(α · share, 1)."""
    log_v, _ = expected_logs(beta)
    return float(-len(beta) / (share * log_v.sum()))
