"""Intervals of couplings over a panel of truths: columns of few and of many ones, weak and strong, few rows and more.

16 binary features, 2 Gaussian units, weights from N(0, scale²), and biases at which a feature whose neighbours have
their mean is one as often as the panel says; strong couplings move the share of ones in the data from there. Items are
drawn exactly, by enumeration. `BEFH` has all its defaults: it is told neither scale nor biases. The number that counts
is the share of couplings, entries of WWᵀ off its diagonal, in central 90 % intervals of the draws. Of one truth they
hang together, so that means of a few runs still scatter by some hundredths.

"posterior of the true scale" is told the scale that the truth was drawn from, and biases are sampled there too.
"""

from __future__ import annotations

import itertools
import warnings
from functools import cache
from types import SimpleNamespace

import numpy as np
from scipy.special import logit

from benchmarks.bayes_truth import CENTRAL
from benchmarks.internals import compute
from benchmarks.measuring import with_error
from benchmarks.registry import Benchmark
from benchmarks.results import Result
from harmonium import BEFH, Bernoulli, HarmoniumWarning, Langevin
from harmonium.inspection import posterior_draws
from harmonium.training import GaussianPrior, Prior

BENCHMARK = Benchmark(
    title="Intervals over a panel of truths",
    claim="90 % intervals of known couplings by `BEFH` with all defaults: 4 to 96 % ones, weak and strong,"
    " 50 and 400 rows",
    minutes=8,
    settings={
        "runs": 4,
        "told_runs": 2,
        "ones": (0.04, 0.5, 0.84, 0.96),
        "scales": (0.3, 0.5, 0.8),
        "sizes": (50, 400),
    },
    quick={"runs": 2, "told_runs": 2, "ones": (0.96,), "scales": (0.5,), "sizes": (50,)},
)
# everything was chosen on seeds from 1000 on
FIRST_SEED = 500
N_FEATURES, N_UNITS = 16, 2
PAIRS = np.triu_indices(N_FEATURES, 1)


@cache
def all_states() -> np.ndarray:
    return ((np.arange(2**N_FEATURES)[:, None] >> np.arange(N_FEATURES)) & 1).astype(np.float32)


def truth(ones: float, scale: float, size: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return true weights, and items drawn by them."""
    rng = np.random.default_rng([seed, int(100 * ones), int(100 * scale), size])
    weights = scale * rng.standard_normal((N_FEATURES, N_UNITS))
    couplings = weights @ weights.T
    own = np.diag(couplings)
    bias = logit(ones) - 0.5 * own - ones * (couplings.sum(axis=1) - own)
    log_density = all_states() @ bias + 0.5 * np.square(all_states() @ weights).sum(axis=1)
    cumulated = np.cumsum(np.exp(log_density - log_density.max()))
    chosen = np.searchsorted(cumulated, cumulated[-1] * rng.random(size))
    return weights, all_states()[chosen].astype(np.float64)


def intervals(items: np.ndarray, prior: Prior | None, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of intervals of all couplings; chains have their default lengths."""
    model = BEFH(N_UNITS, Bernoulli(), driver=Langevin(prior=prior), random_state=seed, n_jobs=1).fit(items)
    draws = posterior_draws(model)["view0.weights"].reshape(-1, N_FEATURES, N_UNITS)
    lower, upper = np.quantile((draws @ draws.transpose(0, 2, 1))[:, PAIRS[0], PAIRS[1]], CENTRAL, axis=0)
    return lower, upper


def measures(truth: np.ndarray, interval: tuple[np.ndarray, np.ndarray]) -> dict[str, float]:
    lower, upper = interval
    return {"covered": float(((truth >= lower) & (truth <= upper)).mean()), "width": float((upper - lower).mean())}


def run(options: SimpleNamespace) -> Result:
    """Fit a model to several draws of each kind of truth."""
    warnings.simplefilter("ignore", HarmoniumWarning)
    rows: list[list[object]] = []
    means: dict[int, list[float]] = {size: [] for size in options.sizes}
    with compute(1):
        for size, scale, ones in itertools.product(options.sizes, options.scales, options.ones):
            default, told, shares = [], [], []
            for seed in range(FIRST_SEED, FIRST_SEED + options.runs):
                weights, items = truth(ones, scale, size, seed)
                known = (weights @ weights.T)[PAIRS]
                shares.append(float(items.mean()))
                default.append(measures(known, intervals(items, None, seed)))
                if seed < FIRST_SEED + options.told_runs:
                    told.append(measures(known, intervals(items, GaussianPrior(scale=scale), seed)))
            means[size].append(float(np.mean([run["covered"] for run in default])))
            cells = [with_error([run["covered"] for run in runs]) for runs in (default, told)]
            width = float(np.mean([run["width"] for run in default]))
            rows.append([size, scale, ones, float(np.mean(shares)), *cells, width])
            print(rows[-1], flush=True)
    result = Result()
    result.text(
        f"Share of couplings in 90 % intervals, means over {options.runs} runs with their standard errors "
        f"({options.told_runs} runs where the true scale is told):"
    )
    formats = {"ones in the data": "{:.2f}", "covered, all defaults": "{:.2f}", "covered, true scale told": "{:.2f}"}
    names = ["rows", "scale of the truth", "ones", *formats, "width"]
    result.table("panel", {name: formats.get(name, "{:.2f}" if name == "width" else None) for name in names}, rows)
    result.text("Means over all kinds of truths, the smallest and the largest:")
    summary = [[size, float(np.mean(found)), min(found), max(found)] for size, found in means.items()]
    columns = ["mean", "smallest", "largest"]
    result.table("panel_summary", {"rows": None, **dict.fromkeys(columns, "{:.2f}")}, summary)
    return result
