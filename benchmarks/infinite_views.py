"""EFH, MMH, iEFH and iMMH on data of two views, with binary units (Fig. 3-6 of the paper).

Wikipedia keeps its own test rows, and each of 3 trials trains on a random 75 % of its training rows; BDGP has 3 random
stratified halves. Latent spaces learned without labels have a linear SVM behind them whose C is chosen by 3-fold
cross-validation on training rows; MMH and iMMH have the usual C, choose epochs in `fit`, from training rows, and
predict by their units alone. Finite models have 50 units, infinite ones T=100. Variances of real-valued views are
learned, as in the paper.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import f1_score
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from benchmarks.datasets import load_bdgp, load_wikipedia
from benchmarks.measuring import with_error
from benchmarks.registry import Benchmark
from benchmarks.results import Result
from benchmarks.rivals.prepared import trivial
from harmonium import IBP, Bernoulli, Gaussian, Harmonium, HarmoniumClassifier, HarmoniumWarning, Hinge
from harmonium.hidden import BernoulliUnits

LOADERS = {"wikipedia": load_wikipedia, "bdgp": load_bdgp}
BENCHMARK = Benchmark(
    title="Infinite harmoniums of two views",
    claim="EFH, MMH, iEFH and iMMH of both views, on Wikipedia and BDGP",
    minutes=4,
    data=tuple(LOADERS),
    settings={"sets": tuple(LOADERS), "trials": 3},
)
UNITS, TRUNCATION = 50, 100
TRIVIAL = "most frequent class"
MODELS = ("EFH + SVM", "iEFH + SVM", "MMH", "iMMH")
Views = dict[str, np.ndarray]


def families(name: str, views: Iterable[str]) -> dict[str, Any]:
    return {view: Bernoulli() if (name, view) == ("bdgp", "text") else Gaussian("learn") for view in views}


def split(name: str, trial: int) -> tuple[Views, np.ndarray, Views, np.ndarray]:
    loaded = LOADERS[name]()
    y = loaded.target
    if name == "wikipedia":
        train, test = np.flatnonzero(loaded.split == "train"), np.flatnonzero(loaded.split == "test")
        train, _ = train_test_split(train, train_size=0.75, random_state=trial, stratify=y[train])
    else:
        train, test = train_test_split(np.arange(len(y)), test_size=0.5, random_state=trial, stratify=y)
    part = [{view: values[rows] for view, values in loaded.views.items()} for rows in (train, test)]
    return part[0], y[train], part[1], y[test]


def predicted(model: str, name: str, train: Views, y: np.ndarray, test: Views, seed: int) -> tuple[np.ndarray, int]:
    """Return classes of the test rows, and the number of units."""
    settings: dict[str, Any] = {
        "views": families(name, train),
        "hidden": IBP(truncation=TRUNCATION) if model.startswith("i") else BernoulliUnits(),
        "random_state": seed,
    }
    if model.endswith("MMH"):
        fitted = HarmoniumClassifier(UNITS, head=Hinge(linear_part=False), **settings).fit(train, y)
        return fitted.predict(test), fitted.n_components_
    latent = Harmonium(UNITS, **settings).fit(train)
    svm = GridSearchCV(
        make_pipeline(StandardScaler(), LinearSVC(dual=False)), {"linearsvc__C": [1e-3, 1e-2, 1e-1, 1.0]}, cv=3
    )
    return svm.fit(latent.transform(train), y).predict(latent.transform(test)), latent.n_components_


def measured(name: str, model: str, trial: int) -> list[float]:
    """Return accuracy, macro F1, units and seconds of one model on one trial."""
    train, y, test, truth = split(name, trial)
    begin = time.perf_counter()
    if model == TRIVIAL:
        guess, units = trivial(y, len(truth), classes=True).predicted, 0
    else:
        guess, units = predicted(model, name, train, y, test, trial)
    accuracy, f1 = float(np.mean(guess == truth)), float(f1_score(truth, guess, average="macro"))
    return [accuracy, f1, units, time.perf_counter() - begin]


def run(options: SimpleNamespace) -> Result:
    """Return a table for each data set, of both views."""
    warnings.simplefilter("ignore", HarmoniumWarning)
    warnings.simplefilter("ignore", ConvergenceWarning)
    result = Result()
    columns = {"model": None, "accuracy": "{:.3f}", "macro F1": "{:.3f}", "units used": None, "seconds": None}
    for name in options.sets:
        rows = []
        for model in (TRIVIAL, *MODELS):
            found = [measured(name, model, trial) for trial in range(options.trials)]
            accuracy, f1, units, seconds = (list(column) for column in zip(*found, strict=True))
            rows.append([model, with_error(accuracy), with_error(f1), float(np.mean(units)), float(np.mean(seconds))])
            print(name, rows[-1], flush=True)
        result.heading(name)
        result.table(name, columns, rows)
    return result
