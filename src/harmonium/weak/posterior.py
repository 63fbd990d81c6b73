"""The conditional distribution P_θ(h | x_i, y_i) ∝ exp(θ·Φ(x_i, y_i, h)), learned for a given prediction rule.

Minimised is  λ/2 ‖θ‖² + mean_i [ H_i(w, θ) − β H_i(θ) ]  with λ = J/C, where H_i(w, θ) is the expected loss of the
prediction and H_i(θ) the diversity of the distribution itself. Where the label is predicted rightly the distribution
gathers around the predicted candidate; where it is not, only the diversity counts and the distribution spreads.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from harmonium.weak.bound_losses import Selection
from harmonium.weak.problem import Problem


class Settings(NamedTuple):
    """λ = J/C, β, and the number of passes over the samples."""

    ridge: float
    beta: float
    n_epochs: int


def dissimilarity(problem: Problem, posterior: np.ndarray, against: np.ndarray, beta: float) -> float:
    """Mean over samples of H_i(w, θ) − β H_i(θ); ``against`` is the loss of the predictions, by true candidate."""
    agreement = np.add.reduceat(posterior * against, problem.offsets[:-1])
    return float(np.mean(agreement - beta * problem.loss.diversity(posterior)))


def objective(problem: Problem, theta: np.ndarray, against: np.ndarray, settings: Settings) -> float:
    """What is minimised over θ."""
    spread = dissimilarity(problem, problem.posterior(theta), against, settings.beta)
    return 0.5 * settings.ridge * float(theta @ theta) + spread


def sample_gradient(
    problem: Problem, theta: np.ndarray, sample: int, against: np.ndarray, beta: float
) -> tuple[np.ndarray, slice]:
    """Derivative of H_i(w, θ) − β H_i(θ) of one sample by the part of θ that it depends on; exact, O(|H_i| d)."""
    features, part = problem.latent_features(sample)
    scores = features @ theta[part].astype(features.dtype, copy=False)
    posterior = np.exp(scores - scores.max(), dtype=np.float64)
    posterior /= posterior.sum()
    own = against[problem.offsets[sample] : problem.offsets[sample + 1]] - beta * problem.loss.pull(sample, posterior)
    by_score: Any = posterior * (own - posterior @ own)
    return features.T @ by_score.astype(features.dtype, copy=False), part


def learn(
    problem: Problem, theta: np.ndarray, selection: Selection, settings: Settings, rng: np.random.Generator
) -> tuple[np.ndarray, float, float]:
    """Stochastic sub-gradient with step 1/(λt) for these predictions: θ, and the objective before and after.

    The steps begin large, so the objective is looked at after every pass, and the best θ, the first one included, is
    what is returned.
    """
    against = problem.loss.against(selection)
    before = objective(problem, theta, against, settings)
    best, lowest = theta, before
    # a known candidate is certain, whatever θ
    samples = np.flatnonzero(problem.known < 0)
    current, step = theta.copy(), 0
    for _ in range(settings.n_epochs):
        for sample in rng.permutation(samples):
            step += 1
            gradient, part = sample_gradient(problem, current, sample, against, settings.beta)
            current *= 1 - 1 / step
            current[part] -= gradient / (settings.ridge * step)
        value = objective(problem, current, against, settings)
        if value < lowest:
            best, lowest = current.copy(), value
    return best, before, lowest
