"""Operations on files that fail, each in turn: saving, loading, checkpoints and model folders."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace

from benchmarks.registry import Benchmark
from benchmarks.results import Result

BENCHMARK = Benchmark(
    title="Failing disks",
    claim="whichever operation on files fails, the old or the new is there, never a part of it, and a sentence says so",
    minutes=3,
    settings={"step": 1},
    quick={"step": 10},
)


def run(options: SimpleNamespace) -> Result:
    """Let the k-th operation fail, for every k; what does not hold is an error that ends the run."""
    from tests.cases.failing_io import CASES, sweep

    rows = []
    for name, case in CASES.items():
        with TemporaryDirectory() as place:
            counts = sweep(case(Path(place)), step=options.step)
        rows.append([name, counts["refused"] + counts["went on"], counts["refused"], counts["went on"]])
    result = Result()
    columns = {"task": None} | dict.fromkeys(("operations that failed", "refused", "went on without it"), "{:,.0f}")
    result.table("failures", columns, rows)
    total = sum(row[1] for row in rows)
    result.text(
        f"{total:,} failures of reads, writes, flushes, renames and new folders, of broken and of full disks. "
        "After each, what was read was the old or the new to the bit, and a call again led to the same result."
    )
    return result
