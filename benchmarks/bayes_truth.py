"""A truth that data speak of, for benchmarks of posteriors: couplings of binary features, half of them ones.

40 binary features, 4 Gaussian units, weights from N(0, 0.3²), and biases θ = -WWᵀ1 / 2, at which zeros and ones of all
features may be exchanged, so that every feature has a mean of 1/2 and only couplings can be learned. At this scale
features are correlated nearly as strongly as they can be without falling into two groups of items. Biases are known to
all methods.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold

from benchmarks.internals import (
    Data,
    Driver,
    Energy,
    Parameters,
    Prior,
    Problem,
    Run,
    Statistics,
    Training,
    gibbs_step,
    pseudo_log_likelihood,
)
from harmonium import Bernoulli, Langevin, Views
from harmonium.hidden import GaussianUnits
from harmonium.objectives import SampledCD
from harmonium.training import Adam
from harmonium.training.drivers.optimizers import Step

N_FEATURES, N_UNITS, SCALE = 40, 4, 0.3
SWEEPS = 1000
ENERGY = Energy({"x": Bernoulli().restore(N_FEATURES, {})}, GaussianUnits().bind(N_UNITS))
PAIRS = np.triu_indices(N_FEATURES, 1)
RATES, MOST_STEPS, CHECK_EVERY = (0.003, 0.01), 600, 40
STRENGTHS = (0.003, 0.01, 0.03, 0.1, 0.3)
CENTRAL = (0.05, 0.95)  # ends of the intervals


def couplings(weights: np.ndarray) -> np.ndarray:
    """Return WWᵀ of all pairs of different features, for weights of shape (…, features, units)."""
    return (weights @ np.swapaxes(weights, -1, -2))[..., PAIRS[0], PAIRS[1]]


def known(size: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return true weights, biases and items."""
    rng = np.random.default_rng([seed, size])
    weights = SCALE * rng.standard_normal((N_FEATURES, N_UNITS))
    bias = -0.5 * (weights @ weights.T).sum(axis=1)
    hidden = rng.standard_normal((size, N_UNITS)).astype(np.float32)
    for _ in range(SWEEPS):
        hidden, batch = gibbs_step(ENERGY, parameters_of(weights, bias), hidden, rng)
    return weights, bias, np.asarray(batch.views["x"].statistic, dtype=np.float32)


def parameters_of(weights: np.ndarray, bias: np.ndarray) -> Parameters:
    values = {"hidden.bias": np.zeros(N_UNITS), "x.bias": bias, "x.weights": weights}
    return {name: value.astype(np.float32) for name, value in values.items()}


class Ascent(Driver):
    """Maximum likelihood of the weights alone by Adam with brief sampling, for so many steps."""

    def __init__(self, rate: float = 0.003, n_steps: int = MOST_STEPS) -> None:
        self.rate = rate
        self.n_steps = n_steps

    def epochs(self, n_rows: int) -> int:
        return self.n_steps

    def run(self, run: Run) -> None:
        """Ascend in place; the objective is brief sampling, whatever that of the chains."""
        for _ in self.steps(run.problem, run.data, run.training, run.rng):
            pass

    def steps(self, problem: Problem, data: Data, training: Training, rng: Any) -> Iterator[int]:
        """One step after the other."""
        batch = data.batch(np.arange(len(data)), problem.energy.families)
        optimizer, moving = Adam(), {"x.weights": training.parameters["x.weights"]}
        optimizer_state, statistics = optimizer.start(moving), Statistics.zeros_like(training.parameters)
        for step in range(1, self.n_steps + 1):
            statistics.count = 0.0
            SampledCD().accumulate(problem, training.parameters, batch, statistics, rng)
            optimizer.update(moving, statistics, optimizer_state, Step(self.rate))
            yield step


def problem_of(items: np.ndarray) -> tuple[Problem, Data]:
    return Problem(ENERGY, {"x": items.mean(axis=0)}), Data(Views({"x": items}))


def start_of(seed: int, bias: np.ndarray) -> Parameters:
    return parameters_of(0.05 * np.random.default_rng(seed).standard_normal((N_FEATURES, N_UNITS)), bias)


def likeliest(items: np.ndarray, bias: np.ndarray, seed: int, ascent: Ascent) -> np.ndarray:
    """Return weights of maximum likelihood."""
    problem, data = problem_of(items)
    training = Training(start_of(seed, bias))
    ascent.run(Run(problem, SampledCD(), data, training, np.random.default_rng(seed)))
    return training.parameters["x.weights"]


def early_stopping(items: np.ndarray, bias: np.ndarray, seed: int) -> Ascent:
    """Return the ascent at whose end held-out items, a fifth of them, have the largest pseudo-likelihood."""
    held = max(2, len(items) // 5)
    batch = Views({"x": items[:held]}).batch(slice(None), ENERGY.families)
    scores: dict[tuple[float, int], float] = {}
    for rate in RATES:
        problem, data = problem_of(items[held:])
        training = Training(start_of(seed, bias))
        steps = Ascent(rate).steps(problem, data, training, np.random.default_rng(seed))
        for step in islice(steps, CHECK_EVERY - 1, None, CHECK_EVERY):
            found = pseudo_log_likelihood(ENERGY, training.parameters, batch, np.random.default_rng(0), 10)
            scores[rate, step] = float(found.mean())
    return Ascent(*max(scores, key=scores.__getitem__))


def posterior_couplings(
    items: np.ndarray, bias: np.ndarray, seed: int, prior: Prior, begin: Driver, gibbs_steps: int = 1, **lengths: Any
) -> np.ndarray:
    """Return couplings of posterior draws, shape (draws, pairs); chains have the default lengths of `Langevin`."""
    driver = Langevin(prior=prior, biases="fixed", start=begin, **lengths)
    problem, data = problem_of(items)
    training = Training(start_of(seed, bias))
    driver.run(Run(problem, SampledCD(gibbs_steps), data, training, np.random.default_rng(seed)))
    assert training.posterior is not None
    return couplings(training.posterior.array("x.weights")).reshape(-1, len(PAIRS[0]))


def by_regressions(items: np.ndarray, strength: float) -> np.ndarray:
    """Return couplings by logistic regressions of each feature on all others, means of both directions."""
    found = np.zeros((N_FEATURES, N_FEATURES))
    for i in range(N_FEATURES):
        others = np.arange(N_FEATURES) != i
        if np.ptp(items[:, i]) > 0:
            found[i, others] = LogisticRegression(C=strength).fit(items[:, others], items[:, i]).coef_[0]
    return ((found + found.T) / 2)[PAIRS]


def regression_strength(items: np.ndarray) -> float:
    """Return the strength, one for all features, by cross-validation over some of the features."""
    scores = dict.fromkeys(STRENGTHS, 0.0)
    for strength in STRENGTHS:
        for i in range(0, N_FEATURES, 4):
            others = np.arange(N_FEATURES) != i
            for train, test in KFold(3, shuffle=True, random_state=0).split(items):
                if np.ptp(items[train, i]) > 0:
                    model = LogisticRegression(C=strength).fit(items[train][:, others], items[train, i])
                    logit = model.decision_function(items[test][:, others])
                    scores[strength] -= np.logaddexp(0, np.where(items[test, i] > 0, -logit, logit)).sum()
    return max(scores, key=scores.__getitem__)
