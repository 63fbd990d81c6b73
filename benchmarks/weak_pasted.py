"""Vehicles pasted at random places of other photographs: labels are known in training, places are not.

The canvases (`prepared/pasted.py`) are real pixels, but neither the middle nor a border tells where the object is.
Candidates are boxes as of a detector, of which one lies on the object, or some 200 proposals of merged segments, which
know nothing of objects. All methods get the same candidates, features (histograms of oriented gradients) and
beginning: the candidates that speak most clearly for their label in a ridge regression, or random ones. Three tenths of
the vehicles, on photographs of their own, are a development part: the C of every method, loss and kind of candidates is
the one with the lowest loss there. The others are split 60/40 anew for every test. J = β = 0.1 as in the paper.

The 0/1 loss asks for the right label and the candidate that overlaps most with the object; the overlap loss is 1 − IoU
with the object's box, 1 for a wrong label. Losses are in per cent.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from types import SimpleNamespace
from typing import Any

import numpy as np
from joblib import Memory
from scipy.stats import t as student
from scipy.stats import ttest_rel
from threadpoolctl import threadpool_limits

from benchmarks.measuring import with_deviation
from benchmarks.prepared import CACHE
from benchmarks.prepared.pasted import canvases
from benchmarks.prepared.pasted_windows import Proposed, few, windows
from benchmarks.prepared.shapes_windows import LOSSES, Photographs, beginning, fit, split
from benchmarks.registry import Benchmark
from benchmarks.results import Result
from harmonium import HarmoniumWarning
from harmonium.weak import IterativeLatentSVM, LatentSVM, MatrixLoss

BENCHMARK = Benchmark(
    title="Weakly supervised detection of pasted objects",
    claim="vehicles pasted on other photographs: label and place by the same four; when the dissimilarity leads",
    minutes=20,
    first_minutes=8,
    data=("shapes", "caltech4"),
    settings={"splits": 10, "resume": False},
)
C_GRID = (0.001, 0.01, 0.1, 1.0, 10.0)
N_DEVELOPMENT_SPLITS = 2
OURS, LATENT, LABELS = "dissimilarity", "latent SVM", "latent SVM, loss of labels alone"
METHODS = (LATENT, "iterative latent SVM", OURS, "MI-SVM", LABELS)
RIVALS_OF_ONE_LOSS = ("MI-SVM", LABELS)
KNOWN = "latent SVM, boxes known in training"


@dataclass(frozen=True)
class Condition:
    """Candidates, and which of them learning begins with."""

    data: Callable[[], Photographs]
    begin: str = "regression"
    methods: tuple[str, ...] = (LATENT, OURS, LABELS)


CONDITIONS = {
    "5 boxes": Condition(partial(few, 5)),
    "10 boxes": Condition(partial(few, 10)),
    "20 boxes": Condition(partial(few, 20), methods=METHODS),
    "40 boxes": Condition(partial(few, 40)),
    "20 boxes, 5 of them near": Condition(partial(few, 20, 5)),
    "20 boxes, 10 of them near": Condition(partial(few, 20, 10)),
    "20 boxes, random beginning": Condition(partial(few, 20), begin="random"),
    "proposals": Condition(partial(windows, Proposed()), methods=METHODS),
}
MAIN = ("20 boxes", "proposals")
Measured = dict[str, float]
Key = tuple[str, str, str]  # condition, method, loss


@lru_cache(maxsize=1)
def candidates(condition: str) -> Photographs:
    """Return the candidates of all canvases."""
    return CONDITIONS[condition].data()


def learned(method: str, loss_name: str, C: float, bags: Any, y: np.ndarray, begin: np.ndarray, best: np.ndarray) -> Any:
    """Return a fitted model with ``predict_latent``."""
    if method == LABELS:
        n_classes = len(np.unique(y))
        return LatentSVM(C=C, loss=MatrixLoss(1 - np.eye(n_classes)), initial=begin, n_jobs=1).fit(bags, y)
    if method == KNOWN:
        return IterativeLatentSVM(C=C, loss=LOSSES[loss_name], n_jobs=1).fit(bags, y, latent=best)
    return fit(method, loss_name, C, bags, y, begin)


def measured(condition: str, method: str, loss_name: str, C: float, fold: int, development: bool) -> Measured:
    """Return what one fit on a split of a part achieves on the rest of it."""
    warnings.simplefilter("ignore", HarmoniumWarning)  # weights of zero show in the losses
    data, y = candidates(condition), candidates(condition).target
    train, test = split(np.flatnonzero(canvases().is_development == development), y, fold)
    bags, chosen = data.bags(train), CONDITIONS[condition].begin
    own = bags[train]
    if chosen == "random":
        begin = np.random.default_rng(fold).integers(0, own.sizes)
    else:
        begin = beginning(chosen, data, bags, train)
    started = time.process_time()
    model = learned(method, loss_name, C, own, y[train], begin, data.best[train])
    seconds = time.process_time() - started
    found = data.measure(model.predict_latent, bags, test)
    certainty = np.nan
    if method == OURS:
        certainty = float(np.mean([P.max() for P in model.latent_posterior(own, y[train])]))
    begun = float(data.overlap[data.offsets[train] + begin].mean())
    return {**found, "C": C, "seconds": seconds, "certainty": certainty, "beginning": begun}


def run(options: SimpleNamespace) -> Result:
    """Choose C on the development part and test; with ``resume`` finished fits are taken from disk."""
    task = Memory(CACHE, verbose=0).cache(measured) if options.resume else measured
    chosen: dict[Key, dict[float, float]] = {}
    found: dict[Key, list[Measured]] = {}
    seconds = 0.0
    with threadpool_limits(1):
        for condition, settings in CONDITIONS.items():
            for method in [*settings.methods, *([KNOWN] if condition in MAIN else [])]:
                for loss_name in LOSSES:
                    key = (condition, method, loss_name)
                    trained = "0/1" if method in RIVALS_OF_ONE_LOSS else loss_name
                    one = partial(task, condition, method, trained)
                    tried = {C: [one(C, fold, True) for fold in range(N_DEVELOPMENT_SPLITS)] for C in C_GRID}
                    chosen[key] = {C: mean_of(tried[C], loss_name) for C in C_GRID}
                    C = min(C_GRID, key=chosen[key].__getitem__)
                    found[key] = [one(C, fold, False) for fold in range(options.splits)]
                    seconds += sum(fit["seconds"] for fits in [*tried.values(), found[key]] for fit in fits)
                    print(f"{seconds:.0f} s", *key, C, round(mean_of(found[key], loss_name), 1), flush=True)
    return report(found, chosen, seconds)


def mean_of(fits: list[Measured], what: str) -> float:
    """Return the mean over splits."""
    return float(np.mean([fit[what] for fit in fits]))
