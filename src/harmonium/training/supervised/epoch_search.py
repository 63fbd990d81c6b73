"""Choice of the number of epochs on rows held out from training.

The first fold is trained until the error of its held-out rows has not fallen for long. The others, which small data
have, are trained for as many epochs, so that there are scores of all rows by models that have not seen them; unless the
first fold says that the units add nothing to a linear model. In the end all rows are trained for as many.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from harmonium.core.parameters import Parameters, copy_parameters
from harmonium.linear.search import Folds
from harmonium.objectives.problem import Problem
from harmonium.storage import serializable
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


def search_epochs(
    problem: Problem,
    data: Data,
    plan: Plan,
    folds: Folds,
    state: HeldOutEpochs,
    rng: np.random.Generator,
    start: Callable[[], Training],
    is_worth_it: Callable[[np.ndarray], bool],
) -> None:
    """Search for the number of epochs that is best on the first fold, then train the others for as many.

    Parameters
    ----------
    problem : Problem
        The model to be trained.
    data : Data
        Views and targets of the rows to choose by.
    plan : Plan
        How it is to be fitted.
    folds : sequence of (ndarray, ndarray)
        Training rows and held-out rows of each fold.
    state : HeldOutEpochs
        Where the search stands; changed in place.
    rng : numpy.random.Generator
        The only source of random numbers.
    start : callable
        Returns a training as it begins.
    is_worth_it : callable
        Says, given scores of the held-out rows of the first fold, whether to train on the other folds too.
    """
    driver, head = plan.driver, problem.known_head
    # the first fold may have all epochs that the user asks for
    share = _SHARE_OF_FEW if len(folds) > 1 and not driver.epochs_are_given else 1.0
    while len(state.trained) < len(folds) and not state.given_up:
        train, held_out = folds[len(state.trained)]
        held, planned = data.take(held_out), share * driver.epochs(len(train))

        def note(training: Training, held: Data = held, planned: float = planned) -> bool:
            scores, targets = held_out_scores(problem, held, training), held.known_targets
            error = np.average(head.error(scores, targets.values), weights=targets.weight)
            state.note(float(error), scores, training)
            return state.has_waited(planned)

        max_epochs = state.n_epochs or (None if share == 1 else int(np.ceil(planned)))
        state.training = state.training or start()
        # as long as the first fold is not done, it is not known whether the others are needed
        left = folds[len(state.trained) : None if state.trained else 1]
        sizes = [*(len(rows) for rows, _ in left), len(data)]
        plan.reporter.ahead(sum(driver.planned_rows(size, max_epochs) for size in sizes))
        callback = None if state.trained else note
        driver.run(
            Run(
                problem,
                plan.objective,
                data.take(train),
                state.training,
                rng,
                plan.reporter,
                callback,
                max_epochs,
                plan.checkpoint,
            )
        )
        if state.trained:
            ended = Training(copy_parameters(state.training.result), n_items=len(train))
            state.scores.append(held_out_scores(problem, held, ended))
            state.trained.append(ended.parameters)
        else:
            assert state.best is not None  # an epoch is complete
            curve = _smooth(state.curve)
            state.n_epochs = len(curve) - int(np.argmin(curve[::-1]))  # the last one of equals
            state.trained = [state.best.parameters]
            state.given_up = len(folds) > 1 and not is_worth_it(state.scores[0])
        state.training = None


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


def _smooth(curve: list[float]) -> np.ndarray:
    """Return the mean over the last few epochs."""
    totals = np.concatenate([np.zeros(1), np.cumsum(curve)])
    last = np.arange(1, len(curve) + 1)
    first = np.maximum(last - _WINDOW, 0)
    return np.asarray((totals[last] - totals[first]) / (last - first))
