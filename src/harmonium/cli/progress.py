"""Progress of a command on stderr: a line for each step, and a sign of life while a step takes long.

At a terminal the sign is a line that is written over; elsewhere a line now and then, ever more rarely.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import typer

from harmonium.core.progress_bar import Silent, reporting_to

# Seconds until the first sign of life, and between two at a terminal; elsewhere the pauses double up to the last one.
_FIRST, _AT_TERMINAL, _LONGEST = 5.0, 1.0, 60.0

# what empties a line of a terminal
_CLEARED = "\r\x1b[K"


class Steps(Silent):
    """The steps of a command; what a fit reports shows how far it is.

    Parameters
    ----------
    silent : bool
        Whether nothing is to be shown.
    """

    def __init__(self, silent: bool) -> None:
        self.silent = silent
        self._over = threading.Event()
        self._lock = threading.Lock()
        self._start("")

    def __call__(self, step: str) -> None:
        """Begin a step; print what is done."""
        with self._lock:
            self._start(step)
            self._print(f"{step} …")

    @contextmanager
    def shown(self) -> Iterator[None]:
        """Give a context in which signs of life are shown."""
        if self.silent:
            yield
            return
        thread = threading.Thread(target=self._live, daemon=True)
        thread.start()
        try:
            with reporting_to(self):
                yield
        finally:
            self._over.set()
            thread.join()
            if sys.stderr.isatty():
                sys.stderr.write(_CLEARED)

    # ---- what a fit reports --------------------------------------------------------------------------------------
    def ahead(self, n_rows: int) -> None:
        """Take note of how many rows are still to be visited."""
        self._planned = self._done + n_rows

    def batch(self, n_rows: int) -> None:
        """Take note that some rows are done."""
        self._done += n_rows

    def compiling(self) -> None:
        """Take note that a kernel is compiled; the next epoch ends that."""
        self._state = "compiling, once"

    def epoch(self, number: int, record: dict[str, float]) -> None:
        """Log the record, and take note of the epoch."""
        super().epoch(number, record)
        self._state = f"epoch {number}"

    # ---- what is shown -------------------------------------------------------------------------------------------
    def _start(self, step: str) -> None:
        self._step, self._since = step, time.monotonic()
        self._done, self._planned, self._state = 0, 0, ""
        self._next, self._pause = _FIRST, _FIRST

    def _live(self) -> None:
        """Show signs of life until the command is over."""
        is_terminal = sys.stderr.isatty()
        while not self._over.wait(_AT_TERMINAL / 2):
            with self._lock:
                passed = time.monotonic() - self._since
                if passed < self._next or not self._step:
                    continue
                if is_terminal:
                    self._next = passed + _AT_TERMINAL
                    # the next line, whoever prints it, begins where this one did
                    sys.stderr.write(f"{_CLEARED}  {self._said(passed)}\r")
                    sys.stderr.flush()
                else:
                    self._pause = min(2 * self._pause, _LONGEST)
                    self._next = passed + self._pause
                    self._print(f"  {self._said(passed)}")

    def _said(self, passed: float) -> str:
        """Return how long a step takes so far, and how far a fit is."""
        parts = [f"{passed // 60:.0f}:{passed % 60:02.0f}"]
        if self._state:
            parts.append(self._state)
        if self._planned > self._done > 0:
            parts.append(f"{self._done / self._planned:.0%} of the planned passes")
        return ", ".join(parts)

    def _print(self, line: str) -> None:
        if not self.silent:
            typer.echo((_CLEARED if sys.stderr.isatty() else "") + line, err=True)


@contextmanager
def working_on(data: Path, output: Path | None) -> Iterator[None]:
    """Give a context that shows signs of life while a file is worked on, if the answers go to another."""
    steps = Steps(silent=output is None)
    if data.exists():
        steps(f"Reading {data.name}")
    with steps.shown():
        yield
