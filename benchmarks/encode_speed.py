"""Encoding documents: `transform` against SciPy's X @ W, scikit-learn's LDA and tomotopy's LDA inference."""

from __future__ import annotations

import time
from types import SimpleNamespace

import numpy as np
from sklearn.decomposition import LatentDirichletAllocation

from benchmarks.measuring import alternate, median
from benchmarks.registry import Benchmark
from benchmarks.results import Result
from benchmarks.rivals.lda import LDA
from harmonium import RAP, Stochastic
from harmonium.datasets import load_newsgroups
from harmonium.features.text import text_counts

BENCHMARK = Benchmark(
    title="Encoding speed on 20 Newsgroups",
    claim="`transform` against SciPy's `X @ W`, scikit-learn's LDA and tomotopy",
    minutes=2,
    data=("newsgroups",),
    settings={"topics": 100, "words": 5000, "rounds": 9},
)
PRODUCT_GOAL, LDA_GOAL = 1.3, 100
INFERENCE_STEPS, WORKERS = 100, 2


def run(options: SimpleNamespace) -> Result:
    """Time encodings of the test documents."""
    data = load_newsgroups("all", remove=("headers",))
    counts, _ = text_counts(data.views["text"], max_features=options.words)
    train, test = counts[data.split == "train"], counts[data.split == "test"]
    model = RAP(options.topics, driver=Stochastic(max_iter=2, learning_rate=0.01), random_state=0).fit(train)
    weights = np.ascontiguousarray(model.components_.T)
    seconds = alternate({"transform": lambda: model.transform(test), "X @ W": lambda: test @ weights}, options.rounds)
    ratio = median([a / b for a, b in zip(seconds["transform"], seconds["X @ W"], strict=True)])
    ours = median(seconds["transform"])

    lda = LatentDirichletAllocation(
        options.topics, max_iter=1, learning_method="online", random_state=0, n_jobs=WORKERS
    ).fit(train)
    begin = time.perf_counter()
    lda.transform(test)
    lda_seconds = time.perf_counter() - begin

    rival = LDA(options.topics, n_iter=20)
    rival.fit_transform(train[:2000])  # the speed of inference does not depend on how long the model was trained
    prepared = list(rival.prepare(test).values())
    begin = time.perf_counter()
    rival.model_.infer(prepared, iterations=INFERENCE_STEPS, workers=WORKERS)
    tomotopy_seconds = time.perf_counter() - begin

    found = [
        ("harmonium transform", ours, 1.0),
        ("SciPy X @ W", median(seconds["X @ W"]), 1 / ratio),
        (f"scikit-learn LDA, {WORKERS} jobs", lda_seconds, lda_seconds / ours),
        (
            f"tomotopy LDA, {INFERENCE_STEPS} iterations, {WORKERS} workers",
            tomotopy_seconds,
            tomotopy_seconds / ours,
        ),
    ]
    result = Result()
    result.text(
        f"{test.shape[0]:,} test documents × {options.words:,} words (CSR float32), {options.topics} topics; the first "
        f"two rows alternate, median of {options.rounds}. Goals: at most {PRODUCT_GOAL} times X @ W (here "
        f"{ratio:.2f}), at least {LDA_GOAL} times faster than both LDAs."
    )
    result.table(
        "encoding",
        ["method", "seconds", "documents/s", "time / harmonium's"],
        [[name, taken, test.shape[0] / taken, share] for name, taken, share in found],
    )
    return result
