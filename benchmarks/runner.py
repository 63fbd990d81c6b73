"""Run a benchmark and store what it found."""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from benchmarks import provenance, registry, results
from benchmarks.rendering import markdown

REPETITIONS = ("seeds", "trials", "splits", "folds", "partitions", "draws")  # settings that say how often


class PlaceNeeded(ValueError):
    """A run with other than the standard settings must not replace a standard result."""


def run(name: str, settings: Mapping[str, Any] | None = None, output: Path | None = None) -> Path:
    """Run a benchmark, store its result and figures, and return where the result is.

    Parameters
    ----------
    name : str
        Of the benchmark.
    settings : mapping, default=None
        Settings that differ from the standard ones.
    output : path, default=None
        Folder of the result; ``results/`` if the settings are the standard ones, or those of a long run.
    """
    benchmark, function = registry.load(name)
    used = {**benchmark.settings, **(settings or {})}
    if output is None:
        if used not in ({**benchmark.settings}, {**benchmark.settings, **(benchmark.long or {})}):
            raise PlaceNeeded("These are not the standard settings; name a folder for the result with --output.")
        output = results.FOLDER
    output.mkdir(parents=True, exist_ok=True)
    os.environ.setdefault("MPLBACKEND", "Agg")  # figures go to files
    made: dict[str, Any] = {"commit": provenance.commit(), "sources": provenance.sources(name)}
    begin = time.perf_counter()
    result = function(SimpleNamespace(output=output, **used))
    made |= {"seconds": time.perf_counter() - begin, "peak_mb": peak_memory(), "seeds": repetitions(used)}
    # the history is that of the protocol, wherever this run is stored; remarks are of the run that is replaced
    history = results.read(name)["history"] if name in results.names() else []
    remarks = results.read(name, output)["remarks"] if name in results.names(output) else []
    document = results.stored(name, benchmark.title, result, used, history, made)
    path = results.write(document, output)
    results.write_values(document, result.values, output)
    path.with_suffix(".md").write_text(markdown(document))
    print(markdown(document))
    if remarks:
        print("The result before had remarks; add those that still hold:", *remarks, sep="\n\n")
    return path


def expected_minutes(name: str) -> float:
    """Return what the stored run of a benchmark took, if it had the settings of now, and else what is expected."""
    benchmark, _ = registry.load(name)
    if name in results.names():
        stored = results.read(name)
        if stored["seconds"] and stored["settings"] == results.plain(benchmark.settings):
            return float(stored["seconds"]) / 60
    return benchmark.minutes


def repetitions(settings: Mapping[str, Any]) -> int | None:
    """Return the number of seeds, splits or folds that settings ask for; None if they name none."""
    return next((int(settings[name]) for name in REPETITIONS if isinstance(settings.get(name), int)), None)


def peak_memory() -> float:
    """Return the most MB that this process, or one that it has waited for, has held."""
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return max(resource.getrusage(kind).ru_maxrss for kind in kinds) / 1024
