"""Merging of binary units that always agree: what items have together cannot be told apart.

If z_k = z_l for all items, the energy depends on the sums of their weights, biases and log-odds alone, so one unit with
these sums is the same model. If items have one of two units exactly when they lack the other, one is turned over first.
"""

from __future__ import annotations

import numpy as np

from harmonium.core.parameters import HIDDEN_BIAS, Parameters, copy_parameters, couplings

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
    order = np.argsort(-evidence, kind="stable")
    for unit, leader in agreeing_units(np.abs(correlation), order[candidates[order]], _AGREEMENT):
        if correlation[unit, leader] < 0:
            _turn(result, log_odds, unit)
        add_unit(result, unit, leader, log_odds[unit])
        left[unit] = False
    return result, left


def agreeing_units(agreement: np.ndarray, order: np.ndarray, least: float) -> list[tuple[int, int]]:
    """Return units that agree with an earlier one, each with the one it agrees with most.

    Parameters
    ----------
    agreement : ndarray of shape (units, units)
        How much units agree.
    order : ndarray of int
        Units, the one that others are added to first.
    least : float
        Agreement from which units count as the same.

    Returns
    -------
    list of (int, int)
        Units, and those that they can be added to, which themselves stay.

    Examples
    --------
    >>> agreeing_units(np.array([[1.0, 0.9, 0.1], [0.9, 1.0, 0.2], [0.1, 0.2, 1.0]]), np.array([1, 2, 0]), 0.8)
    [(0, 1)]
    """
    leaders: list[int] = []
    found = []
    for unit in order.tolist():
        leader = leaders[int(np.argmax(agreement[unit, leaders]))] if leaders else None
        if leader is None or agreement[unit, leader] < least:
            leaders.append(unit)
        else:
            found.append((unit, leader))
    return found


def _turn(parameters: Parameters, log_odds: np.ndarray, unit: int) -> None:
    """Turn a unit over, in place: z becomes 1 - z, while its log-odds stay."""
    bias = parameters[HIDDEN_BIAS]
    bias[unit] = -bias[unit] - 2 * log_odds[unit]
    for weights, shift in couplings(parameters):
        shift += weights[unit]
        weights[unit] *= -1


def add_unit(parameters: Parameters, unit: int, leader: int, log_odds: float = 0.0) -> None:
    """Add a unit, whose own log-odds are given, to one that it agrees with, in place."""
    parameters[HIDDEN_BIAS][leader] += parameters[HIDDEN_BIAS][unit] + log_odds
    for weights, _ in couplings(parameters):
        weights[leader] += weights[unit]
        weights[unit] = 0
