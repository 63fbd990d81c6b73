"""Relevance of features to units: features of topics are ranked by it.

Weights say what a unit adds to a feature beside all other units; where these share the work, or pull against each
other, no weight alone says what the items of a topic are about. So features are compared where a unit is largest.

Values that count something are compared by how many items have them, as one item that repeats a word says little about
a topic. With p the share of all items that have a feature and f that of the typical items, the relevance is the
geometric mean of (f - p) / √(p (1 - p)), which favours rare features, and f log(f / p), which favours frequent ones.
Other features have the difference of their means in standard deviations.

The items that have most of a topic also share words by chance. Two words that belong together are found in the same
items wherever these are, so the relevance of a word is multiplied by the mean NPMI (Bouma 2009) of the word and the
other leading words of its topic, which have a say by their relevance.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse

from harmonium.core.batch import ViewBatch
from harmonium.core.parameters import Parameters
from harmonium.families import Family
from harmonium.kernels.sparse.entries import entries
from harmonium.kernels.sparse.matrix import binarize, to_scipy
from harmonium.metrics.coherence import npmi
from harmonium.objectives.problem import Problem
from harmonium.training.clusters import totals_of_groups
from harmonium.views.data import Data

# The most typical items of a unit: this many, but no more than this share of all, and at least a few. Conventions.
_TYPICAL, _LARGEST_SHARE, _FEWEST = 100, 0.05, 5
# Average items that join the typical ones, and items that each feature is taken to have besides its own. Otherwise
# words of two or three items come first, typical of anything by chance.
_CHANCE = 10.0
# Features that fewer items have are not ranked: names that stand in a few items say nothing about a topic. This many,
# but no more than this share of all items, and two of at least twenty. Conventions; benchmarks/topic_rivals.py shows
# what they give.
_FEWEST_ITEMS, _SHARE_OF_ITEMS = 10, 0.01
# Rows that are read at a time: a convention.
_BLOCK_ROWS = 1000


def feature_relevance(problem: Problem, parameters: Parameters, data: Data) -> dict[str, np.ndarray]:
    """Return how much features say about each unit, by view.

    For units that may be negative it is half the difference to the items where they are smallest.

    Parameters
    ----------
    problem : Problem
        Structure of the model and mean statistics of the data.
    parameters : dict of str to ndarray
        Parameters of the model.
    data : Data
        The training data.

    Returns
    -------
    dict of str to ndarray of shape (features, units)
        Relevance, negative where typical items have less of a feature; in float16, which is half the memory of weights.
    """
    energy, n_units = problem.energy, problem.energy.hidden.n_units_
    n_typical = max(min(_TYPICAL, int(_LARGEST_SHARE * len(data))), min(_FEWEST, len(data)))
    ends = [1.0] if energy.hidden.support.bounded else [1.0, -1.0]
    typical, mean = _typical_items(problem, parameters, data, n_typical, ends)
    totals = {name: np.zeros((len(ends), n_units, len(average))) for name, average in mean.items()}
    counts = {name: np.zeros((len(ends), n_units)) for name in mean}
    items = np.unique(np.concatenate(typical))
    for rows in np.array_split(items, -(-len(items) // _BLOCK_ROWS)):
        batch = data.batch(rows, energy.families)
        for number, found in enumerate(typical):
            groups = _groups(found.reshape(n_units, n_typical), rows)
            for name, family in energy.families.items():
                total, count = totals_of_groups(_compared(family, batch.views[name]), family, mean[name], groups)
                totals[name][number] += total
                counts[name][number] += count
    result = {}
    for name, family in energy.families.items():
        deviations = totals[name] / (counts[name] + _CHANCE)[:, :, None]
        if family.counts_something:
            relevance = _of_shares(deviations, mean[name], len(data)).T
        else:
            variance = family.statistic_variance(mean[name], energy.extra(parameters, name))
            relevance = (_half(deviations) / np.sqrt(variance + _CHANCE / len(data))).T
        if problem.guide is not None:
            problem.guide.exclude(name, relevance)
        if family.counts_something:
            relevance = coherent(relevance, name, problem, data)
        result[name] = relevance.astype(np.float16)
    return result


def _compared(family: Family, view: ViewBatch) -> ViewBatch:
    """Return what typical items are compared by: the statistics or, if these count something, what is there at all."""
    return replace(view, statistic=binarize(view.statistic)) if family.counts_something else view


def _half(ends: np.ndarray) -> np.ndarray:
    """Return the values of the only end, or half the difference of both ends."""
    found: np.ndarray = ends[0] if len(ends) == 1 else (ends[0] - ends[1]) / 2
    return found


def _of_shares(deviations: np.ndarray, share: np.ndarray, n_items: int) -> np.ndarray:
    """Return relevance where a share of the items has a feature, and typical items deviate from it."""
    standard = _half(deviations) / np.sqrt(share * (1 - share) + _CHANCE / n_items)
    typical, often = np.maximum(share + deviations, 1e-12), np.maximum(share, 1e-12)
    gain = _half(typical * np.log(typical / often))
    relevance = np.sign(standard) * np.sqrt(np.maximum(standard * gain, 0.0))
    fewest = max(min(_FEWEST_ITEMS, _SHARE_OF_ITEMS * n_items), min(2, n_items // 10))
    # shares are sums in floating point
    return np.where(np.round(share * n_items) >= fewest, relevance, 0.0)


def _groups(typical: np.ndarray, rows: np.ndarray) -> scipy.sparse.csr_array:
    """Return which of some rows, which are in order, belong to which unit: a matrix of units by rows."""
    places = np.searchsorted(rows, typical)
    units, ranks = np.nonzero((places < len(rows)) & (rows[np.minimum(places, len(rows) - 1)] == typical))
    ones = np.ones(len(units), dtype=np.float32)
    return scipy.sparse.csr_array((ones, (units, places[units, ranks])), shape=(len(typical), len(rows)))


def _typical_items(
    problem: Problem, parameters: Parameters, data: Data, n_typical: int, ends: list[float]
) -> tuple[list[np.ndarray], dict[str, np.ndarray]]:
    """Return the items in which each unit is largest, and for the other end smallest, and the average item."""
    energy, n_units = problem.energy, problem.energy.hidden.n_units_
    layer = energy.layer(parameters)
    best = [np.full((0, n_units), -np.inf, dtype=np.float32) for _ in ends]
    best_items = [np.zeros((0, n_units), dtype=np.int64) for _ in ends]
    mean = {name: problem.reference[name].astype(np.float64) for name in energy.families}
    counted = [name for name, family in energy.families.items() if family.counts_something]
    totals, n_rows = {name: np.zeros(len(mean[name])) for name in counted}, dict.fromkeys(counted, 0.0)
    first = 0
    for block in data.blocks(energy.families):
        for name in counted:
            cells = entries(_compared(energy.families[name], block.views[name]).statistic)
            totals[name] += cells.column_sums(cells.values)
            n_rows[name] += float(block.views[name].observed_rows.sum())
        natural = energy.hidden_natural(parameters, problem.complete(parameters, block))
        # naturals still differ where means are rounded to 1; units that may be correlated have no such end
        value = natural if layer.support.bounded else layer.mean(natural)
        items = np.broadcast_to(np.arange(first, first + block.n_rows)[:, None], value.shape)
        first += block.n_rows
        for number, end in enumerate(ends):
            values = np.concatenate([best[number], end * value])
            candidates = np.concatenate([best_items[number], items])
            order = np.argpartition(-values, min(n_typical, len(values)) - 1, axis=0)[:n_typical]
            best[number] = np.take_along_axis(values, order, axis=0)
            best_items[number] = np.take_along_axis(candidates, order, axis=0)
    mean |= {name: totals[name] / max(n_rows[name], 1.0) for name in counted}
    return [found.T.reshape(-1) for found in best_items], mean


# Features of a topic that are compared, and the size from which a vocabulary has more than enough of them. With 30, two
# thirds of the training texts of hotels, wines and 20 Newsgroups have topics that are more coherent on the other third
# than with 15 or 20. Items that features are compared over, at most: a convention, for time.
_COMPARED, _LARGE, _ITEMS = 30, 100, 20_000
# Smallest factor, as a share of the largest of the topic: a convention.
_SMALLEST = 0.1


def exclusive(relevance: np.ndarray) -> np.ndarray:
    """Return relevance (features, topics) times the root of the topic's share in all relevance of a feature.

    So features which only one topic has come before those that many have.
    """
    size = np.maximum(np.linalg.norm(relevance, axis=1, keepdims=True), 1e-12)
    result: np.ndarray = relevance * np.sqrt(np.abs(relevance) / size)
    return result


def coherent(relevance: np.ndarray, name: str, problem: Problem, data: Data) -> np.ndarray:
    """Return the relevance of the features of a view to each unit, larger for those that occur together.

    Only topics are changed, and of them only those some of whose leading features do.

    Parameters
    ----------
    relevance : ndarray of shape (features, units)
        Relevance of features that count something.
    name : str
        Name of their view.
    problem : Problem
        Structure of the model.
    data : Data
        The training data.

    Returns
    -------
    ndarray of shape (features, units)
        The relevance.
    """
    topics = np.flatnonzero(problem.energy.hidden.groups.are_topics)
    if len(relevance) < _LARGE or not len(topics):
        return relevance
    by_topic = np.maximum(exclusive(relevance[:, topics]), 0)
    leading = np.argsort(-by_topic, axis=0, kind="stable")[:_COMPARED]
    features = np.unique(leading)
    together, often = _counts(features, name, problem, data)
    result = relevance.copy()
    for topic, column in zip(topics, leading.T, strict=True):
        column = column[relevance[column, topic] > 0]
        places = np.searchsorted(features, column)
        factor = _mean_npmi(together[np.ix_(places, places)], often[places], relevance[column, topic])
        if not factor.any():
            continue
        # those that do not go with the topic keep their order, and all that are not compared stay behind
        factor = np.maximum(factor, _SMALLEST * factor.max())
        result[:, topic] *= factor.min()
        result[column, topic] = relevance[column, topic] * factor
    return result


def _counts(features: np.ndarray, name: str, problem: Problem, data: Data) -> tuple[np.ndarray, np.ndarray]:
    """Return shares of the items that have two features, and each of them."""
    family = problem.energy.families[name]
    rows = np.unique(np.linspace(0, len(data) - 1, min(len(data), _ITEMS)).astype(np.int64))
    together, n_items = np.zeros((len(features), len(features))), 0
    for block in data.blocks({name: family}, rows):
        view = block.views[name]
        present = scipy.sparse.csr_array(to_scipy(binarize(view.statistic))[:, features], dtype=np.float64)
        present = present[np.flatnonzero(view.observed_rows)]
        together += (present.T @ present).toarray()
        n_items += present.shape[0]
    together /= max(n_items, 1)
    return together, np.diagonal(together)


def _mean_npmi(together: np.ndarray, often: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return the weighted mean of the NPMI of each feature with the others, or 0 if that is negative."""
    if len(often) < 2:
        return np.zeros(len(often))
    information = npmi(together, np.outer(often, often))
    np.fill_diagonal(information, 0.0)
    return np.maximum(information @ weight / (weight.sum() - weight), 0.0)
