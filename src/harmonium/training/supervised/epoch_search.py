"""Choice of the number of epochs on rows held out from training.

Where a linear model would weigh views unevenly, training begins once with even weights and once with those. If classes
are uneven, their weights are softened last, which goes on from where the best training was best, with half of the
planned epochs.

All that is chosen on the first fold. The others, which small data have, do again what was chosen, so that there are
scores of all rows by models that have not seen them; unless the first fold says that the units add nothing to a linear
model. In the end all rows do it again: the same trials, each with the same number of epochs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from harmonium.objectives.problem import Problem
from harmonium.params import copy_parameters
from harmonium.training.checkpoint.file import Checkpoint
from harmonium.training.drivers.progress import Reporter
from harmonium.training.drivers.run import Run
from harmonium.training.growth.prune import prune
from harmonium.training.plan import Plan
from harmonium.training.state import Training
from harmonium.training.supervised.trials import SHARE_OF_FEW, Fold, SearchState, Trial
from harmonium.views.data import Data


@dataclass(frozen=True)
class EpochSearch:
    """A search for the number of epochs, and what it is about.

    Attributes
    ----------
    problem : Problem
        The model to be trained.
    plan : Plan
        How it is to be fitted.
    data : Data
        Views and targets of the rows to choose by.
    baseline_nll : float
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
    """

    problem: Problem
    plan: Plan
    data: Data
    baseline_nll: float
    rows: Sequence[tuple[np.ndarray, np.ndarray]]
    start: Callable[[], Training]
    weights: Mapping[str, float]
    is_worth_it: Callable[[np.ndarray], bool]

    def search(self, state: SearchState, rng: np.random.Generator, reporter: Reporter, checkpoint: Checkpoint) -> None:
        """Search for the number of epochs that is best on the first fold, then repeat it on others.

        Parameters
        ----------
        state : SearchState
            Where the search stands; changed in place.
        rng : numpy.random.Generator
            The only source of random numbers.
        reporter : Reporter
            To be told about every batch and every epoch.
        checkpoint : Checkpoint
            Where to keep what the rest of the search depends on.
        """
        self._choose(state, rng, reporter, checkpoint)
        if not state.given_up:
            self._repeat(state, rng, reporter, checkpoint)

    def _choose(self, state: SearchState, rng: np.random.Generator, reporter: Reporter, checkpoint: Checkpoint) -> None:
        """Try one trial after another on the first fold."""
        head, driver, targets = self.problem.head, self.plan.driver, self.data.targets
        assert head is not None
        assert targets is not None
        open_choices = head.emphasis.is_tried(targets), len(set(self.weights.values())) > 1
        (train, held_out), fold = self.rows[0], state.folds[0]
        planned = driver.epochs(len(train))
        while (trial := state.next_trial(head.C, *open_choices)) is not None:
            fold.training = fold.training or self._begun(fold, trial)
            weighted, trial_data = self._of_trial(trial)
            reporter.ahead(trial.rows(driver, len(train), self._share) + self._rows_after(state, trial))
            held = _Held(weighted, trial_data.take(held_out), self._share * planned, fold)
            max_epochs = trial.max_epochs(planned, self._share)
            part = trial_data.take(train)
            driver.run(
                Run(weighted, self.plan.objective, part, fold.training, rng, reporter, held, max_epochs, checkpoint)
            )
            state.add(trial)
            if len(self.rows) > 1 and len(state.trials) > open_choices[1]:
                state.given_up = not self.is_worth_it(state.scores[0])

    def _repeat(self, state: SearchState, rng: np.random.Generator, reporter: Reporter, checkpoint: Checkpoint) -> None:
        """Do what was chosen again on the other folds, for scores of their held-out rows."""
        driver = self.plan.driver
        for number in range(len(state.scores), len(self.rows)):
            (train, held_out), fold = self.rows[number], state.folds[number]
            for trial in state.chosen[fold.n_repeated :]:
                fold.training = fold.training or self._begun(fold, trial)
                weighted, trial_data = self._of_trial(trial)
                reporter.ahead(self._rows_after(state, trial))
                part, max_epochs = trial_data.take(train), trial.epochs
                driver.run(
                    Run(weighted, self.plan.objective, part, fold.training, rng, reporter, None, max_epochs, checkpoint)
                )
                fold.best, fold.n_settled = copy_parameters(fold.training.result), fold.training.n_settled
                fold.training = None
                fold.n_repeated += 1
            assert fold.best is not None
            weighted, _ = self._of_trial(state.chosen[-1])
            ended = Training(fold.best, n_items=len(train))
            state.scores.append(held_out_scores(weighted, self.data.take(held_out), ended))

    @property
    def _share(self) -> float:
        """Share of the planned epochs that a trial which begins anew may have: all that the user asks for."""
        return SHARE_OF_FEW if len(self.rows) > 1 and not self.plan.driver.epochs_are_given else 1.0

    def _begun(self, fold: Fold, trial: Trial) -> Training:
        """Return the training of a trial as it begins: anew, or where the best one before it was best."""
        if trial.after < 0 or fold.best is None:
            return self.start()
        return Training(copy_parameters(fold.best), n_settled=fold.n_settled)

    def _of_trial(self, trial: Trial) -> tuple[Problem, Data]:
        """Return the problem and the data of a trial, with its weights of views."""
        weighed = replace(self.problem, view_weights=dict(self.weights)) if trial.weighed else self.problem
        return of_trial(weighed, self.data, trial, self.baseline_nll)

    def _rows_after(self, state: SearchState, trial: Trial) -> int:
        """Return the number of rows to be visited once the first fold is done, as far as it is known.

        What is best so far is done again on the other folds, and on all rows. As long as nothing is done, it is not
        known whether the other folds are needed.
        """
        driver, n_rows = self.plan.driver, len(self.data)
        if not state.chosen:
            return trial.rows(driver, n_rows, self._share)
        left = [(n_rows, part) for part in state.chosen]
        for fold, (train, _) in zip(state.folds[1:], self.rows[1:], strict=True):
            left += [(len(train), part) for part in state.chosen[fold.n_repeated :]]
        return sum(part.rows(driver, size, self._share) for size, part in left)


def of_trial(problem: Problem, data: Data, trial: Trial, baseline_nll: float) -> tuple[Problem, Data]:
    """Return the problem with the weight of the loss, and the data with the emphasis on classes, of a trial."""
    assert problem.head is not None
    assert data.targets is not None
    weighted = replace(problem, loss_weight=trial.C * baseline_nll)
    return weighted, replace(data, targets=problem.head.emphasis.softened(data.targets)) if trial.softened else data


def held_out_scores(problem: Problem, data: Data, training: Training) -> np.ndarray:
    """Return the scores of rows whose targets are not looked at, by the units that a fit would keep."""
    head, parameters = problem.head, training.result
    assert head is not None
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
class _Held:
    """Watches the error on held-out rows."""

    problem: Problem
    held: Data
    planned: float
    fold: Fold

    def __call__(self, training: Training) -> bool:
        head, targets = self.problem.head, self.held.targets
        assert head is not None
        assert targets is not None
        scores = held_out_scores(self.problem, self.held, training)
        errors = head.error(scores, targets.values)
        self.fold.note(float(np.average(errors, weights=targets.weight)), scores, training)
        return self.fold.has_waited(self.planned)
