"""Factors of leukaemia patients: how near single ones come to what biologists know, and how well drugs are filled in.

All 200 patients and all columns. Trisomy 12 and the IGHV status are what is known to drive this disease; a factor that
stands for one of them correlates with it over the patients of whom it is known. Both are columns of the mutations as
they were published, so a table says whether they were among the inputs. They are used to measure alone: no method sees
which columns they are, and none has a setting that is chosen by them. Rivals have 15 factors, as the authors of MOFA
take for these data; the harmonium finds their number by itself.

Drug responses are filled in as in ``missing_views``: five folds, held-out patients, R² over cells against the means of
the training rows.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
from sklearn.decomposition import PCA
from threadpoolctl import threadpool_limits

from benchmarks.measuring import median, with_deviation, with_error
from benchmarks.missing_views import (
    TARGET,
    Fold,
    Views,
    factor_analysis,
    factor_regression,
    make_folds,
    mean_imputation,
    rows_of,
    without_target,
)
from benchmarks.registry import Benchmark
from benchmarks.results import Result
from benchmarks.rivals.mofa import factor_expectations
from harmonium import Harmonium
from harmonium.datasets import load_cll
from harmonium.hidden import FactorUnits
from harmonium.kernels.rotation import varimax

BENCHMARK = Benchmark(
    title="Factors of patients who lack views",
    claim="trisomy 12 and IGHV status of leukaemia patients in single factors, and drugs filled in: against PCA, MOFA",
    minutes=8,
    data=("cll",),
    settings={"seeds": (0, 1), "folds": 5, "factors": 15, "mofa_steps": 100},
    quick={"seeds": (0,), "folds": 2, "factors": 3, "mofa_steps": 2},
)
COVARIATES = ("trisomy 12", "IGHV")
Method = Callable[[Views, int, SimpleNamespace], np.ndarray]


def patients(with_covariates: bool) -> tuple[Views, dict[str, np.ndarray]]:
    """Views with or without the columns of the covariates, and the covariates, NaN where they are unknown."""
    data = load_cll()
    views = dict(data.views)
    place = data.feature_names["mutations"].index("trisomy12")
    status = np.where(data.target < 0, np.nan, data.target).astype(np.float32)
    covariates = dict(zip(COVARIATES, (views["mutations"][:, place].copy(), status), strict=True))
    if with_covariates:
        views["mutations"] = np.column_stack([views["mutations"], status])
    else:
        views["mutations"] = np.delete(views["mutations"], place, axis=1)
    return views, covariates


def best_correlation(factors: np.ndarray, covariate: np.ndarray) -> float:
    """Largest absolute correlation of a factor, over the patients of whom the covariate is known."""
    known = ~np.isnan(covariate)
    return max(abs(float(np.corrcoef(factor[known], covariate[known])[0, 1])) for factor in factors.T)


# ---- methods ---------------------------------------------------------------------------------------------------------
def ours(views: Views, seed: int, options: SimpleNamespace) -> np.ndarray:
    return Harmonium(hidden="factor", random_state=seed).fit_transform(views)


def ours_by_features(views: Views, seed: int, options: SimpleNamespace) -> np.ndarray:
    return Harmonium(hidden=FactorUnits(equal="features"), random_state=seed).fit_transform(views)


def centred(views: Views, standardised: bool) -> list[np.ndarray]:
    """Columns that vary, centred, with their means for what is missing."""
    result = []
    for view in views.values():
        deviation = np.nanstd(view, axis=0)
        scaled = (view - np.nanmean(view, axis=0))[:, deviation > 0]
        result.append(np.nan_to_num(scaled / deviation[deviation > 0] if standardised else scaled))
    return result


def balanced_varimax(views: Views, seed: int, options: SimpleNamespace) -> np.ndarray:
    parts = [view / np.linalg.norm(view) for view in centred(views, standardised=False)]
    model = PCA(options.factors, whiten=True, svd_solver="full").fit(np.concatenate(parts, axis=1))
    scores = model.transform(np.concatenate(parts, axis=1))
    return np.asarray(scores @ varimax(model.components_.T * np.sqrt(model.explained_variance_)))


def plain_components(views: Views, seed: int, options: SimpleNamespace) -> np.ndarray:
    table = np.concatenate(centred(views, standardised=True), axis=1)
    return np.asarray(PCA(options.factors, svd_solver="full").fit_transform(table))


def mofa(views: Views, seed: int, options: SimpleNamespace) -> np.ndarray:
    """Real-valued columns are standardised, as in ``missing_views``; gaps stay gaps."""
    matrices, likelihoods = [], []
    for name, view in views.items():
        deviation = np.nanstd(view, axis=0)
        varying = view[:, deviation > 0].astype(np.float64)
        if name != "mutations":
            varying = (varying - np.nanmean(varying, axis=0)) / deviation[deviation > 0]
        matrices.append(varying)
        likelihoods.append("bernoulli" if name == "mutations" else "gaussian")
    return np.asarray(factor_expectations(matrices, likelihoods, options.factors, options.mofa_steps, seed)["Z"]["E"])


FACTORS: dict[str, Method] = {
    "harmonium (ours), `FactorUnits`, all defaults": ours,
    'harmonium (ours), `FactorUnits(equal="features")`': ours_by_features,
    "PCA of balanced views + varimax": balanced_varimax,
    "PCA of standardised columns": plain_components,
    "MOFA (mofapy2), standardised columns": mofa,
}


def filled_in(inner: Fold, outer: Fold) -> dict[str, Any]:
    """Our defaults: nothing is chosen, so the inner split is not looked at."""
    begin = time.perf_counter()
    model = Harmonium(hidden="factor", random_state=0).fit(rows_of(outer.views, outer.train))
    seconds = time.perf_counter() - begin
    others = without_target(rows_of(outer.views, outer.with_target))
    r_squared, correlation = outer.agreement(model.predict_view(TARGET, others))
    return {"R²": r_squared, "correlation": correlation, "fit": seconds}


IMPUTATION: dict[str, Callable[[Fold, Fold], dict[str, Any]]] = {
    "harmonium (ours), `FactorUnits`, all defaults": filled_in,
    "ridge, means for what is missing": mean_imputation,
    "MOFA (mofapy2), refitted with the held-out patients; its own means": factor_analysis,
    "MOFA (mofapy2) of the other views, refitted likewise; ridge on its factors": factor_regression,
}


# ---- report ----------------------------------------------------------------------------------------------------------
def factor_rows(options: SimpleNamespace) -> list[list[Any]]:
    """One row for each method and choice of inputs."""
    rows: list[list[Any]] = []
    for method, factors_of in FACTORS.items():
        for among_inputs in (True, False):
            views, covariates = patients(among_inputs)
            reached: dict[str, list[float]] = {name: [] for name in COVARIATES}
            numbers, seconds = [], []
            for seed in options.seeds:
                begin = time.perf_counter()
                factors = factors_of(views, seed, options)
                seconds.append(time.perf_counter() - begin)
                numbers.append(factors.shape[1])
                for name in COVARIATES:
                    reached[name].append(best_correlation(factors, covariates[name]))
            print(method, among_inputs, reached, numbers, seconds, sep="|", flush=True)
            number = " to ".join(map(str, sorted({min(numbers), max(numbers)})))
            correlations = [with_deviation(reached[name]) for name in COVARIATES]
            rows.append([method, "yes" if among_inputs else "no", *correlations, number, median(seconds)])
    return rows


def imputation_rows(options: SimpleNamespace) -> list[list[Any]]:
    """One row for each method, over folds."""
    found: dict[str, list[dict[str, Any]]] = {method: [] for method in IMPUTATION}
    for number, (inner, outer) in enumerate(make_folds(options.folds)):
        for method, impute in IMPUTATION.items():
            found[method].append(impute(inner, outer))
            print(number, method, found[method][-1], sep="|", flush=True)
    rows = [
        [method, *(with_error([one[key] for one in results]) for key in ("R²", "correlation"))]
        for method, results in found.items()
    ]
    return [*rows, ["means of the training rows", 0.0, None]]


def run(options: SimpleNamespace) -> Result:
    """Measure factors over seeds, and drugs that are filled in over folds."""
    warnings.simplefilter("ignore")
    result = Result()
    with threadpool_limits(1):
        factors, imputation = factor_rows(options), imputation_rows(options)
    result.text(
        "Largest absolute correlation of one factor with each covariate, mean ± standard deviation over "
        f"{len(options.seeds)} seeds; principal components do not depend on the seed. The covariates are columns of "
        "the mutations as published: where they are among the inputs, a method may find a factor that is little more "
        "than the column. They choose nothing. Seconds are wall-clock, one thread, and include the factors of all "
        "patients."
    )
    columns: dict[str, str | None] = {"method": None, "covariates among the inputs": None}
    columns |= dict.fromkeys((f"correlation with {name}" for name in COVARIATES), "{:.2f}")
    columns |= {"factors": None, "median fit, s": "{:.2g}"}
    result.table("factors", columns, factors)
    result.text(
        "Drug responses of held-out patients from their other views, mean ± standard error over the folds; the folds "
        "share training patients, so the standard error is a rough one. The harmonium has its defaults; the others "
        "choose their settings on a split of the training rows."
    )
    result.table("imputation", {"method": None, "R² of drugs": "{:.3f}", "correlation": "{:.3f}"}, imputation)
    return result
