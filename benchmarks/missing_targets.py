"""Missing targets: all rows with those labels that are known, against dropping the rows whose label is not.

Labels of 10, 50 and 90 % of the training rows are removed at random: ratings of hotels and points of wines from counts
of words, classes of fruit-fly images (BDGP) from two views. `HarmoniumRegressor()` and `HarmoniumClassifier()` get all
rows, with NaN or -1 where a label is unknown; then the same models get the labelled rows alone; then a linear model of
the labelled rows, whose preparation, views and strength three-fold cross-validation chooses. All three see the same
labels of each draw and predict the same test rows. The trivial model predicts the mean or the most frequent class.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np

from benchmarks.comparing import error, r_squared
from benchmarks.datasets import load_bdgp
from benchmarks.features.words import few
from benchmarks.latent_space import Task
from benchmarks.measuring import with_deviation
from benchmarks.registry import Benchmark
from benchmarks.results import Result
from benchmarks.rivals.prepared import RIVALS, rows_of, trivial, tuned
from harmonium import HarmoniumClassifier, HarmoniumRegressor

SETS = ("hotels", "wines", "BDGP")
BENCHMARK = Benchmark(
    title="Missing targets",
    claim="10 to 90 % of the labels removed: all rows against labelled rows alone, and a tuned linear model of these",
    minutes=4,
    data=("hotels", "wines", "bdgp"),
    settings={"sets": SETS, "removed": (0.1, 0.5, 0.9), "seeds": 3, "words": 5000, "rows": 0},
    quick={"sets": ("BDGP",), "removed": (0.5,), "seeds": 2, "words": 300, "rows": 300},
)
ALL_ROWS, DROPPED, LINEAR, NOTHING = "all rows", "labelled rows alone", "linear model, tuned", "trivial model"


class Rows:
    """Views and targets of training and test rows."""

    def __init__(self, name: str, words: int, limit: int) -> None:
        self.classes = name == "BDGP"
        if not self.classes:
            task = Task(name, words, limit)
            self.views, self.y = {"words": task.counts}, task.y.astype(np.float64)
            self.unseen, self.truth = {"words": task.unseen}, task.truth
            return
        data = load_bdgp()
        order = np.random.default_rng(0).permutation(len(data.target))
        kept, new = (half[few(len(half), limit)] for half in np.array_split(order, 2))
        self.views, self.unseen = rows_of(data.views, kept), rows_of(data.views, new)
        self.y, self.truth = np.asarray(data.target)[kept], np.asarray(data.target)[new]

    def quality(self, predicted: np.ndarray) -> float:
        """Return accuracy, or R²."""
        return 1 - error(self.truth, predicted) if self.classes else r_squared(self.truth, predicted)

    def fitted(self, views: Mapping[str, Any], y: np.ndarray, seed: int) -> float:
        """Return the quality of a model with all defaults."""
        kind = HarmoniumClassifier if self.classes else HarmoniumRegressor
        return self.quality(kind(random_state=seed).fit(views, y).predict(self.unseen))

    def compared(self, removed: float, seed: int) -> dict[str, float]:
        """Return the quality of each way to treat rows whose label was removed."""
        known = np.sort(np.random.default_rng(seed).permutation(len(self.y))[round(removed * len(self.y)) :])
        y = np.full(len(self.y), -1 if self.classes else np.nan, dtype=self.y.dtype)
        y[known] = self.y[known]
        labelled = rows_of(self.views, known)
        rival = tuned(RIVALS["linear SVM" if self.classes else "ridge"], labelled, y[known], self.unseen)
        return {
            ALL_ROWS: self.fitted(self.views, y, seed),
            DROPPED: self.fitted(labelled, y[known], seed),
            LINEAR: self.quality(rival.predicted),
            NOTHING: self.quality(trivial(y[known], len(self.truth), self.classes).predicted),
        }


def run(options: SimpleNamespace) -> Result:
    """Remove labels of each set, some more each time."""
    warnings.simplefilter("ignore")
    lines: list[list[Any]] = []
    for name in options.sets:
        rows = Rows(name, options.words, options.rows)
        for removed in options.removed:
            found = [rows.compared(removed, seed) for seed in range(options.seeds)]
            n_known = len(rows.y) - round(removed * len(rows.y))
            cells = [with_deviation([one[way] for one in found]) for way in (ALL_ROWS, DROPPED, LINEAR, NOTHING)]
            gain = with_deviation([one[ALL_ROWS] - one[DROPPED] for one in found])
            lines.append([name, f"{removed:.0%}", n_known, *cells, gain])
            print(lines[-1], flush=True)
    result = Result()
    result.text(
        f"Accuracy (BDGP) or R² (hotels, wines) on test rows, means of {options.seeds} draws of the removed labels and "
        "seeds ± standard deviation. Gain is that of all rows over labelled rows alone, draw by draw."
    )
    columns = {"set": None, "removed": None, "labels": "{:,}"}
    columns |= dict.fromkeys((ALL_ROWS, DROPPED, LINEAR, NOTHING, "gain"), "{:.3f}")
    result.table("quality", columns, lines)
    return result
