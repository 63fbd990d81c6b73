"""A convex structural SVM with one slack variable, solved by cutting planes.

Minimised is  ½‖w‖² + C Σ_i v_i [ max_{y,h} { w·Ψ(x_i, y, h) + Δ_i(y, h) } − w·Ψ(x_i, y_i, h_i) ]  for given candidates
h_i, sample weights v_i (1/n each) and expected losses Δ_i. A cut is a choice (y, h) for every sample. It is valid
whatever the h_i are, and only its loss is looked up again when the Δ_i change, so cuts are kept from one problem to the
next.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from harmonium.weak.bound_losses import Selection
from harmonium.weak.problem import CandidateProblem
from harmonium.weak.progress import Silent
from harmonium.weak.solvers.cuts import Cuts
from harmonium.weak.solvers.qp import simplex_qp

# Solutions of the quadratic programmes jump about, so cuts are made on the way to them: this share of the way from the
# best weights so far. That halved the number of passes in trials.
_STEP = 0.25
# A solution must realise at least this share of what can be gained over weights of zero, unless the gain is below the
# second number, in units of C. Without this rule a small C ended at weights of zero, which predict nothing: see
# benchmarks/results/weak_digits.md.
_REALISED, _NOTHING = 0.5, 1e-6
# Before all candidates are searched, the last few cuts are searched for a new combination of their choices. That pays
# where a sample has more than _PAYS times as many candidates as there are such cuts, and the new cut is taken if it
# closes at least the share _WORTH of the gap. The three are conventions that save time; the duality gap stays the same.
_REMEMBERED = 8
_PAYS = 4
_WORTH = 0.2


@dataclass(frozen=True)
class Solution:
    """Solution of one convex problem.

    Parameters
    ----------
    weights : ndarray of float64
        The weights w.
    before : float
        Objective of the weights that the solver was given.
    objective : float
        Objective of the solution.
    gap : float
        How far the objective may at most be above the minimum.
    n_iter : int
        Number of quadratic programmes solved.
    """

    weights: np.ndarray
    before: float
    objective: float
    gap: float
    n_iter: int


class CuttingPlane:
    """Solver of a sequence of convex problems with the same samples and C.

    Parameters
    ----------
    problem : CandidateProblem
        Samples, features and loss.
    C : float
        Weight of the mean loss.
    tolerance : float, default=1e-3
        Duality gap to stop at, in units of C.
    max_iter : int, default=500
        Largest number of quadratic programmes for one problem.
    reporter : Silent or None, default=None
        Is told of every pass; ``None`` means nobody.

    Attributes
    ----------
    n_passes : int
        Number of passes over all candidates so far.
    interrupted : bool
        Whether the user has interrupted the work (Ctrl-C); then solutions are the best so far.
    """

    def __init__(
        self,
        problem: CandidateProblem,
        C: float,
        tolerance: float = 1e-3,
        max_iter: int = 500,
        reporter: Silent | None = None,
    ) -> None:
        self.reporter = Silent() if reporter is None else reporter
        self.problem, self.C, self.tolerance, self.max_iter = problem, C, tolerance, max_iter
        self._cuts = Cuts(len(problem), problem.n_weights)
        self._expected = np.zeros((problem.offsets[-1], problem.n_classes), dtype=np.float32)
        self._sample_weight = problem.sample_weight
        self._remembers = problem.offsets[-1] > _PAYS * _REMEMBERED * len(problem)
        self.n_passes = 0
        self.interrupted = False

    def set_losses(self, expected: np.ndarray) -> None:
        """Set the expected losses, and look up those of the cuts again."""
        self._expected = expected
        self._cuts.set_losses(self._loss)

    def set_sample_weight(self, sample_weight: np.ndarray) -> None:
        """Set the weights of the samples, and compute features and losses of the cuts again."""
        self._sample_weight = sample_weight
        self._cuts.set_losses(self._loss)
        self._cuts.set_features(self._features)

    def truth(self, candidates: np.ndarray) -> np.ndarray:
        """Return the weighted sum of Ψ at the right labels and these candidates."""
        return self._features(Selection(self.problem.labels, candidates))

    def solve(self, candidates: np.ndarray, weights: np.ndarray, tolerance: float | None = None) -> Solution:
        """Solve the problem for these candidates; the objective never rises above that of the given weights.

        The first interrupt ends it with the best weights so far, the second is raised.
        """
        enough = self.C * (self.tolerance if tolerance is None else tolerance)
        truth = self.truth(candidates)
        before = self._pass(weights, truth)
        best, objective = weights, before
        lower, number = -np.inf, 0
        without = self.C * float(self._sample_weight @ self._largest_losses())

        def wanted() -> float:
            """Return the gap to stop at, small enough to rule out weights of zero, which predict nothing."""
            return min(enough, max((1 - _REALISED) * (without - lower), self.C * _NOTHING))

        try:
            while number < self.max_iter and objective - lower > wanted() and not self.interrupted:
                number += 1
                alpha, value = simplex_qp(self._cuts.gram(truth), self._cuts.losses, self.C)
                current = best + (_STEP if number > 1 else 1.0) * (self._cuts.combined(alpha, truth) - best)
                lower = max(lower, value)
                self._cuts.prune(alpha)
                if objective - lower > wanted() and self._recombine(current, truth, _WORTH * (objective - lower)):
                    continue
                value = self._pass(current, truth)
                if value < objective:
                    best, objective = current, value
        except KeyboardInterrupt as interrupt:
            self.interrupt(interrupt)
        return Solution(best, before, objective, objective - lower, number)

    def interrupt(self, interrupt: KeyboardInterrupt) -> None:
        """Take note of an interrupt; raise it again if it is the second one."""
        if self.interrupted:
            raise interrupt
        self.interrupted = True

    def _pass(self, weights: np.ndarray, truth: np.ndarray) -> float:
        """Return the objective at these weights by a pass over all candidates, and make a cut of what it finds."""
        self.n_passes += 1
        self.reporter.passed()
        selection = self.problem.infer(weights, self._expected)
        features, loss = self._features(selection), self._loss(selection)
        self._cuts.add(selection, features, loss)
        return float(0.5 * weights @ weights + self.C * (loss + weights @ (features - truth)))

    def _recombine(self, weights: np.ndarray, truth: np.ndarray, worth: float) -> bool:
        """Add the cut of each sample's worst choice in the last cuts, if it is violated by at least ``worth``."""
        if not self._remembers:
            return False
        recent = self._cuts.recent(_REMEMBERED)
        values = np.stack([self.problem.selected_scores(weights, cut) + self._losses(cut) for cut in recent])
        worst, samples = values.argmax(axis=0), np.arange(len(self.problem))
        labels, candidates = (np.stack(field)[worst, samples] for field in zip(*recent, strict=True))
        selection = Selection(labels, candidates)
        features, loss = self._features(selection), self._loss(selection)
        slack = self._cuts.slack(weights, truth)
        if self.C * (loss + weights @ (features - truth) - slack) < worth:
            return False
        self._cuts.add(selection, features, loss)
        return True

    def _largest_losses(self) -> np.ndarray:
        return np.maximum.reduceat(self._expected.max(axis=1), self.problem.offsets[:-1])

    def _features(self, selection: Selection) -> np.ndarray:
        return self.problem.joint_sum(selection, self._sample_weight)

    def _losses(self, selection: Selection) -> np.ndarray:
        return self._expected[self.problem.offsets[:-1] + selection.candidates, selection.labels]

    def _loss(self, selection: Selection) -> float:
        return float(self._sample_weight @ self._losses(selection))
