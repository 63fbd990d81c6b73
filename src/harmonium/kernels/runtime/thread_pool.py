"""Thread pool for the blocks of a job, which waits only for workers that are in the middle of one.

On a busy machine a thread that was woken may not run for many milliseconds, longer than the whole job. So blocks are
taken by whichever thread is there; when none is left, the job is closed, and workers that have not started yet skip it.

The phases of a batch follow each other within a fraction of a millisecond, and waking a sleeping thread can take longer
than that. So both sides spin for a moment before they sleep, and yield the processor to anything else that needs it.
Only queues and locks decide what happens; spinning merely saves the sleep.

This pool stays beside `concurrent.futures`, whose threads sleep between two jobs, and whose caller waits for each of
them, also for one that was woken too late to help.
"""

from __future__ import annotations

import itertools
import queue
import threading
from collections.abc import Callable

import numpy as np

from harmonium.kernels.runtime.interrupts import sigint
from harmonium.kernels.runtime.spin_wait import spin_wait

# seconds to wait for workers between two checks for Ctrl-C, and in all after it; a convention
_TIMEOUT = 0.2


class Job:
    """Blocks of work, each of which is done once."""

    def __init__(self, task: Callable[[int], None], n_blocks: int) -> None:
        self._task: Callable[[int], None] | None = task
        self._n_blocks = n_blocks
        self._numbers = itertools.count()
        self._lock = threading.Lock()
        self._n_assisting = 0
        self._closed = False
        self._finished = np.zeros(1, dtype=np.int64)
        self._all_finished = threading.Lock()
        self._all_finished.acquire()
        self._failures: list[BaseException] = []

    def run(self, workers: list[Worker]) -> None:
        """Do all blocks, together with the workers; raise what a block raised."""
        try:
            for worker in workers:
                worker.submit(self)
            self._work()
            if self._close():
                spin_wait(self._finished, 1)
                while not self._all_finished.acquire(timeout=_TIMEOUT):
                    if sigint.pending:
                        sigint.deliver(allowed=1)
        except BaseException:
            # workers may finish their blocks, so that nobody writes to the arrays any more, but the wait is short
            if self._close():
                self._all_finished.acquire(timeout=_TIMEOUT)
            raise
        if self._failures:
            raise self._failures[0]

    def assist(self) -> None:
        """Do blocks as long as there are any, unless the job is closed already; called by a worker."""
        with self._lock:
            if self._closed:
                return
            self._n_assisting += 1
        try:
            self._work()
        except BaseException as failure:
            self._failures.append(failure)
        with self._lock:
            self._n_assisting -= 1
            if self._closed and not self._n_assisting:
                self._finished[0] = 1
                self._all_finished.release()

    def _work(self) -> None:
        task = self._task
        # next() on a count is atomic, so every block is taken exactly once
        while task is not None and not self._closed and (block := next(self._numbers)) < self._n_blocks:
            task(block)
            if sigint.pending:  # between blocks Ctrl-C may take effect, unless somebody further out forbids it
                sigint.deliver(allowed=1)

    def _close(self) -> bool:
        """Keep workers from starting on this job; return whether some still work on it."""
        with self._lock:
            self._closed = True
            self._task = None  # a late worker must not keep arrays alive
            return self._n_assisting > 0


class Worker:
    """A thread that assists with the jobs submitted to it."""

    def __init__(self) -> None:
        self._jobs: queue.SimpleQueue[Job] = queue.SimpleQueue()
        self._n_submitted = np.zeros(1, dtype=np.int64)
        threading.Thread(target=self._serve, daemon=True, name="harmonium-kernel").start()

    def submit(self, job: Job) -> None:
        """Let the thread assist with a job, as soon as it can."""
        self._jobs.put(job)
        self._n_submitted[0] += 1

    def _serve(self) -> None:
        for number in itertools.count(1):
            spin_wait(self._n_submitted, number)
            self._jobs.get().assist()


class ThreadPool:
    """Workers of the process, for one job at a time."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self._workers: list[Worker] = []

    def workers(self, number: int) -> list[Worker]:
        """Return so many workers, started if need be."""
        while len(self._workers) < number:
            self._workers.append(Worker())
        return self._workers[:number]
