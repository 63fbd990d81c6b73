"""Data from a model with 12 binary features: how many does the Indian buffet process find, and what does it depend on?

Each of 144 binary pixels is on with log-odds -2, plus the weights of the features that an item has; a feature has 20
pixels with weights of both signs and is had by 10-40 % of the items. Everything runs with default settings; five draws
of the truth and of the data. Reconstruction is -log p(x | inferred features), in nats an item, on items not trained on.

Run: ``python benchmarks/infinite_truth.py``.
"""

from __future__ import annotations

import time
import warnings
from functools import partial
from typing import Any

import matplotlib
import numpy as np
from scipy.special import expit

from common import RESULTS, table, write
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

matplotlib.use("Agg")
SEEDS = range(5)
FRESH = range(100, 105)  # the layer was developed while looking at the first five
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


def over_seeds(name: str, make: Any, n_items: int = 2000, seeds: range = SEEDS) -> list[object]:
    results = np.array([trial(make(), seed, n_items) for seed in seeds])
    units = ", ".join(f"{int(k)}" for k in results[:, 0])
    mean = results.mean(axis=0)
    row = [name, n_items, units, mean[0], mean[1], mean[2], mean[3], mean[4], mean[5]]
    print(row, flush=True)
    return row


def infinite(**settings: Any) -> Any:
    return lambda: Harmonium(hidden=IBP(**{"truncation": 100, **settings}), views=Bernoulli())


def main() -> None:
    warnings.simplefilter("ignore", HarmoniumWarning)
    header = [
        "model",
        "items",
        "units",
        "mean",
        "features found",
        "correlation",
        "reconstruction",
        "of truth",
        "seconds",
    ]
    size = [over_seeds("IBP, T=100", infinite(), n) for n in (500, 1000, 2000, 4000, 8000)]
    fresh = [over_seeds("IBP, T=100", infinite(), n, FRESH) for n in (2000, 4000)]

    def finite_model(k: int, rate: float | None) -> Harmonium:
        driver = None if rate is None else Stochastic(batch_size=None, learning_rate=rate)
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
    picture()
    ratio = size[2][6] / min(row[6] for row in finite[:-1])
    body = "\n\n".join(
        [
            f"Units of the five trials with 2,000 items: {size[2][2]} (goal: 10-14 of T=100); on average "
            f"{size[2][3]:.1f}, and {size[3][3]:.1f} with twice as many items. Reconstruction {size[2][6]:.2f} nats, "
            f"{ratio:.3f} × that of the best model that is told K=12; the true features give {size[2][7]:.2f}.",
            "## More items\n\n" + table(header, size),
            "## Draws that had no part in development\n\n" + table(header, fresh),
            "## Models that are told the number\n\n" + table(header, finite),
            "## Truncation\n\n" + table(header, truncation),
            "## α\n\n" + table(header, alphas),
            "## Other ways to learn and infer\n\n" + table(header, ways),
            "![units and bound over epochs](infinite_truth.png)",
        ]
    )
    write("infinite_truth", "Known truth: 12 binary features", body, "python benchmarks/infinite_truth.py")


def picture() -> None:
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
    figure.savefig(RESULTS / "infinite_truth.png", dpi=120)


if __name__ == "__main__":
    main()
