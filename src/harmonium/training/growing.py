"""Growing: as many units are born as stand out of chance in what is left unexplained, and as held-out rows bear out.

A model without units leaves everything unexplained. As many units as its spectrum has components above chance are born,
from independent sources behind as many factors of the data. A few epochs later the spectrum of what they leave says how
many more are needed; all are then born anew, from so many factors, and so on until no component stands out, or hardly
any. How far one has to stand out is a matter of its evidence and of the layer's prior of the number of units.

The spectrum proposes, and rows that no unit was born from decide: births have to make parts of these rows easier to
predict from the other parts. Where features are clear, as many births as there are features do so; on data with a heavy
tail, such as words, some component always stands out, and held-out rows say where to stop. They also say how strong
units are when they are born: sources that are far from having two values make units that are too sure of themselves.
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
from harmonium.training.comparing import is_better
from harmonium.training.completing import Completion
from harmonium.training.plan import Plan
from harmonium.training.progress import Silent
from harmonium.training.projection import project
from harmonium.training.spectrum import factors, residuals, sampled_rows, standardised, unexplained
from harmonium.views.data import Data

# Rounds at most, and epochs in between. A round that adds less than this share of the units is the last one, as no
# model explains all there is. Set on development seeds 1 and 2 of the generators of benchmarks/infinite_truth.
_MOST_ROUNDS, _EPOCHS, _HARDLY_ANY = 8, 5, 0.1
# Share of the rows that are held out, at most so many, and the fewest that decide anything: conventions.
_HELD_OUT, _MOST_HELD_OUT, _FEWEST_HELD_OUT = 1 / 6, 1000, 10
# Halvings of the strength of births that are tried at most: a convention. Of words, three were best.
_HALVINGS = 6
# Strength from which births count as features, and the share of the units by which their number is last increased where
# there are none, if a larger share was not borne out: conventions. Features of benchmarks/infinite_truth are born with
# 0.5 (40 that overlap) or 1.
_STRONG, _SMALLEST_STEP = 0.5, 0.5
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
    learned, held_out = _split(data, rng)
    completion = None if held_out is None else Completion.of(problem, held_out, rng)
    chosen = _search(_Nursery(problem, learned, plan, completion), rng)
    if not chosen.n_units:
        return chosen.born
    born = _Nursery(problem, data, plan, None).born(chosen.n_units, chosen.strength, rng)
    return replace(born, n_born=chosen.n_units)


def _split(data: Data, rng: np.random.Generator) -> tuple[Data, Data | None]:
    """Return rows to learn from and rows that are held out, if there are enough."""
    n_held_out = min(int(_HELD_OUT * len(data)), _MOST_HELD_OUT)
    if n_held_out < _FEWEST_HELD_OUT:
        return data, None
    order = rng.permutation(len(data))
    return data.take(np.sort(order[n_held_out:])), data.take(np.sort(order[:n_held_out]))


@dataclass(frozen=True)
class _Candidate:
    """A number of units, how strong they are at birth, and what completing each held-out row costs, then or later."""

    n_units: int
    strength: float
    born: Grown
    trained: Parameters
    effects: np.ndarray
    losses: np.ndarray | None

    @property
    def cost(self) -> float:
        """Mean loss of held-out rows; without such rows, more units count as better."""
        return -float(self.n_units) if self.losses is None else float(self.losses.mean())

    def is_clearly_better(self, other: _Candidate) -> bool:
        """Return whether held-out rows are completed better, by more than one standard error."""
        if self.losses is None or other.losses is None:
            return False
        return is_better(self.losses, other.losses, np.ones(len(self.losses)))


def _search(nursery: _Nursery, rng: np.random.Generator) -> _Candidate:
    """Return the best candidate: of those that the spectrum proposes, or, where it counts no features, of others.

    Births that are best when they are much weaker than features would be say that there are no features to count.
    Held-out rows alone then decide whether more units are better.
    """
    best = last = nursery.empty()
    for _ in range(_MOST_ROUNDS):
        n_more = nursery.n_standing_out(last, rng)
        if not n_more:
            break
        last = nursery.candidate(last.n_units + n_more, rng)
        if best.is_clearly_better(last):
            break
        best = min(best, last, key=lambda one: one.cost)
        if n_more < _HARDLY_ANY * last.n_units:
            break
    step = 1.0 if best.strength < _STRONG else 0.0
    while step >= _SMALLEST_STEP and best.n_units < nursery.most:
        tried = nursery.candidate(best.n_units + max(int(step * best.n_units), 1), rng)
        best, step = (tried, step) if tried.is_clearly_better(best) else (best, step / 2)
    return best


class _Nursery:
    """Where candidates are born and brought up, from rows to learn from, and judged by others."""

    def __init__(self, problem: Problem, data: Data, plan: Plan, completion: Completion | None) -> None:
        self._problem, self._data, self._plan, self._completion = problem, data, plan, completion
        self._rows = sampled_rows(problem, data)
        self._n_features = sum(family.n_features_ for family in problem.energy.families.values())
        self.most = min(problem.energy.hidden.n_units_, self._n_features, len(self._rows) - 1)
        self._without = _born(problem, data, np.zeros((self._n_features, 1)), np.zeros((len(self._rows), 1)))
        left = residuals(self._without.problem, self._without.parameters, data, self._rows)
        self._table, self._deviation = standardised(left)

    def empty(self) -> _Candidate:
        """Return the model without units, or rather with one that has no weights."""
        effects, born = np.zeros((self._n_features, 0)), self._without
        return _Candidate(0, 1.0, born, born.parameters, effects, self._losses(born, born.parameters))

    def n_standing_out(self, candidate: _Candidate, rng: np.random.Generator) -> int:
        """Return how many more units what a candidate leaves unexplained speaks for."""
        left = self.most - candidate.n_units
        if left <= 0:
            return 0
        of = candidate.born.problem
        found, chance = unexplained(of, candidate.trained, self._data, self._rows, candidate.effects, left, rng)
        return _n_standing_out(self._problem, found, chance, candidate.n_units, len(self._data))

    def born(self, n_units: int, strength: float, rng: np.random.Generator) -> Grown:
        """Return the model with new units of a given strength."""
        effects, sources = _sources(self._table, self._deviation, n_units, rng)
        return _born(self._problem, self._data, strength * effects, strength * sources)

    def candidate(self, n_units: int, rng: np.random.Generator) -> _Candidate:
        """Return a candidate with the strength at which held-out rows are completed best, after a few epochs."""
        n_units = min(n_units, self.most)
        effects, sources = _sources(self._table, self._deviation, n_units, rng)
        born, strength = _born(self._problem, self._data, effects, sources), 1.0
        losses = self._losses(born, born.parameters)
        for _ in range(_HALVINGS):
            weaker = _born(self._problem, self._data, strength / 2 * effects, strength / 2 * sources)
            losses_of_weaker = self._losses(weaker, weaker.parameters)
            if losses is None or losses_of_weaker is None or losses_of_weaker.mean() >= losses.mean():
                break
            born, strength, losses = weaker, strength / 2, losses_of_weaker
        training = Training(copy_parameters(born.parameters))
        driver, objective = self._plan.driver, self._plan.objective
        driver.run(born.problem, objective, self._data, training, rng, Silent(), None, _EPOCHS)
        later = self._losses(born, training.result)
        if losses is None or (later is not None and later.mean() < losses.mean()):
            losses = later
        return _Candidate(n_units, strength, born, training.result, effects, losses)

    def _losses(self, born: Grown, parameters: Parameters) -> np.ndarray | None:
        """Return what completing each held-out row costs; None if no rows are held out."""
        return None if self._completion is None else self._completion.losses(born.problem, parameters)


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
