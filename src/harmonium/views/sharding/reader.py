"""Reading shards: at most two at a time are in memory, the one in use and the next one, which a thread reads ahead."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any

import numpy as np

from harmonium.core.validation import few_of
from harmonium.exceptions import InvalidViewError
from harmonium.views.container import Views
from harmonium.views.sharding.shard import Shard

# Rows of a buffer within which an epoch shuffles, where shards have fewer: rows of small shards would otherwise meet
# the same few others in every batch. A convention.
_BUFFER_ROWS = 4096


class Reader:
    """Shards as views, checked when they are first read.

    Parameters
    ----------
    shards : sequence of Shard
        The shards, in order.
    convert : callable
        Makes views of the block of a shard.
    checks : sequence of callable
        Called with the views of each shard and its name when it is first read; what they refuse is told with it.
    first_number : int, default=0
        Number of the first shard in messages.
    """

    def __init__(
        self,
        shards: Sequence[Shard],
        convert: Callable[[Any], Views],
        checks: Sequence[Callable[[Views, str], None]] = (),
        first_number: int = 0,
    ) -> None:
        self.shards, self._convert, self._checks = list(shards), convert, tuple(checks)
        self._first_number = first_number
        self._lengths: np.ndarray | None = None
        self._first: Views | None = None
        self._begin()

    def _begin(self) -> None:
        self._held: dict[int, Views] = {}  # the one that was used last comes last
        self._ahead: dict[int, Future[Views]] = {}
        self._plan: deque[int] = deque()
        self._seen: set[int] = set()

    def __getstate__(self) -> dict[str, Any]:
        # what is open stays where it is
        return {
            name: vars(self)[name] for name in ("shards", "_convert", "_checks", "_first_number", "_lengths", "_first")
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._begin()

    def with_check(self, check: Callable[[Views, str], None]) -> Reader:
        """Return a reader that also checks each shard when it is first read."""
        other = Reader(self.shards, self._convert, (*self._checks, check))
        other._lengths, other._first = self._lengths, self._first
        return other

    def only(self, number: int) -> Reader:
        """Return a reader of one of the shards."""
        other = Reader([self.shards[number]], self._convert, self._checks, self._first_number + number)
        other._lengths, other._first = self.lengths[number : number + 1], self._first
        return other

    def close(self) -> None:
        """Let go of the shards that are in memory, but remember which were checked."""
        seen = self._seen
        self._begin()
        self._seen = seen

    @property
    def lengths(self) -> np.ndarray:
        """Number of rows of each shard; those that do not know it are read once."""
        if self._lengths is None:
            if any(shard.n_rows is None for shard in self.shards):
                self.expect(number for number, shard in enumerate(self.shards) if shard.n_rows is None)
            lengths = [
                len(self.get(number)) if shard.n_rows is None else shard.n_rows
                for number, shard in enumerate(self.shards)
            ]
            self._lengths = np.array(lengths, dtype=np.int64)
        return self._lengths

    @property
    def buffer_rows(self) -> int:
        """Number of rows among which an epoch shuffles: those of the largest shard, or of several small ones."""
        return max(int(self.lengths.max()), _BUFFER_ROWS)

    @property
    def first(self) -> Views:
        """No rows of the first shard, by which its views are known."""
        if self._first is None:
            self._first = self.get(0)[:0].copied()
        return self._first

    def expect(self, numbers: Iterable[int]) -> None:
        """Say which shards will be asked for, in which order, so that they can be read ahead."""
        self._plan = deque(numbers)

    def get(self, number: int) -> Views:
        """Return the views of one shard."""
        if number in self._held:
            self._held[number] = self._held.pop(number)
            return self._held[number]
        future = self._ahead.pop(number, None)
        views = self._read(number) if future is None else future.result()
        if number not in self._seen:
            self._check(number, views)
            self._seen.add(number)
        self._make_room(len(views))
        self._held[number] = views
        self._look_ahead()
        return views

    def name(self, number: int) -> str:
        """Return a shard in words."""
        return name_of_shard(self._first_number + number, self.shards[number])

    def _read(self, number: int) -> Views:
        with named(self.name(number)):
            return self._convert(self.shards[number].read())

    def _check(self, number: int, views: Views) -> None:
        promised = self.shards[number].n_rows
        with named(self.name(number)):
            if promised is not None and promised != len(views):
                raise InvalidViewError(f"It must have {promised} rows, as was said; got {len(views)}; correct it.")
            if number:
                check_alike(views, self.first)
            for check in self._checks:
                check(views, self.name(number))

    @property
    def _capacity(self) -> int:
        if self._lengths is None:  # while shards are counted
            return 0
        return 2 * self.buffer_rows

    def _n_held(self) -> int:
        ahead = sum(self.shards[number].n_rows or int(self.lengths[number]) for number in self._ahead)
        return sum(map(len, self._held.values())) + ahead

    def _make_room(self, n_rows: int) -> None:
        """Let go of shards that were not used for longest, until there is room for some rows."""
        while self._held and self._n_held() + n_rows > self._capacity:
            del self._held[next(iter(self._held))]

    def _look_ahead(self) -> None:
        """Begin to read the next shard of the plan, if there is room for it beside the current one."""
        while self._plan and (self._plan[0] in self._held or self._plan[0] in self._ahead):
            self._plan.popleft()
        if not self._plan or self._lengths is None:
            return
        n_rows = int(self._lengths[self._plan[0]])
        while len(self._held) > 1 and self._n_held() + n_rows > self._capacity:
            del self._held[next(iter(self._held))]
        if self._n_held() + n_rows <= self._capacity:
            number = self._plan.popleft()
            future: Future[Views] = Future()
            self._ahead[number] = future
            threading.Thread(target=self._read_ahead, args=(number, future), daemon=True).start()

    def _read_ahead(self, number: int, future: Future[Views]) -> None:
        try:
            future.set_result(self._read(number))
        except BaseException as error:  # whoever asks for the shard is told
            future.set_exception(error)


def name_of_shard(number: int, shard: Shard) -> str:
    """Return a shard in words: its number, and where it comes from."""
    return f"shard {number} ({shard.place})"


@contextmanager
def named(shard: str) -> Iterator[None]:
    """Give a context in which what is refused is refused with the name of the shard."""
    try:
        yield
    except InvalidViewError as error:
        raise InvalidViewError(f"S{shard[1:]}: {error}") from error


def check_alike(views: Views, first: Views) -> None:
    """Refuse views with other names or columns than those of the first shard."""
    if views.names != first.names:
        raise InvalidViewError(
            f"All shards must have the same views; the first has {few_of(first.names)}; got "
            f"{few_of(views.names)}; pass the same views in each, NaN where they are missing."
        )
    for name in views.names:
        found, expected = views.source(name), first.source(name)
        if found.n_columns != expected.n_columns:
            raise InvalidViewError(
                f"View {name!r} must have as many columns in all shards, {expected.n_columns}; got {found.n_columns}; "
                "pass the same columns in the same order."
            )
        if found.columns is not None and expected.columns is not None and found.columns != expected.columns:
            strange = next(got for got, due in zip(found.columns, expected.columns, strict=True) if got != due)
            raise InvalidViewError(
                f"View {name!r} must have the same columns in all shards, in the same order; got {strange!r} where "
                "the first shard has another; reorder or rename the columns."
            )
