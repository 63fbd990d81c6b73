"""Intervals that can be wrong: of couplings that are known, and of values of held-out items.

Couplings are those of `bayes_truth`, whose weights do come from N(0, 0.3²), on data that speak of them. The intervals
of the prior cover 90 % without looking at the data, so that coverage alone says little: a posterior has to be narrower
and still cover 90 %. Bootstraps fit resampled items again and take quantiles. Empirical Bayes is the default of
`Langevin` since truths of other seeds were looked at; nothing was chosen on those below.

Held-out values are effects of drugs on cells of leukaemia patients, from methylation and expression, and Fourier
coefficients of digits, from Karhunen-Loève coefficients and Zernike moments. Without looking one takes quantiles of
training values. Ridge regression has its strength and residuals by cross-validation. Bootstraps of DWH put together
means and variances of a few fits to resampled items, and MOFA's intervals those of its posterior; both as if normal.

The interval score is the width plus 20 times the distance of values outside (Gneiting and Raftery, 2007), smaller is
better; it has the least expectation at the true quantiles. For values it is in standard deviations of training values.
"""

from __future__ import annotations

import warnings
from concurrent.futures import ProcessPoolExecutor
from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy.stats import norm
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import KFold, cross_val_predict
from threadpoolctl import threadpool_limits

from benchmarks.bayes_truth import (
    CENTRAL,
    N_FEATURES,
    N_UNITS,
    SCALE,
    by_regressions,
    couplings,
    early_stopping,
    known,
    likeliest,
    posterior_couplings,
    regression_strength,
)
from benchmarks.datasets import load_mfeat
from benchmarks.internals import compute
from benchmarks.measuring import with_error
from benchmarks.registry import Benchmark
from benchmarks.results import Result
from benchmarks.rivals.mofa import predictive_moments
from harmonium import BDWH, DWH, Gaussian, HarmoniumWarning, Langevin
from harmonium.datasets import load_cll
from harmonium.training import EmpiricalBayes, GaussianPrior

BENCHMARK = Benchmark(
    title="Intervals that can be wrong",
    claim="90 % intervals of known couplings and of held-out values: posterior draws against bootstraps, MOFA, ridge"
    " and what one says without looking",
    minutes=8,
    data=("cll", "mfeat"),
    settings={"runs": 3, "sizes": (50, 200), "splits": 3, "resamples": 20, "refits": 8, "processes": 1},
    quick={"runs": 2, "sizes": (50,), "splits": 2, "resamples": 2, "refits": 2, "processes": 2},
)
FIRST_SEED = 300
LEVEL = CENTRAL[1] - CENTRAL[0]
WIDE = norm.ppf(CENTRAL[1])
N_TOPICS, MOFA_STEPS = 10, 100
MOST_COLUMNS = 30
TARGETS = {"cll": "drugs", "mfeat": "fou"}
VIEWS = {"cll": ("drugs", "methylation", "mrna"), "mfeat": ("fou", "kar", "zer")}
PRIOR, TRIVIAL = "the prior itself", "quantiles of training values"
Interval = tuple[np.ndarray, np.ndarray]
Scores = dict[str, dict[str, float]]


def scores_of(truth: np.ndarray, interval: Interval) -> dict[str, float]:
    """Coverage, width and interval score."""
    lower, upper = interval
    outside = np.maximum(lower - truth, 0) + np.maximum(truth - upper, 0)
    width = upper - lower
    return {
        "covered": float((outside == 0).mean()),
        "width": float(width.mean()),
        "score": float((width + 2 / (1 - LEVEL) * outside).mean()),
    }


# ---- known couplings -------------------------------------------------------------------------------------------------
def of_couplings(size: int, seed: int, n_resamples: int) -> Scores:
    weights, bias, items = known(size, seed)
    rng = np.random.default_rng(seed)
    ascent, strength = early_stopping(items, bias, seed), regression_strength(items)
    resampled = [items[rng.integers(size, size=size)] for _ in range(n_resamples)]
    draws = {
        PRIOR: couplings(SCALE * rng.standard_normal((2000, N_FEATURES, N_UNITS))),
        "posterior, the true prior": posterior_couplings(items, bias, seed, GaussianPrior(scale=SCALE), ascent),
        "posterior, normal of unit scale": posterior_couplings(items, bias, seed, GaussianPrior(), ascent),
        "posterior, empirical Bayes": posterior_couplings(items, bias, seed, EmpiricalBayes(centred=True), ascent),
        "bootstrap of maximum likelihood": [couplings(likeliest(part, bias, seed, ascent)) for part in resampled],
        "bootstrap of logistic regressions": [by_regressions(part, strength) for part in resampled],
    }
    truth = couplings(weights)
    return {name: scores_of(truth, tuple(np.quantile(value, CENTRAL, axis=0))) for name, value in draws.items()}


# ---- held-out values -------------------------------------------------------------------------------------------------
def prepared(name: str, split: int) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Views of training and test rows, the columns that vary most, standardised by the former.

    Rows that lack a view, and then columns that lack a value, are left out. 100 rows are for training, or two thirds if
    there are fewer than 150, and at most 100 for the test.
    """
    loaded = load_cll() if name == "cll" else load_mfeat()
    views = {view: np.asarray(loaded.views[view], dtype=float) for view in VIEWS[name]}
    complete = np.flatnonzero(~np.any([np.isnan(value).all(axis=1) for value in views.values()], axis=0))
    views = {view: value[:, ~np.isnan(value[complete]).any(axis=0)] for view, value in views.items()}
    rows = np.random.default_rng(split).permutation(complete)
    n_train = min(100, 2 * len(rows) // 3)
    train, test = rows[:n_train], rows[n_train : n_train + 100]
    parts: tuple[dict[str, np.ndarray], dict[str, np.ndarray]] = ({}, {})
    for view, value in views.items():
        variance = value[train].var(axis=0)
        kept = np.sort(np.argsort(-variance, kind="stable")[:MOST_COLUMNS])
        kept = kept[variance[kept] > 0]
        for part, which in zip(parts, (train, test), strict=True):
            part[view] = (value[which][:, kept] - value[train][:, kept].mean(axis=0)) / np.sqrt(variance[kept])
    return parts


def normal_interval(mean: np.ndarray, variance: np.ndarray) -> Interval:
    return mean - WIDE * np.sqrt(variance), mean + WIDE * np.sqrt(variance)


def by_ridge(train: Any, others: Any, target: str) -> Interval:
    """Ridge regression with quantiles of cross-validated residuals, by feature."""

    def matrix(views: Any) -> np.ndarray:
        return np.concatenate([value for name, value in views.items() if name != target], axis=1)

    X, y = matrix(train), train[target]
    model = RidgeCV(np.logspace(0, 5, 11))
    residuals = y - cross_val_predict(model, X, y, cv=KFold(5, shuffle=True, random_state=0))
    predicted = model.fit(X, y).predict(matrix(others))
    lower, upper = np.quantile(residuals, CENTRAL, axis=0)
    return predicted + lower, predicted + upper


def by_bootstrap(train: Any, others: Any, target: str, settings: Any, n_resamples: int, seed: int) -> Interval:
    rng = np.random.default_rng(seed)
    n_rows, means, variances = len(train[target]), [], []
    for number in range(n_resamples):
        rows = rng.integers(n_rows, size=n_rows)
        model = DWH(N_TOPICS, **settings, random_state=number).fit({k: value[rows] for k, value in train.items()})
        mean, lower, upper = model.predict_view(target, others, interval=LEVEL)
        means.append(mean)
        variances.append(np.square((upper - lower) / 2 / WIDE))
    return normal_interval(np.mean(means, axis=0), np.mean(variances, axis=0) + np.var(means, axis=0))


def by_mofa(train: Any, others: Any, target: str, seed: int) -> Interval:
    """MOFA of training and test rows together, the target of the latter unknown."""
    n_test = len(next(iter(others.values())))
    both = {
        name: np.concatenate([value, others.get(name, np.full((n_test, value.shape[1]), np.nan))])
        for name, value in train.items()
    }
    moments = predictive_moments(list(both.values()), N_TOPICS, MOFA_STEPS, seed)[list(both).index(target)]
    return normal_interval(*(value[-n_test:] for value in moments))


def of_values(name: str, split: int, n_resamples: int) -> Scores:
    target = TARGETS[name]
    train, test = prepared(name, split)
    others = {view: value for view, value in test.items() if view != target}
    found = {TRIVIAL: tuple(np.quantile(train[target], CENTRAL, axis=0))}
    found["ridge, residuals"] = by_ridge(train, others, target)
    for label, variance in {"": 1.0, ", variances learned": "learn"}.items():
        families: Any = {view: Gaussian(variance=variance) for view in train}
        settings = {"families": families, "n_jobs": 1}
        model = DWH(N_TOPICS, **settings, random_state=split).fit(train)
        found["DWH" + label] = model.predict_view(target, others, interval=LEVEL)[1:]
        for words, prior in {"": GaussianPrior(), ", empirical Bayes": EmpiricalBayes(centred=True)}.items():
            driver = Langevin(n_chains=2, prior=prior)
            bayesian = BDWH(N_TOPICS, **settings, driver=driver, random_state=split).fit(train)
            found["BDWH" + label + words] = bayesian.predict_view(target, others, interval=LEVEL)[1:]
    found["bootstrap of DWH, variances learned"] = by_bootstrap(train, others, target, settings, n_resamples, split)
    found["MOFA"] = by_mofa(train, others, target, split)
    return {method: scores_of(test[target], interval) for method, interval in found.items()}


# ---- the report ------------------------------------------------------------------------------------------------------
def rows_of(group: object, runs: list[Scores]) -> list[list[object]]:
    """A row for each method, with means and standard errors over runs."""
    return [
        [group, method, *(with_error([run[method][key] for run in runs]) for key in ("covered", "width", "score"))]
        for method in runs[0]
    ]


def one_job(job: tuple[str | int, int, int]) -> Scores:
    """Intervals of couplings from so many items, or of values of a set, for one seed."""
    group, seed, n_resamples = job
    warnings.simplefilter("ignore", HarmoniumWarning)
    with compute(1), threadpool_limits(1):
        if isinstance(group, str):
            found = of_values(group, seed, n_resamples)
        else:
            found = of_couplings(group, FIRST_SEED + seed, n_resamples)
    print(*job, found, flush=True)
    return found


def run(options: SimpleNamespace) -> Result:
    """Measure intervals of couplings and of values."""
    groups = {**dict.fromkeys(options.sizes, options.runs), **dict.fromkeys(TARGETS, options.splits)}
    again = {**dict.fromkeys(options.sizes, options.resamples), **dict.fromkeys(TARGETS, options.refits)}
    jobs = [(group, seed, again[group]) for group, number in groups.items() for seed in range(number)]
    with ProcessPoolExecutor(options.processes) as pool:
        found = dict(zip(jobs, pool.map(one_job, jobs), strict=True))
    formats = dict.fromkeys(["covered", "width", "interval score"], "{:.3f}")
    result = Result()
    tables: dict[str, tuple[str, str, tuple[Any, ...]]] = {
        "couplings": (f"Known couplings, 90 % intervals, means over {options.runs} runs", "items", options.sizes),
        "values": (f"Held-out values, 90 % intervals, means over {options.splits} splits", "data", tuple(TARGETS)),
    }
    for table, (text, column, members) in tables.items():
        rows: list[list[object]] = []
        for group in members:
            rows += rows_of(group, [scores for job, scores in found.items() if job[0] == group])
        result.text(f"{text}, with their standard errors:")
        result.table(table, {column: None, "method": None, **formats}, rows)
    return result
