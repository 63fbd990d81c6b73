"""Are 90 % intervals right where the prior is? Weights from the prior, items from the weights, then the posterior.

100 binary features, 10 Gaussian units, no biases, weights from N(0, 0.1²), which the model takes for its prior; items
are drawn by 1,000 Gibbs sweeps. Averaged over such draws, central 90 % intervals of an exact posterior cover 90 % of
the entries of WWᵀ; what is missing from that is the doing of brief sampling and of finite steps.
"""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from benchmarks.bayes_recovery import CENTRAL, ENERGY, N_FEATURES, N_UNITS, SIZES, errors, parameters_of, sample
from benchmarks.internals import compute, gibbs_step
from benchmarks.registry import Benchmark
from benchmarks.results import Result
from harmonium import GaussianPrior

BENCHMARK = Benchmark(
    title="Intervals where the prior is right",
    claim="90 % intervals of posterior draws where weights do come from the prior",
    minutes=5,
    settings={"runs": 10, "sizes": SIZES},
)
SCALE = 0.1


def one_run(size: int, seed: int) -> dict[str, float]:
    rng = np.random.default_rng([seed, size])
    weights = SCALE * rng.standard_normal((N_FEATURES, N_UNITS))
    truth = weights @ weights.T
    hidden = rng.standard_normal((size, N_UNITS)).astype(np.float32)
    for _ in range(1000):
        hidden, batch = gibbs_step(ENERGY, parameters_of(weights), hidden, rng)
    values = np.asarray(batch.views["x"].statistic, dtype=np.float32)
    start = SCALE * rng.standard_normal((N_FEATURES, N_UNITS))
    draws = sample(values, start, seed, GaussianPrior(scale=SCALE), None).array("x.weights")
    draws = draws.reshape(-1, N_FEATURES, N_UNITS)
    products = np.einsum("kij,klj->kil", draws, draws)
    lower, upper = np.quantile(products, CENTRAL, axis=0)
    inside = (truth >= lower) & (truth <= upper)
    apart = ~np.eye(N_FEATURES, dtype=bool)
    return {
        "covered": float(inside[apart].mean()),
        "diagonal": float(inside[~apart].mean()),
        "ones": float(values.mean()),
        **errors(truth, products.mean(axis=0)),
        "zero": errors(truth, np.eye(N_FEATURES) * N_UNITS * SCALE**2)["mae"],
    }


def run(options: SimpleNamespace) -> Result:
    """Measure the coverage for each number of items."""
    rows: list[list[object]] = []
    with compute():
        for size in options.sizes:
            runs = [one_run(size, seed) for seed in range(options.runs)]
            rows.append([size, *(float(np.mean([run[key] for run in runs])) for key in runs[0])])
            print(rows[-1], flush=True)
    columns = ["items", "covered", "covered, diagonal", "share of ones", "mae", "mre", "mae of the prior mean"]
    result = Result()
    result.table("coverage", columns, rows)
    result.text(f"Means over {options.runs} runs.")
    return result
