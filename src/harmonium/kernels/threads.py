"""Parallel work: this module, and nothing else, decides how many threads there are.

BLAS threads and other threads slow each other down on small machines, and results of BLAS depend on its number of
threads. So while a model computes, BLAS runs on one thread, and work is cut into blocks, whose borders depend on shapes
alone, for a small pool of Python threads (NumPy, BLAS and the kernels all release the interpreter lock). The same
random state therefore gives the same result on one thread or many.
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

from harmonium.kernels.waiting import look_out

_active = threading.local()


@cache
def _controller() -> threadpoolctl.ThreadpoolController:
    import scipy.linalg  # noqa: F401  (SciPy has a BLAS of its own, which must be limited too)

    return threadpoolctl.ThreadpoolController().select(user_api="blas")


def available_threads(n_jobs: int | None) -> int:
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


@contextmanager
def compute(n_jobs: int | None = None) -> Iterator[None]:
    """Open a context in which `run_blocks` may use ``n_jobs`` threads and BLAS uses one."""
    with _limits_lock:
        n_threads = available_threads(n_jobs)
        _limits.enter()
    before = getattr(_active, "n_threads", 1)
    _active.n_threads = n_threads
    try:
        yield
    finally:
        _active.n_threads = before
        with _limits_lock:
            _limits.leave()


class _Limits:
    """BLAS on one thread while anyone computes: the limit is the process's, so the first sets it, the last lifts it."""

    def __init__(self) -> None:
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

    @staticmethod
    def _set(numbers: list[int]) -> None:
        for library, number in zip(_controller().lib_controllers, numbers, strict=True):
            library.set_num_threads(number)
            # since 3.7 threadpoolctl lets only the thread that set a limit change it, but here another may be the last
            release = getattr(library, "clear_controlling_thread", None)
            if release is not None:
                release()


_limits = _Limits()
_limits_lock = threading.Lock()


def run_blocks(task: Callable[[int], None], n_blocks: int) -> None:
    """Call ``task(0)`` to ``task(n_blocks - 1)``, each once, on the threads of the surrounding `compute` context."""
    n_helpers = min(getattr(_active, "n_threads", 1), n_blocks) - 1
    pool = _pool(os.getpid())
    # helpers serve one caller at a time; a second caller (another model in another thread) does its blocks itself
    if n_helpers < 1 or not pool.lock.acquire(blocking=False):
        for block in range(n_blocks):
            task(block)
        return
    counter = itertools.count()
    interrupted: list[bool] = []
    failures: list[BaseException] = []

    def work() -> None:
        # next() on a count is atomic, so every block is taken exactly once
        try:
            while not interrupted and (block := next(counter)) < n_blocks:
                task(block)
        except BaseException as failure:
            failures.append(failure)

    try:
        helpers = pool.helpers(n_helpers)
        for helper in helpers:
            helper.start(work)
        work()
        for helper in helpers:
            helper.wait()
    except BaseException:
        # interrupted while a helper was at work: it may finish its block, but nobody waits for it any more
        interrupted.append(True)
        pool.dismiss()
        raise
    finally:
        pool.lock.release()
    if failures:
        raise failures[0]


class _Helper:
    """A thread that does the work it is handed.

    The phases of a batch follow each other within a fraction of a millisecond, and waking a sleeping thread can take
    longer than that. So both sides watch each other for a moment before they go to sleep, and give way to anything else
    that needs the processor. Only the queue and the semaphore decide what happens; watching merely saves the sleep.
    """

    def __init__(self) -> None:
        self._tasks: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._done = threading.Semaphore(0)
        self._handed = np.zeros(1, dtype=np.int64)
        self._finished = np.zeros(1, dtype=np.int64)
        threading.Thread(target=self._serve, daemon=True, name="harmonium-kernel").start()

    def start(self, work: Callable[[], None]) -> None:
        self._tasks.put(work)
        self._handed[0] += 1

    def wait(self) -> None:
        look_out(self._finished, self._handed[0])
        self._done.acquire()

    def _serve(self) -> None:
        count = 0
        while True:
            count += 1
            look_out(self._handed, count)
            self._tasks.get()()
            self._finished[0] = count
            self._done.release()


class _Pool:
    """Helpers of one process; threads do not survive a fork."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self._helpers: list[_Helper] = []

    def helpers(self, number: int) -> list[_Helper]:
        self._helpers += [_Helper() for _ in range(number - len(self._helpers))]
        return self._helpers[:number]

    def dismiss(self) -> None:
        self._helpers = []


@cache
def _pool(process: int) -> _Pool:
    return _Pool()


def scratch(name: str, shape: tuple[int, ...], dtype: type) -> np.ndarray:
    """Return memory of this thread that the next call with the same name uses again; its contents are arbitrary.

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
    """Return the first item of a block, and the first item after it."""
    return size * block // n_blocks, size * (block + 1) // n_blocks
