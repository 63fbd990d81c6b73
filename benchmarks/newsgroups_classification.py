"""All defaults and MMH against the linear SVM, and latent spaces with an SVM behind them, on 20 Newsgroups.

By-date split, bodies only, the most frequent words of the training messages. The SVM chooses how words are weighted and
its C by three-fold cross-validation on training messages, `HarmoniumClassifier()` chooses for itself. MMH, TWH, DWH and
the discriminative RBM see which words are there; their settings were chosen on training messages (see the history).
Errors of harmoniums are means over seeds.
"""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any

import numpy as np
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from benchmarks.comparing import Comparison, error
from benchmarks.features.words import Texts, binary, newsgroups
from benchmarks.registry import Benchmark
from benchmarks.results import Result
from benchmarks.rivals.prepared import RIVALS
from harmonium import DWH, TWH, DiscriminativeRBM, HarmoniumClassifier, Hinge, Stochastic
from harmonium.report import MapDisplay

BENCHMARK = Benchmark(
    title="Text classification: MMH on 20 Newsgroups",
    claim="all defaults and MMH against a well-prepared linear SVM, DWH + SVM, TWH and a discriminative RBM",
    minutes=6,
    data=("newsgroups",),
    settings={"words": 5000, "large": 20_000, "topics": 50, "seeds": 3, "rows": 0},
    quick={"words": 300, "large": 1000, "topics": 5, "seeds": 1, "rows": 300},
)
MAP_SIZE = 20
DEFAULTS = "`HarmoniumClassifier()`, counts"
SVM = "linear SVM"


def driver(epochs: int) -> Stochastic:
    return Stochastic(
        max_iter=epochs, learning_rate=0.01, max_update=0.5, schedule="constant", weight_decay=0.5, average=True
    )


def mmh(K: int, seed: int) -> HarmoniumClassifier:
    """Return the paper's model, without a linear part."""
    head = Hinge(0.4, linear_part=False)
    more: dict[str, Any] = {"driver": driver(15), "validation_fraction": 0, "random_state": seed}
    return HarmoniumClassifier(K, hidden="bernoulli", head=head, **more)


def with_svm(model: Any) -> Any:
    """Return a latent space with a linear SVM behind it whose C is chosen by cross-validation."""
    svm = GridSearchCV(LinearSVC(dual=False), {"C": [1e-3, 1e-2, 1e-1]}, cv=3)
    return make_pipeline(model, StandardScaler(), svm)


def add_latent(comparison: Comparison, words: Any, y: np.ndarray, unseen: Any, K: int) -> None:
    """Add the other ways to learn a latent space, with and without labels."""
    more: dict[str, Any] = {"driver": driver(20), "random_state": 0}
    methods = {
        f"DiscriminativeRBM, K={K}": DiscriminativeRBM(K, validation_fraction=0, **more),
        f"TWH, K={K}": TWH(K, validation_fraction=0, **more),
        f"DWH + SVM, K={K}": with_svm(DWH(K, **more)),
    }
    for name, model in methods.items():
        begin = time.perf_counter()
        model.fit(words, y)
        fitted = time.perf_counter()
        predicted = model.predict(unseen)
        comparison.add(name, "–", [predicted], fitted - begin, time.perf_counter() - fitted)


def compared(texts: Texts, size: int, seeds: int) -> Comparison:
    """Return the linear SVM and the classifier as it comes, on counts."""
    counts, unseen = texts.counts(size)
    comparison = Comparison(texts.truth, {"test error": error}, lower_is_better=True)
    comparison.add_rivals({SVM: RIVALS[SVM]}, {"words": counts}, texts.y, {"words": unseen}, classes=True)
    models = (HarmoniumClassifier(random_state=seed) for seed in range(seeds))
    comparison.add_seeds(DEFAULTS, models, counts, texts.y, unseen)
    return comparison


def run(options: SimpleNamespace) -> Result:
    """Fit all models and measure their errors on test messages."""
    texts, K = newsgroups(options.rows), options.topics
    comparison = compared(texts, options.words, options.seeds)
    words, unseen = (binary(counts) for counts in texts.counts(options.words))
    comparison.add_seeds(f"MMH, K={K}", (mmh(K, seed) for seed in range(options.seeds)), words, texts.y, unseen)
    add_latent(comparison, words, texts.y, unseen, K)
    picture = mmh(MAP_SIZE, 0).fit(words, texts.y)
    display = MapDisplay.from_estimator(picture, unseen, np.array(texts.names)[texts.truth], max_items=1200)
    display.figure_.savefig(options.output / "newsgroups_map.png", dpi=110)
    result = Result()
    result.text(
        "The difference is that to the error of the linear SVM on the test messages, with a paired 95 % interval "
        f"(bootstrap over test messages; of harmoniums, means of {options.seeds} seeds). Times of the first two "
        "include the choice of settings."
    )
    result.table("models", comparison.columns(), comparison.rows())
    result.text(f"With {options.large:,} words:")
    larger = compared(texts, options.large, options.seeds)
    result.table(
        "vocabularies",
        {"words": "{:,}", **larger.columns()},
        [{"words": options.large, **row} for row in larger.rows()],
    )
    result.figure("newsgroups_map.png", f"map of test messages by MMH with {MAP_SIZE} topics")
    return result
