"""Model files with a right digest and one wrong number each: refused in a sentence, or answers that are finite."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace

from benchmarks.registry import Benchmark
from benchmarks.results import Result

BENCHMARK = Benchmark(
    title="Forged model files",
    claim="model files with any one number made infinite, negative, huge or of another type: none gives a wrong answer",
    minutes=2,
    settings={"most": 600},
    quick={"most": 10},
)


def run(options: SimpleNamespace) -> Result:
    """Forge every number of several models, and load what comes out."""
    from tests.cases.forged import MODELS, outcomes, save

    rows, wrong = [], []
    for name in MODELS:
        with TemporaryDirectory() as place:
            counts, found = outcomes(*save(name, Path(place)), most=options.most)
        rows.append([name, counts["refused"], counts["answered"], len(found)])
        wrong += found
    result = Result()
    columns = {"model": None} | dict.fromkeys(("refused", "answered with finite numbers", "neither"), "{:,.0f}")
    result.table("files", columns, rows)
    total = sum(sum(row[1:]) for row in rows)
    result.text(f"{total:,} files. " + (f"Neither refused nor finite: {'; '.join(wrong[:20])}." if wrong else ""))
    return result
