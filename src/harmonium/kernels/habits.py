"""Whether it pays to share a job among threads: what it took lately, with help and alone, decides.

Nothing else can tell: processors may be busy with something else, or be two halves of one, and jobs may be short. Each
kind of job is done in the better of the two ways, and now and then in the other one, to see whether that has changed.
What is computed does not depend on it.
"""

from __future__ import annotations

from collections.abc import Callable
from types import CodeType

# Times that both ways are tried at first, in turn; every how many times the worse one is tried later, so that it costs
# little even where it takes several times as long; and the weight of the latest time in the average: conventions.
_TRIALS = 4
_AGAIN = 64
_LATEST = 0.2
# A way is preferred only if it takes this share of the other's time, so that noise does not make it change to and fro.
_CLEARLY = 0.95


class Habit:
    """Seconds that a kind of job takes alone (False) and shared (True)."""

    def __init__(self) -> None:
        self._seconds = {False: 0.0, True: 0.0}
        self._number = 0
        self._preferred = True

    def shares(self) -> bool:
        """Return whether to share the next job."""
        self._number += 1
        if self._number <= 2 * _TRIALS:
            return self._number % 2 == 1
        return self._preferred != (self._number % _AGAIN == 0)

    def took(self, shared: bool, seconds: float) -> None:
        """Take note of how long a job took."""
        if self._number <= 2:  # the first of each kind may have had to compile its kernels
            return
        before = self._seconds[shared]
        self._seconds[shared] = seconds if not before else before + _LATEST * (seconds - before)
        if self._seconds[not self._preferred] < _CLEARLY * self._seconds[self._preferred]:
            self._preferred = not self._preferred


_habits: dict[tuple[CodeType | type, int], Habit] = {}


def habit_of(task: Callable[[int], None], n_blocks: int) -> Habit:
    """Return what is known of jobs of this kind: of the same code and the same number of blocks."""
    kind = (getattr(task, "__code__", type(task)), n_blocks)
    habit = _habits.get(kind)
    if habit is None:
        habit = _habits[kind] = Habit()
    return habit
