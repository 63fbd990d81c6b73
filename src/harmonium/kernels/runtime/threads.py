"""Parallel blocks of work on a small pool of threads; no other module decides how many threads there are.

BLAS threads and other threads slow each other down on small machines, and results of BLAS depend on its number of
threads. So while a model computes, BLAS runs on one thread, and work is cut into blocks, whose bounds depend on shapes
alone, for a small pool of Python threads (NumPy, BLAS and the kernels all release the interpreter lock). The same
random state therefore gives the same result on one thread or many.
"""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import cache

import numpy as np
import threadpoolctl

from harmonium.kernels.runtime.adaptive_threading import timings_of
from harmonium.kernels.runtime.interrupts import shielded, sigint, uninterrupted
from harmonium.kernels.runtime.thread_pool import Job, ThreadPool


class _Active(threading.local):
    """State of each thread: how many threads it may use, and how many `compute` contexts it is in."""

    n_threads = 1
    depth = 0


_active = _Active()


@cache
def _controller() -> threadpoolctl.ThreadpoolController:
    import scipy.linalg  # noqa: F401  (SciPy has a BLAS of its own, which must be limited too)

    return threadpoolctl.ThreadpoolController().select(user_api="blas")


def effective_n_jobs(n_jobs: int | None) -> int:
    """Return the number of threads to use: ``n_jobs``, or as many as BLAS may use.

    BLAS obeys OMP_NUM_THREADS and similar variables. Negative numbers count from the number of processors: -1 means
    all.
    """
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


class compute:
    """Context in which `run_blocks` may use ``n_jobs`` threads, BLAS uses one, and Ctrl-C is safe (`interrupts`)."""

    def __init__(self, n_jobs: int | None = None) -> None:
        self._n_jobs = n_jobs

    @shielded
    def __enter__(self) -> None:
        self._installed = sigint.install()
        try:
            with _limits.lock:
                n_threads = effective_n_jobs(self._n_jobs)
                _limits.enter()
        except BaseException:
            if self._installed:
                sigint.uninstall()
            raise
        self._before = _active.n_threads
        _active.n_threads = n_threads
        _active.depth += 1

    @shielded
    def __exit__(self, *_: object) -> None:
        _active.depth -= 1
        _active.n_threads = self._before
        with _limits.lock:
            _limits.leave()
        if self._installed:
            sigint.uninstall()
        elif sigint.pending:
            sigint.deliver()


def single_threaded() -> AbstractContextManager[object]:
    """Return a context in which other libraries use no threads of their own.

    Threads of OpenMP spin while they wait for each other, which beside other work costs far more time than they save.
    """
    return threadpoolctl.threadpool_limits(1)


class _Limits:
    """Limit of BLAS to one thread: it holds for the process, so the first `compute` sets it, the last lifts it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self._users = 0
        self._original: list[int] = []

    def enter(self) -> None:
        self._users += 1
        if self._users == 1:
            libraries = _controller().lib_controllers
            self._original = [library.num_threads for library in libraries]
            self._set([1] * len(libraries))

    def leave(self) -> None:
        self._users -= 1
        if self._users == 0:
            self._set(self._original)

    def keep_users(self, number: int) -> None:
        """In a process that was just forked: keep only the users of the thread that lives on."""
        if self._users and not number:
            self._set(self._original)
        self._users = number

    @staticmethod
    def _set(numbers: list[int]) -> None:
        for library, number in zip(_controller().lib_controllers, numbers, strict=True):
            library.set_num_threads(number)
            # since 3.7 threadpoolctl lets only the thread that set a limit change it, but here another may be the last
            release = getattr(library, "clear_controlling_thread", None)
            if release is not None:
                release()


_limits = _Limits()


def run_blocks(task: Callable[[int], None], n_blocks: int) -> None:
    """Call ``task(0)`` to ``task(n_blocks - 1)``, each once, on the threads of the surrounding `compute` context.

    Where threads have not paid lately for such jobs (`adaptive_threading`), the calling thread does all blocks itself.
    """
    n_workers = min(_active.n_threads, n_blocks) - 1
    if n_workers <= 0:
        for block in range(n_blocks):
            task(block)
        return
    timings = timings_of(task, n_blocks)
    # the pool serves one caller at a time; a second one (another model in another thread) does its blocks itself
    threaded = timings.use_threads() and _pool.lock.acquire(blocking=False)
    begin = time.perf_counter()
    if threaded:
        try:
            with uninterrupted:
                Job(task, n_blocks).run(_pool.workers(n_workers))
        finally:
            _pool.lock.release()
    else:
        for block in range(n_blocks):
            task(block)
    timings.record(threaded, time.perf_counter() - begin)


_pool = ThreadPool()


def _reset_after_fork() -> None:
    """Make a forked process forget the threads that do not live in it, with their locks, limits and handlers."""
    global _pool
    _pool = ThreadPool()
    _limits.lock = threading.Lock()
    _limits.keep_users(_active.depth)
    sigint.reset_after_fork()


if hasattr(os, "register_at_fork"):
    # the lock is taken while the process is copied, so that no copy has limits that are half set
    os.register_at_fork(
        before=lambda: _limits.lock.acquire(),
        after_in_parent=lambda: _limits.lock.release(),
        after_in_child=_reset_after_fork,
    )


def scratch(name: str, shape: tuple[int, ...], dtype: type) -> np.ndarray:
    """Return an uninitialised buffer of this thread, which the next call with the same name reuses.

    New memory has to be mapped page by page, which for the blocks of a batch takes longer than filling it.
    """
    buffers = _active.__dict__.setdefault("buffers", {})
    size = math.prod(shape)
    buffer = buffers.get(name)
    if buffer is None or buffer.dtype != dtype or buffer.size < size:
        buffer = buffers[name] = np.empty(size, dtype=dtype)
    return buffer[:size].reshape(shape)


def block_count(size: int, target: int) -> int:
    """Return the number of blocks of about ``target`` items, by shapes alone, so that threads do not change results."""
    return max(1, round(size / target))


def block_bounds(size: int, n_blocks: int, block: int) -> tuple[int, int]:
    """Return the first item of a block, and the first item after it, as `range` and slices take them."""
    return size * block // n_blocks, size * (block + 1) // n_blocks
