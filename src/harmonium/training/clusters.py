"""A start from clusters: items that are alike become a unit each, which raises what they have in common.

Units that can only raise features would all begin with what is frequent if they started from noise, and part late or
never. Items are compared on a common scale: statistics in standard deviations, each view of an item in a row of
length 1, and of all that the leading directions, as many as there are units. Nothing of it is random, so that other
seeds lead to the same topics.

References
----------
Damle, Minden & Ying (2019), Simple, direct and efficient multi-way spectral clustering.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import scipy.linalg
import scipy.sparse
from sklearn.preprocessing import normalize
from sklearn.utils.extmath import randomized_svd

from harmonium.core.batch import Batch, ViewBatch
from harmonium.energy import Energy
from harmonium.families import Family
from harmonium.kernels.sparse.entries import entries
from harmonium.kernels.sparse.matrix import to_scipy
from harmonium.objectives.guide import Guide
from harmonium.views import Views

# Items that clusters are found among, numbers that these may hold, which take 12 bytes each for a moment, rounds of
# moving centres, and power iterations of the decomposition: conventions.
SAMPLE, _LARGEST_SAMPLE, _ROUNDS, _POWER = 20_000, 20_000_000, 30, 4
# Items as the average one that each cluster is taken to have besides its own, so that what a few items have by chance
# does not make a topic: a convention.
AVERAGE_ITEMS = 5.0
# Items by which it is estimated how many numbers an item holds: a convention.
_PROBED = 100
# Items that each feature is taken to have besides its own, so that rare ones do not decide: a convention.
_CHANCE = 10.0
# Singular values below this share of the largest belong to no direction.
_SMALLEST_SIZE = 1e-6
# Halvings by which biases are found.
_HALVINGS = 40


def cluster_weights(
    energy: Energy, views: Views, reference: dict[str, np.ndarray], guide: Guide | None = None
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Return weights by view that turn the average item into that of a cluster, and the share of the items in each.

    There are as many clusters as units, or as items if these are fewer; the weights of units without one are zero. A
    single unit stands for the smaller of two clusters, as the average item would be that of a single one. Items that
    have the seeds of a guide stay in the clusters of its topics, which are the first.
    """
    n_units = energy.hidden.n_units_
    n_clusters = max(n_units, 2)
    items = sampled_items(views, energy.families, SAMPLE)
    items = items if guide is None else guide.with_rows(items, len(views))
    batch = views.batch(items, energy.families)
    fixed = np.full(len(items), -1) if guide is None else guide.members(batch, items, len(views))
    cluster = nearest_clusters(*_coordinates(energy, batch, reference, n_clusters), n_clusters, fixed)
    share = np.bincount(cluster, minlength=n_clusters) / len(items)
    membership = _membership(cluster, n_clusters)
    kept = np.argsort(share, kind="stable")[:1] if n_units == 1 and guide is None else np.arange(n_units)
    weights = {}
    for name, family in energy.families.items():
        mean = reference[name].astype(np.float64)
        totals, counts = totals_of_groups(batch.views[name], family, reference[name], membership[kept])
        means = mean + totals / (counts + AVERAGE_ITEMS)[:, None]
        start = family.natural_from_mean(mean)
        weights[name] = np.stack([family.natural_from_mean(row) - start for row in means], axis=1)
    return weights, share[kept]


def sampled_items(views: Views, families: Mapping[str, Family], most: int) -> np.ndarray:
    """Return the numbers of items at even distances, at most so many, and no more than there is room for."""
    numbers = _numbers_of_an_item(views.batch(_spaced(len(views), _PROBED), families))
    return _spaced(len(views), min(most, int(_LARGEST_SAMPLE / numbers) + 1))


def bias_of_activity(energy: Energy, natural: np.ndarray, activity: np.ndarray | float) -> np.ndarray:
    """Return biases at which units have given means over some items, as shares of their largest value.

    ``natural`` is what the items' views add to the units' naturals, of shape (items, units).
    """
    layer, largest = energy.hidden, energy.hidden.groups.largest
    low = -natural.max(axis=0).astype(np.float64) - 20.0
    high = -natural.min(axis=0).astype(np.float64) + 20.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        above = layer.mean(natural + middle).mean(axis=0) > activity * largest
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    bias: np.ndarray = (low + high) / 2
    return bias


def _spaced(n_items: int, n_wanted: int) -> np.ndarray:
    """Return the numbers of so many items at even distances, or of all."""
    return np.unique(np.linspace(0, n_items - 1, min(n_wanted, n_items)).astype(np.int64))


def _numbers_of_an_item(batch: Batch) -> float:
    """Return how many numbers an item holds, on average: all of dense views, those that are stored of sparse ones."""
    return sum(entries(view.statistic).values.size for view in batch.views.values()) / batch.n_rows + 1.0


def _coordinates(
    energy: Energy, batch: Batch, reference: dict[str, np.ndarray], n_units: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the leading directions of the items on a common scale, as many as there are units.

    The first matrix has the items in orthonormal directions, the second in rows of length 1 that keep their sizes.
    """
    scaled = []
    for name, family in energy.families.items():
        variance = family.statistic_variance(reference[name].astype(np.float64), family.extra_parameters.initial)
        deviation = np.sqrt(variance + _CHANCE / batch.n_rows).astype(np.float32)
        rows = rows_of(batch.views[name], family, reference[name])
        if family.counts_something and not scipy.sparse.issparse(rows):
            # what is sparse is not centred, and the same values should begin alike however they are stored
            rows = rows + np.where(missing_cells(batch.views[name], family), 0, reference[name])
        scaled.append(scipy.sparse.csr_array(normalize(rows @ scipy.sparse.diags_array(1 / deviation))))
    joined = scipy.sparse.hstack(scaled, format="csr")
    if min(joined.shape) > n_units:
        left, sizes, _ = randomized_svd(joined, n_units, n_iter=_POWER, random_state=0)
    else:
        left, sizes, _ = np.linalg.svd(joined.toarray(), full_matrices=False)
    kept = sizes > _SMALLEST_SIZE * sizes[0]
    rows = left[:, kept] * sizes[kept]
    return np.asarray(left[:, kept]), np.asarray(normalize(rows) if rows.size else rows)


def nearest_clusters(
    directions: np.ndarray, rows: np.ndarray, n_clusters: int, fixed: np.ndarray | None = None
) -> np.ndarray:
    """Return the cluster of each row of length 1, by their angles to the clusters' mean directions.

    The first centres are the pivots of a QR decomposition of the directions: items that are as independent of each
    other as can be. Where there are as many directions as clusters, the centres are made orthogonal. Rows whose cluster
    is ``fixed``, and not -1, stay there, and their mean is its centre.
    """
    if not directions.size:  # all items are the same
        return np.zeros(len(rows), dtype=np.int64)
    fixed = np.full(len(rows), -1) if fixed is None else fixed
    n_clusters = min(n_clusters, len(rows))
    n_fixed, free = int(fixed.max()) + 1, np.flatnonzero(fixed < 0)
    pivots = scipy.linalg.qr(directions[free].T, mode="r", pivoting=True)[1] if len(free) else free
    centres = rows[free[pivots[: n_clusters - n_fixed]]]
    if 0 < len(centres) <= rows.shape[1]:
        centres = scipy.linalg.polar(centres)[0]
    members = _membership(fixed, n_fixed)
    # means of rows that differ are short, so that they draw no others
    of_fixed = (members @ rows) / np.maximum(members.sum(axis=1), 1)[:, None]
    cluster = np.full(len(rows), -1)
    for _ in range(_ROUNDS):
        nearest = np.argmax(rows @ np.concatenate([of_fixed, centres]).T, axis=1)
        before, cluster = cluster, np.where(fixed < 0, nearest, fixed)
        if np.array_equal(cluster, before):
            break
        totals = (_membership(cluster, n_fixed + len(centres)) @ rows)[n_fixed:]
        centres = np.where(np.any(totals, axis=1)[:, None], normalize(totals) if len(totals) else totals, centres)
    return cluster


def _membership(cluster: np.ndarray, n_clusters: int) -> scipy.sparse.csr_array:
    """Return a matrix of clusters by items, 1 where an item belongs to a cluster."""
    items = np.flatnonzero(cluster >= 0)
    ones = np.ones(len(items), dtype=np.float32)
    return scipy.sparse.csr_array((ones, (cluster[items], items)), shape=(n_clusters, len(cluster)))


def missing_cells(view: ViewBatch, family: Family) -> np.ndarray | bool:
    """Return which cells of a view are missing; False if none is."""
    return False if view.missing is None else np.asarray(family.codec.spread(view.missing), dtype=bool)


def rows_of(view: ViewBatch, family: Family, mean: np.ndarray) -> np.ndarray | scipy.sparse.csr_array:
    """Return the rows of a view: sparse ones as they are, dense ones as deviations from the mean, 0 where missing."""
    rows = to_scipy(view.statistic)
    if scipy.sparse.issparse(rows):
        return rows
    deviations = rows - mean
    if view.missing is not None:
        deviations[missing_cells(view, family)] = 0
    return deviations


def totals_of_groups(
    view: ViewBatch, family: Family, mean: np.ndarray, groups: scipy.sparse.csr_array
) -> tuple[np.ndarray, np.ndarray]:
    """Return for groups of rows the sums of their differences from the mean, and how many of their rows are observed.

    Parameters
    ----------
    view : ViewBatch
        Statistics of some rows.
    family : Family
        Family of the view.
    mean : ndarray of shape (features,)
        Mean statistic of all rows.
    groups : sparse array of shape (groups, rows)
        1 where a row belongs to a group.

    Returns
    -------
    totals : ndarray of shape (groups, features)
        Sums over the rows that are observed.
    counts : ndarray of shape (groups,)
        Numbers of these rows.
    """
    rows, counts = rows_of(view, family, mean), groups @ view.observed_rows.astype(np.float64)
    totals = groups @ rows
    if scipy.sparse.issparse(rows):
        totals = totals.toarray() - np.outer(counts, mean)
    return np.asarray(totals, dtype=np.float64), counts
