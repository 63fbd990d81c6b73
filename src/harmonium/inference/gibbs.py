"""Block Gibbs sampling: all hidden units given the views, all views given the hidden units."""

from __future__ import annotations

import numpy as np

from harmonium.core.batch import Batch, ViewBatch
from harmonium.core.parameters import Parameters, bias_of, weights_of
from harmonium.energy import Energy
from harmonium.kernels.sparse.matrix import is_sparse

Sizes = dict[str, np.ndarray]


def sizes_of(batch: Batch) -> Sizes:
    """Return the sizes of the rows, by view, for families that have sizes."""
    return {name: view.size for name, view in batch.views.items() if view.size is not None}


def sparse_views(batch: Batch) -> set[str]:
    """Return the names of the views whose statistics are sparse."""
    return {name for name, view in batch.views.items() if is_sparse(view.statistic)}


def sample_views(
    energy: Energy,
    parameters: Parameters,
    hidden: np.ndarray,
    rng: np.random.Generator,
    sizes: Sizes | None = None,
    sparse: set[str] | frozenset[str] = frozenset(),
) -> Batch:
    """Draw all views given the hidden units; those named in ``sparse`` are drawn as sparse rows if their family can."""
    views = {}
    for name, family in energy.families.items():
        size = (sizes or {}).get(name)
        if name in sparse:
            weighted = energy.row_weighted(name, hidden, size)
            drawn = family.sample_sparsely(parameters[weights_of(name)], parameters[bias_of(name)], weighted, rng, size)
            if drawn is not None:
                views[name] = ViewBatch(drawn.statistic, size, projection=drawn.projection)
                continue
        natural = family.domain.clamp(energy.view_natural(parameters, name, hidden, size))
        views[name] = ViewBatch(family.sample(natural, rng, energy.extra(parameters, name), size), size)
    return Batch(views, len(hidden))


def gibbs_step(
    energy: Energy,
    parameters: Parameters,
    hidden: np.ndarray,
    rng: np.random.Generator,
    sizes: Sizes | None = None,
    sparse: set[str] | frozenset[str] = frozenset(),
) -> tuple[np.ndarray, Batch]:
    """Take one sweep, views given hidden units and then hidden units given views, and return both."""
    batch = sample_views(energy, parameters, hidden, rng, sizes, sparse)
    return energy.layer(parameters).sample(energy.hidden_natural(parameters, batch), rng), batch
