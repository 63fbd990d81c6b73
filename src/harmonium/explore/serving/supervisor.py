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

# Seconds, all of them conventions: between signs of life, without one until a worker that does not compute is held to
# hang, until one that computes is (a single product may hold up all threads of a process), and until loading a model
# on a busy machine has failed.
_BEAT, _SILENT, _COMPUTING, _LOADING = 0.5, 3.0, 60.0, 120.0
# deaths, one after the other, of workers that never were ready
_MOST_FAILURES = 3
# new interpreters, as threads of this one may hold locks
_START = "spawn"


class Supervisor:
    """Processes that do the same work until they are told to stop.

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
        self.n_failures = 0
        self.stops = 0

    def run(self) -> None:
        """Keep the processes alive until SIGTERM or Ctrl-C; a second of them ends the processes at once."""
        with self._signals():
            try:
                self.workers = [_Worker(self.work, self.argument) for _ in range(self.n_workers)]
                while not self.stops:
                    wait([worker.process.sentinel for worker in self.workers], timeout=_BEAT / 2)
                    self._replace()
            finally:
                self._end()

    def _replace(self) -> None:
        for place, worker in enumerate(self.workers):
            worker.listen()
            if self.stops or (worker.process.is_alive() and not worker.hangs()):
                continue
            self.n_failures = 0 if worker.is_ready else self.n_failures + 1
            worker.kill()
            if self.n_failures == _MOST_FAILURES:
                raise OSError(
                    f"The processes of a service must start; {_MOST_FAILURES} of them ended before they were ready; "
                    "see what they wrote, or try --workers 1."
                )
            self.workers[place] = _Worker(self.work, self.argument)

    def _end(self) -> None:
        deadline = time.monotonic() + self.grace
        for worker in self.workers:
            worker.process.terminate()
        while self.stops < 2 and time.monotonic() < deadline and any(w.process.is_alive() for w in self.workers):
            time.sleep(0.05)
        for worker in self.workers:
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
        self.signs, there = context.Pipe(duplex=False)
        self.process = context.Process(target=_run, args=(there, work, argument))
        self.process.start()
        there.close()
        self.is_ready = False
        self._heard()

    def _heard(self) -> None:
        self.last = self.computed = time.monotonic()
        self.used = _processor_time(self.process.pid)

    def listen(self) -> None:
        """Take the signs of life that have come."""
        with suppress(OSError, EOFError):
            while self.signs.poll():
                self.is_ready |= self.signs.recv()
                self._heard()

    def hangs(self) -> bool:
        """Tell whether there was no sign of life for too long."""
        now, used = time.monotonic(), _processor_time(self.process.pid)
        if used != self.used:  # it may have been stopped since
            self.used, self.computed = used, now
        if not self.is_ready:
            return now - self.last > _LOADING
        return now - self.last > _COMPUTING or min(now - self.last, now - self.computed) > _SILENT

    def kill(self) -> None:
        """End the process, whatever it does."""
        self.process.kill()
        self.process.join()
        self.signs.close()


def _processor_time(pid: int | None) -> str:
    """Return what the system says of the processor time of a process; "" where it does not say it by a file."""
    try:
        # the name in parentheses may hold anything
        return " ".join(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13])
    except OSError:
        return ""


def _run(signs: Connection, work: Callable[[Callable[[], None], Any], None], argument: Any) -> None:
    """Work, and give signs of life; the process ends with the one that started it."""
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
    work(ready.set, argument)
