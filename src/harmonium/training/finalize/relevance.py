"""Relevance of features to units: features of topics are ranked by it.

Weights say what a unit adds to a feature beside all other units; where these share the work, or pull against each
other, no weight alone says what the items of a topic are about. So features are compared where a unit is largest.

Values that count something are compared by how many items have them, as one item that repeats a word says little about
a topic. With p the share of all items that have a feature and f that of the typical items, the relevance is the
geometric mean of (f - p) / √(p (1 - p)), which favours rare features, and f log(f / p), which favours frequent ones.
Other features have the difference of their means in standard deviations. Words of a topic that stand in the same items
come first (`harmonium.training.finalize.cooccurrence`).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse

from harmonium.core.batch import ViewBatch
from harmonium.core.parameters import Parameters
from harmonium.families import Family
from harmonium.kernels.sparse.entries import entries
from harmonium.kernels.sparse.matrix import binarize
from harmonium.objectives.problem import Problem
from harmonium.training.finalize.cooccurrence import coherent
from harmonium.training.view_rows import totals_of_groups
from harmonium.views.data import Data

# The most typical items of a unit: this many, but no more than this share of all, and at least a few. Conventions.
_TYPICAL, _LARGEST_SHARE, _FEWEST = 100, 0.05, 5
# Average items that join the typical ones, and items that each feature is taken to have besides its own. Otherwise
# words of two or three items come first, typical of anything by chance.
_CHANCE = 10.0
# Features that fewer items have are not ranked: names that stand in a few items say nothing about a topic. This many,
# but no more than this share of all items, and two of at least twenty. Conventions; benchmarks/topics.py shows what
# they give.
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
            relevance = coherent(_of_shares(deviations, mean[name], len(data)).T, name, problem, data).T
        else:
            variance = family.statistic_variance(mean[name], energy.own(parameters, name))
            relevance = _half(deviations) / np.sqrt(variance + _CHANCE / len(data))
        result[name] = relevance.T.astype(np.float16)
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
