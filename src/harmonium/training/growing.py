"""Growing: as many units are born as directions of what is left unexplained stand out of chance.

A model without units leaves everything unexplained. As many units as its spectrum has components above chance are born,
from independent sources behind as many factors of the data. A few epochs later the spectrum of what they leave says how
many more are needed; all are then born anew, from so many factors, and so on until no component stands out, or hardly
any. How far one has to stand out is a matter of its evidence and of the layer's prior of the number of units.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from harmonium.energy import Energy
from harmonium.kernels.sources import independent_rotation
from harmonium.objectives.problem import Problem
from harmonium.params import HIDDEN, HIDDEN_BIAS, Parameters, bias_of, copy_parameters, own_of, weights_of
from harmonium.training.base import Training
from harmonium.training.clusters import bias_of_activity
from harmonium.training.plan import Plan
from harmonium.training.progress import Silent
from harmonium.training.projection import project
from harmonium.training.spectrum import factors, residuals, sampled_rows, standardised, unexplained
from harmonium.views.data import Data

# Rounds at most, and epochs in between. A round that adds less than this share of the units is the last one, as no
# model explains all there is. Set on development seeds 1 and 2 of the generators of benchmarks/infinite_truth.
_MOST_ROUNDS, _EPOCHS, _HARDLY_ANY = 8, 5, 0.1
# Rows by which sources are told apart, and rows by which biases are found: conventions, which save time.
_SOURCE_ROWS, _BIAS_ROWS = 5000, 1000
# Largest weight of a unit when it is born: a convention, log-odds that move a binary feature from 1 % to 60 %.
_LARGEST_WEIGHT = 5.0


@dataclass(frozen=True)
class Grown:
    """A model with the units that were born.

    Attributes
    ----------
    problem : Problem
        The model.
    parameters : dict of str to ndarray
        Where its training begins.
    n_born : int
        Number of units that stand out of chance; if it is 0, the model has one unit without weights.
    """

    problem: Problem
    parameters: Parameters
    n_born: int


def with_units(problem: Problem, n_units: int) -> Problem:
    """Return the problem with another number of units of the same layer."""
    return replace(problem, energy=Energy(problem.energy.families, problem.energy.hidden.restore(n_units)))


def grown(problem: Problem, data: Data, plan: Plan, rng: np.random.Generator) -> Grown:
    """Return the model as its training begins, with as many units as the data ask for, and at most those of the layer.

    If the data ask for none, it has one unit, without weights.
    """
    n_features = sum(family.n_features_ for family in problem.energy.families.values())
    rows = sampled_rows(problem, data)
    most = min(problem.energy.hidden.n_units_, n_features, len(rows) - 1)
    born = _born(problem, data, np.zeros((n_features, 1)), np.zeros((len(rows), 1)))
    known, n_units, trained = np.zeros((n_features, 0)), 0, born.parameters
    table, deviation = standardised(residuals(born.problem, born.parameters, data, rows))
    for _ in range(_MOST_ROUNDS):
        if n_units >= most:
            break
        found, chance = unexplained(born.problem, trained, data, rows, known, most - n_units, rng)
        n_more = _n_standing_out(problem, found, chance, n_units, len(data))
        if not n_more:
            break
        n_units += n_more
        known, sources = _sources(table, deviation, n_units, rng)
        born = _born(problem, data, known, sources)
        if n_more < _HARDLY_ANY * n_units:
            break
        training = Training(copy_parameters(born.parameters))
        plan.driver.run(born.problem, plan.objective, data, training, rng, Silent(), None, _EPOCHS)
        trained = training.result
    return replace(born, n_born=n_units)


def _n_standing_out(problem: Problem, found: np.ndarray, chance: float, n_units: int, n_items: int) -> int:
    """Return how many leading components have more evidence than chance and the prior against them.

    A component of variance v instead of 1 makes n normal rows more likely by n (v - 1 - log v) / 2 nats.
    """

    def nats(variance: np.ndarray | float) -> np.ndarray:
        bounded = np.maximum(variance, 1.0)
        return np.asarray(n_items / 2 * (bounded - 1 - np.log(bounded)))

    before = n_units + np.arange(len(found))
    prior = problem.energy.hidden.log_odds_of_another(before, n_items)
    stands_out = nats(found) - nats(chance) + prior > 0
    return len(found) if stands_out.all() else int(np.argmin(stands_out))


def _sources(
    table: np.ndarray, deviation: np.ndarray, n_units: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return independent sources behind the factors of a table: their effects on the statistics, and their values."""
    found = factors(table, n_units, rng)
    spaced = np.linspace(0, len(table) - 1, min(_SOURCE_ROWS, len(table))).astype(int)
    rotation = independent_rotation(found.scores[spaced], rng)
    return deviation[:, None] * (found.loadings @ rotation.T), found.scores @ rotation.T


def _born(problem: Problem, data: Data, effects: np.ndarray, sources: np.ndarray) -> Grown:
    """Return a model whose units stand for sources, by their effects on the statistics of all views."""
    problem = with_units(problem, effects.shape[1])
    energy, families = problem.energy, problem.energy.families
    reference = {name: problem.reference[name].astype(np.float64) for name in families}
    own = {name: family.own_parameters() for name, family in families.items()}
    variances = np.concatenate([families[name].statistic_variance(reference[name], own[name]) for name in families])
    deviation = np.sqrt(np.maximum(variances, 1e-12))[:, None]
    weights, share = energy.hidden.births(effects / deviation, sources)
    weights = np.clip(weights / deviation, -_LARGEST_WEIGHT, _LARGEST_WEIGHT)
    prior = energy.hidden.prior_of_use(share, len(data))
    parameters: Parameters = {HIDDEN_BIAS: np.zeros(len(share))}
    ends = np.cumsum([family.n_features_ for family in families.values()])
    for (name, family), end in zip(families.items(), ends, strict=True):
        parameters[weights_of(name)] = weights[end - family.n_features_ : end]
        parameters |= {own_of(name, own_name): value for own_name, value in own[name].items()}
    parameters |= {own_of(HIDDEN, name): value for name, value in prior.items()}
    parameters = {name: value.astype(np.float32) for name, value in parameters.items()}
    layer = energy.layer(parameters)
    centre = np.zeros(len(share))
    if layer.bounded:  # as many items have a unit as have its source
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
    return Grown(problem, parameters, 0)


def _biased(
    problem: Problem, parameters: Parameters, reference: dict[str, np.ndarray], centre: np.ndarray
) -> Parameters:
    """Return parameters with biases at which views have their mean statistics if the units are at their centre."""
    biases = {
        bias_of(name): family.natural_from_mean(reference[name]) - parameters[weights_of(name)] @ centre
        for name, family in problem.energy.families.items()
    }
    return parameters | {name: value.astype(np.float32) for name, value in biases.items()}
