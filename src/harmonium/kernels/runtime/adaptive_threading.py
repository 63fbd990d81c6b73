"""Adaptive choice between one thread and many, by the time that jobs of a kind took lately in either way.

Nothing else can tell: processors may be busy with something else, or be two halves of one, and jobs may be short. Each
kind of job runs in the faster of the two ways, and now and then in the other one, to see whether that has changed.
Results do not depend on the choice.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import unwrap
from types import CodeType

# All of these are conventions. Jobs in a row for which a way is tried, as jobs of one kind may differ in turn (a large
# view and a small one); and the number of jobs after which the slower way is tried again, so that it costs little even
# where it takes several times as long.
_TRIALS, _RETRY_EVERY = 4, 256
# Weight of the latest time in the moving average, for the preferred way and for the one on trial; and the multiple of
# the average that a single time counts at most, as any job may happen to be held up once.
_SMOOTHING, _TRIAL_SMOOTHING, _OUTLIER = 0.05, 0.3, 8.0
# The other way is preferred only below this fraction of the time, so that noise does not make the choice oscillate.
_HYSTERESIS = 0.95


class AdaptiveThreading:
    """Moving averages of the seconds that a kind of job takes on one thread (False) and on many (True)."""

    def __init__(self) -> None:
        self._seconds = {False: 0.0, True: 0.0}
        self._n_jobs = 0
        self._preferred = True

    def use_threads(self) -> bool:
        """Return whether the next job should run on many threads."""
        self._n_jobs += 1
        if self._n_jobs <= 2 * _TRIALS:
            return self._n_jobs <= _TRIALS
        return self._preferred != (self._n_jobs % _RETRY_EVERY < _TRIALS)

    def record(self, threaded: bool, seconds: float) -> None:
        """Record how long a job took."""
        if self._n_jobs == 1:  # its kernels may have had to be compiled
            return
        before = self._seconds[threaded]
        weight = _SMOOTHING if threaded == self._preferred and self._n_jobs > 2 * _TRIALS else _TRIAL_SMOOTHING
        self._seconds[threaded] = before + weight * (min(seconds, _OUTLIER * before) - before) if before else seconds
        if 0 < self._seconds[not self._preferred] < _HYSTERESIS * self._seconds[self._preferred]:
            self._preferred = not self._preferred


_by_kind: dict[tuple[CodeType | type, int], AdaptiveThreading] = {}


def timings_of(task: Callable[[int], None], n_blocks: int) -> AdaptiveThreading:
    """Return the averages of jobs of this kind: of the same code and the same number of blocks."""
    kind = (getattr(unwrap(task), "__code__", type(task)), n_blocks)
    averages = _by_kind.get(kind)
    if averages is None:
        averages = _by_kind[kind] = AdaptiveThreading()
    return averages
