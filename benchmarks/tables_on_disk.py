"""Tables that stay in their files: memory of ``harmonium fit`` and ``transform`` as a made-up table grows."""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from benchmarks.registry import Benchmark
from benchmarks.results import Result

BENCHMARK = Benchmark(
    title="Tables that stay in their files",
    claim="peak memory and processor time of `harmonium fit --stream` and `harmonium transform` on tables of texts and "
    "numbers, up to a million rows",
    minutes=15,
    settings={"rows": (100_000, 1_000_000), "words": 20, "topics": 10, "epochs": 1, "folder": ""},
    quick={"rows": (600,), "words": 8, "topics": 2},
)
VOCABULARY = 20_000
BLOCK = 10_000


def write(path: Path, n_rows: int, n_words: int) -> None:
    """Write a table of texts whose words tell a number of stars, a price, and the stars."""
    rng = np.random.default_rng(0)
    names = np.array([f"word{number}" for number in range(VOCABULARY)])
    share = 1 / np.arange(1, VOCABULARY + 1)
    ends = np.cumsum(share / share.sum())
    with path.open("w", encoding="utf-8") as file:
        file.write("text,price,stars\n")
        for first in range(0, n_rows, BLOCK):
            size = min(BLOCK, n_rows - first)
            kind = rng.integers(0, 5, size)
            words = np.searchsorted(ends, rng.random((size, n_words))).clip(0, VOCABULARY - 1)
            # a third of the words are those of the stars: numbers that leave the same rest
            told = rng.random((size, n_words)) < 1 / 3
            words = np.where(told, words - words % 5 + kind[:, None], words)
            price = 20 + 10 * kind + rng.normal(size=size) * 5
            lines = [
                f"{' '.join(names[row])},{cost:.2f},{stars + 1}\n"
                for row, cost, stars in zip(words, price, kind, strict=True)
            ]
            file.write("".join(lines))


def measure(*words: object) -> tuple[float, float]:
    """Return processor seconds and peak memory in MB of a command, run in a process of its own."""
    script = (
        "import resource, subprocess, sys; "
        "code = subprocess.run([sys.executable, '-m', 'harmonium', *sys.argv[1:]], stderr=subprocess.DEVNULL); "
        "use = resource.getrusage(resource.RUSAGE_CHILDREN); "
        "print(code.returncode, use.ru_utime + use.ru_stime, use.ru_maxrss)"
    )
    said = subprocess.run(
        [sys.executable, "-c", script, *map(str, words)], check=True, capture_output=True, text=True
    ).stdout
    code, seconds, kilobytes = said.split()[-3:]
    if code != "0":
        raise RuntimeError(f"harmonium {words[0]} ended with {code}")
    return float(seconds), float(kilobytes) / (1024 if resource.RLIMIT_AS and sys.platform != "darwin" else 2**20)


def run(options: SimpleNamespace) -> Result:
    """Fit and predict in processes of their own, so that memory of one is not counted for another."""
    rows = []
    for n_rows in options.rows:
        with tempfile.TemporaryDirectory(dir=options.folder or None) as place:
            table, model, output = (Path(place) / name for name in ("table.csv", "model", "topics.csv"))
            write(table, n_rows, options.words)
            size = table.stat().st_size / 2**20
            roles = ("--text", "text", "--number", "price,stars")
            ends = ("--topics", options.topics, "--epochs", options.epochs, "--stream", "-q", "-o", model)
            begin = time.perf_counter()
            fit = measure("fit", table, *roles, *ends)
            transform = measure("transform", model, table, "-o", output)
            clock = time.perf_counter() - begin
            kept = sum(file.stat().st_size for file in model.iterdir()) / 2**20
            rows.append([n_rows, size, *fit, *transform, kept, clock])
    result = Result()
    columns = {
        "rows": "{:,}",
        "MB of CSV": "{:,.0f}",
        "fit, processor s": "{:,.0f}",
        "fit, peak MB": "{:,.0f}",
        "transform, processor s": "{:,.0f}",
        "transform, peak MB": "{:,.0f}",
        "MB of the folder": "{:,.0f}",
        "both, s": "{:,.0f}",
    }
    result.table("tables_on_disk", columns, rows)
    result.text(
        f"Texts of {options.words} words of {VOCABULARY:,}, a price and stars; `harmonium fit --stream` with "
        f"{options.topics} topics and {options.epochs} epoch(s), with all it does (types, roles, blocks, training, "
        "map, search index), and `harmonium transform` of the same table into a file. The goal is memory that does not "
        "grow with the table but for a few bytes a row."
    )
    return result
