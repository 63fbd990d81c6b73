"""Files, frames, commands and requests that fuzzers make up, for as long as one lets them.

Ten minutes by default, and an hour with ``--long``. Each kind has a process of its own: atheris changes bytes of data
files, and descriptions and numbers of model files that are sealed again; hypothesis draws frames, commands and what is
sent to the service; schemathesis makes requests up from the description of its endpoints. Whatever is found is mended,
and goes to ``tests/corpus/``, which every test run replays.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any

from benchmarks.registry import Benchmark
from benchmarks.results import Result

BENCHMARK = Benchmark(
    title="What fuzzers make up",
    claim="files, frames, commands and requests that fuzzers make up: answered, or refused in one sentence",
    minutes=6,
    settings={"seconds": 300},
    quick={"seconds": 60},
    long={"seconds": 3600},
)
# what atheris reads, and what hypothesis and schemathesis draw; the first have most to search through
SHARES = {"data": 0.25, "models": 0.2, "frames": 0.15, "commands": 0.15, "requests": 0.1, "endpoints": 0.15}


def run(options: SimpleNamespace) -> Result:
    """Give each kind its share of the time; what is found is kept beside the result."""
    from tests.cases.fuzzing import FUZZERS

    assert FUZZERS.keys() == SHARES.keys()
    rows, found = [], []
    for kind, share in SHARES.items():
        counts, wrong = fuzzed(kind, share * options.seconds, options.output)
        tried = [counts.get(outcome, 0) for outcome in ("answered", "refused", "neither")]
        rows.append([kind, share * options.seconds, sum(tried), *tried])
        found += [f"{kind}: {entry}" for entry in wrong]
    result = Result()
    columns = {"kind": None, "seconds": "{:,.0f}"} | dict.fromkeys(
        ("cases", "answered", "refused", "neither"), "{:,.0f}"
    )
    result.table("cases", columns, rows)
    result.text(
        f"{sum(row[2] for row in rows):,} cases. "
        + (f"To be mended: {'; '.join(found[:30])}." if found else "None hung, or ended its process.")
    )
    return result


def fuzzed(kind: str, seconds: float, output: Path) -> tuple[dict[str, int], list[str]]:
    """Fuzz one kind, and begin again where a case ends the process; return counts, and what is to be mended."""
    end = time.monotonic() + seconds
    counts: dict[str, int] = {}
    found: list[str] = []
    while (left := end - time.monotonic()) > 1:
        with TemporaryDirectory() as place:
            command = [sys.executable, "-W", "ignore", "-m", "tests.cases.fuzzing", kind, str(left), place]
            ended = subprocess.run(command, capture_output=True, timeout=seconds + 300, check=False)
            said: dict[str, Any] = {"counts": {}, "found": []}
            if (Path(place) / "counts.json").exists():
                said = json.loads((Path(place) / "counts.json").read_text())
            for outcome, number in said["counts"].items():
                counts[outcome] = counts.get(outcome, 0) + number
            found += said["found"]
            kept = list(Path(place).glob("found-*"))
            if ended.returncode:
                counts["neither"] = counts.get("neither", 0) + 1
                found.append(f"the process ended ({ended.returncode}): {ended.stderr[-300:].decode(errors='replace')}")
                kept += list(Path(place).glob("last"))
            for path in kept:
                folder = Path(output) / "fuzz_found"
                folder.mkdir(parents=True, exist_ok=True)
                shutil.copy(path, folder / f"{kind}-{len(list(folder.iterdir()))}-{path.name}")
            if ended.returncode and not said["counts"]:
                break  # it does not even begin
    return counts, found
