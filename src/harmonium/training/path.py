"""Choosing C and the number of epochs on rows held out from training: a warm-started path.

The first value of C makes mostly a model of the label. Smaller ones, which make more and more a model of the views, are
tried as long as held-out errors fall; if the first of them is already worse, larger ones are. Each value goes on from
where the best one before it was best, and all but the first have half as many epochs. If classes are uneven, their
weights are softened last. Errors are averaged over folds, of which small data get several. What was chosen is then done
again on all rows: the same stages, each with the same number of epochs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from harmonium.objectives.problem import Problem
from harmonium.params import Parameters, copy_parameters
from harmonium.training.base import INTERRUPTED, Driver, Training
from harmonium.training.checkpoint import Checkpoint
from harmonium.training.plan import Plan
from harmonium.training.progress import Reporter
from harmonium.training.state import resumable
from harmonium.views.data import Data

# All of these are conventions: no benchmark chooses them. Errors are averaged over this many epochs, as those of single
# epochs are noisy.
_WINDOW = 3
# A stage ends after half of its epochs, and at least this share of those planned, without a smaller error.
_PATIENCE = 0.25
# Factor between values of C, and the most of them in either direction.
_FACTOR, _MOST_STEPS = 4.0, 5
# Values of C that are tried whatever is found: the first, a smaller one, and one further down or up.
_FEWEST_STAGES = 3
# A stage is given up after the first fold if its error there is this many times that of the best stage so far.
_HOPELESS = 1.03


@resumable
@dataclass(frozen=True)
class Stage:
    """A number of epochs with one C.

    Attributes
    ----------
    C : float
        Weight of the loss.
    epochs : int
        Number of epochs; 0 stands for all that are planned.
    softened : bool
        Whether classes weigh less the more rows they have.
    after : int
        Number of the stage that it goes on from; -1 if it is the first.
    error : float
        Held-out error after it.
    """

    C: float
    epochs: int
    softened: bool = False
    after: int = -1
    error: float = np.inf

    def last(self, planned: int) -> int | None:
        """Return the epoch after which to end, though the driver has ``planned`` more; None if it need not."""
        if self.epochs:
            return self.epochs
        return None if self.after < 0 else -(-planned // 2)

    def rows(self, driver: Driver, n_rows: int) -> int:
        """Return the number of rows that are visited at most, if there are ``n_rows`` to train by."""
        return driver.planned_rows(n_rows, self.last(driver.epochs(n_rows)))


@resumable
@dataclass
class Fold:
    """Where the search stands on one fold.

    Attributes
    ----------
    training : Training
        The fit to all rows but those held out.
    curve : list of float
        Held-out errors of this stage, by epoch.
    lowest : float
        The smallest of them, averaged over a few epochs.
    waited : int
        Number of epochs since then.
    n_iter : int
        Number of epochs of all stages until then.
    parameters : dict of str to ndarray, optional
        Parameters of that epoch.
    scores : ndarray of shape (rows, outputs), optional
        Scores of the held-out rows at that epoch.
    all_scores : list of ndarray of shape (rows, outputs)
        Scores of the held-out rows at each epoch of this stage, if several folds have to agree on one.
    best : dict of str to ndarray, optional
        Parameters that the next stage goes on from: those of the best stage.
    """

    training: Training
    curve: list[float] = field(default_factory=list)
    lowest: float = np.inf
    waited: int = 0
    n_iter: int = 0
    parameters: Parameters | None = None
    scores: np.ndarray | None = None
    all_scores: list[np.ndarray] = field(default_factory=list)
    best: Parameters | None = None

    def begin(self, improved: bool) -> None:
        """Start a new stage where the best one was best; the last one is that if it ``improved``."""
        if improved:
            self.best = self.parameters
        if self.best is not None:
            self.training = Training(copy_parameters(self.best))
        self.curve, self.lowest, self.waited, self.parameters, self.scores = [], np.inf, 0, None, None
        self.all_scores = []

    def scores_after(self, epochs: int) -> np.ndarray:
        """Return the scores of the held-out rows after some epochs of this stage; the best, if no others are kept."""
        assert self.scores is not None
        return self.all_scores[epochs - 1] if self.all_scores else self.scores

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
        Held-out errors of the folds that are done with the present stage.
    stages : list of Stage
        Stages that are done on all folds, with the number of epochs that was best for each.
    best : int
        Number of the stage of the smallest error; -1 if none is done.
    record : dict of str to list of float
        C, epoch and held-out error of everything that was tried.
    scores : list of ndarray of shape (rows, outputs)
        Scores of the held-out rows of each fold at the best stage, by models that have not seen them.
    candidate : Candidate, optional
        The model of the first fold at that stage, for users who do not wait for the end.
    lowest_first : float
        Smallest error of the first fold at that stage.
    """

    folds: list[Fold]
    curves: list[list[float]] = field(default_factory=list)
    stages: list[Stage] = field(default_factory=list)
    best: int = -1
    record: dict[str, list[float]] = field(default_factory=lambda: {"C": [], "epoch": [], "error": []})
    scores: list[np.ndarray] = field(default_factory=list)
    candidate: Candidate | None = None
    lowest_first: float = np.inf

    @property
    def trained(self) -> list[Parameters]:
        """Parameters of each fold at the best stage."""
        return [fold.best for fold in self.folds if fold.best is not None]

    @property
    def chosen(self) -> list[Stage]:
        """The stages that lead to the best one, itself included, in order; none before one is done."""
        stages, number = [], self.best
        while number >= 0:
            stages.append(self.stages[number])
            number = self.stages[number].after
        return stages[::-1]

    def next_stage(self, first_C: float, is_chosen: bool, may_soften: bool) -> Stage | None:
        """Return what to try next, with epochs of zero; None if nothing is left to try."""
        if not self.stages:
            return Stage(first_C, 0)
        best, last = self.stages[self.best], self.stages[-1]
        if last.softened:
            return None
        if is_chosen:
            improved = self.best == len(self.stages) - 1
            # downwards first, as long as it helps; upwards if the very first step down did not
            down = first_C > last.C or len(self.stages) == 1
            factor = 1 / _FACTOR if down else _FACTOR
            if not improved and down and self.best == 0:
                improved, factor = True, _FACTOR
            C = best.C * factor
            if improved and abs(np.log(C / first_C)) < (_MOST_STEPS + 0.5) * np.log(_FACTOR):
                return Stage(C, 0, after=self.best)
        return Stage(best.C, 0, softened=True, after=self.best) if may_soften else None

    def n_sure(self, stage: Stage, is_chosen: bool, may_soften: bool) -> int:
        """Return how many stages follow the present one, whatever it finds."""
        steps = max(0, _FEWEST_STAGES - len(self.stages) - 1) if is_chosen else 0
        return steps + (may_soften and not stage.softened)

    @property
    def is_hopeless(self) -> bool:
        """Whether the first fold, which alone is done with the present stage, says that others need not try it."""
        return len(self.folds) > 1 and self.folds[0].lowest > _HOPELESS * self.lowest_first

    def give_up(self, stage: Stage) -> None:
        """Take note that a stage is not worth trying on the other folds."""
        # errors of one fold are written down as those of all would be if they were as much worse
        curve = _smooth(np.array(self.curves[0])) + self.stages[self.best].error - self.lowest_first
        self.stages.append(replace(stage, epochs=len(curve)))
        self.curves = []
        self._write_down(stage.C, curve)
        self.folds[0].begin(improved=False)

    def add(self, stage: Stage) -> None:
        """Take note that all folds are done with a stage."""
        curve = _smooth(np.mean([c[: min(map(len, self.curves))] for c in self.curves], axis=0))
        epochs = len(curve) - int(np.argmin(curve[::-1]))  # the last one of equals
        self.stages.append(replace(stage, epochs=epochs, error=float(curve[epochs - 1])))
        self.curves = []
        self._write_down(stage.C, curve)
        improved = self.best < 0 or self.stages[-1].error < self.stages[self.best].error
        if improved:
            self.best = len(self.stages) - 1
            self.scores = [fold.scores_after(epochs) for fold in self.folds]
            self.candidate = self.folds[0].candidate(stage.C)
            self.lowest_first = self.folds[0].lowest
        for fold in self.folds:
            fold.begin(improved)

    def best_so_far(self, first_C: float) -> Candidate | None:
        """Return the model of the first fold at the best stage, or at the first one, though it is not done."""
        if self.candidate is not None or not self.folds:
            return self.candidate
        found = self.folds[0].candidate(first_C)
        if found is not None:
            self._write_down(first_C, _smooth(np.array(self.folds[0].curve)))
        return found

    def _write_down(self, C: float, curve: np.ndarray) -> None:
        for epoch, error in enumerate(curve, start=1):
            for name, value in (("C", C), ("epoch", epoch), ("error", float(error))):
                self.record[name].append(value)


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
    head, driver = problem.head, plan.driver
    assert head is not None
    assert data.targets is not None
    may_soften = head.may_soften(data.targets)
    sizes = [len(train) for train, _ in rows]
    while True:
        stage = found.next_stage(head.first_C, head.chooses_C, may_soften)
        if stage is None:
            return
        n_sure = found.n_sure(stage, head.chooses_C, may_soften)
        weighted, staged = replace(problem, strength=stage.C * nats), of_stage(problem, data, stage)
        for (train, held_out), fold in list(zip(rows, found.folds, strict=True))[len(found.curves) :]:
            planned = driver.epochs(len(train))
            held = _Held(problem, staged.take(held_out), planned, fold, keeps_all=len(found.folds) > 1)
            last, part = stage.last(planned), staged.take(train)
            reporter.ahead(_rows_ahead(found, stage, n_sure, sizes, len(data), driver))
            driver.run(weighted, plan.objective, part, fold.training, rng, reporter, held, last, checkpoint)
            found.curves.append(fold.curve)
            if len(found.curves) == 1 and found.is_hopeless:
                break
        if len(found.curves) < len(found.folds):
            found.give_up(stage)
        else:
            found.add(stage)


def _rows_ahead(found: Search, stage: Stage, n_sure: int, sizes: list[int], n_rows: int, driver: Driver) -> int:
    """Return the number of rows to be visited from the next fold on, as far as it is known.

    There are the rest of the stage and the stages that follow it for sure, on folds of some ``sizes``; and all rows in
    the end, by the stages that are best so far.
    """
    rest = sum(stage.rows(driver, size) for size in sizes[len(found.curves) :])
    later = sum(replace(stage, after=0).rows(driver, size) for size in sizes)
    return rest + n_sure * later + sum(part.rows(driver, n_rows) for part in found.chosen or [stage])


def of_stage(problem: Problem, data: Data, stage: Stage) -> Data:
    """Return the data with the emphasis on classes that a stage has."""
    assert problem.head is not None
    assert data.targets is not None
    return replace(data, targets=problem.head.softened(data.targets)) if stage.softened else data


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
    held: Data
    planned: int
    fold: Fold
    keeps_all: bool

    def __call__(self, training: Training) -> bool:
        head, targets, fold = self.problem.head, self.held.targets, self.fold
        assert head is not None
        assert targets is not None
        scores = held_out_scores(self.problem, self.held, training)
        errors = head.error(scores, targets.values)
        fold.curve.append(float(np.average(errors, weights=targets.weight)))
        if self.keeps_all:
            fold.all_scores.append(scores.astype(np.float32))
        error = float(_smooth(np.array(fold.curve))[-1])
        if error <= fold.lowest:
            fold.lowest, fold.waited, fold.n_iter = error, 0, training.n_iter
            fold.parameters = copy_parameters(training.result)
            fold.scores = scores
        else:
            fold.waited += 1
        return fold.waited >= max(_PATIENCE * self.planned, len(fold.curve) / 2, _WINDOW)
