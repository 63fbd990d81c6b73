"""Labels of training rows that are wrong: 10 to 40 % of them flipped to another class, evenly.

`HarmoniumClassifier()` as it is, and with rows weighed by `inspection.label_quality`, which knows neither the share of
flips nor test rows. A linear SVM, strength by three-fold cross-validation on the flipped labels, as it is, and without
the rows that cleanlab finds by class probabilities of a tuned logistic regression. Words of six groups of 20 Newsgroups
are tf-idf for these, digits (mfeat) standardised columns. Test labels are right.
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
from harmonium.inspection import label_quality

BENCHMARK = Benchmark(
    title="Flipped labels",
    claim="up to 40 % of the training labels flipped: how many of them `label_quality` finds, and what its weights are"
    " worth, beside cleanlab",
    minutes=10,
    data=("newsgroups", "mfeat"),
    settings={"sets": ("newsgroups", "mfeat"), "shares": (0.0, 0.1, 0.2, 0.4), "trials": 3, "rows": 600, "seed": 10},
    quick={"sets": ("mfeat",), "shares": (0.0, 0.2), "trials": 2, "rows": 100, "seed": 10},
)
N_GROUPS = 6
STRENGTHS = (1e-3, 1e-2, 1e-1, 1.0)


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


def without_issues(X: Any, y: np.ndarray) -> np.ndarray:
    """Return the rows that cleanlab leaves, by class probabilities of a tuned logistic regression."""
    from cleanlab.filter import find_label_issues

    model = GridSearchCV(LogisticRegression(max_iter=300), {"C": [0.1, 1.0, 10.0]}, cv=3, scoring="neg_log_loss")
    given = cross_val_predict(model.fit(X, y).best_estimator_, X, y, cv=5, method="predict_proba")
    return np.flatnonzero(~find_label_issues(y, given))


def trial(
    loaded: tuple[dict[str, Any], Any, np.ndarray], share: float, seed: int, n_rows: int
) -> dict[str, float | None]:
    """Return the accuracy of each method, and what is found of the flips, in per cent."""
    views, X, y = loaded
    train, test = train_test_split(np.arange(len(y)), train_size=n_rows, stratify=y, random_state=seed)
    labels = flipped(y[train], share, np.random.default_rng(seed))
    kept = without_issues(X[train], labels)
    search = GridSearchCV(LinearSVC(), {"C": STRENGTHS}, cv=3)
    rows, others = ({name: view[part] for name, view in views.items()} for part in (train, test))
    model = HarmoniumClassifier(random_state=seed)
    quality = label_quality(model, rows, labels)["quality"].to_numpy()
    right = labels == y[train]
    found = {
        "all defaults": model.fit(rows, labels).score(others, y[test]),
        "all defaults, weighed": model.fit(rows, labels, sample_weight=quality).score(others, y[test]),
        "linear SVM": search.fit(X[train], labels).score(X[test], y[test]),
        "linear SVM, cleanlab": search.fit(X[train][kept], labels[kept]).score(X[test], y[test]),
        "share of flips, learned": 1 - quality.mean(),
        "flips found": None if right.all() else (quality[~right] < 0.5).mean(),
        "right labels doubted": (quality[right] < 0.5).mean(),
        "flips found, cleanlab": None if right.all() else 1 - np.isin(np.flatnonzero(~right), kept).mean(),
        "right labels doubted, cleanlab": 1 - np.isin(np.flatnonzero(right), kept).mean(),
    }
    return {what: None if value is None else 100 * float(value) for what, value in found.items()}


def run(options: SimpleNamespace) -> Result:
    """Return accuracies of all methods on both sets, and what is found of the flips, on one thread."""
    result, rows = Result(), []
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in options.sets:
            loaded = load(name)
            for share in options.shares:
                seeds = range(options.seed, options.seed + options.trials)
                found = [trial(loaded, share, seed, options.rows) for seed in seeds]
                means = {
                    what: None if value is None else with_error([one[what] for one in found])
                    for what, value in found[0].items()
                }
                print(name, share, {what: value and value["mean"] for what, value in means.items()}, flush=True)
                rows.append([name, 100 * share, *means.values()])
    for title, part in {"accuracy": slice(4), "flips": slice(4, None)}.items():
        names = list(means)[part]
        columns = {"set": None, "flipped, %": "{:.0f}", **dict.fromkeys(names, "{:.1f}")}
        result.table(title, columns, [[*row[:2], *row[2:][part]] for row in rows])
    result.text(
        "Per cent, mean ± standard error over trials, which share rows. A label is doubted where its quality is below"
        " one half, or cleanlab calls it an issue."
    )
    return result
