"""Progress of weakly supervised training: silent by default; if verbose, a bar with rounds, bound and passes.

How many rounds it takes is not known beforehand, so the bar runs to and fro until training is complete.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from harmonium.core.progress_bar import log_record, progress_bar

if TYPE_CHECKING:
    from rich.progress import Progress


class Silent:
    """Shows nothing, but logs each round for those who have configured the ``harmonium`` logger."""

    def passed(self) -> None:
        """Take note of a pass over all candidates."""

    def round(self, number: int, bound: float) -> None:
        """Take note that a round is done, with the bound in units of C."""
        log_record("round", number, {"bound": bound})

    def complete(self) -> None:
        """Take note that training is complete."""


class Bar(Silent):
    """A rich progress bar."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._task = progress.add_task("training", total=None, state="")
        self._n_passes, self._rounds = 0, "round 1"

    def passed(self) -> None:
        """Show the number of passes."""
        self._n_passes += 1
        self._progress.update(self._task, advance=1, state=f"{self._rounds}, {self._n_passes} passes")

    def round(self, number: int, bound: float) -> None:
        """Log the round and show its bound."""
        super().round(number, bound)
        self._rounds = f"round {number + 1}, bound {bound:.4g}"

    def complete(self) -> None:
        """Fill the bar."""
        self._progress.update(self._task, total=self._n_passes, completed=self._n_passes)


@contextmanager
def reporting(verbose: int | bool) -> Iterator[Silent]:
    """Give a reporter for a fit."""
    if not verbose:
        yield Silent()
        return
    with progress_bar() as progress:
        yield Bar(progress)
