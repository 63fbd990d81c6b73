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
import time
from collections.abc import Callable
from functools import cache

import numpy as np
import threadpoolctl

from harmonium.kernels.interrupts import shielded, uninterrupted, watch
from harmonium.kernels.waiting import look_out

# seconds for which helpers are waited for until Ctrl-C is looked for, and for which they are after it; a convention
_PATIENCE = 0.2


class _Active(threading.local):
    """Of each thread: how many threads may help it, and how many `compute` contexts it is in."""

    n_threads = 1
    depth = 0


_active = _Active()


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


class compute:
    """Context in which `run_blocks` may use ``n_jobs`` threads, BLAS uses one, and Ctrl-C is safe (`interrupts`)."""

    def __init__(self, n_jobs: int | None = None) -> None:
        self._n_jobs = n_jobs

    @shielded
    def __enter__(self) -> None:
        self._began = watch.begin()
        try:
            with _limits.lock:
                n_threads = available_threads(self._n_jobs)
                _limits.enter()
        except BaseException:
            if self._began:
                watch.end()
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
        if self._began:
            watch.end()
        elif watch.waiting:
            watch.deliver()


class _Limits:
    """BLAS on one thread while anyone computes: the limit is the process's, so the first sets it, the last lifts it."""

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
    """Call ``task(0)`` to ``task(n_blocks - 1)``, each once, on the threads of the surrounding `compute` context."""
    n_helpers = min(_active.n_threads, n_blocks) - 1
    if n_helpers > 0:
        with uninterrupted:
            # helpers serve one caller at a time; a second one (another model in another thread) does its blocks itself
            if _pool.lock.acquire(blocking=False):
                try:
                    _share(task, n_blocks, n_helpers)
                finally:
                    _pool.lock.release()
                return
    for block in range(n_blocks):
        task(block)


def _share(task: Callable[[int], None], n_blocks: int, n_helpers: int) -> None:
    counter = itertools.count()
    stopped: list[bool] = []
    failures: list[BaseException] = []

    def work() -> None:
        # next() on a count is atomic, so every block is taken exactly once
        while not stopped and (block := next(counter)) < n_blocks:
            task(block)
            if watch.waiting:  # between blocks Ctrl-C may take effect, unless somebody further out forbids it
                watch.deliver(allowed=1)

    def help_out() -> None:
        try:
            work()
        except BaseException as failure:
            failures.append(failure)

    helpers = _pool.helpers(n_helpers)
    try:
        for helper in helpers:
            helper.start(help_out)
        work()
        for helper in helpers:
            while not helper.wait(_PATIENCE):
                if watch.waiting:
                    watch.deliver(allowed=1)
    except BaseException:
        # helpers may finish their blocks, so that nobody writes to the arrays any more, but are not waited for long
        stopped.append(True)
        _pool.dismiss(_PATIENCE)
        raise
    if failures:
        raise failures[0]


class _Helper:
    """A thread that does the work it is handed.

    The phases of a batch follow each other within a fraction of a millisecond, and waking a sleeping thread can take
    longer than that. So both sides watch each other for a moment before they go to sleep, and give way to anything else
    that needs the processor. Only the queue and the semaphore decide what happens; watching merely saves the sleep.
    """

    def __init__(self) -> None:
        self._tasks: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._done = threading.Semaphore(0)
        self._handed = np.zeros(1, dtype=np.int64)
        self._finished = np.zeros(1, dtype=np.int64)
        self._thread = threading.Thread(target=self._serve, daemon=True, name="harmonium-kernel")
        self._thread.start()

    def start(self, work: Callable[[], None]) -> None:
        self._tasks.put(work)
        self._handed[0] += 1

    def wait(self, timeout: float) -> bool:
        """Return True once the work is done, or False after ``timeout`` seconds."""
        look_out(self._finished, self._handed[0])
        return self._done.acquire(timeout=timeout)

    def dismiss(self) -> None:
        """Let the thread end when it has done its work."""
        self._tasks.put(None)
        self._handed[0] += 1

    def join(self, timeout: float) -> None:
        self._thread.join(timeout)

    def _serve(self) -> None:
        count = 0
        while True:
            count += 1
            look_out(self._handed, count)
            work = self._tasks.get()
            if work is None:
                return
            work()
            self._finished[0] = count
            self._done.release()


class _Pool:
    """Helpers of the process."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self._helpers: list[_Helper] = []

    def helpers(self, number: int) -> list[_Helper]:
        while len(self._helpers) < number:
            self._helpers.append(_Helper())
        return self._helpers[:number]

    def dismiss(self, timeout: float) -> None:
        """Let all helpers end, and wait for them for up to ``timeout`` seconds."""
        dismissed, self._helpers = self._helpers, []
        for helper in dismissed:
            helper.dismiss()
        until = time.monotonic() + timeout
        for helper in dismissed:
            helper.join(max(0.0, until - time.monotonic()))


_pool = _Pool()


def _begin_anew() -> None:
    """Make a forked process forget the threads that do not live in it: what they held, limited and watched."""
    global _pool
    _pool = _Pool()
    _limits.lock = threading.Lock()
    _limits.keep_users(_active.depth)
    watch.forget_other_threads()


if hasattr(os, "register_at_fork"):
    # the lock is taken while the process is copied, so that no copy has limits that are half set
    os.register_at_fork(
        before=lambda: _limits.lock.acquire(),
        after_in_parent=lambda: _limits.lock.release(),
        after_in_child=_begin_anew,
    )


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
