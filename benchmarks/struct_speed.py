"""Speed of chains: fit and predict against MMH, TWH and SLDA (Fig. 9b of the paper), and how cost grows.

Ratings of hotels by regression, K=20, the 5,000 most frequent words of 1,500 reviews to train on and of 1,500 to
predict. Epochs of structMMH and MMH on the same words are timed alternately, with sampled and with mean-field CD, and
so are predictions; fits are of one model at fixed settings: 40 epochs for the harmoniums, 200 sweeps for SLDA.

Growth: one epoch with sampled CD on random sequences, of which one size at a time is doubled.

Run: ``python benchmarks/struct_speed.py``.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from common import alternate, median, table, write
from harmonium import MMH, TWH, BernoulliUnits, MeanFieldCD, SampledCD, Sequences, Stochastic, structMMH
from harmonium.datasets import load_hotels
from rivals.slda import SLDA

K = 20
ROUNDS = 5
EPOCHS = 3
BASE = {"items": 2000, "features": 2000, "vectors": 4}
DOUBLINGS = 2


def hotels() -> tuple[Sequences, np.ndarray, Sequences]:
    loaded = load_hotels("paragraphs")
    (train, y), (test, _) = loaded.train(), loaded.test()
    words: dict[str, Any] = {"stop_words": None, "min_length": 2}
    X = Sequences.from_texts(train["paragraphs"], max_features=5000, **words)
    return X, y.astype(float), Sequences.from_texts(test["paragraphs"], vocabulary=X.feature_names, **words)


def driver(epochs: int) -> Stochastic:
    return Stochastic(
        max_iter=epochs, learning_rate=0.01, reach=0.5, schedule="constant", weight_decay=0.5, average=True
    )


def settings(epochs: int) -> dict[str, Any]:
    return {"driver": driver(epochs), "validation_fraction": 0, "random_state": 0}


def epoch_seconds(model: Any, X: Any, y: np.ndarray) -> float:
    """Median seconds of an epoch of a short fit, without what comes before and after."""
    return float(np.median(model.fit(X, y).history_["seconds"][-EPOCHS:]))


def epochs(X: Sequences, y: np.ndarray) -> list[list[object]]:
    rows: list[list[object]] = []
    bag = X.presence()
    for name, objective in (("sampled CD", SampledCD()), ("mean-field CD", MeanFieldCD())):
        for units in (20, 50):
            parts = {"objective": objective, "C": 0.4, "task": "regression", **settings(EPOCHS)}
            models = {"struct": (structMMH(units, **parts), X), "flat": (MMH(units, **parts), bag)}
            seconds: dict[str, list[float]] = {"struct": [], "flat": []}
            for number in range(ROUNDS + 1):
                for kind, (model, data) in models.items():
                    time.sleep(0.2)
                    taken = epoch_seconds(model, data, y)
                    if number:
                        seconds[kind].append(taken)
            ratios = [a / b for a, b in zip(seconds["struct"], seconds["flat"], strict=True)]
            row = [1000 * median(seconds["struct"]), 1000 * median(seconds["flat"]), median(ratios)]
            rows.append([name, units, *row, f"{min(ratios):.2f} to {max(ratios):.2f}"])
            print(rows[-1], flush=True)
    return rows


def rivals(X: Sequences, y: np.ndarray, new: Sequences) -> list[list[object]]:
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


def growth() -> list[list[object]]:
    rng = np.random.default_rng(0)
    rows: list[list[object]] = []
    for objective in (SampledCD(), MeanFieldCD()):
        for what in BASE:
            sizes = [{**BASE, what: BASE[what] * 2**power} for power in range(DOUBLINGS + 1)]
            data = []
            for size in sizes:
                n_vectors = size["items"] * size["vectors"]
                # 40 features a vector, however many there are
                columns = rng.integers(size["features"], size=(n_vectors, 40))
                matrix = np.zeros((n_vectors, size["features"]), dtype=bool)
                matrix[np.arange(n_vectors)[:, None], columns] = True
                data.append(Sequences(matrix, np.arange(0, n_vectors + 1, size["vectors"])))
            model = structMMH(K, C=0.4, task="regression", objective=objective, **settings(EPOCHS))
            taken: list[list[float]] = [[] for _ in sizes]
            for number in range(3):
                for place, X in enumerate(data):
                    seconds = epoch_seconds(model, X, rng.normal(size=len(X)))
                    if number:
                        taken[place].append(seconds)
            medians = [median(values) for values in taken]
            slope = np.polyfit(np.arange(len(sizes)), np.log2(medians), 1)[0]
            values = [f"{1000 * seconds:.0f}" for seconds in medians]
            rows.append([type(objective).__name__, what, f"{BASE[what]} × 1, 2, 4", ", ".join(values), float(slope)])
            print(rows[-1], flush=True)
    return rows


def main() -> None:
    X, y, new = hotels()
    structMMH(K, task="regression", C=0.4, **settings(1)).fit(X[:200], y[:200])  # kernels are compiled once
    lines = [
        f"One epoch on {len(X)} reviews of {X.lengths.mean():.1f} paragraphs on average, alternately, {ROUNDS} rounds:",
        "",
        table(["objective", "K", "structMMH, ms", "MMH, ms", "ratio (median)", "ratios"], epochs(X, y)),
        "",
        f"Fit and predict, K={K}:",
        "",
        table(["model", "fit, s", f"predict {len(new):,} reviews, ms", "predict / MMH"], rivals(X, y, new)),
        "",
        f"Growth of one epoch, from {BASE['items']} items of {BASE['vectors']} vectors with 40 of {BASE['features']} "
        "features each; a slope of 1 is linear, below 1 is less than that. Sampled CD looks only at features that "
        "an item has anywhere, and with more vectors there are more of these until all are:",
        "",
        table(["objective", "what grows", "sizes", "ms an epoch", "slope"], growth()),
    ]
    write("struct_speed", "Speed of chains", "\n".join(lines), "python benchmarks/struct_speed.py")


if __name__ == "__main__":
    main()
