"""Speed of chains: fit and predict against MMH, TWH and SLDA (Fig. 9b of the paper), and how cost grows.

Ratings of hotels by regression, K=20, the 5,000 most frequent words of 1,500 reviews to train on and of 1,500 to
predict. Epochs of structMMH and MMH on the same words are timed alternately, with sampled and with mean-field CD, and
so are predictions; fits are of one model at fixed settings: 40 epochs for the harmoniums, 200 sweeps for SLDA.

Growth: one epoch with sampled CD on random sequences, of which one size at a time is doubled.
"""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any

import numpy as np

from benchmarks.measuring import alternate, median
from benchmarks.registry import Benchmark
from benchmarks.results import Result
from benchmarks.rivals.slda import SLDA
from harmonium import MMH, TWH, Sequences, Stochastic, structMMH
from harmonium.datasets import load_hotels
from harmonium.hidden import BernoulliUnits
from harmonium.objectives import MeanFieldCD, SampledCD

BENCHMARK = Benchmark(
    title="Speed of chains",
    claim="structMMH against MMH, TWH and SLDA: epochs, fit, predict; growth with items, features and vectors",
    minutes=5,
    data=("hotels",),
    settings={"topics": 20, "rounds": 5, "epochs": 3},
)
BASE = {"items": 2000, "features": 2000, "vectors": 4}
PRESENT = 40  # features of a vector, however many there are
DOUBLINGS = 2


def hotels() -> tuple[Sequences, np.ndarray, Sequences]:
    """Return paragraphs and ratings to train on, and paragraphs to predict."""
    loaded = load_hotels("paragraphs")
    (train, y), (test, _) = loaded.train(), loaded.test()
    words: dict[str, Any] = {"stop_words": None, "min_length": 2}
    X = Sequences.from_texts(train["paragraphs"], max_features=5000, **words)
    return X, y.astype(float), Sequences.from_texts(test["paragraphs"], vocabulary=X.feature_names, **words)


def driver(epochs: int) -> Stochastic:
    return Stochastic(
        max_iter=epochs, learning_rate=0.01, max_update=0.5, schedule="constant", weight_decay=0.5, average=True
    )


def settings(epochs: int) -> dict[str, Any]:
    return {"driver": driver(epochs), "validation_fraction": 0, "random_state": 0}


def epoch_seconds(model: Any, X: Any, y: np.ndarray, n_epochs: int) -> float:
    """Return the median seconds of an epoch of a short fit, without what comes before and after."""
    return float(np.median(model.fit(X, y).history_["seconds"][-n_epochs:]))


def epochs(X: Sequences, y: np.ndarray, options: SimpleNamespace) -> list[list[object]]:
    """Return rows of the times of an epoch of structMMH and of MMH."""
    rows: list[list[object]] = []
    bag = X.presence()
    for name, objective in (("sampled CD", SampledCD()), ("mean-field CD", MeanFieldCD())):
        for units in (20, 50):
            parts = {"objective": objective, "C": 0.4, "task": "regression", **settings(options.epochs)}
            models = {"struct": (structMMH(units, **parts), X), "flat": (MMH(units, **parts), bag)}
            seconds: dict[str, list[float]] = {"struct": [], "flat": []}
            for number in range(options.rounds + 1):
                for kind, (model, data) in models.items():
                    time.sleep(0.2)
                    taken = epoch_seconds(model, data, y, options.epochs)
                    if number:
                        seconds[kind].append(taken)
            ratios = [a / b for a, b in zip(seconds["struct"], seconds["flat"], strict=True)]
            row = [1000 * median(seconds["struct"]), 1000 * median(seconds["flat"]), median(ratios)]
            rows.append([name, units, *row, {"smallest": min(ratios), "largest": max(ratios)}])
            print(rows[-1], flush=True)
    return rows


def rivals(X: Sequences, y: np.ndarray, new: Sequences, K: int) -> list[list[object]]:
    """Return rows of the times of a fit and of predictions."""
    bag, new_bag = X.presence(), new.presence()
    models: dict[str, tuple[Any, Any, Any]] = {
        "structMMH": (structMMH(K, task="regression", C=0.4, **settings(40)), X, new),
        "MMH": (MMH(K, task="regression", C=0.4, **settings(40)), bag, new_bag),
        "TWH": (TWH(K, task="regression", hidden=BernoulliUnits(), **settings(40)), bag, new_bag),
        "tomotopy SLDA": (SLDA(K, n_iter=200), bag, new_bag),
    }
    seconds = {}
    for name, (model, data, _) in models.items():
        begin = time.perf_counter()
        model.fit(data, y[:, None] if name == "tomotopy SLDA" else y)
        seconds[name] = time.perf_counter() - begin
    tasks = {name: lambda model=model, data=data: model.predict(data) for name, (model, _, data) in models.items()}
    predicting = alternate(tasks, rounds=5)
    reference = median(predicting["MMH"])
    return [
        [name, seconds[name], 1000 * median(predicting[name]), median(predicting[name]) / reference] for name in models
    ]


def growth(options: SimpleNamespace) -> list[list[object]]:
    """Return rows of the times of an epoch while one size is doubled."""
    rng = np.random.default_rng(0)
    rows: list[list[object]] = []
    for objective in (SampledCD(), MeanFieldCD()):
        for what in BASE:
            sizes = [{**BASE, what: BASE[what] * 2**power} for power in range(DOUBLINGS + 1)]
            data = []
            for size in sizes:
                n_vectors = size["items"] * size["vectors"]
                columns = rng.integers(size["features"], size=(n_vectors, PRESENT))
                matrix = np.zeros((n_vectors, size["features"]), dtype=bool)
                matrix[np.arange(n_vectors)[:, None], columns] = True
                data.append(Sequences(matrix, np.arange(0, n_vectors + 1, size["vectors"])))
            parts = settings(options.epochs)
            model = structMMH(options.topics, C=0.4, task="regression", objective=objective, **parts)
            taken: list[list[float]] = [[] for _ in sizes]
            for number in range(3):
                for place, X in enumerate(data):
                    seconds = epoch_seconds(model, X, rng.normal(size=len(X)), options.epochs)
                    if number:
                        taken[place].append(seconds)
            medians = [median(values) for values in taken]
            slope = np.polyfit(np.arange(len(sizes)), np.log2(medians), 1)[0]
            grown, milliseconds = [size[what] for size in sizes], [1000 * seconds for seconds in medians]
            rows.append([type(objective).__name__, what, grown, milliseconds, float(slope)])
            print(rows[-1], flush=True)
    return rows


def run(options: SimpleNamespace) -> Result:
    """Time epochs, fits, predictions and growth."""
    X, y, new = hotels()
    K = options.topics
    structMMH(K, task="regression", C=0.4, **settings(1)).fit(X[:200], y[:200])  # kernels are compiled once
    result = Result()
    result.text(
        f"One epoch on {len(X)} reviews of {X.lengths.mean():.1f} paragraphs on average, alternately, "
        f"{options.rounds} rounds:"
    )
    columns = dict.fromkeys(["objective", "K", "structMMH, ms", "MMH, ms", "ratio (median)"])
    result.table("epochs", {**columns, "ratios": "{smallest:.2f} to {largest:.2f}"}, epochs(X, y, options))
    result.text(f"Fit and predict, K={K}:")
    columns = ["model", "fit, s", f"predict {len(new):,} reviews, ms", "predict / MMH"]
    result.table("rivals", columns, rivals(X, y, new, K))
    result.text(
        f"Growth of one epoch, from {BASE['items']} items of {BASE['vectors']} vectors with {PRESENT} of "
        f"{BASE['features']} features each; a slope of 1 is linear, below 1 is less than that. Sampled CD looks only "
        "at features that an item has anywhere, and with more vectors there are more of these until all are:"
    )
    columns = {"objective": None, "what grows": None, "sizes": None, "ms an epoch": "{:.0f}", "slope": None}
    result.table("growth", columns, growth(options))
    return result
