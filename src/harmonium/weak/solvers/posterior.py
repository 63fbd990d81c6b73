"""The conditional distribution P_θ(h | x_i, y_i) ∝ exp(θ·Φ(x_i, y_i, h)), learned for a given prediction rule.

Minimised is  λ/2 ‖θ‖² + mean_i [ H_i(w, θ) − β H_i(θ) ]  with λ = J/C, where H_i(w, θ) is the expected loss of the
prediction and H_i(θ) the diversity of the distribution itself. Where the label is predicted correctly the distribution
gathers around the predicted candidate; where it is not, only the diversity counts and the distribution spreads out.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from harmonium.weak.bound_losses import Selection
from harmonium.weak.problem import CandidateProblem


class Settings(NamedTuple):
    """Settings of the distribution.

    Parameters
    ----------
    ridge : float
        Weight λ = J/C of ½‖θ‖².
    beta : float
        Weight of the diversity.
    n_epochs : int
        Number of passes over the samples.
    """

    ridge: float
    beta: float
    n_epochs: int


def objective(problem: CandidateProblem, theta: np.ndarray, against: np.ndarray, settings: Settings) -> float:
    """Return what is minimised over θ: a ridge, and the mean dissimilarity H_i(w, θ) − β H_i(θ).

    ``against`` is the loss of the predictions by right candidate.
    """
    posterior = problem.posterior(theta)
    agreement = np.add.reduceat(posterior * against, problem.offsets[:-1])
    dissimilarity = float(problem.sample_weight @ (agreement - settings.beta * problem.loss.diversity(posterior)))
    return 0.5 * settings.ridge * float(theta @ theta) + dissimilarity


def sample_gradient(
    problem: CandidateProblem, theta: np.ndarray, sample: int, against: np.ndarray, beta: float
) -> tuple[np.ndarray, slice]:
    """Return the derivative of H_i(w, θ) − β H_i(θ) of one sample by θ, and the part of θ it belongs to."""
    features, part = problem.latent_features(sample)
    scores = features @ theta[part].astype(features.dtype, copy=False)
    posterior = np.exp(scores - scores.max(), dtype=np.float64)
    posterior /= posterior.sum()
    own = against[problem.offsets[sample] : problem.offsets[sample + 1]] - beta * problem.loss.pull(sample, posterior)
    by_score: Any = posterior * (own - posterior @ own)
    return features.T @ by_score.astype(features.dtype, copy=False), part


def learn(
    problem: CandidateProblem, theta: np.ndarray, selection: Selection, settings: Settings, rng: np.random.Generator
) -> tuple[np.ndarray, float, float]:
    """Learn θ for given predictions; return it with the objective before and after.

    Stochastic sub-gradient steps of size 1/(λt) begin large, so the objective is computed after every pass and the best
    θ is returned, which may be the one to begin with.
    """
    against = problem.loss.against(selection)
    before = objective(problem, theta, against, settings)
    best, lowest = theta, before
    # a known candidate is certain, whatever θ is
    samples = np.flatnonzero(problem.known < 0)
    current, step = theta.copy(), 0
    for _ in range(settings.n_epochs):
        for sample in rng.permutation(samples):
            step += 1
            gradient, part = sample_gradient(problem, current, sample, against, settings.beta)
            current *= 1 - 1 / step
            current[part] -= len(samples) * problem.sample_weight[sample] * gradient / (settings.ridge * step)
        value = objective(problem, current, against, settings)
        if value < lowest:
            best, lowest = current.copy(), value
    return best, before, lowest
