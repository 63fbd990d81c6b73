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

from dataclasses import replace

import numpy as np

from harmonium.objectives.problem import Problem
from harmonium.training.births import Grown
from harmonium.training.completing import Completion
from harmonium.training.nursery import Candidate, Nursery
from harmonium.training.plan import Plan
from harmonium.views.data import Data

# Rounds at most. A round that adds less than this share of the units is the last one, as no model explains all there
# is. Set on development seeds 1 and 2 of the generators of benchmarks/infinite_truth.
_MOST_ROUNDS, _HARDLY_ANY = 8, 0.1
# Share of the rows that are held out, at most so many, and the fewest that decide anything: conventions.
_HELD_OUT, _MOST_HELD_OUT, _FEWEST_HELD_OUT = 1 / 6, 1000, 10
# Strength from which births count as features, and the share of the units by which their number is last increased where
# there are none, if a larger share was not borne out: conventions. Features of benchmarks/infinite_truth are born with
# 0.5 (40 that overlap) or 1.
_STRONG, _SMALLEST_STEP = 0.5, 0.5


def grown(problem: Problem, data: Data, plan: Plan, rng: np.random.Generator) -> Grown:
    """Return the model as its training begins, with as many units as the data ask for, and at most those of the layer.

    If the data ask for none, it has one unit, without weights.
    """
    learned, held_out = _split(data, rng)
    completion = None if held_out is None else Completion.of(problem, held_out, rng)
    nursery = Nursery(problem, learned, plan, completion)
    chosen = _search(nursery, rng)
    if not chosen.n_units:
        return chosen.born
    n_epochs = None if chosen.strength >= _STRONG else nursery.n_epochs(chosen, rng)
    born = Nursery(problem, data, plan, None).born(chosen.n_units, chosen.strength, rng)
    return replace(born, n_born=chosen.n_units, n_epochs=n_epochs)


def _split(data: Data, rng: np.random.Generator) -> tuple[Data, Data | None]:
    """Return rows to learn from and rows that are held out, if there are enough."""
    n_held_out = min(int(_HELD_OUT * len(data)), _MOST_HELD_OUT)
    if n_held_out < _FEWEST_HELD_OUT:
        return data, None
    order = rng.permutation(len(data))
    return data.take(np.sort(order[n_held_out:])), data.take(np.sort(order[:n_held_out]))


def _search(nursery: Nursery, rng: np.random.Generator) -> Candidate:
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
