"""Encoding documents: `transform` against SciPy's X @ W, scikit-learn's LDA and tomotopy's LDA inference."""

from __future__ import annotations

import time

import numpy as np
from sklearn.decomposition import LatentDirichletAllocation

from common import alternate, median, table, write
from harmonium import Stochastic
from harmonium.datasets import load_newsgroups
from harmonium.features.text import text_counts
from harmonium.recipes import RAP
from rivals.lda import LDA

N_TOPICS, N_WORDS, ROUNDS = 100, 5000, 9


def main() -> None:
    data = load_newsgroups("all", remove=("headers",))
    counts, _ = text_counts(data.views["text"], max_features=N_WORDS)
    train, test = counts[data.split == "train"], counts[data.split == "test"]
    model = RAP(N_TOPICS, driver=Stochastic(max_iter=2, learning_rate=0.01), random_state=0).fit(train)
    weights = np.ascontiguousarray(model.components_.T)
    seconds = alternate({"transform": lambda: model.transform(test), "X @ W": lambda: test @ weights}, ROUNDS)
    ratio = median([a / b for a, b in zip(seconds["transform"], seconds["X @ W"], strict=True)])
    ours = median(seconds["transform"])

    lda = LatentDirichletAllocation(N_TOPICS, max_iter=1, learning_method="online", random_state=0, n_jobs=2).fit(train)
    begin = time.perf_counter()
    lda.transform(test)
    lda_seconds = time.perf_counter() - begin

    rival = LDA(N_TOPICS, n_iter=20)
    rival.fit_transform(train[:2000])  # the speed of inference does not depend on how long the model was trained
    prepared = list(rival.prepare(test).values())
    begin = time.perf_counter()
    rival.model_.infer(prepared, iterations=100, workers=2)
    tomotopy_seconds = time.perf_counter() - begin

    rows = [
        ["harmonium transform", ours, test.shape[0] / ours, 1.0],
        ["SciPy X @ W", median(seconds["X @ W"]), test.shape[0] / median(seconds["X @ W"]), 1 / ratio],
        ["scikit-learn LDA, 2 jobs", lda_seconds, test.shape[0] / lda_seconds, lda_seconds / ours],
        ["tomotopy LDA, 100 iterations, 2 workers", tomotopy_seconds, test.shape[0] / tomotopy_seconds,
         tomotopy_seconds / ours],
    ]  # fmt: skip
    write(
        "encode_speed",
        "Encoding speed on 20 Newsgroups",
        f"{test.shape[0]:,} test documents × {N_WORDS:,} words (CSR float32), {N_TOPICS} topics; the first two rows "
        f"alternate, median of {ROUNDS}. Goals: at most 1.3 times X @ W (here {ratio:.2f}), at least 100 times faster "
        "than both LDAs.\n\n" + table(["method", "seconds", "documents/s", "time / harmonium's"], rows),
        "python benchmarks/encode_speed.py",
    )


if __name__ == "__main__":
    main()
