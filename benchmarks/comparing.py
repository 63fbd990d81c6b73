"""Several methods on the same test rows: their measures side by side, and paired intervals of the differences."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.measuring import with_deviation
from benchmarks.rivals.prepared import Rival, Tuned, Views, trivial, tuned

Measure = Callable[[np.ndarray, np.ndarray], float]
SAMPLES = 1000  # of the bootstrap
CENTRAL = (0.025, 0.975)  # ends of its interval
DIFFERENCE = "− best rival (95 %)"  # name of the column
INTERVAL = "{difference:+.4f} ({low:+.4f} to {high:+.4f})"


def error(truth: np.ndarray, predicted: np.ndarray) -> float:
    """Return the share of rows whose class is wrong."""
    return float(np.mean(truth != predicted))


def macro_f1(truth: np.ndarray, predicted: np.ndarray) -> float:
    """Return the mean over the classes of the truth of their F1; classes are whole numbers from 0."""
    size = int(max(truth.max(), predicted.max())) + 1
    there, said = (np.bincount(one, minlength=size) for one in (truth, predicted))
    right = np.bincount(truth[truth == predicted], minlength=size)
    return float(np.mean((2 * right / np.maximum(there + said, 1))[there > 0]))


def r_squared(truth: np.ndarray, predicted: np.ndarray) -> float:
    """Return R²."""
    return float(1 - np.sum((truth - predicted) ** 2) / np.sum((truth - truth.mean()) ** 2))


def interval(statistic: Callable[[np.ndarray], float], n_rows: int, samples: int = SAMPLES) -> tuple[float, float]:
    """Return where 95 % of a statistic of resampled rows lie; it is given the places of the rows."""
    rng = np.random.default_rng(0)
    values = [statistic(rng.integers(0, n_rows, n_rows)) for _ in range(samples)]
    return float(np.quantile(values, CENTRAL[0])), float(np.quantile(values, CENTRAL[1]))


@dataclass
class Entry:
    """Predictions of one method, of one or more seeds."""

    name: str
    setting: str
    predictions: list[np.ndarray]
    seconds: float
    predicting: float
    is_rival: bool


class Comparison:
    """Methods in the order in which they were added, all for the same test rows.

    Parameters
    ----------
    truth : ndarray
        Of the test rows.
    measures : dict of str to function
        From truth and predictions to a number. Differences are of the first.
    lower_is_better : bool
        Whether the first measure is an error.
    """

    def __init__(self, truth: np.ndarray, measures: Mapping[str, Measure], lower_is_better: bool) -> None:
        self.truth, self.measures, self.lower_is_better = truth, measures, lower_is_better
        self.entries: list[Entry] = []

    @property
    def first(self) -> Measure:
        """The measure that methods are ordered by."""
        return next(iter(self.measures.values()))

    def add(
        self,
        name: str,
        setting: str,
        predictions: list[np.ndarray],
        seconds: float,
        predicting: float = 0.0,
        is_rival: bool = False,
    ) -> float:
        """Keep what a method predicts, with one or more seeds; return the mean of the first measure."""
        self.entries.append(Entry(name, setting, predictions, seconds, predicting, is_rival))
        reached = self.mean(self.entries[-1])
        print(f"{name}|{setting}|{reached:.4f}|{seconds:.1f} s", flush=True)
        return reached

    def add_tuned(self, name: str, found: Tuned) -> float:
        """Keep a rival that was tuned."""
        return self.add(name, found.setting, [found.predicted], found.seconds, found.predicting, is_rival=True)

    def add_rivals(
        self, rivals: Mapping[str, Rival], train: Views, y: np.ndarray, test: Views, classes: bool, suffix: str = ""
    ) -> None:
        """Tune and keep rivals, after what one predicts without looking; the suffix is put behind their names."""
        plain = trivial(y, len(self.truth), classes)
        self.add(("most frequent class" if classes else "mean") + suffix, plain.setting, [plain.predicted], 0.0)
        for name, rival in rivals.items():
            self.add_tuned(name + suffix, tuned(rival, train, y, test))

    def add_seeds(self, name: str, models: Iterable[Any], train: Any, y: np.ndarray, test: Any) -> list[Any]:
        """Fit a harmonium with several seeds, keep what it predicts, and return the models."""
        predictions, fitting, predicting, settings, fitted = [], [], [], [], []
        for model in models:
            begin = time.perf_counter()
            model.fit(train, y)
            fitting.append(time.perf_counter() - begin)
            begin = time.perf_counter()
            predictions.append(model.predict(test))
            predicting.append(time.perf_counter() - begin)
            settings.append(f"C {model.fitted_.C:.3g}, {model.n_iter_} epochs")
            fitted.append(model)
        setting = "; ".join(dict.fromkeys(settings))
        self.add(name, setting, predictions, float(np.median(fitting)), float(np.median(predicting)))
        return fitted

    def mean(self, entry: Entry) -> float:
        """Return the mean over seeds of the first measure."""
        return float(np.mean([self.first(self.truth, one) for one in entry.predictions]))

    def best_rival(self) -> Entry:
        """Return the rival that is best on the test rows."""
        rivals = [entry for entry in self.entries if entry.is_rival]
        return (min if self.lower_is_better else max)(rivals, key=self.mean)

    def named(self, name: str) -> Entry:
        """Return a method by name."""
        return next(entry for entry in self.entries if entry.name == name)

    def difference(self, entry: Entry, other: Entry) -> dict[str, float]:
        """Return the difference of two methods in the first measure, with its paired interval over test rows."""

        def statistic(rows: np.ndarray) -> float:
            means = [
                np.mean([self.first(self.truth[rows], one[rows]) for one in both.predictions])
                for both in (entry, other)
            ]
            return float(means[0] - means[1])

        low, high = interval(statistic, len(self.truth))
        return {"difference": self.mean(entry) - self.mean(other), "low": low, "high": high}

    def columns(self, formats: str = "{:.4f}") -> dict[str, str | None]:
        """Return the columns of the table."""
        measured = dict.fromkeys(self.measures, formats)
        return {
            "model": None,
            "chosen": None,
            **measured,
            DIFFERENCE: INTERVAL,
            "fit, s": "{:.3g}",
            "predict, s": "{:.3g}",
        }

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each method."""
        best = self.best_rival()
        found = []
        for entry in self.entries:
            row: dict[str, Any] = {"model": entry.name, "chosen": entry.setting}
            for name, measure in self.measures.items():
                values = [measure(self.truth, one) for one in entry.predictions]
                row[name] = with_deviation(values) if len(values) > 1 else values[0]
            row[DIFFERENCE] = None if entry is best else self.difference(entry, best)
            row |= {"fit, s": entry.seconds, "predict, s": entry.predicting}
            found.append(row)
        return found

    def verdict(self, name: str) -> str:
        """Return how a method stands to the best rival, in words."""
        entry, best = self.named(name), self.best_rival()
        ratio = self.mean(entry) / self.mean(best)
        return f"{name} has {ratio:.3f} of the {next(iter(self.measures))} of the best rival ({best.name})."
