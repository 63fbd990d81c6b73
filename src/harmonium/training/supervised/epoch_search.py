"""Choice of the number of epochs on rows held out from training.

The first fold is trained until the error of its held-out rows has not fallen for long. The others, which small data
have, are trained for as many epochs, so that there are scores of all rows by models that have not seen them; unless the
first fold says that the units add nothing to a linear model. In the end all rows are trained for as many.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from harmonium.core.parameters import Parameters, copy_parameters
from harmonium.core.progress_bar import Reporter
from harmonium.objectives.problem import Problem
from harmonium.storage import serializable
from harmonium.training.checkpoint import Checkpoint
from harmonium.training.drivers.run import Run
from harmonium.training.growth.prune import prune
from harmonium.training.plan import Plan
from harmonium.training.state import INTERRUPTED, Training
from harmonium.views.data import Data

# Errors are averaged over this many epochs, as those of single epochs are noisy: a convention.
_WINDOW = 3
# Training ends after half of its epochs, and at least this share of those planned, without a smaller error.
_PATIENCE = 0.25
# Share of the planned epochs that the first fold has if rows are few: more of them hardly lower the error of the units
# on fresh rows (docs/how_it_works/defaults.md).
_SHARE_OF_FEW = 0.5


@serializable
@dataclass
class HeldOutEpochs:
    """Where the search for the number of epochs stands.

    Attributes
    ----------
    training : Training, optional
        The fit to all rows but those that a fold holds out; None between two folds.
    curve : list of float
        Held-out errors of the first fold, by epoch.
    lowest : float
        The smallest of them, averaged over a few epochs.
    waited : int
        Number of epochs since then.
    best : Training, optional
        The training of the first fold as it was then, as far as predictions need it.
    n_epochs : int
        Number of epochs to train for; 0 if it is not known yet.
    trained : list of dict of str to ndarray
        Parameters of each fold that is done.
    scores : list of ndarray of shape (rows, outputs)
        Scores of its held-out rows; while the first fold is trained, those of its best epoch.
    given_up : bool
        Whether the units are not worth training on the other folds.
    """

    training: Training | None = None
    curve: list[float] = field(default_factory=list)
    lowest: float = np.inf
    waited: int = 0
    best: Training | None = None
    n_epochs: int = 0
    trained: list[Parameters] = field(default_factory=list)
    scores: list[np.ndarray] = field(default_factory=list)
    given_up: bool = False

    def note(self, error: float, scores: np.ndarray, training: Training) -> None:
        """Take note of the held-out error and scores after an epoch; keep the epoch if there is no better one."""
        self.curve.append(error)
        mean = float(_smooth(self.curve)[-1])
        if mean > self.lowest:
            self.waited += 1
            return
        self.lowest, self.waited, self.scores = mean, 0, [scores]
        log = replace(training.log.copy(), stopped=INTERRUPTED)
        self.best = Training(
            copy_parameters(training.result), log, n_items=training.n_items, n_settled=training.n_settled
        )

    def has_waited(self, planned: float) -> bool:
        """Return whether training has gone on for long without a smaller error, of so many epochs that are planned."""
        return self.waited >= max(_PATIENCE * planned, len(self.curve) / 2, _WINDOW)

    def record(self, C: float) -> dict[str, list[float]]:
        """Return C, epoch and held-out error of all epochs of the first fold."""
        errors = _smooth(self.curve).tolist()
        numbers = [float(number) for number in range(1, len(errors) + 1)]
        return {"C": [C] * len(errors), "epoch": numbers, "error": errors}


@dataclass(frozen=True)
class EpochSearch:
    """A search for the number of epochs.

    Attributes
    ----------
    problem : Problem
        The model to be trained.
    plan : Plan
        How it is to be fitted.
    data : Data
        Views and targets of the rows to choose by.
    folds : list of (ndarray, ndarray)
        Training rows and held-out rows of each fold.
    start : callable
        Returns a training as it begins.
    is_worth_it : callable
        Says, given scores of the held-out rows of the first fold, whether to train on the other folds too.
    """

    problem: Problem
    plan: Plan
    data: Data
    folds: Sequence[tuple[np.ndarray, np.ndarray]]
    start: Callable[[], Training]
    is_worth_it: Callable[[np.ndarray], bool]

    def search(
        self, state: HeldOutEpochs, rng: np.random.Generator, reporter: Reporter, checkpoint: Checkpoint
    ) -> None:
        """Search for the number of epochs that is best on the first fold, then train the others for as many.

        Parameters
        ----------
        state : HeldOutEpochs
            Where the search stands; changed in place.
        rng : numpy.random.Generator
            The only source of random numbers.
        reporter : Reporter
            To be told about every batch and every epoch.
        checkpoint : Checkpoint
            Where to keep what the rest of the search depends on.
        """
        driver = self.plan.driver
        while len(state.trained) < len(self.folds) and not state.given_up:
            train, held_out = self.folds[len(state.trained)]
            is_first, held = not state.trained, self.data.take(held_out)
            planned = self._share * driver.epochs(len(train))
            max_epochs = state.n_epochs or (None if self._share == 1 else int(np.ceil(planned)))
            callback = _HeldOutError(self.problem, held, planned, state) if is_first else None
            state.training = state.training or self.start()
            reporter.ahead(self._rows_left(state, max_epochs))
            part = self.data.take(train)
            run = Run(
                self.problem, self.plan.objective, part, state.training, rng, reporter, callback, max_epochs, checkpoint
            )
            driver.run(run)
            if is_first:
                self._end_first(state)
            else:
                ended = Training(copy_parameters(state.training.result), n_items=len(train))
                state.trained.append(ended.parameters)
                state.scores.append(held_out_scores(self.problem, held, ended))
            state.training = None

    def _end_first(self, state: HeldOutEpochs) -> None:
        assert state.best is not None  # an epoch is complete
        curve = _smooth(state.curve)
        state.n_epochs = len(curve) - int(np.argmin(curve[::-1]))  # the last one of equals
        state.trained = [state.best.parameters]
        state.given_up = len(self.folds) > 1 and not self.is_worth_it(state.scores[0])

    @property
    def _share(self) -> float:
        """Share of the planned epochs that the first fold may have: all that the user asks for."""
        return _SHARE_OF_FEW if len(self.folds) > 1 and not self.plan.driver.epochs_are_given else 1.0

    def _rows_left(self, state: HeldOutEpochs, max_epochs: int | None) -> int:
        """Return the number of rows to be visited on all folds that are left, and on all rows.

        As long as the first fold is not done, it is not known whether the others are needed.
        """
        first = len(state.trained)
        left = self.folds[first : None if first else 1]
        sizes = [*(len(train) for train, _ in left), len(self.data)]
        return sum(self.plan.driver.planned_rows(size, max_epochs) for size in sizes)


def held_out_scores(problem: Problem, data: Data, training: Training) -> np.ndarray:
    """Return the scores of rows whose targets are not looked at, by the units that a fit would keep."""
    head, parameters = problem.known_head, training.result
    blind = Data(data.views.without(*head.added_views))
    selected = prune(problem, parameters, blind, training.n_items)
    if selected is not None:
        problem, parameters = selected.problem, selected.parameters
    return np.concatenate(
        [
            head.scores(problem.energy, parameters, problem.complete_to_predict(parameters, batch))
            for batch in blind.blocks(problem.energy.families)
        ]
    )


@dataclass(frozen=True)
class _HeldOutError:
    """Measures the error of held-out rows after each epoch, and says when to end."""

    problem: Problem
    held: Data
    planned: float
    state: HeldOutEpochs

    def __call__(self, training: Training) -> bool:
        head, targets = self.problem.known_head, self.held.known_targets
        scores = held_out_scores(self.problem, self.held, training)
        errors = head.error(scores, targets.values)
        self.state.note(float(np.average(errors, weights=targets.weight)), scores, training)
        return self.state.has_waited(self.planned)


def _smooth(curve: list[float]) -> np.ndarray:
    """Return the mean over the last few epochs."""
    totals = np.concatenate([np.zeros(1), np.cumsum(curve)])
    last = np.arange(1, len(curve) + 1)
    first = np.maximum(last - _WINDOW, 0)
    return np.asarray((totals[last] - totals[first]) / (last - first))
