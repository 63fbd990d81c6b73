"""Raw tables: predict a column of a data frame as it is, by the rule of MulTaBench.

Points of wines, income of adult, ratings of hotels, prices of bikewale, and rating classes of netflix. The rule of
MulTaBench (arXiv 2605.10616): 10 % of the rows are test rows, at most 10,000 of the others are training rows, and that
five times. Here the fold is the seed of the split, and shares of classes are kept; netflix, which takes minutes, has
one fold. Harmonium gets the frame and nothing is set: ``fit(frame, target)``, ``save``,
``load(path).predict(new_frame)``. The rivals are those of ``rivals/frames.py``.

Every fit has a process of its own, so that its memory is not counted for another. A rival that takes more than
``limit`` processor seconds ends without a score, and is not tried on further folds of the table; what an earlier run
stopped is not tried again.
"""

from __future__ import annotations

import multiprocessing
import resource
import tempfile
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import accuracy_score, r2_score
from sklearn.model_selection import train_test_split

import harmonium
from benchmarks.datasets import load_adult, load_bikewale, load_netflix
from benchmarks.features.contextual import contextual_features
from benchmarks.growth import memory
from benchmarks.measuring import with_error
from benchmarks.registry import Benchmark
from benchmarks.results import Result, plain
from benchmarks.rivals.frames import FRAME_RIVALS, predicted
from harmonium import HarmoniumClassifier, HarmoniumRegressor
from harmonium.datasets import load_hotels, load_wines

TARGETS = {"bikewale": "price", "adult": "income", "wines": "points", "hotels": "rating", "netflix": "rating"}
OURS = "harmonium, all defaults"
METHODS = (OURS, *FRAME_RIVALS)
TRAIN_ROWS, TEST_SHARE = 10_000, 0.1  # of MulTaBench
LEAST_ROWS = 10  # of a class; netflix has a few classes that are slips
PUBLISHED = "MulTaBench, arXiv 2605.10616"  # R² of bikewale
STOPPED = {(data, "CatBoost, texts and categories"): 120.0 for data in ("wines", "hotels", "netflix")}  # seconds
QUOTED = {"CatBoost, tf-idf": 0.571, "LightGBM, tf-idf": 0.570, "TabPFN-2.5, tf-idf": 0.619, "best of all": 0.671}
COLUMNS = ["data", "fold", "method", "measure", "score", "seconds", "processor_seconds", "peak_mb"]

BENCHMARK = Benchmark(
    title="Raw tables: data frames as they are, by the rule of MulTaBench",
    claim="raw frames of five tables against skrub, CatBoost, LightGBM and linear models",
    minutes=23,
    data=tuple(TARGETS),
    settings={
        "sets": tuple(TARGETS),
        "folds": 5,
        "once": ("netflix",),
        "rows": TRAIN_ROWS,
        "methods": METHODS,
        "limit": 300,
    },
    quick={"sets": ("bikewale",), "folds": 1, "rows": 200, "methods": METHODS[:1] + METHODS[-1:]},
)


# ---- data ------------------------------------------------------------------------------------------------------------
def hotels() -> pd.DataFrame:
    """Return the text of each review, and contextual numbers."""
    loaded = load_hotels()
    texts = loaded.views["text"]
    values, names = contextual_features(texts)
    return pd.DataFrame(values, columns=names).assign(text=texts, rating=loaded.target)


def netflix() -> pd.DataFrame:
    """Return titles whose rating is known and not one of the rarest."""
    table = load_netflix()
    return table[table["rating"].map(table["rating"].value_counts()) >= LEAST_ROWS]


LOADERS: dict[str, Callable[[], pd.DataFrame]] = {
    "bikewale": load_bikewale,
    "adult": load_adult,
    "wines": load_wines,
    "hotels": hotels,
    "netflix": netflix,
}


def fold_of(table: pd.DataFrame, target: str, fold: int, rows: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return training and test rows of a fold in random order, at most ``rows`` of each."""
    classes = is_class(table[target]) and table[target].value_counts().min() > 1
    stratify = table[target] if classes else None
    train, test = train_test_split(table, test_size=TEST_SHARE, random_state=fold, stratify=stratify)
    return train.iloc[:rows], test.iloc[:rows]


def is_class(y: pd.Series) -> bool:
    """Return whether a column holds classes."""
    return y.dtype.kind not in "iuf"


# ---- measuring -------------------------------------------------------------------------------------------------------
def predicted_by_ours(train: pd.DataFrame, target: str, test: pd.DataFrame, fold: int) -> np.ndarray:
    """Return what a model predicts after it has been saved and loaded."""
    kind = HarmoniumClassifier if is_class(train[target]) else HarmoniumRegressor
    model = kind(random_state=fold).fit(train, target)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.safetensors"
        model.save(path)
        return harmonium.load(path).predict(test)


def measured(data: str, fold: int, method: str, rows: int) -> list[Any]:
    """Return the line of one fit: its score on test rows, seconds of fit and prediction, and memory at most."""
    warnings.simplefilter("ignore")
    target = TARGETS[data]
    train, test = fold_of(LOADERS[data](), target, fold, rows)
    unseen, y, truth = test.drop(columns=target), train[target], test[target]
    classes = is_class(y)
    begin, processor = time.perf_counter(), time.process_time()
    if method == OURS:
        found = predicted_by_ours(train, target, unseen, fold)
    else:
        found = predicted(method, train.drop(columns=target), y, unseen, classes)
    times = [time.perf_counter() - begin, time.process_time() - processor]
    name, score = ("accuracy", accuracy_score(truth, found)) if classes else ("R²", r2_score(truth, found))
    return plain([data, fold, method, name, score, *times, memory("VmHWM")])


def measured_within(limit: int, data: str, fold: int, method: str, rows: int) -> list[Any]:
    """Return the line of a fit in a process of its own; without a score if it takes too many processor seconds."""
    spawn, before = multiprocessing.get_context("spawn"), seconds_of_children()
    most = resource.RLIM_INFINITY if method == OURS else limit
    try:
        with ProcessPoolExecutor(1, spawn, resource.setrlimit, (resource.RLIMIT_CPU, (most, most))) as process:
            return process.submit(measured, data, fold, method, rows).result()
    except BrokenProcessPool:
        if method == OURS or seconds_of_children() - before < limit:  # it ended for another reason
            raise
        return [data, fold, method, None, None, None, float(limit), None]


def seconds_of_children() -> float:
    """Return the processor seconds of all processes that were started from here and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def too_slow(lines: list[list[Any]]) -> set[tuple[str, str]]:
    """Return the tables and methods of fits that ended without a score."""
    return {(data, method) for data, _, method, _, score, *_ in lines if pd.isna(score)}


def measured_folds(options: SimpleNamespace) -> pd.DataFrame:
    """Return a line for each fit."""
    lines: list[list[Any]] = []
    for data in options.sets:
        for fold in range(1 if data in options.once else options.folds):
            for method in options.methods:
                if (data, method) in too_slow(lines):
                    continue
                if (data, method) in STOPPED:
                    lines.append([data, fold, method, None, None, None, STOPPED[data, method], None])
                else:
                    lines.append(measured_within(options.limit, data, fold, method, options.rows))
                print(lines[-1], flush=True)
    return pd.DataFrame(lines, columns=COLUMNS)


# ---- telling ---------------------------------------------------------------------------------------------------------
def summed_up(lines: pd.DataFrame) -> list[list[Any]]:
    """Return a row for each method: score with its standard error, medians of times, largest memory, folds."""
    rows = []
    for method, found in lines.groupby("method", sort=False):
        if found["score"].isna().any():
            rows.append([method, "too slow", None, f"over {found['processor_seconds'].max():.0f}", None, 0])
            continue
        score = with_error(found["score"].tolist()) if len(found) > 1 else float(found["score"].iloc[0])
        times = [float(found[name].median()) for name in ("seconds", "processor_seconds")]
        rows.append([method, score, *times, float(found["peak_mb"].max()), len(found)])
    return rows


def run(options: SimpleNamespace) -> Result:
    """Fit harmonium and its rivals on each fold of each table."""
    lines, result = measured_folds(options), Result()
    result.text(
        f"Score on test rows, mean ± standard error over folds; at most {options.rows:,} training rows, "
        f"{TEST_SHARE:.0%} test rows. Seconds are medians of fit and prediction, with the choice of settings on both "
        f"sides; memory is that of the whole process, with what it imports. Rivals that took more than "
        f"{options.limit} processor seconds, or were stopped in an earlier run, have no score."
    )
    for data in options.sets:
        found = lines[lines["data"] == data]
        score = {"method": None, found["measure"].dropna().iloc[0]: "{:.4f}"}
        costs = {"s": "{:.0f}", "processor s": "{:.0f}", "peak MB": "{:.0f}", "folds": None}
        result.heading(f"{data}: {TARGETS[data]}")
        result.table(data, score | costs, summed_up(found))
        if data == "bikewale":
            result.text(f"Published R² of price, on folds of their own ({PUBLISHED}):")
            result.table("bikewale_published", {"method": None, "R²": "{:.3f}"}, QUOTED.items())
    return result
