"""Several labels at once on messages of Enron and medical reports, against one classifier for each label.

`HarmoniumClassifier()` with all defaults, against linear support vector machines, logistic regression and
class-balanced support vector machines with an RBF kernel. Rivals have binary words or idf-weighted ones in rows of
length 1, their C, and where to cut for F1 chosen by three-fold cross-validation on training rows: for F1 the setting
that is best by F1, for ranking the one that ranks best. Labels without a training row come last for all. The files' own
split is used; test rows are looked at once. Also measured: what it does to log-loss and calibration error that every
label has a sigmoid of its own.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import label_ranking_average_precision_score
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import KFold
from sklearn.svm import SVC, LinearSVC

from benchmarks.datasets import load_enron, load_medical
from benchmarks.measuring import with_deviation
from benchmarks.registry import Benchmark
from benchmarks.results import Result
from harmonium import HarmoniumClassifier
from harmonium.heads import MultiLabelHinge
from harmonium.heads.outputs.calibration import fit_sigmoid, fit_sigmoids
from harmonium.metrics import expected_calibration_error

BENCHMARK = Benchmark(
    title="Several labels at once: enron and medical",
    claim="labels of enron and medical with all defaults, against linear and RBF machines for each label",
    minutes=2,
    data=("enron", "medical"),
    settings={"seeds": 3, "folds": 3},
)
ABSENT = -100.0  # score of a label without two kinds of rows
CALIBRATING = 0.3  # share of the training rows that probabilities are calibrated on
Rival = Callable[[float], Any]
RIVALS: dict[str, tuple[Rival, bool, tuple[float, ...]]] = {
    "linear SVM": (lambda C: LinearSVC(C=C), False, (0.03, 0.1, 0.3, 1.0, 3.0)),
    "logistic regression": (lambda C: LogisticRegression(C=C, solver="liblinear"), False, (0.3, 1.0, 3.0, 10.0, 100.0)),
    "RBF SVM, balanced": (
        lambda C: SVC(C=C, kernel="precomputed", class_weight="balanced"),
        True,
        (1.0, 10.0, 100.0),
    ),
}


def prepared(train: Any, other: Any, idf: bool) -> tuple[Any, Any]:
    """Return binary words, or idf-weighted ones in rows of length 1."""
    if not idf:
        return train, other
    transformer = TfidfTransformer().fit(train)
    return transformer.transform(train), transformer.transform(other)


def scores_of(rival: Rival, is_kernel: bool, C: float, X: Any, labels: np.ndarray, other: Any) -> np.ndarray:
    """Return the decisions of one classifier for each label."""
    if is_kernel:
        mean = X.mean()
        gamma = 1 / (X.shape[1] * (X.multiply(X).mean() - mean**2))  # "scale" of scikit-learn
        X, other = rbf_kernel(X, gamma=gamma), rbf_kernel(other, X, gamma=gamma)
    scores = np.full((other.shape[0], labels.shape[1]), ABSENT)
    for label, column in enumerate(labels.T):
        if 0 < column.sum() < len(column):
            scores[:, label] = rival(C).fit(X, column).decision_function(other)
    return scores


def example_f1(labels: np.ndarray, predicted: np.ndarray) -> float:
    """Mean F1 of a row's labels; every row has some."""
    return float(np.mean(2 * (labels * predicted).sum(axis=1) / (labels + predicted).sum(axis=1)))


def best_cut(labels: np.ndarray, scores: np.ndarray) -> float:
    """Return the cut of the largest F1, of those that leave different numbers of labels, in steps of a percent."""
    share = labels.mean()
    cuts = np.quantile(scores, 1 - np.minimum(share * np.exp(np.arange(-100, 101) / 100), 1))
    return float(max(cuts, key=lambda cut: example_f1(labels, scores > cut)))


def tuned(name: str, X: Any, labels: np.ndarray, unseen: Any, folds: int) -> tuple[np.ndarray, np.ndarray, str]:
    """Return what a rival predicts and its scores of test rows, both by the settings that are best for them."""
    rival, is_kernel, strengths = RIVALS[name]
    found: list[tuple[float, float, float, bool, float]] = []
    for idf in (False, True):
        for C in strengths:
            scores = np.empty(labels.shape)
            for train, held in KFold(folds, shuffle=True, random_state=0).split(labels):
                scores[held] = scores_of(rival, is_kernel, C, *_fold(X, labels, train, held, idf))
            cut = best_cut(labels, scores)
            quality = example_f1(labels, scores > cut), label_ranking_average_precision_score(labels, scores)
            found.append((*quality, cut, idf, C))
    results = []
    for best in (max(found), max(found, key=lambda one: one[1])):
        cut, idf, C = best[2:]
        train, other = prepared(X, unseen, idf)
        results.append((scores_of(rival, is_kernel, C, train, labels, other), cut, idf, C))
    (scores, cut, idf, C), (ranking, *_) = results
    return scores > cut, ranking, f"C {C:g}, {'idf' if idf else 'binary'}, cut {cut:.2f}"


def _fold(X: Any, labels: np.ndarray, train: np.ndarray, held: np.ndarray, idf: bool) -> tuple[Any, np.ndarray, Any]:
    words, other = prepared(X[train], X[held], idf)
    return words, labels[train], other


def calibration(
    X: Any, labels: np.ndarray, unseen: Any, truth: np.ndarray, seed: int
) -> dict[str, tuple[float, float]]:
    """Return log-loss of a row and calibration error, with a sigmoid for all labels and with one for each."""
    order = np.random.default_rng(seed).permutation(len(labels))
    n_held = int(CALIBRATING * len(labels))
    held, rest = np.sort(order[:n_held]), np.sort(order[n_held:])
    # scores as they are, of a model that has not seen the rows it is calibrated on
    model = HarmoniumClassifier(head=MultiLabelHinge(C=0.1), validation_fraction=0, random_state=seed)
    model.fit({"words": X[rest]}, labels[rest])
    use = np.flatnonzero((labels[rest].sum(axis=0) > 0) & (labels[held].sum(axis=0) > 0))
    shown, fresh = (model.decision_function({"words": words})[:, use] for words in (X[held], unseen))
    answers, right = labels[held][:, use].astype(float), truth[:, use]
    result = {}
    for name, fit in (("one sigmoid for all labels", fit_sigmoid), ("one for each, shrunk", fit_sigmoids)):
        factor, shift = fit(shown, answers, np.ones(n_held))
        probability = 1 / (1 + np.exp(-np.clip(factor * fresh + shift, -30, 30)))
        losses = -np.where(right > 0, np.log(probability), np.log1p(-probability))
        pairs = np.stack([1 - probability.ravel(), probability.ravel()], axis=1)
        error = expected_calibration_error(pairs, right.ravel().astype(int))
        result[name] = (float(losses.sum(axis=1).mean()), error)
    return result


def questions(models: list[HarmoniumClassifier]) -> tuple[list[Callable[..., Any]], list[Callable[..., Any]]]:
    """Return the methods that predict, and those that rank."""
    return [model.predict for model in models], [model.decision_function for model in models]


def measured(
    name: str, setting: str, truth: np.ndarray, predicted: list[Any], scores: list[Any], seconds: float
) -> list[Any]:
    """Return a row of the table."""
    f1 = [example_f1(truth, one) for one in predicted]
    ranking = [float(label_ranking_average_precision_score(truth, one)) for one in scores]
    cells = [with_deviation(values) if len(values) > 1 else values[0] for values in (f1, ranking)]
    row = [name, setting, *cells, float(np.mean([one.sum(axis=1).mean() for one in predicted])), seconds]
    print(row, flush=True)
    return row


def run(options: SimpleNamespace) -> Result:
    """Tune and fit everything on training rows, then look at test rows."""
    result = Result()
    for name, load in (("enron", load_enron), ("medical", load_medical)):
        (views, y), (other, truth) = load().train(), load().test()
        assert y is not None
        assert truth is not None
        X, unseen = views["words"], other["words"]
        rows: list[list[Any]] = []
        share = y.mean(axis=0)
        prior = np.tile(share, (len(truth), 1))
        n_labels = round(float(y.sum(axis=1).mean()))
        most = np.argsort(-share, kind="stable")[:n_labels]
        frequent = np.tile(np.isin(np.arange(len(share)), most), (len(truth), 1))
        rows.append(measured(f"the {n_labels} most frequent labels", "–", truth, [frequent], [prior], 0.0))
        for label in RIVALS:
            begin = time.perf_counter()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # about steps that did not converge
                predicted, scores, setting = tuned(label, X, y, unseen, options.folds)
            rows.append(measured(label, setting, truth, [predicted], [scores], time.perf_counter() - begin))
        models, seconds = [], []
        for seed in range(options.seeds):
            begin = time.perf_counter()
            models.append(HarmoniumClassifier(random_state=seed).fit(views, y))
            seconds.append(time.perf_counter() - begin)
        chosen = "; ".join(f"C {model.fitted_.C:g}, {model.n_iter_} epochs" for model in models)
        predicted, scores = ([ask(other) for ask in asks] for asks in questions(models))
        rows.append(measured("`HarmoniumClassifier()`", chosen, truth, predicted, scores, float(np.median(seconds))))
        result.text(
            f"{name}: {len(y):,} training and {len(truth):,} test rows, {y.shape[1]} labels, "
            f"{truth.sum(axis=1).mean():.2f} of a test row."
        )
        columns = {
            "method": None,
            "chosen": None,
            "F1": "{:.3f}",
            "ranking": "{:.3f}",
            "labels": "{:.2f}",
            "s": "{:.0f}",
        }
        result.table(name, columns, rows)
        found = [calibration(X, y, unseen, truth, seed) for seed in range(options.seeds)]
        lines = [[key, *(with_deviation([one[key][place] for one in found]) for place in range(2))] for key in found[0]]
        result.table(f"{name}_calibration", {"probabilities": None, "log-loss": "{:.3f}", "error": "{:.4f}"}, lines)
    result.text(
        "F1 is that of a row's labels, ranking the average precision of ranking them, both means over test rows; "
        f"labels is how many are predicted for a row; seconds include tuning. Ours: means of {options.seeds} seeds ± "
        f"standard deviation. Probabilities are calibrated on {100 * CALIBRATING:g} % of the training rows, of labels "
        "that occur there and in the others; log-loss is that of a row, the error is the expected calibration error of "
        "ten bins."
    )
    return result
