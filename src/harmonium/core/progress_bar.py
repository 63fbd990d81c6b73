"""Progress: silent by default, with a log for those who want lines; if verbose, a bar.

The bar shows rows per second, the reconstruction and the time left.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Protocol

from harmonium.kernels.runtime.jit import on_compile

if TYPE_CHECKING:
    from rich.progress import Progress, ProgressColumn

logger = logging.getLogger("harmonium")


def log_record(step: str, number: int, record: Mapping[str, float]) -> None:
    """Log what a step of training achieved, for those who have configured the ``harmonium`` logger.

    Parameters
    ----------
    step : str
        What a step is called, such as "epoch".
    number : int
        Its number.
    record : mapping of str to float
        What is worth knowing of it.

    Examples
    --------
    >>> log_record("epoch", 3, {"reconstruction": 0.25})  # silent unless the logger was configured
    """
    logger.info("%s %d: %s", step, number, ", ".join(f"{name} {value:.4g}" for name, value in record.items()))


def progress_bar(*columns: ProgressColumn) -> Progress:
    """Return a bar, to be used as a context; its tasks have a field ``state``, a text.

    Parameters
    ----------
    *columns : rich.progress.ProgressColumn
        What is shown beside the name of the task, the bar, its state and the time.

    Returns
    -------
    rich.progress.Progress
        The bar.

    Examples
    --------
    >>> bar = progress_bar()
    >>> task = bar.add_task("training", total=3, state="")
    """
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn  # late: most fits show no bar

    return Progress(
        TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[state]}"), TimeElapsedColumn(), *columns
    )


class Reporter(Protocol):
    """Is told about every batch and epoch, and what is still to be done whenever that is planned anew."""

    def ahead(self, n_rows: int) -> None:
        """Take note of how many rows are still to be visited, each as often as it is; none once a fit is complete."""

    def batch(self, n_rows: int) -> None:
        """Take note that some rows are done."""

    def epoch(self, number: int, record: dict[str, float]) -> None:
        """Take note that an epoch is done."""


class Silent:
    """Shows nothing, but logs each epoch for those who have configured the ``harmonium`` logger."""

    def ahead(self, n_rows: int) -> None:
        """Do nothing."""

    def batch(self, n_rows: int) -> None:
        """Do nothing."""

    def compiling(self) -> None:
        """Do nothing."""

    def epoch(self, number: int, record: dict[str, float]) -> None:
        """Log the record."""
        log_record("epoch", number, record)


class Bar(Silent):
    """A rich progress bar."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._task = progress.add_task("training", total=None, state="")
        self._done = 0

    def ahead(self, n_rows: int) -> None:
        """Set where the bar ends."""
        self._progress.update(self._task, total=self._done + n_rows)

    def batch(self, n_rows: int) -> None:
        """Move the bar."""
        self._done += n_rows
        self._progress.advance(self._task, n_rows)

    def compiling(self) -> None:
        """Say what takes so long; the next epoch will overwrite it."""
        self._progress.update(self._task, state="compiling, once")

    def epoch(self, number: int, record: dict[str, float]) -> None:
        """Log the record and show the reconstruction."""
        super().epoch(number, record)
        shown = record.get("validation_reconstruction", record.get("reconstruction", record.get("loss", float("nan"))))
        self._progress.update(self._task, state=f"epoch {number}, reconstruction {shown:.4g}")


_listener: ContextVar[Silent | None] = ContextVar("_listener", default=None)


@contextmanager
def reporting_to(reporter: Silent) -> Iterator[None]:
    """Give a context in which all fits tell a reporter, and show no bar.

    Parameters
    ----------
    reporter : Silent
        Is told about every batch and epoch, and what is compiled.
    """
    token = _listener.set(reporter)
    try:
        yield
    finally:
        _listener.reset(token)


@contextmanager
def reporting(verbose: int | bool) -> Iterator[Reporter]:
    """Give a reporter for a fit."""
    listener = _listener.get()
    if listener is not None:
        with on_compile(listener.compiling):
            yield listener
        return
    if not verbose:
        yield Silent()
        return
    from rich.progress import ProgressColumn, Task, TimeRemainingColumn
    from rich.text import Text

    class SpeedColumn(ProgressColumn):
        """Rows per second."""

        def render(self, task: Task) -> Text:
            speed = task.finished_speed or task.speed
            return Text(f"{speed:,.0f} items/s" if speed else "")

    with progress_bar(SpeedColumn(), TimeRemainingColumn()) as progress:
        bar = Bar(progress)
        with on_compile(bar.compiling):
            yield bar
