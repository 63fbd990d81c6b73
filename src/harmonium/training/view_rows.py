"""Rows of a view as SciPy and NumPy know them, for what is found out once and not in every step."""

from __future__ import annotations

import numpy as np
import scipy.sparse

from harmonium.core.batch import ViewBatch
from harmonium.families import Family
from harmonium.kernels.sparse.matrix import to_scipy


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
