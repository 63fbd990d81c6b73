"""Exact answers for small models: the oracle that everything else is checked against.

The hidden states are enumerated (by quadrature if they are real) and the views summed analytically, so any families may
be mixed. The cost is the number of states of a unit to the power of the number of units.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from harmonium.core.parameters import HIDDEN_BIAS, Parameters, bias_of, extra_of, weights_of
from harmonium.energy import Energy
from harmonium.hidden import HiddenLayer
from harmonium.inference.gibbs import Sizes

# a convention, which limits memory and time
_LARGEST_ENUMERATION = 2_000_000
# Steps of the grid in a standard deviation of a unit given the views, below which sums are no integrals any more: with
# 0.8 they are wrong by 2 exp(-2 (0.8 π)²), 1 in 150,000.
_FEWEST_STEPS = 0.8


class OffGridError(ValueError):
    """Real hidden units that spread beyond the grid on which they are enumerated."""


@dataclass(frozen=True)
class Expectations:
    """The exact log Z, and the model's expectation of every statistic by parameter name."""

    log_partition: float
    statistics: Parameters


def hidden_states(energy: Energy) -> tuple[np.ndarray, np.ndarray]:
    """Return all joint states of the hidden units, of shape (states, units), and the log-weight of each."""
    n_units = energy.hidden.n_units_
    of_units = [
        layer.support.grid(points=_points(n_units))
        for _, layer in energy.hidden.groups.parts
        for _ in range(layer.n_units_)
    ]
    largest = max(len(values) for values, _ in of_units)
    if math.prod(len(values) for values, _ in of_units) > _LARGEST_ENUMERATION:
        raise ValueError(
            f"Exact enumeration needs at most {_LARGEST_ENUMERATION} hidden states; {n_units} units with {largest} "
            "values have more; use fewer units, or annealed importance sampling."
        )
    grids = np.meshgrid(*(values for values, _ in of_units), indexing="ij")
    weights = np.meshgrid(*(log_weights for _, log_weights in of_units), indexing="ij")
    return np.stack([grid.ravel() for grid in grids], axis=1), np.sum([w.ravel() for w in weights], axis=0)


def _points(n_units: int) -> int:
    """Return the number of values of a real unit.

    Steps are 0.1, and 0.23 for several units, where the trapezoid rule is still exact to rounding for a variance of 1.
    """
    return 281 if n_units == 1 else 121


def exact_log_partition(energy: Energy, parameters: Parameters, sizes: Sizes | None = None) -> float:
    """Return log Z; ``sizes`` holds the size of an item, by view, for families that have sizes."""
    return _enumerate(energy, _double(parameters), sizes)[0]


def exact_expectations(energy: Energy, parameters: Parameters, sizes: Sizes | None = None) -> Expectations:
    """Return log Z and the expected statistics, from which the gradient of the likelihood follows."""
    parameters = _double(parameters)
    log_partition, states, probability, rows = _enumerate(energy, parameters, sizes)
    statistics: Parameters = {HIDDEN_BIAS: probability @ states}
    for name, family in energy.families.items():
        extra, size = energy.extra(parameters, name), rows.get(name)
        mean = family.mean(energy.view_natural(parameters, name, states, size), extra, size)
        statistics[bias_of(name)] = probability @ mean
        statistics[weights_of(name)] = (mean * probability[:, None]).T @ energy.row_weighted(name, states, size)
        for extra_name, value in family.extra_parameters.statistics(mean, extra, inferred=True).items():
            statistics[extra_of(name, extra_name)] = probability @ value
    return Expectations(log_partition, statistics)


def _enumerate(
    energy: Energy, parameters: Parameters, sizes: Sizes | None
) -> tuple[float, np.ndarray, np.ndarray, Sizes]:
    """Return log Z, the hidden states, their probabilities, and the sizes repeated for each of them."""
    states, log_weights = hidden_states(energy)
    rows = {name: np.full(len(states), float(np.ravel(size)[0])) for name, size in (sizes or {}).items()}
    log_marginal = energy.log_marginal_of_hidden(parameters, states, rows) + log_weights
    log_partition = float(logsumexp(log_marginal))
    with np.errstate(invalid="ignore"):
        # no state has a probability where log Z is infinite, which a line search may ask about
        probability = np.exp(log_marginal - log_partition)
    if not energy.hidden.support.bounded:
        # a probability of more than 1e-5 at the edge of the grid means that it cuts something off; a convention
        largest = np.abs(states).max()
        border = (np.abs(states) >= largest * 0.999).any(axis=1)
        if probability[border].sum() > 1e-5:
            raise OffGridError(
                "Exact enumeration needs real hidden units to stay within the grid of ±14; this model's spread "
                "further; use annealed importance sampling, or smaller weights."
            )
        deviation = min(map(_smallest_deviation, (layer for _, layer in energy.layer(parameters).groups.parts)))
        step = 2 * largest / (_points(energy.hidden.n_units_) - 1)
        if deviation < _FEWEST_STEPS * step:
            raise OffGridError(
                f"Exact enumeration needs real hidden units whose standard deviation given the views is at least "
                f"{_FEWEST_STEPS * step:.2g}; got {deviation:.2g}; use annealed importance sampling, or units of a "
                "larger variance."
            )
    return log_partition, states, probability, rows


def _smallest_deviation(layer: HiddenLayer) -> float:
    """Return the smallest standard deviation of real units, given the views, in any direction; infinite for others."""
    if layer.support.bounded:
        return np.inf
    variance = np.asarray(layer.conditional_variance, dtype=np.float64)
    return float(np.sqrt(np.linalg.eigvalsh(np.atleast_2d(variance))[0]))


def _double(parameters: Parameters) -> Parameters:
    return {name: value.astype(np.float64) for name, value in parameters.items()}
