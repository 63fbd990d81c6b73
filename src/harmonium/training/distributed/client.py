"""Client of a dask cluster: its workers, checked before a fit, and what lies there during one."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from harmonium._version import __version__
from harmonium.core.extras import require
from harmonium.core.notices import notice
from harmonium.training.distributed.worker import hold
from harmonium.views.data import Data
from harmonium.views.sharding.lazy import current_client


class Cluster:
    """A client, and what a fit has put on its workers.

    Parameters
    ----------
    client : distributed.Client
        The client.
    """

    def __init__(self, client: Any) -> None:
        self._client = client
        self._kept: list[Any] = []
        self.workers: list[str] = []
        self._parts: tuple[list[Any], list[int]] | None = None

    def submit(self, function: Callable[..., Any], *arguments: Any, near: int | None = None) -> Any:
        """Return the future of a task; tasks of a fit come in the order in which they were submitted.

        Tasks with the same number ``near`` are done by the same worker as long as it is there, so that what they read
        or receive is not read or sent again.
        """
        place = {}
        if near is not None and self.workers:
            place = {"workers": [self.workers[near % len(self.workers)]], "allow_other_workers": True}
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Sending large graph", UserWarning)
            return self._client.submit(function, *arguments, pure=False, **place)

    def meet(self) -> int:
        """Look which workers there are now, and return their number."""
        self.workers = sorted(self._client.nthreads())
        return len(self.workers)

    def keep(self, value: Any) -> Any:
        """Return the future of a value that stays on the cluster until the end; a lost copy is made anew."""
        self._kept.append(self.submit(hold, value))
        return self._kept[-1]

    def parts(self, data: Data, rows: np.ndarray, n_parts: int) -> tuple[list[Any], list[int]]:
        """Return futures of the shards of the rows to train on, and their numbers of rows.

        Data in memory are cut into as many parts as there are replicas.
        """
        if self._parts is None:
            cut = data.partition(rows, n_parts)
            self._parts = [self.keep(part) for part in cut], [len(part) for part in cut]
        return self._parts

    def release(self) -> None:
        """Let go of everything that was put on the cluster."""
        release(self._kept)
        self._kept, self._parts = [], None


def release(futures: Iterable[Any]) -> None:
    """Tell the scheduler that nobody wants some results any more, whoever else still knows of them.

    Tasks that only they needed are dropped with them. To cancel them by force would make the scheduler give up its
    connection to the client wherever tasks depend on them whose own results nobody has asked for.
    """
    for future in futures:
        future.release()


@contextmanager
def session(address: str | None, n_replicas: int) -> Iterator[Cluster]:
    """Give a cluster whose workers have been checked; at the end, however it comes, nothing is left there.

    Parameters
    ----------
    address : str, optional
        Address of the scheduler; None takes the current client.
    n_replicas : int
        Number of replicas that workers share.
    """
    distributed = require("distributed", "The Distributed driver")
    client = distributed.Client(address, set_as_default=False) if address is not None else current_client()
    if client is None:
        raise ValueError(
            "Distributed needs a client of dask.distributed; got none; make one, such as Client(LocalCluster()), or "
            "pass the address of a scheduler."
        )
    cluster = Cluster(client)
    try:
        check_workers(client.run(facts), n_replicas)
        yield cluster
    finally:
        cluster.release()
        if address is not None:
            client.close()


def facts() -> dict[str, str]:
    """Return the versions that a result depends on."""
    import numba

    python = ".".join(map(str, sys.version_info[:2]))
    return {"harmonium": __version__, "numpy": np.__version__, "numba": numba.__version__, "Python": python}


def check_workers(versions: Mapping[str, Mapping[str, str]], n_replicas: int) -> None:
    """Refuse a cluster without workers, and workers with other versions than this process.

    Threads need no check: every task computes on one.

    Parameters
    ----------
    versions : mapping of str to mapping of str to str
        Versions by package, by address of the worker.
    n_replicas : int
        Number of replicas; a notice tells of workers that have nothing to do.

    Examples
    --------
    >>> check_workers({"tcp://10.0.0.7:40001": facts() | {"numpy": "1.0"}}, n_replicas=1)
    Traceback (most recent call last):
    ...
    ValueError: Workers must have the numpy of this process, ...; tcp://10.0.0.7:40001 has 1.0; install the same there.
    """
    if not versions:
        raise ValueError("Distributed needs workers; the cluster has none; start some, or wait until they are there.")
    here = facts()
    for worker, there in versions.items():
        for package, version in here.items():
            if there.get(package) != version:
                raise ValueError(
                    f"Workers must have the {package} of this process, {version}; {worker} has "
                    f"{there.get(package, 'none')}; install the same there."
                )
    if len(versions) > n_replicas:
        notice(
            f"The cluster has {len(versions)} workers, but only {n_replicas} have something to do at a time; pass "
            f"n_replicas={len(versions)} for another result in less time."
        )
