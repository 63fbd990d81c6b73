"""Ablation of the defaults: what each part of the scaling of views and features is worth, by leaving it out.

`HarmoniumClassifier()` and `HarmoniumRegressor()` with all defaults, then without the linear part of the
scores, without rows of words brought to one length, and without weights of views. For each, the smallest error on
held-out training rows while C and epochs were chosen, and the score on test rows. What to keep is read from the
held-out errors.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split

from benchmarks.comparing import error, r_squared
from benchmarks.datasets import load_bdgp, load_wikipedia
from benchmarks.features.contextual import contextual_features
from benchmarks.features.words import Texts, binary, few, newsgroups, reuters, word_counts
from benchmarks.measuring import with_deviation
from benchmarks.missing_views import keep_columns
from benchmarks.registry import Benchmark
from benchmarks.results import Result
from benchmarks.rivals.prepared import rows_of
from harmonium import EpsilonInsensitive, HarmoniumClassifier, HarmoniumRegressor, Hinge, Stochastic
from harmonium.datasets import load_cll, load_hotels

SETS = (
    "20 Newsgroups",
    "Reuters, ten topics",
    "hotels",
    "BDGP",
    "Wikipedia",
    "CLL",
)
BENCHMARK = Benchmark(
    title="Ablation of the defaults: what each part is worth",
    claim="all defaults, without the linear part, without rows of one length, without weights of views, on six sets",
    minutes=20,
    data=("newsgroups", "reuters21578", "hotels", "bdgp", "wikipedia", "cll"),
    settings={"sets": SETS, "words": 5000, "seeds": 3, "rows": 0},
    quick={"sets": ("hotels",), "words": 100, "seeds": 1, "rows": 60},
)
EVERYTHING = "everything"
NOT_HERE = "nothing to leave out"


@dataclass(frozen=True)
class Task:
    """Views and answers of training and test rows."""

    train: dict[str, Any]
    y: np.ndarray
    test: dict[str, Any]
    truth: np.ndarray
    classes: bool = True

    @property
    def estimator(self) -> type:
        """The class of estimators that answers it."""
        return HarmoniumClassifier if self.classes else HarmoniumRegressor

    @property
    def head(self) -> type:
        """The class of heads that is the default."""
        return Hinge if self.classes else EpsilonInsensitive


# ---- data ------------------------------------------------------------------------------------------------------------
def of_texts(texts: Texts, words: int, turned: Callable[[Any], Any]) -> Task:
    train, test = ({"words": turned(counts)} for counts in texts.counts(words))
    return Task(train, texts.y, test, texts.truth)


def of_hotels(words: int, limit: int) -> Task:
    """Counts of words and contextual numbers."""
    (train, y), (test, truth) = load_hotels().train(), load_hotels().test()
    kept, asked = few(len(y), limit), few(len(truth), limit)
    texts, other = np.asarray(train["text"])[kept], np.asarray(test["text"])[asked]
    counts, unseen, _ = word_counts(texts, other, words)
    views = [
        {"words": part, "context": contextual_features(texts)[0]} for part, texts in ((counts, texts), (unseen, other))
    ]
    return Task(views[0], y[kept], views[1], truth[asked], classes=False)


def of_views(loaded: Any, limit: int) -> Task:
    """The set's own split, or a random stratified half."""
    y, everything = np.asarray(loaded.target), np.arange(len(loaded.target))
    if loaded.split is None:
        train, test = train_test_split(everything, test_size=0.5, stratify=y, random_state=0)
    else:
        train, test = (everything[loaded.split == part] for part in ("train", "test"))
    train, test = train[few(len(train), limit)], test[few(len(test), limit)]
    return Task(rows_of(loaded.views, train), y[train], rows_of(loaded.views, test), y[test])


def of_cll(limit: int) -> Task:
    """A random stratified half of the patients of known IGHV status; columns are chosen on the training half."""
    loaded = load_cll()
    y = np.asarray(loaded.target)
    train, test = train_test_split(np.flatnonzero(y >= 0), test_size=0.5, stratify=y[y >= 0], random_state=0)
    train, test = train[few(len(train), limit)], test[few(len(test), limit)]
    views = keep_columns(loaded.views, train)
    return Task(rows_of(views, train), y[train], rows_of(views, test), y[test])


def tasks(names: tuple[str, ...], words: int, limit: int) -> Iterator[tuple[str, Task]]:
    """Yield the sets one after the other; each is let go before the next is read."""
    makers: dict[str, Callable[[], Task]] = {
        "20 Newsgroups": lambda: of_texts(newsgroups(limit), words, binary),
        "Reuters, ten topics": lambda: of_texts(reuters(10, limit), words, lambda counts: counts),
        "hotels": lambda: of_hotels(words, limit),
        "BDGP": lambda: of_views(load_bdgp(), limit),
        "Wikipedia": lambda: of_views(load_wikipedia(), limit),
        "CLL": lambda: of_cll(limit),
    }
    for name in names:
        yield name, makers[name]()


# ---- what is left out ------------------------------------------------------------------------------------------------
def without_levels(task: Task) -> dict[str, Any] | None:
    """Return families as they are inferred, told not to level rows; None if there are none that could."""
    looked = task.estimator(
        2, head=task.head(C=1.0, linear_part=False), driver=Stochastic(max_iter=1), validation_fraction=0
    )
    families = looked.fit(task.train, task.y).families_
    changed = {
        name: type(family)(**{**family.get_params(deep=False), "length_normalize": False})
        for name, family in families.items()
        if "length_normalize" in family.get_params(deep=False)
    }
    if not changed:
        return None
    return {"views": {name: changed.get(name, "infer") for name in families}}


def without_view_weights(task: Task) -> dict[str, Any] | None:
    """Return the setting that makes all views count alike; None if there is only one."""
    return {"view_weights": None} if len(task.train) > 1 else None


VARIANTS: dict[str, Callable[[Task], dict[str, Any] | None]] = {
    EVERYTHING: lambda task: {},
    "without the linear part": lambda task: {"head": task.head(linear_part=False)},
    "without length-normalised rows": without_levels,
    "without weights of views": without_view_weights,
}


# ---- measuring -------------------------------------------------------------------------------------------------------
def measured(task: Task, given: dict[str, Any], seeds: int) -> list[Any]:
    """Return held-out error, test score and seconds of a fit."""
    held_out, scores, seconds = [], [], []
    for seed in range(seeds):
        begin = time.perf_counter()
        model = task.estimator(random_state=seed, **given).fit(task.train, task.y)
        seconds.append(time.perf_counter() - begin)
        held_out.append(float(np.min(model.fitted_.validation["error"])))
        predicted = model.predict(task.test)
        scores.append(error(task.truth, predicted) if task.classes else r_squared(task.truth, predicted))
    cells = [with_deviation(values) if seeds > 1 else values[0] for values in (held_out, scores)]
    return [*cells, float(np.median(seconds))]


def run(options: SimpleNamespace) -> Result:
    """Leave out one part after the other on every set."""
    warnings.simplefilter("ignore")
    rows: list[list[Any]] = []
    for name, task in tasks(options.sets, options.words, options.rows):
        for variant, given_by in VARIANTS.items():
            given = given_by(task)
            found = [NOT_HERE, None, None] if given is None else measured(task, given, options.seeds)
            rows.append([name, variant, *found])
            print(rows[-1], flush=True)
    result = Result()
    result.text(
        "Smallest error of the topics on held-out training rows, and on test rows the error (hotels: R²); mean ± "
        f'standard deviation if there are several seeds (here {options.seeds}). "{NOT_HERE}": a set has one view, or '
        "no family has the setting. BDGP and CLL: random stratified halves; CLL without patients of unknown status."
    )
    columns = {"data": None, "variant": None, "held-out error": "{:.4f}", "test": "{:.4f}", "fit, s": "{:.3g}"}
    result.table("variants", columns, rows)
    return result
