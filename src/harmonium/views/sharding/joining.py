"""Batches and views of several shards as one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse

from harmonium.core.batch import Batch, ViewBatch
from harmonium.families import Family
from harmonium.kernels.sparse.matrix import take_rows, vstack
from harmonium.views.container import Views
from harmonium.views.sources.source import Source


def join_batches(parts: Sequence[Batch], families: Mapping[str, Family], order: np.ndarray | None = None) -> Batch:
    """Return the rows of several batches as one, in another order if one is given."""
    if len(parts) == 1 and order is None:
        return parts[0]
    views = {
        name: _joined([part.views[name] for part in parts], family.codec.n_sites, order)
        for name, family in families.items()
    }
    inputs = {
        name: _joined([part.inputs[name] for part in parts], view.statistic.shape[1], order)
        for name, view in parts[0].inputs.items()
    }
    return Batch(views, sum(part.n_rows for part in parts), inputs=inputs)


def _joined(parts: list[ViewBatch], n_sites: int, order: np.ndarray | None) -> ViewBatch:
    statistic = vstack([part.statistic for part in parts])
    sizes = [part.size for part in parts if part.size is not None]
    size = np.concatenate(sizes) if sizes else None
    missing = None
    if any(part.missing is not None for part in parts):
        missing = np.concatenate(
            [
                np.zeros((part.statistic.shape[0], n_sites), dtype=bool) if part.missing is None else part.missing
                for part in parts
            ]
        )
    if order is None:
        return ViewBatch(statistic, size, missing)
    statistic = take_rows(statistic, order)
    return ViewBatch(statistic, None if size is None else size[order], None if missing is None else missing[order])


def join_views(parts: Sequence[Views]) -> Views:
    """Return the items of several views as one, in memory; only rows that are meant are copied."""
    sources = {name: _joined_sources([part.source(name) for part in parts]) for name in parts[0].all_names}
    return Views._from_sources(sources, parts[0].table)


def _joined_sources(parts: list[Source]) -> Source:
    present = [part.rows[part.rows >= 0] for part in parts]
    matrices: list[Any] = [part.matrix[rows] for part, rows in zip(parts, present, strict=True)]
    nonzeros = None
    if all(scipy.sparse.issparse(matrix) for matrix in matrices):
        matrix = scipy.sparse.csr_array(scipy.sparse.vstack(matrices, format="csr"))
    else:
        matrix = np.concatenate([part.toarray() if scipy.sparse.issparse(part) else part for part in matrices])
        if all(part.nonzeros is not None for part in parts):
            kept = [part.nonzeros[rows] for part, rows in zip(parts, present, strict=True) if part.nonzeros is not None]
            nonzeros = scipy.sparse.csr_array(scipy.sparse.vstack(kept, format="csr"))
    has_view = np.concatenate([part.rows >= 0 for part in parts])
    rows = np.where(has_view, np.cumsum(has_view) - 1, -1)
    lengths = None
    if parts[0].lengths is not None:
        lengths = np.concatenate(
            [part.lengths[rows] for part, rows in zip(parts, present, strict=True) if part.lengths is not None]
        )
    first = parts[0]
    return Source(matrix, rows, first.columns, lengths, None, first.features, first.family, nonzeros, first.linear_only)
