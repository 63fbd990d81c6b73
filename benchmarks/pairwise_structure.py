"""Edges inside a view: classes that only neighbours tell, and halves of digits from the other halves.

Made data are 4 x 16 pixels, each a fair coin; in one class neighbours agree, in the other they differ. The real ones
are the digits of scikit-learn (8 x 8 pixels, ones above half of the largest value): the lower half is missing in test
pictures, and is filled in by `reconstruct`. All models have the same units, driver and epochs; half of the pictures
train them, and half of the rest choose the number of units of each. Rivals for the halves are the mean of each pixel,
means over nearest neighbours of the upper half, and logistic regressions of each lower pixel on all upper ones.
Log loss is in nats a pixel.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsRegressor
from threadpoolctl import threadpool_limits

from benchmarks.measuring import with_deviation
from benchmarks.registry import Benchmark
from benchmarks.results import Result
from harmonium import Bernoulli, Columns, Harmonium, HarmoniumClassifier, Hinge, Stochastic
from harmonium.families import Ising, grid_edges
from harmonium.kernels.graphs.elimination import draw
from harmonium.kernels.graphs.plan import plan_of

BENCHMARK = Benchmark(
    title="Edges inside a view",
    claim="classes that only neighbours tell, and lower halves of digits from upper ones: Ising against Bernoulli",
    minutes=6,
    settings={"seeds": 1, "epochs": 20, "units": (20,), "rows": 400},
    quick={"seeds": 1, "epochs": 2, "units": (2,), "rows": 60},
)
STRENGTH = 0.9  # of couplings in made data, and its negative
FAMILIES = {"Ising": Ising, "Bernoulli": lambda edges: Bernoulli()}


def made(n_rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return pictures whose pixels agree or differ by class, and the classes."""
    edges, y = grid_edges(4, 16), np.arange(n_rows) % 2
    strength = np.where(y, STRENGTH, -STRENGTH)[:, None]
    node = -strength / 2 * np.bincount(edges.ravel(), minlength=64)
    uniforms = np.random.default_rng(seed).random((n_rows, 64))
    return draw(node, strength * np.ones(len(edges)), plan_of(edges, 64), uniforms), y


def view(family: str, height: int, width: int) -> dict[str, Columns]:
    return {"pixels": Columns(slice(height * width), FAMILIES[family](grid_edges(height, width)))}


def classes(options: SimpleNamespace) -> Iterator[list[Any]]:
    """Yield the accuracy of each kind of view, of a count of equal neighbours, and of logistic regression."""
    found: dict[str, list[float]] = {}
    edges = grid_edges(4, 16)
    for seed in range(options.seeds):
        (X, y), (new, truth) = made(options.rows, 2 * seed), made(1000, 2 * seed + 1)
        for family in FAMILIES:
            for what, head in {"": None, ", linear head": Hinge(linear_part="linear")}.items():
                settings = {"driver": Stochastic(max_iter=options.epochs), "random_state": seed, "head": head}
                model = HarmoniumClassifier(4, views=view(family, 4, 16), **settings).fit(X, y)
                found.setdefault(family + what, []).append(model.score(new, truth))
                print(family + what, found[family + what], flush=True)
        flat = LogisticRegression().fit(X, y)
        found.setdefault("logistic regression of pixels", []).append(flat.score(new, truth))
        agree = (new[:, edges[:, 0]] == new[:, edges[:, 1]]).mean(axis=1) > 0.5
        found.setdefault("the truth: do most neighbours agree?", []).append(float((agree == truth).mean()))
    for name, values in found.items():
        yield [name, with_deviation(np.array(values), ddof=1 if len(values) > 1 else 0)]


def fitted(family: str, n_units: int, rows: np.ndarray, epochs: int, seed: int) -> Harmonium:
    settings = {"driver": Stochastic(max_iter=epochs), "random_state": seed}
    return Harmonium(n_units, views=view(family, 8, 8), hidden="bernoulli", **settings).fit(rows)


def lower(model: Harmonium, rows: np.ndarray) -> np.ndarray:
    """Return the expected lower halves of pictures of which the upper halves are given."""
    half = rows.astype(float)
    half[:, 32:] = np.nan
    return model.reconstruct(half)[:, 32:]


def losses(filled: np.ndarray, truth: np.ndarray) -> tuple[float, float]:
    """Return log loss in nats a pixel and the share of pixels on the wrong side of a half."""
    inside = np.clip(filled, 1e-3, 1 - 1e-3)
    nats = -np.where(truth > 0, np.log(inside), np.log1p(-inside)).mean()
    return float(nats), float(100 * ((filled > 0.5) != truth).mean())


def halves(options: SimpleNamespace) -> Iterator[list[Any]]:
    """Yield log loss, wrong pixels and seconds of every way to fill in lower halves."""
    pictures = (load_digits().data > 8).astype(float)
    found: dict[str, list[tuple[float, float, float]]] = {}
    for seed in range(options.seeds):
        order = np.random.default_rng(seed).permutation(len(pictures))
        train, held, test = np.split(pictures[order], [900, 1350])

        def note(name: str, filled: np.ndarray, begin: float, truth: np.ndarray = test[:, 32:]) -> None:
            found.setdefault(name, []).append((*losses(filled, truth), time.process_time() - begin))

        for family in FAMILIES:
            begin = time.process_time()
            models = [fitted(family, n_units, train, options.epochs, seed) for n_units in options.units]
            best = min(models, key=lambda model: losses(lower(model, held), held[:, 32:])[0])
            note(f"{family} view", lower(best, test), begin)
        begin = time.process_time()
        note("mean of each pixel", np.tile(train[:, 32:].mean(axis=0), (len(test), 1)), begin)
        near = min(
            (KNeighborsRegressor(k).fit(train[:, :32], train[:, 32:]) for k in (5, 10, 20, 40)),
            key=lambda model: losses(model.predict(held[:, :32]), held[:, 32:])[0],
        )
        note("nearest neighbours", near.predict(test[:, :32]), begin)
        begin = time.process_time()
        best_C = min((0.01, 0.1, 1.0), key=lambda C: losses(logistic(train, held, C), held[:, 32:])[0])
        note("logistic regression a pixel", logistic(train, test, best_C), begin)
        print(seed, {name: values[-1] for name, values in found.items()}, flush=True)
    for name, values in found.items():
        nats, wrong, seconds = np.array(values).T
        ddof = 1 if len(values) > 1 else 0
        yield [name, with_deviation(nats, ddof=ddof), with_deviation(wrong, ddof=ddof), float(np.median(seconds))]


def logistic(train: np.ndarray, rows: np.ndarray, C: float) -> np.ndarray:
    result = np.empty((len(rows), 32))
    for column in range(32):
        target = train[:, 32 + column]
        if target.min() == target.max():
            result[:, column] = target[0]
        else:
            model = LogisticRegression(C=C, max_iter=300).fit(train[:, :32], target)
            result[:, column] = model.predict_proba(rows[:, :32])[:, 1]
    return result


def run(options: SimpleNamespace) -> Result:
    """Return accuracies on made pictures and losses of lower halves of digits, on one thread."""
    result = Result()
    with threadpool_limits(1):
        result.table("classes", {"view": None, "accuracy": "{:.3f}"}, list(classes(options)))
        columns = {
            "lower half from the upper one": None,
            "log loss": "{:.3f}",
            "wrong pixels, %": "{:.1f}",
            "s": "{:.1f}",
        }
        result.table("halves", columns, list(halves(options)))
    result.text("s: processor time of fits, choice and filling in, median over seeds. Mean ± standard deviation.")
    return result
