"""Annealed importance sampling: log Z of models that cannot be enumerated, with its standard error (Neal 2001)."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.special import logsumexp

from harmonium.core.batch import Batch
from harmonium.core.parameters import HIDDEN_BIAS, Parameters, bias_of, weights_of
from harmonium.energy import Energy
from harmonium.inference.gibbs import Sizes, sample_views


@dataclass(frozen=True)
class LogPartition:
    """Estimate of log Z, and its standard error by the delta method over the chains."""

    value: float
    standard_error: float

    @classmethod
    def from_log_weights(cls, base: float, log_weights: np.ndarray) -> Self:
        """Return the estimate Z = exp(base) · mean of the importance weights."""
        number = len(log_weights)
        relative = np.exp(log_weights - log_weights.max())
        error = relative.std(ddof=1) / (relative.mean() * np.sqrt(number))
        return cls(float(base + logsumexp(log_weights) - np.log(number)), float(error))


def annealed_log_partition(
    energy: Energy,
    parameters: Parameters,
    rng: np.random.Generator,
    n_chains: int = 100,
    n_temperatures: int = 1000,
    reference: dict[str, np.ndarray] | None = None,
    sizes: dict[str, float] | None = None,
) -> LogPartition:
    """Estimate log Z by annealing from independent features to the model.

    At inverse temperature β the views have biases (1 - β) θ_reference + β θ and weights β W, so at β = 0 the partition
    function is known exactly.

    Parameters
    ----------
    energy : Energy
        Structure of the model.
    parameters : dict of str to ndarray
        Parameters of the model.
    rng : numpy.random.Generator
        Source of randomness.
    n_chains : int, default=100
        Number of chains; their spread gives the standard error.
    n_temperatures : int, default=1000
        Number of temperatures, evenly spaced. More of them make the estimate more precise. Both numbers are
        conventions; ``benchmarks/correctness`` and ``benchmarks/perfect_sampling`` show how precise estimates are.
    reference : dict of str to ndarray, optional
        Means of the features, by view, at which annealing starts. By default it starts from the biases of the model.
    sizes : dict of str to float, optional
        Size of an item, by view, for families that have sizes.

    Returns
    -------
    LogPartition
        The estimate and its standard error.
    """
    layer = energy.layer(parameters)
    rows: Sizes = {name: np.full(n_chains, float(size)) for name, size in (sizes or {}).items()}
    base_bias = {
        name: parameters[bias_of(name)]
        if reference is None
        else family.natural_from_mean(reference[name]).astype(parameters[bias_of(name)].dtype)
        for name, family in energy.families.items()
    }

    def at(beta: float) -> Parameters:
        scaled = dict(parameters)
        for name in energy.families:
            scaled[weights_of(name)] = parameters[weights_of(name)] * np.float32(beta)
            scaled[bias_of(name)] = ((1 - beta) * base_bias[name] + beta * parameters[bias_of(name)]).astype(
                parameters[bias_of(name)].dtype
            )
        return scaled

    def log_density_slope(batch: Batch) -> np.ndarray:
        # derivative by β of the visible part of the log-density, which is linear in β
        total = np.zeros(n_chains)
        for name, view in batch.views.items():
            total += np.asarray(view.statistic) @ (parameters[bias_of(name)] - base_bias[name]).astype(np.float64)
        return total

    def hidden_part(field: np.ndarray, beta: float) -> np.ndarray:
        natural = parameters[HIDDEN_BIAS] + np.float32(beta) * field
        return layer.log_partition(natural).sum(axis=1, dtype=np.float64)

    betas = np.linspace(0.0, 1.0, n_temperatures)
    start = at(0.0)
    silent = np.zeros((n_chains, energy.hidden.n_units_), dtype=parameters[HIDDEN_BIAS].dtype)
    base = energy.log_marginal_of_hidden(start, silent[:1], {name: size[:1] for name, size in rows.items()})[0]
    base -= float(layer.log_base(silent[:1]).sum())
    base += float(layer.log_partition(parameters[HIDDEN_BIAS]).sum(dtype=np.float64))
    batch = sample_views(energy, start, silent, rng, rows)
    log_weights = np.zeros(n_chains)
    for before, now in itertools.pairwise(betas):
        field = energy.hidden_natural(parameters, batch, with_bias=False)
        log_weights += hidden_part(field, now) - hidden_part(field, before) + (now - before) * log_density_slope(batch)
        natural = parameters[HIDDEN_BIAS] + np.float32(now) * field
        batch = sample_views(energy, at(now), layer.sample(natural, rng), rng, rows)
    return LogPartition.from_log_weights(base, log_weights)
