"""What every benchmark shares: alternate timing, the machine's description, tables written to ``results/``."""

from __future__ import annotations

import datetime
import importlib.metadata
import os
import platform
import statistics
import time
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).parent
RESULTS = HERE / "results"
CACHE = HERE / "cache"
PACKAGES = ("harmonium", "numpy", "scipy", "scikit-learn", "numba", "tomotopy", "scikit-image")


def machine() -> str:
    """One line: processor, cores, memory, Python and package versions."""
    model = platform.processor() or platform.machine()
    cpu_info = Path("/proc/cpuinfo")
    if cpu_info.exists():
        names = [line.split(":", 1)[1].strip() for line in cpu_info.read_text().splitlines() if "model name" in line]
        model = names[0] if names else model
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    versions = []
    for package in PACKAGES:
        try:
            versions.append(f"{package} {importlib.metadata.version(package)}")
        except importlib.metadata.PackageNotFoundError:
            continue
    return (
        f"{datetime.date.today().isoformat()}; {model}, {os.cpu_count()} cores, {memory:.0f} GB; "
        f"Python {platform.python_version()}, {', '.join(versions)}"
    )


def alternate(tasks: dict[str, Callable[[], object]], rounds: int = 5) -> dict[str, list[float]]:
    """Seconds of each task, run in turn so that a noisy moment hits all of them; the first round is a warm-up.

    A pause between tasks lets the BLAS threads of the one before go to sleep: they keep a processor busy for a while.
    """
    seconds: dict[str, list[float]] = {name: [] for name in tasks}
    for number in range(rounds + 1):
        for name, task in tasks.items():
            time.sleep(0.3)
            begin = time.perf_counter()
            task()
            if number:
                seconds[name].append(time.perf_counter() - begin)
    return seconds


def median(values: list[float]) -> float:
    """Middle value."""
    return statistics.median(values)


def table(header: list[str], rows: list[list[object]]) -> str:
    """Markdown table."""
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    lines += ["| " + " | ".join(_shown(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def _shown(cell: object) -> str:
    if isinstance(cell, float):
        return f"{cell:.3g}" if abs(cell) < 0.01 or abs(cell) >= 1000 else f"{cell:.3f}".rstrip("0").rstrip(".")
    return str(cell)


def write(name: str, title: str, body: str, command: str) -> None:
    """Print the result and keep it in ``results/name.md``."""
    RESULTS.mkdir(exist_ok=True)
    text = f"# {title}\n\n`{command}`\n\n{machine()}\n\n{body}\n"
    (RESULTS / f"{name}.md").write_text(text)
    print(text)
