"""Choosing C and the number of epochs on rows held out from training: a warm-started path.

Values of C are tried from large (mostly a model of the label) to small (mostly a model of the views), each from where
the one before was best, and all but the first for half as many epochs. Errors are averaged over folds, of which small
data get several. What was chosen is then done again on all rows: the same stages, each with the same number of epochs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from sklearn.model_selection import KFold, ShuffleSplit, StratifiedKFold, StratifiedShuffleSplit

from harmonium.objectives.problem import Problem
from harmonium.params import Parameters, copy_parameters
from harmonium.targets import Targets
from harmonium.training.base import INTERRUPTED, Training
from harmonium.training.checkpoint import Checkpoint
from harmonium.training.plan import Plan
from harmonium.training.progress import Reporter
from harmonium.training.state import resumable
from harmonium.views.data import Data

# All four are conventions: no benchmark chooses them. Below this many labelled rows, one set of held-out rows is too
# small to choose by, and there are several folds.
_MANY_ROWS = 400
_FOLDS = 3
# Errors are averaged over this many epochs, as those of single epochs are noisy.
_WINDOW = 3
# A stage ends after half of its epochs, and at least this share of those planned, without a smaller error.
_PATIENCE = 0.25


@resumable
@dataclass(frozen=True)
class Stage:
    """A number of epochs with one C."""

    C: float
    epochs: int


@resumable
@dataclass
class Fold:
    """Where the search stands on one fold.

    Attributes
    ----------
    training : Training
        The fit to all rows but those held out.
    curve : list of float
        Held-out errors of this value of C, by epoch.
    lowest : float
        The smallest of them, averaged over a few epochs.
    waited : int
        Number of epochs since then.
    n_iter : int
        Number of epochs, iterations or moves until then.
    parameters : dict of str to ndarray, optional
        Parameters of that epoch.
    scores : ndarray of shape (rows, outputs), optional
        Scores of the held-out rows at that epoch.
    """

    training: Training
    curve: list[float] = field(default_factory=list)
    lowest: float = np.inf
    waited: int = 0
    n_iter: int = 0
    parameters: Parameters | None = None
    scores: np.ndarray | None = None

    def begin(self) -> None:
        """Start a new value of C, where the last one was best."""
        if self.parameters is not None:
            self.training = Training(copy_parameters(self.parameters))
        self.curve, self.lowest, self.waited, self.parameters, self.scores = [], np.inf, 0, None, None

    def candidate(self, C: float) -> Candidate | None:
        """Return the model of the smallest error with this value of C; None before the first epoch is complete."""
        if self.parameters is None or self.scores is None:
            return None
        n_best = len(self.curve) - self.waited
        training = Training(
            self.parameters,
            n_iter=self.n_iter,
            history={name: values[:n_best] for name, values in self.training.history.items()},
            stopped=INTERRUPTED,
            n_items=self.training.n_items,
            n_settled=self.training.n_settled,
        )
        return Candidate(C, training, self.scores)


@resumable
@dataclass(frozen=True)
class Candidate:
    """A model that has not seen the held-out rows of the first fold, and its scores of them."""

    C: float
    training: Training
    scores: np.ndarray


@resumable
@dataclass
class Search:
    """Where the search for C and the number of epochs stands.

    Attributes
    ----------
    folds : list of Fold
        Where it stands on each fold.
    curves : list of list of float
        Held-out errors of the folds that are done with the present value of C.
    stages : list of Stage
        Values of C that are done on all folds, and the number of epochs that was best for each.
    record : dict of str to list of float
        C, epoch and held-out error of everything that was tried.
    lowest : float
        The smallest error, averaged over folds.
    n_best : int
        Number of stages up to that error.
    scores : list of ndarray of shape (rows, outputs)
        Scores of the held-out rows of each fold at that stage, by models that have not seen them.
    candidate : Candidate, optional
        The model of the first fold at that stage, for users who do not wait for the end.
    """

    folds: list[Fold]
    curves: list[list[float]] = field(default_factory=list)
    stages: list[Stage] = field(default_factory=list)
    record: dict[str, list[float]] = field(default_factory=lambda: {"C": [], "epoch": [], "error": []})
    lowest: float = np.inf
    n_best: int = 0
    scores: list[np.ndarray] = field(default_factory=list)
    candidate: Candidate | None = None

    def add(self, C: float) -> None:
        """Take note that all folds are done with a value of C."""
        curve = _smooth(np.mean([c[: min(map(len, self.curves))] for c in self.curves], axis=0))
        epochs = len(curve) - int(np.argmin(curve[::-1]))  # the last one of equals
        self.stages.append(Stage(C, epochs))
        self.curves = []
        self._write_down(C, curve)
        if curve[epochs - 1] < self.lowest:
            self.lowest, self.n_best = float(curve[epochs - 1]), len(self.stages)
            self.scores = [fold.scores for fold in self.folds if fold.scores is not None]
            self.candidate = self.folds[0].candidate(C)

    def best_so_far(self, path: Sequence[float]) -> Candidate | None:
        """Return the model of the first fold at the best value of C, or at the first one, though it is not done."""
        if self.candidate is not None or not self.folds:
            return self.candidate
        found = self.folds[0].candidate(path[0])
        if found is not None:
            self._write_down(path[0], _smooth(np.array(self.folds[0].curve)))
        return found

    def _write_down(self, C: float, curve: np.ndarray) -> None:
        for epoch, error in enumerate(curve, start=1):
            for name, value in (("C", C), ("epoch", epoch), ("error", float(error))):
                self.record[name].append(value)


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


def search(
    found: Search,
    problem: Problem,
    plan: Plan,
    data: Data,
    nats: float,
    rows: Sequence[Sequence[np.ndarray]],
    rng: np.random.Generator,
    reporter: Reporter,
    checkpoint: Checkpoint,
) -> None:
    """Search for the value of C and the number of epochs that are best on average over the folds, from where it stands.

    ``nats`` is the unit of C: what an average item costs to describe. ``rows`` are training rows and held-out rows of
    each fold.
    """
    assert problem.head is not None
    path, driver = problem.head.weights_to_try, plan.driver
    watched = [
        _Held(problem, data.take(train), data.take(held), driver.epochs(len(train)), fold)
        for (train, held), fold in zip(rows, found.folds, strict=True)
    ]
    for C in path[len(found.stages) :]:
        weighted = replace(problem, strength=C * nats)
        for held in watched[len(found.curves) :]:
            fold = held.fold
            last = None if path[0] == C else -(-held.planned // 2)
            driver.run(weighted, plan.objective, held.train, fold.training, rng, reporter, held, last, checkpoint)
            found.curves.append(fold.curve)
        found.add(C)
        for fold in found.folds:
            fold.begin()


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


@dataclass(frozen=True)
class _Held:
    """Watches the error on held-out rows and keeps the parameters at which it was smallest."""

    problem: Problem
    train: Data
    held: Data
    planned: int
    fold: Fold

    def __call__(self, training: Training) -> bool:
        head, targets, fold = self.problem.head, self.held.targets, self.fold
        assert head is not None
        assert targets is not None
        scores = held_out_scores(self.problem, self.held, training)
        errors = head.error(scores, targets.values)
        fold.curve.append(float(np.average(errors, weights=targets.weight)))
        error = float(_smooth(np.array(fold.curve))[-1])
        if error <= fold.lowest:
            fold.lowest, fold.waited, fold.n_iter = error, 0, training.n_iter
            fold.parameters = copy_parameters(training.result)
            fold.scores = scores
        else:
            fold.waited += 1
        return fold.waited >= max(_PATIENCE * self.planned, len(fold.curve) / 2, _WINDOW)
