"""One shard: a block of rows that is readable on its own, and where it comes from in the user's words."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import pandas as pd

from harmonium.core.extras import require
from harmonium.exceptions import InvalidViewError


@dataclass(frozen=True)
class Shard:
    """Base of all shards; a subclass defines `read`. It can be pickled, and opens what it reads from when it is read.

    Attributes
    ----------
    place : str
        Where the block comes from, for messages.
    n_rows : int, optional
        Number of rows, if it is known without reading them.
    y : object, optional
        Targets of the rows, or a function without arguments that returns them.
    """

    #: whether shards are best read one after the other, so that an epoch takes them in order
    in_order = False
    #: whether reading it means computing it with dask
    lazy = False
    place: str
    n_rows: int | None = None
    y: Any = None

    def read(self) -> Any:
        """Return the block, as anything that estimators take as X."""
        raise NotImplementedError

    def delayed(self) -> Any:
        """Return the block as something that dask computes before it is passed to a task."""
        return require("dask", "A lazy result").delayed(self.read)()

    def targets(self) -> Any:
        """Return the targets of the rows; None if there are none."""
        return self.y() if callable(self.y) else self.y

    def with_target(self, names: str | list[str]) -> Shard:
        """Return the shard with columns of its block as targets, which the block then goes without."""
        raise InvalidViewError(
            f"y may name columns of shards that are tables; {self.place} is none; pass one label per row."
        )


@dataclass(frozen=True)
class HeldShard(Shard):
    """A block that is in memory, or what a function without arguments returns."""

    block: Any = None

    def read(self) -> Any:
        """Return the block."""
        return self.block() if callable(self.block) else self.block


@dataclass(frozen=True)
class TableShard(Shard):
    """A block of a table on disk, some columns of which may be targets."""

    path: str = ""
    target: str | tuple[str, ...] | None = None

    @property
    def target_columns(self) -> list[str]:
        """Names of the targets."""
        return [self.target] if isinstance(self.target, str) else list(self.target or ())

    def columns(self, names: list[str]) -> pd.DataFrame:
        """Return columns of the block."""
        raise NotImplementedError

    def targets(self) -> Any:
        """Return the columns of the targets."""
        if self.target is None:
            return super().targets()
        frame = self.columns(self.target_columns)
        return frame[self.target] if isinstance(self.target, str) else frame

    def with_target(self, names: str | list[str]) -> Shard:
        """Return the shard with other columns as targets."""
        return replace(self, target=names if isinstance(names, str) else tuple(names))


@dataclass(frozen=True)
class MappedShard(Shard):
    """A block of another shard after a function was applied to it."""

    @property
    def lazy(self) -> bool:  # type: ignore[override]
        """Whether the shard itself is computed with dask."""
        return self.shard.lazy

    shard: Shard = field(default_factory=lambda: Shard(""))
    function: Callable[[Any], Any] = lambda block: block

    def read(self) -> Any:
        """Return what the function makes of the block."""
        return self.function(self.shard.read())

    def targets(self) -> Any:
        """Return the targets of the shard itself."""
        return self.shard.targets()

    def with_target(self, names: str | list[str]) -> Shard:
        """Return the shard with columns of the original block as targets."""
        return replace(self, shard=self.shard.with_target(names))


class Reopened:
    """An iterable of blocks that can be opened again: blocks are read in order, and from the start if one lies behind.

    Parameters
    ----------
    blocks : iterable, or callable that returns one
        What is opened.
    pairs : bool
        Whether blocks are pairs of X and y.
    """

    def __init__(self, blocks: Iterable[Any] | Callable[[], Iterable[Any]], pairs: bool) -> None:
        self._blocks, self._pairs = blocks, pairs
        self._begin()

    def _begin(self) -> None:
        self._lock = threading.Lock()
        self._open: Iterator[Any] | None = None
        self._next = 0
        self._last: tuple[int, Any] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {"_blocks": self._blocks, "_pairs": self._pairs}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._begin()

    def __iter__(self) -> Iterator[Any]:
        return iter(self._blocks() if callable(self._blocks) else self._blocks)

    def block(self, number: int) -> Any:
        """Return one of the blocks."""
        with self._lock:  # a thread may be reading ahead
            if self._last is not None and self._last[0] == number:
                return self._last[1]
            if self._open is None or number < self._next:
                self._open, self._next = iter(self), 0
            for block in self._open:
                self._next += 1
                if self._next > number:
                    self._last = (number, block)
                    return block
            raise InvalidViewError(
                f"An iterable of blocks must have the same blocks whenever it is opened; it ended before block "
                f"{number}; pass a function that opens it anew."
            )

    def x(self, number: int) -> Any:
        """Return X of one of the blocks."""
        return self.block(number)[0] if self._pairs else self.block(number)

    def y(self, number: int) -> Any:
        """Return y of one of the blocks."""
        return self.block(number)[1] if self._pairs else None


@dataclass(frozen=True)
class ReopenedShard(Shard):
    """One block of an iterable."""

    in_order = True
    blocks: Reopened = field(default_factory=lambda: Reopened([], False))
    number: int = 0

    def read(self) -> Any:
        """Return the block."""
        return self.blocks.x(self.number)

    def targets(self) -> Any:
        """Return the targets that come with the block, or those that were given."""
        return super().targets() if self.y is not None else self.blocks.y(self.number)
