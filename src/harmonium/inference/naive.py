"""Naive Monte Carlo of the partition function (eq. 18 of Guo & Xing 2006): simple, unbiased, unreliable.

With the views summed out, Z is an expectation over units that depend on their bias alone:

    Z = Z_units · E[exp Σ_v log-partition of view v at θ_v + W_v h]

Once weights are large, a few draws far out carry nearly all of it, and a run that misses them underestimates both Z and
the error of the estimate (``benchmarks/perfect_sampling``). Annealing does not have that problem.
"""

from __future__ import annotations

import numpy as np

from harmonium.core.parameters import HIDDEN_BIAS, Parameters
from harmonium.energy import Energy
from harmonium.inference.ais import LogPartition

# draws whose naturals are in memory at a time; it decides about memory and speed alone
_BLOCK = 1000


def naive_log_partition(
    energy: Energy,
    parameters: Parameters,
    rng: np.random.Generator,
    n_draws: int = 1000,
    sizes: dict[str, float] | None = None,
) -> LogPartition:
    """Estimate log Z from hidden states that are drawn without regard to the views.

    The estimate of Z is unbiased. That of log Z, to which the standard error belongs, is too low on average. The
    default of 1,000 draws is a convention.

    Examples
    --------
    >>> from harmonium import Bernoulli
    >>> from harmonium.hidden import BernoulliUnits
    >>> energy = Energy({"x": Bernoulli().restore(2, {})}, BernoulliUnits().bind(1))
    >>> parameters = {"hidden.bias": np.zeros(1), "x.weights": np.ones((2, 1)), "x.bias": np.zeros(2)}
    >>> estimate = naive_log_partition(energy, parameters, np.random.default_rng(0), 10_000)
    >>> exact = np.log(4 + (1 + np.e) ** 2)
    >>> bool(abs(estimate.value - exact) < 4 * estimate.standard_error)
    True
    """
    layer, bias = energy.layer(parameters), parameters[HIDDEN_BIAS]
    log_weights = []
    for first in range(0, n_draws, _BLOCK):
        n_rows = min(_BLOCK, n_draws - first)
        hidden = layer.sample(np.tile(bias, (n_rows, 1)), rng)
        rows = {name: np.full(n_rows, float(size)) for name, size in (sizes or {}).items()}
        extra = (bias * hidden + layer.log_base(hidden)).sum(axis=1, dtype=np.float64)
        log_weights.append(energy.log_marginal_of_hidden(parameters, hidden, rows) - extra)
    base = float(layer.log_partition(bias).sum(dtype=np.float64))
    return LogPartition.from_log_weights(base, np.concatenate(log_weights))
