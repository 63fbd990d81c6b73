"""Three heads on the same ratings: levels in order, numbers, or classes without order.

Overall ratings (1 to 5) of hotels, 2,500 reviews to train on and 2,500 to test on; the view is the 5,000 most frequent
words, binary. C and the number of epochs are chosen inside ``fit`` on training reviews; nothing is set but the number
of topics. Rivals choose how words are weighted along with their strength by three-fold cross-validation on training
reviews. Numbers are rounded to the nearest rating where a rating is asked for.
"""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any

import numpy as np
from sklearn.metrics import accuracy_score, mean_absolute_error, r2_score

from benchmarks.features.words import binary, few, word_counts
from benchmarks.measuring import with_deviation
from benchmarks.registry import Benchmark
from benchmarks.results import Result
from benchmarks.rivals.prepared import RIVALS, tuned
from harmonium import Bernoulli, EpsilonInsensitive, HarmoniumClassifier, HarmoniumRegressor, Hinge
from harmonium.datasets import load_hotels
from harmonium.heads import Ordinal

BENCHMARK = Benchmark(
    title="Ratings: the ordinal head against ε-insensitive and hinge losses",
    claim="the ordinal head against ε-insensitive and hinge losses, ridge and LinearSVC on ratings of hotels",
    minutes=5,
    data=("hotels",),
    settings={"topics": 10, "seeds": 3, "words": 5000, "rows": 0},
    quick={"topics": 3, "seeds": 1, "words": 50, "rows": 50},
)
LOWEST, HIGHEST = 1, 5


def measured(truth: np.ndarray, predictions: list[np.ndarray]) -> list[Any]:
    """Return absolute error and accuracy of ratings, and R² of the predictions as they are, over seeds."""
    ratings = [np.clip(np.round(found), LOWEST, HIGHEST) for found in predictions]
    scores = [
        [float(mean_absolute_error(truth, found)) for found in ratings],
        [float(accuracy_score(truth, found)) for found in ratings],
        [float(r2_score(truth, found)) for found in predictions],
    ]
    return [with_deviation(values) if len(values) > 1 else values[0] for values in scores]


def run(options: SimpleNamespace) -> Result:
    """Fit the three heads and their rivals, and measure them on test reviews."""
    loaded = load_hotels()
    (train, y), (test, truth) = loaded.train(), loaded.test()
    y, truth = y.astype(int), truth.astype(int)
    kept, asked = few(len(y), options.rows), few(len(truth), options.rows)
    y, truth = y[kept], truth[asked]
    texts, other = np.asarray(train["text"])[kept], np.asarray(test["text"])[asked]
    counts, new_counts, _ = word_counts(texts, other, options.words)
    X, unseen = binary(counts), binary(new_counts)
    rows: list[list[Any]] = []

    def report(name: str, chosen: str, predictions: list[np.ndarray], seconds: float) -> None:
        rows.append([name, chosen, *measured(truth, predictions), seconds])
        print(rows[-1], flush=True)

    median = float(np.median(y))
    report("median rating", "–", [np.full(len(truth), median)], 0.0)
    for name, rival, score in (
        ("ridge", RIVALS["ridge"], None),
        ("LinearSVC", RIVALS["linear SVM"], lambda y, found: -float(mean_absolute_error(y, found))),
    ):
        best = tuned(rival, {"words": counts}, y, {"words": new_counts}, score)
        report(f"{name}, words", best.setting, [best.predicted], best.seconds)
    for name, kind, head in (
        ("`HarmoniumClassifier(head=Hinge())`", HarmoniumClassifier, Hinge()),
        ("`HarmoniumRegressor(head=EpsilonInsensitive())`", HarmoniumRegressor, EpsilonInsensitive()),
        ("`HarmoniumClassifier(head=Ordinal())`", HarmoniumClassifier, Ordinal()),
        ('`HarmoniumClassifier(head=Ordinal(margins="nearest"))`', HarmoniumClassifier, Ordinal(margins="nearest")),
        ("`HarmoniumRegressor(head=Ordinal())`", HarmoniumRegressor, Ordinal()),
    ):
        found, seconds, chosen = [], [], []
        for seed in range(options.seeds):
            begin = time.perf_counter()
            model: Any = kind(options.topics, views=Bernoulli(), head=head, random_state=seed).fit(X, y)
            seconds.append(time.perf_counter() - begin)
            chosen.append(f"C={model.fitted_.C:g}, {model.n_iter_} epochs")
            found.append(model.predict(unseen))
        report(name, "; ".join(chosen), found, float(np.median(seconds)))
    result = Result()
    columns = {
        "model": None,
        "chosen": None,
        "absolute error": "{:.3f}",
        "accuracy": "{:.3f}",
        "R²": "{:.3f}",
        "fit, s": "{:.1f}",
    }
    result.table("heads", columns, rows)
    result.text(
        f"{options.topics} topics, {options.seeds} seeds. Absolute error and accuracy are of ratings (numbers are "
        "rounded), R² of predictions as they are. Times of rivals include the choice of their settings, as ours do."
    )
    return result
