"""Binary units that always agree are one unit: what items have together cannot be told apart.

If z_k = z_l for all items, the energy depends on the sums of their weights, biases and log-odds alone, so one unit with
these sums is the same model. Units of which one is there when the other is not are turned over first.
"""

from __future__ import annotations

import numpy as np

from harmonium.params import HIDDEN_BIAS, Parameters, copy_parameters, couplings

# correlation over items from which units count as the same
_AGREEMENT = 0.95


def merge_units(
    parameters: Parameters,
    log_odds: np.ndarray,
    candidates: np.ndarray,
    correlation: np.ndarray,
    evidence: np.ndarray,
) -> tuple[Parameters, np.ndarray]:
    """Parameters with units that agree added to the one of most evidence, and which units are left.

    ``candidates`` (a mask) may be left; those merged into another one are without weights afterwards.
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
    """Count the unit from the other end: z becomes 1 - z, while its log-odds stay."""
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
