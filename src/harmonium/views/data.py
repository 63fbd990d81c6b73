"""Training data: views of items, and what is to be predicted for them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from harmonium.core.batch import Batch
from harmonium.core.targets import Targets
from harmonium.families import Family
from harmonium.views.container import Views

# rows of a block in passes over the data that need no gradient; it decides about memory and speed alone
_BLOCK_ROWS = 1000


@dataclass(frozen=True)
class Data:
    """Views of items and, if something is predicted, the targets of the same items."""

    views: Views
    targets: Targets | None = None

    def __len__(self) -> int:
        return len(self.views)

    @property
    def known_targets(self) -> Targets:
        """The targets of data that have some."""
        assert self.targets is not None
        return self.targets

    def take(self, rows: np.ndarray) -> Data:
        """Return some of the items."""
        return Data(self.views[rows], None if self.targets is None else self.targets.take(rows))

    def batch(self, items: np.ndarray, families: Mapping[str, Family]) -> Batch:
        """Return statistics and targets of some items."""
        batch = self.views.batch(items, families)
        batch.targets = None if self.targets is None else self.targets.take(items)
        return batch

    def spaced(self, n_rows: int, families: Mapping[str, Family], rows: np.ndarray | None = None) -> Batch:
        """Return statistics and targets of at most ``n_rows`` items, evenly spaced among all or among ``rows``.

        No random numbers are drawn.
        """
        rows = np.arange(len(self)) if rows is None else rows
        return self.batch(rows[np.linspace(0, len(rows) - 1, min(n_rows, len(rows))).astype(int)], families)

    def blocks(self, families: Mapping[str, Family], rows: np.ndarray | None = None) -> Iterator[Batch]:
        """Return statistics and targets of all items, or of ``rows``, in order and block by block."""
        rows = np.arange(len(self)) if rows is None else rows
        return self.batches(np.array_split(rows, -(-len(rows) // _BLOCK_ROWS)), families)

    def batches(self, pieces: Sequence[np.ndarray], families: Mapping[str, Family]) -> Iterator[Batch]:
        """Yield statistics and targets of one piece after the other, each given by the numbers of its items."""
        for items, batch in zip(pieces, self.views.batches(pieces, families), strict=True):
            batch.targets = None if self.targets is None else self.targets.take(items)
            yield batch

    def in_order(self, rows: np.ndarray, size: int, families: Mapping[str, Family]) -> Iterator[Batch]:
        """Return statistics and targets of rows in order, ``size`` at a time."""
        return self.batches([rows[first : first + size] for first in range(0, len(rows), size)], families)

    def shuffled(self, rows: np.ndarray, size: int, rng: np.random.Generator) -> list[np.ndarray]:
        """Return rows in an order for one epoch, in pieces of some size."""
        order = self.views.shuffled(rows, rng)
        return [order[first : first + size] for first in range(0, len(order), size)]

    def partition(self, rows: np.ndarray, n_parts: int) -> list[Data]:
        """Return rows, whose numbers rise, in parts that can be sent to other processes; a part for each shard."""
        parts = self.views.partition(rows, n_parts)
        targets = self.targets
        return [Data(views, None if targets is None else targets.take(items)) for items, views in parts]

    def spread_sample(self, n_rows: int) -> Data:
        """Return data in memory to choose settings by: these, or so many evenly spaced rows of data in shards."""
        views, items = self.views.spread_sample(n_rows)
        if items is None:
            return self
        return Data(views, None if self.targets is None else self.targets.take(items))
