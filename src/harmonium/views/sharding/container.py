"""`ShardedViews`: views whose items are in shards, for everything that takes views."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from harmonium.core.batch import Batch
from harmonium.families import Family
from harmonium.views.container import Views, empty_rows
from harmonium.views.sharding.joining import join_batches, join_views
from harmonium.views.sharding.reader import Reader
from harmonium.views.sharding.source import ShardedSource
from harmonium.views.sources.source import Source
from harmonium.views.sources.summary import Summary, Sums

# batches whose shards are looked up in one go: a convention
_PIECES = 1000


@dataclass(frozen=True)
class Survey:
    """What one pass over all shards finds, by view.

    Attributes
    ----------
    summaries : dict of str to Summary
        Column statistics.
    absent : dict of str to ndarray of int
        Numbers of the items that lack the view.
    missing : dict of str to float
        Share of the cells that are missing.
    """

    summaries: dict[str, Summary]
    absent: dict[str, np.ndarray]
    missing: dict[str, float]


class ShardedViews(Views):
    """Views of items that are in shards.

    Parameters
    ----------
    reader : Reader
        Reads the shards.
    items : ndarray of int64, optional
        Which rows of all shards, counted through, these items are. Default: all, in order.
    names : sequence of str, optional
        Which views there are. Default: all.
    added : mapping of str to Source, optional
        Views of the same items that are in memory.
    """

    def __init__(
        self,
        reader: Reader,
        items: np.ndarray | None = None,
        names: Sequence[str] | None = None,
        added: Mapping[str, Source] | None = None,
    ) -> None:
        self._reader, self._items, self._added = reader, items, dict(added or {})
        self._read_names = list(reader.first.all_names if names is None else names)
        self._ends = np.cumsum(reader.lengths)
        self.table = reader.first.table

    @property
    def _sources(self) -> dict[str, Source]:  # type: ignore[override]
        # made when they are asked for: kept, they and these views would hold each other, and shards in memory with them
        sources: dict[str, Source] = {
            name: ShardedSource(self, name, self._reader.first.source(name)) for name in self._read_names
        }
        return sources | self._added

    def _like(self, **changes: Any) -> ShardedViews:
        """Return the same views but for some changes."""
        given = {"items": self._items, "names": self._read_names, "added": self._added}
        other = ShardedViews(self._reader, **(given | changes))
        if "items" not in changes and "survey" in vars(self):
            other.survey = self.survey
        return other

    # ---- what all views can be asked -----------------------------------------------------------------------------
    def __len__(self) -> int:
        return int(self._ends[-1]) if self._items is None else len(self._items)

    @property
    def index(self) -> None:
        """None: rows of shards go by position."""
        return

    def __getitem__(self, rows: Any) -> Views:
        if isinstance(rows, str):
            return super().__getitem__(rows)  # which refuses it
        if isinstance(rows, tuple):  # scikit-learn asks for X[rows, ...]
            rows = rows[0]
        rows = rows if isinstance(rows, slice) else np.atleast_1d(np.asarray(rows))
        added = {name: source.take(rows) for name, source in self._added.items()}
        return self._like(items=self._all_items()[rows], added=added)

    def with_view(self, name: str, matrix: np.ndarray, columns: list[str] | None = None) -> Views:
        """Return these views and one more, which is in memory."""
        rows = np.arange(len(matrix))
        rows[empty_rows(matrix)] = -1
        return self._like(added={**self._added, name: Source(matrix, rows, columns)})

    def without(self, *names: str) -> Views:
        """Return all views but some."""
        kept = [name for name in self._read_names if name not in names]
        return self._like(names=kept, added={name: self._added[name] for name in self._added if name not in names})

    @property
    def lengths(self) -> np.ndarray:
        """Number of rows of each shard."""
        return self._reader.lengths

    # ---- where items are -----------------------------------------------------------------------------------------
    def _all_items(self) -> np.ndarray:
        return np.arange(len(self)) if self._items is None else self._items

    def _rows_of_shards(self, items: np.ndarray | slice) -> np.ndarray:
        """Return where items are among the rows of all shards."""
        if self._items is not None:
            return self._items[items]
        return np.arange(len(self))[items] if isinstance(items, slice) else items

    def _shards_of(self, rows: np.ndarray) -> np.ndarray:
        return np.searchsorted(self._ends, rows, side="right")

    def place(self, item: int) -> str:
        """Return an item in words: its shard, and its row there."""
        row = int(self._rows_of_shards(np.array([item]))[0])
        shard = int(self._shards_of(np.array([row]))[0])
        start = int(self._ends[shard]) - int(self._reader.lengths[shard])
        return f"{self._reader.name(shard)}, row {row - start}"

    def _part(self, shard: int, rows: np.ndarray, items: np.ndarray | slice) -> Views:
        """Return some items of one shard in memory: their rows of all shards, and their numbers here."""
        views = self._reader.get(shard)
        start = int(self._ends[shard]) - int(self._reader.lengths[shard])
        local: np.ndarray | slice = rows - start
        if len(rows) == len(views) and rows[0] == start and bool((np.diff(rows) == 1).all()):
            local = slice(None)
        sources = {name: views.source(name).take(local) for name in self._read_names}
        sources |= {name: source.take(items) for name, source in self._added.items()}
        return Views._from_sources(sources, self.table)

    # ---- how to go over the items --------------------------------------------------------------------------------
    def in_memory(self) -> Iterator[tuple[int, Views]]:
        """Yield all items in order, the consecutive ones of a shard at a time, and the number of their first."""
        runs = self._runs()
        self._reader.expect([shard for shard, _, _ in runs])
        for shard, start, end in runs:
            yield start, self._part(shard, self._rows_of_shards(np.arange(start, end)), slice(start, end))

    def _runs(self) -> list[tuple[int, int, int]]:
        """Return shard, first item and end of each run of items that follow each other in one shard."""
        if self._items is None:  # no number for each of what may be many millions
            ends = self._ends.tolist()
            starts = [0, *ends[:-1]]
            return [(shard, *run) for shard, run in enumerate(zip(starts, ends, strict=True)) if run[0] < run[1]]
        shards = self._shards_of(self._items)
        borders = [*np.flatnonzero(np.diff(shards, prepend=-1)).tolist(), len(shards)]
        return [(int(shards[start]), start, end) for start, end in pairwise(borders)]

    def batch(self, items: np.ndarray | slice, families: Mapping[str, Family]) -> Batch:
        """Return the statistics of some items; each shard that has some of them is read once."""
        items = np.arange(len(self))[items] if isinstance(items, slice) else items
        rows = self._rows_of_shards(items)
        shards = self._shards_of(rows)
        if not len(shards):
            return self._reader.first.batch(slice(0, 0), families)
        numbers, firsts = np.unique(shards, return_index=True)
        numbers = numbers[np.argsort(firsts)]  # those that are in memory come first
        if len(numbers) > 2:
            self._reader.expect(numbers.tolist())
        places = [np.flatnonzero(shards == number) for number in numbers]
        parts = []
        for number, found in zip(numbers, places, strict=True):
            part = self._part(int(number), rows[found], items[found])
            # copied, as a row that is mapped into memory would hold its shard there
            part = part.copied() if len(numbers) > 2 else part
            parts.append(part.batch(slice(None), families))
        order = np.argsort(np.concatenate(places))
        return join_batches(parts, families, None if (np.diff(order) == 1).all() else order)

    def batches(self, pieces: Sequence[np.ndarray], families: Mapping[str, Family]) -> Iterator[Batch]:
        """Yield the statistics of one piece after the other, while the shards of later ones are read ahead."""
        seen: dict[int, None] = {}
        for first in range(0, len(pieces), _PIECES):  # not all at once: there would be a number for each row
            shards = self._shards_of(self._rows_of_shards(np.concatenate(pieces[first : first + _PIECES])))
            numbers, places = np.unique(shards, return_index=True)
            seen |= dict.fromkeys(numbers[np.argsort(places)].tolist())
        if pieces:
            self._reader.expect(list(seen))
        for items in pieces:
            yield self.batch(items, families)

    def shuffled(self, items: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return items in an order for one epoch: shards in random order, rows shuffled within a buffer.

        The buffer holds the rows of the largest shard, or of several small ones. The order depends on the seed, the
        shards and the items alone: each buffer has random numbers of its own.
        """
        seed = int(rng.integers(2**63))
        rows = self._rows_of_shards(items)
        if bool((rows[:-1] <= rows[1:]).all()):  # the usual case, and one without a shard's number for each row
            bounds = np.searchsorted(rows, np.append(0, self._ends))
        else:
            shards = self._shards_of(rows)
            by_shard = np.argsort(shards, kind="stable")
            items, bounds = items[by_shard], np.searchsorted(shards[by_shard], np.arange(len(self._ends) + 1))
        numbers = np.flatnonzero(np.diff(bounds))
        if not any(self._reader.shards[number].in_order for number in numbers):
            numbers = np.random.default_rng([seed, 0]).permutation(numbers)
        order: list[np.ndarray] = []
        buffer: list[np.ndarray] = []
        n_rows = 0

        def empty() -> None:
            if buffer:
                rows = np.concatenate(buffer)
                order.append(np.random.default_rng([seed, 1, len(order)]).permutation(rows))
                buffer.clear()

        for number in numbers:
            part = items[bounds[number] : bounds[number + 1]]
            if n_rows + len(part) > self._reader.buffer_rows:
                empty()
                n_rows = 0
            buffer.append(part)
            n_rows += len(part)
        empty()
        return np.concatenate(order) if order else items

    def partition(self, items: np.ndarray, n_parts: int) -> list[tuple[np.ndarray, Views]]:
        """Return some items, whose numbers rise, in a part for each shard."""
        rows = self._rows_of_shards(items)
        shards = self._shards_of(rows)
        parts: list[tuple[np.ndarray, Views]] = []
        by_shard = np.argsort(shards, kind="stable")
        for chosen in np.split(by_shard, np.flatnonzero(np.diff(shards[by_shard])) + 1):
            number = int(shards[chosen[0]])
            length = int(self._reader.lengths[number])
            local = rows[chosen] - (int(self._ends[number]) - length)
            added = {name: source.take(items[chosen]).copied() for name, source in self._added.items()}
            whole = np.array_equal(local, np.arange(length))
            views = ShardedViews(self._reader.only(number), None if whole else local, self._read_names, added)
            parts.append((items[chosen], views))
        return parts

    def close(self) -> None:
        """Let go of the shards that are in memory."""
        self._reader.close()

    def when_read(self, check: Callable[[Views, str], None]) -> Views:
        """Return views of which each shard is checked when it is first read."""
        return ShardedViews(self._reader.with_check(check), self._items, self._read_names, self._added)

    def spread_sample(self, n_rows: int) -> tuple[Views, np.ndarray | None]:
        """Return so many evenly spaced items, in memory."""
        items = np.linspace(0, len(self) - 1, min(n_rows, len(self))).astype(np.int64)
        return self.gathered(items), items

    def gathered(self, items: np.ndarray) -> Views:
        """Return some items, whose numbers rise, in memory."""
        # copied one by one: rows that are mapped into memory would hold all shards there
        return join_views([part.copied() for _, part in self[items].in_memory()])

    @property
    def lacking(self) -> np.ndarray:
        """Mask of the items that lack every view."""
        result = np.ones(len(self), dtype=bool)
        for name in self.names:
            if name in self._added:
                result &= self._added[name].rows < 0
            else:
                mask = np.zeros(len(self), dtype=bool)
                mask[self.survey.absent[name]] = True
                result &= mask
        return result

    @cached_property
    def survey(self) -> Survey:
        """What one pass over all shards finds."""
        sums = {name: Sums(self._sources[name]._width) for name in self._read_names}
        absent: dict[str, list[np.ndarray]] = {name: [] for name in self._read_names}
        for first, part in self._like(added={}).in_memory():
            for name in self._read_names:
                source = part.source(name)
                sums[name].add_source(source)
                absent[name].append(np.flatnonzero(source.rows < 0) + first)
        lacking = {name: np.concatenate(parts) for name, parts in absent.items()}
        missing = {}
        for name, sum_ in sums.items():
            share = len(lacking[name]) / max(len(self), 1)
            cells = sum_.n_rows * self._sources[name]._width
            missing[name] = share + (1 - share) * sum_.n_missing / max(cells, 1)
        summaries = {
            name: sums[name].summary(self._sources[name].n_columns, self._sources[name].is_sparse)
            for name in self._read_names
        }
        return Survey(summaries, lacking, missing)
