"""Pseudo-likelihood: log p(one site | all the others), comparable between models without their partition functions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import logsumexp

from harmonium.batch import Batch, ViewBatch
from harmonium.energy import Energy
from harmonium.families import Family
from harmonium.families.chain import chain_states
from harmonium.kernels.rows import dense_row
from harmonium.params import Parameters, bias_of, weights_of

# a window is wide enough once its ends are this much less probable than its middle
_NEGLIGIBLE = 30.0
_MOST_POINTS = 100_000


def pseudo_log_likelihood(
    energy: Energy, parameters: Parameters, batch: Batch, rng: np.random.Generator, n_probes: int = 1
) -> np.ndarray:
    """Stochastic pseudo-log-likelihood of each row, summed over views, shape (rows,).

    For each row and view ``n_probes`` observed sites are drawn; the mean of their conditional log-probabilities is
    scaled by the number of observed sites (tokens, for `ReplicatedSoftmax`; features, for `Chain`), so the estimate is
    unbiased. What is missing has to be filled in; it counts for the hidden units, but is not asked about.
    """
    natural = energy.hidden_natural(parameters, batch).astype(np.float64)
    total = np.zeros(batch.n_rows)
    for name, view in batch.views.items():
        probe = _Probe(energy, parameters, name)
        for row in range(batch.n_rows):
            sites = _observed_sites(view, row, energy.families[name].n_sites)
            size = None if view.size is None else view.size[row]
            if len(sites):
                values = dense_row(view.statistic, row)
                for _ in range(n_probes):
                    total[row] += probe.score(values, sites, natural[row], rng, size) / n_probes
    return total


def _observed_sites(view: ViewBatch, row: int, n_sites: int) -> np.ndarray:
    if view.missing is None:
        return np.arange(n_sites)
    return np.flatnonzero(~view.missing[row])


class _Probe:
    """Conditional log-probability of a site drawn at random, times the number of sites."""

    def __init__(self, energy: Energy, parameters: Parameters, name: str) -> None:
        self._layer = energy.layer(parameters)
        self._family: Family = energy.families[name]
        self._weights = parameters[weights_of(name)]
        self._bias = parameters[bias_of(name)].astype(np.float64)
        self._own = energy.own(parameters, name)
        self._members = self._family.spread(np.arange(self._family.n_sites)[None, :])[0]

    def score(
        self,
        values: np.ndarray,
        sites: np.ndarray,
        natural: np.ndarray,
        rng: np.random.Generator,
        size: float | None = None,
    ) -> float:
        if self._family.ordered:
            assert size is not None
            return self._chain(values, natural, rng, int(size))
        if self._family.exclusive:
            return self._exclusive(values, sites, natural, rng)
        return self._independent(values, sites, natural, rng)

    def _hidden_part(self, naturals: np.ndarray) -> np.ndarray:
        return self._layer.log_partition(naturals).sum(axis=1)

    def _independent(
        self, values: np.ndarray, sites: np.ndarray, natural: np.ndarray, rng: np.random.Generator
    ) -> float:
        site = int(rng.choice(sites))
        present, weight = values[site], self._weights[site].astype(np.float64)

        def log_density(states: np.ndarray) -> np.ndarray:
            base = self._family.log_base(states, self._own, np.full(len(states), site))
            return states * self._bias[site] + base + self._hidden_part(natural + np.outer(states - present, weight))

        own = {name: value[[site]] for name, value in self._own.items()}
        given_hidden = np.array([[self._bias[site] + self._layer.mean(natural) @ weight]])
        centre = float(self._family.mean(np.clip(given_hidden, *self._family.natural_limits), own)[0, 0])
        observed = float(log_density(np.array([present]))[0])
        return (observed - self._log_sum(log_density, present, centre, own)) * len(sites)

    def _log_sum(
        self, log_density: Callable[[np.ndarray], np.ndarray], present: float, centre: float, own: dict[str, np.ndarray]
    ) -> float:
        """Log of the sum (or integral) of a density over the support, in a window that is widened until it holds it."""
        support = self._family.support
        if np.isfinite(support.upper):
            states, log_weights = support.grid()
            return float(logsumexp(log_density(states) + log_weights))
        step = 1.0 if support.integer else 0.125 * float(np.exp(0.5 * own["log_variance"][0]))
        reach = 20 * step + 10 * np.sqrt(max(abs(present), abs(centre), 1.0)) * step
        low, high = min(present, centre) - reach, max(present, centre) + reach
        while True:
            low = max(low, support.lower)
            states = np.arange(np.floor(low), high + 1) if support.integer else np.arange(low, high, step)
            scores = log_density(states)
            cut = scores.max() - _NEGLIGIBLE
            left_is_wide = scores[0] < cut or low <= support.lower
            right_is_wide = scores[-1] < cut
            if (left_is_wide and right_is_wide) or len(states) > _MOST_POINTS:
                return float(logsumexp(scores) + np.log(step))
            width = high - low
            low, high = (low if left_is_wide else low - width), (high if right_is_wide else high + width)

    def _chain(self, values: np.ndarray, natural: np.ndarray, rng: np.random.Generator, length: int) -> float:
        """The whole sequence of one feature given those of the others."""
        n_chains = len(values) // 2
        pair = int(rng.integers(n_chains)) + np.array([0, n_chains])
        weights = self._weights[pair].astype(np.float64)
        states, log_numbers = chain_states(length)
        present = values[pair]
        score = (states - present) @ self._bias[pair] + self._hidden_part(natural + (states - present) @ weights)
        observed = float(self._hidden_part(natural[None, :])[0])
        return n_chains * (observed - float(logsumexp(score + log_numbers)))

    def _exclusive(self, values: np.ndarray, sites: np.ndarray, natural: np.ndarray, rng: np.random.Generator) -> float:
        observed = np.where(np.isin(self._members, sites), values, 0.0)
        total = observed.sum()
        if total == 0:  # an empty document has no token to ask about
            return 0.0
        token = int(rng.choice(len(observed), p=observed / total))
        rivals = np.flatnonzero(self._members == self._members[token])
        weights = self._weights[rivals].astype(np.float64)
        hidden = self._hidden_part(natural - self._weights[token] + weights)
        score = self._bias[rivals] + hidden
        return float(total * (score[rivals == token][0] - logsumexp(score)))
