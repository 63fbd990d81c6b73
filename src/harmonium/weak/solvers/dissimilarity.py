"""Block-coordinate descent: the prediction rule for a given distribution over candidates, then the distribution for it.

One loop serves all learners. They differ in the distribution: certain of the candidate with the highest score (latent
SVM and iterative latent SVM), or P_θ (dissimilarity coefficient). Neither step raises what it minimises itself, and the
loop ends when both together lower that by less than C times the tolerance in a round. The bound ½‖w‖² + J/2 ‖θ‖² + C
mean_i [ ξ_i(w, θ) − β H_i(θ) ] is recorded, but does not decide: the step of the distribution minimises the loss of the
predictions, as in the paper, and not ξ_i, so the bound may rise for a round. To stop there left P_θ flat, at higher
losses of the dissimilarity method; at its best C the 0/1 loss of the latent SVM was as low.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from harmonium.weak.problem import CandidateProblem
from harmonium.weak.solvers import posterior as conditional
from harmonium.weak.solvers.cccp import concave_convex, self_paced, slacks
from harmonium.weak.solvers.cutting_plane import CuttingPlane


class Distribution(Protocol):
    """A distribution over the candidates of all samples that can be fitted to a prediction rule."""

    def probabilities(self) -> np.ndarray:
        """Return the probabilities of all candidates, a flat array."""

    def losses(self) -> np.ndarray:
        """Return the losses of candidates and labels that the prediction rule is to be learned with."""

    def penalty(self) -> float:
        """Return what the distribution adds to the bound, in units of C: its ridge less β times its diversity."""

    def fitted(self, weights: np.ndarray) -> tuple[Distribution, float, float]:
        """Return the distribution for these weights, and its objective before and after, in units of C."""


@dataclass(frozen=True)
class PointMass:
    """A distribution that is certain of one candidate of each sample."""

    problem: CandidateProblem
    candidates: np.ndarray

    def probabilities(self) -> np.ndarray:
        """Return 1 at the candidates and 0 elsewhere."""
        return self.problem.point_mass(self.candidates)

    def losses(self) -> np.ndarray:
        """Return the losses if the candidates are the right ones."""
        return self.problem.loss.expected(self.probabilities())

    def penalty(self) -> float:
        """Return 0, as a point mass has no diversity."""
        return 0.0

    def fitted(self, weights: np.ndarray) -> tuple[PointMass, float, float]:
        """Return the point mass of least loss: the candidates with the highest scores for the right label.

        Where the label is predicted correctly these are the predicted candidates; elsewhere all point masses lose the
        same.
        """
        against, highest = self.problem.loss.against(self.problem.infer(weights)), self.problem.complete(weights)
        before, after = (against[self.problem.offsets[:-1] + chosen] for chosen in (self.candidates, highest))
        # a user's loss may depend on the candidate even where the label is wrong
        candidates = np.where(after <= before, highest, self.candidates)
        share = self.problem.sample_weight
        return PointMass(self.problem, candidates), float(share @ before), float(share @ np.minimum(before, after))


@dataclass(frozen=True)
class LogLinear:
    """The distribution P_θ, learned by stochastic sub-gradient steps."""

    problem: CandidateProblem
    theta: np.ndarray
    settings: conditional.Settings
    rng: np.random.Generator

    def probabilities(self) -> np.ndarray:
        """Return P_θ of all candidates."""
        return self.problem.posterior(self.theta)

    def losses(self) -> np.ndarray:
        """Return the expected losses; as long as nothing is learned, each candidate is taken for the right one.

        Under a flat distribution over H candidates a wrong label costs hardly more than a right one, 1 against
        1 − 1/H: labels would be learned with margins of 1/H, as if C were H times as large.
        """
        expected = self.problem.loss.expected(self.probabilities())
        if self.theta.any():
            return expected
        unknown = np.repeat(self.problem.known < 0, np.diff(self.problem.offsets))
        return np.where(unknown[:, None], self.problem.loss.forgiving(), expected).astype(expected.dtype)

    def penalty(self) -> float:
        """Return λ/2 ‖θ‖² − β mean H_i(θ)."""
        diversity = float(self.problem.sample_weight @ self.problem.loss.diversity(self.probabilities()))
        return 0.5 * self.settings.ridge * float(self.theta @ self.theta) - self.settings.beta * diversity

    def fitted(self, weights: np.ndarray) -> tuple[LogLinear, float, float]:
        """Return the distribution that agrees best with the predictions of these weights."""
        selection = self.problem.infer(weights)
        theta, before, after = conditional.learn(self.problem, self.theta, selection, self.settings, self.rng)
        return LogLinear(self.problem, theta, self.settings, self.rng), before, after


@dataclass(frozen=True)
class Learned:
    """The prediction rule and distribution that were learned, and the history of all steps."""

    weights: np.ndarray
    distribution: Any
    history: dict[str, list[Any]]

    @property
    def bound(self) -> float:
        """The bound that was reached in the last round."""
        return float(self.history["bound"][self.history["block"].index("weights", -2)])


def block_descent(
    plane: CuttingPlane,
    distribution: Distribution,
    candidates: np.ndarray,
    max_rounds: int,
    max_steps: int,
    share: float | None = None,
) -> Learned:
    """Alternate between prediction rule and distribution until neither gains from the other any more.

    Parameters
    ----------
    plane : CuttingPlane
        Solver of the convex problems.
    distribution : Distribution
        Distribution to begin with.
    candidates : ndarray of int of shape (n_samples,)
        Right candidates in the first convex problem.
    max_rounds : int
        Largest number of rounds.
    max_steps : int
        Largest number of convex problems in a round.
    share : float or None, default=None
        Share of the samples that self-paced learning begins with.

    Returns
    -------
    Learned
        The last prediction rule and the distribution it was learned for, also if the user has interrupted it
        (``plane.interrupted``).
    """
    history: dict[str, list[Any]] = {"block": [], "before": [], "after": [], "bound": [], "gap": []}
    weights = np.zeros(plane.problem.n_weights)
    learned = Learned(weights, distribution, history)
    gained = np.inf  # by the last step of the distribution, in units of C
    try:
        for number in range(max_rounds):
            losses = distribution.losses()
            plane.set_losses(losses)
            if number == 0 and share is not None:
                weights, candidates = self_paced(plane, weights, candidates, losses, share)
            descent = concave_convex(plane, weights, candidates, max_steps)
            weights, candidates = descent.weights, descent.candidates
            bound = _bound(plane, weights, distribution)
            _record(history, "weights", descent.objectives[0], descent.objectives[-1], bound, descent.gap)
            learned = Learned(weights, distribution, history)
            plane.reporter.round(number + 1, bound / plane.C)
            decrease = (descent.objectives[0] - descent.objectives[-1]) / plane.C + gained
            if plane.interrupted or decrease < plane.tolerance or number == max_rounds - 1:
                break
            distribution, before, after = distribution.fitted(weights)
            gained = before - after
            _record(history, "distribution", plane.C * before, plane.C * after, np.nan, 0.0)
    except KeyboardInterrupt as interrupt:
        if not history["block"]:
            raise
        plane.interrupt(interrupt)
    return learned


def _bound(plane: CuttingPlane, weights: np.ndarray, distribution: Distribution) -> float:
    """Return the bound ½‖w‖² + J/2 ‖θ‖² + C mean_i [ ξ_i(w, θ) − β H_i(θ) ]."""
    expected = plane.problem.loss.expected(distribution.probabilities())
    loss = float(plane.problem.sample_weight @ slacks(plane.problem, weights, expected))
    return float(0.5 * weights @ weights + plane.C * (loss + distribution.penalty()))


def _record(history: dict[str, list[Any]], *values: Any) -> None:
    for column, value in zip(history.values(), values, strict=True):
        column.append(value)
