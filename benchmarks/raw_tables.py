"""Raw tables: predict a column of a data frame as it is, by the rule of MulTaBench.

Points of wines, income of adult, ratings of hotels, prices of bikewale, and rating classes and genres of netflix, where
genres are labels: a title has several. The rule of MulTaBench (arXiv 2605.10616): 10 % of the rows are test rows, at
most 10,000 of the others are training rows, and that five times. Here the fold is the seed of the split, and shares of
classes are kept. Harmonium gets the frame and nothing is set: ``fit(frame, target)``, ``save``,
``load(path).predict(new_frame)``. The rivals are those of ``rivals/frames.py``.

Every fit has a process of its own, so that its memory is not counted for another. Each is a line of
``raw_tables_folds.csv``, which is written as soon as it ends; ``--continued`` measures only what the file of the output
folder lacks. A fit of a rival, or of ours without a part, that takes more than ``limit`` processor seconds ends without
a score, and its method is not tried on further folds of the table.
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
from unittest import mock

import numpy as np
import pandas as pd
from sklearn.metrics import accuracy_score, f1_score, r2_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import MultiLabelBinarizer

import harmonium
from benchmarks.datasets import load_adult, load_bikewale, load_netflix
from benchmarks.features.contextual import contextual_features
from benchmarks.growth import memory
from benchmarks.internals import Measure, ngrams
from benchmarks.measuring import with_error
from benchmarks.registry import Benchmark
from benchmarks.results import Result, plain
from benchmarks.rivals.frames import FRAME_RIVALS, LABEL_RIVALS, predicted
from harmonium import HarmoniumClassifier, HarmoniumRegressor
from harmonium.datasets import load_hotels, load_wines
from harmonium.heads import EpsilonInsensitive, Hinge
from harmonium.hidden import BernoulliUnits, ComposedUnits

TARGETS = {
    "bikewale": "price",
    "adult": "income",
    "wines": "points",
    "hotels": "rating",
    "netflix": "rating",
    "netflix genres": "listed_in",
}
LABELS = {"netflix genres": ", "}  # what separates the labels of a row
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
    "netflix genres": load_netflix,
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


def without_measures(train: pd.DataFrame, target: str, seed: int) -> Any:
    """Fit with measures in texts as the categories, tags or words that they are otherwise."""
    with mock.patch.object(Measure, "suits", lambda column: False):
        return fitted(train, target, seed)


def without_log_target(train: pd.DataFrame, target: str, seed: int) -> Any:
    """Fit with targets on the user's scale."""
    return fitted(train, target, seed, head=EpsilonInsensitive(target_scale="linear"))


MODELS: dict[str, Callable[[pd.DataFrame, str, int], Any]] = {
    OURS: fitted,
    "harmonium, without characters": without_characters,
    "harmonium, without curves": without_curves,
    "harmonium, without measures": without_measures,
    "harmonium, without log target": without_log_target,
    "harmonium, one topic and one dimension": without_space,
}
METHODS = (OURS, *FRAME_RIVALS)


def left_out_of(data: str) -> tuple[str, ...]:
    """Return the models without a part, of those that it could matter for."""
    classes = is_class(LOADERS[data]()[TARGETS[data]])
    unfit = {"harmonium, without log target"} if classes else set()
    if data in LABELS:  # the head of labels has no settings of its own here
        unfit |= {"harmonium, without curves"}
    return tuple(name for name in MODELS if name != OURS and name not in unfit)


BENCHMARK = Benchmark(
    title="Raw tables: data frames as they are, by the rule of MulTaBench",
    claim="raw frames of five tables, six targets, against skrub, CatBoost, LightGBM, EBM and linear models",
    minutes=75,
    data=("bikewale", "adult", "wines", "hotels", "netflix"),
    settings={
        "sets": tuple(TARGETS),
        "folds": 5,
        "rows": TRAIN_ROWS,
        "methods": METHODS,
        "ablation": tuple(name for name in TARGETS if name not in LABELS),
        "ablation_folds": 1,
        "limit": 300,
        "continued": False,
    },
    quick={"sets": ("bikewale",), "folds": 1, "rows": 200, "methods": METHODS[:1] + METHODS[-1:], "ablation": ()},
)


def predicted_by_ours(
    name: str, train: pd.DataFrame, target: str, test: pd.DataFrame, fold: int, labels: MultiLabelBinarizer | None
) -> np.ndarray:
    """Return what a model predicts after it has been saved and loaded; of labels, in the order of others."""
    model = MODELS[name](train, target, fold)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.safetensors"
        model.save(path)
        loaded = harmonium.load(path)
        found = loaded.predict(test)
    if labels is None:
        return found
    return labels.transform([loaded.classes_[row > 0] for row in found])


# ---- measuring -------------------------------------------------------------------------------------------------------
def measured(data: str, fold: int, method: str, rows: int) -> list[Any]:
    """Return the line of one fit: its score on test rows, seconds of fit and prediction, and memory at most."""
    warnings.simplefilter("ignore")
    target = TARGETS[data]
    train, test = fold_of(LOADERS[data](), target, fold, rows)
    X, unseen, y, truth = train.drop(columns=target), test.drop(columns=target), train[target], test[target]
    classes, labels = is_class(y), None
    if data in LABELS:
        labels = MultiLabelBinarizer().fit([text.split(LABELS[data]) for text in y])
        y, truth = (labels.transform([text.split(LABELS[data]) for text in part]) for part in (y, truth))
    begin, processor = time.perf_counter(), time.process_time()
    if method in MODELS:
        found = predicted_by_ours(method, train, target, unseen, fold, labels)
    else:
        found = predicted(method, X, y, unseen, classes)
    times = [time.perf_counter() - begin, time.process_time() - processor]
    if labels is not None:
        name, score = "F1", f1_score(truth, found, average="micro")
    else:
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
    """Return all lines that were asked for, and keep each in the file as soon as it is there."""
    path = options.output / CSV
    kept = pd.read_csv(path) if options.continued and path.exists() else pd.DataFrame(columns=COLUMNS)
    there = set(kept[COLUMNS[:3]].itertuples(index=False, name=None))
    lines = kept.to_numpy().tolist()
    for fold in range(options.folds):
        for data in options.sets:
            left_out = left_out_of(data) if data in options.ablation and fold < options.ablation_folds else ()
            methods = [name for name in options.methods if name in (OURS, *LABEL_RIVALS) or data not in LABELS]
            for method in (*methods, *left_out):
                if (data, fold, method) in there or (data, method) in too_slow(lines):
                    continue
                lines.append(measured_within(options.limit, data, fold, method, options.rows))
                print(lines[-1], flush=True)
                pd.DataFrame(lines, columns=COLUMNS).to_csv(path, index=False)
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


def on_same_folds(lines: pd.DataFrame, methods: list[str]) -> pd.DataFrame:
    """Return the lines of some methods on the folds that each of them has."""
    lines = lines[lines["method"].isin(methods)]
    return lines[lines.groupby("fold")["method"].transform("nunique") == lines["method"].nunique()]


def ablation_table(lines: pd.DataFrame) -> list[list[Any]]:
    """Return a row for each model without a part, with the score and processor seconds of each set."""
    sets = lines["data"].unique()
    found = {data: on_same_folds(lines[lines["data"] == data], list(MODELS)) for data in sets}
    rows = []
    for method in MODELS:
        cells = []
        for data in sets:
            own = found[data][found[data]["method"] == method]
            score, seconds = own["score"].mean(), own["processor_seconds"].median()
            cells.append(f"{score:.4f} ({seconds:.0f} s)" if len(own) else "–")
        rows.append([method, *cells])
    return rows


def run(options: SimpleNamespace) -> Result:
    """Fit harmonium and its rivals on each fold of each table."""
    lines, result = measured_folds(options), Result()
    result.text(
        f"Score on test rows, mean ± standard error over folds; at most {options.rows:,} training rows, "
        f"{TEST_SHARE:.0%} test rows. Seconds are medians of fit and prediction, with the choice of settings on both "
        f"sides; memory is that of the whole process, with what it imports. Each fit is a line of `{CSV}`; rivals that "
        "took too many processor seconds have no score."
    )
    for data in options.sets:
        found = lines[lines["data"] == data]
        if found.empty:
            continue
        score = {"method": None, found["measure"].dropna().iloc[0]: "{:.4f}"}
        costs = {"s": "{:.0f}", "processor s": "{:.0f}", "peak MB": "{:.0f}", "folds": None}
        left_out = found["method"].isin(list(MODELS)[1:])
        result.heading(f"{data}: {TARGETS[data]}")
        result.table(data, score | costs, summed_up(found[~left_out]))
        if data == "bikewale":
            result.text(f"Published R² of price, on folds of their own ({PUBLISHED}):")
            result.table("bikewale_published", {"method": None, "R²": "{:.3f}"}, QUOTED.items())
    ours = lines[lines["method"].isin(list(MODELS))]
    ours = ours[ours.groupby("data")["method"].transform("nunique") > 1]
    if not ours.empty:
        result.heading("What parts are worth")
        result.text(
            "Scores with each part left out, on folds that all were measured on, and processor seconds of fit and "
            "prediction in brackets. There are no pairs of columns to leave out."
        )
        result.table("ablation", dict.fromkeys(["method", *ours["data"].unique()]), ablation_table(ours))
    return result
