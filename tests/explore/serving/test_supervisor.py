"""Worker processes: replaced when they die or hang, and ended in time whatever they do."""

from __future__ import annotations

import os
import signal
import sys
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


def hold_all_threads(ready: Callable[[], None], folder: str) -> None:
    Path(folder, str(os.getpid())).touch()
    ready()
    sys.setswitchinterval(3600)  # like a product that does not let other threads in
    while True:
        pass


def test_a_worker_that_is_at_work_is_left_alone_and_one_that_was_stopped_at_it_is_not(tmp_path: Path) -> None:
    worker = supervisor._Worker(hold_all_threads, str(tmp_path))
    try:
        worker.begin()
        pid = new_worker(tmp_path, set())
        worker.listen()
        worker.is_started, worker.last = True, time.monotonic() - supervisor._AT_WORK / 2  # it has long been silent
        assert worker.lives()
        os.kill(pid, signal.SIGSTOP)
        while supervisor._is_at_work(pid):
            time.sleep(0.01)
        worker.at_work -= supervisor._SILENT
        assert not worker.lives()
        os.kill(pid, signal.SIGCONT)
        worker.last -= supervisor._AT_WORK  # even one that computes gives a sign of life now and then
        assert not worker.lives()
    finally:
        worker.kill()


def test_a_process_that_waits_takes_the_place_of_one_that_is_lost(tmp_path: Path) -> None:
    waiting: list[int | None] = []

    def attack() -> None:
        first, deadline = new_worker(tmp_path, set()), time.monotonic() + PATIENCE
        while supervised.spare is None and time.monotonic() < deadline:
            time.sleep(0.02)
        waiting.append(supervised.spare.process.pid if supervised.spare else None)
        os.kill(first, signal.SIGKILL)
        waiting.append(new_worker(tmp_path, {str(first)}))
        os.kill(os.getpid(), signal.SIGTERM)

    supervised = Supervisor(sleep_through_everything, str(tmp_path), 1, grace=0.3)
    thread = threading.Thread(target=attack)
    thread.start()
    supervised.run()
    thread.join()
    assert waiting[0] == waiting[1]
