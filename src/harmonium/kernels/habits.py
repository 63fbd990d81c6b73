"""Whether it pays to share a job among threads: what it took lately, with help and alone, decides.

Nothing else can tell: processors may be busy with something else, or be two halves of one, and jobs may be short. Each
kind of job is done in the better of the two ways, and now and then in the other one, to see whether that has changed.
What is computed does not depend on it.
"""

from __future__ import annotations

from collections.abc import Callable
from types import CodeType

# All of these are conventions. Jobs in a row for which a way is tried, as jobs of one kind may differ in turn (a large
# view and a small one); and after how many jobs the worse way is tried again, so that it costs little even where it
# takes several times as long.
_TRIALS, _AGAIN = 4, 256
# Weight of the latest time in the average, for the way that is usual and for the one that is tried; and how many times
# the average a single time counts at most, as any job may happen to be held up once.
_LATEST, _LATEST_TRIED, _LARGEST = 0.05, 0.3, 8.0
# A way is preferred only if it takes this share of the other's time, so that noise does not make it change to and fro.
_CLEARLY = 0.95


class Habit:
    """Average seconds that a kind of job takes alone (False) and shared (True)."""

    def __init__(self) -> None:
        self._seconds = {False: 0.0, True: 0.0}
        self._number = 0
        self._preferred = True

    def shares(self) -> bool:
        """Return whether to share the next job."""
        self._number += 1
        if self._number <= 2 * _TRIALS:
            return self._number <= _TRIALS
        return self._preferred != (self._number % _AGAIN < _TRIALS)

    def took(self, shared: bool, seconds: float) -> None:
        """Take note of how long a job took."""
        if self._number == 1:  # its kernels may have had to be compiled
            return
        before = self._seconds[shared]
        weight = _LATEST if shared == self._preferred and self._number > 2 * _TRIALS else _LATEST_TRIED
        self._seconds[shared] = before + weight * (min(seconds, _LARGEST * before) - before) if before else seconds
        if 0 < self._seconds[not self._preferred] < _CLEARLY * self._seconds[self._preferred]:
            self._preferred = not self._preferred


_habits: dict[tuple[CodeType | type, int], Habit] = {}


def habit_of(task: Callable[[int], None], n_blocks: int) -> Habit:
    """Return what is known of jobs of this kind: of the same code and the same number of blocks."""
    kind = (getattr(getattr(task, "__wrapped__", task), "__code__", type(task)), n_blocks)
    habit = _habits.get(kind)
    if habit is None:
        habit = _habits[kind] = Habit()
    return habit
