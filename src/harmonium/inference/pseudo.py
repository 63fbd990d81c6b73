"""Pseudo-likelihood: log p(one site | all the others), comparable between models without their partition functions."""

from __future__ import annotations

import numpy as np
from scipy.special import logsumexp

from harmonium.batch import Batch
from harmonium.energy import Energy
from harmonium.families import Family
from harmonium.kernels.sparse import SparseRows
from harmonium.params import Parameters, bias_of, weights_of


def pseudo_log_likelihood(
    energy: Energy, parameters: Parameters, batch: Batch, rng: np.random.Generator, n_probes: int = 1
) -> np.ndarray:
    """Stochastic pseudo-log-likelihood of each row, summed over views, shape (rows,).

    For each row and view ``n_probes`` sites are drawn; the mean of their conditional log-probabilities is scaled by the
    number of sites (tokens, for `ReplicatedSoftmax`), so the estimate is unbiased. Nothing may be missing.
    """
    natural = energy.hidden_natural(parameters, batch).astype(np.float64)
    total = np.zeros(batch.n_rows)
    for name, view in batch.views.items():
        statistic = view.statistic.dense() if isinstance(view.statistic, SparseRows) else view.statistic
        family = energy.families[name]
        score = _exclusive_sites if family.exclusive else _independent_sites
        for _ in range(n_probes):
            total += score(energy, parameters, name, family, statistic.astype(np.float64), natural, rng) / n_probes
    return total


def _independent_sites(
    energy: Energy,
    parameters: Parameters,
    name: str,
    family: Family,
    statistic: np.ndarray,
    natural: np.ndarray,
    rng: np.random.Generator,
) -> np.ndarray:
    n_rows, n_features = statistic.shape
    own = energy.own(parameters, name)
    values, log_weights = family.support.grid()
    result = np.empty(n_rows)
    for row in range(n_rows):
        site = int(rng.integers(n_features))
        present = statistic[row, site]
        weight = parameters[weights_of(name)][site].astype(np.float64)
        states = np.append(values, present)
        hidden = natural[row] + (states - present)[:, None] * weight
        visible = states * parameters[bias_of(name)][site] + family.log_base(states, own, np.full(len(states), site))
        score = visible + energy.hidden.log_partition(hidden).sum(axis=1)
        result[row] = score[-1] - logsumexp(score[:-1] + log_weights)
    return result * n_features


def _exclusive_sites(
    energy: Energy,
    parameters: Parameters,
    name: str,
    family: Family,
    statistic: np.ndarray,
    natural: np.ndarray,
    rng: np.random.Generator,
) -> np.ndarray:
    weights = parameters[weights_of(name)].astype(np.float64)
    bias = parameters[bias_of(name)].astype(np.float64)
    result = np.empty(len(statistic))
    sites = np.arange(family.n_sites)
    members = family.spread(sites[None, :])[0]
    for row, counts in enumerate(statistic):
        total = counts.sum()
        if total == 0:  # an empty document has no token to ask about
            result[row] = 0.0
            continue
        token = rng.choice(len(counts), p=counts / total)
        rivals = np.flatnonzero(members == members[token])
        hidden = natural[row] - weights[token] + weights[rivals]
        score = bias[rivals] + energy.hidden.log_partition(hidden).sum(axis=1)
        result[row] = total * (score[rivals == token][0] - logsumexp(score))
    return result
