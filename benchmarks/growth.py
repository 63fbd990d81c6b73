"""Time and memory of `fit` as documents grow: 10 thousand, 100 thousand, 1 million (5,000 words, 80 a document)."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import scipy.sparse

from common import table, write
from harmonium import BernoulliUnits, Harmonium, Poisson, Stochastic

N_WORDS, N_TOKENS, N_UNITS = 5000, 80, 100


def documents(n_rows: int) -> scipy.sparse.csr_array:
    """Documents of 80 tokens from a Zipf-like law, made block by block so that making them does not take the memory."""
    rng = np.random.default_rng(0)
    cumulative = np.cumsum(1.0 / (np.arange(N_WORDS) + 20.0))
    columns, values, lengths = [], [], []
    for first in range(0, n_rows, 20_000):
        size = (min(20_000, n_rows - first), N_TOKENS)
        tokens = np.sort(np.searchsorted(cumulative, rng.random(size) * cumulative[-1]), axis=1)
        fresh = np.ones(size, dtype=bool)
        fresh[:, 1:] = tokens[:, 1:] != tokens[:, :-1]
        starts = np.flatnonzero(fresh.ravel())
        columns.append(tokens.ravel()[starts].astype(np.int32))
        values.append(np.diff(starts, append=tokens.size).astype(np.float32))
        lengths.append(fresh.sum(axis=1))
    indptr = np.concatenate([[0], np.cumsum(np.concatenate(lengths))]).astype(np.int32)
    return scipy.sparse.csr_array((np.concatenate(values), np.concatenate(columns), indptr), shape=(n_rows, N_WORDS))


def memory(field: str) -> float:
    """A line of this process's memory record, in MB: VmRSS now, VmHWM the largest since it was last reset."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(field)) / 1024


def measure(n_rows: int) -> None:
    """One size, in a process of its own."""
    parts = {"n_components": N_UNITS, "hidden": BernoulliUnits(), "views": Poisson(), "random_state": 0}
    words = documents(n_rows)
    Harmonium(**parts, driver=Stochastic(max_iter=1, batch_size=500)).fit(words[:1000])  # compile
    gc.collect()
    before = memory("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # the largest memory counts from here
    begin = time.perf_counter()
    Harmonium(**parts, driver=Stochastic(max_iter=2, batch_size=500)).fit(words)
    seconds = time.perf_counter() - begin
    stored = (words.data.nbytes + words.indices.nbytes + words.indptr.nbytes) / 2**20
    print(json.dumps({"seconds": seconds, "input": stored, "extra": memory("VmHWM") - before}))


def main() -> None:
    if len(sys.argv) > 1:
        measure(int(sys.argv[1]))
        return
    rows = []
    for n_rows in (10_000, 100_000, 1_000_000):
        output = subprocess.run([sys.executable, __file__, str(n_rows)], check=True, capture_output=True, text=True)
        result = json.loads(output.stdout.splitlines()[-1])
        microseconds = result["seconds"] / n_rows / 2 * 1e6
        rows.append([f"{n_rows:,}", result["seconds"], microseconds, result["input"], result["extra"]])
    header = ["documents", "seconds (2 epochs)", "µs a document and epoch", "input MB", "peak memory beyond it, MB"]
    write(
        "growth",
        "Growth of time and memory",
        f"Synthetic documents, {N_TOKENS} tokens of {N_WORDS:,} words each (CSR float32), {N_UNITS} units, Poisson, "
        "CD-1, Adam. Goals: linear time; memory beyond the input constant, below 500 MB.\n\n" + table(header, rows),
        "python benchmarks/growth.py",
    )


if __name__ == "__main__":
    main()
