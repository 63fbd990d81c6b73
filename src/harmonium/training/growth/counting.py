"""Number of topics by what stands out of chance, before anything is learned.

Features of a topic vary together. Items are decomposed with all features in standard deviations. Counts, such as those
of words, are only told from zero and compared with what the size of the row makes likely, so that the length of a text
is no topic. Chance is the same table with random signs, in which every cell is as large as before and none varies with
another. K topics are the corners of a simplex, which spans K - 1 directions.

Topics of 2,000 documents of 5 and 12 patterns, of which documents have any or only one: 6 and 13, 5 and 12; of 3 and 6
clusters of numbers 3 and 6; of noise 2. Words of real texts have a long spectrum, and rows limit the number: 19 of at
most 20 for 2,500 hotel reviews, 20 of 20 for 2,570 wines, 30 of 30 for 5,754 stories, 37 of 42 for 10,970 messages.

References
----------
Hong, Sheng & Dobriban (2020), Selecting the number of components in PCA via random signflips.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse

from harmonium.core.batch import ViewBatch
from harmonium.energy import Energy
from harmonium.families import Family
from harmonium.hidden.n_units import drops_units
from harmonium.kernels.sparse.matrix import to_scipy
from harmonium.objectives.problem import Problem
from harmonium.training.clusters import missing_cells, sampled_items
from harmonium.training.growth.spectrum import standardised
from harmonium.views.data import Data

# Items and features to look at, copies that chance is known by, and how many standard deviations above their mean a
# component must lie: conventions, by which counting takes some tenths of a second.
_ROWS, _FEATURES, _COPIES, _DEVIATIONS = 10_000, 1000, 3, 3.0
# Fewest topics: a convention; and what keeps empty rows from being divided by.
_FEWEST, _TINY = 2, 1e-6


def counted(problem: Problem, data: Data, n_guided: int = 0) -> Problem:
    """Return the problem with as many topics as the data show, and at most as many as it has.

    There is one for each that seeds ask for at least. Layers that say their number themselves, or find it in training,
    keep it, and so do those whose units predict.
    """
    hidden = problem.energy.hidden
    if drops_units(hidden) or (problem.head is not None and hidden.groups.dimensions is None):
        return problem
    fewest = hidden.bind(_FEWEST)
    n_most = _FEWEST + hidden.n_units_ - fewest.n_units_
    if n_most <= _FEWEST and n_guided <= n_most:
        return problem
    n_topics = 1 + n_standing_out(_table(problem, data), max(n_most - 1, 1))
    return replace(problem, energy=Energy(problem.energy.families, hidden.bind(max(n_topics, _FEWEST, n_guided))))


def n_standing_out(table: np.ndarray, most: int) -> int:
    """Return how many components of a table of centred features are larger than chance makes them, at most so many."""
    rng = np.random.default_rng(0)  # so that other seeds of a fit find as many topics
    table, _ = standardised(table)
    found = _variances(table, most)
    signs = (rng.integers(2, size=table.shape, dtype=np.int8) for _ in range(_COPIES))
    chance = np.array([_variances(table * (2 * sign - 1), 1)[0] for sign in signs])
    return int((found > chance.mean() + _DEVIATIONS * chance.std(ddof=1)).sum())


def _variances(table: np.ndarray, most: int) -> np.ndarray:
    """Return the largest variances of principal components, at most so many, times the number of rows."""
    product = table.T @ table if table.shape[1] <= len(table) else table @ table.T
    side = len(product)
    found = scipy.linalg.eigh(product, eigvals_only=True, subset_by_index=[max(side - most, 0), side - 1])
    return np.asarray(found, dtype=np.float64)


def _table(problem: Problem, data: Data) -> np.ndarray:
    """Return features of evenly spaced items, centred and side by side; of each view those that vary most."""
    families = problem.energy.families
    if problem.head is not None:  # topics are those of the items
        families = {name: family for name, family in families.items() if name not in problem.head.added_views}
    batch = data.batch(sampled_items(data.views, families, _ROWS), families)
    most = -(-_FEATURES // len(families))
    return np.concatenate([_varying(batch.views[name], family, most) for name, family in families.items()], axis=1)


def _varying(view: ViewBatch, family: Family, most: int) -> np.ndarray:
    """Return the features of a view that vary most, at most so many, centred, and 0 where they are missing.

    Of counts they are Pearson residuals of a row's size: (x - size * share) / √size.
    """
    rows: Any = to_scipy(view.statistic)
    if scipy.sparse.issparse(rows):
        rows = rows.copy()  # comparisons of SciPy put indices in order, in memory that is the user's
    seen = view.observed_rows[:, None]
    sizes = seen[:, 0].astype(np.float32)
    if family.counts_something:
        rows = _saturated(rows)
        sizes = np.asarray(rows.sum(axis=1), dtype=np.float32)
    variances = np.asarray((rows * rows).mean(axis=0)) - np.square(np.asarray(rows.mean(axis=0)))
    varying = np.sort(np.argsort(-variances, kind="stable")[:most])
    chosen = rows[:, varying]
    table = np.asarray(chosen.toarray() if scipy.sparse.issparse(chosen) else chosen, dtype=np.float32)
    if view.missing is not None and not scipy.sparse.issparse(rows):  # single cells may be missing
        seen = ~np.asarray(missing_cells(view, family))[:, varying]
    share = table.sum(axis=0) / np.maximum(sizes @ np.broadcast_to(seen, table.shape), _TINY)
    table = (table - sizes[:, None] * share) / np.sqrt(np.maximum(sizes, _TINY))[:, None]
    return np.where(seen, table, 0).astype(np.float32)


def _saturated(rows: Any) -> Any:
    """Return whether there is any, or logarithms where most counts are no zeros, so that no large ones decide."""
    n_there = np.count_nonzero(rows.data if scipy.sparse.issparse(rows) else rows)
    if n_there < np.prod(rows.shape) / 2:
        return (rows != 0).astype(np.float32)
    return np.log1p(np.maximum(rows.toarray() if scipy.sparse.issparse(rows) else rows, 0))
