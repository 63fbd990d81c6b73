"""A batch: the statistics of all views for some rows, in float32, ready for the engine."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from harmonium.kernels.products import Matrix
from harmonium.targets import Targets


@dataclass
class ViewBatch:
    """Statistics of one view for a batch of rows.

    Attributes
    ----------
    statistic : ndarray or SparseRows
        Zero where missing, until inference has filled it in.
    size : ndarray, optional
        Totals of the rows, for families that have them.
    missing : ndarray of bool (rows, sites), optional
        Sites to be inferred. For sparse views only whole rows can be missing.
    fill : tuple of (row numbers, dense statistics), optional
        What inference found for missing rows of a sparse view.
    fill_term : ndarray (rows,), optional
        What the missing sites contribute to the log-density once they are filled in: minus their variational free
        energy, Σ [log-partition - (natural - θ)·mean].
    projection : ndarray (rows, units), optional
        statistic @ weights, where whoever drew the statistic from these weights had it at hand.
    """

    statistic: Matrix
    size: np.ndarray | None = None
    missing: np.ndarray | None = None
    fill: tuple[np.ndarray, np.ndarray] | None = None
    fill_term: np.ndarray | None = None
    projection: np.ndarray | None = None


@dataclass
class Batch:
    """Statistics of all views for the same rows, and what is to be predicted for them, if anything is."""

    views: dict[str, ViewBatch]
    n_rows: int
    targets: Targets | None = None

    @property
    def has_missing(self) -> bool:
        """Whether something is to be inferred."""
        return any(view.missing is not None for view in self.views.values())
