"""New units that stand for independent sources behind the factors of what a model leaves unexplained."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from harmonium.core.parameters import HIDDEN, HIDDEN_BIAS, Parameters, bias_of, extra_of, weights_of
from harmonium.energy import Energy
from harmonium.objectives.problem import Problem
from harmonium.training.clusters import bias_of_activity
from harmonium.training.drivers.projection import project
from harmonium.training.growth.spectrum import factors
from harmonium.views.data import Data

# Rows by which sources are told apart, and rows by which biases are found: conventions, which save time.
_SOURCE_ROWS, _BIAS_ROWS = 5000, 1000
# Largest weight of a new unit: a convention, log-odds that move a binary feature from 1 % to 60 %.
_LARGEST_WEIGHT = 5.0


@dataclass(frozen=True)
class GrownModel:
    """A model with new units.

    Attributes
    ----------
    problem : Problem
        The model.
    parameters : dict of str to ndarray
        Where its training begins.
    n_grown : int
        Number of units that stand out of chance; if it is 0, the model has one unit without weights.
    n_epochs : int, optional
        Epochs after which its training is to end; None if it ends as the driver plans.
    """

    problem: Problem
    parameters: Parameters
    n_grown: int
    n_epochs: int | None = None


def with_units(problem: Problem, n_units: int) -> Problem:
    """Return the problem with another number of units of the same layer."""
    return replace(problem, energy=Energy(problem.energy.families, problem.energy.hidden.restore(n_units)))


def sources_of(
    problem: Problem, table: np.ndarray, deviation: np.ndarray, n_units: int, rng: np.random.Generator
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return independent sources behind the factors of a table: their effects on the statistics, and their values.

    There are as many pairs as there are kinds of sources that units may stand for.
    """
    found = factors(table, n_units, rng)
    spaced = np.linspace(0, len(table) - 1, min(_SOURCE_ROWS, len(table))).astype(int)
    prior = problem.energy.hidden.selection.prior
    assert prior is not None
    kinds = prior.sources(found.scores, spaced, rng)
    return [(deviation[:, None] * (found.loadings @ effects), sources) for effects, sources in kinds]


def units_from_sources(problem: Problem, data: Data, effects: np.ndarray, sources: np.ndarray) -> GrownModel:
    """Return a model whose units stand for sources, by their effects on the statistics of all views."""
    problem = with_units(problem, effects.shape[1])
    energy, families = problem.energy, problem.energy.families
    reference = {name: problem.reference[name].astype(np.float64) for name in families}
    extra = {name: family.extra_parameters.initial for name, family in families.items()}
    variances = np.concatenate([families[name].statistic_variance(reference[name], extra[name]) for name in families])
    deviation = np.sqrt(np.maximum(variances, 1e-12))[:, None]
    prior = energy.hidden.selection.prior
    assert prior is not None
    weights, share = prior.weights_from_sources(effects / deviation, sources)
    weights = np.clip(weights / deviation, -_LARGEST_WEIGHT, _LARGEST_WEIGHT)
    parameters: Parameters = {HIDDEN_BIAS: np.zeros(len(share))}
    ends = np.cumsum([family.n_features_ for family in families.values()])
    for (name, family), end in zip(families.items(), ends, strict=True):
        parameters[weights_of(name)] = weights[end - family.n_features_ : end]
        parameters |= {extra_of(name, extra_name): value for extra_name, value in extra[name].items()}
    parameters |= {extra_of(HIDDEN, name): value for name, value in prior.for_shares(share, len(data)).items()}
    parameters = {name: value.astype(np.float32) for name, value in parameters.items()}
    layer = energy.layer(parameters)
    centre = np.zeros(len(share))
    if layer.support.bounded:  # as many items have a unit as have its source
        batch = problem.complete(_biased(problem, parameters, reference, centre), data.spaced(_BIAS_ROWS, families))
        natural = energy.hidden_natural(parameters, batch)
        parameters[HIDDEN_BIAS] = bias_of_activity(Energy(families, layer), natural, share).astype(np.float32)
        centre = share
    else:  # the mean item has nothing
        parameters[HIDDEN_BIAS] = -np.sum(
            [problem.reference[name] @ parameters[weights_of(name)] for name in families], axis=0
        ).astype(np.float32)
    parameters = _biased(problem, parameters, reference, centre)
    project(energy, parameters)
    return GrownModel(problem, parameters, 0)


def _biased(
    problem: Problem, parameters: Parameters, reference: dict[str, np.ndarray], centre: np.ndarray
) -> Parameters:
    """Return parameters with biases at which views have their mean statistics if the units are at their centre."""
    biases = {
        bias_of(name): family.natural_from_mean(reference[name]) - parameters[weights_of(name)] @ centre
        for name, family in problem.energy.families.items()
    }
    return parameters | {name: value.astype(np.float32) for name, value in biases.items()}
