"""The look of all progress bars, and the log for those who want lines instead."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING

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
