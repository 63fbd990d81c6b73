"""Patients who lack whole views (chronic lymphocytic leukaemia): predict a class, and fill in a view.

Five-fold cross-validation over the patients whose IGHV status is known; patients of unknown status join every training
fold unlabelled. Columns (the 500 most variable of methylation and mRNA, mutations that vary) are chosen on the training
rows of a fold, and every setting of every method on one stratified 80/20 split of them. Task (a): the IGHV status from
whatever views a held-out patient has. Task (b): the drug responses of held-out patients who have them, from their other
views; R² over cells is against the means of the training rows, the correlation is that of the deviations from them.
"""

from __future__ import annotations

import itertools
import time
import warnings
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
from sklearn.linear_model import Ridge
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

from benchmarks.measuring import median, with_error
from benchmarks.registry import Benchmark
from benchmarks.results import Result
from benchmarks.rivals.mofa import factor_expectations
from benchmarks.rivals.prepared import rows_of
from harmonium import Bernoulli, Gaussian, Harmonium, HarmoniumClassifier, Hinge, Stochastic
from harmonium.datasets import load_cll
from harmonium.hidden import BernoulliUnits, GaussianUnits

BENCHMARK = Benchmark(
    title="Patients who lack views",
    claim="leukaemia patients who lack views: prediction and imputation against MOFA, MCCA and mean imputation",
    minutes=2,
    data=("cll",),
    settings={"folds": 5},
)
N_KEPT = {"methylation": 500, "mrna": 500}
LINEAR_C = (1e-4, 1e-3, 1e-2, 1e-1, 1.0)
RIDGE = (1e1, 1e2, 1e3, 1e4, 1e5)
MCCA_GRID = tuple(itertools.product((5, 10, 20), (0.1, 0.9)))  # latent dimensions, shrinkage
# units, C, max_update
OURS_GRID = tuple(itertools.product((BernoulliUnits(), GaussianUnits()), (0.4, 1.6), (0.1, 0.3)))
FACTORS = (5, 10)
FACTOR_RIDGE = (1.0, 10.0, 100.0, 1000.0)
MOFA_STEPS = (20, 100)  # (b) may stop early, which helps it; (a) takes the larger
TARGET = "drugs"
DEFAULTS = '`HarmoniumClassifier()` (a), `Harmonium(hidden="factor")` (b)'
MAX_MARGIN = "MMH (ours), its settings chosen"
OURS = (DEFAULTS, MAX_MARGIN)
Views = dict[str, np.ndarray]


def without_target(views: Views) -> Views:
    return {name: view for name, view in views.items() if name != TARGET}


def masked(views: Views, rows: np.ndarray) -> Views:
    """The views with the target view of some rows hidden."""
    hidden = dict(views)
    hidden[TARGET] = views[TARGET].copy()
    hidden[TARGET][rows] = np.nan
    return hidden


def keep_columns(views: Views, train: np.ndarray) -> Views:
    """Columns that vary on training rows, the most variable of wide views."""
    kept = {}
    for name, view in views.items():
        variance = np.nan_to_num(np.nanvar(view[train], axis=0))
        order = np.argsort(-variance, kind="stable")[: N_KEPT.get(name, view.shape[1])]
        kept[name] = view[:, np.sort(order[variance[order] > 0])]
    return kept


def filled(views: Views, train: np.ndarray) -> Views:
    """Standardised on training rows, with their means for what is missing."""
    result = {}
    for name, view in views.items():
        mean, deviation = np.nanmean(view[train], axis=0), np.nanstd(view[train], axis=0)
        result[name] = np.nan_to_num((view - mean) / np.where(deviation > 0, deviation, 1.0))
    return result


def joined(views: Views) -> np.ndarray:
    return np.concatenate(list(views.values()), axis=1)


def linear(C: float) -> Any:
    return make_pipeline(StandardScaler(), LinearSVC(C=C, random_state=0))


def agreement(truth: np.ndarray, predicted: np.ndarray, mean: np.ndarray) -> tuple[float, float]:
    """R² over known cells against the means of training rows, and correlation of the deviations from them."""
    known = ~np.isnan(truth)
    actual, guess = (truth - mean)[known], (predicted - mean)[known]
    r_squared = 1.0 - np.sum((actual - guess) ** 2) / np.sum(actual**2)
    return float(r_squared), float(np.corrcoef(actual, guess)[0, 1]) if np.ptp(guess) > 0 else 0.0


# ---- methods ---------------------------------------------------------------------------------------------------------
class Fold:
    """What a method may look at: all views, labels of `train` rows (-1 unknown), and rows to predict."""

    def __init__(self, views: Views, y: np.ndarray, train: np.ndarray, test: np.ndarray) -> None:
        self.views, self.y, self.train, self.test = views, y, train, test
        self.labelled = train[y[train] >= 0]
        self.with_target = test[~np.isnan(views[TARGET][test]).all(axis=1)]
        self.target_rows = train[~np.isnan(views[TARGET][train]).all(axis=1)]
        self.target_mean = np.nanmean(views[TARGET][train], axis=0)

    def accuracy(self, predicted: np.ndarray) -> float:
        return float(np.mean(predicted == self.y[self.test]))

    def agreement(self, predicted: np.ndarray) -> tuple[float, float]:
        return agreement(self.views[TARGET][self.with_target], predicted, self.target_mean)


def fit_ours(fold: Fold, settings: tuple[Any, float, float]) -> HarmoniumClassifier:
    hidden, C, max_update = settings
    driver = Stochastic(
        max_iter=40,
        batch_size=0.05,
        learning_rate=0.01,
        max_update=max_update,
        schedule="constant",
        weight_decay=0.5,
        average=True,
    )
    model = HarmoniumClassifier(
        n_components=50,
        hidden=hidden,
        head=Hinge(C=C),
        views={name: Bernoulli() if name == "mutations" else Gaussian() for name in fold.views},
        validation_fraction=0,
        driver=driver,
        random_state=0,
    )
    return model.fit(rows_of(fold.views, fold.train), fold.y[fold.train])


def with_defaults(inner: Fold, outer: Fold) -> dict[str, Any]:
    """Nothing is set: a classifier for (a), factors of all views for (b); the inner split is not looked at."""
    begin = time.perf_counter()
    model = HarmoniumClassifier(random_state=0).fit(rows_of(outer.views, outer.train), outer.y[outer.train])
    result = {"fit": time.perf_counter() - begin, "encode": seconds_to_encode(model, outer)}
    result["accuracy"] = outer.accuracy(model.predict(rows_of(outer.views, outer.test)))
    factors = Harmonium(hidden="factor", random_state=0).fit(rows_of(outer.views, outer.train))
    others = without_target(rows_of(outer.views, outer.with_target))
    result["R²"], result["correlation"] = outer.agreement(factors.predict_view(TARGET, others))
    return result


def seconds_to_encode(model: HarmoniumClassifier, fold: Fold) -> float:
    """Return the time that the latent coordinates of one unseen patient take."""
    patient = rows_of(fold.views, fold.test[:1])
    model.transform(patient)
    times = []
    for _ in range(10):
        begin = time.perf_counter()
        model.transform(patient)
        times.append(time.perf_counter() - begin)
    return median(times)


def max_margin(inner: Fold, outer: Fold) -> dict[str, Any]:
    """The paper's model, without a linear part: one latent space for (a) and (b)."""
    accuracy, r_squared = {}, {}
    for number, settings in enumerate(OURS_GRID):
        model = fit_ours(inner, settings)
        accuracy[number] = inner.accuracy(model.predict(rows_of(inner.views, inner.test)))
        others = without_target(rows_of(inner.views, inner.with_target))
        r_squared[number] = inner.agreement(model.predict_view(TARGET, others))[0]
    # equal accuracies are common with 30 patients: the better R² decides among them
    for_class = max(accuracy, key=lambda number: (accuracy[number], r_squared[number]))
    for_view = max(r_squared, key=r_squared.__getitem__)
    begin = time.perf_counter()
    model = fit_ours(outer, OURS_GRID[for_class])
    seconds = time.perf_counter() - begin
    result = {"accuracy": outer.accuracy(model.predict(rows_of(outer.views, outer.test))), "fit": seconds}
    result["encode"] = seconds_to_encode(model, outer)
    if for_view != for_class:
        model = fit_ours(outer, OURS_GRID[for_view])
    others = without_target(rows_of(outer.views, outer.with_target))
    result["R²"], result["correlation"] = outer.agreement(model.predict_view(TARGET, others))
    result["settings"] = (OURS_GRID[for_class], OURS_GRID[for_view])
    return result


def mean_imputation(inner: Fold, outer: Fold) -> dict[str, Any]:
    def classify(fold: Fold, C: float) -> tuple[float, float]:
        X = joined(filled(fold.views, fold.train))
        begin = time.perf_counter()
        model = linear(C).fit(X[fold.labelled], fold.y[fold.labelled])
        seconds = time.perf_counter() - begin
        return fold.accuracy(model.predict(X[fold.test])), seconds

    def impute(fold: Fold, alpha: float) -> tuple[float, float]:
        X = joined(filled(without_target(fold.views), fold.train))
        truth = fold.views[TARGET] - fold.target_mean
        model = Ridge(alpha).fit(X[fold.target_rows], np.nan_to_num(truth[fold.target_rows]))
        return fold.agreement(model.predict(X[fold.with_target]) + fold.target_mean)

    C = max(LINEAR_C, key=lambda value: classify(inner, value)[0])
    alpha = max(RIDGE, key=lambda value: impute(inner, value)[0])
    accuracy, seconds = classify(outer, C)
    r_squared, correlation = impute(outer, alpha)
    return {
        "accuracy": accuracy,
        "R²": r_squared,
        "correlation": correlation,
        "fit": seconds,
        "settings": (C, alpha),
    }


def multiset_cca(inner: Fold, outer: Fold) -> dict[str, Any]:
    """Fitted to training patients with all views; the others get means of the training rows."""

    from cca_zoo.linear import MCCA

    def fit(fold: Fold, settings: tuple[int, float]) -> tuple[MCCA, list[np.ndarray]]:
        views = filled(fold.views, fold.train)
        has_all = np.all([~np.isnan(view).all(axis=1) for view in fold.views.values()], axis=0)
        complete = fold.train[has_all[fold.train]]
        size = min(settings[0], *(view.shape[1] for view in views.values()))
        model = MCCA(size, shrinkage=settings[1]).fit([view[complete] for view in views.values()])
        return model, list(views.values())

    def classify(fold: Fold, fitted: tuple, C: float) -> float:
        model, views = fitted
        scores = np.concatenate(model.transform(views), axis=1)
        classifier = linear(C).fit(scores[fold.labelled], fold.y[fold.labelled])
        return fold.accuracy(classifier.predict(scores[fold.test]))

    def impute(fold: Fold, fitted: tuple) -> tuple[float, float]:
        model, views = fitted
        place = list(fold.views).index(TARGET)
        given = [None if number == place else view[fold.with_target] for number, view in enumerate(views)]
        deviation = np.nanstd(fold.views[TARGET][fold.train], axis=0)
        return fold.agreement(model.predict(given)[place] * deviation + fold.target_mean)

    accuracy, r_squared = {}, {}
    for settings in MCCA_GRID:
        fitted = fit(inner, settings)
        r_squared[settings] = impute(inner, fitted)[0]
        for C in LINEAR_C:
            accuracy[settings, C] = classify(inner, fitted, C)
    settings, C = max(accuracy, key=accuracy.__getitem__)
    for_view = max(r_squared, key=r_squared.__getitem__)
    begin = time.perf_counter()
    fitted = fit(outer, settings)
    result: dict[str, Any] = {"accuracy": classify(outer, fitted, C), "fit": time.perf_counter() - begin}
    model, views = fitted
    begin = time.perf_counter()
    model.transform([view[outer.test[:1]] for view in views])
    result["encode"] = time.perf_counter() - begin
    result["R²"], result["correlation"] = impute(outer, fit(outer, for_view))
    result["settings"] = (settings, C, for_view)
    return result


def fit_mofa(
    views: Views, train: np.ndarray, n_factors: int, n_steps: int = MOFA_STEPS[-1]
) -> tuple[np.ndarray, list[np.ndarray]]:
    """Factors of all rows, and weights; real-valued views are standardised on training rows, gaps stay gaps."""
    matrices = []
    for name, view in views.items():
        if name == "mutations":
            matrices.append(view.astype(np.float64))
            continue
        mean, deviation = np.nanmean(view[train], axis=0), np.nanstd(view[train], axis=0)
        matrices.append(((view - mean) / np.where(deviation > 0, deviation, 1.0)).astype(np.float64))
    likelihoods = ["bernoulli" if name == "mutations" else "gaussian" for name in views]
    expectations = factor_expectations(matrices, likelihoods, n_factors, n_steps)
    return expectations["Z"]["E"], [part["E"] for part in expectations["W"]]


def factor_analysis(inner: Fold, outer: Fold) -> dict[str, Any]:
    """Fitted anew with the held-out patients among the rows: their labels, and for (b) their drugs, are hidden."""

    def impute(fold: Fold, n_factors: int, n_steps: int) -> tuple[float, float]:
        rows = np.concatenate([fold.train, fold.with_target])
        views = rows_of(masked(fold.views, fold.with_target), rows)
        train = np.arange(len(fold.train))
        factors, weights = fit_mofa(views, train, n_factors, n_steps)
        place = list(views).index(TARGET)
        deviation = np.nanstd(views[TARGET][train], axis=0)
        # the package centres a view on its known rows, all of them training rows here
        predicted = factors[len(train) :] @ weights[place].T * deviation + fold.target_mean
        return fold.agreement(predicted)

    def encode(n_factors: int) -> np.ndarray:
        factors = np.zeros((len(outer.y), n_factors))
        rows = np.concatenate([outer.train, outer.test])
        found, _ = fit_mofa(rows_of(outer.views, rows), np.arange(len(outer.train)), n_factors)
        factors[rows, : found.shape[1]] = found
        return factors

    def classify(fold: Fold, factors: np.ndarray, C: float) -> float:
        model = linear(C).fit(factors[fold.labelled], fold.y[fold.labelled])
        return fold.accuracy(model.predict(factors[fold.test]))

    accuracy, encoded, times = {}, {}, {}
    for n_factors in FACTORS:  # no labels are used here, so that one fit serves the choice and the test
        begin = time.perf_counter()
        encoded[n_factors] = encode(n_factors)
        times[n_factors] = time.perf_counter() - begin
        for C in LINEAR_C:
            accuracy[n_factors, C] = classify(inner, encoded[n_factors], C)
    n_factors, C = max(accuracy, key=accuracy.__getitem__)
    for_view = max(itertools.product(FACTORS, MOFA_STEPS), key=lambda settings: impute(inner, *settings)[0])
    r_squared, correlation = impute(outer, *for_view)
    return {
        "accuracy": classify(outer, encoded[n_factors], C),
        "R²": r_squared,
        "correlation": correlation,
        "fit": times[n_factors],
        "encode": times[n_factors],
        "settings": (n_factors, C, for_view),
    }


def factor_regression(inner: Fold, outer: Fold) -> dict[str, Any]:
    """Task (b) alone: factors of the other views of all patients, then ridge regression of the drugs on them."""

    def impute(fold: Fold, factors: np.ndarray, alpha: float) -> tuple[float, float]:
        truth = np.nan_to_num(fold.views[TARGET] - fold.target_mean)
        model = Ridge(alpha).fit(factors[fold.target_rows], truth[fold.target_rows])
        return fold.agreement(model.predict(factors[fold.with_target]) + fold.target_mean)

    rows = np.concatenate([outer.train, outer.test])
    r_squared, encoded, times = {}, {}, {}
    for n_factors in FACTORS:
        begin = time.perf_counter()
        found, _ = fit_mofa(rows_of(without_target(outer.views), rows), np.arange(len(outer.train)), n_factors)
        times[n_factors] = time.perf_counter() - begin
        encoded[n_factors] = np.zeros((len(outer.y), found.shape[1]))
        encoded[n_factors][rows] = found
        for alpha in FACTOR_RIDGE:
            r_squared[n_factors, alpha] = impute(inner, encoded[n_factors], alpha)[0]
    n_factors, alpha = max(r_squared, key=r_squared.__getitem__)
    reached, correlation = impute(outer, encoded[n_factors], alpha)
    return {
        "R²": reached,
        "correlation": correlation,
        "fit": times[n_factors],
        "encode": times[n_factors],
        "settings": (n_factors, alpha),
    }


METHODS = {
    DEFAULTS: with_defaults,
    MAX_MARGIN: max_margin,
    "means for what is missing; linear SVM (a), ridge (b)": mean_imputation,
    "MCCA (cca-zoo) on complete patients, means elsewhere; linear SVM (a)": multiset_cca,
    "MOFA (mofapy2), refitted with the held-out patients; linear SVM (a), its own means (b)": factor_analysis,
    "MOFA (mofapy2) of the other views, refitted likewise; ridge on its factors (b)": factor_regression,
}


# ---- report ----------------------------------------------------------------------------------------------------------
def report(results: dict[str, list[Any]], majority: list[float]) -> Result:
    """Return who was measured, the table of methods, and how the harmonium stands in it."""
    rows = []
    for method, found in results.items():
        done = [result for result in found if isinstance(result, dict)]
        if len(done) < 2:
            reason = next((one for one in found if isinstance(one, str)), "not run")
            rows.append([method, reason, None, None, None, None, len(done)])
            continue
        measured = [[one[key] for one in done if key in one] for key in ("accuracy", "R²", "correlation")]
        encode = [one["encode"] for one in done if "encode" in one]
        rows.append(
            [
                method,
                *(with_error(values) if values else None for values in measured),
                median([one["fit"] for one in done]),
                median(encode) if encode else "no latent space",
                len(done),
            ]
        )
    chosen = [
        f"(a) {type(a[0]).__name__}, C {a[1]}, max_update {a[2]}, "
        f"(b) {type(b[0]).__name__}, C {b[1]}, max_update {b[2]}"
        for a, b in (one["settings"] for one in results[MAX_MARGIN] if isinstance(one, dict))
    ]
    alone = with_error(majority)
    result = Result()
    result.text(
        f"{patients()} Mean ± standard error over the folds in the last column, of {len(majority)}; the folds share "
        "training patients, so the standard error is a rough one. The more frequent class alone: "
        f"{alone['mean']:.3f} ± {alone['spread']:.3f}."
    )
    result.text(
        "Harmoniums are fitted to training patients only, leave out what is missing, and encode an unseen patient by "
        "one call of `transform`; drugs come from `predict_view` given the other views. The first row has all defaults "
        "and a model for each task, as a user would; MMH has one latent space for both and no linear part. Mean "
        "imputation and MCCA are fitted to training patients only. MOFA (Bernoulli mutations, "
        f"{FACTORS[0]} or {FACTORS[1]} factors, at most {MOFA_STEPS[-1]} iterations, for (b) {MOFA_STEPS[0]} or "
        f"{MOFA_STEPS[-1]}) has no call for unseen patients: it is refitted with the held-out patients' views among "
        "its rows, so that it has seen more than the others, and the time to encode a patient is that of the refit. "
        "Seconds are wall-clock, one thread."
    )
    columns = {
        "method": None,
        "(a) accuracy": "{:.3f}",
        "(b) R² of drugs": "{:.3f}",
        "(b) correlation": "{:.3f}",
        "median fit, s": "{:.2g}",
        "encode one unseen patient, s": "{:.2g}",
        "folds": None,
    }
    result.table("methods", columns, rows)
    result.text(f"Settings of MMH, chosen on training rows, fold by fold: {'; '.join(chosen)}.")
    for line in comparison(results):
        result.text(line)
    return result


def patients() -> str:
    """Return how many patients there are, and how many have each view."""
    data = load_cll()
    having = {name: int((~np.isnan(view).all(axis=1)).sum()) for name, view in data.views.items()}
    n_patients, n_known = len(data.target), int((np.asarray(data.target) >= 0).sum())
    counts = ", ".join(f"{'all' if count == n_patients else count} {name}" for name, count in having.items())
    return f"{n_patients} patients, of whom {n_known} have a known IGHV status; of the views they have: {counts}."


def comparison(results: dict[str, list[Any]]) -> list[str]:
    """Return our mean beside that of the best rival."""
    lines = []
    for key, task in (("accuracy", "(a) accuracy"), ("R²", "(b) R²")):
        means = {
            method: float(np.mean([result[key] for result in found if isinstance(result, dict)]))
            for method, found in results.items()
            if any(isinstance(result, dict) and key in result for result in found)
        }
        best = max((method for method in means if method not in OURS), key=means.__getitem__)
        values = [result[key] for result in results[best] if isinstance(result, dict)]
        error = np.std(values, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
        own = ", ".join(f"{name} {means[method]:.3f}" for name, method in (("defaults", DEFAULTS), ("MMH", MAX_MARGIN)))
        lines.append(f"{task}: {own}; best rival {means[best]:.3f} (standard error {error:.3f}; {best}).")
    return lines


def make_folds(number_of_folds: int) -> Iterator[tuple[Fold, Fold]]:
    """The inner split and the whole of every fold."""
    data = load_cll()
    y = np.asarray(data.target)
    known, unknown = np.flatnonzero(y >= 0), np.flatnonzero(y < 0)
    folds = StratifiedKFold(number_of_folds, shuffle=True, random_state=0)
    for number, (train, test) in enumerate(folds.split(known, y[known])):
        fit_rows, check = train_test_split(known[train], test_size=0.2, stratify=y[known[train]], random_state=number)
        everyone, fit_rows = np.concatenate([known[train], unknown]), np.concatenate([fit_rows, unknown])
        outer = Fold(keep_columns(data.views, everyone), y, everyone, known[test])
        # columns of the inner split are those of the training rows of the fold, less those that do not vary in it
        views = {
            name: view[:, np.nan_to_num(np.nanvar(view[fit_rows], axis=0)) > 0] for name, view in outer.views.items()
        }
        yield Fold(views, y, fit_rows, check), outer


def majority_accuracy(fold: Fold) -> float:
    return fold.accuracy(np.bincount(fold.y[fold.labelled]).argmax())


def reached(method: str, inner: Fold, outer: Fold) -> Any:
    """Return what a method reaches, or why it fails."""
    try:
        with threadpool_limits(1):
            return METHODS[method](inner, outer)
    except Exception as error:  # a rival that fails is reported, not hidden
        return f"{type(error).__name__}: {str(error)[:120]}"


def run(options: SimpleNamespace) -> Result:
    """Run every method on every fold."""
    warnings.simplefilter("ignore")
    results: dict[str, list[Any]] = {method: [] for method in METHODS}
    majority = []
    for number, (inner, outer) in enumerate(make_folds(options.folds)):
        majority.append(majority_accuracy(outer))
        for method, found in results.items():
            found.append(reached(method, inner, outer))
            print(number, method, found[-1], sep="|", flush=True)
    return report(results, majority)
