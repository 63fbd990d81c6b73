"""Choosing C and the number of epochs on rows held out from training: a warm-started path.

The first value of C makes mostly a model of the label. Smaller ones, which make more and more a model of the views, are
tried as long as held-out errors fall; if the first of them is already worse, larger ones are. Each value goes on from
where the best one before it was best, and all but the first have half as many epochs. Where a linear model would weigh
views unevenly, the first value is tried with even weights and with those, each from the start. If classes are uneven,
their weights are softened last.

All that is chosen on the first fold. The others, which small data have, do again what was chosen, so that there are
scores of all rows by models that have not seen them; unless the first fold says that the topics add nothing to a linear
model. In the end all rows do it again: the same stages, each with the same number of epochs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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

# Errors are averaged over this many epochs, as those of single epochs are noisy: a convention.
_WINDOW = 3
# A stage ends after half of its epochs, and at least this share of those planned, without a smaller error.
_PATIENCE = 0.25
# Factor between values of C, and the most of them in either direction: conventions.
_FACTOR, _MOST_STEPS = 4.0, 5
# Values of C that are tried whatever is found: the first, a smaller one, and one further down or up.
_FEWEST_STAGES = 3
# Share by which the error of a stage has to be smaller, so that it is not chosen by chance: a convention.
_GAIN = 0.01
# Share of the planned epochs (1,500 updates) that the first stage has if rows are few. Errors of the topics on fresh
# rows after 600, 900 and 1,200 updates with C = 1.6: 600 messages of five newsgroups .241, .241, .226; 500 reviews of
# hotels .523, .511, .508; 600 digits .038, .034, .034; 300 patients of diabetes .503, .503, .509. Values of C from 0.1
# to 6.4 differ as little.
_SHARE_OF_FEW = 0.5


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
    weighed : bool
        Whether views weigh as much as a linear model gives them; otherwise all weigh alike.
    after : int
        Number of the stage that it goes on from; -1 if it begins anew.
    error : float
        Held-out error after it.
    """

    C: float
    epochs: int
    softened: bool = False
    weighed: bool = False
    after: int = -1
    error: float = np.inf

    def last(self, planned: int, share: float = 1.0) -> int | None:
        """Return the epoch after which to end, though the driver has ``planned`` more; None if it need not.

        ``share`` is that of the planned epochs which a stage that begins anew may have.
        """
        if self.epochs:
            return self.epochs
        if self.after < 0:
            return None if share == 1 else _ceil(share * planned)
        return _ceil(planned / 2)

    def rows(self, driver: Driver, n_rows: int, share: float = 1.0) -> int:
        """Return the number of rows that are visited at most, if there are ``n_rows`` to train by."""
        return driver.planned_rows(n_rows, self.last(driver.epochs(n_rows), share))


@resumable
@dataclass
class Fold:
    """Where the search stands on one fold.

    Attributes
    ----------
    training : Training, optional
        The fit to all rows but those held out; None between two stages.
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
    best : dict of str to ndarray, optional
        Parameters that the next stage goes on from: those of the best stage.
    n_repeated : int
        Number of chosen stages that it has done again, if it is not the first fold.
    """

    training: Training | None = None
    curve: list[float] = field(default_factory=list)
    lowest: float = np.inf
    waited: int = 0
    n_iter: int = 0
    parameters: Parameters | None = None
    scores: np.ndarray | None = None
    best: Parameters | None = None
    n_repeated: int = 0

    def end(self, improved: bool) -> None:
        """Leave a stage; what it found is kept for the next one if it ``improved``."""
        if improved:
            self.best = self.parameters
        self.training = None
        self.curve, self.lowest, self.waited, self.parameters, self.scores = [], np.inf, 0, None, None

    def candidate(self, C: float) -> Candidate | None:
        """Return the model of the smallest error with this value of C; None before the first epoch is complete."""
        if self.parameters is None or self.scores is None or self.training is None:
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
    stages : list of Stage
        Stages that are done on the first fold, with the number of epochs that was best for each.
    best : int
        Number of the stage of the smallest error; -1 if none is done.
    record : dict of str to list of float
        C, epoch and held-out error of everything that was tried.
    scores : list of ndarray of shape (rows, outputs)
        Scores of the held-out rows of each fold at the best stage, by models that have not seen them; of the first fold
        alone, if the others have not done it again.
    candidate : Candidate, optional
        The model of the first fold at that stage, for users who do not wait for the end.
    given_up : bool
        Whether the topics are not worth more trials.
    """

    folds: list[Fold]
    stages: list[Stage] = field(default_factory=list)
    best: int = -1
    record: dict[str, list[float]] = field(default_factory=lambda: {"C": [], "epoch": [], "error": []})
    scores: list[np.ndarray] = field(default_factory=list)
    candidate: Candidate | None = None
    given_up: bool = False

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

    def next_stage(self, first_C: float, is_chosen: bool, may_soften: bool, may_weigh: bool = False) -> Stage | None:
        """Return what to try next, with epochs of zero; None if nothing is left to try."""
        n_anew = 1 + may_weigh
        if len(self.stages) < n_anew:
            return Stage(first_C, 0, weighed=bool(self.stages))
        best, last = self.stages[self.best], self.stages[-1]
        if last.softened or self.given_up:
            return None
        if is_chosen:
            is_first = len(self.stages) == n_anew
            improved = is_first or self.best == len(self.stages) - 1
            # downwards first, as long as it helps; upwards if the very first step down did not
            down = is_first or first_C > last.C
            factor = 1 / _FACTOR if down else _FACTOR
            if not improved and down and best.after < 0:
                improved, factor = True, _FACTOR
            C = best.C * factor
            if improved and abs(np.log(C / first_C)) < (_MOST_STEPS + 0.5) * np.log(_FACTOR):
                return Stage(C, 0, weighed=best.weighed, after=self.best)
        return Stage(best.C, 0, softened=True, weighed=best.weighed, after=self.best) if may_soften else None

    def n_sure(self, stage: Stage, is_chosen: bool, may_soften: bool, may_weigh: bool = False) -> int:
        """Return how many stages follow the present one, whatever it finds but that the topics are not worth it."""
        steps = max(0, _FEWEST_STAGES + may_weigh - len(self.stages) - 1) if is_chosen else 0
        return steps + (may_soften and not stage.softened)

    def add(self, stage: Stage) -> None:
        """Take note that the first fold is done with a stage."""
        fold = self.folds[0]
        assert fold.scores is not None
        curve = _smooth(np.array(fold.curve))
        epochs = len(curve) - int(np.argmin(curve[::-1]))  # the last one of equals
        self.stages.append(replace(stage, epochs=epochs, error=float(curve[epochs - 1])))
        self._write_down(stage.C, curve)
        improved = self.best < 0 or self.stages[-1].error < (1 - _GAIN) * self.stages[self.best].error
        if improved:
            self.best = len(self.stages) - 1
            self.scores = [fold.scores]
            self.candidate = fold.candidate(stage.C)
        fold.end(improved)

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
    start: Callable[[], Training],
    weights: Mapping[str, float],
    is_worth_it: Callable[[np.ndarray], bool],
    rng: np.random.Generator,
    reporter: Reporter,
    checkpoint: Checkpoint,
) -> None:
    """Search for the value of C and the number of epochs that are best on the first fold, from where it stands.

    Parameters
    ----------
    found : Search
        Where the search stands; changed in place.
    problem : Problem
        The model to be trained.
    plan : Plan
        How it is to be fitted.
    data : Data
        Views and targets of the rows to choose by.
    nats : float
        The unit of C: what an average item costs to describe.
    rows : list of (ndarray, ndarray)
        Training rows and held-out rows of each fold.
    start : callable
        Returns a training as it begins.
    weights : dict of str to float
        Weights that views may have; empty if there is nothing to choose.
    is_worth_it : callable
        Says, given scores of the held-out rows of the first fold, whether topics that have them are worth more trials
        where rows are few.
    rng : numpy.random.Generator
        The only source of random numbers.
    reporter : Reporter
        To be told about every batch and every epoch.
    checkpoint : Checkpoint
        Where to keep what the rest of the search depends on.
    """
    head, driver = problem.head, plan.driver
    assert head is not None
    assert data.targets is not None
    open_choices = head.chooses_C, head.may_soften(data.targets), len(set(weights.values())) > 1
    weighed = replace(problem, view_weights=dict(weights))
    sizes = [*(len(train) for train, _ in rows), len(data)]
    (train, held_out), lead = rows[0], found.folds[0]
    planned, share = driver.epochs(len(train)), _SHARE_OF_FEW if len(rows) > 1 else 1.0
    while (stage := found.next_stage(head.first_C, *open_choices)) is not None:
        lead.training = lead.training or _begun(lead, stage, start)
        weighted, staged = of_stage(weighed if stage.weighed else problem, data, stage, nats)
        held = _Held(problem, staged.take(held_out), share * planned, lead)
        last = stage.last(planned, share)
        ahead = [stage] + [replace(stage, after=0)] * found.n_sure(stage, *open_choices)
        reporter.ahead(
            sum(one.rows(driver, sizes[0], share) for one in ahead) + _rows_after(found, stage, sizes, driver)
        )
        driver.run(weighted, plan.objective, staged.take(train), lead.training, rng, reporter, held, last, checkpoint)
        found.add(stage)
        if len(rows) > 1 and len(found.stages) > open_choices[2]:
            found.given_up = not is_worth_it(found.scores[0])
    if found.given_up:
        return
    for number in range(len(found.scores), len(rows)):
        (train, held_out), fold = rows[number], found.folds[number]
        for stage in found.chosen[fold.n_repeated :]:
            fold.training = fold.training or _begun(fold, stage, start)
            weighted, staged = of_stage(weighed if stage.weighed else problem, data, stage, nats)
            reporter.ahead(_rows_after(found, stage, sizes, driver))
            part, last = staged.take(train), stage.epochs
            driver.run(weighted, plan.objective, part, fold.training, rng, reporter, None, last, checkpoint)
            fold.best, fold.training, fold.n_repeated = copy_parameters(fold.training.result), None, fold.n_repeated + 1
        assert fold.best is not None
        found.scores.append(held_out_scores(problem, data.take(held_out), Training(fold.best)))


def _begun(fold: Fold, stage: Stage, start: Callable[[], Training]) -> Training:
    """Return the training of a stage as it begins: anew, or where the best one before it was best."""
    return start() if stage.after < 0 or fold.best is None else Training(copy_parameters(fold.best))


def _rows_after(found: Search, stage: Stage, sizes: list[int], driver: Driver) -> int:
    """Return the number of rows to be visited once the first fold is done, as far as it is known.

    What is best so far is done again on the other folds, and on all rows, whose numbers are ``sizes``. As long as
    nothing is done, it is not known whether the other folds are needed.
    """
    *_, n_rows = sizes
    share = _SHARE_OF_FEW if len(found.folds) > 1 else 1.0
    if not found.chosen:
        return stage.rows(driver, n_rows, share)
    chosen = found.chosen
    left = [(n_rows, part) for part in chosen]
    for fold, size in zip(found.folds[1:], sizes[1:], strict=False):
        left += [(size, part) for part in chosen[fold.n_repeated :]]
    return sum(part.rows(driver, size, share) for size, part in left)


def of_stage(problem: Problem, data: Data, stage: Stage, nats: float) -> tuple[Problem, Data]:
    """Return the problem with the weight of the loss, and the data with the emphasis on classes, of a stage."""
    assert problem.head is not None
    assert data.targets is not None
    weighted = replace(problem, strength=stage.C * nats)
    return weighted, replace(data, targets=problem.head.softened(data.targets)) if stage.softened else data


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
    planned: float
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


def _ceil(number: float) -> int:
    return int(np.ceil(number))
