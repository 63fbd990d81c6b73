"""The concave-convex procedure: find the candidates with the highest scores, solve the convex problem for them, repeat.

The objective is  ½‖w‖² + C Σ_i v_i ξ_i  with  ξ_i = max_{y,h} { w·Ψ(x_i, y, h) + Δ_i(y, h) } − max_h w·Ψ(x_i, y_i, h).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from harmonium.weak.bound_losses import Selection
from harmonium.weak.problem import CandidateProblem
from harmonium.weak.solvers.cutting_plane import CuttingPlane

# A convex problem that others follow is solved up to this share of the last decrease of the objective; for the first
# one a decrease is assumed, in units of C. Both are conventions that trade precision of early steps for time.
_SHARE = 0.3
_FIRST_DECREASE = 0.01
# Growth of the share of samples in each round of self-paced learning: the factor by which Kumar, Packer and Koller,
# "Self-paced learning for latent variable models" (2010), relax the threshold that decides which samples are easy.
_GROWTH = 1.3


@dataclass(frozen=True)
class Descent:
    """Where a descent ended: objectives before it and after each step, and the gap of its last convex problem."""

    weights: np.ndarray
    candidates: np.ndarray
    objectives: list[float]
    gap: float


def concave_convex(plane: CuttingPlane, weights: np.ndarray, candidates: np.ndarray, max_iter: int) -> Descent:
    """Descend from the given candidates until the objective falls by less than C times the tolerance.

    An interrupt ends it too, with the best weights so far.
    """
    objectives: list[float] = []
    gap, tolerance = 0.0, plane.tolerance
    try:
        for _ in range(max_iter):
            solution = plane.solve(candidates, weights, tolerance)
            objectives = objectives or [solution.before]
            weights, completed = solution.weights, plane.problem.complete(solution.weights)
            # this maximises the second term of ξ; on a tie (all weights zero) the candidates stay as they were
            gain = plane.C * float(weights @ (plane.truth(completed) - plane.truth(candidates)))
            candidates = completed if gain > 0 else candidates
            objectives.append(solution.objective - max(gain, 0.0))
            gap = solution.gap
            is_first = len(objectives) == 2  # what weights began with tells nothing of the next decrease
            decrease = _FIRST_DECREASE if is_first else (objectives[-2] - objectives[-1]) / plane.C
            ended = not is_first and decrease < plane.tolerance and tolerance == plane.tolerance
            if plane.interrupted or ended:
                break
            # far from the end it does not pay to solve convex problems more precisely than they change
            tolerance = max(plane.tolerance, _SHARE * decrease)
    except KeyboardInterrupt as interrupt:
        if not objectives:
            raise
        plane.interrupt(interrupt)  # no step makes the objective larger, so what is known of it holds
    return Descent(weights, candidates, objectives, gap)


def slacks(problem: CandidateProblem, weights: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """Return the upper bound ξ_i of the loss of each sample."""
    augmented = problem.infer(weights, expected)
    rows = problem.offsets[:-1] + augmented.candidates
    own = Selection(problem.labels, problem.complete(weights))
    return (
        expected[rows, augmented.labels]
        + problem.selected_scores(weights, augmented)
        - problem.selected_scores(weights, own)
    )


def self_paced(
    plane: CuttingPlane, weights: np.ndarray, candidates: np.ndarray, expected: np.ndarray, share: float
) -> tuple[np.ndarray, np.ndarray]:
    """Learn from the easiest samples first and from more in each round; return weights and candidates."""
    n_samples = len(plane.problem)
    if share < 1 and not weights.any():  # to weights of zero all samples are equally easy
        weights = plane.solve(candidates, weights).weights
    while share < 1 and not plane.interrupted:
        order = np.argsort(slacks(plane.problem, weights, expected), kind="stable")
        chosen = np.zeros(n_samples)
        easy = order[: max(1, round(share * n_samples))]
        chosen[easy] = plane.problem.sample_weight[easy]
        plane.set_sample_weight(chosen)
        weights = plane.solve(candidates, weights).weights
        candidates = np.where(chosen > 0, plane.problem.complete(weights), candidates)
        share *= _GROWTH
    plane.set_sample_weight(plane.problem.sample_weight)
    return weights, candidates
