"""Time and memory of `fit` as documents grow: 10 thousand, 100 thousand, 1 million (5,000 words, 80 a document)."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time

import numpy as np
import scipy.sparse

from common import table, write
from harmonium import BernoulliUnits, Harmonium, Poisson, Stochastic

N_WORDS, N_STORED, N_UNITS = 5000, 80, 100


def documents(n_rows: int) -> scipy.sparse.csr_array:
    """Distinct words drawn from a Zipf-like law, made block by block so that making them does not set the peak."""
    rng = np.random.default_rng(0)
    indices = np.empty(n_rows * N_STORED, dtype=np.int32)
    log_weights = -np.log(np.arange(1, N_WORDS + 1) + 20.0)
    for first in range(0, n_rows, 2000):
        last = min(first + 2000, n_rows)
        # the largest Gumbel-perturbed weights are a draw without replacement
        scores = log_weights + rng.gumbel(size=(last - first, N_WORDS)).astype(np.float32)
        chosen = np.argpartition(-scores, N_STORED, axis=1)[:, :N_STORED]
        indices[first * N_STORED : last * N_STORED] = np.sort(chosen, axis=1).ravel()
    indptr = np.arange(0, n_rows * N_STORED + 1, N_STORED, dtype=np.int64)
    data = np.ones(n_rows * N_STORED, dtype=np.float32)
    return scipy.sparse.csr_array((data, indices, indptr.astype(np.int32)), shape=(n_rows, N_WORDS))


def peak_megabytes() -> float:
    """Largest resident memory of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(n_rows: int) -> None:
    """One size, in a process of its own, as the peak memory of a process never falls."""
    driver = Stochastic(max_iter=2, batch_size=500)
    parts = {"n_components": N_UNITS, "hidden": BernoulliUnits(), "views": Poisson(), "random_state": 0}
    words = documents(n_rows)
    Harmonium(**parts, driver=Stochastic(max_iter=1, batch_size=500)).fit(words[:1000])  # compile
    before = peak_megabytes()
    begin = time.perf_counter()
    Harmonium(**parts, driver=driver).fit(words)
    seconds = time.perf_counter() - begin
    stored = (words.data.nbytes + words.indices.nbytes + words.indptr.nbytes) / 2**20
    result = {"rows": n_rows, "seconds": seconds, "input": stored, "extra": peak_megabytes() - before}
    print(json.dumps(result))


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
        f"Synthetic documents, {N_STORED} of {N_WORDS:,} words each (CSR float32), {N_UNITS} units, Poisson, CD-1, "
        "Adam. Goals: linear time; memory beyond the input constant, below 500 MB.\n\n" + table(header, rows),
        "python benchmarks/growth.py",
    )


if __name__ == "__main__":
    main()
