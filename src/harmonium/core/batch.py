"""A batch: the statistics of all views for some rows, in float32, which all computations start from."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from harmonium.core.targets import Targets
from harmonium.kernels.sparse.matrix import Matrix, slice_rows


@dataclass
class ViewBatch:
    """Statistics of one view for a batch of rows.

    Attributes
    ----------
    statistic : ndarray or SparseRows of shape (rows, features)
        Statistics, zero where they are missing until inference has filled them in.
    size : ndarray of shape (rows,), optional
        Sizes of the rows, for families that have them.
    missing : ndarray of bool of shape (rows, sites), optional
        Sites that have to be inferred. In sparse views only whole rows can be missing.
    fill : tuple of ndarray, optional
        Row numbers, and the dense statistics that inference found for these missing rows of a sparse view.
    fill_term : ndarray of shape (rows,), optional
        What the missing sites contribute to the log-density once they are filled in: minus their variational free
        energy, Σ [log-partition - (natural - θ)·mean].
    projection : ndarray of shape (rows, units), optional
        The product ``statistic @ weights``, if drawing the statistic from these weights gave it for free.
    """

    statistic: Matrix
    size: np.ndarray | None = None
    missing: np.ndarray | None = None
    fill: tuple[np.ndarray, np.ndarray] | None = None
    fill_term: np.ndarray | None = None
    projection: np.ndarray | None = None

    def part(self, first: int, last: int) -> ViewBatch:
        """Return the rows from ``first`` to ``last`` as they were read, before anything is filled in."""
        missing = None if self.missing is None else self.missing[first:last]
        if missing is not None and not missing.any():
            missing = None
        size = None if self.size is None else self.size[first:last]
        return ViewBatch(slice_rows(self.statistic, first, last), size, missing)

    @property
    def observed_rows(self) -> np.ndarray:
        """Mask of the rows of which something is observed."""
        if self.missing is None:
            return np.ones(self.statistic.shape[0], dtype=bool)
        return np.logical_not(self.missing.all(axis=1))


@dataclass
class Batch:
    """Statistics of all views for the same rows, and the targets of these rows, if there are any.

    Attributes
    ----------
    views : dict of str to ViewBatch
        Statistics by view.
    n_rows : int
        Number of rows.
    targets : Targets, optional
        What is to be predicted.
    inputs : dict of str to ViewBatch
        Views that the linear part of a head sees, and no hidden unit.
    natural_shift : ndarray of shape (rows, units), optional
        What is to be added to the naturals of the hidden units, so that their means are exact where sites are missing.
    """

    views: dict[str, ViewBatch]
    n_rows: int
    targets: Targets | None = None
    inputs: dict[str, ViewBatch] = field(default_factory=dict)
    natural_shift: np.ndarray | None = None

    def part(self, first: int, last: int) -> Batch:
        """Return the rows from ``first`` to ``last`` as they were read, without their targets."""
        views, inputs = (
            {name: view.part(first, last) for name, view in some.items()} for some in (self.views, self.inputs)
        )
        return Batch(views, last - first, inputs=inputs)

    @property
    def has_missing(self) -> bool:
        """Whether some sites have to be inferred."""
        return any(view.missing is not None for view in self.views.values())
