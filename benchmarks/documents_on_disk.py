"""Documents on disk, drawn from a model of 20 Newsgroups: time and memory of `fit` and `transform` as they grow."""

from __future__ import annotations

import multiprocessing
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import scipy.sparse
from sklearn.feature_extraction.text import CountVectorizer

from benchmarks.growth import memory
from benchmarks.registry import Benchmark
from benchmarks.results import Result
from harmonium import Harmonium, ReplicatedSoftmax, Shards, Stochastic
from harmonium.datasets import load_newsgroups

BENCHMARK = Benchmark(
    title="Documents that stay on disk",
    claim="time and memory of `fit` and `transform` for shards of documents on disk, from 30 thousand on",
    minutes=8,
    data=("newsgroups",),
    settings={
        "documents": (30_000, 100_000, 300_000),
        "words": 5000,
        "units": 50,
        "epochs": 1,
        "rows_of_a_shard": 10_000,
        "folder": "",
    },
    quick={"documents": (400,), "words": 200, "units": 5, "rows_of_a_shard": 100},
)
MEMORY_GOAL = 1500  # MB
BLOCK, COPIES = 2000, 20  # documents that are drawn together, and how many of them share the state of the topics


class Drawn:
    """Documents with the topics and the lengths of those of 20 Newsgroups, and words drawn from a model of them."""

    def __init__(self, n_words: int, n_units: int) -> None:
        texts = load_newsgroups("train", remove=("headers", "footers", "quotes")).views["text"]
        counts = CountVectorizer(max_features=n_words, stop_words="english").fit_transform(texts)
        self.counts = counts[np.asarray(counts.sum(axis=1)).ravel() > 0].astype(np.float32)
        model = Harmonium(n_units, views=ReplicatedSoftmax(), driver=Stochastic(max_iter=3), random_state=0)
        model.fit(self.counts)
        self.means = model.transform(self.counts)
        self.lengths = np.asarray(self.counts.sum(axis=1)).ravel().astype(int)
        self.model = model

    def rows(self, n_rows: int, seed: int) -> scipy.sparse.csr_array:
        """Return documents, drawn block by block."""
        rng = np.random.default_rng(seed)
        return scipy.sparse.vstack(
            [self._block(min(BLOCK, n_rows - first), rng) for first in range(0, n_rows, BLOCK)], format="csr"
        )

    def _block(self, n_rows: int, rng: np.random.Generator) -> scipy.sparse.csr_array:
        like = rng.integers(len(self.means), size=-(-n_rows // COPIES))
        hidden = (rng.random((len(like), self.means.shape[1])) < self.means[like]).astype(np.float32)
        expected = self.model.inverse_transform(hidden).astype(np.float64)
        share = expected / expected.sum(axis=1, keepdims=True)
        # one search for all tokens: state s has the numbers between s and s + 1
        ends = (np.cumsum(share, axis=1) + np.arange(len(like))[:, None]).ravel()
        rows = np.repeat(np.arange(n_rows), rng.choice(self.lengths, size=n_rows))
        states = rows // COPIES
        places = np.searchsorted(ends, states + rng.random(len(rows)))
        tokens = np.clip(places - states * share.shape[1], 0, share.shape[1] - 1)
        ones = np.ones(len(rows), dtype=np.float32)
        return scipy.sparse.csr_array((ones, (rows, tokens)), shape=(n_rows, share.shape[1]))


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
    MB. Encoding writes to a file that is mapped into memory, shard by shard.
    """
    shards = Shards.from_files(f"{folder}/*.view0")
    parts = {"views": ReplicatedSoftmax(), "random_state": 0}
    Harmonium(options.units, **parts, driver=Stochastic(max_iter=1)).fit(shards.sample(200))  # compile
    begin, clock = time.process_time(), time.perf_counter()
    model = Harmonium(options.units, **parts, driver=Stochastic(max_iter=options.epochs)).fit(shards)
    middle, middle_clock = time.process_time(), time.perf_counter()
    encoded = np.lib.format.open_memmap(f"{folder}/encoded.npy", "w+", np.float32, (len(shards), options.units))
    first = 0
    for number in range(shards.n_shards):
        rows = model.transform(shards.take([number]))
        encoded[first : first + len(rows)] = rows
        first += len(rows)
    end, end_clock = time.process_time(), time.perf_counter()
    millions = len(shards) / 1e6
    times = [middle - begin, end - middle, middle_clock - clock, end_clock - middle_clock]
    return [*(seconds / millions for seconds in times), memory("VmHWM")]


def run(options: SimpleNamespace) -> Result:
    """Measure each size in a new process, so that memory of one is not counted for another."""
    drawn, rows = Drawn(options.words, options.units), []
    for n_rows in options.documents:
        with tempfile.TemporaryDirectory(dir=options.folder or None) as folder:
            write(drawn, Path(folder), n_rows, options.rows_of_a_shard)
            size = sum(file.stat().st_size for file in Path(folder).rglob("*.npy")) / 2**20
            with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as process:
                rows.append([n_rows, size, *process.submit(measure, folder, options).result()])
    result = Result()
    result.text(
        f"Documents of {options.words:,} words with the lengths of 20 Newsgroups, drawn from a model of it, in shards "
        f"of {options.rows_of_a_shard:,} sparse rows on disk; {options.units} units, replicated softmax, CD-1, Adam, "
        f"{options.epochs} epoch(s). Times include all passes of a fit (checks, marginals, lifts). Goals: time a "
        f"million documents constant; peak memory of the process below {MEMORY_GOAL:,} MB at 10 million documents."
    )
    columns = {
        "documents": "{:,}",
        "MB on disk": "{:,.0f}",
        "fit, processor s / million": "{:.0f}",
        "encode, processor s / million": "{:.0f}",
        "fit, s / million": "{:.0f}",
        "encode, s / million": "{:.0f}",
        "peak memory, MB": "{:,.0f}",
    }
    result.table("documents_on_disk", columns, rows)
    return result
