"""Labels of bags on the field's own sets: musk1, elephant and birds, by ten folds.

All methods see the same folds, and choose their settings by three folds of the training bags alone. Columns are
standardised by training instances. Latent machines have features of a Gaussian kernel (Nystroem, 200 landmarks)
and a loss of labels alone (latent SVM) or of label and candidate (dissimilarity coefficient). Rivals are RBF SVMs on
the means, largest and smallest values of a bag's columns, and MI-SVM, linear. Accuracies are in per cent.
"""

from __future__ import annotations

import gzip
import time
import warnings
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.kernel_approximation import Nystroem
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from benchmarks.internals import speaking_candidates
from benchmarks.registry import Benchmark
from benchmarks.results import Result
from benchmarks.rivals.mi_svm import MISVM
from harmonium.datasets import data_home
from harmonium.weak import (
    Bags,
    CandidateTransformer,
    DissimilarityClassifier,
    LatentSVM,
    MatrixLoss,
    MultipleInstanceClassifier,
)

BENCHMARK = Benchmark(
    title="Labels of bags",
    claim="accuracy on musk1, elephant and birds: three learners of bags against SVMs of summaries and MI-SVM",
    minutes=4,
    data=("bags",),
    settings={"sets": ("musk1", "elephant", "birds_brown_creeper"), "partitions": 1},
    quick={"sets": ("musk1",), "partitions": 1},
)
# as their authors published them, by ten folds
PUBLISHED = {
    "mi-SVM, published": {"musk1": 87.4, "elephant": 82.0},
    "MI-SVM, published": {"musk1": 77.9, "elephant": 81.4},
    "attention, published": {"musk1": 89.2, "elephant": 86.8},
}
LABELS = MatrixLoss([[0, 1], [1, 0]])


def load(name: str) -> tuple[Bags, np.ndarray]:
    """Return bags and labels of a file whose columns are label, bag and features."""
    with gzip.open(data_home() / "bags" / f"{name}.csv.gz", "rt") as file:
        table = np.loadtxt(file, delimiter=",")
    _, first, own = np.unique(table[:, 1], return_index=True, return_inverse=True)
    order = np.argsort(own, kind="stable")
    return Bags(table[order, 2:], np.concatenate([[0], np.cumsum(np.bincount(own))])), table[first, 0].astype(int)


def summaries(bags: Bags) -> np.ndarray:
    """Return means, largest and smallest values of the columns of each bag."""
    starts = bags.offsets[:-1]
    means = np.add.reduceat(bags.features, starts) / bags.sizes[:, None]
    return np.hstack([means, np.maximum.reduceat(bags.features, starts), np.minimum.reduceat(bags.features, starts)])


class Witnesses(ClassifierMixin, BaseEstimator):
    """MI-SVM on standardised columns, with scikit-learn's face."""

    def __init__(self, C: float = 1.0) -> None:
        self.C = C

    def fit(self, X: Bags, y: np.ndarray) -> Self:
        self.classes_ = np.unique(y)
        start = speaking_candidates(X.features, y, X.offsets, len(self.classes_))
        self.machine_ = MISVM(self.C).fit(X, y, start)
        return self

    def predict(self, X: Bags) -> np.ndarray:
        return self.machine_.predict_latent(X)[0]


def methods(n_columns: int) -> Mapping[str, tuple[Any, dict[str, list[Any]]]]:
    """Return estimators with their grids."""
    kernel = make_pipeline(StandardScaler(), Nystroem(gamma=1 / n_columns, n_components=200, random_state=0))
    machine: dict[str, Any] = {"tol": 1e-2, "max_iter": 10, "random_state": 0}
    ours = MultipleInstanceClassifier(random_state=0)
    grid = {"C": [30.0, 300.0], "gamma": [0.5 / n_columns, 1 / n_columns, 2 / n_columns], "extremes": [0.03, 0.3]}
    summary = make_pipeline(FunctionTransformer(summaries), StandardScaler(), SVC())
    return {
        "MultipleInstanceClassifier": (ours, grid),
        "MultipleInstanceClassifier, all defaults": (ours, {}),
        "latent SVM": (
            make_pipeline(CandidateTransformer(kernel), LatentSVM(loss=LABELS, **machine)),
            {"latentsvm__C": [100.0, 1000.0]},
        ),
        "dissimilarity": (
            make_pipeline(CandidateTransformer(kernel), DissimilarityClassifier(**machine)),
            {"dissimilarityclassifier__C": [100.0, 1000.0]},
        ),
        "RBF SVM of mean, max and min": (
            summary,
            {"svc__C": [1.0, 10.0, 100.0], "svc__gamma": ["scale", 0.3 / n_columns]},
        ),
        "MI-SVM, linear": (make_pipeline(CandidateTransformer(), Witnesses()), {"witnesses__C": [1.0, 10.0, 100.0]}),
    }


def run(options: SimpleNamespace) -> Result:
    """Return accuracies of all methods on all sets, on one thread."""
    result = Result()
    rows: dict[str, dict[str, Any]] = {}
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in options.sets:
            bags, y = load(name)
            for method, (model, grid) in methods(bags.shape[1]).items():
                begin = time.process_time()
                right = np.concatenate([folds(model, grid, bags, y, seed) for seed in range(options.partitions)])
                seconds = (time.process_time() - begin) / (10 * options.partitions)
                rows.setdefault(method, {})[name] = (100 * right.mean(), seconds)
                print(name, method, rows[method][name], flush=True)
            rows.setdefault("most frequent class", {})[name] = (100 * np.bincount(y).max() / len(y), None)
    for method, published in PUBLISHED.items():
        rows[method] = {name: (value, None) for name, value in published.items()}
    columns: dict[str, str | None] = {"method": None, **dict.fromkeys(options.sets, "{:.1f}")}
    columns |= {f"{name}, s a fold": "{:.1f}" for name in options.sets}
    cells = [
        [method, *(found.get(name, (None, None))[part] for part in (0, 1) for name in options.sets)]
        for method, found in rows.items()
    ]
    result.table("accuracy", columns, cells)
    result.text("s a fold: processor time of a fit with the search of its settings. Published figures: other folds.")
    return result


def folds(model: Any, grid: dict[str, list[Any]], bags: Bags, y: np.ndarray, seed: int) -> np.ndarray:
    """Return whether each bag of ten test folds was labelled rightly."""
    right = np.zeros(len(y), dtype=bool)
    inner = StratifiedKFold(3, shuffle=True, random_state=seed)
    for train, test in StratifiedKFold(10, shuffle=True, random_state=seed).split(np.zeros(len(y)), y):
        search = GridSearchCV(model, grid, scoring="accuracy", cv=inner).fit(bags[train], y[train])
        right[test] = search.predict(bags[test]) == y[test]
    return right
