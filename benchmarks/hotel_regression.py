"""MMH against ridge, support vector regression and supervised topic models on ratings of hotels.

2,500 reviews to train on and 2,500 to test on; two views: the 5,000 most frequent words, and 14 contextual features
(`features/contextual.py`); once the words alone, once both views. All settings are chosen on training reviews: for
harmoniums inside `fit` (nothing is set, or nothing but K), for the others by three-fold cross-validation. Ridge and
LinearSVR are given counts, and choose how words are weighted, how the context is scaled, and which views to use along
with their strength. MMH (binary words) is the paper's model, without a linear part. Also draws R² over the number of
topics, and the weights of four contextual features over the topics.
"""

from __future__ import annotations

import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.decomposition import TruncatedSVD
from sklearn.metrics import r2_score
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVR

from benchmarks.comparing import Comparison, r_squared
from benchmarks.features.contextual import contextual_features
from benchmarks.features.words import binary, few, word_counts
from benchmarks.registry import Benchmark
from benchmarks.results import Result
from benchmarks.rivals.prepared import RIVALS, rows_of
from benchmarks.rivals.slda import SLDA
from harmonium import DWH, TWH, Bernoulli, EpsilonInsensitive, Gaussian, HarmoniumRegressor, Stochastic, Views
from harmonium.datasets import hotel_aspects, load_hotels
from harmonium.hidden import BernoulliUnits
from harmonium.metrics import average_divergence, class_topic_distribution
from harmonium.report import FeatureWeightsDisplay, topic_table

BENCHMARK = Benchmark(
    title="Regression: MMH on ratings of hotels",
    claim="all defaults and MMH against well-prepared ridge and SVR, DWH, TWH and SLDA on ratings of hotels",
    minutes=15,
    data=("hotels",),
    settings={"sizes": (5, 10, 50), "seeds": 3, "words": 5000, "rows": 0},
    quick={"sizes": (10,), "seeds": 1, "words": 300, "rows": 150},
)
READ_SIZE = 10  # topics of the model whose topics are shown
SVD_SIZE, SLDA_SIZE = 50, 20
FAMILIES = {"words": Bernoulli(), "context": Gaussian()}
DEFAULTS = "`HarmoniumRegressor()`"
SHOWN = ["pos_adj", "re_pos_adj", "neg_adj", "re_neg_adj"]


def data(
    n_words: int, limit: int = 0
) -> tuple[dict[str, Any], np.ndarray, dict[str, Any], np.ndarray, dict[str, list[str]]]:
    """Word counts and context of training and test reviews, overall ratings and five aspects, names of features."""
    loaded = load_hotels()
    (train, y), (test, truth) = loaded.train(), loaded.test()
    aspects = hotel_aspects()[0]
    y, truth = (
        np.column_stack([ratings, aspects[loaded.split == part]]) for ratings, part in ((y, "train"), (truth, "test"))
    )
    kept, asked = few(len(y), limit), few(len(truth), limit)
    texts, other = np.asarray(train["text"])[kept], np.asarray(test["text"])[asked]
    words, new_words, vocabulary = word_counts(texts, other, n_words)
    context, names = contextual_features(texts)
    views = {"words": words, "context": context}
    unseen = {"words": new_words, "context": contextual_features(other)[0]}
    return views, y[kept], unseen, truth[asked], {"words": vocabulary, "context": names}


def as_binary(views: dict[str, Any]) -> dict[str, Any]:
    """Return the views with words that are there or not."""
    return {**views, "words": binary(views["words"])}


def side_by_side(views: dict[str, Any], scaler: StandardScaler) -> scipy.sparse.csr_array:
    parts = [views["words"], scipy.sparse.csr_array(scaler.transform(views["context"]))]
    return scipy.sparse.csr_array(scipy.sparse.hstack(parts))


def compared(
    label: str, views: dict[str, Any], y: np.ndarray, unseen: dict[str, Any], truth: np.ndarray, seeds: int
) -> Comparison:
    """Return the plain rivals and the regressor as it comes, on some views."""
    comparison = Comparison(truth, {"test R²": r_squared}, lower_is_better=False)
    rivals = {"ridge": RIVALS["ridge"], "LinearSVR": RIVALS["linear SVR"]}
    comparison.add_rivals(rivals, views, y, unseen, classes=False, suffix=f", {label}")
    for kind, turned in (("binary", as_binary), ("counts", dict)):
        models = (HarmoniumRegressor(random_state=seed) for seed in range(seeds))
        comparison.add_seeds(f"{DEFAULTS}, {label}, {kind}", models, turned(views), y, turned(unseen))
    return comparison


def svr() -> GridSearchCV:
    return GridSearchCV(LinearSVR(max_iter=5000, random_state=0), {"C": [1e-3, 1e-2, 1e-1, 1.0]}, cv=3)


def add_two_steps(both: Comparison, views: dict[str, Any], y: np.ndarray, unseen: dict[str, Any]) -> None:
    """Add singular vectors with support vector regression behind them, and supervised LDA of the words."""
    begin = time.perf_counter()
    scaler = StandardScaler().fit(views["context"])
    size = min(SVD_SIZE, views["words"].shape[1] - 1)
    svd = TruncatedSVD(size, random_state=0)
    search = svr().fit(svd.fit_transform(side_by_side(views, scaler)), y)
    predicted = search.predict(svd.transform(side_by_side(unseen, scaler)))
    C = search.best_params_["C"]
    both.add(f"SVD + SVR, {size} dimensions", f"C {C:g}", [predicted], time.perf_counter() - begin)
    begin = time.perf_counter()
    slda = SLDA(SLDA_SIZE, n_iter=200).fit(views["words"], y[:, None])
    predicted = slda.predict(unseen["words"])[:, 0]
    both.add(f"tomotopy SLDA, words, K={SLDA_SIZE}", "–", [predicted], time.perf_counter() - begin)


def add_harmoniums(
    both: Comparison, train: Views, y: np.ndarray, test: Views, options: SimpleNamespace
) -> tuple[dict[str, list[float]], Any]:
    """Add MMH, DWH + SVR and TWH of several sizes; return their R² by size, and the model whose topics are shown."""
    driver = Stochastic(
        max_iter=40,
        batch_size=0.05,
        learning_rate=0.01,
        max_update=0.5,
        schedule="constant",
        weight_decay=0.5,
        average=True,
    )
    curves: dict[str, list[float]] = {"MMH": [], "DWH + SVR": [], "TWH": []}
    shown = None
    for K in options.sizes:
        models = (
            HarmoniumRegressor(
                K, views=FAMILIES, hidden="bernoulli", head=EpsilonInsensitive(linear_part=False), random_state=seed
            )
            for seed in range(options.seeds)
        )
        fitted = both.add_seeds(f"MMH, K={K}", models, train, y, test)
        shown = fitted[-1] if K == READ_SIZE else shown
        curves["MMH"].append(both.mean(both.entries[-1]))
        begin = time.perf_counter()
        latent = DWH(K, FAMILIES, hidden=BernoulliUnits(), driver=driver, random_state=0).fit(train)
        search = svr().fit(latent.transform(train), y)
        predicted, C = search.predict(latent.transform(test)), search.best_params_["C"]
        seconds = time.perf_counter() - begin
        curves["DWH + SVR"].append(both.add(f"DWH + SVR, K={K}", f"C {C:g}", [predicted], seconds))
        begin = time.perf_counter()
        wing = TWH(K, FAMILIES, task="regression", hidden=BernoulliUnits(), random_state=0).fit(train, y)
        seconds = time.perf_counter() - begin
        curves["TWH"].append(both.add(f"TWH, K={K}", f"{wing.n_iter_} epochs", [wing.predict(test)], seconds))
    assert shown is not None, f"the sizes must include {READ_SIZE}"
    return curves, shown


def run(options: SimpleNamespace) -> Result:
    """Fit all models and measure R² on test reviews."""
    views, six, unseen, true_six, names = data(options.words, options.rows)
    y, truth = six[:, 0], true_six[:, 0]
    only = [{"words": one["words"]} for one in (views, unseen)]
    words = compared("words", only[0], y, only[1], truth, options.seeds)
    both = compared("both views", views, y, unseen, truth, options.seeds)
    train, test = (Views(as_binary(one), feature_names=names) for one in (views, unseen))
    curves, shown = add_harmoniums(both, train, y, test, options)
    add_two_steps(both, as_binary(views), y, as_binary(unseen))
    rated = np.flatnonzero(np.isfinite(true_six).all(axis=1))
    many = HarmoniumRegressor(options.sizes[-1], views=FAMILIES, random_state=0).fit(train, six)
    answers = many.predict(Views(rows_of(as_binary(unseen), rated), feature_names=names))
    each = r2_score(true_six[rated], answers, multioutput="raw_values")
    draw(options.sizes, curves, shown, options.output / "hotel_regression.png")
    result = Result()
    result.text(
        f"Differences are of R² to the best of ridge and LinearSVR with the same views, with paired 95 % intervals "
        f"(bootstrap over test reviews; of harmoniums, means of {options.seeds} seeds). Times include the choice of "
        "settings for all."
    )
    result.table("models", both.columns(), [*words.rows(), *both.rows()])
    result.text(
        f"Six outputs at once (overall rating and five aspects, K={options.sizes[-1]}): R² "
        + ", ".join(f"{value:.3f}" for value in each)
    )
    result.figure("hotel_regression.png", "R² over K; weights of contextual features")
    divergence = average_divergence(class_topic_distribution(shown.transform(test), truth.astype(int)))
    result.text(f"Topics of MMH with K={READ_SIZE} (average divergence between ratings {divergence:.3f}):")
    frame = topic_table(shown, test, truth.astype(int), n_features=12, n_items=1).drop(columns="items")
    topics = [[index, *row] for index, row in zip(frame.index, frame.to_numpy(), strict=True)]
    result.table("topics", ["topic", *frame.columns], topics)
    return result


def draw(sizes: tuple[int, ...], curves: dict[str, list[float]], model: Any, file: Path) -> None:
    """Draw R² over the number of topics, and weights of some contextual features."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 4), layout="constrained")
    left, right = figure.subplots(1, 2)
    for name, values in curves.items():
        left.plot(sizes, values, marker="o", label=name)
    left.set(xlabel="topics", ylabel="test R²", xscale="log", xticks=sizes, xticklabels=map(str, sizes))
    left.legend()
    FeatureWeightsDisplay.from_estimator(model, SHOWN, view="context", ax=right)
    figure.savefig(file, dpi=120)
