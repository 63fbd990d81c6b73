"""Raw tables: predict a column of a data frame as it is, by the rule of MulTaBench.

Points of wines, income of adult, ratings of hotels, prices of bikewale and rating classes of netflix. The rule of
MulTaBench (arXiv 2605.10616): 10 % of the rows are test rows, at most 10,000 of the others are training rows, and that
five times. Here the fold is the seed of the split, and shares of classes are kept. Harmonium gets the frame and nothing
is set: ``fit(frame, target)``, ``save``, ``load(path).predict(new_frame)``. The rivals are those of
``rivals/frames.py``.

Every fit has a process of its own, so that its memory is not counted for another. Each is a line of
``raw_tables_folds.csv``, which is written as soon as it ends; ``--continued`` measures only what the file of the output
folder lacks.
"""

from __future__ import annotations

import multiprocessing
import tempfile
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd
from sklearn.metrics import accuracy_score, r2_score
from sklearn.model_selection import train_test_split

import harmonium
from benchmarks.datasets import load_adult, load_bikewale, load_netflix
from benchmarks.features.contextual import contextual_features
from benchmarks.growth import memory
from benchmarks.internals import ngrams
from benchmarks.measuring import with_error
from benchmarks.registry import Benchmark
from benchmarks.results import Result, plain
from benchmarks.rivals.frames import FRAME_RIVALS, predicted
from harmonium import HarmoniumClassifier, HarmoniumRegressor
from harmonium.datasets import load_hotels, load_wines
from harmonium.heads import EpsilonInsensitive, Hinge
from harmonium.hidden import BernoulliUnits, ComposedUnits

TARGETS = {"bikewale": "price", "adult": "income", "wines": "points", "hotels": "rating", "netflix": "rating"}
OURS = "harmonium, all defaults"
TRAIN_ROWS, TEST_SHARE = 10_000, 0.1  # of MulTaBench
LEAST_ROWS = 10  # of a class; netflix has a few classes that are slips
PUBLISHED = "MulTaBench, arXiv 2605.10616"  # R² of bikewale
QUOTED = {"CatBoost, tf-idf": 0.571, "LightGBM, tf-idf": 0.570, "TabPFN-2.5, tf-idf": 0.619, "best of all": 0.671}
CSV = "raw_tables_folds.csv"
COLUMNS = ["data", "fold", "method", "measure", "score", "seconds", "processor_seconds", "peak_mb"]


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
    stratify = table[target] if is_class(table[target]) else None
    train, test = train_test_split(table, test_size=TEST_SHARE, random_state=fold, stratify=stratify)
    return train.iloc[:rows], test.iloc[:rows]


def is_class(y: pd.Series) -> bool:
    """Return whether a column holds classes."""
    return y.dtype.kind not in "iuf"


# ---- ours ------------------------------------------------------------------------------------------------------------
def fitted(train: pd.DataFrame, target: str, seed: int, **given: Any) -> Any:
    """Return a fitted model of the kind that the target asks for."""
    kind = HarmoniumClassifier if is_class(train[target]) else HarmoniumRegressor
    return kind(random_state=seed, **given).fit(train, target)


def without_characters(train: pd.DataFrame, target: str, seed: int) -> Any:
    """Fit without character n-grams."""
    with mock.patch.object(ngrams, "_MAX_FEATURES", 0):
        return fitted(train, target, seed)


def without_curves(train: pd.DataFrame, target: str, seed: int) -> Any:
    """Fit with a linear part that stays linear."""
    head = Hinge if is_class(train[target]) else EpsilonInsensitive
    return fitted(train, target, seed, head=head(linear_part="linear"))


def without_space(train: pd.DataFrame, target: str, seed: int) -> Any:
    """Fit with one topic and one dimension: hardly more than the linear part and its curves."""
    return fitted(train, target, seed, hidden=ComposedUnits(BernoulliUnits(1), BernoulliUnits(1)))


MODELS: dict[str, Callable[[pd.DataFrame, str, int], Any]] = {
    OURS: fitted,
    "harmonium, without characters": without_characters,
    "harmonium, without curves": without_curves,
    "harmonium, one topic and one dimension": without_space,
}
METHODS = (OURS, *FRAME_RIVALS)
BENCHMARK = Benchmark(
    title="Raw tables: data frames as they are, by the rule of MulTaBench",
    claim="raw frames of bikewale, adult, wines, hotels, netflix against skrub, CatBoost, LightGBM and linear models",
    minutes=180,
    data=tuple(TARGETS),
    settings={
        "sets": tuple(TARGETS),
        "folds": 5,
        "rows": TRAIN_ROWS,
        "methods": METHODS,
        "ablation": ("bikewale", "adult"),
        "continued": False,
    },
    quick={"sets": ("bikewale",), "folds": 1, "rows": 200, "methods": METHODS[:1] + METHODS[-1:], "ablation": ()},
)


def predicted_by_ours(name: str, train: pd.DataFrame, target: str, test: pd.DataFrame, fold: int) -> np.ndarray:
    """Return what a model predicts after it has been saved and loaded."""
    model = MODELS[name](train, target, fold)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.safetensors"
        model.save(path)
        return harmonium.load(path).predict(test)


# ---- measuring -------------------------------------------------------------------------------------------------------
def measured(data: str, fold: int, method: str, rows: int) -> list[Any]:
    """Return the line of one fit: its score on test rows, seconds of fit and prediction, and memory at most."""
    warnings.simplefilter("ignore")
    target = TARGETS[data]
    train, test = fold_of(LOADERS[data](), target, fold, rows)
    X, y, unseen, truth = train.drop(columns=target), train[target], test.drop(columns=target), test[target]
    classes = is_class(y)
    begin, processor = time.perf_counter(), time.process_time()
    if method in MODELS:
        found = predicted_by_ours(method, train, target, unseen, fold)
    else:
        found = predicted(method, X, y, unseen, classes)
    times = [time.perf_counter() - begin, time.process_time() - processor]
    measure = accuracy_score if classes else r2_score
    line = [data, fold, method, "accuracy" if classes else "R²", measure(truth, found), *times, memory("VmHWM")]
    return plain(line)


def measured_folds(options: SimpleNamespace) -> pd.DataFrame:
    """Return all lines that were asked for, and keep each in the file as soon as it is there."""
    path = options.output / CSV
    kept = pd.read_csv(path) if options.continued and path.exists() else pd.DataFrame(columns=COLUMNS)
    there = set(kept[COLUMNS[:3]].itertuples(index=False, name=None))
    lines = kept.to_numpy().tolist()
    for fold in range(options.folds):
        for data in options.sets:
            left_out = tuple(MODELS)[1:] if data in options.ablation else ()
            for method in (*options.methods, *left_out):
                if (data, fold, method) in there:
                    continue
                with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as process:
                    lines.append(process.submit(measured, data, fold, method, options.rows).result())
                print(lines[-1], flush=True)
                pd.DataFrame(lines, columns=COLUMNS).to_csv(path, index=False)
    return pd.DataFrame(lines, columns=COLUMNS)


# ---- telling ---------------------------------------------------------------------------------------------------------
def summed_up(lines: pd.DataFrame) -> list[list[Any]]:
    """Return a row for each method: score with its standard error, medians of times, largest memory, folds."""
    rows = []
    for method, found in lines.groupby("method", sort=False):
        score = with_error(found["score"].tolist()) if len(found) > 1 else float(found["score"].iloc[0])
        times = [float(found[name].median()) for name in ("seconds", "processor_seconds")]
        rows.append([method, score, *times, float(found["peak_mb"].max()), len(found)])
    return rows


def on_same_folds(lines: pd.DataFrame, methods: list[str]) -> pd.DataFrame:
    """Return the lines of some methods on the folds that each of them has."""
    lines = lines[lines["method"].isin(methods)]
    return lines[lines.groupby("fold")["method"].transform("nunique") == lines["method"].nunique()]


def run(options: SimpleNamespace) -> Result:
    """Fit harmonium and its rivals on each fold of each table."""
    lines, result = measured_folds(options), Result()
    result.text(
        f"Score on test rows, mean ± standard error over folds; at most {options.rows:,} training rows, "
        f"{TEST_SHARE:.0%} test rows. Seconds are medians of fit and prediction, with the choice of settings on both "
        f"sides; memory is that of the whole process, with what it imports. Each fit is a line of `{CSV}`."
    )
    for data in options.sets:
        found = lines[lines["data"] == data]
        if found.empty:
            continue
        score = {"method": None, found["measure"].iloc[0]: "{:.4f}"}
        costs = {"s": "{:.0f}", "processor s": "{:.0f}", "peak MB": "{:.0f}", "folds": None}
        left_out = found["method"].isin(list(MODELS)[1:])
        result.heading(f"{data}: {TARGETS[data]}")
        result.table(data, score | costs, summed_up(found[~left_out]))
        if data == "bikewale":
            result.text(f"Published R² of price, on folds of their own ({PUBLISHED}):")
            result.table("bikewale_published", {"method": None, "R²": "{:.3f}"}, QUOTED.items())
        if left_out.any():
            result.text(f"What parts are worth on {data}, by leaving them out, on folds that all were measured on:")
            result.table(f"{data}_ablation", score | costs, summed_up(on_same_folds(found, list(MODELS))))
    return result
