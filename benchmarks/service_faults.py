"""Workers of `harmonium serve` that are killed or stopped, a hundred times, and how soon others stand in their place.

A service of two workers loses one, by SIGKILL or SIGSTOP in turn, while it is asked over and over; a third process
waits then to take its place. The table says how long it took until it did, until it was ready, and until the
whole service had ended after SIGTERM; every other service has a stopped worker then.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace

from benchmarks.registry import Benchmark
from benchmarks.results import Result

BENCHMARK = Benchmark(
    title="Workers that die or hang",
    claim="workers of `harmonium serve` killed or stopped 100 times: replaced within 5 s, all ended within 10 s",
    minutes=8,
    settings={"times": 100, "services": 10},
    quick={"times": 2, "services": 1},
)
# seconds, as the claim has them
REPLACED, ENDED = 5.0, 10.0
# says when a worker starts, begins and is ready, and is the command otherwise
_TOLD = """
import sys
from harmonium.explore.serving import supervisor
listen_before = supervisor._Worker.listen
def listen(worker):
    was = worker.is_started, worker.is_ready
    listen_before(worker)
    for word, now, before in zip(("started", "ready"), (worker.is_started, worker.is_ready), was):
        if now and not before:
            print(word, worker.process.pid, file=sys.stderr, flush=True)
supervisor._Worker.listen = listen
begin_before = supervisor._Worker.begin
def begin(worker):
    print("begun", worker.process.pid, file=sys.stderr, flush=True)
    begin_before(worker)
supervisor._Worker.begin = begin
from harmonium.cli import main
if __name__ == "__main__":
    main()
"""


def run(options: SimpleNamespace) -> Result:
    """Let workers be lost, and see."""
    from tests.cases.explore import small_folder

    each = -(-options.times // options.services)
    replaced: dict[str, list[float]] = {"killed": [], "stopped": []}
    ready: dict[str, list[float]] = {"killed": [], "stopped": []}
    ended: list[float] = []
    n_asked = n_unanswered = 0
    with TemporaryDirectory() as place:
        rooms = small_folder(Path(place)).path
        told = Path(place) / "told.py"
        told.write_text(_TOLD, encoding="utf-8")
        for number in range(options.services):
            with Service(told, rooms) as service:
                for _ in range(each):
                    fault = ("killed", "stopped")[len(replaced["killed"]) > len(replaced["stopped"])]
                    seconds = service.lose_one(fault)
                    replaced[fault].append(seconds[0])
                    ready[fault].append(seconds[1])
                n_asked, n_unanswered = n_asked + service.n_asked, n_unanswered + service.n_unanswered
                if number % 2:
                    os.kill(service.workers()[0], signal.SIGSTOP)
                ended.append(service.end())
    return _result(options, replaced, ready, ended, n_asked, n_unanswered)


def _result(
    options: SimpleNamespace,
    replaced: dict[str, list[float]],
    ready: dict[str, list[float]],
    ended: list[float],
    n_asked: int,
    n_unanswered: int,
) -> Result:
    rows = []
    for fault in replaced:
        for what, seconds in (("another takes its place", replaced[fault]), ("it answers", ready[fault])):
            rows.append([f"{fault}: {what}", *_summary(seconds, REPLACED)])
    rows.append(["SIGTERM: all processes have ended", *_summary(ended, ENDED)])
    result = Result()
    columns = {
        "after a worker was": None,
        "times": "{:,.0f}",
        "in time": "{:,.0f}",
        "median s": "{:.2f}",
        "slowest s": "{:.2f}",
    }
    result.table("seconds", columns, rows)
    result.text(
        f"In time is {REPLACED:.0f} s, and {ENDED:.0f} s for the end. Of {n_asked:,} requests that were made "
        f"meanwhile, each with 2 s to be answered, {n_unanswered:,} were not: those of a worker that was lost."
    )
    return result


def _summary(seconds: list[float], limit: float) -> list[float]:
    ordered = sorted(seconds)
    return [len(ordered), sum(one <= limit for one in ordered), ordered[len(ordered) // 2], ordered[-1]]


class Service:
    """A service of two workers, which is asked all the time."""

    def __init__(self, told: Path, rooms: Path) -> None:
        command = [sys.executable, str(told), "serve", str(rooms), "--port", "0", "--workers", "2"]
        self.process = subprocess.Popen(
            command, stderr=subprocess.PIPE, text=True, env={**os.environ, "COLUMNS": "300"}
        )
        self.started: set[int] = set()
        self.begun: set[int] = set()
        self.ready: dict[int, float] = {}
        self.address = ""
        self.n_asked = self.n_unanswered = 0
        self.is_over = False
        self.threads = [threading.Thread(target=self._read), threading.Thread(target=self._ask)]

    def __enter__(self) -> Service:
        for thread in self.threads:
            thread.start()
        self._wait_for(lambda: self.address and len(self.ready) == 2, 120)
        return self

    def __exit__(self, *_: object) -> None:
        self.is_over = True
        if self.process.poll() is None:
            for child in self._children():
                os.kill(child, signal.SIGKILL)
            self.process.kill()
        for thread in self.threads:
            thread.join()

    def workers(self) -> list[int]:
        """Return the processes that serve; beside them there is one that waits, and one that tracks what they share."""
        return [child for child in self._children() if child in self.begun]

    def _children(self) -> list[int]:
        import psutil

        return [child.pid for child in psutil.Process(self.process.pid).children()]

    def lose_one(self, fault: str) -> tuple[float, float]:
        """Kill or stop a worker; return the seconds until another is started, and until it is ready."""
        self._wait_for(lambda: self.started & set(self._children()) - self.begun, 120)
        known = set(self.workers())
        begin = time.monotonic()
        os.kill(min(known), signal.SIGKILL if fault == "killed" else signal.SIGSTOP)
        started = self._wait_for(lambda: set(self.workers()) - known, 60) - begin
        [new] = set(self.workers()) - known
        self._wait_for(lambda: new in self.ready, 120)
        return started, self.ready[new] - begin

    def end(self) -> float:
        """Send SIGTERM and return the seconds until no process is left."""
        import psutil

        family = [self.process.pid, *self._children()]
        self.is_over = True
        begin = time.monotonic()
        self.process.terminate()
        self.process.wait(timeout=120)
        return self._wait_for(lambda: not any(map(psutil.pid_exists, family)), 60) - begin

    def _wait_for(self, condition: object, seconds: float) -> float:
        deadline = time.monotonic() + seconds
        while not condition():  # type: ignore[operator]
            if time.monotonic() > deadline:
                raise RuntimeError(f"nothing happened within {seconds:.0f} s")
            time.sleep(0.01)
        return time.monotonic()

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            if said := re.match(r"(started|begun) (\d+)", line):
                (self.started if said[1] == "started" else self.begun).add(int(said[2]))
            elif said := re.match(r"ready (\d+)", line):
                self.ready[int(said[1])] = time.monotonic()
            elif said := re.search(r"http://\S+", line):
                self.address = said.group().rstrip("/")

    def _ask(self) -> None:
        while not self.is_over:
            time.sleep(0.05)
            if len(self.ready) < 2 or self.is_over:
                continue
            self.n_asked += 1
            try:
                urllib.request.urlopen(f"{self.address}/healthz", timeout=2).read()
            except OSError:
                self.n_unanswered += not self.is_over
