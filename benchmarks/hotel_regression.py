"""MMH and all defaults against ridge, support vector regression and supervised topic models on ratings of hotels.

2,500 reviews to train on and 2,500 to test on; two views: the 5,000 most frequent words, and 14 contextual features
(`features/contextual.py`); once the words alone, once both views. All settings are chosen on training reviews: for
harmoniums inside `fit` (nothing is set, or nothing but K), for the others by three-fold cross-validation. Ridge and
LinearSVR are given counts, and choose how words are weighted, how the context is scaled, and which views to use along
with their strength. MMH, TWH and DWH see which words are there; MMH is the paper's model, without a linear part.
"""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any

import numpy as np
from sklearn.model_selection import GridSearchCV
from sklearn.svm import LinearSVR

from benchmarks.comparing import Comparison, r_squared
from benchmarks.features.contextual import contextual_features
from benchmarks.features.words import binary, few, word_counts
from benchmarks.registry import Benchmark
from benchmarks.results import Result
from benchmarks.rivals.prepared import RIVALS
from benchmarks.rivals.slda import SLDA
from harmonium import DWH, TWH, Bernoulli, EpsilonInsensitive, Gaussian, HarmoniumRegressor, Stochastic
from harmonium.datasets import load_hotels
from harmonium.hidden import BernoulliUnits

BENCHMARK = Benchmark(
    title="Regression: MMH on ratings of hotels",
    claim="all defaults and MMH against well-prepared ridge and SVR, DWH, TWH and SLDA on ratings of hotels",
    minutes=2,
    data=("hotels",),
    settings={"topics": 50, "seeds": 3, "words": 5000, "rows": 0},
    quick={"topics": 10, "seeds": 1, "words": 300, "rows": 150},
)
SLDA_SIZE = 20
FAMILIES = {"words": Bernoulli(), "context": Gaussian()}
DEFAULTS = "`HarmoniumRegressor()`"


def data(n_words: int, limit: int = 0) -> tuple[dict[str, Any], np.ndarray, dict[str, Any], np.ndarray]:
    """Return word counts and context of training and test reviews, with their overall ratings."""
    loaded = load_hotels()
    (train, y), (test, truth) = loaded.train(), loaded.test()
    kept, asked = few(len(y), limit), few(len(truth), limit)
    texts, other = np.asarray(train["text"])[kept], np.asarray(test["text"])[asked]
    words, new_words, _ = word_counts(texts, other, n_words)
    views = {"words": words, "context": contextual_features(texts)[0]}
    unseen = {"words": new_words, "context": contextual_features(other)[0]}
    return views, y[kept], unseen, truth[asked]


def as_binary(views: dict[str, Any]) -> dict[str, Any]:
    """Return the views with words that are there or not."""
    return {**views, "words": binary(views["words"])}


def compared(
    label: str, views: dict[str, Any], y: np.ndarray, unseen: dict[str, Any], truth: np.ndarray, seeds: int
) -> Comparison:
    """Return the plain rivals and the regressor as it comes, on counts and perhaps the context."""
    comparison = Comparison(truth, {"test R²": r_squared}, lower_is_better=False)
    rivals = {"ridge": RIVALS["ridge"], "LinearSVR": RIVALS["linear SVR"]}
    comparison.add_rivals(rivals, views, y, unseen, classes=False, suffix=f", {label}")
    models = (HarmoniumRegressor(random_state=seed) for seed in range(seeds))
    comparison.add_seeds(f"{DEFAULTS}, {label}, counts", models, views, y, unseen)
    return comparison


def add_topic_models(
    both: Comparison, train: dict[str, Any], y: np.ndarray, test: dict[str, Any], options: SimpleNamespace
) -> None:
    """Add MMH, DWH + SVR, TWH, and supervised LDA of the words."""
    K = options.topics
    driver = Stochastic(
        max_iter=40,
        batch_size=0.05,
        learning_rate=0.01,
        max_update=0.5,
        schedule="constant",
        weight_decay=0.5,
        average=True,
    )
    models = (
        HarmoniumRegressor(
            K, views=FAMILIES, hidden="bernoulli", head=EpsilonInsensitive(linear_part=False), random_state=seed
        )
        for seed in range(options.seeds)
    )
    both.add_seeds(f"MMH, K={K}", models, train, y, test)
    begin = time.perf_counter()
    latent = DWH(K, FAMILIES, hidden=BernoulliUnits(), driver=driver, random_state=0).fit(train)
    svr = GridSearchCV(LinearSVR(max_iter=5000, random_state=0), {"C": [1e-3, 1e-2, 1e-1, 1.0]}, cv=3)
    predicted = svr.fit(latent.transform(train), y).predict(latent.transform(test))
    both.add(f"DWH + SVR, K={K}", f"C {svr.best_params_['C']:g}", [predicted], time.perf_counter() - begin)
    begin = time.perf_counter()
    wing = TWH(K, FAMILIES, task="regression", hidden=BernoulliUnits(), random_state=0).fit(train, y)
    both.add(f"TWH, K={K}", f"{wing.n_iter_} epochs", [wing.predict(test)], time.perf_counter() - begin)
    begin = time.perf_counter()
    slda = SLDA(SLDA_SIZE, n_iter=200).fit(train["words"], y[:, None])
    predicted = slda.predict(test["words"])[:, 0]
    both.add(f"tomotopy SLDA, words, K={SLDA_SIZE}", "–", [predicted], time.perf_counter() - begin)


def run(options: SimpleNamespace) -> Result:
    """Fit all models and measure R² on test reviews."""
    views, y, unseen, truth = data(options.words, options.rows)
    only = [{"words": one["words"]} for one in (views, unseen)]
    words = compared("words", only[0], y, only[1], truth, options.seeds)
    both = compared("both views", views, y, unseen, truth, options.seeds)
    add_topic_models(both, as_binary(views), y, as_binary(unseen), options)
    result = Result()
    result.text(
        f"Differences are of R² to the best of ridge and LinearSVR with the same views, with paired 95 % intervals "
        f"(bootstrap over test reviews; of harmoniums, means of {options.seeds} seeds). Times include the choice of "
        "settings for all."
    )
    result.table("models", both.columns(), [*words.rows(), *both.rows()])
    return result
