"""Inputs larger than comfortable: `harmonium fit` of long, wide and many-valued tables, and what it says meanwhile.

Each command may take ten minutes, and is ended then. The table says when its first words came, how long it was silent
at most, what it said last, and how much memory it took at most.
"""

from __future__ import annotations

import gzip
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any

import numpy as np

from benchmarks.registry import Benchmark
from benchmarks.results import Result

BENCHMARK = Benchmark(
    title="Larger than comfortable",
    claim="`harmonium fit` of 200,000 × 12 cells, 5,000 columns, 100,000 tags, a million texts, 8 million packed rows: "
    "time, memory, longest silence",
    minutes=25,
    settings={"scale": 1.0, "limit": 600},
    quick={"scale": 0.002, "limit": 60},
)
_WORDS = np.array([f"w{number}" for number in range(20_000)])


def run(options: SimpleNamespace) -> Result:
    """Fit each of the tables by the command, and listen."""
    rows = []
    for name, (table, arguments) in CASES.items():
        with TemporaryDirectory() as place:
            path, n_rows = table(Path(place), options.scale)
            rows.append([name, n_rows, path.stat().st_size / 1e6, *listened(path, arguments, options.limit)])
    result = Result()
    columns = {
        "table": None,
        "rows": "{:,.0f}",
        "file, MB": "{:,.0f}",
        "seconds": "{:,.0f}",
        "GB": "{:.1f}",
        "first words after s": "{:.1f}",
        "longest silence s": "{:,.0f}",
        "end": None,
    }
    result.table("commands", columns, rows)
    result.text(f"A command that takes more than {options.limit} s is ended; its last words are quoted then.")
    return result


def listened(path: Path, arguments: list[str], limit: float) -> list[Any]:
    """Return seconds, memory, when the first words came, the longest silence, and how it ended."""
    import psutil

    command = [sys.executable, "-m", "harmonium", "fit", str(path), "-o", str(path.parent / "made"), *arguments]
    begin = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    said: list[tuple[float, str]] = []

    def listen() -> None:
        assert process.stdout is not None
        said.extend((time.monotonic() - begin, line.strip()) for line in process.stdout if line.strip())

    thread = threading.Thread(target=listen)
    thread.start()
    most = 0.0
    while process.poll() is None and time.monotonic() - begin < limit:
        time.sleep(0.2)
        try:
            family = [psutil.Process(process.pid), *psutil.Process(process.pid).children(recursive=True)]
            most = max(most, sum(one.memory_info().rss for one in family) / 1e9)
        except psutil.Error:
            break
    seconds = time.monotonic() - begin
    is_over = process.poll() is not None
    process.kill()
    process.wait()
    thread.join()
    times = [0.0, *(when for when, _ in said), seconds]
    last = said[-1][1][:100] if said else "nothing"
    end = "done" if process.returncode == 0 else f"refused: {last}" if is_over else f"ended while “{last}”"
    silences = [after - before for before, after in pairwise(times)]
    return [seconds, most, times[1], max(silences), end]


# ---- tables ----------------------------------------------------------------------------------------------------------
def _written(path: Path, head: str, lines: Iterator[str], n_rows: int) -> tuple[Path, int]:
    opener: Callable[..., Any] = gzip.open if path.suffix == ".gz" else open
    extra = {"compresslevel": 1} if path.suffix == ".gz" else {}
    with opener(path, "wt", encoding="utf-8", **extra) as file:
        file.write(head)
        file.writelines(lines)
    return path, n_rows


def mixed(place: Path, scale: float) -> tuple[Path, int]:
    """Numbers, categories, tags, dates and short texts."""
    n = int(200_000 * scale)
    rng = np.random.default_rng(0)
    numbers, codes = rng.normal(size=(n, 6)).round(3), rng.integers(0, 50, size=(n, 3))
    words = _WORDS[rng.geometric(0.002, size=(n, 8)) % 5000]

    def lines() -> Iterator[str]:
        for number, (row, code, text) in enumerate(zip(numbers, codes, words, strict=True)):
            date = f"20{10 + number % 15}-{1 + number % 12:02}-{1 + number % 28:02}"
            kinds = ",".join(f"c{kind}" for kind in code)
            cells = ",".join(map(str, row))
            yield f"{' '.join(text)},{cells},{kinds},{date},{row[0] + (code[0] % 5) + 0.1 * (number % 7):.2f}\n"

    return _written(place / "mixed.csv", "text,a,b,c,d,e,f,k,l,m,date,y\n", lines(), n)


def wide(place: Path, scale: float) -> tuple[Path, int]:
    """Five thousand columns of numbers."""
    n, n_columns = 2_000, max(10, int(5_000 * scale))
    rng = np.random.default_rng(0)
    values = rng.normal(size=(n, n_columns)).round(2)
    head = ",".join(f"x{number}" for number in range(n_columns)) + ",y\n"
    lines = (",".join(map(str, row)) + f",{row[:3].sum():.2f}\n" for row in values)
    return _written(place / "wide.csv", head, lines, n)


def tagged(place: Path, scale: float) -> tuple[Path, int]:
    """Tags to predict, of which there are a hundred thousand."""
    n = int(200_000 * scale)
    rng = np.random.default_rng(0)
    words = _WORDS[rng.geometric(0.002, size=(n, 8)) % 5000]
    tags = rng.integers(0, max(2, n // 2), size=(n, 2))
    lines = (f"{' '.join(row)},t{one}|t{other}\n" for row, (one, other) in zip(words, tags, strict=True))
    return _written(place / "tagged.csv", "text,tags\n", lines, n)


def texts(place: Path, scale: float) -> tuple[Path, int]:
    """A million texts on disk."""
    n = int(1_000_000 * scale)
    rng = np.random.default_rng(0)

    def lines() -> Iterator[str]:
        for begin in range(0, n, 10_000):
            for row in _WORDS[rng.geometric(0.001, size=(min(10_000, n - begin), 30)) % 20_000]:
                yield f'{{"text": "{" ".join(row)}"}}\n'

    return _written(place / "texts.jsonl", "", lines(), n)


def packed(place: Path, scale: float) -> tuple[Path, int]:
    """Eight million rows of three columns, packed."""
    n = int(8_000_000 * scale)
    block = "".join(f"{number % 97},{number % 13 / 7:.3f},k{number % 5}\n" for number in range(1_000))
    return _written(place / "packed.csv.gz", "a,b,c\n", (block for _ in range(max(1, n // 1_000))), n)


CASES: dict[str, tuple[Callable[[Path, float], tuple[Path, int]], list[str]]] = {
    "12 columns of every kind, a number to predict": (mixed, ["--target", "y"]),
    "5,000 columns of numbers, a number to predict": (wide, ["--target", "y"]),
    "100,000 tags to predict from texts": (tagged, ["--target", "tags", "--task", "labels"]),
    "a million texts on disk": (texts, ["--stream"]),
    "8 million packed rows": (packed, []),
}
