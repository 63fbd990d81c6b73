"""Views that rows lack only when they are predicted: 30 % of the views of test rows are removed at random.

Training rows have all views, and every test row keeps at least one. `HarmoniumClassifier()` and `HarmoniumRegressor()`
have all defaults. The rivals are a linear SVM and ridge regression of standardised columns (dense views) or tf-idf
(words) side by side, strength by three-fold cross-validation, with means in place of what is missing. What is lost that
no model could keep is shown by models of their own for each set of views, trained without the others, where there are
two views. Views of hotels are the first and the second half of each review. Numbers are accuracies, or R², in per cent.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

from benchmarks.datasets import load_bdgp, load_mfeat, load_wikipedia
from benchmarks.measuring import with_error
from benchmarks.registry import Benchmark
from benchmarks.results import Result
from harmonium import HarmoniumClassifier, HarmoniumRegressor, Views
from harmonium.datasets import load_hotels

BENCHMARK = Benchmark(
    title="Views removed at test",
    claim="what 30 % of the views of test rows removed cost: all defaults against linear models with means in their"
    " place, and models of their own for each set of views",
    minutes=5,
    data=("mfeat", "bdgp", "wikipedia", "hotels"),
    settings={"sets": ("mfeat", "hotels", "bdgp", "wikipedia"), "trials": 2, "rows": 600, "share": 0.3},
    quick={"sets": ("bdgp",), "trials": 2, "rows": 200, "share": 0.3},
)
FIRST_SEED = 10  # the model was designed on splits 0 and 1 of mfeat
STRENGTHS = (1e-3, 1e-2, 1e-1, 1.0)
PENALTIES = (0.1, 0.3, 1.0, 3.0, 10.0)
Matrices = Mapping[str, Any]


def load(name: str) -> tuple[dict[str, Any], np.ndarray]:
    """Return views of all rows, and what is predicted."""
    if name == "hotels":
        loaded = load_hotels()
        words = [text.split() for text in loaded.views["text"]]
        halves = {
            "first half": [" ".join(text[: len(text) // 2]) for text in words],
            "second half": [" ".join(text[len(text) // 2 :]) for text in words],
        }
        return {half: CountVectorizer(min_df=5).fit_transform(texts) for half, texts in halves.items()}, np.asarray(
            loaded.target
        )
    loaded = {"mfeat": load_mfeat, "bdgp": load_bdgp, "wikipedia": load_wikipedia}[name]()
    return dict(loaded.views), np.asarray(loaded.target)


def removed(n_rows: int, n_views: int, share: float, rng: np.random.Generator) -> np.ndarray:
    """Return which views rows lack; each row keeps one."""
    lacking = rng.random((n_rows, n_views)) < share
    lacking[np.arange(n_rows), rng.integers(n_views, size=n_rows)] &= ~lacking.all(axis=1)
    return lacking


class Linear:
    """A linear SVM, or ridge regression, of columns side by side."""

    def __init__(self, views: Matrices, y: np.ndarray, train: np.ndarray) -> None:
        self.features = {}
        for name, view in views.items():
            maker = TfidfTransformer(sublinear_tf=True) if scipy.sparse.issparse(view) else StandardScaler()
            self.features[name] = scipy.sparse.csr_array(maker.fit(view[train]).transform(view))
        self.means = {name: part[train].mean(axis=0) for name, part in self.features.items()}
        joined = scipy.sparse.csr_array(scipy.sparse.hstack(list(self.features.values())))
        search = RidgeCV(PENALTIES, cv=3) if y.dtype.kind == "f" else GridSearchCV(LinearSVC(), {"C": STRENGTHS}, cv=3)
        self.model = search.fit(joined[train], y[train])

    def predict(self, rows: np.ndarray, lacking: np.ndarray) -> np.ndarray:
        """Return predictions with means in place of views that rows lack."""
        parts = []
        for place, (name, part) in enumerate(self.features.items()):
            values = part[rows].toarray()
            values[lacking[:, place]] = self.means[name]
            parts.append(values)
        return np.asarray(self.model.predict(np.hstack(parts)))


def in_per_cent(truth: np.ndarray, predicted: np.ndarray) -> float:
    """Return the accuracy of classes, or R² of numbers."""
    if truth.dtype.kind == "f":
        return 100 * (1 - float(np.square(truth - predicted).mean() / truth.var()))
    return 100 * float((truth == predicted).mean())


def trial(name: str, seed: int, options: SimpleNamespace) -> dict[str, tuple[float, float]]:
    """Return what each method reaches with all views, and without some."""
    views, y = load(name)
    if y.dtype.kind == "f":
        y = y.astype(np.float64)
    stratify = None if y.dtype.kind == "f" else y
    train, test = train_test_split(np.arange(len(y)), train_size=options.rows, stratify=stratify, random_state=seed)
    lacking = removed(len(test), len(views), options.share, np.random.default_rng(seed))
    none = np.zeros_like(lacking)
    estimator = HarmoniumRegressor if stratify is None else HarmoniumClassifier
    model = estimator(random_state=seed).fit({key: view[train] for key, view in views.items()}, y[train])
    linear = Linear(views, y, train)

    def ours(lacking: np.ndarray) -> np.ndarray:
        present = {key: ~lacking[:, place] for place, key in enumerate(views)}
        return np.asarray(model.predict(Views({key: view[test] for key, view in views.items()}, present=present)))

    def their_own(fit: Callable[[tuple[str, ...]], Callable[[np.ndarray], np.ndarray]]) -> Callable[..., np.ndarray]:
        """Return predictions of a row by a model of the views that it has."""

        def predict(lacking: np.ndarray) -> np.ndarray:
            result = np.empty(len(test), dtype=y.dtype)
            for pattern in np.unique(lacking, axis=0):
                rows = np.flatnonzero((lacking == pattern).all(axis=1))
                names = tuple(name for name, lacks in zip(views, pattern, strict=True) if not lacks)
                result[rows] = fit(names)(test[rows])
            return result

        return predict

    @cache
    def ours_of(names: tuple[str, ...]) -> Callable[[np.ndarray], np.ndarray]:
        fitted = estimator(random_state=seed).fit({key: views[key][train] for key in names}, y[train])
        return lambda rows: np.asarray(fitted.predict({key: views[key][rows] for key in names}))

    @cache
    def linear_of(names: tuple[str, ...]) -> Callable[[np.ndarray], np.ndarray]:
        fitted = Linear({key: views[key] for key in names}, y, train)
        return lambda rows: fitted.predict(rows, np.zeros((len(rows), len(names)), dtype=bool))

    predict: dict[str, Callable[[np.ndarray], np.ndarray]] = {
        "all defaults": ours,
        "linear, means": lambda lacking: linear.predict(test, lacking),
    }
    if len(views) == 2:
        predict |= {
            "all defaults, models of their own": their_own(ours_of),
            "linear, models of their own": their_own(linear_of),
        }
    return {
        method: (in_per_cent(y[test], make(none)), in_per_cent(y[test], make(lacking)))
        for method, make in predict.items()
    }


def run(options: SimpleNamespace) -> Result:
    """Return what removed views cost on all sets, on one thread."""
    result, rows = Result(), []
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in options.sets:
            trials = []
            for number in range(options.trials):
                trials.append(trial(name, FIRST_SEED + number, options))
                print(name, trials[-1], flush=True)
            for method in trials[0]:
                found = np.array([one[method] for one in trials])
                loss = found[:, 0] - found[:, 1]
                rows.append([name, method, *(with_error(column) for column in (*found.T, loss))])
    columns = {"set": None, "method": None, "all views": "{:.1f}", "views removed": "{:.1f}", "loss": "{:.1f}"}
    result.table("removed", columns, rows)
    result.text(
        "Mean ± standard error over trials, which share rows. Loss: points lost when views are removed. Models of their"
        " own are one for each set of views, so that their loss is what the views that are left do not say."
    )
    return result
