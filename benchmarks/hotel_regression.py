"""MMH against ridge, support vector regression and supervised topic models on ratings of hotels.

2,500 reviews to train on and 2,500 to test on; two views: the 5,000 most frequent words, binary, and 14 contextual
features (`features/contextual.py`). Rivals get both views side by side, the contextual one standardised. All
settings are chosen on training reviews: for MMH inside `fit` (nothing is set but K), for the others by
cross-validation. Also draws R² over the number of topics, and the weights of four contextual features over the topics.

Run: ``python benchmarks/hotel_regression.py``.
"""

from __future__ import annotations

import time
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

from common import RESULTS, table, write
from features.contextual import contextual_features
from harmonium import DWH, TWH, Bernoulli, BernoulliUnits, Gaussian, HarmoniumRegressor, Stochastic, Views
from harmonium.datasets import hotel_aspects, load_hotels
from harmonium.metrics import average_divergence, class_topic_distribution
from harmonium.report import FeatureWeightsDisplay, topic_table
from rivals.slda import SLDA

SIZES = (5, 10, 50)
SEEDS = (0, 1)
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


def main() -> None:
    views, y, unseen, truth, aspects, names = data()
    train, test = Views(views, feature_names=names), Views(unseen, feature_names=names)
    scaler = StandardScaler().fit(views["context"])
    rows: list[list[object]] = []

    def report(name: str, setting: object, predictions: list[np.ndarray], seconds: float) -> float:
        scores = [r2_score(truth, prediction) for prediction in predictions]
        spread = f" ± {np.std(scores):.4f}" if len(scores) > 1 else ""
        rows.append([name, setting, f"{np.mean(scores):.4f}{spread}", seconds])
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
    svd = TruncatedSVD(50, random_state=0)
    search = svr().fit(svd.fit_transform(side_by_side(views, scaler)), y)
    report(
        "SVD + SVR, 50 dimensions",
        search.best_params_["C"],
        [search.predict(svd.transform(side_by_side(unseen, scaler)))],
        time.perf_counter() - begin,
    )

    driver = Stochastic(
        max_iter=40, batch_size=None, learning_rate=0.01, reach=0.5, schedule="constant", weight_decay=0.5, average=True
    )
    curves: dict[str, list[float]] = {"MMH": [], "DWH + SVR": [], "TWH": []}
    shown = None
    for K in SIZES:
        predictions, seconds, settings = [], [], []
        for seed in SEEDS:
            begin = time.perf_counter()
            model = HarmoniumRegressor(K, views=FAMILIES, random_state=seed).fit(train, y)
            seconds.append(time.perf_counter() - begin)
            settings.append(f"C={model.C_:g}, {model.n_iter_} epochs")
            predictions.append(model.predict(test))
        shown = model if K == 10 else shown
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
    slda = SLDA(20, n_iter=200).fit(views["words"], y[:, None])
    report("tomotopy SLDA, words, K=20", "-", [slda.predict(unseen["words"])[:, 0]], time.perf_counter() - begin)

    part = load_hotels().split
    six = np.column_stack([y, aspects[part == "train"]])
    many = HarmoniumRegressor(50, views=FAMILIES, random_state=0).fit(train, six)
    true_six = np.column_stack([truth, aspects[part == "test"]])
    each = r2_score(true_six, many.predict(test), multioutput="raw_values")
    draw(curves, shown, names)
    best = max(curves["MMH"])
    assert shown is not None
    lines = [
        table(["model", "chosen", "test R²", "fit, s"], rows),
        "",
        f"The best MMH has R² {best - ridge['words']:+.3f} against ridge on the words alone and "
        f"{best - ridge['both views']:+.3f} against ridge on both views.",
        "",
        "Six outputs at once (overall rating and five aspects, K=50): R² "
        + ", ".join(f"{value:.3f}" for value in each),
        "",
        "![R² over K; weights of contextual features](hotel_regression.png)",
        "",
        f"Topics of MMH with K=10 (average divergence between ratings "
        f"{average_divergence(class_topic_distribution(shown.transform(test), truth.astype(int))):.3f}):",
        "",
        topics(shown, test, truth),
    ]
    write(
        "hotel_regression",
        "Regression: MMH on ratings of hotels",
        "\n".join(lines),
        "python benchmarks/hotel_regression.py",
    )


def topics(model: Any, views: Any, ratings: np.ndarray) -> str:
    frame = topic_table(model, views, ratings.astype(int), n_features=12, n_items=1).drop(columns="items")
    return table(
        ["topic", *frame.columns], [[index, *row] for index, row in zip(frame.index, frame.to_numpy(), strict=True)]
    )


def draw(curves: dict[str, list[float]], model: Any, names: dict[str, list[str]]) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 4), layout="constrained")
    left, right = figure.subplots(1, 2)
    for name, values in curves.items():
        left.plot(SIZES, values, marker="o", label=name)
    left.set(xlabel="topics", ylabel="test R²", xscale="log", xticks=SIZES, xticklabels=map(str, SIZES))
    left.legend()
    FeatureWeightsDisplay.from_estimator(model, SHOWN, view="context", ax=right)
    figure.savefig(RESULTS / "hotel_regression.png", dpi=120)


if __name__ == "__main__":
    main()
