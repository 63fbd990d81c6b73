"""Data from a model with 12 binary features: how many does the Indian buffet process find, and what does it depend on?

Each of 144 binary pixels is on with log-odds -2, plus the weights of the features that an item has; a feature has 20
pixels with weights of both signs and is had by 10-40 % of the items. Everything runs with default settings; five draws
of the truth and of the data. Reconstruction is -log p(x | inferred features), in nats an item, on items not trained on.
"""

from __future__ import annotations

import time
import warnings
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy.special import expit

from benchmarks.registry import Benchmark
from benchmarks.results import Result
from harmonium import (
    IBP,
    LBFGS,
    Bernoulli,
    Harmonium,
    HarmoniumWarning,
    MeanFieldCD,
    PersistentCD,
    SpikeSlab,
    Stochastic,
)

BENCHMARK = Benchmark(
    title="Known truth: 12 binary features",
    claim="12 known features: how many IBP finds, over items, truncation, α, seeds and ways to learn",
    minutes=10,
    settings={"seeds": 5, "items": (500, 1000, 2000, 4000, 8000), "truncation": 100},
)
FIRST_FRESH = 100  # the layer was developed while looking at the first draws
STANDARD = 2000  # items, where nothing else is said
GOAL = (10, 14)  # units
N_FEATURES, N_PIXELS = 12, 144


def draw(seed: int, n_items: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Pixels, features, and the probability of each pixel."""
    rng = np.random.default_rng(seed)
    weights = np.zeros((N_PIXELS, N_FEATURES))
    for k in range(N_FEATURES):
        pixels = rng.choice(N_PIXELS, 20, replace=False)
        weights[pixels, k] = rng.choice([1, 1, 1, -1], 20) * rng.uniform(2.4, 4.8, 20)
    usage = rng.uniform(0.1, 0.4, N_FEATURES)
    has = (rng.random((n_items, N_FEATURES)) < usage).astype(float)
    probability = expit(-2.0 + has @ weights.T)
    return (rng.random(probability.shape) < probability).astype(np.float32), has, probability


def cost(pixels: np.ndarray, probability: np.ndarray) -> float:
    p = np.clip(probability, 1e-6, 1 - 1e-6)
    return float(-(pixels * np.log(p) + (1 - pixels) * np.log(1 - p)).sum(axis=1).mean())


def trial(model: Any, seed: int, n_items: int) -> list[float]:
    """Units, features found (|correlation| above 0.8), mean correlation, reconstruction, that of the truth, seconds."""
    pixels, has, probability = draw(seed, n_items + 1000)
    train, test = slice(0, n_items), slice(n_items, None)
    begin = time.perf_counter()
    model.set_params(random_state=seed).fit(pixels[train])
    seconds = time.perf_counter() - begin
    inferred = model.transform(pixels[test])
    k = model.n_components_
    found = np.abs(np.nan_to_num(np.corrcoef(inferred.T, has[test].T)[:k, k:])).max(axis=0)
    reconstruction = cost(pixels[test], model.reconstruct(pixels[test]))
    truth = cost(pixels[test], probability[test])
    return [k, float((found > 0.8).sum()), float(found.mean()), reconstruction, truth, seconds]


COLUMNS = (
    "model",
    "items",
    "units",
    "mean",
    "features found",
    "correlation",
    "reconstruction",
    "of truth",
    "seconds",
)


def row_of(name: str, make: Any, n_items: int, seeds: range) -> dict[str, Any]:
    """Return the units of every trial, and means of what was measured."""
    found = np.array([trial(make(), seed, n_items) for seed in seeds])
    units = [int(k) for k in found[:, 0]]
    row = dict(zip(COLUMNS, [name, n_items, units, *found.mean(axis=0)], strict=True))
    print(row, flush=True)
    return row


def run(options: SimpleNamespace) -> Result:
    """Vary one thing at a time."""
    warnings.simplefilter("ignore", HarmoniumWarning)
    seeds, fresh_seeds = range(options.seeds), range(FIRST_FRESH, FIRST_FRESH + options.seeds)

    def over_seeds(name: str, make: Any) -> dict[str, Any]:
        return row_of(name, make, STANDARD, seeds)

    def infinite(**settings: Any) -> Any:
        return lambda: Harmonium(hidden=IBP(**{"truncation": options.truncation, **settings}), views=Bernoulli())

    name = f"IBP, T={options.truncation}"
    size = [row_of(name, infinite(), n, seeds) for n in options.items]
    fresh = [row_of(name, infinite(), n, fresh_seeds) for n in (STANDARD, 2 * STANDARD)]

    def finite_model(k: int, rate: float | None) -> Harmonium:
        driver = None if rate is None else Stochastic(batch_size=0.05, learning_rate=rate)
        return Harmonium(k, views=Bernoulli(), driver=driver)

    finite = [
        over_seeds(f"finite, K={k}, rate {rate or 'of the default'}", partial(finite_model, k, rate))
        for k, rate in ((12, None), (12, 0.01), (12, 0.03), (12, 0.1), (100, None))
    ]
    truncation = [over_seeds(f"T={T}", infinite(truncation=T)) for T in (50, 100, 200, 400)]
    alphas = [over_seeds(f"α={a}", infinite(alpha=a)) for a in (0.5, 1.0, 2.0, 5.0, 10.0, 20.0, "learn")]
    ways = [
        over_seeds("SpikeSlab, K=100", lambda: Harmonium(hidden=SpikeSlab(n_units=100), views=Bernoulli())),
        over_seeds("IBP without cost of weights", infinite(relevance=0.0)),
        over_seeds("IBP, real units, joint posterior", infinite(kind="real")),
        over_seeds("IBP, real units, factorised as in the paper", infinite(kind="real", inference="factorised")),
        over_seeds("IBP, mean-field CD", lambda: infinite()().set_params(objective=MeanFieldCD())),
        over_seeds("IBP, persistent CD", lambda: infinite()().set_params(objective=PersistentCD())),
        over_seeds(
            "IBP, mean-field CD by L-BFGS", lambda: infinite()().set_params(objective=MeanFieldCD(), driver=LBFGS())
        ),
    ]
    picture(options.output / "infinite_truth.png")
    by_items = {row["items"]: row for row in size}
    standard, twice = by_items[STANDARD], by_items[2 * STANDARD]
    told = [row for row in finite if row["model"].startswith(f"finite, K={N_FEATURES},")]
    ratio = standard["reconstruction"] / min(row["reconstruction"] for row in told)
    result = Result()
    result.text(
        f"Units of the {options.seeds} trials with {STANDARD:,} items: {', '.join(map(str, standard['units']))} (goal: "
        f"{GOAL[0]}-{GOAL[1]} of T={options.truncation}); on average {standard['mean']:.1f}, and {twice['mean']:.1f} "
        f"with twice as many items. Reconstruction {standard['reconstruction']:.2f} nats, {ratio:.3f} × that of the "
        f"best model that is told K={N_FEATURES}; the true features give {standard['of truth']:.2f}."
    )
    result.heading("More items")
    result.table("items", COLUMNS, size)
    result.heading("Draws that had no part in development")
    result.text(
        f"The layer was developed while looking at draws {seeds[0]}-{seeds[-1]}, which all other tables show; these "
        f"are draws {fresh_seeds[0]}-{fresh_seeds[-1]}."
    )
    result.table("fresh draws", COLUMNS, fresh)
    for heading, rows in (
        ("Models that are told the number", finite),
        ("Truncation", truncation),
        ("α", alphas),
        ("Other ways to learn and infer", ways),
    ):
        result.heading(heading)
        result.table(heading, COLUMNS, rows)
    result.figure("infinite_truth.png", "units and bound over epochs")
    return result


def picture(file: Path) -> None:
    """Units that stand out and the bound on the prior terms, over epochs, for one draw and several truncations."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
    pixels, _, _ = draw(0, 2000)
    for T in (50, 100, 400):
        history = Harmonium(hidden=IBP(truncation=T), views=Bernoulli(), random_state=0).fit(pixels).history_
        axes[0].plot(history["epoch"], history["n_components"], label=f"T={T}")
        axes[1].plot(history["epoch"], history["prior_bound"], label=f"T={T}")
    axes[0].axhline(N_FEATURES, color="grey", linestyle=":")
    axes[0].set(xlabel="epoch", ylabel="units that stand out")
    axes[1].set(xlabel="epoch", ylabel="bound on the prior terms, nats an item")
    axes[0].legend(frameon=False)
    figure.savefig(file, dpi=120)
