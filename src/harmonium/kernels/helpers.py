"""Threads that help with the blocks of a job, and that nobody waits for unless they are in the middle of one.

On a busy machine a thread that was woken may not run for many milliseconds, longer than all the work there is. So the
blocks of a job are taken by whoever is there; when none is left, the job is closed, and helpers that have not come yet
need not come any more.

The phases of a batch follow each other within a fraction of a millisecond, and waking a sleeping thread can take longer
than that. So both sides watch each other for a moment before they go to sleep, and give way to anything else that needs
the processor. Only queues and locks decide what happens; watching merely saves the sleep.
"""

from __future__ import annotations

import itertools
import queue
import threading
from collections.abc import Callable

import numpy as np

from harmonium.kernels.interrupts import watch
from harmonium.kernels.waiting import look_out

# seconds for which helpers are waited for until Ctrl-C is looked for, and for which they are after it; a convention
_PATIENCE = 0.2


class Job:
    """Blocks of work, each of which is done once."""

    def __init__(self, task: Callable[[int], None], n_blocks: int) -> None:
        self._task: Callable[[int], None] | None = task
        self._n_blocks = n_blocks
        self._numbers = itertools.count()
        self._lock = threading.Lock()
        self._helping = 0
        self._closed = False
        self._nobody_left = np.zeros(1, dtype=np.int64)
        self._all_gone = threading.Lock()
        self._all_gone.acquire()
        self._failures: list[BaseException] = []

    def share(self, helpers: list[Helper]) -> None:
        """Do all blocks with the help of some threads; raise what a block raised."""
        try:
            for helper in helpers:
                helper.call(self)
            self._work()
            if self._close():
                look_out(self._nobody_left, 1)
                while not self._all_gone.acquire(timeout=_PATIENCE):
                    if watch.waiting:
                        watch.deliver(allowed=1)
        except BaseException:
            # helpers may finish their blocks, so that nobody writes to the arrays any more, but are not waited for long
            if self._close():
                self._all_gone.acquire(timeout=_PATIENCE)
            raise
        if self._failures:
            raise self._failures[0]

    def help(self) -> None:
        """Do blocks as long as there are any, unless the job is closed already."""
        with self._lock:
            if self._closed:
                return
            self._helping += 1
        try:
            self._work()
        except BaseException as failure:
            self._failures.append(failure)
        with self._lock:
            self._helping -= 1
            if self._closed and not self._helping:
                self._nobody_left[0] = 1
                self._all_gone.release()

    def _work(self) -> None:
        task = self._task
        # next() on a count is atomic, so every block is taken exactly once
        while task is not None and not self._closed and (block := next(self._numbers)) < self._n_blocks:
            task(block)
            if watch.waiting:  # between blocks Ctrl-C may take effect, unless somebody further out forbids it
                watch.deliver(allowed=1)

    def _close(self) -> bool:
        """Let nobody begin to help any more; return whether somebody still does."""
        with self._lock:
            self._closed = True
            self._task = None  # who comes late must not keep arrays alive
            return self._helping > 0


class Helper:
    """A thread that helps with the jobs it is called to."""

    def __init__(self) -> None:
        self._jobs: queue.SimpleQueue[Job] = queue.SimpleQueue()
        self._called = np.zeros(1, dtype=np.int64)
        threading.Thread(target=self._serve, daemon=True, name="harmonium-kernel").start()

    def call(self, job: Job) -> None:
        """Let the thread help with a job, as soon as it can."""
        self._jobs.put(job)
        self._called[0] += 1

    def _serve(self) -> None:
        for number in itertools.count(1):
            look_out(self._called, number)
            self._jobs.get().help()


class Pool:
    """Helpers of the process, for one job at a time."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self._helpers: list[Helper] = []

    def helpers(self, number: int) -> list[Helper]:
        """Return so many helpers."""
        while len(self._helpers) < number:
            self._helpers.append(Helper())
        return self._helpers[:number]
