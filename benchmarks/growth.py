"""Time and memory of `fit` as documents grow: 10 thousand, 100 thousand, 1 million (5,000 words, 80 a document)."""

from __future__ import annotations

import gc
import multiprocessing
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import scipy.sparse

from benchmarks.registry import Benchmark
from benchmarks.results import Result
from harmonium import Harmonium, Poisson, Stochastic
from harmonium.hidden import BernoulliUnits

BENCHMARK = Benchmark(
    title="Growth of time and memory",
    claim="time and memory of `fit` for 10 thousand to 1 million documents",
    minutes=4,
    settings={"documents": (10_000, 100_000, 1_000_000), "words": 5000, "tokens": 80, "units": 100, "epochs": 2},
    quick={"documents": (1_000,), "words": 200, "tokens": 20, "units": 10},
)
MEMORY_GOAL = 500  # MB


def documents(n_rows: int, n_words: int, n_tokens: int) -> scipy.sparse.csr_array:
    """Return documents of tokens from a Zipf-like law, made block by block so that making them takes no memory."""
    rng = np.random.default_rng(0)
    cumulative = np.cumsum(1.0 / (np.arange(n_words) + 20.0))
    columns, values, lengths = [], [], []
    for first in range(0, n_rows, 20_000):
        size = (min(20_000, n_rows - first), n_tokens)
        tokens = np.sort(np.searchsorted(cumulative, rng.random(size) * cumulative[-1]), axis=1)
        fresh = np.ones(size, dtype=bool)
        fresh[:, 1:] = tokens[:, 1:] != tokens[:, :-1]
        starts = np.flatnonzero(fresh.ravel())
        columns.append(tokens.ravel()[starts].astype(np.int32))
        values.append(np.diff(starts, append=tokens.size).astype(np.float32))
        lengths.append(fresh.sum(axis=1))
    indptr = np.concatenate([[0], np.cumsum(np.concatenate(lengths))]).astype(np.int32)
    return scipy.sparse.csr_array((np.concatenate(values), np.concatenate(columns), indptr), shape=(n_rows, n_words))


def memory(field: str) -> float:
    """Return a line of this process's memory record in MB: VmRSS now, VmHWM the largest since it was last reset."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(field)) / 1024


def measure(n_rows: int, options: SimpleNamespace) -> list[float]:
    """Return seconds of a fit, microseconds a document and epoch, MB of the input, MB beyond it at most."""
    parts = {"n_components": options.units, "hidden": BernoulliUnits(), "views": Poisson(), "random_state": 0}
    words = documents(n_rows, options.words, options.tokens)
    Harmonium(**parts, driver=Stochastic(max_iter=1, batch_size=500)).fit(words[:1000])  # compile
    gc.collect()
    before = memory("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # the largest memory counts from here
    begin = time.perf_counter()
    Harmonium(**parts, driver=Stochastic(max_iter=options.epochs, batch_size=500)).fit(words)
    seconds = time.perf_counter() - begin
    stored = (words.data.nbytes + words.indices.nbytes + words.indptr.nbytes) / 2**20
    return [seconds, seconds / n_rows / options.epochs * 1e6, stored, memory("VmHWM") - before]


def run(options: SimpleNamespace) -> Result:
    """Measure each size in a new process, so that memory of one is not counted for another."""
    rows = []
    for n_rows in options.documents:
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as process:
            rows.append([n_rows, *process.submit(measure, n_rows, options).result()])
    result = Result()
    result.text(
        f"Synthetic documents, {options.tokens} tokens of {options.words:,} words each (CSR float32), {options.units} "
        "units, Poisson, CD-1, Adam. Goals: linear time; memory beyond the input constant, below "
        f"{MEMORY_GOAL} MB."
    )
    columns = {
        "documents": "{:,}",
        f"seconds ({options.epochs} epochs)": None,
        "µs a document and epoch": None,
        "input MB": None,
        "peak memory beyond it, MB": None,
    }
    result.table("growth", columns, rows)
    return result
