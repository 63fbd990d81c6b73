"""The counts that one feature of a sequence can have, and the natural parameters that suit given counts best."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize
from scipy.special import gammaln, logsumexp


def chain_states(length: int) -> tuple[np.ndarray, np.ndarray]:
    """Return all statistics a feature can have, (states, 2), and the log-number of sequences that have each.

    n ones with e neighbouring pairs make n - e runs: C(n - 1, e) ways to cut the ones into runs, times
    C(P - n + 1, n - e) places for them between the zeros.

    Examples
    --------
    >>> states, log_numbers = chain_states(3)
    >>> [(int(n), int(e), round(float(np.exp(number)))) for (n, e), number in zip(states, log_numbers)]
    [(0, 0, 1), (1, 0, 3), (2, 0, 1), (2, 1, 2), (3, 2, 1)]
    """
    ones, pairs = np.meshgrid(np.arange(length + 1.0), np.arange(max(length, 1.0)), indexing="ij")
    possible = (pairs <= np.maximum(ones - 1, 0)) & (pairs >= 2 * ones - 1 - length)
    n, e = ones[possible], pairs[possible]
    log_numbers = _log_choose(np.maximum(n - 1, 0), e) + _log_choose(length - n + 1, n - e)
    return np.stack([n, e], axis=1), log_numbers


def _log_choose(n: np.ndarray, k: np.ndarray) -> np.ndarray:
    return gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)


def best_naturals(statistic: np.ndarray, size: np.ndarray, limits: tuple[float, float]) -> np.ndarray:
    """Return the naturals within the limits under which the counts of each feature are most probable."""
    n_features = statistic.shape[1] // 2
    ones, pairs = statistic[:, :n_features], statistic[:, n_features:]
    cells = np.stack([ones, pairs, np.broadcast_to(size[:, None], ones.shape)], axis=2).reshape(-1, 3)
    distinct, place = np.unique(cells, axis=0, return_inverse=True)  # few, however many cells there are
    best = np.empty((len(distinct), 2))
    for number, (n, e, length) in enumerate(distinct):
        states, log_numbers = chain_states(int(length))
        away = states - [n, e]
        found = minimize(_loss, np.zeros(2), (away, log_numbers), "L-BFGS-B", jac=True, bounds=[limits] * 2)
        best[number] = found.x
    return best[place.ravel()].reshape(len(statistic), n_features, 2).transpose(0, 2, 1).reshape(statistic.shape)


def _loss(natural: np.ndarray, away: np.ndarray, log_numbers: np.ndarray) -> tuple[float, np.ndarray]:
    """Return -log p of a feature's sequence, and its gradient.

    ``away`` is each possible pair of counts minus the observed one, (states, 2).
    """
    scores = away @ natural + log_numbers
    total = logsumexp(scores)
    return float(total), np.exp(scores - total) @ away
