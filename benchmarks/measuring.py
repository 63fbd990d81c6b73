"""Time tasks in turn, and sum up repeated measurements."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence

import numpy as np

from benchmarks.results import Measured

PAUSE = 0.3  # seconds


def alternate(tasks: dict[str, Callable[[], object]], rounds: int = 5) -> dict[str, list[float]]:
    """Return the seconds of each task, run in turn so that a noisy moment hits all of them.

    The first round is a warm-up. A pause between tasks lets the BLAS threads of the one before go to sleep: they keep
    a processor busy for a while.
    """
    seconds: dict[str, list[float]] = {name: [] for name in tasks}
    for number in range(rounds + 1):
        for name, task in tasks.items():
            time.sleep(PAUSE)
            begin = time.perf_counter()
            task()
            if number:
                seconds[name].append(time.perf_counter() - begin)
    return seconds


def median(values: Sequence[float]) -> float:
    """Return the middle value."""
    return statistics.median(values)


def with_deviation(values: Sequence[float], ddof: int = 0) -> Measured:
    """Return mean and standard deviation, as a cell that is shown as "mean ± spread"."""
    return Measured(values, float(np.std(values, ddof=ddof)))


def with_error(values: Sequence[float]) -> Measured:
    """Return mean and standard error of the mean, as a cell that is shown as "mean ± spread"."""
    return Measured(values, float(np.std(values, ddof=1) / np.sqrt(len(values))))
