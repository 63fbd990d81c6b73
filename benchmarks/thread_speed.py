"""CD-1 on 20 Newsgroups: the default number of threads against one, on a quiet machine and beside busy processes.

As many processes as there are processors do nothing but count while the second half of the table is made. The last
column has the same blocks on threads of `concurrent.futures`, which waits for threads that were woken too late to help.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

from benchmarks.measuring import alternate, median
from benchmarks.registry import Benchmark
from benchmarks.results import Result
from harmonium import Harmonium, Stochastic
from harmonium.datasets import load_newsgroups
from harmonium.features.text import text_counts
from harmonium.kernels.runtime.thread_pool import Job
from harmonium.kernels.runtime.threads import effective_n_jobs

BENCHMARK = Benchmark(
    title="Threads: quiet and busy machines",
    claim="the default number of threads is never slower than one thread by more than 10 %",
    minutes=4,
    data=("newsgroups",),
    settings={"units": 200, "words": 5000, "documents": 4096, "batches": (100, 512), "epochs": 4, "rounds": 7},
    quick={"units": 20, "words": 200, "documents": 512, "batches": (512,), "epochs": 1, "rounds": 1},
)
GOAL = 1.1


@contextmanager
def busy(number: int) -> Iterator[None]:
    """Keep some processors busy by processes of their own."""
    processes = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(number)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


@contextmanager
def standard_pool() -> Iterator[None]:
    """Do blocks on threads of the standard library in place of ours."""
    with ThreadPoolExecutor() as executor:

        def run_blocks(job: Job, workers: list[Any]) -> None:
            helping = [executor.submit(job._work) for _ in workers]
            job._work()
            for future in helping:
                future.result()

        with patch.object(Job, "run", run_blocks):
            yield


def run(options: SimpleNamespace) -> Result:
    """Time whole fits of a few epochs each, alternately."""
    texts = load_newsgroups("train", remove=("headers",)).views["text"][: options.documents]
    words, _ = text_counts(texts, max_features=options.words, binary=True)
    n_processors = os.cpu_count() or 1
    rows = []
    for n_busy in (0, n_processors):
        for batch_size in options.batches:

            def fit(n_jobs: int | None, size: int = batch_size) -> Harmonium:
                driver = Stochastic(options.epochs, size)
                return Harmonium(options.units, driver=driver, n_jobs=n_jobs, random_state=0).fit(words)

            def fit_by_futures(fit: Any = fit) -> Harmonium:
                with standard_pool():
                    return fit(None)

            ways = {"one": lambda f=fit: f(1), "default": lambda f=fit: f(None), "futures": fit_by_futures}
            with busy(n_busy):
                seconds = alternate(ways, options.rounds)
            ratios = [
                median([b / a for a, b in zip(seconds["one"], seconds[way], strict=True)])
                for way in ("default", "futures")
            ]
            values = [median(times) / options.epochs for times in seconds.values()]
            rows.append([n_busy, batch_size, *values[:2], *ratios])
    result = Result()
    result.text(
        f"{words.shape[0]:,} documents × {options.words:,} words, {options.units} units; fits of {options.epochs} "
        f"epochs, median of {options.rounds} alternate rounds. {n_processors} processors, {effective_n_jobs(None)} "
        f"threads by default. Goal: at most {GOAL} times the time of one thread."
    )
    result.table(
        "threads",
        [
            "busy processes",
            "batch",
            "one thread, s an epoch",
            "default, s an epoch",
            "default / one",
            "concurrent.futures / one",
        ],
        rows,
    )
    return result
