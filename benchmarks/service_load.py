"""The service under load: `harmonium serve` with two workers, asked by 100 connections at once.

``wrk`` (a package of Debian) asks for predictions and for searches, each with another text of the training data; the
service must answer all of them, and the table says how long that takes.
"""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace

import pandas as pd

from benchmarks.registry import Benchmark
from benchmarks.results import Result
from harmonium import HarmoniumClassifier, Hinge, ModelFolder, Stochastic
from harmonium.datasets import load_hotels

BENCHMARK = Benchmark(
    title="The service under load",
    claim="answers of `harmonium serve` to 100 connections at once: how many a second, how long they take, no failures",
    minutes=4,
    data=("hotels",),
    settings={"connections": 100, "seconds": 60, "workers": 2},
    quick={"connections": 4, "seconds": 2, "workers": 1},
)
# every connection asks with the next text; counts of statuses are printed at the end
_SCRIPT = """
local bodies = {%s}
local number = 0
request = function()
  number = number %% #bodies + 1
  return wrk.format("POST", "%s", {["Content-Type"] = "application/json"}, bodies[number])
end
done = function(summary, latency, requests)
  io.write(string.format("RESULT %%d %%d %%d %%d %%d %%f %%f %%f\\n", summary.requests, summary.duration,
    summary.errors.status, summary.errors.timeout, summary.errors.connect + summary.errors.read + summary.errors.write,
    latency:percentile(50), latency:percentile(99), latency.max))
end
"""


def run(options: SimpleNamespace) -> Result:
    """Serve a model of hotel reviews, and ask it."""
    texts = load_hotels("ratings").views["text"][:200]
    rows = []
    with TemporaryDirectory() as place:
        _folder(Path(place))
        process, address = _started(Path(place) / "hotels", options.workers)
        try:
            asked = {
                "/predict.json": [{"items": [{"text": text}]} for text in texts],
                "/search.json": [{"query": " ".join(text.split()[:6]), "n": 10} for text in texts],
            }
            for path, bodies in asked.items():
                before = _processor_seconds(process.pid)
                found = _load(address, path, bodies, options, Path(place))
                spent = _processor_seconds(process.pid) - before
                rows.append([path, *found, 1e3 * spent / max(found[0], 1)])
            _check_counts(address)
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=60)
    result = Result()
    columns = {
        "endpoint": None,
        "requests": "{:,.0f}",
        "a second": "{:,.0f}",
        "median ms": "{:.0f}",
        "99 % below ms": "{:.0f}",
        "slowest ms": "{:.0f}",
        "failed": "{:.0f}",
        "processor ms each": "{:.1f}",
    }
    result.table("load", columns, rows)
    result.text(
        f"{options.connections} connections for {options.seconds} s each, {options.workers} workers, on the machine "
        "that also runs wrk; one item with a whole review for each prediction, ten items found for each search "
        f"among 5,000. It ended {'as it was told' if process.returncode in (0, -signal.SIGTERM) else 'with an error'}."
    )
    return result


def _folder(place: Path) -> None:
    data = load_hotels("ratings")
    table = pd.DataFrame({"text": data.views["text"], "liked": data.target >= 4})
    driver = Stochastic(max_iter=3)
    model = HarmoniumClassifier(20, driver=driver, head=Hinge(C=1.0), validation_fraction=0.0, random_state=0)
    ModelFolder.create(place / "hotels", model.fit(table, "liked"), table, target="liked")


def _started(folder: Path, workers: int) -> tuple[subprocess.Popen, str]:
    command = [sys.executable, "-m", "harmonium", "serve", str(folder), "--port", "0", "--workers", str(workers)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    for line in process.stderr:
        said = re.search(r"http://\S+", line)
        if said:
            address = said.group().rstrip("/")
            subprocess.run(
                ["curl", "-s", "--retry", "60", "--retry-connrefused", f"{address}/healthz"],
                check=True,
                stdout=subprocess.DEVNULL,
            )
            return process, address
    raise RuntimeError("the service did not start")


def _load(address: str, path: str, bodies: list[dict], options: SimpleNamespace, place: Path) -> list[float]:
    listed = ", ".join(f"[==[{json.dumps(body)}]==]" for body in bodies)
    script = place / "ask.lua"
    script.write_text(_SCRIPT % (listed, path), encoding="utf-8")
    ends = ["-t2", f"-c{options.connections}", f"-d{options.seconds}s", "--timeout", "30s", "-s", str(script), address]
    said = subprocess.run(["wrk", *ends], capture_output=True, text=True, check=True).stdout
    found = re.search(r"RESULT (.*)", said)
    assert found is not None, said
    requests, duration, statuses, timeouts, broken, half, most, slowest = map(float, found.group(1).split())
    return [requests, requests / (duration / 1e6), half / 1e3, most / 1e3, slowest / 1e3, statuses + timeouts + broken]


def _processor_seconds(number: int) -> float:
    """Return the processor time that a process and those it started have used: it says more than time on a busy day."""
    import psutil

    service = psutil.Process(number)
    used = [process.cpu_times() for process in [service, *service.children(recursive=True)]]
    return sum(times.user + times.system for times in used)


def _check_counts(address: str) -> None:
    """Refuse to report a run in which the service itself has counted a fault."""
    with urllib.request.urlopen(f"{address}/metrics") as response:
        text = response.read().decode()
    if 'status="5xx"' in text:
        raise RuntimeError("the service answered with a fault")
