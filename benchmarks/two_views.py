"""Classes from several views: all defaults, the max-margin harmonium, others, SVMs, multiset CCA and factor analysis.

Wikipedia keeps its own test rows, and each of 3 trials trains on a random 75 % of its training rows; BDGP and the
multiple-features digits (mfeat) have 3 random stratified halves. Plain rivals choose views, scaling and strength
together by three-fold cross-validation on the training rows of a trial, `HarmoniumClassifier()` chooses for itself, and
every other setting is chosen on one stratified 80/20 split of the training rows; then the method is fitted to all of
them: test rows are looked at once. MCCA and MOFA see columns standardised on training rows, harmoniums the views as
they are; MMH is the paper's model, without a linear part. Trials run in two processes of one thread each; seconds
include the choice of settings.
"""

from __future__ import annotations

import itertools
import os
import time
import warnings
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor, as_completed
from types import SimpleNamespace
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

from benchmarks.datasets import load_bdgp, load_mfeat, load_wikipedia
from benchmarks.features.words import few
from benchmarks.measuring import median
from benchmarks.registry import Benchmark
from benchmarks.results import Result
from benchmarks.rivals.mofa import factor_expectations
from benchmarks.rivals.prepared import RIVALS, rows_of, trivial, tuned
from harmonium import DWH, TWH, Bernoulli, Gaussian, HarmoniumClassifier, Hinge, Stochastic
from harmonium.hidden import BernoulliUnits, GaussianUnits

LOADERS = {"wikipedia": load_wikipedia, "bdgp": load_bdgp, "mfeat": load_mfeat}
BENCHMARK = Benchmark(
    title="Classes from several views",
    claim="all defaults and MMH against well-prepared SVMs and logistic regression, DWH, TWH, MCCA and MOFA on "
    "Wikipedia, BDGP and mfeat",
    minutes=25,
    data=tuple(LOADERS),
    settings={"sets": tuple(LOADERS), "trials": 3, "processes": 2, "rows": 0},
    quick={"sets": ("wikipedia",), "trials": 2, "processes": 2, "rows": 200},
)
EPOCHS = 40  # of the harmoniums
TRAINING_SHARE, HELD_OUT = 0.75, 0.2  # of Wikipedia's training rows; of the training rows of a trial
LINEAR_C = (1e-3, 1e-2, 1e-1, 1.0)
PLAIN = ("linear SVM", "logistic regression", "RBF SVM")
DEFAULTS = "`HarmoniumClassifier()`"
MCCA_SIZES, MCCA_SHRINKAGES = (5, 10, 20), (0.1, 0.9)
MCCA_GRID = tuple(itertools.product(MCCA_SIZES, MCCA_SHRINKAGES))
UNITS = (20, 50)
MMH_GRID = tuple(itertools.product((BernoulliUnits(), GaussianUnits()), (0.4, 1.6), (0.1, 0.3)))  # units, C, max_update
FACTORS = (10, 20)
MOFA_STEPS = 60
MOFA_TRIALS = {"wikipedia": 3, "bdgp": 1, "mfeat": 1}  # it is slow
Views = dict[str, np.ndarray]
Predict = Callable[[Views], np.ndarray]
Encode = Callable[[Views], np.ndarray]


def families(name: str, views: Iterable[str]) -> dict[str, Any]:
    return {view: Bernoulli() if (name, view) == ("bdgp", "text") else Gaussian() for view in views}


def linear(C: float) -> Any:
    return make_pipeline(StandardScaler(), LinearSVC(C=C, random_state=0))


# ---- methods: settings → encoder, or settings → classifier -----------------------------------------------------------
def fit_mmh(name: str) -> Callable[..., Predict]:
    def fit(views: Views, y: np.ndarray, settings: tuple[Any, float, float]) -> Predict:
        hidden, C, max_update = settings
        driver = Stochastic(
            max_iter=EPOCHS,
            batch_size=0.05,
            learning_rate=0.01,
            max_update=max_update,
            schedule="constant",
            weight_decay=0.5,
            average=True,
        )
        return (
            HarmoniumClassifier(
                n_components=50,
                hidden=hidden,
                head=Hinge(C=C, linear_part=False),
                views=families(name, views),
                validation_fraction=0,
                driver=driver,
                random_state=0,
                n_jobs=1,
            )
            .fit(views, y)
            .predict
        )

    return fit


def wing_driver() -> Stochastic:
    return Stochastic(
        max_iter=EPOCHS, learning_rate=0.005, batch_size=0.05, max_update=0.3, schedule="constant", average=True
    )


def make_twh(name: str, views: Views, y: np.ndarray, size: int) -> Any:
    model = TWH(size, families(name, views), driver=wing_driver(), validation_fraction=0, random_state=0, n_jobs=1)
    return model.fit(views, y)


def encode_dwh(name: str) -> Callable[..., Encode]:
    def fit(views: Views, y: np.ndarray, settings: tuple[int]) -> Encode:
        model = DWH(*settings, families(name, views), driver=wing_driver(), random_state=0, n_jobs=1)
        return model.fit(views).transform

    return fit


def encode_mcca(views: Views, y: np.ndarray, settings: tuple[int, float]) -> Encode:
    """Scores of all views side by side; there are at most as many as the narrowest view has columns."""
    from cca_zoo.linear import MCCA

    size, shrinkage = settings
    scalers = {name: StandardScaler().fit(view) for name, view in views.items()}

    def scaled(X: Views) -> list[np.ndarray]:
        return [scalers[name].transform(view) for name, view in X.items()]

    size = min(size, *(view.shape[1] for view in views.values()))
    model = MCCA(size, shrinkage=shrinkage).fit(scaled(views))
    return lambda X: np.concatenate(model.transform(scaled(X)), axis=1)


def encode_mofa(views: Views, y: np.ndarray, settings: tuple[int]) -> Encode:
    """Factors of training and test rows alike: least squares on the weights, noise precisions and a unit prior."""
    scalers = {name: StandardScaler().fit(view) for name, view in views.items()}

    def scaled(X: Views) -> list[np.ndarray]:
        return [scalers[name].transform(view) for name, view in X.items()]

    expectations = factor_expectations(scaled(views), ["gaussian"] * len(views), settings[0], MOFA_STEPS)
    weights = np.concatenate([part["E"] for part in expectations["W"]])
    precision = np.concatenate([part["E"][0] for part in expectations["Tau"]])
    weighted = weights * precision[:, None]
    projection = np.linalg.solve(weights.T @ weighted + np.eye(weights.shape[1]), weighted.T).T
    return lambda X: np.concatenate(scaled(X), axis=1) @ projection


# ---- one trial -------------------------------------------------------------------------------------------------------
def choose_classifier(fit: Callable[..., Predict], grid: Iterable[tuple], inner: tuple) -> tuple:
    views, y, held_out, held_out_y = inner
    return max(grid, key=lambda settings: np.mean(fit(views, y, settings)(held_out) == held_out_y))


def choose_encoder(fit: Callable[..., Encode], grid: Iterable[tuple], inner: tuple) -> tuple[tuple, float]:
    views, y, held_out, held_out_y = inner
    best, chosen = -1.0, None
    for settings in grid:
        encode = fit(views, y, settings)
        train, unseen = encode(views), encode(held_out)
        for C in LINEAR_C:
            score = linear(C).fit(train, y).score(unseen, held_out_y)
            if score > best:
                best, chosen = score, (settings, C)
    return chosen


def run_tuned(name: str, inner: tuple, outer: tuple) -> tuple:
    """A plain rival: views, scaling and strength by cross-validation."""
    views, y, test, test_y = outer
    found = tuned(RIVALS[name], views, y, test)
    return float(np.mean(found.predicted == test_y)), found.seconds, (found.setting,)


def run_trivial(inner: tuple, outer: tuple) -> tuple:
    _, y, _, test_y = outer
    return float(np.mean(trivial(y, len(test_y), classes=True).predicted == test_y)), 0.0, ()


def run_defaults(inner: tuple, outer: tuple) -> tuple:
    """Nothing is set; what a view is, `fit` infers."""
    views, y, test, test_y = outer
    begin = time.perf_counter()
    model = HarmoniumClassifier(random_state=0, n_jobs=1).fit(views, y)
    seconds = time.perf_counter() - begin
    return (
        float(np.mean(model.predict(test) == test_y)),
        seconds,
        (f"C {model.fitted_.C:.3g}", f"{model.n_iter_} epochs"),
    )


def run_classifier(fit: Callable[..., Predict], grid: Iterable[tuple], inner: tuple, outer: tuple) -> tuple:
    begin = time.perf_counter()
    settings = choose_classifier(fit, grid, inner)
    views, y, test, test_y = outer
    predict = fit(views, y, settings)
    seconds = time.perf_counter() - begin
    return float(np.mean(predict(test) == test_y)), seconds, settings


def run_encoder(fit: Callable[..., Encode], grid: Iterable[tuple], inner: tuple, outer: tuple) -> tuple:
    begin = time.perf_counter()
    settings, C = choose_encoder(fit, grid, inner)
    views, y, test, test_y = outer
    encode = fit(views, y, settings)
    model = linear(C).fit(encode(views), y)
    seconds = time.perf_counter() - begin
    return float(model.score(encode(test), test_y)), seconds, (*settings, C)


def run_twh(name: str, inner: tuple, outer: tuple) -> dict[str, tuple]:
    """The label as a view, and a linear SVM on the same latent space: one fit of a size serves both."""
    begin = time.perf_counter()
    views, y, held_out, held_out_y = inner
    by_view, by_svm = {}, {}
    for size in UNITS:
        model = make_twh(name, views, y, size)
        by_view[size] = np.mean(model.predict(held_out) == held_out_y)
        train, unseen = model.transform(views), model.transform(held_out)
        for C in LINEAR_C:
            by_svm[size, C] = linear(C).fit(train, y).score(unseen, held_out_y)
    own = max(by_view, key=by_view.__getitem__)
    size, C = max(by_svm, key=by_svm.__getitem__)
    choosing = time.perf_counter() - begin  # of both together
    views, y, test, test_y = outer
    models, seconds = {}, {}
    for chosen in {own, size}:
        begin = time.perf_counter()
        models[chosen] = make_twh(name, views, y, chosen)
        seconds[chosen] = time.perf_counter() - begin
    begin = time.perf_counter()
    svm = linear(C).fit(models[size].transform(views), y)
    svm_seconds = time.perf_counter() - begin
    return {
        "TWH": (float(np.mean(models[own].predict(test) == test_y)), choosing + seconds[own], (own,)),
        "TWH + linear SVM": (
            float(svm.score(models[size].transform(test), test_y)),
            choosing + seconds[size] + svm_seconds,
            (size, C),
        ),
    }


def rows_of_trial(data: Any, trial: int) -> tuple[np.ndarray, np.ndarray]:
    everything = np.arange(len(data.target))
    if data.split is None:
        return tuple(train_test_split(everything, test_size=0.5, stratify=data.target, random_state=trial))
    train = everything[data.split == "train"]
    train, _ = train_test_split(train, train_size=TRAINING_SHARE, stratify=data.target[train], random_state=trial)
    return train, everything[data.split == "test"]


def run_trial(name: str, trial: int, limit: int = 0) -> dict[str, Any]:
    """Accuracy, seconds and settings of every method; the reason in place of them if one fails."""
    warnings.simplefilter("ignore")
    warnings.simplefilter("ignore", ConvergenceWarning)
    data = LOADERS[name]()
    train, test = rows_of_trial(data, trial)
    train, test = train[few(len(train), limit)], test[few(len(test), limit)]
    y = data.target
    outer = rows_of(data.views, train), y[train], rows_of(data.views, test), y[test]
    fit_rows, check = train_test_split(train, test_size=HELD_OUT, stratify=y[train], random_state=trial)
    inner = rows_of(data.views, fit_rows), y[fit_rows], rows_of(data.views, check), y[check]
    methods: dict[str, tuple] = {
        "most frequent class": (run_trivial,),
        DEFAULTS: (run_defaults,),
        "MMH": (run_classifier, fit_mmh(name), MMH_GRID),
        "DWH + linear SVM": (run_encoder, encode_dwh(name), [(size,) for size in UNITS]),
        "TWH": (run_twh, name),
        **{rival: (run_tuned, rival) for rival in PLAIN},
        "MCCA (cca-zoo) + linear SVM": (run_encoder, encode_mcca, MCCA_GRID),
        "MOFA (mofapy2) + linear SVM": (run_encoder, encode_mofa, [(size,) for size in FACTORS]),
    }
    if trial >= MOFA_TRIALS[name]:
        del methods["MOFA (mofapy2) + linear SVM"]
    results: dict[str, Any] = {}
    with threadpool_limits(1):
        for method, (run, *parts) in methods.items():
            try:
                found = run(*parts, inner, outer)
                results |= found if isinstance(found, dict) else {method: found}
            except Exception as error:  # a rival that fails is reported, not hidden
                results[method] = f"{type(error).__name__}: {str(error)[:120]}"
            for key in [key for key in results if key.startswith(method)]:
                print(name, trial, key, results[key], sep="|", flush=True)
    return results


# ---- report ----------------------------------------------------------------------------------------------------------
def summary(accuracies: list[float]) -> tuple[float, float]:
    error = np.std(accuracies, ddof=1) / np.sqrt(len(accuracies)) if len(accuracies) > 1 else np.nan
    return float(np.mean(accuracies)), float(error)


def standing(own: str, accuracies: dict[str, dict[int, float]]) -> str:
    """Return how one of our rows stands to the best of the table, and to the best plain rival trial by trial."""
    means = {method: float(np.mean(list(values.values()))) for method, values in accuracies.items()}
    best = max(means, key=means.__getitem__)
    mean, error = summary(list(accuracies[best].values()))
    gap = mean - means[own]
    if gap < 1e-9:
        first = f"{own} is the best of the table."
    elif np.isnan(error):
        first = f"{own} is {gap:.4f} below the best ({best}); one trial gives no standard error."
    else:
        verdict = "within" if gap <= error else "not within"
        first = f"{own} is {gap:.4f} below the best ({best}), {verdict} one standard error of the best ({error:.4f})."
    plain = max((method for method in PLAIN if method in means), key=means.__getitem__, default=None)
    if plain is None:
        return first
    pairs = [
        accuracies[own][trial] - accuracies[plain][trial] for trial in accuracies[own] if trial in accuracies[plain]
    ]
    lead, spread = summary(pairs)
    return f"{first} Against the best plain rival ({plain}), trial by trial: {lead:+.4f}, standard error {spread:.4f}."


def add_section(result: Result, name: str, trials: dict[int, dict[str, tuple]]) -> None:
    """Add the table of a data set, and how our rows stand in it."""
    accuracies: dict[str, dict[int, float]] = {}
    rows = []
    for method in trials[min(trials)]:
        done = {t: found[method] for t, found in trials.items() if isinstance(found.get(method), tuple)}
        failed = [found[method] for found in trials.values() if isinstance(found.get(method), str)]
        if not done:
            rows.append([method, failed[0], None, None, 0])
            continue
        accuracies[method] = {t: result[0] for t, result in done.items()}
        mean, error = summary(list(accuracies[method].values()))
        shown = error if np.isfinite(error) else "one trial"
        rows.append([method, mean, shown, median([found[1] for found in done.values()]), len(done)])
    means = {method: summary(list(values.values()))[0] for method, values in accuracies.items()}
    parts = [
        f"{'yes' if means['MMH'] >= means[rival] else 'no'} against {rival} ({means['MMH'] - means[rival]:+.4f})"
        for rival in ("DWH + linear SVM", "TWH", "TWH + linear SVM")
        if rival in means
    ]
    chosen = [
        f"{type(found[2][0]).__name__}, C {found[2][1]}, max_update {found[2][2]}"
        for found in (one["MMH"] for one in trials.values())
        if isinstance(found, tuple)
    ]
    result.heading(name)
    columns = dict.fromkeys(["method", "mean accuracy", "standard error", "median, s", "trials"])
    columns |= {"mean accuracy": "{:.4f}", "standard error": "{:.4f}", "median, s": "{:.2g}"}
    result.table(name, columns, rows)
    for own in (DEFAULTS, "MMH"):
        if own in accuracies:
            result.text(standing(own, accuracies))
    result.text(f"MMH at least as good: {'; '.join(parts)}.")
    result.text(f"MMH's settings, chosen on training rows, trial by trial: {'; '.join(chosen)}.")
    plain = [f"{method}: {'; '.join(dict.fromkeys(chosen_by(trials, method)))}" for method in (DEFAULTS, *PLAIN)]
    result.text("What the others chose:\n\n" + "\n".join(f"- {line}" for line in plain))


def chosen_by(trials: dict[int, dict[str, tuple]], method: str) -> list[str]:
    """Return the settings of a method, trial by trial."""
    found = [one.get(method) for one in trials.values()]
    return [", ".join(map(str, one[2])) for one in found if isinstance(one, tuple)]


def rows_in_words(name: str) -> str:
    """Return which rows of a data set train and test."""
    data = LOADERS[name]()
    if data.split is None:
        return f"{name} ({len(data.target):,} rows): random stratified halves"
    train, test = (int((np.asarray(data.split) == part).sum()) for part in ("train", "test"))
    return f"{name}: its own {test:,} test rows, random {100 * TRAINING_SHARE:g} % of its {train:,} training rows"


def report(results: dict[str, dict[int, dict[str, tuple]]]) -> Result:
    """Return what was done, and a section for each data set."""
    result = Result()
    narrowest = {name: min(view.shape[1] for view in LOADERS[name]().views.values()) for name in results}
    result.text(
        f"{'. '.join(rows_in_words(name) for name in results)}. Plain rivals "
        "choose their views, the scaling of views and their strength by three-fold cross-validation; `fit` chooses the "
        f"settings of {DEFAULTS}; all others are chosen on one {100 * (1 - HELD_OUT):g}/{100 * HELD_OUT:g} split of "
        "the training rows of a trial. Wikipedia's trials share "
        "their test rows and most of their training rows, so its standard error speaks of the training rows alone."
    )
    result.text(
        "Families of all harmoniums: Gaussian, but Bernoulli for the text of BDGP. Among the views of mfeat are whole "
        f"numbers; they are large, and Gaussian too. Harmoniums run {EPOCHS} epochs. MCCA: scores of all views side by "
        f"side, dimensions {any_of(MCCA_SIZES)} but at most the width of the narrowest view "
        f"({', '.join(f'{width} for {name}' for name, width in narrowest.items())}), shrinkage "
        f"{any_of(MCCA_SHRINKAGES)}. MOFA: Gaussian likelihoods on standardised columns, {any_of(FACTORS)} factors, at "
        f"most {MOFA_STEPS} iterations; the factors of training and test rows are projected by least squares on the "
        "weights (noise precisions, unit prior), without a refit; where it is slow, it has fewer trials than the rest "
        "(last column), so that its mean is not of the same splits. Seconds are wall-clock, one thread, and include "
        "the choice of settings."
    )
    for name, trials in results.items():
        add_section(result, name, dict(sorted(trials.items())))
    return result


def any_of(values: tuple[float, ...]) -> str:
    """Return "5, 10 or 20"."""
    *first, last = (f"{value:g}" for value in values)
    return f"{', '.join(first)} or {last}"


def run(options: SimpleNamespace) -> Result:
    """Run all trials."""
    os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
    results: dict[str, dict[int, dict[str, tuple]]] = {name: {} for name in options.sets}
    with ProcessPoolExecutor(options.processes) as pool:
        jobs = {
            pool.submit(run_trial, name, trial, options.rows): (name, trial)
            for name in options.sets
            for trial in range(options.trials)
        }
        for job in as_completed(jobs):
            name, trial = jobs[job]
            results[name][trial] = job.result()
    return report(results)
