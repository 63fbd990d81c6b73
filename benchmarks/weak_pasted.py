"""Vehicles pasted at random places of other photographs: labels are known in training, places are not.

The canvases (`prepared/pasted.py`) are real pixels, but neither the middle nor a border tells where the object is.
Candidates are boxes as of a detector, of which one lies on the object; `weak_proposals` has some that know nothing of
objects. All methods get the same candidates, features (histograms of oriented gradients) and beginnings: the candidates
that speak most clearly for their label in a ridge regression, of all canvases and of canvases weighed at random. Each
learner keeps the beginning that leads to its lowest bound, which is known without boxes; MI-SVM and learners that are
said to begin once have the first alone. Three tenths of the vehicles, on photographs of their own, are a development
part: the C of every method, loss and kind of candidates is the one with the lowest loss there. Development and test
splits train on equally many canvases, so that C means the same. J = β = 0.1 as in the paper.

The 0/1 loss asks for the right label and the candidate that overlaps most with the object; the overlap loss is 1 − IoU
with the object's box, 1 for a wrong label. Losses are in per cent.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import lru_cache, partial
from types import SimpleNamespace
from typing import Any

import numpy as np
from joblib import Memory
from scipy.stats import t as student
from scipy.stats import ttest_1samp
from sklearn.model_selection import train_test_split
from threadpoolctl import threadpool_limits

from benchmarks.measuring import with_deviation
from benchmarks.prepared import CACHE
from benchmarks.prepared.pasted import canvases
from benchmarks.prepared.pasted_windows import Proposed, few, windows
from benchmarks.prepared.shapes_windows import KINDS, LOSSES, Photographs, beginning, fit
from benchmarks.registry import Benchmark
from benchmarks.results import Result
from harmonium import HarmoniumWarning
from harmonium.weak import Bags, DissimilarityClassifier, LatentSVM, MatrixLoss

BENCHMARK = Benchmark(
    title="Weakly supervised detection of pasted objects",
    claim="vehicles pasted on other photographs: label and place by latent SVMs, the dissimilarity and MI-SVM",
    minutes=10,
    first_minutes=2,
    data=("shapes", "caltech4"),
    settings={"boxes": (10, 20), "splits": 5, "beginnings": 3, "processes": 1, "resume": False},
)
# 10 was the worst for all learners on development canvases, begun once, with 10 and 20 boxes, and the slowest
C_GRID = (0.1, 1.0)
N_DEVELOPMENT_SPLITS = 2
# canvases to train and to test on in every split of either part; the development part has 463 in all
N_TRAINING, N_TEST = 324, 216
OURS, LATENT, LABELS = "dissimilarity", "latent SVM", "latent SVM, loss of labels alone"
RIVALS_OF_ONE_LOSS = ("MI-SVM", LABELS)
KNOWN = "latent SVM, all boxes known in training"
ONCE = ", begun once"


@dataclass(frozen=True)
class Condition:
    """Candidates, and the methods to compare on them."""

    data: Callable[[], Photographs]
    methods: tuple[str, ...] = (OURS, LATENT, LABELS, "MI-SVM")


PROPOSALS = "proposals"
CONDITIONS = {
    **{f"{number} boxes": Condition(partial(few, number)) for number in (5, 10, 40)},
    # what several beginnings are worth is shown on one kind of candidates, for time
    "20 boxes": Condition(partial(few, 20), (*Condition.methods, OURS + ONCE, LATENT + ONCE)),
    PROPOSALS: Condition(partial(windows, Proposed())),
}
# side of the middle box as a share of the canvas's: about that of objects
MIDDLE = 0.4
Measured = dict[str, float]
Key = tuple[str, str, str]  # condition, method, loss


@lru_cache(maxsize=1)
def candidates(condition: str) -> Photographs:
    """Return the candidates of all canvases."""
    return CONDITIONS[condition].data()


def learned(method: str, loss_name: str, C: float, beginnings: int, given: Split, y: np.ndarray, best: Any) -> Any:
    """Return a fitted model with ``predict_latent``."""
    if method == "MI-SVM":
        return fit(method, loss_name, C, given.own, y, given.begin)
    labels_alone = MatrixLoss(1 - np.eye(len(np.unique(y))))
    kind, loss = (LatentSVM, labels_alone) if method == LABELS else (kind_of(method), LOSSES[loss_name])
    n_init = 1 if method == KNOWN or method.endswith(ONCE) else beginnings
    model = kind(C=C, loss=loss, n_init=n_init, n_jobs=1, random_state=0)
    return model.fit(given.own, y, latent=best if method == KNOWN else None)


def kind_of(method: str) -> Any:
    """Return the class of a learner."""
    return KINDS.get(method.removesuffix(ONCE), LatentSVM)


@dataclass(frozen=True)
class Split:
    """Training and test canvases as bags, and what learning begins with."""

    train: np.ndarray
    test: np.ndarray
    own: Bags
    others: Bags
    begin: np.ndarray


@lru_cache(maxsize=12)  # all splits of one kind of candidates
def prepared(condition: str, fold: int, development: bool) -> Split:
    """Return a split of a part; features are scaled by the training canvases."""
    data = candidates(condition)
    train, test = rows_of(data.target, fold, development)
    bags = data.bags(train)
    return Split(train, test, bags[train], bags[test], beginning("regression", data, bags, train))


def rows_of(y: np.ndarray, fold: int, development: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return the training and test canvases of a split."""
    rows = np.flatnonzero(canvases().is_development == development)
    train, test = train_test_split(rows, train_size=N_TRAINING, stratify=y[rows], random_state=fold)
    return train, test[:N_TEST]


def measured(
    condition: str, method: str, loss_name: str, beginnings: int, C: float, fold: int, development: bool
) -> Measured:
    """Return what one fit on a split of a part achieves on the rest of it."""
    warnings.simplefilter("ignore", HarmoniumWarning)  # weights of zero show in the losses
    data, given = candidates(condition), prepared(condition, fold, development)
    y, best = data.target[given.train], data.best[given.train]
    started = time.process_time()
    model = learned(method, loss_name, C, beginnings, given, y, best)
    seconds = time.process_time() - started
    found = data.measured(model.predict_latent(given.others), given.test)
    certainty = np.nan
    if kind_of(method) is DissimilarityClassifier:
        certainty = float(np.mean([P.max() for P in model.latent_posterior(given.own, y)]))
    begun = float(data.overlap[data.offsets[given.train] + given.begin].mean())
    return {**found, "C": C, "seconds": seconds, "certainty": certainty, "beginning": begun}


def run(options: SimpleNamespace) -> Result:
    """Compare the methods on boxes; `weak_proposals` does so on proposals."""
    return compared([f"{number} boxes" for number in options.boxes], options)


def compared(conditions: list[str], options: SimpleNamespace) -> Result:
    """Choose C on the development part and test; with ``resume`` finished fits are taken from disk.

    What one method trained for one loss does on one kind of candidates is a task of its own for the processes.
    """
    tasks = [
        (condition, method, trained)
        for condition in conditions
        for method in [*CONDITIONS[condition].methods, KNOWN]
        for trained in (["0/1"] if method in RIVALS_OF_ONE_LOSS else LOSSES)
    ]
    for condition in conditions:
        candidates(condition)  # made once, by this process
    chosen: dict[Key, dict[float, float]] = {}
    found: dict[Key, list[Measured]] = {}
    with ProcessPoolExecutor(options.processes) as pool:
        for task, answers in zip(tasks, pool.map(partial(explored, options), tasks), strict=True):
            for loss_name, (by_C, fits) in answers.items():
                chosen[(*task[:2], loss_name)], found[(*task[:2], loss_name)] = by_C, fits
    seconds = sum(fit["seconds"] for fits in found.values() for fit in fits)
    return report(conditions, found, chosen, seconds)


def explored(options: SimpleNamespace, task: Key) -> dict[str, tuple[dict[float, float], list[Measured]]]:
    """Return, for each loss to measure, its value for each C on the development part, and the tests of the best C."""
    condition, method, trained = task
    fit_one = Memory(CACHE, verbose=0).cache(measured) if options.resume else measured
    # rivals that know one loss only are asked twice for the same fits
    one = lru_cache(maxsize=None)(partial(fit_one, condition, method, trained, options.beginnings))
    answers = {}
    with threadpool_limits(1):
        for loss_name in LOSSES if method in RIVALS_OF_ONE_LOSS else [trained]:
            tried = {C: [one(C, fold, True) for fold in range(N_DEVELOPMENT_SPLITS)] for C in C_GRID}
            by_C = {C: mean_of(tried[C], loss_name) for C in C_GRID}
            C = min(C_GRID, key=by_C.__getitem__)
            answers[loss_name] = by_C, [one(C, fold, False) for fold in range(options.splits)]
            print(*task, C, by_C, round(mean_of(answers[loss_name][1], loss_name), 1), flush=True)
    return answers


def mean_of(fits: list[Measured], what: str) -> float:
    """Return the mean over splits."""
    return float(np.mean([fit[what] for fit in fits]))


def of_splits(fits: list[Measured], what: str) -> np.ndarray:
    """Return a measure of all splits."""
    return np.array([fit[what] for fit in fits])


def corrected_p(differences: np.ndarray) -> float:
    """Return the p of a paired t-test over splits that share rows (Nadeau and Bengio 2003)."""
    n_splits, spread = len(differences), float(differences.std(ddof=1))
    if spread == 0:
        return float("nan")
    statistic = differences.mean() / (spread * np.sqrt(1 / n_splits + N_TEST / N_TRAINING))
    return float(2 * student.sf(abs(statistic), n_splits - 1))


def baselines(condition: str, splits: int) -> list[list[Any]]:
    """Return the losses of the most frequent class with the middle candidate, and with any."""
    data, y = candidates(condition), candidates(condition).target
    middle = data.nearest_to(MIDDLE)
    fits: dict[str, list[Measured]] = {"most frequent class, middle box": [], "most frequent class, any box": []}
    for fold in range(splits):
        train, test = rows_of(y, fold, development=False)
        label = np.bincount(y[train]).argmax()
        rng, sizes = np.random.default_rng(fold), np.diff(data.offsets)[test]
        for name, boxes in zip(fits, (middle[test], rng.integers(0, sizes)), strict=True):
            fits[name].append(data.measured((np.full(len(boxes), label), boxes), test))
    return [[name, *measures(own, own)] for name, own in fits.items()]


def measures(zero_one: list[Measured], overlap: list[Measured]) -> list[Any]:
    """Return both losses, and labels and boxes of what was trained for the overlap loss."""
    return [
        with_deviation(of_splits(zero_one, "0/1"), ddof=1),
        with_deviation(of_splits(overlap, "overlap"), ddof=1),
        mean_of(overlap, "label"),
        mean_of(overlap, "IoU"),
    ]


def report(
    conditions: list[str], found: dict[Key, list[Measured]], chosen: dict[Key, dict[float, float]], seconds: float
) -> Result:
    """Return the losses of all methods, when the dissimilarity leads, and how C was chosen."""
    result = Result()
    n_development = int(canvases().is_development.sum())
    result.text(
        f"Each of the splits trains on {N_TRAINING} and tests on {N_TEST} of {len(canvases().target) - n_development} "
        f"canvases, beside {n_development} for development. p: paired t-test over splits against dissimilarity trained "
        "for the same loss, as in the paper; corrected p: the same with the variance of splits that share canvases "
        "(Nadeau and Bengio 2003). IoU and wrong labels are those of the fits for the overlap loss. The fits of the "
        f"tests took {seconds / 60:.0f} minutes of processor time."
    )
    for condition in conditions:
        data = candidates(condition)
        sizes = np.diff(data.offsets)
        begun = mean_of(found[condition, OURS, "overlap"], "beginning")
        best = data.overlap[data.offsets[:-1] + data.best][~canvases().is_development].mean()
        result.text(
            f"{condition[0].upper()}{condition[1:]}: {sizes.min()} to {sizes.max()} candidates, IoU of the best one "
            f"{best:.3f}, of those that learning begins with {begun:.3f}; "
            f"{len(found[condition, OURS, 'overlap'])} splits."
        )
        n_splits = len(found[condition, OURS, "overlap"])
        rows = [[*row, "–", "–", "–", "–", "–", "–"] for row in baselines(condition, n_splits)]
        for method in [*CONDITIONS[condition].methods, KNOWN]:
            zero_one, overlap = (found[condition, method, loss] for loss in LOSSES)
            tests: list[Any] = []
            for loss in LOSSES:
                gap = of_splits(found[condition, OURS, loss], loss) - of_splits(found[condition, method, loss], loss)
                compared = method not in (OURS, KNOWN)
                tests += [paired_p(gap), corrected_p(gap)] if compared else ["–", "–"]
            C = [found[condition, method, loss][0]["C"] for loss in LOSSES]
            rows.append([method, *measures(zero_one, overlap), *tests, *C])
        result.table(condition, COLUMNS, rows)
    result.text(
        "When it leads. Difference: loss of dissimilarity less that of the latent SVM (below 0: better), mean and 95 % "
        "interval of the paired t-test; P: mean probability of the likeliest candidate under P_θ in training, 1 if it "
        "is certain."
    )
    result.table("conditions", CONDITION_COLUMNS, [row for name in conditions for row in compared_rows(found, name)])
    result.text(f"Loss on the development part for each C, means over {N_DEVELOPMENT_SPLITS} splits.")
    columns = {"candidates": None, "method": None, "loss": None, **{f"C = {C:g}": "{:.1f}" for C in C_GRID}}
    result.table("development", columns, [[*key, *by_C.values()] for key, by_C in chosen.items()])
    return result


COLUMNS = {
    "method": None,
    "0/1 loss": "{:.1f}",
    "overlap loss": "{:.1f}",
    "wrong label": "{:.1f}",
    "IoU": "{:.3f}",
    "p 0/1": "{:.2g}",
    "corrected p 0/1": "{:.2g}",
    "p overlap": "{:.2g}",
    "corrected p overlap": "{:.2g}",
    "C 0/1": None,
    "C overlap": None,
}
CONDITION_COLUMNS = {
    "candidates": None,
    "loss": None,
    "latent SVM": "{:.1f}",
    "dissimilarity": "{:.1f}",
    "labels alone": "{:.1f}",
    "difference": "{:.1f}",
    "from": "{:.1f}",
    "to": "{:.1f}",
    "p": "{:.2g}",
    "corrected p": "{:.2g}",
    "splits": None,
    "beginning": "{:.2f}",
    "IoU": "{:.2f}",
    "P": "{:.2f}",
}


def paired_p(differences: np.ndarray) -> float:
    """Return the p of a paired t-test."""
    return float(ttest_1samp(differences, 0).pvalue)


def compared_rows(found: dict[Key, list[Measured]], condition: str) -> list[list[Any]]:
    """Return, for each loss, the losses of three methods and what separates the first two."""
    rows: list[list[Any]] = []
    for loss in LOSSES:
        latent, ours, labels = (found[condition, method, loss] for method in (LATENT, OURS, LABELS))
        gap = of_splits(ours, loss) - of_splits(latent, loss)
        half = float(student.ppf(0.975, len(gap) - 1) * gap.std(ddof=1) / np.sqrt(len(gap)))
        rows.append(
            [
                condition,
                loss,
                *(mean_of(fits, loss) for fits in (latent, ours, labels)),
                float(gap.mean()),
                float(gap.mean() - half),
                float(gap.mean() + half),
                paired_p(gap),
                corrected_p(gap),
                len(gap),
                mean_of(ours, "beginning"),
                mean_of(ours, "IoU"),
                mean_of(ours, "certainty"),
            ]
        )
    return rows
