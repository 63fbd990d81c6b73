"""Two workers of a cluster against one process: epoch time, held-out error of both ways to learn, and the wire."""

from __future__ import annotations

from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.feature_extraction.text import CountVectorizer

from benchmarks.measuring import alternate, median, with_deviation
from benchmarks.registry import Benchmark
from benchmarks.results import Result
from harmonium import Harmonium, Shards, Stochastic, Views
from harmonium.datasets import load_newsgroups
from harmonium.training import Distributed
from harmonium.training.drivers.monitor import reconstruct

BENCHMARK = Benchmark(
    title="A cluster of two workers, and of a thousand on paper",
    claim="rounds and synchronous steps on two workers against one process; the share of the wire for 1 to 1,000",
    minutes=8,
    data=("newsgroups",),
    settings={"documents": 8000, "words": 5000, "units": 50, "epochs": 5, "rounds": 5, "seeds": 3, "shards": 8},
    quick={"documents": 300, "words": 100, "units": 4, "epochs": 1, "rounds": 1, "seeds": 2},
)
BYTES = 4  # of a number
WORKERS = (1, 10, 100, 1000)
TIMES_SENT = (2, 7 / 5, 7 / 50)  # sizes of the weights that go over the wire in a step, by way
SECONDS_AND_SHARE = "{seconds:,.0f}, {share:.0%}"


def documents(n_words: int) -> tuple[scipy.sparse.csr_array, scipy.sparse.csr_array]:
    """Return presence of words in training messages, and in others to test by, which have words at all."""
    parts = [load_newsgroups(part, remove=("headers", "footers", "quotes")).views["text"] for part in ("train", "test")]
    vectorizer = CountVectorizer(max_features=n_words, stop_words="english", binary=True).fit(parts[0])
    found = [vectorizer.transform(texts).astype(np.float32) for texts in parts]
    train, test = (rows[np.asarray(rows.sum(axis=1)).ravel() > 0] for rows in found)
    return train[np.random.default_rng(0).permutation(train.shape[0])], test


def held_out(model: Harmonium, rows: scipy.sparse.csr_array) -> float:
    """Return the mean reconstruction loss of new rows, in nats."""
    batch = Views({"view0": rows}).batch(np.arange(rows.shape[0]), model.families_)
    return reconstruct(model.fitted_.problem, model.fitted_.parameters, batch).total


def in_shards(rows: scipy.sparse.csr_array, number: int) -> Shards:
    """Return rows in shards of the same size."""
    ends = np.linspace(0, rows.shape[0], number + 1).astype(int)
    return Shards([rows[first:last] for first, last in pairwise(ends.tolist())])


def run(options: SimpleNamespace) -> Result:
    """Measure on a local cluster of two processes, and calculate the rest."""
    from distributed import Client, LocalCluster

    train, test = documents(options.words)
    shards = in_shards(train[: options.documents], options.shards)
    local, smaller = Stochastic(max_iter=options.epochs), Stochastic(max_iter=options.epochs, batch_size=50)
    ways: dict[str, Any] = {
        "one process, two threads": (local, 2),
        "rounds, two workers": (Distributed(local, "rounds", n_replicas=options.shards), 1),
        "rounds, batches of 50": (Distributed(smaller, "rounds", n_replicas=options.shards, n_steps=10), 1),
        "synchronous, two workers": (Distributed(local, "synchronous", n_replicas=options.shards), 1),
    }

    def fitted(name: str, seed: int = 0) -> Harmonium:
        driver, threads = ways[name]
        return Harmonium(options.units, driver=driver, n_jobs=threads, random_state=seed).fit(shards)

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster):
        seconds = alternate({name: lambda name=name: fitted(name) for name in ways}, options.rounds)  # type: ignore[misc]
        errors = {name: [held_out(fitted(name, seed), test) for seed in range(options.seeds)] for name in ways}
    base = median(seconds["one process, two threads"])
    marginals = held_out(
        Harmonium(1, driver=Stochastic(max_iter=1, learning_rate=1e-9), random_state=0).fit(shards), test
    )
    rows: list[list[Any]] = [
        [name, median(taken) / options.epochs, median(taken) / base, with_deviation(errors[name])]
        for name, taken in seconds.items()
    ]
    rows.append(["marginals alone", None, None, {"mean": marginals, "spread": 0.0}])
    result = Result()
    result.text(
        f"{options.documents:,} messages of 20 Newsgroups, presence of {options.words:,} words, {options.units} units, "
        f"CD-1, Adam, batches of 100 unless said otherwise, {options.epochs} epochs, {options.shards} shards and "
        "replicas, 500 rows of a replica in a round; held-out nats are those of reconstructed test messages, over "
        f"{options.seeds} seeds. Times are those of whole fits, taken alternately, divided by epochs. Goals: at most "
        "1.3 times the time of one process with two threads, and nats "
        "within noise of it."
    )
    columns = {"way": None, "s / epoch": "{:.2f}", "times one process": "{:.2f}", "held-out nats": "{:.1f}"}
    result.table("two_workers", columns, rows)
    rate = options.documents / (base / options.epochs) / 2
    on_paper(result, rate, options)
    return result


def on_paper(result: Result, rate: float, options: SimpleNamespace) -> None:
    """Add the time of an epoch of 10 million documents, by the measured rate and the bytes of an exchange."""
    result.heading("On paper")
    result.text(
        f"From the measured rate of one thread, {rate:,.0f} documents a second with {options.units} units, taken to "
        "fall in proportion to the units; 10 million documents; batches of 100 a replica, as many replicas as workers. "
        "A synchronous step sends parameters to each worker and a gradient back; a round, of 5 or of 50 steps, sends "
        "parameters and two moments both ways, and the memory of the outer step. All go through one node, whose link "
        "is the limit. A way stops paying "
        "where its share of the wire is above a half, as twice the workers then save less than a quarter."
    )
    rows, limits = [], []
    for units in (50, 1000):
        for words in (5_000, 200_000):
            for gigabits in (1, 10):
                alone = 10e6 / (rate * options.units / units)
                sent = [10e6 / 100 * units * words * BYTES * times / (gigabits * 1e9 / 8) for times in TIMES_SENT]
                for workers in WORKERS:
                    computing, wire = alone / workers, sent if workers > 1 else [0.0] * len(sent)
                    cells = [{"seconds": computing + each, "share": each / (computing + each)} for each in wire]
                    rows.append([units, f"{words:,}", gigabits, workers, *cells])
                limits.append([units, f"{words:,}", gigabits, *(max(1, int(alone / each)) for each in sent)])
    where = {"units": "{:,}", "words": None, "Gbit/s": None}
    ways = ("synchronous", "rounds of 5 steps", "rounds of 50 steps")
    result.table(
        "wire",
        {**where, "workers": "{:,}", **{f"{way}: s / epoch, on the wire": SECONDS_AND_SHARE for way in ways}},
        rows,
    )
    result.text(
        "So many workers at most spend no more than half of the time on the wire; 1 means that one machine is as fast. "
        "What is sent in an epoch does not depend on the number of workers, but falls with the rows of a batch and the "
        "steps of a round: batches of 1,000 pay for ten times as many workers."
    )
    result.table("pays_up_to", {**where, **dict.fromkeys(ways, "{:,}")}, limits)
