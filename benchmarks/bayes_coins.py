"""30 coins: `Metropolis` with all its defaults on two binary features of 30 items that are tossed, one Gaussian unit.

Nothing is to be found, so that chains without hold would run away: those of the pooled ratio (eq. 12) do. E[W²] of both
features is compared with quadrature over the weights, for the biases that the start has found; without looking it is
the variance of the prior. Each seed has one chain.
"""

from __future__ import annotations

import itertools
from types import SimpleNamespace

import numpy as np
from scipy.special import logsumexp

from benchmarks.measuring import with_error
from benchmarks.registry import Benchmark
from benchmarks.results import Result
from harmonium import BEFH, Harmonium
from harmonium.exceptions import DivergenceError
from harmonium.inspection import posterior_draws
from harmonium.training import Metropolis

BENCHMARK = Benchmark(
    title="30 coins",
    claim="`Metropolis` by exchange and by a pooled ratio on data without structure, against quadrature",
    minutes=1,
    settings={"seeds": 6, "draws": 100, "warmup": 1000},
    quick={"seeds": 2, "draws": 5, "warmup": 20},
)
TOSSED = (np.random.default_rng(0).random((30, 2)) < 0.5).astype(float)


def exact_squares(model: Harmonium) -> np.ndarray:
    """E[W²] of both features by quadrature."""
    bias, hidden_bias = (
        model.fitted_.parameters["view0.bias"].astype(float),
        float(model.fitted_.parameters["hidden.bias"][0]),
    )
    grid = np.linspace(-6, 6, 121)
    points = np.stack(np.meshgrid(grid, grid, indexing="ij"), axis=-1).reshape(-1, 2)
    everything = np.array(list(itertools.product([0.0, 1.0], repeat=2)))

    def log_density(x: np.ndarray) -> np.ndarray:
        return x @ bias + 0.5 * np.square(hidden_bias + points @ x.T)

    log_posterior = log_density(TOSSED).sum(axis=1) - len(TOSSED) * logsumexp(log_density(everything), axis=1)
    log_posterior -= (np.square(points) / model.fitted_.posterior.prior["view0"].variance / 2).sum(axis=1)
    weight = np.exp(log_posterior - log_posterior.max())
    return weight @ np.square(points) / weight.sum()


def one_seed(seed: int, driver: Metropolis) -> dict[str, list[float]] | None:
    """E[W²] of a chain, of the posterior and of the prior, and the share of exact moves; None if it ran away."""
    try:
        model = BEFH(1, driver=driver, random_state=seed, n_jobs=1).fit(TOSSED)
    except DivergenceError:
        return None
    found = np.square(posterior_draws(model)["view0.weights"][..., 0]).mean(axis=(0, 1))
    prior = [float(value) for value in model.fitted_.posterior.prior["view0"].variance]
    exact = model.history_["exact"][-1]
    return {"found": found.tolist(), "truth": exact_squares(model).tolist(), "prior": prior, "exact": [exact] * 2}


def run(options: SimpleNamespace) -> Result:
    """Toss coins for each seed."""
    lengths = {"n_draws": options.draws, "n_warmup": options.warmup, "n_chains": 1}
    rows: list[list[object]] = []
    for name, driver in {
        "exchange": Metropolis(**lengths),
        "pooled ratio, l = 1": Metropolis(**lengths, n_steps=1, ratio="pooled"),
    }.items():
        runs = [one_seed(seed, driver) for seed in range(options.seeds)]
        kept = [run for run in runs if run is not None]
        away = f"{len(runs) - len(kept)} of {len(runs)}"
        for feature in range(2) if len(kept) > 1 else ():
            cells = [[run[key][feature] for run in kept] for key in ("found", "truth", "prior", "exact")]
            rows.append([name, feature, away, *(with_error(cell) for cell in cells)])
        if len(kept) < 2:
            rows.append([name, None, away, None, None, None, None])
    result = Result()
    result.text(f"E[W²] of each feature, mean and standard error over {options.seeds} seeds:")
    columns = ["ratio", "feature", "ran away", "chain", "quadrature", "the prior", "exact moves"]
    result.table("coins", {column: "{:.3f}" if number > 2 else None for number, column in enumerate(columns)}, rows)
    return result
