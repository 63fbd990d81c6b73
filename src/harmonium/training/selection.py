"""Which units are of use: their prior follows the data while training, and those without evidence go at the end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from harmonium.energy import Energy
from harmonium.hidden import SpikeSlab
from harmonium.hidden.spike_slab import DROWSIER, wakefulness
from harmonium.objectives import Problem, Relevance, Statistics
from harmonium.params import (
    HEAD_BIAS,
    HEAD_WEIGHTS,
    HIDDEN,
    HIDDEN_BIAS,
    LOG_ODDS,
    Parameters,
    bias_of,
    own_of,
    weights_of,
)
from harmonium.training.merging import merge_units
from harmonium.views import Views

# the cost of weights changes slowly: it is charged for so many batches at a time
_CHARGED_EVERY = 5
# Robbins-Monro: steps t^-κ of the posterior of the sticks when counts come from a part of the items
_FORGETTING = 0.6
# what a head asks for tells units apart from the start: more of them can learn at a time
_DROWSIER_WITH_HEAD = 0.95
# what the smallest unit that a head relies on adds to its scores, whose margin is 1
_SMALLEST_DIFFERENCE = 0.02
_BLOCK = 1000


class Selection:
    """Follows the use of units during a pass over the data."""

    def __init__(self, problem: Problem, n_items: int) -> None:
        layer = problem.energy.hidden
        assert isinstance(layer, SpikeSlab)
        self._layer = layer
        self._n_items = n_items
        self._relevance = Relevance(problem, n_items)
        self._drowsier = DROWSIER if problem.head is None else _DROWSIER_WITH_HEAD
        self._rows = self._uncharged = self._batches = 0

    @classmethod
    def of(cls, problem: Problem, n_items: int) -> Selection | None:
        """None if the hidden layer uses all its units."""
        return cls(problem, n_items) if isinstance(problem.energy.hidden, SpikeSlab) else None

    def wake(self, parameters: Parameters) -> None:
        """Before the first step: queue the units."""
        parameters[LOG_ODDS][:] = wakefulness(np.arange(self._layer.n_units_), self._drowsier)

    def charge(
        self, statistics: Statistics, parameters: Parameters, n_rows: int, last: bool = False, at_once: bool = False
    ) -> None:
        """Charge a batch for the weights of the units; the ``last`` of a pass leaves nothing uncharged.

        ``at_once`` if it is all the items, counted afresh.
        """
        self._rows = n_rows if at_once else self._rows + n_rows
        self._uncharged = n_rows if at_once else self._uncharged + n_rows
        self._batches += 1
        if at_once or last or self._batches % _CHARGED_EVERY == 0:
            self._relevance.add(statistics, parameters, self._uncharged)
            self._uncharged = 0

    def settle(self, parameters: Parameters, statistics: Statistics, n_before: int | None = None) -> None:
        """Update the prior by the use counted since the last time; ``n_before`` such steps on a part of the items.

        None stands for counts over all items: a whole step of coordinate ascent.
        """
        counts = statistics.gradient[LOG_ODDS]
        use = counts.astype(np.float64) * (self._n_items / max(self._rows, 1))
        share = 1.0 if n_before is None else (1.0 + n_before) ** -_FORGETTING
        own = self._layer.settle(
            self._own(parameters), use, self._n_items, self._relevance.evidence(parameters), share, self._drowsier
        )
        for name, value in own.items():
            parameters[own_of(HIDDEN, name)][:] = value
        counts[:] = 0
        self._rows = 0

    def _own(self, parameters: Parameters) -> Mapping[str, np.ndarray]:
        return {name: parameters[own_of(HIDDEN, name)] for name in self._layer.own_names}

    def read(self, parameters: Parameters, presence: np.ndarray) -> dict[str, float]:
        """For the history: units that stand out, and the bound on the prior terms, in nats an item."""
        evidence = self._relevance.evidence(parameters)
        counts = np.sort(presence.astype(np.float64))[::-1] * self._n_items
        bound = self._layer.prior_bound(self._own(parameters), counts, self._n_items)
        return {"n_components": float((evidence >= 1).sum()), "prior_bound": bound / self._n_items}


@dataclass(frozen=True)
class Selected:
    """What is left after units without evidence were removed."""

    problem: Problem
    parameters: Parameters
    usage: np.ndarray
    n_found: int


def prune(problem: Problem, parameters: Parameters, views: Views, n_items: int) -> Selected:
    """Keep the units that stand out (at least one), those that agree as one, and fold the others into the biases.

    With a head units stand out by little, as each item weighs much: those that the views alone do not speak for must
    also make a difference to its scores. ``n_found`` counts units before those that agree become one.
    """
    layer = problem.energy.hidden
    assert isinstance(layer, SpikeSlab)
    evidence = Relevance(problem, n_items).evidence(parameters)
    use = use_of_units(problem, parameters, views)
    found = evidence >= 1
    if HEAD_WEIGHTS in parameters:
        difference = use.deviation * np.abs(parameters[HEAD_WEIGHTS]).max(axis=1)
        alone = evidence / (1.0 + problem.strength)
        found &= (alone >= 1) | (difference >= _SMALLEST_DIFFERENCE)
    candidates = found if found.any() else np.arange(len(found)) == int(np.argmax(evidence))
    parameters, kept = merge_units(problem, parameters, candidates, use.correlation, evidence)
    smaller = Problem(
        Energy(problem.energy.families, layer.keep(int(kept.sum()))), problem.reference, problem.head, problem.strength
    )
    mean = use.mean[~kept].astype(np.float32)
    result = dict(parameters)
    for name in problem.energy.families:
        weights = parameters[weights_of(name)]
        result[bias_of(name)] = parameters[bias_of(name)] + weights[:, ~kept] @ mean
        result[weights_of(name)] = np.ascontiguousarray(weights[:, kept])
    if HEAD_WEIGHTS in parameters:
        result[HEAD_BIAS] = parameters[HEAD_BIAS] + mean @ parameters[HEAD_WEIGHTS][~kept]
        result[HEAD_WEIGHTS] = parameters[HEAD_WEIGHTS][kept]
    for name in (HIDDEN_BIAS, LOG_ODDS):
        result[name] = parameters[name][kept]
    beta = own_of(HIDDEN, "beta")
    result[beta] = parameters[beta][: len(result[LOG_ODDS])]  # units that stand out rank first
    usage = use_of_units(smaller, result, views).presence.astype(np.float32)
    return Selected(smaller, result, usage, int(found.sum()))


@dataclass(frozen=True)
class Use:
    """Share of the items that have each unit; mean, deviation and correlation of the units' means over the items."""

    presence: np.ndarray
    mean: np.ndarray
    deviation: np.ndarray
    correlation: np.ndarray


def use_of_units(problem: Problem, parameters: Parameters, views: Views) -> Use:
    """One pass over the items."""
    energy = problem.energy
    layer = energy.layer(parameters)
    assert isinstance(layer, SpikeSlab)
    presence, total = np.zeros((2, layer.n_units_))
    products = np.zeros((layer.n_units_, layer.n_units_))
    for items in np.array_split(np.arange(len(views)), -(-len(views) // _BLOCK)):
        natural = energy.hidden_natural(parameters, problem.complete(parameters, views.batch(items, energy.families)))
        mean = layer.mean(natural)
        presence += layer.presence(natural, mean).sum(axis=0, dtype=np.float64)
        total += mean.sum(axis=0, dtype=np.float64)
        wide = mean.astype(np.float64)
        products += wide.T @ wide
    average = total / len(views)
    covariance = products / len(views) - np.outer(average, average)
    deviation = np.sqrt(np.maximum(np.diag(covariance), 0))
    scale = np.maximum(deviation, 1e-12)
    return Use(presence / len(views), average, deviation, covariance / np.outer(scale, scale))
