"""Binary units that always agree are one unit: what items have together cannot be told apart.

If z_k = z_l for all items, the energy depends on the sums of their weights, biases and log-odds alone, so one unit with
these sums is the same model. Units of which one is there when the other is not are turned over first.
"""

from __future__ import annotations

import numpy as np

from harmonium.hidden import SpikeSlab
from harmonium.objectives import Problem
from harmonium.params import (
    HEAD_BIAS,
    HEAD_WEIGHTS,
    HIDDEN_BIAS,
    LOG_ODDS,
    Parameters,
    bias_of,
    copy_parameters,
    weights_of,
)

# correlation over items from which units count as the same
_AGREEMENT = 0.95


def merge_units(
    problem: Problem, parameters: Parameters, candidates: np.ndarray, correlation: np.ndarray, evidence: np.ndarray
) -> tuple[Parameters, np.ndarray]:
    """Parameters with units that agree added to the one of most evidence, and which units are left.

    ``candidates`` (a mask) may be left; those merged into another one are without weights afterwards.
    """
    layer = problem.energy.layer(parameters)
    assert isinstance(layer, SpikeSlab)
    result, left = copy_parameters(parameters), candidates.copy()
    if layer.kind != "binary":
        return result, left
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
            _turn(problem, layer, result, unit)
        _add(problem, result, unit, leader)
        left[unit] = False
    return result, left


def _turn(problem: Problem, layer: SpikeSlab, parameters: Parameters, unit: int) -> None:
    """Count the unit from the other end: z becomes 1 - z."""
    parameters[HIDDEN_BIAS][unit] = layer.turned_bias(parameters[HIDDEN_BIAS])[unit]
    for name in problem.energy.families:
        weights = parameters[weights_of(name)]
        parameters[bias_of(name)] += weights[:, unit]
        weights[:, unit] *= -1
    if HEAD_WEIGHTS in parameters:
        parameters[HEAD_BIAS] += parameters[HEAD_WEIGHTS][unit]
        parameters[HEAD_WEIGHTS][unit] *= -1


def _add(problem: Problem, parameters: Parameters, unit: int, leader: int) -> None:
    parameters[HIDDEN_BIAS][leader] += parameters[HIDDEN_BIAS][unit] + parameters[LOG_ODDS][unit]
    for name in problem.energy.families:
        weights = parameters[weights_of(name)]
        weights[:, leader] += weights[:, unit]
        weights[:, unit] = 0
    if HEAD_WEIGHTS in parameters:
        parameters[HEAD_WEIGHTS][leader] += parameters[HEAD_WEIGHTS][unit]
        parameters[HEAD_WEIGHTS][unit] = 0
