"""One view of items that are in shards."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from harmonium.core.batch import ViewBatch
from harmonium.families import Family
from harmonium.kernels.sparse.matrix import Matrix
from harmonium.views.sources.source import Source
from harmonium.views.sources.summary import Summary

if TYPE_CHECKING:
    from harmonium.views.sharding.container import ShardedViews


class ShardedSource(Source):
    """One view of `ShardedViews`: what can be asked of a source, answered by going over the shards."""

    def __init__(self, views: ShardedViews, name: str, first: Source) -> None:
        # a frozen dataclass: what the first shard knows holds for all of them, but for its rows
        known = {attribute: value for attribute, value in vars(first).items() if attribute != "rows"}
        own = {"matrix": None, "index": None, "nonzeros": None, "_views": views, "_name": name, "_first": first}
        vars(self).update(known | own)

    _views: ShardedViews
    _name: str
    _first: Source

    @property
    def is_sparse(self) -> bool:
        """Whether the data are sparse."""
        return self._first.is_sparse

    def is_sparse_for(self, family: Family) -> bool:
        """Tell whether batches of this view are sparse, judged by the first shard."""
        return self._first.is_sparse_for(family)

    @property
    def _width(self) -> int:
        return self._first._width

    @property
    def n_rows(self) -> int:
        """Number of items."""
        return len(self._views)

    @property
    def rows(self) -> np.ndarray:
        """Number of each item, -1 where it lacks this view."""
        rows = np.arange(self.n_rows)
        rows[self._views.survey.absent[self._name]] = -1
        return rows

    @property
    def lacks_rows(self) -> bool:
        """Whether some items lack this view."""
        return len(self._views.survey.absent[self._name]) > 0

    @property
    def missing_share(self) -> float:
        """Share of the cells that are missing."""
        return self._views.survey.missing[self._name]

    def summary(self) -> Summary:
        """Return column statistics; one pass over the shards makes those of all views."""
        return self._views.survey.summaries[self._name]

    def take(self, items: np.ndarray | slice) -> Source:
        """Return some of the items."""
        return self._views[items].source(self._name)

    def row_place(self, item: int) -> str:
        """Return an item in words: its shard, and its row there."""
        return self._views.place(item)

    def raw_blocks(self) -> Iterator[tuple[np.ndarray, Matrix]]:
        """Yield item numbers and values for blocks of the items that have this view, shard by shard."""
        for first, part in self._views.in_memory():
            for items, block in part.source(self._name).raw_blocks():
                yield items + first, block

    def batch(self, items: np.ndarray | slice, family: Family) -> ViewBatch:
        """Return the statistics of some items."""
        return self._views.batch(items, {self._name: family}).views[self._name]
