"""Threads of the pool: nobody waits for one that has not begun, and jobs are shared only where that pays."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from harmonium.kernels.runtime.adaptive_threading import _RETRY_EVERY, AdaptiveThreading, timings_of
from harmonium.kernels.runtime.thread_pool import Job, Worker


class Late(Worker):
    """A worker that starts when it is told to, as on a machine whose processors are busy."""

    def __init__(self) -> None:
        self.submitted: list[Job] = []

    def submit(self, job: Job) -> None:
        self.submitted.append(job)


def test_a_worker_that_has_not_come_yet_is_not_waited_for() -> None:
    done: list[int] = []
    late = Late()
    Job(done.append, 3).run([late])
    assert done == [0, 1, 2]
    late.submitted[0].assist()
    assert done == [0, 1, 2]


def test_a_worker_in_the_middle_of_a_block_is_waited_for() -> None:
    begun, seen = threading.Event(), []

    def task(block: int) -> None:
        if threading.current_thread() is threading.main_thread():
            assert begun.wait(60)
        else:
            begun.set()
            threading.Event().wait(0.05)
            seen.append(block)

    Job(task, 2).run([Worker()])
    assert len(seen) == 1


def test_what_a_worker_raises_comes_out() -> None:
    begun = threading.Event()

    def task(block: int) -> None:
        if threading.current_thread() is not threading.main_thread():
            begun.set()
            raise KeyError("of a worker")
        assert begun.wait(60)

    with pytest.raises(KeyError, match="of a worker"):
        Job(task, 2).run([Worker()])


def seconds_of(timings: AdaptiveThreading, alone: float, shared: float, times: int) -> float:
    """Let a job be done some times, which takes so long in either way, and return the seconds of all."""
    total = 0.0
    for _ in range(times):
        way = timings.use_threads()
        timings.record(way, shared if way else alone)
        total += shared if way else alone
    return total


@pytest.mark.parametrize(("alone", "shared"), [(1.0, 0.6), (1.0, 3.3), (1.0, 1.0)])
def test_jobs_are_done_in_the_better_way(alone: float, shared: float) -> None:
    timings = AdaptiveThreading()
    seconds_of(timings, alone, shared, 8)  # both are tried
    assert seconds_of(timings, alone, shared, 1000) <= 1.05 * 1000 * min(alone, shared)


def test_another_way_is_found_when_the_machine_has_changed() -> None:
    timings = AdaptiveThreading()
    for alone, shared in [(1.0, 0.6), (1.0, 3.3), (1.0, 0.6)]:
        seconds_of(timings, alone, shared, 4 * _RETRY_EVERY)
        assert seconds_of(timings, alone, shared, 1000) <= 1.05 * 1000 * min(alone, shared)


def test_being_held_up_once_changes_nothing() -> None:
    timings = AdaptiveThreading()
    seconds_of(timings, 1.0, 0.6, 20)
    timings.record(timings.use_threads(), 100.0)
    assert timings.use_threads()


def test_jobs_of_one_kind_may_differ_in_turn() -> None:
    timings, total, best = AdaptiveThreading(), 0.0, 0.0
    for number in range(2000):
        size = 1.4 if number % 2 else 1.0
        way = timings.use_threads()
        timings.record(way, size * (0.8 if way else 1.0))
        total, best = total + size * (0.8 if way else 1.0), best + size * 0.8
    assert total <= 1.05 * best


def test_kinds_of_jobs_are_told_apart_by_code_and_blocks() -> None:
    def one(block: int) -> None:
        return

    def other(block: int) -> None:
        return

    wrapped = [np.errstate(invalid="ignore")(task) for task in (one, other)]
    assert timings_of(one, 2) is timings_of(one, 2) is timings_of(wrapped[0], 2)
    assert timings_of(wrapped[0], 2) is not timings_of(wrapped[1], 2)
    assert (
        len({id(timings_of(one, 2)), id(timings_of(one, 4)), id(timings_of(other, 2)), id(timings_of([].append, 2))})
        == 4
    )
