"""Heads by registry with targets that they take, statistics of a problem, and gradients by finite differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from harmonium.batch import Batch, Targets
from harmonium.heads import LinearHead
from harmonium.objectives import Objective
from harmonium.objectives.problem import Problem
from harmonium.objectives.statistics import Statistics
from harmonium.params import Parameters
from harmonium.parts import registered

from .conftest import hidden_names

COST = np.array([[0.0, 1.0, 2.0], [0.5, 0.0, 1.5], [3.0, 0.7, 0.0]])
N_CLASSES = [3, 2]
LINEAR = sorted(name for name, head in registered("head").items() if issubclass(head, LinearHead))
HIDDEN = hidden_names()
# settings that matter to the loss, beside the defaults that every head is tried with
SETTINGS: dict[str, dict[str, Any]] = {
    "Hinge": {"cost": 0.7},
    "EpsilonInsensitive": {"epsilon": 0.3},
    "MultiLabelHinge": {"positive_weight": 3.0},
}
VARIANTS = [(name, settings) for name in LINEAR for settings in ({}, SETTINGS.get(name, {"ridge": 0.2}))]


def targets_for(kind: str, n_rows: int, seed: int = 0, columns: int | None = None) -> tuple[np.ndarray, list[int]]:
    """Targets of which some are unknown (all of row 0), and the number of classes of each column."""
    rng = np.random.default_rng(seed)
    if kind == "class":
        n_classes = N_CLASSES[:columns]
        values = np.stack([rng.integers(-1, number, size=n_rows) for number in n_classes], axis=1)
        values[0] = -1
        return values, n_classes
    values = rng.normal(size=(n_rows, 2)) if kind == "number" else rng.integers(0, 2, size=(n_rows, 3)).astype(float)
    values[rng.random(values.shape) < 0.2] = np.nan
    values[0] = np.nan
    return values, [] if kind == "number" else [2, 2, 2]


def bound(name: str, kind: str | None = None, n_rows: int = 40, **settings: Any) -> tuple[Any, Targets]:
    """A head, and targets it takes, as it encodes them."""
    head_class: Any = registered("head")[name]
    head = head_class(C=1.0, **settings) if issubclass(head_class, LinearHead) else head_class(**settings)
    head.check()
    several = issubclass(head_class, LinearHead) and np.ndim(settings.get("cost", 1.0)) == 0
    values, n_classes = targets_for(kind or head.kinds[0], n_rows, columns=None if several else 1)
    weight = np.random.default_rng(1).uniform(0.2, 2.0, size=n_rows)
    head = head.bind(Targets(values, weight), n_classes)
    return head, Targets(head.encode(values), weight)


def statistics_of(objective: Objective, problem: Problem, parameters: Parameters, batch: Batch, **keywords: Any):
    statistics = Statistics.zeros_like(parameters)
    objective.accumulate(problem, parameters, batch, statistics, np.random.default_rng(0), **keywords)
    return statistics


def assert_gradient(
    problem: Problem, gradient: Parameters, loss: Callable[[Parameters], float], parameters: Parameters
) -> None:
    """Every entry that gradients move against central differences."""
    for name, value in problem.moving(parameters).items():
        for index in np.ndindex(value.shape):
            moved = [value.copy(), value.copy()]
            moved[0][index] += 1e-5
            moved[1][index] -= 1e-5
            slope = (loss({**parameters, name: moved[0]}) - loss({**parameters, name: moved[1]})) / 2e-5
            assert gradient[name][index] == pytest.approx(slope, abs=3e-5, rel=1e-4), (name, index)
