"""Naive Monte Carlo of the partition function (eq. 18 of the Bayesian harmonium paper): simple, unbiased, unreliable.

With the views summed out, Z is an expectation over units that know their bias alone:
Z = Z_units · E[exp Σ_v log-partition of view v at θ_v + W_v h]. A few draws far out carry nearly all of it once weights
are large, and a run that misses them underestimates Z and its own error; annealing does not have that trouble.
"""

from __future__ import annotations

import numpy as np

from harmonium.energy import Energy
from harmonium.inference.ais import LogPartition
from harmonium.params import HIDDEN_BIAS, Parameters

# naturals of so many draws are in memory at a time
_BLOCK = 1000


def naive_log_partition(
    energy: Energy,
    parameters: Parameters,
    rng: np.random.Generator,
    n_draws: int = 1000,
    sizes: dict[str, float] | None = None,
) -> LogPartition:
    """log Z by ``n_draws`` hidden states drawn without regard to the views.

    The estimate of Z is unbiased; that of log Z, for which the standard error is, errs on the low side.

    Examples
    --------
    >>> from harmonium import Bernoulli, BernoulliUnits
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
        own = (bias * hidden + layer.log_base(hidden)).sum(axis=1, dtype=np.float64)
        log_weights.append(energy.log_marginal_of_hidden(parameters, hidden, rows) - own)
    base = float(layer.log_partition(bias).sum(dtype=np.float64))
    return LogPartition.from_log_weights(base, np.concatenate(log_weights))
