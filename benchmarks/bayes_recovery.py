"""Recovering known weights from few items: maximum likelihood against draws from the posterior (Fig. 3 and 5).

The truth has 100 binary features, 10 Gaussian units, no biases, and weights from the best approximation of rank 10 of a
matrix of uniform numbers in [0, 0.1], drawn again until no coupling WWᵀ is negative; items are drawn from it exactly by
coupling from the past. All methods know that biases are zero, take the gradients of brief sampling (l = 1) of all items
and start from the same random weights. Errors are those of WWᵀ, as rotations of the units are arbitrary.

Maximum likelihood is Adam until it has converged, as in the paper, or until the pseudo-likelihood of held-out items
stops rising (a fifth of the items, then all items for as many steps). Chains start where the latter ends.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from benchmarks.internals import (
    Data,
    Driver,
    Energy,
    Parameters,
    Posterior,
    Prior,
    Problem,
    Silent,
    Statistics,
    Training,
    compute,
    perfect_sample,
    pseudo_log_likelihood,
)
from benchmarks.registry import Benchmark
from benchmarks.results import Result
from harmonium import (
    Adam,
    Bernoulli,
    DivergenceError,
    EmpiricalBayes,
    GaussianPrior,
    GaussianUnits,
    Langevin,
    SampledCD,
    Views,
)

N_FEATURES, N_UNITS = 100, 10
SIZES = (25, 50, 100, 200)
BENCHMARK = Benchmark(
    title="Weights recovered from few items",
    claim="known weights from 25 to 200 items: posterior draws against maximum likelihood; coverage of intervals;"
    " chains",
    minutes=25,
    settings={"runs": 10, "sizes": SIZES},
)
N_CHAINS, N_DRAWS, WARMUP, THIN = 4, 100, 1000, 5
CENTRAL = (0.05, 0.95)  # ends of the intervals
RATES = (0.001, 0.003, 0.01)
MOST_STEPS, CHECK_EVERY = 2000, 40
OURS = "posterior, normal of unit scale"
PRIORS: dict[str, Prior] = {
    OURS: GaussianPrior(),
    "posterior, empirical Bayes": EmpiricalBayes(),
    "posterior, empirical Bayes as in the paper": EmpiricalBayes(per="input", begin="weights"),
    "posterior, N(0, 1)": GaussianPrior(scale=1.0),
}
SHOWN = ("maximum likelihood, rate 0.001", "maximum likelihood, early stopping", OURS)
# priors were developed on runs 0 and 1
FIRST_SEED = 100
Found = dict[int, list[dict[str, dict[str, float]]]]  # by number of items: runs, by method, by measure
ENERGY = Energy({"x": Bernoulli().restore(N_FEATURES, {})}, GaussianUnits().bind(N_UNITS))


def true_weights(rng: np.random.Generator) -> np.ndarray:
    while True:
        left, values, _ = np.linalg.svd(rng.uniform(0, 0.1, (N_FEATURES, N_FEATURES)))
        weights = left[:, :N_UNITS] * np.sqrt(values[:N_UNITS])
        coupling = weights @ weights.T
        if (coupling[~np.eye(N_FEATURES, dtype=bool)] >= 0).all():
            return weights


def parameters_of(weights: np.ndarray) -> Parameters:
    zero = {"hidden.bias": np.zeros(N_UNITS, np.float32), "x.bias": np.zeros(N_FEATURES, np.float32)}
    return zero | {"x.weights": weights.astype(np.float32)}


class Ascent(Driver):
    """Maximum likelihood of the weights alone, for so many steps."""

    def __init__(self, rate: float = 0.003, n_steps: int = MOST_STEPS) -> None:
        self.rate = rate
        self.n_steps = n_steps

    def epochs(self, n_rows: int) -> int:
        return self.n_steps

    def run(self, problem: Problem, objective: Any, data: Data, training: Training, rng: Any, *rest: Any) -> None:
        """Ascend in place."""
        for _ in self.steps(problem, objective, data, training, rng):
            pass

    def steps(self, problem: Problem, objective: Any, data: Data, training: Training, rng: Any) -> Iterator[int]:
        """One step after the other."""
        batch = data.batch(np.arange(len(data)), problem.energy.families)
        optimiser, moving = Adam(), {"x.weights": training.parameters["x.weights"]}
        slots = optimiser.start(moving)
        statistics = Statistics.zeros_like(training.parameters)
        for step in range(1, self.n_steps + 1):
            statistics.count = 0.0
            objective.accumulate(problem, training.parameters, batch, statistics, rng)
            optimiser.update(moving, statistics, slots, self.rate, 0.0, step)
            yield step


def ascend(values: np.ndarray, start: np.ndarray, seed: int, rate: float, n_steps: int) -> Training:
    data = Data(Views({"x": values}))
    training = Training(parameters_of(start))
    problem = Problem(ENERGY, {"x": values.mean(axis=0)})
    Ascent(rate, n_steps).run(problem, SampledCD(), data, training, np.random.default_rng(seed))
    return training


def early_stopping(values: np.ndarray, start: np.ndarray, seed: int) -> tuple[float, int]:
    """Rate and number of steps at which held-out items are most likely."""
    held = max(2, len(values) // 5)
    batch = Views({"x": values[:held]}).batch(slice(None), ENERGY.families)
    scores: dict[tuple[float, int], float] = {}
    for rate in RATES:
        problem, data = Problem(ENERGY, {"x": values[held:].mean(axis=0)}), Data(Views({"x": values[held:]}))
        training = Training(parameters_of(start))
        steps = Ascent(rate).steps(problem, SampledCD(), data, training, np.random.default_rng(seed))
        for step in itertools.islice(steps, CHECK_EVERY - 1, None, CHECK_EVERY):
            found = [
                pseudo_log_likelihood(ENERGY, training.parameters, batch, np.random.default_rng(i)).mean()
                for i in range(3)
            ]
            scores[rate, step] = float(np.mean(found))
    return max(scores, key=scores.__getitem__)


def sample(values: np.ndarray, start: np.ndarray, seed: int, prior: Prior, begin: Driver | None) -> Posterior:
    driver = Langevin(N_DRAWS, WARMUP, THIN, N_CHAINS, prior=prior, biases="fixed", start=begin)
    training = Training(parameters_of(start))
    problem = Problem(ENERGY, {"x": values.mean(axis=0)})
    driver.run(problem, SampledCD(), Data(Views({"x": values})), training, np.random.default_rng(seed), Silent())
    assert training.posterior is not None
    return training.posterior


def errors(truth: np.ndarray, found: np.ndarray) -> dict[str, float]:
    """Mean absolute and mean relative error (eq. 29-30)."""
    difference = np.abs(truth - found)
    relative = difference / np.maximum(np.abs(truth), np.abs(found))
    return {"mae": float(difference.mean()), "mre": float(relative.mean())}


def one_run(size: int, seed: int) -> dict[str, dict[str, float]]:
    rng = np.random.default_rng([seed, size])
    weights = true_weights(rng)
    truth = weights @ weights.T
    batch, _ = perfect_sample(ENERGY, parameters_of(weights), size, rng)
    values = np.asarray(batch.views["x"].statistic, dtype=np.float32)
    start = 0.05 * rng.standard_normal((N_FEATURES, N_UNITS))
    results: dict[str, dict[str, float]] = {}
    for rate in RATES:
        found = ascend(values, start, seed, rate, MOST_STEPS).parameters["x.weights"]
        results[f"maximum likelihood, rate {rate}"] = errors(truth, found @ found.T)
    rate, n_steps = early_stopping(values, start, seed)
    found = ascend(values, start, seed, rate, n_steps).parameters["x.weights"]
    results["maximum likelihood, early stopping"] = errors(truth, found @ found.T)
    for name, prior in PRIORS.items():
        begin = time.perf_counter()
        try:
            posterior = sample(values, start, seed, prior, Ascent(rate, n_steps))
        except DivergenceError:
            results[name] = dict.fromkeys(("mae", "mre", "covered", "diagonal", "seconds"), np.nan)
            continue
        draws = posterior.array("x.weights").reshape(-1, *found.shape)
        products = np.einsum("kij,klj->kil", draws, draws)
        lower, upper = np.quantile(products, CENTRAL, axis=0)
        inside = (truth >= lower) & (truth <= upper)
        apart = ~np.eye(N_FEATURES, dtype=bool)
        results[name] = {
            **errors(truth, products.mean(axis=0)),
            "covered": float(inside.mean()),
            "diagonal": float(inside[~apart].mean()),
            "seconds": time.perf_counter() - begin,
        }
    return results


def draw_chains(file: Path) -> None:
    """Fig. 3: entries of WWᵀ along three chains from different starts, with a step of 0.03."""
    import matplotlib.pyplot as plt

    rng = np.random.default_rng(0)
    weights = true_weights(rng)
    batch, _ = perfect_sample(ENERGY, parameters_of(weights), 100, rng)
    values = np.asarray(batch.views["x"].statistic, dtype=np.float32)
    figure, panels = plt.subplots(1, 2, figsize=(9, 3), layout="constrained")
    for scale in (0.01, 0.1, 0.2):
        training = Training(parameters_of(scale * rng.standard_normal((N_FEATURES, N_UNITS))))
        prior = GaussianPrior(scale=0.1)
        driver = Langevin(600, 0, 1, 1, 0.03, precondition=False, prior=prior, biases="fixed", start=None)
        problem = Problem(ENERGY, {"x": values.mean(axis=0)})
        driver.run(problem, SampledCD(), Data(Views({"x": values})), training, rng, Silent())
        assert training.posterior is not None
        draws = training.posterior.array("x.weights")[0]
        for panel, (i, j) in zip(panels, [(0, 0), (0, 1)], strict=True):
            panel.plot((draws[:, i] * draws[:, j]).sum(axis=1), lw=0.7, label=f"weights of {scale:g} at the start")
            panel.axhline(weights[i] @ weights[j], color="black", ls=":", lw=1)
            panel.set(xlabel="move", ylabel=f"(WWᵀ)[{i}, {j}]")
    panels[0].legend(fontsize=8)
    figure.savefig(file, dpi=120)


def draw_errors(found: Found, file: Path) -> None:
    """Fig. 5: both errors against the number of items."""
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, 2, figsize=(9, 3.5), layout="constrained")
    for panel, measure in zip(panels, ("mae", "mre"), strict=True):
        for name in SHOWN:
            values = np.array([[run[name][measure] for run in found[size]] for size in found])
            panel.errorbar(list(found), values.mean(axis=1), values.std(axis=1, ddof=1), capsize=2, label=name)
        panel.set(xlabel="items", ylabel=measure, yscale="log")
    panels[0].legend(fontsize=8)
    figure.savefig(file, dpi=120)


def rows_of(found: Found, methods: list[str], measures: tuple[str, ...]) -> list[list[object]]:
    """Return a row for each method with the means over runs for each number of items."""
    rows: list[list[object]] = []
    for name in methods:
        row: list[object] = [name]
        for runs in found.values():
            kept = [run for run in runs if np.isfinite(run[name]["mae"])]
            if len(kept) < len(runs):
                row.append(f"ran away in {len(runs) - len(kept)} of {len(runs)} runs")
                continue
            row.append({measure: float(np.mean([run[name][measure] for run in kept])) for measure in measures})
        rows.append(row)
    return rows


def run(options: SimpleNamespace) -> Result:
    """Recover weights from several draws of each size."""
    found: Found = {}
    with compute():
        for size in options.sizes:
            found[size] = [one_run(size, FIRST_SEED + seed) for seed in range(options.runs)]
            print(size, {name: found[size][0][name] for name in found[size][0]}, flush=True)
        draw_chains(options.output / "bayes_recovery_chains.png")
    draw_errors(found, options.output / "bayes_recovery.png")
    columns = [f"{size} items" for size in options.sizes]
    likeliest = [name for name in found[options.sizes[0]][0] if name not in PRIORS]
    seconds = np.mean([run[OURS]["seconds"] for runs in found.values() for run in runs])
    result = Result()
    result.text(f"Mean over {options.runs} runs of mae / mre of WWᵀ by maximum likelihood:")
    form = "{mae:.4f} / {mre:.3f}"
    result.table(
        "maximum likelihood",
        {"method": None, **dict.fromkeys(columns, form)},
        rows_of(found, likeliest, ("mae", "mre")),
    )
    result.text(
        "The same for posteriors, and the share of entries of WWᵀ that central "
        f"{100 * (CENTRAL[1] - CENTRAL[0]):g} % intervals cover (in brackets: of the diagonal):"
    )
    result.table(
        "posterior",
        {"method": None, **dict.fromkeys(columns, form + " / {covered:.2f} ({diagonal:.2f})")},
        rows_of(found, list(PRIORS), ("mae", "mre", "covered", "diagonal")),
    )
    result.text(
        f"{N_CHAINS} chains, {WARMUP:,} moves of warm-up, {N_DRAWS} draws each, {THIN} moves apart: {seconds:.1f} s."
    )
    result.figure("bayes_recovery.png", "errors over the number of items")
    result.figure("bayes_recovery_chains.png", "chains from different starts")
    return result
