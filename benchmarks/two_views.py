"""Classes from several views: all defaults, the max-margin harmonium and others against SVMs and multiset CCA.

Wikipedia keeps its own test rows, and each of 3 trials trains on a random 75 % of its training rows; the
multiple-features digits (mfeat) have 3 random stratified halves. Plain rivals choose views, scaling and strength
together by three-fold cross-validation on the training rows of a trial, `HarmoniumClassifier()` and `MMH` choose for
themselves, and the settings of the other latent spaces are chosen on one stratified 80/20 split of the training rows;
then a method is fitted to all of them: test rows are looked at once. MCCA sees columns standardised on training rows,
harmoniums the views as they are; MMH is the paper's model, without a linear part. Seconds include the choice of
settings.
"""

from __future__ import annotations

import itertools
import time
import warnings
from collections.abc import Callable, Iterable
from types import SimpleNamespace
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from benchmarks.datasets import load_mfeat, load_wikipedia
from benchmarks.features.words import few
from benchmarks.measuring import median, with_error
from benchmarks.registry import Benchmark
from benchmarks.results import Result
from benchmarks.rivals.prepared import RIVALS, rows_of, trivial, tuned
from harmonium import DWH, MMH, TWH, Gaussian, HarmoniumClassifier

LOADERS = {"wikipedia": load_wikipedia, "mfeat": load_mfeat}
BENCHMARK = Benchmark(
    title="Classes from several views",
    claim="all defaults and MMH against well-prepared SVMs and logistic regression, DWH, TWH and MCCA, on Wikipedia "
    "and mfeat",
    minutes=7,
    data=tuple(LOADERS),
    settings={"sets": tuple(LOADERS), "trials": 3, "rows": 0},
    quick={"sets": ("wikipedia",), "trials": 2, "rows": 200},
)
TRAINING_SHARE, HELD_OUT = 0.75, 0.2  # of Wikipedia's training rows; of the training rows of a trial
LINEAR_C = (1e-3, 1e-2, 1e-1, 1.0)
PLAIN = ("linear SVM", "logistic regression", "RBF SVM")
DEFAULTS = "`HarmoniumClassifier()`"
UNITS = 50
Views = dict[str, np.ndarray]
Data = tuple[Views, np.ndarray, Views, np.ndarray]  # views and classes of training rows, then of others
Encode = Callable[[Views], np.ndarray]
Found = tuple[float, float]  # accuracy, seconds


def linear(C: float) -> Any:
    return make_pipeline(StandardScaler(), LinearSVC(C=C, random_state=0))


# ---- latent spaces without labels: training views and settings -> encoder --------------------------------------------
def gaussian(views: Views) -> dict[str, Any]:
    """Return the family of all views: among those of mfeat are whole numbers, which are large."""
    return {name: Gaussian() for name in views}


def encode_dwh(views: Views) -> Encode:
    return DWH(UNITS, gaussian(views), random_state=0).fit(views).transform


def encode_mcca(views: Views, size: int, shrinkage: float) -> Encode:
    """Return scores of all views side by side; there are at most as many as the narrowest view has columns."""
    from cca_zoo.linear import MCCA

    scalers = {name: StandardScaler().fit(view) for name, view in views.items()}

    def scaled(X: Views) -> list[np.ndarray]:
        return [scalers[name].transform(view) for name, view in X.items()]

    size = min(size, *(view.shape[1] for view in views.values()))
    model = MCCA(size, shrinkage=shrinkage).fit(scaled(views))
    return lambda X: np.concatenate(model.transform(scaled(X)), axis=1)


# ---- methods ---------------------------------------------------------------------------------------------------------
def with_svm(encode: Callable[..., Encode], grid: Iterable[tuple[Any, ...]], data: Data) -> np.ndarray:
    """Predict by a linear SVM on a latent space, both with the settings that are best on held-out training rows."""
    views, y, test, _ = data
    rows, held = train_test_split(np.arange(len(y)), test_size=HELD_OUT, stratify=y, random_state=0)
    best, chosen = -1.0, ((), LINEAR_C[0])
    for settings in grid:
        encoder = encode(rows_of(views, rows), *settings)
        known, unseen = encoder(rows_of(views, rows)), encoder(rows_of(views, held))
        for C in LINEAR_C:
            score = linear(C).fit(known, y[rows]).score(unseen, y[held])
            if score > best:
                best, chosen = score, (settings, C)
    encoder = encode(views, *chosen[0])
    return linear(chosen[1]).fit(encoder(views), y).predict(encoder(test))


def of_model(make: Callable[..., Any]) -> Callable[[Data], np.ndarray]:
    """Return what a harmonium with a head predicts."""
    return lambda data: make(UNITS, gaussian(data[0]), random_state=0).fit(*data[:2]).predict(data[2])


def of_rival(name: str) -> Callable[[Data], np.ndarray]:
    """Return what a plain rival predicts."""
    return lambda data: tuned(RIVALS[name], *data[:3]).predicted


METHODS: dict[str, Callable[[Data], np.ndarray]] = {
    "most frequent class": lambda data: trivial(data[1], len(data[3]), classes=True).predicted,
    DEFAULTS: lambda data: HarmoniumClassifier(random_state=0).fit(*data[:2]).predict(data[2]),
    "MMH": of_model(MMH),
    "TWH": of_model(TWH),
    "DWH + linear SVM": lambda data: with_svm(encode_dwh, [()], data),
    "MCCA (cca-zoo) + linear SVM": lambda data: with_svm(encode_mcca, itertools.product((5, 10, 20), (0.1, 0.9)), data),
    **{name: of_rival(name) for name in PLAIN},
}


def rows_of_trial(data: Any, trial: int) -> tuple[np.ndarray, np.ndarray]:
    everything = np.arange(len(data.target))
    if data.split is None:
        return tuple(train_test_split(everything, test_size=0.5, stratify=data.target, random_state=trial))
    train = everything[data.split == "train"]
    train, _ = train_test_split(train, train_size=TRAINING_SHARE, stratify=data.target[train], random_state=trial)
    return train, everything[data.split == "test"]


def measured(data: Any, method: str, trial: int, limit: int) -> Found:
    """Return the accuracy and seconds of a method on a trial."""
    train, test = (rows[few(len(rows), limit)] for rows in rows_of_trial(data, trial))
    y, truth = data.target[train], data.target[test]
    begin = time.perf_counter()
    predicted = METHODS[method]((rows_of(data.views, train), y, rows_of(data.views, test), truth))
    return float(np.mean(predicted == truth)), time.perf_counter() - begin


def run(options: SimpleNamespace) -> Result:
    """Return a table for each data set, and how the defaults stand to the best plain rival, trial by trial."""
    warnings.simplefilter("ignore")
    result = Result()
    result.text(
        f"Mean accuracy and standard error of {options.trials} trials; medians of seconds. Wikipedia's trials share "
        "their test rows and most of their training rows, so its standard error speaks of the training rows alone."
    )
    for name in options.sets:
        data, accuracies, rows = LOADERS[name](), dict[str, list[float]](), []
        for method in METHODS:
            found = [measured(data, method, trial, options.rows) for trial in range(options.trials)]
            accuracies[method] = [accuracy for accuracy, _ in found]
            rows.append([method, with_error(accuracies[method]), median([seconds for _, seconds in found])])
            print(name, rows[-1], flush=True)
        result.heading(name)
        result.table(name, {"method": None, "accuracy": "{:.4f}", "s": "{:.2g}"}, rows)
        best = max(PLAIN, key=lambda method: float(np.mean(accuracies[method])))
        lead = with_error(np.subtract(accuracies[DEFAULTS], accuracies[best]).tolist())
        result.text(
            f"{DEFAULTS} against the best plain rival ({best}), trial by trial: {lead['mean']:+.4f}, standard error "
            f"{lead['spread']:.4f}."
        )
    return result
