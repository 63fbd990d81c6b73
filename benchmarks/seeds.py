"""Tests with other random seeds: what must hold does not hang on one draw.

``--seed`` shifts the seeds of everything that tests draw. Each seed runs files in a process of its own, as they draw
when they are imported, and for so many seconds; other seeds run other files, until each had its turn. With ``--long``
each seed runs all of them.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any

from benchmarks.registry import Benchmark
from benchmarks.results import Result

BENCHMARK = Benchmark(
    title="Other random seeds",
    claim="tests of files that draw at random, with 20 other seeds: none fails",
    minutes=18,
    settings={"seeds": 20, "turns": 1, "seconds": 150},
    quick={"seeds": 20, "turns": 1, "seconds": 1},
    long={"turns": 20, "seconds": 1800},
)
ROOT = Path(__file__).parents[1]


def run(options: SimpleNamespace) -> Result:
    """Run files with one seed after the other, and count."""
    import sklearn.pipeline  # noqa: F401 - here once for all processes, which are copies of this one

    import harmonium  # noqa: F401

    files = drawing()
    rows, failed, whole = [], [], set[str]()
    for seed in range(1, options.seeds + 1):
        own = [file for place, file in enumerate(files) if (place - seed) % options.seeds < options.turns]
        counts = tested(seed, own, options.seconds)
        rows.append([seed, len(counts["files"]), *(counts[outcome] for outcome in ("passed", "skipped", "failed"))])
        failed += [f"{name} (seed {seed})" for name in counts["names"]]
        whole |= set(counts["files"])
    result = Result()
    columns = dict.fromkeys(("seed", "files", "passed", "skipped", "failed"), "{:,.0f}")
    result.table("seeds", columns, rows)
    result.text(
        f"{len(files)} files draw at random; {len(whole)} of them had their turn, in "
        f"{sum(row[1] for row in rows):,} pairs of a file and a seed. "
        + (f"To be mended: {'; '.join(failed[:30])}." if failed else "No test failed.")
    )
    return result


def drawing() -> list[str]:
    """Return the files of tests that draw at random by a seed of their own."""
    paths = sorted((ROOT / "tests").rglob("test_*.py"))
    return [path.relative_to(ROOT).as_posix() for path in paths if "default_rng(" in path.read_text(encoding="utf-8")]


def tested(seed: int, files: list[str], seconds: float) -> dict[str, Any]:
    """Run files with a seed until the time is over; return counts of tests, which failed, and files that ended."""
    with TemporaryDirectory() as place:
        counts = Path(place) / "counts.json"
        process = multiprocessing.get_context("fork").Process(target=_tested, args=(seed, seconds, counts, files))
        process.start()
        process.join()
        found: dict[str, Any] = json.loads(counts.read_text())
        return found


class Timed:
    """Plugin of pytest that counts what comes of tests, and ends a run when its time is over."""

    def __init__(self, seconds: float) -> None:
        self.end = time.monotonic() + seconds
        self.counts: dict[str, Any] = {"passed": 0, "failed": 0, "skipped": 0, "names": [], "files": []}

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Count a test once, by what came of its call, or of what was set up for it."""
        if report.when == "call" or report.outcome != "passed":
            self.counts[report.outcome] += 1
        if report.failed:
            self.counts["names"].append(report.nodeid)

    def pytest_runtest_teardown(self, item: Any, nextitem: Any) -> None:
        """Note a file that has ended, and end the run if its time is over."""
        if nextitem is None or nextitem.path != item.path:
            self.counts["files"].append(item.path.relative_to(ROOT).as_posix())
        if time.monotonic() > self.end:
            item.session.shouldstop = "the time is over"


def _tested(seed: int, seconds: float, counts: Path, files: list[str]) -> None:
    """Run files in this process, and write the counts."""
    import pytest

    os.chdir(ROOT)
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), sys.stdout.fileno())
        os.dup2(nowhere.fileno(), sys.stderr.fileno())
    timed = Timed(seconds)
    pytest.main([f"--seed={seed}", "-p", "no:xdist", "-p", "no:cacheprovider", "-W", "ignore", *files], [timed])
    counts.write_text(json.dumps(timed.counts))
