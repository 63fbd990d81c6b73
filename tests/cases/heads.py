"""Heads by registry with targets that they take, statistics of a problem, and gradients by finite differences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from harmonium.core.batch import Batch
from harmonium.core.parameters import Parameters
from harmonium.core.parts import registered
from harmonium.core.targets import Kind, Labels, Targets, TargetSpec
from harmonium.heads import LinearHead
from harmonium.objectives import Objective
from harmonium.objectives.problem import Problem
from harmonium.objectives.statistics import Statistics
from tests.cases.models import hidden_names

COST = np.array([[0.0, 1.0, 2.0], [0.5, 0.0, 1.5], [3.0, 0.7, 0.0]])
N_CLASSES = [3, 2]
LINEAR = sorted(name for name, head in registered("head").items() if issubclass(head, LinearHead))
HIDDEN = hidden_names()
# settings that matter to the loss, beside the defaults that every head is tried with
SETTINGS: dict[str, dict[str, Any]] = {
    "Hinge": {"cost": 0.7},
    "EpsilonInsensitive": {"epsilon": 0.3},
    "MultiLabelHinge": {"positive_weight": 3.0},
    "Ordinal": {"margins": "nearest"},
}
VARIANTS = [(name, settings) for name in LINEAR for settings in ({}, SETTINGS.get(name, {"ridge": 0.2}))]


def labelled(kind: Kind, values: np.ndarray, n_classes: Sequence[int] = (), weight: Any = 1.0) -> Labels:
    """What the reader of y would make of them; ``n_classes``: of each column, unless they are numbers."""
    classes = [np.arange(number) for number in n_classes]
    weight = np.broadcast_to(np.asarray(weight, dtype=float), len(values))
    return Labels(TargetSpec(kind, classes, values.shape[1] == 1, values.shape[1]), Targets(values, weight))


def labels_for(kind: Kind, n_rows: int, seed: int = 0, columns: int | None = None, weight: Any = 1.0) -> Labels:
    """Labels of which some are unknown (all of row 0)."""
    rng = np.random.default_rng(seed)
    if kind == "class":
        n_classes = N_CLASSES[:columns]
        values = np.stack([rng.integers(-1, number, size=n_rows) for number in n_classes], axis=1)
        values[0] = -1
        return labelled(kind, values, n_classes, weight)
    values = rng.normal(size=(n_rows, 2)) if kind == "number" else rng.integers(0, 2, size=(n_rows, 3)).astype(float)
    values[rng.random(values.shape) < 0.2] = np.nan
    values[0] = np.nan
    return labelled(kind, values, () if kind == "number" else (2, 2, 2), weight)


def labels_of(name: str, kind: Kind, n_rows: int = 40, **settings: Any) -> Labels:
    """Labels that a head of these settings takes: columns of classes only if it can have several."""
    several = name in LINEAR and name != "Ordinal" and np.ndim(settings.get("cost", 1.0)) == 0
    weight = np.random.default_rng(1).uniform(0.2, 2.0, size=n_rows)
    labels = labels_for(kind, n_rows, columns=None if several else 1, weight=weight)
    if name == "Ordinal" and kind == "number":  # one column of numbers that are levels
        levels = np.round(labels.targets.values[:, :1])
        labels = Labels(TargetSpec("number", []), Targets(levels, weight))
    return labels


def bound(name: str, kind: Kind | None = None, n_rows: int = 40, **settings: Any) -> tuple[Any, Targets]:
    """A head, and targets it takes, as it encodes them."""
    head_class: Any = registered("head")[name]
    head = head_class(C=1.0, **settings) if issubclass(head_class, LinearHead) else head_class(**settings)
    head.check()
    labels = labels_of(name, kind or head.kinds[0], n_rows, **settings)
    head = head.bind(labels)
    return head, head.targets(labels)


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
