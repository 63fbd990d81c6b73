"""Ctrl-C and forks while something is computed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator

import numpy as np
import pytest
import threadpoolctl

from harmonium import Harmonium
from harmonium.kernels.runtime import threads
from harmonium.kernels.runtime.interrupts import sigint, uninterrupted
from harmonium.kernels.runtime.jit import Kernel
from harmonium.kernels.sparse.csr import gather_rows
from harmonium.training import Stochastic
from tests.cases.repository import ROOT

ROWS = np.array([0, 2, 4]), np.array([0, 1, 0, 1], dtype=np.int32), np.ones(4, dtype=np.float32), np.arange(2)


@pytest.fixture(autouse=True)
def not_ignored() -> Iterator[None]:
    """Shells start background jobs with an interrupt that is ignored, and Python leaves it so."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def received() -> Iterator[list[int]]:
    """Signals that a handler of the user's own, which raises nothing, was handed."""
    before, numbers = signal.getsignal(signal.SIGINT), list[int]()
    signal.signal(signal.SIGINT, lambda number, _: numbers.append(number))
    yield numbers
    signal.signal(signal.SIGINT, before)


def interrupt() -> None:
    signal.raise_signal(signal.SIGINT)


def test_ctrl_c_is_a_keyboard_interrupt_at_once_wherever_it_comes() -> None:
    command = [sys.executable, "-W", "ignore", "-m", "tests.cases.interrupts", "40", "0"]
    several = {**os.environ, "OMP_NUM_THREADS": "2"}  # threads that BLAS must have again afterwards
    run = subprocess.run(command, cwd=ROOT, env=several, capture_output=True, text=True, check=True, timeout=120)
    report = json.loads(run.stdout)
    assert report["kinds"] == {"KeyboardInterrupt": 40}
    assert report["latest"] < 1.0
    assert report["threads"] <= 2  # one helper, which serves again
    assert report["blas_as_before"]
    assert report["handler_as_before"]


def test_what_belongs_together_is_done_before_ctrl_c_takes_effect() -> None:
    done = []
    with pytest.raises(KeyboardInterrupt), threads.compute(2):
        with uninterrupted:
            interrupt()
            threads.run_blocks(done.append, 20)
            gather_rows(*ROWS)
        done.append(-1)
    assert sorted(done) == list(range(20))
    with pytest.raises(KeyboardInterrupt), uninterrupted, uninterrupted:
        interrupt()
        done.append(-2)
    assert done[-1] == -2
    assert not sigint.active
    assert not sigint.pending


def test_between_blocks_ctrl_c_takes_effect() -> None:
    done = np.zeros(1000, dtype=int)

    def task(block: int) -> None:
        if threading.current_thread() is threading.main_thread():
            interrupt()
        time.sleep(0.001)
        done[block] += 1

    with threads.compute(2):
        with pytest.raises(KeyboardInterrupt):
            threads.run_blocks(task, 1000)
        after = done.copy()
        time.sleep(0.02)
        assert (done == after).all()  # nobody is at work any more
    assert done.sum() < 1000


def test_the_handler_that_was_there_decides_what_a_signal_means(received: list[int]) -> None:
    done = np.zeros(50, dtype=int)

    def task(block: int) -> None:
        interrupt()
        done[block] += 1

    handler = signal.getsignal(signal.SIGINT)
    with threads.compute(2):
        threads.run_blocks(task, 50)
    assert (done == 1).all()
    assert received
    assert signal.getsignal(signal.SIGINT) is handler


def test_an_ignored_signal_stays_ignored() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with threads.compute(2):
            interrupt()
            assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def as_kernel(function: Callable[[], None]) -> Kernel:
    """What stands for a kernel but is not compiled."""
    kernel = Kernel(function, {})
    kernel._dispatcher = function
    return kernel


def test_an_alarm_comes_out_of_a_kernel_as_what_it_raised() -> None:
    def kernel() -> None:  # the handlers of other signals may run while Numba makes Python arrays of the results
        try:
            raise SystemError("returned a result with an exception set") from TimeoutError("that took long")
        except SystemError as error:
            raise SystemError("returned a result with an exception set") from error

    with pytest.raises(TimeoutError, match="that took long"):
        as_kernel(kernel)()

    def fails() -> None:
        raise SystemError("something else")

    with pytest.raises(SystemError, match="something else"):
        as_kernel(fails)()


def test_ctrl_c_in_a_finaliser_is_not_lost() -> None:
    class Final:
        def __del__(self) -> None:
            interrupt()

    with pytest.raises(KeyboardInterrupt), threads.compute(1):
        Final()
    assert not sigint.pending


def test_threads_other_than_the_main_one_compute_without_a_watch() -> None:
    seen = []

    def work() -> None:
        with threads.compute(2), uninterrupted:
            gather_rows(*ROWS)
            seen.append(sigint.active)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [False]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@threadpoolctl.threadpool_limits.wrap(limits=2, user_api="blas")
def test_processes_forked_while_threads_compute_can_compute_too() -> None:
    data = (np.random.default_rng(0).random((20, 8)) < 0.3).astype(np.float32)
    model = Harmonium(2, driver=Stochastic(max_iter=1), n_jobs=2, random_state=0).fit(data)
    limit = [info["num_threads"] for info in threadpoolctl.threadpool_info() if info["user_api"] == "blas"]
    stop = threading.Event()

    def keep_computing() -> None:
        while not stop.is_set():
            with threads.compute(2):
                threads.run_blocks(lambda block: None, 4)

    busy = [threading.Thread(target=keep_computing) for _ in range(2)]
    for thread in busy:
        thread.start()
    children = []
    try:
        for _ in range(30):
            child = os.fork()
            if not child:
                now = [info["num_threads"] for info in threadpoolctl.threadpool_info() if info["user_api"] == "blas"]
                model.fit(data)
                os._exit(0 if now == limit else 3)
            children.append(child)
    finally:
        stop.set()
        for thread in busy:
            thread.join()
    assert _ended(children, 20.0) == [0] * 30


def _ended(children: list[int], patience: float) -> list[int]:
    """Return the exit codes of child processes, -1 for those that have to be killed."""
    until, codes = time.monotonic() + patience, []
    for child in children:
        while True:
            pid, status = os.waitpid(child, os.WNOHANG)
            if pid:
                codes.append(os.waitstatus_to_exitcode(status))
                break
            if time.monotonic() > until:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
                codes.append(-1)
                break
            time.sleep(0.01)
    return codes
