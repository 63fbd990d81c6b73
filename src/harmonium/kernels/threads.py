"""Who is parallel: this module, and nothing else.

BLAS threads and other threads fight on small machines, and BLAS results depend on how many threads it has. So while a
model computes, BLAS runs on one thread and work is cut into blocks whose borders depend on shapes alone, done by a small
pool of Python threads (NumPy, BLAS and the kernels all release the interpreter lock). The same random state therefore
gives the same result on one thread or many.
"""

from __future__ import annotations

import itertools
import math
import os
import queue
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache

import numpy as np
import threadpoolctl

_active = threading.local()


@cache
def _controller() -> threadpoolctl.ThreadpoolController:
    import scipy.linalg  # noqa: F401  (scipy carries a BLAS of its own, to be controlled too)

    return threadpoolctl.ThreadpoolController().select(user_api="blas")


def available_threads(n_jobs: int | None) -> int:
    """Number of threads to use: ``n_jobs``, or as many as BLAS is allowed (OMP_NUM_THREADS and the like are obeyed)."""
    if n_jobs is None:
        allowed = [info["num_threads"] for info in _controller().info()]
        return max(1, min(max(allowed, default=1), _cpu_count()))
    if n_jobs < 0:
        return max(1, _cpu_count() + 1 + n_jobs)
    if n_jobs == 0:
        raise ValueError("n_jobs must be a positive number of threads, -1 for all, or None; got 0; leave it at None.")
    return n_jobs


def _cpu_count() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def compute(n_jobs: int | None = None) -> Iterator[None]:
    """Context in which `run_blocks` may use ``n_jobs`` threads and BLAS uses one."""
    n_threads = available_threads(n_jobs)
    before = getattr(_active, "n_threads", 1)
    _active.n_threads = n_threads
    try:
        with _controller().limit(limits=1):
            yield
    finally:
        _active.n_threads = before


def run_blocks(task: Callable[[int], None], n_blocks: int) -> None:
    """Call ``task(0) … task(n_blocks - 1)``, each once, on the threads of the surrounding `compute` context."""
    n_helpers = min(getattr(_active, "n_threads", 1), n_blocks) - 1
    if n_helpers < 1:
        for block in range(n_blocks):
            task(block)
        return
    counter = itertools.count()
    failures: list[BaseException] = []

    def work() -> None:
        # next() on a count is atomic, so every block is taken exactly once
        try:
            while (block := next(counter)) < n_blocks:
                task(block)
        except BaseException as failure:
            failures.append(failure)

    done = threading.Semaphore(0)
    helpers = _pool(os.getpid()).helpers(n_helpers)
    for helper in helpers:
        helper.put((work, done))
    work()
    for _ in helpers:
        done.acquire()
    if failures:
        raise failures[0]


class _Pool:
    """Threads that sleep until they are handed work; made once for each process (threads do not survive a fork)."""

    def __init__(self) -> None:
        self._queues: list[queue.SimpleQueue] = []
        self._lock = threading.Lock()

    def helpers(self, number: int) -> list[queue.SimpleQueue]:
        with self._lock:
            while len(self._queues) < number:
                tasks: queue.SimpleQueue = queue.SimpleQueue()
                threading.Thread(target=self._serve, args=(tasks,), daemon=True, name="harmonium-kernel").start()
                self._queues.append(tasks)
            return self._queues[:number]

    @staticmethod
    def _serve(tasks: queue.SimpleQueue) -> None:
        while True:
            work, done = tasks.get()
            work()
            done.release()


@cache
def _pool(process: int) -> _Pool:
    return _Pool()


def scratch(name: str, shape: tuple[int, ...], dtype: type) -> np.ndarray:
    """Memory of this thread that is used again by the next call with the same name; its contents are arbitrary.

    Fresh memory has to be mapped page by page, which for the blocks of a batch takes longer than filling it.
    """
    buffers = _active.__dict__.setdefault("buffers", {})
    size = math.prod(shape)
    buffer = buffers.get(name)
    if buffer is None or buffer.dtype != dtype or buffer.size < size:
        buffer = buffers[name] = np.empty(size, dtype=dtype)
    return buffer[:size].reshape(shape)


def block_count(size: int, target: int) -> int:
    """Number of blocks of about ``target`` items; a function of shapes alone, so results do not depend on threads."""
    return max(1, round(size / target))


def block_bounds(size: int, n_blocks: int, block: int) -> tuple[int, int]:
    """First and last + 1 item of a block."""
    return size * block // n_blocks, size * (block + 1) // n_blocks
