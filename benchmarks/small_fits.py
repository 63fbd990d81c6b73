"""Small sets: seconds and errors of a default fit, beside a linear model that is tuned on the same rows.

600 messages of 20 Newsgroups, 2,000 reviews of hotels, 300 wines as a raw table and 1,557 news stories of the ten
largest topics of Reuters, each spread over the training rows of its set, and the set's own test rows (wines: the first
300 and the last 1,000 of a random 70 %). Rivals choose how words and numbers are prepared, their views and their
strength by three-fold cross-validation; seconds include the choice on both sides, and for wines ours alone include
reading the table. Kernels are compiled before.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.impute import SimpleImputer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, RobustScaler

from benchmarks.comparing import error, r_squared
from benchmarks.features.words import few, newsgroups, reuters, word_counts
from benchmarks.measuring import median, with_deviation
from benchmarks.registry import Benchmark
from benchmarks.results import Result
from benchmarks.rivals.prepared import RIVALS, tuned
from harmonium import EpsilonInsensitive, HarmoniumClassifier, HarmoniumRegressor, Hinge, Stochastic
from harmonium.datasets import load_hotels, load_wines

SETS = ("600 messages", "2,000 reviews", "300 wines", "1,557 news stories")
BENCHMARK = Benchmark(
    title="Small sets: seconds and errors of a default fit",
    claim="default fits of 300 to 2,000 rows against tuned linear models: seconds and errors",
    minutes=3,
    data=("newsgroups", "hotels", "wines", "reuters21578"),
    settings={"sets": SETS, "words": 5000, "seeds": 2, "shrink": 1},
    quick={"sets": ("2,000 reviews",), "words": 100, "seeds": 1, "shrink": 20},
)
RIVAL_OF = {True: "linear SVM", False: "ridge"}  # of classes, of numbers


@dataclass(frozen=True)
class Task:
    """What ours and the rivals are given, and the answers."""

    train: Any
    test: Any
    views: dict[str, Any]
    unseen: dict[str, Any]
    y: np.ndarray
    truth: np.ndarray
    classes: bool


# ---- data ------------------------------------------------------------------------------------------------------------
def of_words(train: Any, y: np.ndarray, test: Any, truth: np.ndarray, words: int, classes: bool) -> Task:
    """Counts of words for all; rivals choose what to make of them."""
    counts, unseen, _ = word_counts(train, test, words)
    views, new = {"words": counts}, {"words": unseen}
    return Task(views, new, views, new, y, truth, classes)


def messages(words: int, shrink: int) -> Task:
    texts = newsgroups()
    rows = few(len(texts.y), 600 // shrink)
    return of_words(texts.train[rows], texts.y[rows], texts.test, texts.truth, words, classes=True)


def reviews(words: int, shrink: int) -> Task:
    (train, y), (test, truth) = load_hotels().train(), load_hotels().test()
    rows = few(len(y), 2000 // shrink)
    return of_words(
        np.asarray(train["text"])[rows], np.asarray(y)[rows], test["text"], np.asarray(truth), words, classes=False
    )


def table(words: int, shrink: int) -> Task:
    """Wines as a raw table for ours, and as views for rivals."""
    frame, _ = train_test_split(load_wines(), test_size=0.3, random_state=0)
    parts = frame.iloc[: 300 // shrink], frame.iloc[-1000:]
    y, truth = (part["points"].to_numpy() for part in parts)
    train, test = (part.drop(columns="points") for part in parts)
    return Task(train, test, *views_by_hand(train, test), y, truth, classes=False)


def views_by_hand(train: pd.DataFrame, test: pd.DataFrame) -> list[dict[str, Any]]:
    """Return views of wines as a practitioner makes them: words of each text, categories, and numbers."""
    numbers = make_column_transformer(
        (make_pipeline(SimpleImputer(), FunctionTransformer(np.log)), ["price"]),
        # one year is out by centuries
        (make_pipeline(SimpleImputer(strategy="median"), RobustScaler(), FunctionTransformer(_clipped)), ["year"]),
        (make_pipeline(FunctionTransformer(_percent), SimpleImputer()), ["alcohol"]),
    )
    texts = ("title", "excerpt", "description")
    makers: dict[str, tuple[Any, Any]] = {name: (CountVectorizer(min_df=2), name) for name in texts}
    makers["numbers"] = numbers, list(train.columns)
    makers["categories"] = OneHotEncoder(handle_unknown="ignore"), ["varietal", "location"]
    found: list[dict[str, Any]] = [{}, {}]
    frames = [frame.fillna(dict.fromkeys(texts, "")) for frame in (train, test)]
    for name, (maker, columns) in makers.items():
        maker.fit(frames[0][columns])
        for views, frame in zip(found, frames, strict=True):
            views[name] = maker.transform(frame[columns])
    return found


def _clipped(values: np.ndarray) -> np.ndarray:
    return np.clip(values, -3, 3)


def _percent(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.apply(lambda column: column.str.rstrip("%").astype(float))


def stories(words: int, shrink: int) -> Task:
    texts = reuters(10)
    rows = few(len(texts.y), 1557 // shrink)
    return of_words(texts.train[rows], texts.y[rows], texts.test, texts.truth, words, classes=True)


MAKERS: dict[str, Callable[[int, int], Task]] = dict(zip(SETS, (messages, reviews, table, stories), strict=True))


# ---- measuring -------------------------------------------------------------------------------------------------------
def compiled(task: Task) -> None:
    """Compile the kernels that a fit needs."""
    estimator, head = (HarmoniumClassifier, Hinge) if task.classes else (HarmoniumRegressor, EpsilonInsensitive)
    once = Stochastic(max_iter=1, learning_rate=0.01, max_update=0.5, average=True)
    estimator(2, head=head(C=1.0, linear_part=False), driver=once, validation_fraction=0).fit(task.train, task.y)


def ours(task: Task, seed: int) -> tuple[float, float]:
    """Return error and seconds of a fit with all defaults."""
    begin = time.perf_counter()
    kind = HarmoniumClassifier if task.classes else HarmoniumRegressor
    model = kind(random_state=seed).fit(task.train, task.y)
    seconds = time.perf_counter() - begin
    return wrong(task, model.predict(task.test)), seconds


def wrong(task: Task, predicted: np.ndarray) -> float:
    """Return the share of wrong classes, or 1 - R²."""
    return error(task.truth, predicted) if task.classes else 1 - r_squared(task.truth, predicted)


def run(options: SimpleNamespace) -> Result:
    """Fit ours and the rivals on each set."""
    warnings.simplefilter("ignore")
    rows: list[list[Any]] = []
    for name in options.sets:
        task = MAKERS[name](options.words, options.shrink)
        compiled(task)
        errors, seconds = zip(*(ours(task, seed) for seed in range(options.seeds)), strict=True)
        rival = RIVAL_OF[task.classes]
        found = tuned(RIVALS[rival], task.views, task.y, task.unseen)
        mean = with_deviation(list(errors)) if options.seeds > 1 else errors[0]
        own = median(list(seconds))
        rows.append([name, mean, own, rival, wrong(task, found.predicted), found.seconds, own / found.seconds])
        print(rows[-1], flush=True)
    result = Result()
    result.text(
        "Error: the share of wrong classes, or 1 - R² of numbers (reviews, wines), on test rows; ours over "
        f"{options.seeds} random starts."
    )
    columns = {
        "data": None,
        "error, all defaults": "{:.4f}",
        "s": "{:.3g}",
        "tuned rival": None,
        "its error": "{:.4f}",
        "its s": "{:.3g}",
        "times as long": "{:.2g}",
    }
    result.table("fits", columns, rows)
    return result
