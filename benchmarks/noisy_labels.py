"""Labels of training rows that are wrong: 10 to 40 % of them flipped to another class, evenly.

`HarmoniumClassifier()` as it is, and with rows weighed by the probability that their label is right. That follows from
the share of flips, which is given, and class probabilities of a logistic regression by five-fold cross-validation on
training rows. A linear SVM, strength by three-fold cross-validation on the flipped labels, likewise with and without.
Words of six groups of 20 Newsgroups are tf-idf for these, digits (mfeat) standardised columns. Test labels are right.
"""

from __future__ import annotations

import warnings
from types import SimpleNamespace
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_predict, train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

from benchmarks.datasets import load_mfeat
from benchmarks.measuring import with_error
from benchmarks.registry import Benchmark
from benchmarks.results import Result
from harmonium import HarmoniumClassifier
from harmonium.datasets import load_newsgroups

BENCHMARK = Benchmark(
    title="Flipped labels",
    claim="10 to 40 % of the training labels flipped: all defaults against a linear SVM, with and without rows weighed"
    " by the probability that their label is right",
    minutes=10,
    data=("newsgroups", "mfeat"),
    settings={"sets": ("newsgroups", "mfeat"), "shares": (0.1, 0.2, 0.4), "trials": 3, "rows": 1000, "seed": 10},
    quick={"sets": ("mfeat",), "shares": (0.2,), "trials": 2, "rows": 200, "seed": 10},
)
N_GROUPS = 6
STRENGTHS = (1e-3, 1e-2, 1e-1, 1.0)
LEAST_WEIGHT = 1e-4


def load(name: str) -> tuple[dict[str, Any], Any, np.ndarray]:
    """Return views, columns for linear models, and labels."""
    if name == "mfeat":
        loaded = load_mfeat()
        views = dict(loaded.views)
        return views, np.hstack([StandardScaler().fit_transform(view) for view in views.values()]), loaded.target
    loaded = load_newsgroups()
    y = np.asarray(loaded.target)
    kept = np.flatnonzero(y < N_GROUPS)
    texts = next(iter(loaded.views.values()))
    words = CountVectorizer(min_df=5, stop_words="english").fit_transform([texts[row] for row in kept])
    return {"words": words}, TfidfTransformer(sublinear_tf=True).fit_transform(words), y[kept]


def flipped(y: np.ndarray, share: float, rng: np.random.Generator) -> np.ndarray:
    """Return labels, a share of which are those of another class."""
    result, n_classes = y.copy(), len(np.unique(y))
    at = rng.permutation(len(y))[: int(share * len(y))]
    result[at] = (y[at] + rng.integers(1, n_classes, size=len(at))) % n_classes
    return result


def trust(X: Any, y: np.ndarray, share: float) -> np.ndarray:
    """Return the probability that each label is right, if a share of them is flipped evenly."""
    model = GridSearchCV(LogisticRegression(max_iter=300), {"C": [0.1, 1.0, 10.0]}, cv=3, scoring="neg_log_loss")
    given = cross_val_predict(model.fit(X, y).best_estimator_, X, y, cv=5, method="predict_proba")
    each = share / (given.shape[1] - 1)
    true = np.maximum(given - each, 0) / (1 - share - each)
    true = (true / true.sum(axis=1, keepdims=True))[np.arange(len(y)), y]
    right = (1 - share) * true
    return np.maximum(right / (right + each * (1 - true)), LEAST_WEIGHT)


def trial(loaded: tuple[dict[str, Any], Any, np.ndarray], share: float, seed: int, n_rows: int) -> dict[str, float]:
    """Return the accuracy of each method in per cent."""
    views, X, y = loaded
    train, test = train_test_split(np.arange(len(y)), train_size=n_rows, stratify=y, random_state=seed)
    labels = flipped(y[train], share, np.random.default_rng(seed))
    weight = trust(X[train], labels, share)
    search = GridSearchCV(LinearSVC(), {"C": STRENGTHS}, cv=3).fit(X[train], labels)
    weighed = LinearSVC(**search.best_params_).fit(X[train], labels, sample_weight=weight)
    found = {"linear SVM": search.score(X[test], y[test]), "linear SVM, weighed": weighed.score(X[test], y[test])}
    rows, others = ({name: view[part] for name, view in views.items()} for part in (train, test))
    for method, given in {"all defaults": None, "all defaults, weighed": weight}.items():
        model = HarmoniumClassifier(random_state=seed).fit(rows, labels, sample_weight=given)
        found[method] = model.score(others, y[test])
    return {method: 100 * value for method, value in found.items()}


def run(options: SimpleNamespace) -> Result:
    """Return accuracies of all methods on both sets, on one thread."""
    result, rows = Result(), []
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in options.sets:
            loaded = load(name)
            for share in options.shares:
                seeds = range(options.seed, options.seed + options.trials)
                found = [trial(loaded, share, seed, options.rows) for seed in seeds]
                means = {method: with_error([one[method] for one in found]) for method in found[0]}
                print(name, share, {method: value["mean"] for method, value in means.items()}, flush=True)
                rows.append([name, 100 * share, *means.values()])
    columns = {"set": None, "flipped, %": "{:.0f}", **dict.fromkeys(means, "{:.1f}")}
    result.table("accuracy", columns, rows)
    result.text("Mean ± standard error over trials, which share rows.")
    return result
