"""Documents on disk, drawn from a model of 20 Newsgroups: time and memory of `fit` and `transform` as they grow."""

from __future__ import annotations

import multiprocessing
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import scipy.sparse

from benchmarks.drawn_documents import Drawn
from benchmarks.growth import memory
from benchmarks.registry import Benchmark
from benchmarks.results import Result
from harmonium import Harmonium, Shards, Stochastic
from harmonium.families import ReplicatedSoftmax

BENCHMARK = Benchmark(
    title="Documents that stay on disk",
    claim="time and memory of `fit` and `transform` for shards of documents on disk, from 100 thousand on",
    minutes=3,
    data=("newsgroups",),
    settings={
        "documents": (100_000, 1_000_000),
        "words": 5000,
        "units": 50,
        "epochs": 1,
        "rows_of_a_shard": 10_000,
        "folder": "",
    },
    quick={"documents": (400,), "words": 200, "units": 5, "rows_of_a_shard": 100},
)


def write(drawn: Drawn, folder: Path, n_rows: int, size: int) -> Shards:
    """Return shards of drawn documents, written one by one."""
    starts = range(0, n_rows, size)
    blocks = [DrawnBlock(drawn, min(size, n_rows - first), number) for number, first in enumerate(starts)]
    return Shards(blocks, lengths=[block.n_rows for block in blocks]).store(folder)


class DrawnBlock:
    """A block that is drawn when it is read."""

    def __init__(self, drawn: Drawn, n_rows: int, seed: int) -> None:
        self.drawn, self.n_rows, self.seed = drawn, n_rows, seed

    def __call__(self) -> scipy.sparse.csr_array:
        return self.drawn.rows(self.n_rows, self.seed)


def measure(folder: str, options: SimpleNamespace) -> list[float]:
    """Return what a fit and encoding take, in a process of its own.

    Processor seconds a million documents (of an epoch, and of encoding), the same by the clock, and the peak memory in
    MB. Encoding writes to a file, shard by shard.
    """
    shards = Shards.from_files(f"{folder}/*.view0")
    parts = {"views": ReplicatedSoftmax(), "random_state": 0}
    Harmonium(options.units, **parts, driver=Stochastic(max_iter=1)).fit(shards.take([0]))  # compile
    begin, clock = time.process_time(), time.perf_counter()
    model = Harmonium(options.units, **parts, driver=Stochastic(max_iter=options.epochs)).fit(shards)
    middle, middle_clock = time.process_time(), time.perf_counter()
    with open(f"{folder}/encoded.float32", "wb") as file:
        for number in range(shards.n_shards):
            model.transform(shards.take([number])).tofile(file)
    end, end_clock = time.process_time(), time.perf_counter()
    millions = len(shards) / 1e6
    times = [middle - begin, end - middle, middle_clock - clock, end_clock - middle_clock]
    return [*(seconds / millions for seconds in times), memory("VmHWM")]


def run(options: SimpleNamespace) -> Result:
    """Measure each size in a new process, so that memory of one is not counted for another."""
    drawn, rows = Drawn(options.words, options.units), []
    for n_rows in options.documents:
        with tempfile.TemporaryDirectory(dir=options.folder or None) as folder:
            begin = time.process_time()
            write(drawn, Path(folder), n_rows, options.rows_of_a_shard)
            writing = (time.process_time() - begin) / (n_rows / 1e6)
            size = sum(file.stat().st_size for file in Path(folder).rglob("*.npy")) / 2**20
            with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as process:
                rows.append([n_rows, size, writing, *process.submit(measure, folder, options).result()])
    result = Result()
    result.text(
        f"Documents of {options.words:,} words with the lengths of 20 Newsgroups, drawn from a model of it, in shards "
        f"of {options.rows_of_a_shard:,} sparse rows on disk; {options.units} units, replicated softmax, CD-1, Adam, "
        f"{options.epochs} epoch(s). Times include all passes of a fit (checks, marginals, relevance)."
    )
    columns = {
        "documents": "{:,}",
        "MB on disk": "{:,.0f}",
        "draw and write, processor s / million": "{:.0f}",
        "fit, processor s / million": "{:.0f}",
        "encode, processor s / million": "{:.0f}",
        "fit, s / million": "{:.0f}",
        "encode, s / million": "{:.0f}",
        "peak memory, MB": "{:,.0f}",
    }
    result.table("documents_on_disk", columns, rows)
    return result
