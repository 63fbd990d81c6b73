"""Operations on files that fail, each in turn, wherever something is kept, read or written for people."""

from __future__ import annotations

import warnings
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace

from benchmarks.registry import Benchmark
from benchmarks.results import Result

BENCHMARK = Benchmark(
    title="Failing disks",
    claim="whichever operation on files or allocation fails, the old or the new is there, never a part of it, and a "
    "sentence says so",
    minutes=3,
    settings={"step": 1, "allocations": 7},
    quick={"step": 10, "allocations": 200},
)


def run(options: SimpleNamespace) -> Result:
    """Let the k-th operation fail, for every k; what does not hold is an error that ends the run."""
    from tests.cases.failing_io import CASES, ERRORS, sweep

    rows = []
    for name, case in CASES.items():
        for why, error in ERRORS.items():
            # fits and pages allocate thousands of times
            step = options.allocations if isinstance(error, MemoryError) else options.step
            with TemporaryDirectory() as place, warnings.catch_warnings():
                warnings.simplefilter("ignore")
                counts = sweep(case(Path(place)), error, step)
            rows.append([name, why, counts["refused"] + counts["went on"], counts["refused"], counts["went on"]])
    result = Result()
    numbers = ("operations that failed", "refused", "went on without it")
    result.table("failures", {"task": None, "what fails": None} | dict.fromkeys(numbers, "{:,.0f}"), rows)
    total = sum(row[2] for row in rows)
    result.text(
        f"{total:,} failures of reads, writes, flushes, renames, removals, looks and new folders on broken and on full "
        f"disks, every one of them, and of these and allocations where memory is short, every {options.allocations}th. "
        "After each, what was read was the old or the new to the bit, and a call again led to the same result; "
        "anything else, and a refusal that is no sentence, ends the run without a result."
    )
    return result
