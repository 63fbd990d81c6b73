"""Shards whose views were written to files, with the rows that lack a view, lengths and names of columns."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

from harmonium.views.container import Views
from harmonium.views.sharding.shard import Shard
from harmonium.views.sources.source import Source
from harmonium.views.sources.zeros import sparse_rows_of


@dataclass(frozen=True)
class StoredShard(Shard):
    """Views in one file of arrays; what is the same for all rows is in ``like``, views without rows."""

    path: str = ""
    like: Views = field(default_factory=lambda: Views({"": np.zeros((1, 1))}))

    def read(self) -> Views:
        """Return the views."""
        with np.load(self.path, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        sources = {
            name: _source(self.like.source(name), number, arrays) for number, name in enumerate(self.like.all_names)
        }
        return Views._from_sources(sources, self.like.table)


def store_views(blocks: Iterable[Views], folder: str | os.PathLike[str]) -> list[Shard]:
    """Return shards of views, written to files one after the other.

    Parameters
    ----------
    blocks : iterable of Views
        Views of some rows at a time, of the same table.
    folder : path
        Where to write; made if it is not there.

    Returns
    -------
    list of Shard
        A shard for each block.
    """
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    shards: list[Shard] = []
    like: Views | None = None
    for number, views in enumerate(blocks):
        like = views[:0].copied() if like is None else like
        path = place / f"{number:06d}.npz"
        arrays: dict[str, np.ndarray] = {}
        for position, name in enumerate(like.all_names):
            arrays |= _arrays(position, views.source(name).copied())
        np.savez(path, **arrays)  # type: ignore[arg-type]
        shards.append(StoredShard(f"block {number}", len(views), None, str(path), like))
    return shards


def _arrays(number: int, source: Source) -> dict[str, np.ndarray]:
    matrix: Any = source.matrix
    found = {"rows": source.rows}
    if source.is_sparse:
        found |= {part: getattr(matrix, part) for part in ("data", "indices", "indptr")}
        found["shape"] = np.array(matrix.shape)
    else:
        found["matrix"] = np.asarray(matrix)
    if source.lengths is not None:
        found["lengths"] = source.lengths
    return {f"{number}/{part}": array for part, array in found.items()}


def _source(like: Source, number: int, arrays: dict[str, np.ndarray]) -> Source:
    parts = {name.partition("/")[2]: array for name, array in arrays.items() if name.startswith(f"{number}/")}
    matrix: Any = parts.get("matrix")
    if matrix is None:
        shape = tuple(parts["shape"].tolist())
        matrix = scipy.sparse.csr_array((parts["data"], parts["indices"], parts["indptr"]), shape=shape)
    nonzeros = sparse_rows_of(matrix)
    return replace(like, matrix=matrix, rows=parts["rows"], lengths=parts.get("lengths"), nonzeros=nonzeros)
