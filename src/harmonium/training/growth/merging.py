"""Merging of topics that agree: the same model with fewer units."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from harmonium.core.parameters import Parameters, copy_parameters, couplings, units_of
from harmonium.energy import Energy
from harmonium.hidden.selection.merging import add_unit, agreeing_units
from harmonium.objectives.problem import Problem
from harmonium.training.growth.prune import use_of_units
from harmonium.views.data import Data

#: correlation over the items from which topics say the same, where nobody asks for a number of topics: a convention.
#: Of 30 topics of Reuters 20 are left, 18 of them distinct (of 30: 19), of 20 of hotels all, of 42 of 20 Newsgroups 37.
SAME = 0.5


def without_duplicates(
    problem: Problem, parameters: Parameters, data: Data, threshold: float
) -> tuple[Problem, Parameters]:
    """Return the model with topics that correlate by ``threshold`` or more over the items added to one of them.

    Topics that are the same for all items are removed; one is always left, and so are units that are no topics. What
    all units together add to a feature or a score, on average over the items, stays as it is.
    """
    hidden, use = problem.energy.hidden, use_of_units(problem, parameters, data)
    others = ~hidden.groups.are_topics
    kept = ~hidden.groups.idle(use.deviation) | others
    kept[np.argmax(np.where(others, -1.0, use.deviation))] = True
    order = np.argsort(-use.deviation, kind="stable")
    order = order[kept[order] & ~others[order]]
    merged = copy_parameters(parameters)
    for unit, leader in agreeing_units(use.correlation, order, threshold):
        add_unit(merged, unit, leader)
        kept[unit] = False
    smaller = hidden.restore(int(kept.sum()))
    if smaller.n_units is not None:
        smaller.set_params(n_units=int(kept.sum()))
    problem, left = replace(problem, energy=Energy(problem.energy.families, smaller)), units_of(merged, kept)
    after = use_of_units(problem, left, data)
    for (weights, _), (new, bias) in zip(couplings(parameters), couplings(left), strict=True):
        bias += (use.mean @ weights - after.mean @ new).astype(bias.dtype)
    return problem, left
