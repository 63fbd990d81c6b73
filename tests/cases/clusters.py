"""A cluster that is this process alone, for `Distributed` without workers of dask."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from harmonium.training.distributed.client import Cluster


class Done:
    """A result that is there already."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def result(self) -> Any:
        return self.value

    def release(self) -> None:
        pass


class Alone(Cluster):
    """A cluster of this process alone, which does every task at once and may fail at one."""

    released = 0

    def __init__(
        self, fails_at: int | None = None, with_error: type[BaseException] = RuntimeError, n_workers: int = 2
    ) -> None:
        super().__init__(None)
        self.n_workers = n_workers
        self.n_tasks, self.fails_at, self.with_error = 0, fails_at, with_error

    def meet(self) -> int:
        return self.n_workers

    def submit(self, function: Callable[..., Any], *arguments: Any, near: Any = None) -> Done:
        self.n_tasks += 1
        if self.n_tasks == self.fails_at:
            raise self.with_error
        return Done(function(*map(self._given, arguments)))

    def _given(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._given(each) for each in value]
        return value.value if isinstance(value, Done) else value

    def release(self) -> None:
        self._parts = None
        Alone.released += 1


def in_this_process(monkeypatch: pytest.MonkeyPatch) -> dict[str, Alone]:
    """Let `Distributed` work in this process, and return where the cluster that comes "next" can be put."""
    clusters: dict[str, Alone] = {}

    @contextmanager
    def session(address: str | None, n_replicas: int) -> Iterator[Alone]:
        cluster = clusters.pop("next", None) or Alone()
        try:
            yield cluster
        finally:
            cluster.release()

    monkeypatch.setattr("harmonium.training.distributed.driver.session", session)
    return clusters
