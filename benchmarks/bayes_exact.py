"""Chains against the exact posterior: three binary features, one unit, three weights (E[WWᵀ] by quadrature).

The gradient of the likelihood is exact, or that of brief sampling with l Gibbs steps. Steps ε are those of plain
Langevin (one for all weights). The error is the mean over the entries of WWᵀ of |chain - exact|, and the Monte Carlo
error what it would be by chance, from the spread between chains. Without looking one takes the moments of the prior.
"""

from __future__ import annotations

import itertools
from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy.special import logsumexp

from benchmarks.internals import Data, Energy, Problem, Run, Training, compute
from benchmarks.registry import Benchmark
from benchmarks.results import Result
from harmonium import Bernoulli, Langevin, Views
from harmonium.exceptions import DivergenceError
from harmonium.hidden import BernoulliUnits
from harmonium.objectives import ExactLikelihood, SampledCD
from harmonium.training import AdjustedLangevin, GaussianPrior, Metropolis

BENCHMARK = Benchmark(
    title="Chains against an exact posterior",
    claim="Langevin, adjusted Langevin and Metropolis chains against the exact posterior of a tiny model, for smaller"
    " and smaller steps",
    minutes=2,
    settings={"draws": 200, "warmup": 200, "metropolis_warmup": 500, "chains": 6},
    quick={"draws": 10, "warmup": 10, "metropolis_warmup": 10, "chains": 2},
)
SCALE, N_ROWS = 0.8, 30
BIAS, HIDDEN_BIAS = np.array([-0.5, 0.0, 0.3]), -0.2


def items() -> np.ndarray:
    """Features of which the first two tend to agree."""
    values = np.random.default_rng(0).random((N_ROWS, 1)) < [[0.3, 0.5, 0.6]]
    values[: N_ROWS // 2, 1] = values[: N_ROWS // 2, 0]
    return values.astype(np.float32)


def exact_moments(data: np.ndarray) -> np.ndarray:
    """E[WWᵀ] by summing over all states of the features and a grid of weights."""
    grid = np.linspace(-5 * SCALE, 5 * SCALE, 81)
    points = np.stack(np.meshgrid(grid, grid, grid, indexing="ij"), axis=-1).reshape(-1, 3)
    everything = np.array(list(itertools.product([0.0, 1.0], repeat=3)))

    def log_density(x: np.ndarray) -> np.ndarray:
        return x @ BIAS + np.logaddexp(0, HIDDEN_BIAS + points @ x.T)

    states, counts = np.unique(data, axis=0, return_counts=True)
    log_posterior = log_density(states) @ counts - len(data) * logsumexp(log_density(everything), axis=1)
    log_posterior -= np.square(points).sum(axis=1) / 2 / SCALE**2
    weight = np.exp(log_posterior - log_posterior.max())
    return np.einsum("k,ki,kj->ij", weight / weight.sum(), points, points)


def sampled_moments(driver: Any, objective: Any, data: np.ndarray) -> np.ndarray:
    """E[WWᵀ] of each chain."""
    problem = Problem(Energy({"x": Bernoulli().restore(3, {})}, BernoulliUnits().bind(1)), {"x": data.mean(axis=0)})
    parameters = {
        "hidden.bias": np.array([HIDDEN_BIAS], np.float32),
        "x.weights": np.full((3, 1), 0.1, np.float32),
        "x.bias": BIAS.astype(np.float32),
    }
    training = Training(parameters)
    driver.run(Run(problem, objective, Data(Views({"x": data})), training, np.random.default_rng(0)))
    assert training.posterior is not None
    weights = training.posterior.array("x.weights")[..., 0]
    return np.einsum("cki,ckj->cij", weights, weights) / weights.shape[1]


def run(options: SimpleNamespace) -> Result:
    """Compare moments of chains with those of the posterior."""
    data = items()
    exact = exact_moments(data)
    fixed: dict[str, Any] = {"n_chains": options.chains, "start": None, "prior": GaussianPrior(scale=SCALE)}
    langevin: dict[str, Any] = {**fixed, "biases": "fixed"}
    runs: list[tuple[str, Any, Any]] = [
        (
            f"Langevin, ε = {step}",
            Langevin(options.draws, options.warmup, thin, step=step, precondition=False, **langevin),
            ExactLikelihood(),
        )
        for step, thin in ((1.6, 1), (0.8, 2), (0.4, 4), (0.2, 8))
    ]
    for name, objective in {
        "Langevin, tuned step": ExactLikelihood(),
        **{f"Langevin, tuned step, brief sampling l = {n}": SampledCD(n) for n in (1, 5, 20)},
    }.items():
        runs.append((name, Langevin(options.draws, options.warmup, 4, **langevin), objective))
    for step in (0.2, 0.8):
        driver = AdjustedLangevin(options.draws, options.warmup, 4, step=step, **fixed)
        runs.append((f"adjusted Langevin, ε = {step}", driver, ExactLikelihood()))
    runs.append(("adjusted Langevin", AdjustedLangevin(options.draws, options.warmup, 4, **fixed), ExactLikelihood()))
    runs.append(("Metropolis", Metropolis(options.draws, options.metropolis_warmup, 10, **fixed), SampledCD()))
    pooled = Metropolis(options.draws, options.metropolis_warmup, 10, n_steps=1, ratio="pooled", **fixed)
    runs.append(("Metropolis, pooled ratio (eq. 12), l = 1", pooled, SampledCD()))
    zero = float(np.abs(SCALE**2 * np.eye(3) - exact).mean())
    rows: list[list[object]] = [["the prior", zero, 0.0, 3 * SCALE**2]]
    with compute(1):
        for name, driver, objective in runs:
            try:
                found = sampled_moments(driver, objective, data)
            except DivergenceError:
                rows.append([name, "ran away", None, None])
                continue
            chance = found.std(axis=0, ddof=1) / np.sqrt(options.chains)
            error = np.abs(found.mean(axis=0) - exact)
            rows.append(
                [
                    name,
                    float(error.mean()),
                    float(np.sqrt(2 / np.pi) * chance.mean()),
                    float(np.trace(found.mean(axis=0))),
                ]
            )
            print(rows[-1], flush=True)
    result = Result()
    result.table("chains", ["chain", "error", "Monte Carlo error", f"E[tr WWᵀ] (exact: {np.trace(exact):.3f})"], rows)
    return result
