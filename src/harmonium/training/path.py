"""Choosing C and the number of epochs on rows held out from training: a warm-started path.

Values of C are tried from large (mostly a model of the label) to small (mostly a model of the views), each from where
the one before was best, and all but the first for half as many epochs. Errors are averaged over folds, of which small
data get several. What was chosen is then done again on all rows: the same stages, each with the same number of epochs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from sklearn.model_selection import KFold, ShuffleSplit, StratifiedKFold, StratifiedShuffleSplit

from harmonium.objectives import Objective
from harmonium.objectives.problem import Problem
from harmonium.params import copy_parameters
from harmonium.targets import Targets
from harmonium.training.base import Driver, Training
from harmonium.training.progress import Reporter
from harmonium.views.data import Data

# All four are conventions: no benchmark chooses them. Below this many labelled rows, one set of held-out rows is too
# small to choose by, and there are several folds.
_MANY_ROWS = 400
_FOLDS = 3
# Errors are averaged over this many epochs, as those of single epochs are noisy.
_WINDOW = 3
# A stage ends after half of its epochs, and at least this share of those planned, without a smaller error.
_PATIENCE = 0.25


@dataclass(frozen=True)
class Stage:
    """A number of epochs with one C."""

    C: float
    epochs: int


@dataclass
class Choice:
    """What was found on held-out rows.

    Attributes
    ----------
    stages : list of Stage
        What to do on all rows.
    record : dict of str to list of float
        C, epoch and held-out error of everything that was tried.
    scores : ndarray of shape (rows, outputs)
        Scores of the held-out rows, by models that have not seen them.
    targets : Targets
        Targets of the same rows.
    """

    stages: list[Stage]
    record: dict[str, list[float]]
    scores: np.ndarray
    targets: Targets


def held_out_folds(targets: Targets, fraction: float, rng: np.random.Generator) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return (training rows, held-out rows) of each fold.

    Only rows with a target are held out; classes that are frequent enough are held out in proportion.
    """
    known = np.flatnonzero(targets.counting)
    seed = int(rng.integers(2**31 - 1))
    codes = targets.values[known, 0]
    several = len(known) < _MANY_ROWS
    n_held = max(1, round(fraction * len(known)))
    by_class = np.issubdtype(codes.dtype, np.integer)
    if by_class:
        smallest = np.unique(codes, return_counts=True)[1].min()
        by_class = smallest >= _FOLDS and n_held >= len(np.unique(codes))
    if several:
        kind = StratifiedKFold if by_class else KFold
        splitter = kind(max(2, min(_FOLDS, len(known))), shuffle=True, random_state=seed)
    else:
        kind = StratifiedShuffleSplit if by_class else ShuffleSplit
        splitter = kind(1, test_size=n_held, random_state=seed)
    everyone = np.arange(len(targets.weight))
    return [
        (np.setdiff1d(everyone, known[held]), np.sort(known[held]))
        for _, held in splitter.split(np.zeros((len(known), 1)), codes if by_class else None)
    ]


def choose(
    problem: Problem,
    objective: Objective,
    driver: Driver,
    data: Data,
    start: Callable[[], Training],
    path: Sequence[float],
    nats: float,
    folds: list[tuple[np.ndarray, np.ndarray]],
    rng: np.random.Generator,
    reporter: Reporter,
) -> Choice:
    """Return the value of C and the number of epochs that are best on average over the folds.

    ``nats`` is the unit of C: what an average item costs to describe.
    """
    watched = [_Held(problem, data.take(train), data.take(held), driver.epochs(len(train))) for train, held in folds]
    trainings = [start() for _ in folds]
    record: dict[str, list[float]] = {"C": [], "epoch": [], "error": []}
    stages: list[Stage] = []
    best = (np.inf, 0)
    for C in path:
        weighted = replace(problem, strength=C * nats)
        curves = []
        for number, held in enumerate(watched):
            held.begin()
            last = None if path[0] == C else -(-held.planned // 2)
            driver.run(weighted, objective, held.train, trainings[number], rng, reporter, held, last)
            curves.append(held.curve)
            trainings[number] = Training(copy_parameters(held.parameters))
        curve = _smooth(np.mean([c[: min(map(len, curves))] for c in curves], axis=0))
        epochs = len(curve) - int(np.argmin(curve[::-1]))  # the last one of equals
        stages.append(Stage(C, epochs))
        for epoch, error in enumerate(curve, start=1):
            for name, value in (("C", C), ("epoch", epoch), ("error", float(error))):
                record[name].append(value)
        if curve[epochs - 1] < best[0]:
            best = (float(curve[epochs - 1]), len(stages))
            for held in watched:
                held.keep_scores()
    return Choice(
        stages[: best[1]],
        record,
        np.concatenate([held.scores for held in watched]),
        Targets.joined([held.targets for held in watched]),
    )


def held_out_scores(problem: Problem, data: Data, training: Training) -> np.ndarray:
    """Return the scores of rows whose targets are not looked at."""
    head, energy = problem.head, problem.energy
    assert head is not None
    blind = Data(data.views.without(*head.view_names))
    return np.concatenate(
        [
            head.scores(energy, training.result, problem.complete(training.result, batch))
            for batch in blind.blocks(energy.families)
        ]
    )


def _smooth(curve: np.ndarray) -> np.ndarray:
    """Return the mean over the last few epochs."""
    totals = np.concatenate([np.zeros(1), np.cumsum(curve)])
    first = np.maximum(np.arange(len(curve)) + 1 - _WINDOW, 0)
    return (totals[1:] - totals[first]) / (np.arange(len(curve)) + 1 - first)


@dataclass
class _Held:
    """Watches the error on held-out rows and keeps the parameters at which it was smallest."""

    problem: Problem
    train: Data
    held: Data
    planned: int
    curve: list[float] = field(default_factory=list)

    def begin(self) -> None:
        """Start a new value of C."""
        self.curve, self._best, self._waited = [], np.inf, 0

    def __call__(self, training: Training) -> bool:
        head = self.problem.head
        assert head is not None
        scores = held_out_scores(self.problem, self.held, training)
        errors = head.error(scores, self.targets.values)
        self.curve.append(float(np.average(errors, weights=self.targets.weight)))
        error = _smooth(np.array(self.curve))[-1]
        if error <= self._best:
            self._best, self._waited = error, 0
            self.parameters = copy_parameters(training.result)
            self._scores = scores
        else:
            self._waited += 1
        return self._waited >= max(_PATIENCE * self.planned, len(self.curve) / 2, _WINDOW)

    @property
    def targets(self) -> Targets:
        """Targets of the held-out rows."""
        assert self.held.targets is not None
        return self.held.targets

    def keep_scores(self) -> None:
        """Keep the scores of this value of C, which is the best so far."""
        self.scores = self._scores
