"""MMH against ridge, support vector regression and supervised topic models on ratings of hotels.

2,500 reviews to train on and 2,500 to test on; two views: the 5,000 most frequent words, binary, and 14 contextual
features (`features/contextual.py`). Rivals get both views side by side, the contextual one standardised. All
settings are chosen on training reviews: for MMH inside `fit` (nothing is set but K), for the others by
cross-validation. Also draws R² over the number of topics, and the weights of four contextual features over the topics.
"""

from __future__ import annotations

import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import RidgeCV
from sklearn.metrics import r2_score
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVR

from benchmarks.features.contextual import contextual_features
from benchmarks.measuring import with_deviation
from benchmarks.registry import Benchmark
from benchmarks.results import Result
from benchmarks.rivals.slda import SLDA
from harmonium import DWH, TWH, Bernoulli, BernoulliUnits, Gaussian, HarmoniumRegressor, Stochastic, Views
from harmonium.datasets import hotel_aspects, load_hotels
from harmonium.metrics import average_divergence, class_topic_distribution
from harmonium.report import FeatureWeightsDisplay, topic_table

BENCHMARK = Benchmark(
    title="Regression: MMH on ratings of hotels",
    claim="MMH against ridge, SVR, DWH, TWH and SLDA on ratings of hotels",
    minutes=10,
    data=("hotels",),
    settings={"sizes": (5, 10, 50), "seeds": 2},
)
READ_SIZE = 10  # topics of the model whose topics are shown
SVD_SIZE, SLDA_SIZE = 50, 20
FAMILIES = {"words": Bernoulli(), "context": Gaussian()}
SHOWN = ["pos_adj", "re_pos_adj", "neg_adj", "re_neg_adj"]


def data() -> tuple[dict[str, Any], np.ndarray, dict[str, Any], np.ndarray, np.ndarray, dict[str, list[str]]]:
    loaded = load_hotels()
    (train, y), (test, truth) = loaded.train(), loaded.test()
    vectorizer = CountVectorizer(max_features=5000, binary=True)
    words = vectorizer.fit_transform(train["text"]).astype(np.float32)
    context, names = contextual_features(train["text"])
    views = {"words": scipy.sparse.csr_array(words), "context": context}
    unseen = {
        "words": scipy.sparse.csr_array(vectorizer.transform(test["text"]).astype(np.float32)),
        "context": contextual_features(test["text"])[0],
    }
    aspects = hotel_aspects()[0]
    return views, y, unseen, truth, aspects, {"words": list(vectorizer.get_feature_names_out()), "context": names}


def side_by_side(views: dict[str, Any], scaler: StandardScaler, only: str | None = None) -> scipy.sparse.csr_array:
    parts = {"words": views["words"], "context": scipy.sparse.csr_array(scaler.transform(views["context"]))}
    return scipy.sparse.csr_array(scipy.sparse.hstack([part for name, part in parts.items() if only in (None, name)]))


def svr() -> GridSearchCV:
    return GridSearchCV(LinearSVR(max_iter=5000, random_state=0), {"C": [1e-3, 1e-2, 1e-1, 1.0]}, cv=3)


def run(options: SimpleNamespace) -> Result:
    """Fit all models and measure R² on test reviews."""
    views, y, unseen, truth, aspects, names = data()
    train, test = Views(views, feature_names=names), Views(unseen, feature_names=names)
    scaler = StandardScaler().fit(views["context"])
    rows: list[list[Any]] = []

    def report(name: str, setting: object, predictions: list[np.ndarray], seconds: float) -> float:
        scores = [float(r2_score(truth, prediction)) for prediction in predictions]
        rows.append([name, setting, with_deviation(scores) if len(scores) > 1 else scores[0], seconds])
        print(rows[-1], flush=True)
        return float(np.mean(scores))

    ridge = {}
    for label, only in (("words", "words"), ("both views", None)):
        begin = time.perf_counter()
        X = side_by_side(views, scaler, only)
        model = RidgeCV(alphas=(10, 30, 100, 300, 1000)).fit(X.toarray(), y)
        predicted = model.predict(side_by_side(unseen, scaler, only).toarray())
        ridge[label] = report(f"ridge, {label}", f"alpha={model.alpha_:g}", [predicted], time.perf_counter() - begin)
    begin = time.perf_counter()
    search = svr().fit(side_by_side(views, scaler), y)
    report(
        "LinearSVR, both views",
        search.best_params_["C"],
        [search.predict(side_by_side(unseen, scaler))],
        time.perf_counter() - begin,
    )
    begin = time.perf_counter()
    svd = TruncatedSVD(SVD_SIZE, random_state=0)
    search = svr().fit(svd.fit_transform(side_by_side(views, scaler)), y)
    report(
        f"SVD + SVR, {SVD_SIZE} dimensions",
        search.best_params_["C"],
        [search.predict(svd.transform(side_by_side(unseen, scaler)))],
        time.perf_counter() - begin,
    )

    driver = Stochastic(
        max_iter=40, batch_size=0.05, learning_rate=0.01, reach=0.5, schedule="constant", weight_decay=0.5, average=True
    )
    curves: dict[str, list[float]] = {"MMH": [], "DWH + SVR": [], "TWH": []}
    shown = None
    for K in options.sizes:
        predictions, seconds, settings = [], [], []
        for seed in range(options.seeds):
            begin = time.perf_counter()
            model = HarmoniumRegressor(K, views=FAMILIES, random_state=seed).fit(train, y)
            seconds.append(time.perf_counter() - begin)
            settings.append(f"C={model.C_:g}, {model.n_iter_} epochs")
            predictions.append(model.predict(test))
        shown = model if K == READ_SIZE else shown
        curves["MMH"].append(report(f"MMH, K={K}", "; ".join(settings), predictions, float(np.median(seconds))))
        begin = time.perf_counter()
        latent = DWH(K, FAMILIES, hidden=BernoulliUnits(), driver=driver, random_state=0).fit(train)
        search = svr().fit(latent.transform(train), y)
        curves["DWH + SVR"].append(
            report(
                f"DWH + SVR, K={K}",
                search.best_params_["C"],
                [search.predict(latent.transform(test))],
                time.perf_counter() - begin,
            )
        )
        begin = time.perf_counter()
        wing = TWH(K, FAMILIES, task="regression", hidden=BernoulliUnits(), random_state=0).fit(train, y)
        curves["TWH"].append(
            report(f"TWH, K={K}", f"{wing.n_iter_} epochs", [wing.predict(test)], time.perf_counter() - begin)
        )
    begin = time.perf_counter()
    slda = SLDA(SLDA_SIZE, n_iter=200).fit(views["words"], y[:, None])
    report(
        f"tomotopy SLDA, words, K={SLDA_SIZE}", "-", [slda.predict(unseen["words"])[:, 0]], time.perf_counter() - begin
    )

    part = load_hotels().split
    six = np.column_stack([y, aspects[part == "train"]])
    many = HarmoniumRegressor(options.sizes[-1], views=FAMILIES, random_state=0).fit(train, six)
    true_six = np.column_stack([truth, aspects[part == "test"]])
    each = r2_score(true_six, many.predict(test), multioutput="raw_values")
    assert shown is not None, f"the sizes must include {READ_SIZE}"
    draw(options.sizes, curves, shown, options.output / "hotel_regression.png")
    best = max(curves["MMH"])
    result = Result()
    result.table("models", {"model": None, "chosen": None, "test R²": "{:.4f}", "fit, s": None}, rows)
    result.text(
        f"The best MMH has R² {best - ridge['words']:+.3f} against ridge on the words alone and "
        f"{best - ridge['both views']:+.3f} against ridge on both views."
    )
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
