"""Recovering known couplings from few items, on data that speak of them (the truth is that of `bayes_truth`).

Errors are those of entries of WWᵀ off its diagonal, as rotations of the units are arbitrary. Without looking one says
zero for all of them, which is the mean of the prior; the best constant is chosen by the truth itself. Logistic
regressions of each feature on all others are what one does about couplings of binary features; their strength is chosen
by cross-validation. Maximum likelihood is Adam with brief sampling until the pseudo-likelihood of held-out items stops
rising (a fifth of the items, then all for as many steps); chains start where it ends, and are as long as `Langevin`
makes them by default unless it says otherwise. "Empirical Bayes" is the default prior of `Langevin`.

If chains were perfect and the prior the one that the truth was drawn from, 90 % intervals would cover 90 %, as an
average over truths and data. So what the rows of the true prior lack is the fault of the chains, and what the others
lack beyond that is the fault of the prior.
"""

from __future__ import annotations

import time
from types import SimpleNamespace

import numpy as np

from benchmarks.bayes_truth import (
    CENTRAL,
    SCALE,
    by_regressions,
    couplings,
    early_stopping,
    known,
    likeliest,
    posterior_couplings,
    regression_strength,
)
from benchmarks.internals import Prior, compute
from benchmarks.measuring import with_error
from benchmarks.registry import Benchmark
from benchmarks.results import Result
from harmonium.exceptions import DivergenceError
from harmonium.training import EmpiricalBayes, GaussianPrior, JointEmpiricalBayes

BENCHMARK = Benchmark(
    title="Couplings recovered from few items",
    claim="known couplings from 50 and 200 items: posterior draws against maximum likelihood, logistic regressions and"
    " constants",
    minutes=1,
    settings={"runs": 3, "sizes": (50, 200)},
    quick={"runs": 1, "sizes": (50,)},
)
# priors were developed on seeds below
FIRST_SEED = 200
ZERO, CONSTANT, REGRESSIONS, LIKELIEST = (
    "zero",
    "best constant, by the truth",
    "logistic regressions",
    "maximum likelihood, early stopping",
)
TRUE_PRIOR = GaussianPrior(scale=SCALE)
SHORT = {"n_draws": 60, "n_warmup": 300, "thin": 4, "n_chains": 2}
LONG = {"n_draws": 200, "n_warmup": 1000, "thin": 10}
POSTERIORS: dict[str, tuple[Prior, dict[str, int]]] = {
    "posterior, normal of unit scale": (GaussianPrior(), {}),
    "posterior, empirical Bayes": (EmpiricalBayes(centred=True), {}),
    "posterior, empirical Bayes, full covariance": (JointEmpiricalBayes(centred=True), {}),
    "posterior, empirical Bayes as in the paper": (EmpiricalBayes(per="input", begin="weights"), {}),
    "posterior, the true prior": (TRUE_PRIOR, {}),
    "posterior, the true prior, a quarter of the moves": (TRUE_PRIOR, SHORT),
    "posterior, the true prior, three times the moves": (TRUE_PRIOR, LONG),
    "posterior, the true prior, five Gibbs steps": (TRUE_PRIOR, {"gibbs_steps": 5}),
}
Measures = dict[str, float]


def measures(truth: np.ndarray, found: np.ndarray) -> Measures:
    """Mean absolute error and correlation."""
    alike = float(np.corrcoef(truth, found)[0, 1]) if np.ptp(found) > 0 else np.nan
    return {"mae": float(np.abs(truth - found).mean()), "correlation": alike}


def one_run(size: int, seed: int) -> dict[str, Measures]:
    weights, bias, items = known(size, seed)
    truth = couplings(weights)
    ascent = early_stopping(items, bias, seed)
    results = {
        ZERO: measures(truth, np.zeros_like(truth)),
        CONSTANT: measures(truth, np.full_like(truth, np.median(truth))),
        REGRESSIONS: measures(truth, by_regressions(items, regression_strength(items))),
        LIKELIEST: measures(truth, couplings(likeliest(items, bias, seed, ascent))),
    }
    for name, (prior, settings) in POSTERIORS.items():
        begin = time.perf_counter()
        try:
            draws = posterior_couplings(items, bias, seed, prior, ascent, **settings)
        except DivergenceError:
            results[name] = dict.fromkeys(("mae", "correlation", "covered"), np.nan)
            continue
        lower, upper = np.quantile(draws, CENTRAL, axis=0)
        results[name] = {
            **measures(truth, draws.mean(axis=0)),
            "covered": float(((truth >= lower) & (truth <= upper)).mean()),
            "seconds": time.perf_counter() - begin,
        }
    results[ZERO]["ones"] = float(items.mean())
    return results


def run(options: SimpleNamespace) -> Result:
    """Recover couplings from several draws of each size."""
    found: dict[int, list[dict[str, Measures]]] = {}
    with compute(1):
        for size in options.sizes:
            found[size] = [one_run(size, FIRST_SEED + seed) for seed in range(options.runs)]
            print(size, found[size][0], flush=True)
    columns = [f"{size} items" for size in options.sizes]
    methods = list(found[options.sizes[0]][0])
    ones = [run[ZERO]["ones"] for runs in found.values() for run in runs]
    result = Result()
    result.text(
        f"Mean absolute error of couplings over {options.runs} runs, with the standard error of the mean. The share of "
        f"ones in the data is {np.min(ones):.2f} to {np.max(ones):.2f}."
    )
    for table, measure in {"error": "mae", "correlation": "correlation", "coverage": "covered"}.items():
        if table == "correlation":
            result.text("Correlation of couplings found and true ones:")
        if table == "coverage":
            result.text("Share of couplings in central 90 % intervals of the draws:")
        rows = []
        for name in methods:
            cells = [[run[name].get(measure, np.nan) for run in runs] for runs in found.values()]
            if all(np.isnan(cell).all() for cell in cells):
                continue
            rows.append([name, *(cell_of(cell) for cell in cells)])
        result.table(table, {"method": None, **dict.fromkeys(columns, "{:.3f}")}, rows)
    return result


def cell_of(values: list[float]) -> object:
    """Mean and standard error, or how many runs ran away."""
    away = int(np.isnan(values).sum())
    if away:
        return f"ran away in {away} of {len(values)} runs"
    return with_error(values) if len(values) > 1 else values[0]
