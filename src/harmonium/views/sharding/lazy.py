"""Shards of dask arrays and frames: a partition is computed when it is read."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from harmonium.exceptions import InvalidViewError
from harmonium.views.sharding.shard import Shard


def is_dask(data: Any) -> bool:
    """Tell whether something is a collection of dask, which need not be installed."""
    return hasattr(type(data), "__dask_graph__") and hasattr(data, "npartitions")


@dataclass(frozen=True)
class LazyShard(Shard):
    """One partition of each of several collections."""

    lazy = True
    parts: Any = None

    def read(self) -> Any:
        """Return what the partition holds."""
        return _computed(self.parts)

    def delayed(self) -> Any:
        """Return the partition as it is."""
        return self.parts

    def targets(self) -> Any:
        """Return the targets of the partition."""
        return _computed(self.y)

    def with_target(self, names: str | list[str]) -> Shard:
        """Return the shard with columns of its frame as targets."""
        if isinstance(self.parts, Mapping):
            return super().with_target(names)
        return replace(self, y=_Chosen(self.parts, names, True), parts=_Chosen(self.parts, names, False))


@dataclass(frozen=True)
class _Chosen:
    """Columns of a partition that is a frame, or all others."""

    part: Any
    names: str | list[str]
    kept: bool

    def compute(self, scheduler: Any = None) -> Any:
        frame = self.part.compute(scheduler=scheduler)
        names = [self.names] if isinstance(self.names, str) else self.names
        lost = [name for name in names if name not in frame.columns]
        if lost:
            raise InvalidViewError(f"y must name columns of X; got {lost[0]!r}; correct the name.")
        return frame[self.names] if self.kept else frame.drop(columns=names)


def _computed(part: Any) -> Any:
    """Return what delayed parts hold, computed in this thread."""
    if part is None:
        return None
    if isinstance(part, Mapping):
        return {name: _computed(each) for name, each in part.items()}
    client = current_client()
    if client is None:
        return part.compute(scheduler="synchronous")
    try:
        client_module = sys.modules["distributed"]
        client_module.get_worker()
    except ValueError:
        return part.compute(scheduler=client.get)
    with client_module.worker_client() as client:  # a task of the cluster that waits for others makes room for them
        return part.compute(scheduler=client.get)


def current_client() -> Any:
    """Return the current client of dask.distributed; None if there is none, or the package was never imported."""
    if "distributed" not in sys.modules:
        return None
    try:
        return sys.modules["distributed"].get_client()
    except ValueError:
        return None


def lazy_shards(data: Any, y: Any = None) -> list[Shard]:
    """Return a shard for each partition of a dask array or frame, or of several by name."""
    views = dict(data) if isinstance(data, Mapping) else {"": data}
    parts = {name: _partitions(name, collection) for name, collection in views.items()}
    lengths = _lengths(next(iter(views.values())))
    targets = [None] * len(lengths) if y is None else _partitions("y", y)
    counts = {len(part) for part in parts.values()} | {len(targets)}
    if len(counts) > 1:
        raise InvalidViewError(
            "Dask collections of the same items must have as many partitions, with the same rows in each; got "
            f"{' and '.join(map(str, sorted(counts)))}; call rechunk or repartition first."
        )
    single = not isinstance(data, Mapping)
    return [
        LazyShard(
            f"partition {number}",
            length,
            targets[number],
            parts[""][number] if single else {name: part[number] for name, part in parts.items()},
        )
        for number, length in enumerate(lengths)
    ]


def _partitions(name: str, collection: Any) -> list[Any]:
    """Return the partitions of a collection, delayed; those of an array must hold whole rows."""
    if not is_dask(collection):
        raise InvalidViewError(
            f"Views in shards must all be dask collections; {name!r} is a {type(collection).__name__}; convert it with "
            "dask.array.from_array."
        )
    if getattr(collection, "ndim", 2) == 2 and hasattr(collection, "chunks") and len(collection.chunks[1]) > 1:
        raise InvalidViewError(
            f"Chunks of a dask array must hold whole rows; those of {name or 'X'!r} cut columns into "
            f"{len(collection.chunks[1])} parts; call rechunk({{1: -1}}) first."
        )
    return list(np.asarray(collection.to_delayed(), dtype=object).ravel())


def _lengths(collection: Any) -> list[int | None]:
    """Return the number of rows of each partition, None where dask does not know it."""
    chunks = getattr(collection, "chunks", None)
    if chunks is None:
        return [None] * collection.npartitions
    return [None if np.isnan(length) else int(length) for length in chunks[0]]
