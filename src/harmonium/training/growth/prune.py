"""Removal of units without evidence: use of the units by the items, and the model that is left."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from harmonium.core.parameters import Parameters
from harmonium.energy import Energy
from harmonium.hidden.selection import Use
from harmonium.objectives.problem import Problem
from harmonium.views.data import Data


@dataclass(frozen=True)
class Selected:
    """What is left after units without evidence were removed.

    Attributes
    ----------
    problem : Problem
        The smaller model.
    parameters : dict of str to ndarray
        Its parameters.
    usage : ndarray of shape (units,)
        Share of the items that have each unit.
    n_found : int
        Number of units that stood out, before those that agree became one.
    """

    problem: Problem
    parameters: Parameters
    usage: np.ndarray
    n_found: int


def prune(problem: Problem, parameters: Parameters, data: Data, n_items: int) -> Selected | None:
    """Remove the units that the hidden layer finds no evidence for; return None if the layer selects none."""
    if not problem.energy.hidden.selection.selects:  # spares the pass over the items
        return None
    pruned = problem.selection(n_items).prune(parameters, use_of_units(problem, parameters, data))
    assert pruned is not None
    smaller = replace(problem, energy=Energy(problem.energy.families, pruned.layer))
    usage = use_of_units(smaller, pruned.parameters, data).presence.astype(np.float32)
    return Selected(smaller, pruned.parameters, usage, pruned.n_found)


def use_of_units(problem: Problem, parameters: Parameters, data: Data) -> Use:
    """Return how the items use the units, by one pass over them."""
    energy = problem.energy
    layer = energy.layer(parameters)
    presence, total = np.zeros((2, layer.n_units_))
    products = np.zeros((layer.n_units_, layer.n_units_))
    for block in data.blocks(energy.families):
        natural = energy.hidden_natural(parameters, problem.complete(parameters, block))
        mean = layer.mean(natural)
        presence += layer.selection.presence(natural, mean).sum(axis=0, dtype=np.float64)
        total += mean.sum(axis=0, dtype=np.float64)
        wide = mean.astype(np.float64)
        products += wide.T @ wide
    average = total / len(data)
    covariance = products / len(data) - np.outer(average, average)
    deviation = np.sqrt(np.maximum(np.diag(covariance), 0))
    scale = np.maximum(deviation, 1e-12)
    return Use(presence / len(data), average, deviation, covariance / np.outer(scale, scale))
