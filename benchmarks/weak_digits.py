"""Planted windows: digits on cluttered canvases, position unknown, by latent SVMs and the dissimilarity coefficient.

A digit of scikit-learn's set (8 x 8 pixels) lies at one of 25 places of a 24 x 24 canvas; six fragments (5 x 5 pixels)
of other digits and noise are the clutter. Each canvas gives 25 windows; the learners only know that one of them shows
a digit of the label. Label and window are predicted for new canvases of new digits. C is chosen for each method, loss
and seed by the label error of a quarter of the training canvases, without looking at windows; all methods begin
with the same windows. Losses are those of the test canvases, in per cent, as mean ± standard deviation over seeds.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy.stats import ttest_rel
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from threadpoolctl import threadpool_limits

from benchmarks.internals import speaking_candidates
from benchmarks.measuring import with_deviation
from benchmarks.registry import Benchmark
from benchmarks.results import Result
from benchmarks.rivals.mi_svm import MISVM
from harmonium.weak import Bags, DissimilarityClassifier, IterativeLatentSVM, LatentSVM, Loss, OverlapLoss, ZeroOneLoss

BENCHMARK = Benchmark(
    title="Planted windows",
    claim="digits hidden in clutter: label and place by latent SVMs, the dissimilarity coefficient and MI-SVM",
    minutes=2,
    settings={"seeds": 10, "train": 300, "test": 700},
)
# 10 was chosen in one of 140 cases of a former run, and is the slowest
C_GRID = (0.01, 0.1, 1.0)
PLACES = np.array([(row, column) for row in range(0, 17, 4) for column in range(0, 17, 4)])
N_FRAGMENTS, FRAGMENT = 6, 5
KINDS: dict[str, Any] = {
    "latent SVM": LatentSVM,
    "iterative latent SVM": IterativeLatentSVM,
    "dissimilarity": DissimilarityClassifier,
}
LOSSES: dict[str, Loss] = {"0/1": ZeroOneLoss(), "overlap": OverlapLoss()}
Predict = Callable[[Bags], tuple[np.ndarray, np.ndarray]]
Found = dict[tuple[str, str], list[dict[str, float]]]  # by method and loss: seeds


def canvases(n_samples: int, seed: int) -> tuple[Bags, np.ndarray, np.ndarray]:
    """Windows of canvases, labels, and the window that shows the digit."""
    rng = np.random.default_rng(seed)
    digits = load_digits()
    images = digits.images / 16
    chosen = rng.choice(len(images), n_samples, replace=False)
    truth = rng.integers(len(PLACES), size=n_samples)
    features = np.empty((n_samples, len(PLACES), 65), dtype=np.float32)
    for number, (digit, place) in enumerate(zip(chosen, truth, strict=True)):
        canvas = np.zeros((24, 24))
        for _ in range(N_FRAGMENTS):
            r0, c0 = rng.integers(0, 9 - FRAGMENT, 2)
            row, column = rng.integers(0, 25 - FRAGMENT, 2)
            fragment = images[rng.integers(len(images))][r0 : r0 + FRAGMENT, c0 : c0 + FRAGMENT]
            part = canvas[row : row + FRAGMENT, column : column + FRAGMENT]
            np.maximum(part, fragment, out=part)
        row, column = PLACES[place]
        canvas[row : row + 8, column : column + 8] = images[digit]
        canvas = np.clip(canvas + rng.normal(0, 0.1, canvas.shape), 0, 1)
        windows = np.lib.stride_tricks.sliding_window_view(canvas, (8, 8))[PLACES[:, 0], PLACES[:, 1]]
        features[number] = np.hstack([4 * windows.reshape(len(PLACES), -1), np.ones((len(PLACES), 1))])
    boxes = np.hstack([PLACES, PLACES + 8])
    return Bags.from_list(list(features), [boxes] * n_samples), digits.target[chosen], truth


def fit(name: str, loss: Loss, C: float, bags: Bags, y: np.ndarray) -> Predict:
    start = speaking_candidates(bags.features, y, bags.offsets, 10)
    if name == "MI-SVM":
        return MISVM(C).fit(bags, y, start).predict_latent
    settings = {"C": C, "loss": loss, "initial": start, "n_jobs": 1, "random_state": 0}
    return KINDS[name](**settings).fit(bags, y).predict_latent


def choose(name: str, loss: Loss, bags: Bags, y: np.ndarray) -> float:
    """C by the label error of a quarter of the training canvases."""
    train, held = train_test_split(np.arange(len(y)), test_size=0.25, stratify=y, random_state=0)
    errors = [(fit(name, loss, C, bags[train], y[train])(bags[held])[0] != y[held]).mean() for C in C_GRID]
    return C_GRID[int(np.argmin(errors))]


def measure(predict: Predict, bags: Bags, y: np.ndarray, truth: np.ndarray) -> dict[str, float]:
    labels, windows = predict(bags)
    wrong = labels != y
    shift = np.abs(PLACES[windows] - PLACES[truth])
    inner = np.maximum(8 - shift, 0).prod(axis=1)
    overlap = inner / (128 - inner)
    return {
        "0/1": 100 * float((wrong | (windows != truth)).mean()),
        "overlap": 100 * float(np.where(wrong, 1, 1 - overlap).mean()),
        "label": 100 * float(wrong.mean()),
        "window": 100 * float((windows != truth).mean()),
    }


def run(options: SimpleNamespace) -> Result:
    """Train and test every method for every loss on one thread."""
    with threadpool_limits(1):
        return report(measured(options))


def measured(options: SimpleNamespace) -> Found:
    """Return the losses of every seed by method and loss."""
    found: Found = {}
    for seed in range(options.seeds):
        bags, y, truth = canvases(options.train + options.test, seed)
        train, test = np.arange(options.train), np.arange(options.train, options.train + options.test)
        for name in ["MI-SVM", *KINDS]:
            for loss_name, loss in LOSSES.items():
                if name == "MI-SVM" and loss_name == "overlap":
                    continue
                C = choose(name, loss, bags[train], y[train])
                begin = time.perf_counter()
                predict = fit(name, loss, C, bags[train], y[train])
                seconds = time.perf_counter() - begin
                result = measure(predict, bags[test], y[test], truth[test]) | {"C": C, "seconds": seconds}
                found.setdefault((name, loss_name), []).append(result)
                print(seed, name, loss_name, result, flush=True)
    return found


def report(found: Found) -> Result:
    """Return the losses of the test canvases."""

    def values(key: tuple[str, str], measured: str) -> np.ndarray:
        return np.array([result[measured] for result in found[key]])

    rows = []
    for key, results in found.items():
        name, loss_name = key
        ours, theirs = values(("dissimilarity", loss_name), loss_name), values(key, loss_name)
        rows.append(
            [
                name,
                "–" if name == "MI-SVM" else loss_name,
                *(with_deviation(values(key, what), ddof=1) for what in ("0/1", "overlap", "label", "window")),
                "–" if name == "dissimilarity" else float(ttest_rel(ours, theirs).pvalue),
                [result["C"] for result in results],
                float(np.median([result["seconds"] for result in results])),
            ]
        )
    losses = ["0/1 loss", "overlap loss", "wrong label", "wrong window"]
    columns = {"method": None, "trained for": None, **dict.fromkeys(losses, "{:.1f}"), "p": "{:.2g}"}
    result = Result()
    result.table("losses", {**columns, "C chosen": None, "s": None}, rows)
    result.text(
        "p: paired t-test over seeds of the loss trained for, against the dissimilarity method trained for the same "
        "loss (MI-SVM: 0/1). s: seconds of the last fit, one thread, median."
    )
    return result
