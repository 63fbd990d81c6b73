"""EFH, MMH, iEFH and iMMH on two-view data: binary and real units, one view and both (Fig. 3-6 and 9-10).

Wikipedia keeps its own test rows, and each of 3 trials trains on a random 75 % of its training rows; BDGP has 3 random
stratified halves; for time its text alone is left out, and models with a head are fitted to both of its views, with
binary units. Latent spaces learned without labels have a linear SVM behind them whose C is chosen by 3-fold
cross-validation on training rows; MMH and iMMH have the usual C, choose epochs in `fit`, from training rows, and
predict by their units alone. Finite models have 50 units, infinite ones T=100. "Real" is GaussianUnits for finite
models. Variances of real-valued views are learned, as in the paper.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import f1_score
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

from benchmarks.datasets import load_bdgp, load_wikipedia
from benchmarks.measuring import with_error
from benchmarks.registry import Benchmark
from benchmarks.results import Result
from benchmarks.rivals.prepared import trivial
from harmonium import IBP, Bernoulli, Gaussian, Harmonium, HarmoniumClassifier, HarmoniumWarning, Hinge
from harmonium.heads.linear import USUAL_C
from harmonium.hidden import BernoulliUnits, GaussianUnits
from harmonium.report import UsageDisplay

BENCHMARK = Benchmark(
    title="Infinite harmoniums of two views",
    claim="EFH, MMH, iEFH, iMMH with binary and real units, one and both views, on Wikipedia and BDGP; α and C",
    minutes=12,
    data=("wikipedia", "bdgp"),
    settings={"wikipedia_trials": 3, "bdgp_trials": 3, "processes": 1},
)
CURVES, CURVE_TRIALS = "wikipedia", 2  # where settings are varied one at a time
UNITS, TRUNCATION = 50, 100
LOADERS = {"wikipedia": load_wikipedia, "bdgp": load_bdgp}
MODELS = ("EFH + SVM", "iEFH + SVM", "MMH", "iMMH")
ALPHAS, STRENGTHS = (0.5, 2.0, 20.0), (0.1, 0.4, 1.6)
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


def layer(infinite: bool, kind: str, **settings: Any) -> Any:
    if infinite:
        return IBP(truncation=TRUNCATION, kind=kind, **settings)
    return BernoulliUnits() if kind == "binary" else GaussianUnits()


def predicted(
    model: str,
    kind: str,
    name: str,
    train: Views,
    y: np.ndarray,
    test: Views,
    seed: int,
    C: float = USUAL_C,
    **prior: Any,
) -> tuple[np.ndarray, int]:
    """Classes of the test rows, and the number of units."""
    settings = {
        "views": families(name, train),
        "hidden": layer(model.startswith("i"), kind, **prior),
        "random_state": seed,
        "n_jobs": 1,
    }
    if model.endswith("MMH"):
        fitted = HarmoniumClassifier(UNITS, head=Hinge(C, linear_part=False), **settings).fit(train, y)
        return fitted.predict(test), fitted.n_components_
    latent = Harmonium(UNITS, **settings).fit(train)
    svm = GridSearchCV(
        make_pipeline(StandardScaler(), LinearSVC(dual=False)), {"linearsvc__C": [1e-3, 1e-2, 1e-1, 1.0]}, cv=3
    )
    return svm.fit(latent.transform(train), y).predict(latent.transform(test)), latent.n_components_


def trial_of(job: tuple[str, str, str, tuple[str, ...], int]) -> tuple[Any, list[float]]:
    """Accuracy, macro F1, units and seconds of one model on one trial."""
    name, model, kind, used, trial = job
    warnings.simplefilter("ignore", HarmoniumWarning)
    warnings.simplefilter("ignore", ConvergenceWarning)
    train, y, test, truth = split(name, trial)
    with threadpool_limits(1):
        begin = time.perf_counter()
        guess, units = predicted(model, kind, name, {v: train[v] for v in used}, y, {v: test[v] for v in used}, trial)
        seconds = time.perf_counter() - begin
    result = [*measures(truth, guess), units, seconds]
    print(job, [round(value, 3) for value in result], flush=True)
    return (name, model, kind, used), result


def measures(truth: np.ndarray, guess: np.ndarray) -> list[float]:
    """Return accuracy and macro F1."""
    return [float(np.mean(guess == truth)), float(f1_score(truth, guess, average="macro"))]


def without_looking(name: str, trial: int) -> list[float]:
    """Return what the most frequent class gives."""
    _, y, _, truth = split(name, trial)
    return [*measures(truth, trivial(y, len(truth), classes=True).predicted), 0, 0.0]


def sensitivity_of(job: tuple[str, str, float]) -> tuple[Any, list[float]]:
    """Accuracy and units of iMMH on both views with one setting changed, on two trials."""
    name, what, value = job
    warnings.simplefilter("ignore", HarmoniumWarning)
    results = []
    for trial in range(CURVE_TRIALS):
        train, y, test, truth = split(name, trial)
        C = value if what == "C" else USUAL_C
        prior = {"alpha": value} if what == "alpha" else {}
        with threadpool_limits(1):
            guess, units = predicted("iMMH", "binary", name, train, y, test, trial, C, **prior)
        results.append([float(np.mean(guess == truth)), units])
    print(job, results, flush=True)
    return job, np.mean(results, axis=0).tolist()


def combinations(name: str) -> Iterable[tuple[str, ...]]:
    views = tuple(LOADERS[name]().views)
    return [(view,) for view in views if (name, view) != ("bdgp", "text")] + [views]


def affordable(name: str, used: tuple[str, ...], kind: str, model: str) -> bool:
    """Return whether a model is fitted; those with a head take long on the 1,750 image features of BDGP."""
    return name != "bdgp" or not model.endswith("MMH") or (len(used) > 1 and kind == "binary")


def run(options: SimpleNamespace) -> Result:
    """Run all trials, then the curves of iMMH's settings."""
    trials = {"wikipedia": options.wikipedia_trials, "bdgp": options.bdgp_trials}
    os.environ["NUMBA_NUM_THREADS"] = "1"
    jobs = [
        (name, model, kind, used, trial)
        for name in LOADERS
        for used in combinations(name)
        for kind in ("binary", "real")
        for model in MODELS
        if affordable(name, used, kind, model)
        for trial in range(trials[name])
    ]
    curves = [(CURVES, what, value) for what, values in (("alpha", ALPHAS), ("C", STRENGTHS)) for value in values]
    results: dict[Any, list[list[float]]] = {
        (name, "most frequent class", "–", ()): [without_looking(name, trial) for trial in range(trials[name])]
        for name in LOADERS
    }
    with ProcessPoolExecutor(options.processes) as pool:
        for key, result in pool.map(trial_of, jobs):
            results.setdefault(key, []).append(result)
        sensitivity = dict(pool.map(sensitivity_of, curves))
    usage_pictures(options.output)
    return report(results, sensitivity)


def report(results: dict[Any, list[list[float]]], sensitivity: dict[Any, list[float]]) -> Result:
    """Return a table for each data set and for each setting of iMMH."""
    result = Result()
    columns = dict.fromkeys(["views", "units", "model", "accuracy", "macro F1", "units used", "seconds"])
    columns |= dict.fromkeys(["accuracy", "macro F1"], "{:.3f}")
    for name in LOADERS:
        rows = []
        for (of, model, kind, used), found in results.items():
            if of == name:
                accuracy, f1, units, seconds = (list(column) for column in zip(*found, strict=True))
                means = [float(np.mean(units)), float(np.mean(seconds))]
                rows.append([" + ".join(used) or "–", kind, model, with_error(accuracy), with_error(f1), *means])
        result.heading(name)
        result.table(name, columns, rows)
    result.heading(f"Settings of iMMH, {CURVES}, both views, mean of {CURVE_TRIALS} trials")
    for what, values, words in (
        ("alpha", ALPHAS, "α"),
        ("C", STRENGTHS, "C"),
    ):
        rows = [[value, *sensitivity[(CURVES, what, value)]] for value in values]
        result.table(what, {words: None, "accuracy": "{:.3f}", "units used": "{:.0f}"}, rows)
    for name in LOADERS:
        result.figure(f"infinite_usage_{name}.png", f"usage of units, {name}")
    return result


def usage_pictures(folder: Path) -> None:
    """Draw the average expectation of each unit, and its spread among classes, as in Fig. 5-6."""
    for name in LOADERS:
        train, y, _, _ = split(name, 0)
        model = HarmoniumClassifier(
            views=families(name, train),
            hidden=IBP(truncation=TRUNCATION),
            head=Hinge(linear_part=False),
            random_state=0,
        ).fit(train, y)
        display = UsageDisplay.from_estimator(model, train, y)
        display.figure_.savefig(folder / f"infinite_usage_{name}.png", dpi=120)
