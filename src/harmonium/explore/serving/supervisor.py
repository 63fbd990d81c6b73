"""Worker processes of a service: kept alive, replaced if they die or hang, and ended in time."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

# Seconds, all of them conventions: between signs of life, without one until a worker that is not at work is held to
# hang, until one that is at work is (a single product may hold up all threads of a process), and until an interpreter
# on a busy machine has failed to start.
_BEAT, _SILENT, _AT_WORK, _STARTING = 0.5, 2.0, 60.0, 120.0
# deaths, one after the other, of workers that never were ready
_MOST_FAILURES = 3
# new interpreters, as threads of this one may hold locks
_START = "spawn"
# where Linux tells what threads do
_TASKS = Path("/proc/self/task")


class Supervisor:
    """Processes that do the same work until they are told to stop.

    Beside them one waits that has imported what the work needs, which takes longer than to notice that it is needed.

    Parameters
    ----------
    work : function of (callable, object)
        What each process does, with a function to call when it is ready, and ``argument``. It can be pickled, ends at
        SIGTERM, and is run in a new interpreter.
    argument : object
        What can be pickled, and sockets.
    n_workers : int
        Number of processes.
    grace : float
        Seconds that processes have to end.
    """

    def __init__(self, work: Callable[[Callable[[], None], Any], None], argument: Any, n_workers: int, grace: float):
        self.work, self.argument, self.grace = work, argument, grace
        self.n_workers = n_workers
        self.workers: list[_Worker] = []
        self.spare: _Worker | None = None
        self.n_failures = 0
        self.stops = 0

    def run(self) -> None:
        """Keep the processes alive until SIGTERM or Ctrl-C; a second of them ends the processes at once."""
        with self._signals():
            try:
                self.workers = [_Worker(self.work, self.argument) for _ in range(self.n_workers)]
                for worker in self.workers:
                    worker.begin()
                while not self.stops:
                    wait([worker.process.sentinel for worker in self.workers], timeout=_BEAT / 2)
                    self._replace()
            finally:
                self._end()

    def _replace(self) -> None:
        for worker in self._all():
            worker.listen()
        for place, worker in enumerate(self.workers):
            if self.stops or worker.lives():
                continue
            self.n_failures = 0 if worker.is_ready else self.n_failures + 1
            worker.kill()
            if self.n_failures == _MOST_FAILURES:
                raise OSError(
                    f"The processes of a service must start; {_MOST_FAILURES} of them ended before they were ready; "
                    "see what they wrote, or try --workers 1."
                )
            self.workers[place] = self._next()
            self.workers[place].begin()
        if self.spare is None and not self.stops and all(worker.is_ready for worker in self.workers):
            self.spare = _Worker(self.work, self.argument)

    def _next(self) -> _Worker:
        """Return the process that waits, if it lives, and else a new one."""
        spare, self.spare = self.spare, None
        if spare is not None:
            if spare.lives():
                return spare
            spare.kill()
        return _Worker(self.work, self.argument)

    def _all(self) -> list[_Worker]:
        return [*self.workers, *([self.spare] if self.spare else [])]

    def _end(self) -> None:
        deadline = time.monotonic() + self.grace
        for worker in self._all():
            worker.process.terminate()
        while self.stops < 2 and time.monotonic() < deadline and any(w.process.is_alive() for w in self._all()):
            time.sleep(0.05)
            for worker in self._all():
                worker.listen()
                if not worker.lives():
                    worker.kill()
        for worker in self._all():
            worker.kill()

    @contextmanager
    def _signals(self) -> Iterator[None]:
        """Give a context in which signals that end a process are counted."""

        def stop(*_: object) -> None:
            self.stops += 1

        before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


class _Worker:
    """One process, and what is known of it."""

    def __init__(self, work: Callable[[Callable[[], None], Any], None], argument: Any) -> None:
        context: Any = multiprocessing.get_context(_START)
        self.signs, there = context.Pipe()
        self.process = context.Process(target=_run, args=(there, work, argument))
        self.process.start()
        there.close()
        self.is_started = self.is_ready = False
        self.last = self.at_work = time.monotonic()

    def begin(self) -> None:
        """Tell the process to work."""
        with suppress(OSError):  # it has ended, which is seen to
            self.signs.send(None)

    def listen(self) -> None:
        """Take the signs of life that have come."""
        with suppress(OSError, EOFError):
            while self.signs.poll():
                self.is_ready |= self.signs.recv()
                self.is_started, self.last = True, time.monotonic()

    def lives(self) -> bool:
        """Tell whether the process is there, and gives signs of life or is at work."""
        now = time.monotonic()
        silent = now - self.last
        if not self.is_started:
            return self.process.is_alive() and silent < _STARTING
        if silent > _BEAT and _is_at_work(self.process.pid):
            self.at_work = now
        return self.process.is_alive() and (silent < _SILENT or (now - self.at_work < _SILENT and silent < _AT_WORK))

    def kill(self) -> None:
        """End the process, whatever it does."""
        self.process.kill()
        self.process.join()
        self.signs.close()


def _is_at_work(pid: int | None) -> bool:
    """Tell whether a thread computes, or waits for a processor or a disk; where the system cannot tell, it may."""
    if not _TASKS.exists():
        return True
    for thread in Path(f"/proc/{pid}/task").glob("*/stat"):
        with suppress(OSError):  # it has just ended
            # the name in parentheses may hold anything
            if thread.read_text().rpartition(")")[2].split()[0] in "RD":
                return True
    return False


def _run(signs: Connection, work: Callable[[Callable[[], None], Any], None], argument: Any) -> None:
    """Give signs of life, and work when told to; the process ends with the one that started it."""
    ready = threading.Event()

    def beat() -> None:
        try:
            while True:
                signs.send(ready.is_set())
                time.sleep(_BEAT)
        except OSError:
            os.kill(os.getpid(), signal.SIGTERM)

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is sent to all; the first process passes it on
    threading.Thread(target=beat, daemon=True).start()
    try:
        signs.recv()
    except (EOFError, OSError):  # the process that started it has ended
        return
    work(ready.set, argument)
