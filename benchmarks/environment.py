"""Where and with what a benchmark ran."""

from __future__ import annotations

import importlib.metadata
import os
import platform
from pathlib import Path

import harmonium

PACKAGES = (
    "numpy",
    "scipy",
    "scikit-learn",
    "numba",
    "tomotopy",
    "scikit-image",
    "cca-zoo",
    "cleanlab",
    "mofapy2",
    "skrub",
    "catboost",
    "lightgbm",
    "bertopic",
    "umap-learn",
    "turftopic",
    "topica",
)


def machine() -> dict[str, str | int]:
    """Return processor, cores and memory of this machine."""
    processor = platform.processor() or platform.machine()
    cpu_info = Path("/proc/cpuinfo")
    if cpu_info.exists():
        models = [line.split(":", 1)[1].strip() for line in cpu_info.read_text().splitlines() if "model name" in line]
        processor = models[0] if models else processor
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {"processor": processor, "cores": os.cpu_count() or 1, "memory_gb": round(memory)}


def versions() -> dict[str, str]:
    """Return the versions of Python, harmonium and those other packages that are installed."""
    found = {"Python": platform.python_version(), "harmonium": harmonium.__version__}
    for package in PACKAGES:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found
