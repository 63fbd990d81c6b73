"""Worker processes: replaced when they die or hang, and ended in time whatever they do."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from harmonium.explore.serving import supervisor
from harmonium.explore.serving.supervisor import Supervisor

#: seconds that nothing may take, on a busy machine; in a quiet one it is a fraction of a second
PATIENCE = 60.0


def sleep_through_everything(ready: Callable[[], None], folder: str) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    Path(folder, str(os.getpid())).touch()
    ready()
    time.sleep(600)


def end_at_once(ready: Callable[[], None], folder: str) -> None:
    Path(folder, str(os.getpid())).touch()


@pytest.fixture(autouse=True)
def quick_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """Copies of this process, which need no imports; `test_serving` starts new interpreters."""
    monkeypatch.setattr(supervisor, "_START", "fork")


def new_worker(folder: Path, known: set[str]) -> int:
    """Wait for a process that was not there."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        new = {path.name for path in folder.iterdir()} - known
        if new:
            known |= {min(new)}
            return int(min(new))
        time.sleep(0.02)
    raise AssertionError("no process was started")


def test_dead_and_stopped_workers_are_replaced_and_all_end_in_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervisor, "_SILENT", 1.0)
    known: set[str] = set()
    seen: dict[str, float] = {}

    def attack() -> None:
        try:
            first, _ = new_worker(tmp_path, known), new_worker(tmp_path, known)
            os.kill(first, signal.SIGKILL)
            second = new_worker(tmp_path, known)
            while second not in [w.process.pid for w in supervised.workers if w.is_ready]:
                time.sleep(0.02)
            os.kill(second, signal.SIGSTOP)
            new_worker(tmp_path, known)
        finally:
            seen["told"] = time.monotonic()
            os.kill(os.getpid(), signal.SIGTERM)

    supervised = Supervisor(sleep_through_everything, str(tmp_path), 2, grace=0.3)
    thread = threading.Thread(target=attack)
    thread.start()
    supervised.run()
    thread.join()
    assert time.monotonic() - seen["told"] < 5
    assert len(known) == 4
    for pid in known:  # none is left, the stopped one neither
        with pytest.raises(ProcessLookupError):
            os.kill(int(pid), 0)


def test_processes_that_never_start_end_the_service_with_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="ended before they were ready"):
        Supervisor(end_at_once, str(tmp_path), 1, grace=0.3).run()
    assert len(list(tmp_path.iterdir())) == 3


def test_a_worker_that_was_stopped_while_it_computed_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Processor time that it used after its last sign of life, and before it was stopped, is no work of now."""
    clock, used = [0.0], ["1"]
    monkeypatch.setattr(supervisor.time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(supervisor, "_processor_time", lambda pid: used[0])
    worker = supervisor._Worker.__new__(supervisor._Worker)
    worker.process, worker.is_ready = multiprocessing.current_process(), True  # type: ignore[assignment]
    worker._heard()
    for seconds, processor, hangs in [(0.3, "2", False), (3.1, "2", False), (3.5, "2", True), (9.0, "3", False)]:
        clock[0], used[0] = seconds, processor
        assert worker.hangs() == hangs, seconds
    clock[0], used[0] = 61.0, "4"  # even a worker that computes gives a sign of life now and then
    assert worker.hangs()
