"""Search in a model folder: milliseconds a query over a million items, with FAISS and without."""

from __future__ import annotations

import time
from types import SimpleNamespace

import numpy as np

from benchmarks.measuring import median
from benchmarks.registry import Benchmark
from benchmarks.results import Result
from harmonium.search import NearestNeighbours

BENCHMARK = Benchmark(
    title="Search speed",
    claim="a query of a search index over 1,000,000 items with 100 topics, with FAISS and without",
    minutes=5,
    data=(),
    settings={"items": 1_000_000, "topics": 100, "queries": 20, "n": 10},
    quick={"items": 20_000, "queries": 3},
)
GOAL = 100.0


def run(options: SimpleNamespace) -> Result:
    """Time single queries, one after the other, as a person would ask them."""
    rng = np.random.default_rng(0)
    coordinates = rng.normal(size=(options.items, options.topics)).astype(np.float32)
    queries = rng.normal(size=(options.queries, options.topics)).astype(np.float32)
    rows, found = [], {}
    for backend in ("exact", "faiss"):
        begin = time.perf_counter()
        index = NearestNeighbours(backend=backend).fit(coordinates)
        built = time.perf_counter() - begin
        index.query(queries[:1], options.n)
        taken, worked = [], []
        for query in queries:
            begin, before = time.perf_counter(), time.process_time()
            found.setdefault(backend, []).append(index.query(query[None], options.n)[0])
            taken.append(1000 * (time.perf_counter() - begin))
            worked.append(1000 * (time.process_time() - before))
        rows.append([backend, built, median(taken), max(taken), median(worked)])
        del index
    same = np.mean(np.concatenate(found["exact"]) == np.concatenate(found["faiss"]))
    result = Result()
    result.text(
        f"{options.items:,} items, {options.topics} topics, {options.queries} single queries for the {options.n} best. "
        f"Goal: a median of at most {GOAL:.0f} ms with FAISS. Both find the same items in {same:.1%} of the places; an "
        "index is built once, when a folder is opened."
    )
    result.table(
        "queries", ["backend", "seconds to build", "median ms a query", "largest ms", "median processor ms"], rows
    )
    return result
