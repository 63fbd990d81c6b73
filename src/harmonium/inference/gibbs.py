"""Block Gibbs sampling: all hidden units given the views, all views given the hidden units."""

from __future__ import annotations

import numpy as np

from harmonium.batch import Batch, ViewBatch
from harmonium.energy import Energy
from harmonium.families import Family
from harmonium.kernels.chain_samples import chain_keys, chains_of_blocks, sampled_chains
from harmonium.kernels.products import feature_blocks
from harmonium.kernels.rows import is_sparse
from harmonium.kernels.sampling import drop_zeros, flag_bytes, sampled_candidates
from harmonium.kernels.sparse import Columns, SparseRows, add_columns_times_dense
from harmonium.kernels.threads import block_bounds, run_blocks, scratch
from harmonium.params import Parameters, bias_of, weights_of

Sizes = dict[str, np.ndarray]
_MOST_BLOCKS = 4


def clamp(natural: np.ndarray, family: Family) -> np.ndarray:
    """Keep naturals, in place, where float32 means are neither denormal nor infinite; the exact energy does not."""
    return np.clip(natural, *family.natural_limits, out=natural)


def sizes_of(batch: Batch) -> Sizes:
    """Totals of the views that have them."""
    return {name: view.size for name, view in batch.views.items() if view.size is not None}


def sparse_views(batch: Batch) -> set[str]:
    """Views whose statistics are sparse."""
    return {name for name, view in batch.views.items() if is_sparse(view.statistic)}


def sample_views(
    energy: Energy,
    parameters: Parameters,
    hidden: np.ndarray,
    rng: np.random.Generator,
    sizes: Sizes | None = None,
    sparse: set[str] | frozenset[str] = frozenset(),
) -> Batch:
    """Draw all views given the hidden units; those named in ``sparse`` come out sparse if their family can do it."""
    views = {}
    for name, family in energy.families.items():
        size = (sizes or {}).get(name)
        if name in sparse and family.ordered:
            assert size is not None
            views[name] = _sample_chains(parameters[weights_of(name)], parameters[bias_of(name)], hidden, size, rng)
            continue
        if name in sparse and family.samples_sparsely:
            views[name] = _sample_sparse(family, parameters[weights_of(name)], parameters[bias_of(name)], hidden, rng)
            continue
        natural = clamp(energy.view_natural(parameters, name, hidden), family)
        if name in sparse and family.samples_rows:
            views[name] = ViewBatch(family.sample_rows(natural, rng, size), size)
        else:
            views[name] = ViewBatch(family.sample(natural, rng, energy.own(parameters, name), size), size)
    return Batch(views, len(hidden))


def gibbs_step(
    energy: Energy,
    parameters: Parameters,
    hidden: np.ndarray,
    rng: np.random.Generator,
    sizes: Sizes | None = None,
    sparse: set[str] | frozenset[str] = frozenset(),
) -> tuple[np.ndarray, Batch]:
    """One sweep: views given hidden, hidden given views. Returns the new hidden state and the views drawn."""
    batch = sample_views(energy, parameters, hidden, rng, sizes, sparse)
    return energy.layer(parameters).sample(energy.hidden_natural(parameters, batch), rng), batch


def _sample_sparse(
    family: Family, weights: np.ndarray, bias: np.ndarray, hidden: np.ndarray, rng: np.random.Generator
) -> ViewBatch:
    """Draw a sparse view block by block of features, and project it back while the block's weights are in the cache."""
    n_features, n_rows = len(weights), len(hidden)
    # few blocks, as each has a projection of its own to be added up
    n_blocks = min(feature_blocks(weights, n_rows), _MOST_BLOCKS)
    key = np.uint32(rng.integers(2**32))
    factor = family.tail_factor()
    drawn: list[Columns] = [None] * n_blocks  # type: ignore[list-item]
    projections = np.zeros((n_blocks, n_rows, weights.shape[1]), dtype=weights.dtype)

    def task(block: int) -> None:
        first, last = block_bounds(n_features, n_blocks, block)
        natural = scratch("natural", (last - first, n_rows), np.float32)
        flags = scratch("flags", (flag_bytes(natural.size),), np.uint8)
        indptr, rows, uniform, kept = sampled_candidates(
            weights[first:last], hidden.T, bias[first:last], factor, key, first * n_rows, natural, flags
        )
        values = family.tail_quantile(uniform, clamp(kept, family))
        drawn[block] = drop_zeros(indptr, rows, values)
        add_columns_times_dense(*drawn[block], weights[first:last], projections[block])

    run_blocks(task, n_blocks)
    return ViewBatch(SparseRows.from_column_blocks(drawn, n_rows), projection=projections.sum(axis=0))


def _sample_chains(
    weights: np.ndarray, bias: np.ndarray, hidden: np.ndarray, size: np.ndarray, rng: np.random.Generator
) -> ViewBatch:
    """The same for sequences: a block has the weights of nodes and of edges, the second half, of its features."""
    n_features, n_rows = len(weights) // 2, len(hidden)
    n_blocks = min(feature_blocks(weights, n_rows), _MOST_BLOCKS)
    lengths = size.astype(np.int64)
    keys = chain_keys(lengths, rng)
    drawn: list[tuple[Columns, Columns]] = [None] * n_blocks  # type: ignore[list-item]
    projections = np.zeros((n_blocks, n_rows, weights.shape[1]), dtype=weights.dtype)

    def task(block: int) -> None:
        first, last = block_bounds(n_features, n_blocks, block)
        halves = slice(first, last), slice(n_features + first, n_features + last)
        natural = scratch("natural", (2, last - first, n_rows), np.float32)
        flags = scratch("flags", (flag_bytes(natural[0].size),), np.uint8)
        parts = weights[halves[0]], weights[halves[1]]
        biases = bias[halves[0]], bias[halves[1]]
        drawn[block] = sampled_chains(parts, biases, hidden.T, lengths, keys, first * n_rows, natural, flags)
        for columns, part in zip(drawn[block], parts, strict=True):
            add_columns_times_dense(*columns, part, projections[block])

    run_blocks(task, n_blocks)
    return ViewBatch(chains_of_blocks(drawn, n_rows), size, projection=projections.sum(axis=0))
