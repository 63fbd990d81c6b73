"""New topics for content that changed: groups of the items that a model explains worst, judged by other items.

A model that goes on with more rows first looks at what it leaves unexplained of them, φ(x) - E[φ(x) | E[h | x]]. Groups
of items that lack the same are proposed as units, and rows that no group was made from decide about each. It has to be
news: the rows must lack what the group has more than those before them did, beyond chance. Otherwise any model with few
topics would open others batch after batch. And it has to help: with the unit, parts of these rows must be easier to
predict from their other parts. What is there stays as it is; it learns on afterwards, with the new units.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.stats import norm
from sklearn.preprocessing import normalize
from sklearn.utils.extmath import randomized_svd

from harmonium.core.parameters import HIDDEN, HIDDEN_BIAS, Parameters, extra_of, weights_of
from harmonium.energy import Energy
from harmonium.kernels.sparse.products import add_column_sums
from harmonium.linear.comparison import is_better
from harmonium.objectives.problem import Problem
from harmonium.training.clusters import AVERAGE_ITEMS, bias_of_activity, nearest_clusters
from harmonium.training.drivers.projection import project
from harmonium.training.growth.candidates import PARTS, HeldOutReconstruction
from harmonium.training.growth.new_units import with_units
from harmonium.training.growth.spectrum import differences
from harmonium.training.topic_edits import TopicEdits
from harmonium.views.data import Data

# Groups that are proposed at a time, and rounds of proposals: conventions.
_GROUPS, _ROUNDS, _REFINEMENTS = (2, 4, 8), 10, 3
# Items of a group at least, among those that propose, and the probability that a batch without news opens a topic:
# conventions.
_FEWEST, _LEVEL = 10, 0.01
# Standard errors by which the rows that judge must be predicted better: a convention.
_CLEARLY = 2.0
#: rows that are looked at, at most: a convention
ROWS = 2000
#: topics that a batch may open where their number has no limit: a convention
MANY = 100
# Numbers that these may hold, and rows that are read at a time: conventions.
_LARGEST_TABLE, _PIECE = 20_000_000, 100
# Largest weight of a new unit, log-odds from 1 % to 60 %, and power iterations of the decomposition: conventions.
_LARGEST_WEIGHT, _POWER = 5.0, 4
# Items that each feature is taken to have besides its own, so that rare ones do not decide: a convention.
_CHANCE = 10.0


#: weights of a unit, all views side by side, and the share of the items that have it
Proposal = tuple[np.ndarray, float]


def room_for_topics(problem: Problem) -> int:
    """Return how many topics may be opened: any number of units that only raise features, up to a truncation of others.

    Parameters
    ----------
    problem : Problem
        The model.

    Returns
    -------
    int
        A number of units; 0 where something is predicted, and for units that are not on or off.
    """
    layer = problem.energy.hidden
    if not _opens_topics(problem):
        return 0
    return max(layer.bind(layer.n_units_).n_units_ - layer.n_units_, 0) if layer.selection.selects else MANY


def check_opens_topics(problem: Problem, edits: TopicEdits) -> None:
    """Refuse to open topics of a model that cannot.

    Parameters
    ----------
    problem : Problem
        The model.
    edits : TopicEdits
        What was done to its topics by hand.
    """
    if not _opens_topics(problem):
        raise ValueError(
            "new_topics need units that are on or off and only raise features or are selected, and nothing to predict; "
            f"got {problem.energy.hidden}; leave new_topics out, or use TopicModel or iEFH."
        )
    if not edits.can_grow:
        raise ValueError(
            "new_topics need topics that are not split by hand, as these have numbers that new ones would take; undo "
            "the splits, or leave new_topics out."
        )


def _opens_topics(problem: Problem) -> bool:
    layer = problem.energy.hidden
    if problem.head is not None or not layer.support.bounded or layer.groups.dimensions is not None:
        return False
    return layer.selection.selects or (layer.lower_bound >= 0 and layer.distribution.is_shared)


def mean_residuals(problem: Problem, parameters: Parameters, data: Data) -> dict[str, np.ndarray]:
    """Return what a model leaves unexplained of some data on average, by view.

    Parameters
    ----------
    problem : Problem
        Structure of the model.
    parameters : dict of str to ndarray
        Its parameters.
    data : Data
        Items.

    Returns
    -------
    dict of str to ndarray of shape (features,)
        Mean of φ(x) - E[φ(x) | E[h | x]] over the items, or over evenly spaced ones if there are many.
    """
    rows = np.linspace(0, len(data) - 1, min(len(data), ROWS)).astype(int)
    pieces = np.array_split(rows, -(-len(rows) // _PIECE))
    totals = [differences(problem, parameters, data, piece).sum(axis=0, dtype=np.float64) for piece in pieces]
    return _by_view(problem, (np.sum(totals, axis=0) / len(rows)).astype(np.float32))


def opened(
    problem: Problem, parameters: Parameters, data: Data, before: dict[str, np.ndarray], n_before: int, most: int
) -> tuple[Problem, Parameters]:
    """Return a model with new units where some items ask for them, and its parameters.

    Parameters
    ----------
    problem : Problem
        Structure of the model.
    parameters : dict of str to ndarray
        Its parameters, which stay as they are.
    data : Data
        Items that are new to the model.
    before : dict of str to ndarray
        What the model left unexplained of the items before them, on average, by view.
    n_before : int
        Number of these items.
    most : int
        Number of units that may be added.

    Returns
    -------
    problem : Problem
        The problem, with more units.
    parameters : dict of str to ndarray
        Those of the units before, and behind them those of the new ones.

    Notes
    -----
    Mean statistics of the problem are those of all items then, as words of new topics may have been rare before.
    """
    n_units = problem.energy.hidden.n_units_
    order = np.random.default_rng(len(data)).permutation(_rows(problem, data))
    learned, judged = (data.take(np.sort(half)) for half in np.array_split(order, 2))
    held_out = _held_out(problem, judged) if len(learned) > _FEWEST else []
    expected = np.concatenate([before[name] for name in problem.energy.families])
    for _ in range(min(_ROUNDS, most) if held_out else 0):
        proposals = _proposed(problem, parameters, learned)
        news = _news(problem, parameters, judged, proposals, expected, min(n_before, ROWS))
        trials = [_with_unit(problem, parameters, learned, proposal) for proposal in news]
        if not trials:
            break
        losses = [_losses(held_out, *trial) for trial in trials]
        best = int(np.argmin([one.mean() for one in losses]))
        if not is_better(losses[best], _losses(held_out, problem, parameters), np.ones(len(judged)), _CLEARLY):
            break
        problem, parameters = trials[best]
    if problem.energy.hidden.n_units_ > n_units:
        problem = replace(problem, reference=_reference(problem, parameters, data, n_before))
    return problem, parameters


def _held_out(problem: Problem, data: Data) -> list[HeldOutReconstruction]:
    """Return questions about every site of some rows by the others; none if a row is a single site.

    A few sites of each row tell too little to recognise a topic that few rows have.
    """
    parts = [HeldOutReconstruction.of(problem, data, np.random.default_rng(0), part) for part in range(PARTS)]
    return [one for one in parts if one is not None]


def _losses(held_out: list[HeldOutReconstruction], problem: Problem, parameters: Parameters) -> np.ndarray:
    """Return the loss of predicting every site of each row from the others."""
    return np.sum([one.losses(problem, parameters) for one in held_out], axis=0)


def _reference(problem: Problem, parameters: Parameters, data: Data, n_before: int) -> dict[str, np.ndarray]:
    """Return the mean statistics of the items before and these."""
    totals = {name: n_before * mean.astype(np.float64) for name, mean in problem.reference.items()}
    for block in data.blocks(problem.energy.families):
        for name, view in problem.complete(parameters, block).views.items():
            add_column_sums(view.statistic, 1.0, totals[name])
    return {name: (total / (n_before + len(data))).astype(np.float32) for name, total in totals.items()}


def _rows(problem: Problem, data: Data) -> np.ndarray:
    """Return the numbers of the rows that are looked at."""
    n_features = sum(family.n_features_ for family in problem.energy.families.values())
    return np.linspace(0, len(data) - 1, min(len(data), ROWS, _LARGEST_TABLE // n_features + 1)).astype(int)


def _by_view(problem: Problem, columns: np.ndarray) -> dict[str, np.ndarray]:
    """Return parts of an array, whose rows are the features of all views side by side."""
    ends = np.cumsum([family.n_features_ for family in problem.energy.families.values()])
    return dict(zip(problem.energy.families, np.split(columns, ends[:-1]), strict=True))


def _proposed(problem: Problem, parameters: Parameters, data: Data) -> list[Proposal]:
    """Return what groups of items with the same residuals ask for."""
    table = differences(problem, parameters, data, np.arange(len(data)))
    scaled = table / np.sqrt(np.square(table).mean(axis=0) + _CHANCE / len(table))
    found = []
    for n_groups in _GROUPS:
        n_groups = min(n_groups, *(side - 1 for side in scaled.shape))
        left, sizes, _ = randomized_svd(scaled, n_groups, n_iter=_POWER, random_state=0)
        group = nearest_clusters(left, np.asarray(normalize(left * sizes)), n_groups)
        belongs = (group == np.arange(n_groups)[:, None]).astype(np.float64)
        found += [_refined(problem, parameters, data, table, own) for own in belongs if own.sum() >= _FEWEST]
    return found


def _refined(problem: Problem, parameters: Parameters, data: Data, table: np.ndarray, belongs: np.ndarray) -> Proposal:
    """Return a proposal for a group, whose items are then those that have the unit, a few times."""
    for _ in range(_REFINEMENTS):
        proposal = _proposal(problem, table, belongs)
        trial = _with_unit(problem, parameters, data, proposal)
        belongs = _presence(*trial, data)[:, -1].astype(np.float64)
    return _proposal(problem, table, belongs)


def _proposal(problem: Problem, table: np.ndarray, belongs: np.ndarray) -> Proposal:
    """Return the weights of a unit for items that belong together, by their residuals."""
    lacking = belongs @ table / (belongs.sum() + AVERAGE_ITEMS)
    return _weights(problem, lacking), float(belongs.mean())


def _news(
    problem: Problem,
    parameters: Parameters,
    data: Data,
    proposals: list[Proposal],
    expected: np.ndarray,
    n_before: int,
) -> list[Proposal]:
    """Return the proposals that are news to some items."""
    table, found = differences(problem, parameters, data, np.arange(len(data))), []
    usual = np.concatenate([problem.reference[name] for name in problem.energy.families]).astype(np.float64)
    for weights, share in proposals:
        # long items have more of everything, which is no news
        direction = weights - usual * (weights @ usual) / max(float(usual @ usual), 1e-12)
        values = table @ direction
        error = values.std(ddof=1) * np.sqrt(1 / len(values) + 1 / max(n_before, 1))
        z = (values.mean() - expected @ direction) / max(error, 1e-12)
        if z > norm.isf(_LEVEL / len(proposals)):
            found.append((weights, share))
    return found


def _weights(problem: Problem, lacking: np.ndarray) -> np.ndarray:
    """Return the weights of a unit that adds to the mean item what a group of items lacks."""
    found = []
    for name, lack in _by_view(problem, lacking).items():
        family, mean = problem.energy.families[name], problem.reference[name].astype(np.float64)
        found.append(family.natural_from_mean(mean + lack) - family.natural_from_mean(mean))
    return np.clip(np.concatenate(found), max(problem.energy.hidden.lower_bound, -_LARGEST_WEIGHT), _LARGEST_WEIGHT)


def _with_unit(problem: Problem, parameters: Parameters, data: Data, proposal: Proposal) -> tuple[Problem, Parameters]:
    """Return the model with one more unit, which as many items have as are in its group."""
    weights, share = proposal
    energy, rows = problem.energy, np.arange(len(data))
    larger = with_units(problem, energy.hidden.n_units_ + 1)
    made = dict(parameters)
    for name, own in _by_view(problem, weights).items():
        made[weights_of(name)] = np.column_stack([parameters[weights_of(name)], own]).astype(np.float32)
    made[HIDDEN_BIAS] = np.append(parameters[HIDDEN_BIAS], np.float32(0))
    prior = larger.energy.hidden.selection.prior
    if prior is not None:
        shares = np.append(_presence(problem, parameters, data).mean(axis=0), share)
        extra = prior.for_shares(shares, len(data))
        made |= {extra_of(HIDDEN, name): value.astype(np.float32) for name, value in extra.items()}
    batch = larger.complete(made, data.batch(rows, energy.families))
    layer = larger.energy.layer(made)
    natural = larger.energy.hidden_natural(made, batch)
    made[HIDDEN_BIAS][-1] = bias_of_activity(Energy(energy.families, layer), natural, share)[-1]
    project(larger.energy, made)
    return larger, made


def _presence(problem: Problem, parameters: Parameters, data: Data) -> np.ndarray:
    """Return the probability that each item has each unit."""
    layer = problem.energy.layer(parameters)
    batch = problem.complete(parameters, data.batch(np.arange(len(data)), problem.energy.families))
    return layer.selection.presence(problem.energy.hidden_natural(parameters, batch))
