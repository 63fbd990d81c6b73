"""Classes from few items, all of which are labelled: latent spaces of BDWH and DWH against rivals prepared properly.

Everything is learned from the few items alone; 500 others are the test. In latent spaces of 16 topics, and in the
inputs themselves, the class is that of the nearest neighbour. Which views are taken, how rivals scale them, the
strength of linear models and the weight decay of DWH are chosen on the labelled items: by the leave-one-out accuracy of
nearest neighbours, or by three-fold cross-validation of linear models. "All views" means that nothing was chosen by
labels.

How sure BDWH is of an item: the share of posterior draws in whose latent space the nearest neighbour has another class
than most draws say. AUROC is that of this share for telling wrong predictions from right ones; without draws one has
the distance of the nearest neighbour, or probabilities, here of a logistic regression on standardised columns of all
views.
"""

from __future__ import annotations

import warnings
from concurrent.futures import ProcessPoolExecutor
from types import SimpleNamespace
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegressionCV
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from threadpoolctl import threadpool_limits

from benchmarks.bayes_classification import MOST_FREQUENT, best_space, fitted, load, neighbours, quiet
from benchmarks.measuring import with_error
from benchmarks.registry import Benchmark
from benchmarks.results import Result
from benchmarks.rivals.prepared import NUMBERS, RIVALS, Preparation, preparations, rows_of, trivial, tuned
from harmonium.inspection import posterior_draws

BENCHMARK = Benchmark(
    title="Classes from few items",
    claim="50 labelled items: latent spaces of BDWH against DWH, LSI, neighbours and linear models prepared properly;"
    " how well BDWH knows its errors",
    minutes=2,
    data=("wikipedia", "bdgp"),
    settings={"sets": ("bdgp", "wikipedia, counts"), "trials": 3, "processes": 1, "sizes": (50,), "rows": 0},
    quick={"sets": ("bdgp",), "trials": 2, "processes": 2, "sizes": (30,), "rows": 120},
)
TOPICS, TEST = 16, 500
INPUTS, LSI = "neighbours in the inputs", "LSI"
LINEAR = ("linear SVM", "logistic regression")
DWH, DWH_CHOSEN = "DWH, all views", "DWH, views and decay chosen"
BDWH, BDWH_CHOSEN, MAJORITY = "BDWH, all views", "BDWH, views chosen", "BDWH, all views, majority of draws"
METHODS = (MOST_FREQUENT, INPUTS, LSI, *LINEAR, DWH, DWH_CHOSEN, BDWH, BDWH_CHOSEN, MAJORITY)
Views = dict[str, np.ndarray]
Scores = dict[str, dict[str, float]]


def input_spaces(train: Views) -> list[Any]:
    """Functions from views to one matrix, one for each way to prepare the views."""
    return [lambda views, way=way: way.matrices(train, views)[1] for way in preparations(train, tuple(NUMBERS))]


def spaces_of_views(method: str, name: str, train: Views, seed: int) -> list[tuple[Any, Any]]:
    """Functions from views to latent representations, and models: of all views, and of each alone."""
    found = []
    for chosen in [tuple(train), *((view,) for view in train)]:
        (space,), model = fitted(method, name, {view: train[view] for view in chosen}, TOPICS, seed)
        found.append((lambda views, to=space, of=chosen: to({view: views[view] for view in of}), model))
    return found


def nearest(spaces: list[Any], parts: list[Views], y: np.ndarray, truth: np.ndarray) -> dict[str, float]:
    """Accuracy in the best of some spaces, and how well the distance of the neighbour tells errors."""
    known = [to(parts[0]) for to in spaces]
    best = best_space(known, y, np.arange(len(y))) if len(spaces) > 1 else 0
    model = KNeighborsClassifier(1).fit(known[best], y)
    asked = spaces[best](parts[1])
    wrong = model.predict(asked) != truth
    return {"accuracy": float(1 - wrong.mean()), "auroc": auroc(wrong, model.kneighbors(asked)[0][:, 0])}


def auroc(wrong: np.ndarray, doubt: np.ndarray) -> float:
    return float(roc_auc_score(wrong, doubt)) if 0 < wrong.sum() < len(wrong) else float("nan")


def votes(model: Any, parts: list[Views], y: np.ndarray, truth: np.ndarray) -> dict[str, float]:
    """Accuracy of what most draws say, and how well the share of other votes tells its errors."""
    draws = posterior_draws(model)
    encoded = [
        {view: np.asarray(model.families_[view].codec.encode(value), dtype=np.float32) for view, value in views.items()}
        for views in parts
    ]
    found = []
    for place in np.ndindex(draws["hidden.bias"].shape[:2]):
        latent = [
            sum(statistic @ draws[f"{view}.weights"][place] for view, statistic in views.items()) for views in encoded
        ]
        found.append(neighbours(latent[0], y, latent[1]))
    classes = np.unique(y)
    counts = np.stack([np.stack(found) == label for label in classes], axis=-1).sum(axis=0)
    wrong = classes[counts.argmax(axis=1)] != truth
    return {"accuracy": float(1 - wrong.mean()), "auroc": auroc(wrong, 1 - counts.max(axis=1) / len(found))}


def doubt_of_logistic(parts: list[Views], y: np.ndarray, truth: np.ndarray) -> float:
    """AUROC of probabilities of a plain logistic regression on standardised columns of all views."""
    train, test = Preparation(tuple(parts[0])).matrices(*parts)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # about defaults of later versions
        model = LogisticRegressionCV(Cs=5, cv=3, max_iter=300).fit(train, y)
    probability = model.predict_proba(test)
    return auroc(model.classes_[probability.argmax(axis=1)] != truth, 1 - probability.max(axis=1))


def one_trial(job: tuple[str, int, int, int]) -> tuple[Any, Scores]:
    """All methods on some items."""
    name, size, trial, limit = job
    quiet()
    views, y = load(name, limit)
    train, rest = train_test_split(np.arange(len(y)), train_size=size, random_state=trial, stratify=y)
    test = np.random.default_rng(trial).permutation(rest)[:TEST]
    parts = [rows_of(views, rows) for rows in (train, test)]
    known, truth = y[train], y[test]
    guess = trivial(known, len(test), classes=True).predicted
    scores: Scores = {MOST_FREQUENT: {"accuracy": float(np.mean(guess == truth))}}
    with threadpool_limits(1):
        scores[INPUTS] = nearest(input_spaces(parts[0]), parts, known, truth)
        for method in LINEAR:
            predicted = tuned(RIVALS[method], parts[0], known, parts[1]).predicted
            scores[method] = {"accuracy": float(np.mean(predicted == truth))}
        scores["logistic regression"]["auroc"] = doubt_of_logistic(parts, known, truth)
        scores[LSI] = nearest(fitted(LSI, name, parts[0], TOPICS, trial)[0], parts, known, truth)
        plain, decayed, bayesian = (
            spaces_of_views(method, name, parts[0], trial) for method in ("DWH", "DWH, decay 10", "BDWH")
        )
        scores[DWH] = nearest([plain[0][0]], parts, known, truth)
        scores[DWH_CHOSEN] = nearest([space for space, _ in plain + decayed], parts, known, truth)
        scores[BDWH] = nearest([bayesian[0][0]], parts, known, truth)
        scores[BDWH_CHOSEN] = nearest([space for space, _ in bayesian], parts, known, truth)
        scores[MAJORITY] = votes(bayesian[0][1], parts, known, truth)
    print(*job, {method: round(score["accuracy"], 3) for method, score in scores.items()}, flush=True)
    return job[:3], scores


def run(options: SimpleNamespace) -> Result:
    """Measure all methods on small parts of the sets."""
    jobs = [
        (name, size, trial, options.rows)
        for name in options.sets
        for size in options.sizes
        for trial in range(options.trials)
    ]
    with ProcessPoolExecutor(options.processes) as pool:
        found = dict(pool.map(one_trial, jobs))
    result = Result()
    columns = {"data": None, "method": None, **{f"{size} items": "{:.3f}" for size in options.sizes}}
    for table, measure in {"few items": "accuracy", "certainty": "auroc"}.items():
        rows = []
        for name in options.sets:
            for method in METHODS:
                cells = [
                    [found[name, size, trial][method].get(measure, np.nan) for trial in range(options.trials)]
                    for size in options.sizes
                ]
                if np.isfinite(cells).all():
                    rows.append([name, method, *(with_error(cell) for cell in cells)])
        what = "Accuracy" if table == "few items" else "How well doubt tells errors (AUROC)"
        result.text(f"{what}, mean and standard error over {options.trials} trials:")
        result.table(table, columns, rows)
    return result
