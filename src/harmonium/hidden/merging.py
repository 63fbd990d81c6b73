"""Merging of binary units that always agree: what items have together cannot be told apart.

If z_k = z_l for all items, the energy depends on the sums of their weights, biases and log-odds alone, so one unit with
these sums is the same model. If items have one of two units exactly when they lack the other, one is turned over first.
"""

from __future__ import annotations

import numpy as np

from harmonium.params import HIDDEN_BIAS, Parameters, copy_parameters, couplings

# correlation over items from which units count as the same; a convention
_AGREEMENT = 0.95


def merge_units(
    parameters: Parameters,
    log_odds: np.ndarray,
    candidates: np.ndarray,
    correlation: np.ndarray,
    evidence: np.ndarray,
) -> tuple[Parameters, np.ndarray]:
    """Add units that agree to the one with the most evidence.

    Parameters
    ----------
    parameters : dict of str to ndarray
        Parameters of the model.
    log_odds : ndarray of shape (units,)
        Prior log-odds of the units.
    candidates : ndarray of bool of shape (units,)
        Units that may stay.
    correlation : ndarray of shape (units, units)
        Correlations of the units' means over the items.
    evidence : ndarray of shape (units,)
        Evidence of the units.

    Returns
    -------
    parameters : dict of str to ndarray
        New parameters, in which units that were added to another one have weights of zero.
    left : ndarray of bool of shape (units,)
        Candidates that are left.
    """
    result, left = copy_parameters(parameters), candidates.copy()
    leaders: list[int] = []
    order: list[int] = np.argsort(-evidence, kind="stable").tolist()
    for unit in order:
        if not candidates[unit]:
            continue
        leader = leaders[int(np.argmax(np.abs(correlation[unit, leaders])))] if leaders else None
        if leader is None or abs(correlation[unit, leader]) < _AGREEMENT:
            leaders.append(unit)
            continue
        if correlation[unit, leader] < 0:
            _turn(result, log_odds, unit)
        _add(result, log_odds, unit, leader)
        left[unit] = False
    return result, left


def _turn(parameters: Parameters, log_odds: np.ndarray, unit: int) -> None:
    """Turn a unit over, in place: z becomes 1 - z, while its log-odds stay."""
    bias = parameters[HIDDEN_BIAS]
    bias[unit] = -bias[unit] - 2 * log_odds[unit]
    for weights, shift in couplings(parameters):
        shift += weights[unit]
        weights[unit] *= -1


def _add(parameters: Parameters, log_odds: np.ndarray, unit: int, leader: int) -> None:
    parameters[HIDDEN_BIAS][leader] += parameters[HIDDEN_BIAS][unit] + log_odds[unit]
    for weights, _ in couplings(parameters):
        weights[leader] += weights[unit]
        weights[unit] = 0
