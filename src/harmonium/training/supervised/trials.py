"""State of the search for the number of epochs: its trials, its folds, and what to try next.

The search itself is in `harmonium.training.supervised.epoch_search`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from harmonium.params import Parameters, copy_parameters
from harmonium.storage import serializable
from harmonium.training.drivers.base import Driver
from harmonium.training.state import INTERRUPTED, Training, TrainingLog

# Errors are averaged over this many epochs, as those of single epochs are noisy: a convention.
_WINDOW = 3
# A trial ends after half of its epochs, and at least this share of those planned, without a smaller error.
_PATIENCE = 0.25
# Share by which the error of a trial has to be smaller, so that it is not chosen by chance: a convention.
_GAIN = 0.01
# Share of the planned epochs that the first trial has if rows are few: more of them hardly lower the error of the
# topics on fresh rows (docs/how_it_works/defaults.md).
SHARE_OF_FEW = 0.5


@serializable
@dataclass(frozen=True)
class Trial:
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
        Number of the trial that it goes on from; -1 if it begins anew.
    error : float
        Held-out error after it.
    """

    C: float
    epochs: int
    softened: bool = False
    weighed: bool = False
    after: int = -1
    error: float = np.inf

    def max_epochs(self, planned: int, share: float = 1.0) -> int | None:
        """Return the epoch after which to end, though the driver has ``planned`` more; None if it need not.

        ``share`` is that of the planned epochs which a trial that begins anew may have.
        """
        if self.epochs:
            return self.epochs
        if self.after < 0:
            return None if share == 1 else _ceil(share * planned)
        return _ceil(planned / 2)

    def rows(self, driver: Driver, n_rows: int, share: float = 1.0) -> int:
        """Return the number of rows that are visited at most, if there are ``n_rows`` to train by."""
        return driver.planned_rows(n_rows, self.max_epochs(driver.epochs(n_rows), share))


@serializable
@dataclass
class Fold:
    """Where the search stands on one fold.

    Attributes
    ----------
    training : Training, optional
        The fit to all rows but those held out; None between two trials.
    curve : list of float
        Held-out errors of this trial, by epoch.
    lowest : float
        The smallest of them, averaged over a few epochs.
    waited : int
        Number of epochs since then.
    n_iter : int
        Number of epochs of this trial until then.
    parameters : dict of str to ndarray, optional
        Parameters of that epoch.
    scores : ndarray of shape (rows, outputs), optional
        Scores of the held-out rows at that epoch.
    best : dict of str to ndarray, optional
        Parameters that the next trial goes on from: those of the best trial.
    n_settled : int
        How often the prior of the hidden units has followed the data by then.
    n_repeated : int
        Number of chosen trials that it has done again, if it is not the first fold.
    """

    training: Training | None = None
    curve: list[float] = field(default_factory=list)
    lowest: float = np.inf
    waited: int = 0
    n_iter: int = 0
    parameters: Parameters | None = None
    scores: np.ndarray | None = None
    best: Parameters | None = None
    n_settled: int = 0
    n_repeated: int = 0

    def note(self, error: float, scores: np.ndarray, training: Training) -> None:
        """Take note of the held-out error and scores after an epoch; keep its parameters if there is no better one."""
        self.curve.append(error)
        mean = float(_smooth(np.array(self.curve))[-1])
        if mean <= self.lowest:
            self.lowest, self.waited, self.n_iter = mean, 0, training.log.n_iter
            self.parameters, self.scores = copy_parameters(training.result), scores
        else:
            self.waited += 1

    def has_waited(self, planned: float) -> bool:
        """Return whether it has gone on for long without a smaller error, of so many epochs that are planned."""
        return self.waited >= max(_PATIENCE * planned, len(self.curve) / 2, _WINDOW)

    def end(self, improved: bool) -> None:
        """Leave a trial; what it found is kept for the next one if it ``improved``."""
        if improved:
            assert self.training is not None
            self.best, self.n_settled = self.parameters, self.training.n_settled
        self.training = None
        self.curve, self.lowest, self.waited, self.parameters, self.scores = [], np.inf, 0, None, None

    def candidate(self, C: float) -> Candidate | None:
        """Return the model of the smallest error with this value of C; None before the first epoch is complete."""
        if self.parameters is None or self.scores is None or self.training is None:
            return None
        n_best = len(self.curve) - self.waited
        history = {name: values[:n_best] for name, values in self.training.log.history.items()}
        training = Training(
            self.parameters,
            TrainingLog(self.n_iter, history, INTERRUPTED),
            n_items=self.training.n_items,
            n_settled=self.training.n_settled,
        )
        return Candidate(C, training, self.scores)


@serializable
@dataclass(frozen=True)
class Candidate:
    """A model that has not seen the held-out rows of the first fold, and its scores of them."""

    C: float
    training: Training
    scores: np.ndarray


@serializable
@dataclass
class SearchState:
    """State of the search for the number of epochs.

    Attributes
    ----------
    folds : list of Fold
        Where it stands on each fold.
    trials : list of Trial
        Trials that are done on the first fold, with the number of epochs that was best for each.
    best : int
        Number of the trial of the smallest error; -1 if none is done.
    record : dict of str to list of float
        C, epoch and held-out error of everything that was tried.
    scores : list of ndarray of shape (rows, outputs)
        Scores of the held-out rows of each fold at the best trial, by models that have not seen them; of the first fold
        alone, if the others have not done it again.
    candidate : Candidate, optional
        The model of the first fold at that trial, for users who do not wait for the end.
    given_up : bool
        Whether the topics are not worth more trials.
    """

    folds: list[Fold]
    trials: list[Trial] = field(default_factory=list)
    best: int = -1
    record: dict[str, list[float]] = field(default_factory=lambda: {"C": [], "epoch": [], "error": []})
    scores: list[np.ndarray] = field(default_factory=list)
    candidate: Candidate | None = None
    given_up: bool = False

    @property
    def trained(self) -> list[Parameters]:
        """Parameters of each fold at the best trial."""
        return [fold.best for fold in self.folds if fold.best is not None]

    @property
    def chosen(self) -> list[Trial]:
        """The trials that lead to the best one, itself included, in order; none before one is done."""
        trials, number = [], self.best
        while number >= 0:
            trials.append(self.trials[number])
            number = self.trials[number].after
        return trials[::-1]

    def next_trial(self, C: float, may_soften: bool, may_weigh: bool = False) -> Trial | None:
        """Return what to try next, with epochs of zero; None if nothing is left to try."""
        if len(self.trials) < 1 + may_weigh:
            return Trial(C, 0, weighed=bool(self.trials))
        if not may_soften or self.trials[-1].softened or self.given_up:
            return None
        return Trial(C, 0, softened=True, weighed=self.trials[self.best].weighed, after=self.best)

    def add(self, trial: Trial) -> None:
        """Take note that the first fold is done with a trial."""
        fold = self.folds[0]
        assert fold.scores is not None
        curve = _smooth(np.array(fold.curve))
        epochs = len(curve) - int(np.argmin(curve[::-1]))  # the last one of equals
        self.trials.append(replace(trial, epochs=epochs, error=float(curve[epochs - 1])))
        self._write_down(trial.C, curve)
        improved = self.best < 0 or self.trials[-1].error < (1 - _GAIN) * self.trials[self.best].error
        if improved:
            self.best = len(self.trials) - 1
            self.scores = [fold.scores]
            self.candidate = fold.candidate(trial.C)
        fold.end(improved)

    def best_so_far(self, C: float) -> Candidate | None:
        """Return the model of the first fold at the best trial, or at the first one, though it is not done."""
        if self.candidate is not None or not self.folds:
            return self.candidate
        found = self.folds[0].candidate(C)
        if found is not None:
            self._write_down(C, _smooth(np.array(self.folds[0].curve)))
        return found

    def _write_down(self, C: float, curve: np.ndarray) -> None:
        for epoch, error in enumerate(curve, start=1):
            for name, value in (("C", C), ("epoch", epoch), ("error", float(error))):
                self.record[name].append(value)


def _smooth(curve: np.ndarray) -> np.ndarray:
    """Return the mean over the last few epochs."""
    totals = np.concatenate([np.zeros(1), np.cumsum(curve)])
    first = np.maximum(np.arange(len(curve)) + 1 - _WINDOW, 0)
    return (totals[1:] - totals[first]) / (np.arange(len(curve)) + 1 - first)


def _ceil(number: float) -> int:
    return int(np.ceil(number))
