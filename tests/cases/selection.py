"""Data with known features, models that find them quickly, and a problem of three views."""

from __future__ import annotations

from typing import Any

import numpy as np

from harmonium import IBP, Harmonium, Stochastic
from harmonium.core.parameters import Parameters
from harmonium.energy import Energy
from harmonium.hidden.selection.evidence import Evidence
from harmonium.hidden.selection.useful_units import UsefulUnits
from harmonium.objectives.problem import Problem
from harmonium.objectives.statistics import Statistics
from tests.cases.models import make_family, make_parameters

QUICK = Stochastic(max_iter=80, batch_size=0.05, learning_rate=0.09)
FEW = Stochastic(max_iter=3, batch_size=30, learning_rate=0.09)
REFERENCE = {"a": np.array([0.1, 0.5, 0.8]), "b": np.zeros(3), "c": np.array([0.5, 1.0, 1.5])}


def three_views(relevance: float = 1.0, loss_weight: float = 0.0) -> tuple[Problem, Parameters]:
    families = {"a": make_family("Bernoulli"), "b": make_family("Gaussian"), "c": make_family("Poisson")}
    energy = Energy(families, IBP(relevance=relevance).bind(4))
    return Problem(energy, REFERENCE, loss_weight=loss_weight), make_parameters(energy, seed=3)


def evidence_of(problem: Problem, n_items: int) -> Evidence:
    """What speaks for the units of a problem whose layer selects them."""
    selection = problem.selection(n_items)
    assert isinstance(selection, UsefulUnits)
    return selection._evidence


def cost(problem: Problem, parameters: Parameters, n_items: int, n_rows: int) -> Statistics:
    statistics = Statistics.zeros_like(parameters)
    statistics.loss += evidence_of(problem, n_items).charge(statistics.gradient, parameters, n_rows)
    return statistics


def features(n_rows: int = 300, n_found: int = 3, width: int = 15, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rows with some of a few features, each of which adds its own pattern, at right angles and of the same size."""
    rng = np.random.default_rng(seed)
    has = rng.random((n_rows, n_found)) < 0.4
    patterns = 8 * np.linalg.qr(rng.normal(size=(width, n_found)))[0].T
    return has @ patterns + rng.normal(size=(n_rows, width)), has


X, HAS = features()


def quick(truncation: int = 8, layer: dict[str, Any] | None = None, **settings_: Any) -> Harmonium:
    defaults = {"hidden": IBP(truncation=truncation, **(layer or {})), "driver": QUICK, "random_state": 0}
    return Harmonium(**{**defaults, **settings_})


def assert_found(model: Harmonium, has: np.ndarray, data: Any) -> None:
    """Each feature is one of the units, or its opposite."""
    latent = model.transform(data)
    agreement = np.abs(np.corrcoef(has.T, latent.T)[: has.shape[1], has.shape[1] :])
    assert (agreement.max(axis=1) > 0.8).all(), agreement.round(2)


def select() -> Harmonium:
    return quick().fit(X)


def classes_of(has: np.ndarray) -> np.ndarray:
    return has[:, 0] + 2 * has[:, 1]
