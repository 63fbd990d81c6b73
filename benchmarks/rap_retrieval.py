"""Document retrieval with RAP (Gehler et al. 2006, §3): 20 Newsgroups against LSI, PLSI, LDA, tf-idf.

Every method's settings, among them how LSI and plain words weight counts, are chosen by the area under the
recall-precision curve on a tenth of the training documents; the test documents are used once, at the end.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.decomposition import TruncatedSVD

from benchmarks.features.mutual_information import select_by_mutual_information
from benchmarks.features.weights import tf_idf
from benchmarks.features.words import few
from benchmarks.measuring import alternate, median
from benchmarks.registry import Benchmark
from benchmarks.results import Result
from benchmarks.rivals.lda import LDA
from benchmarks.rivals.plsi import PLSI, vectorised_fold_in
from benchmarks.rivals.prepared import WORDS, Preparation
from harmonium import RAP, Stochastic
from harmonium.datasets import load_newsgroups
from harmonium.families import ReplicatedSoftmax
from harmonium.features.text import text_counts
from harmonium.metrics import RetrievalReport, retrieval_report

BENCHMARK = Benchmark(
    title="RAP: document retrieval",
    claim="RAP against LSI, PLSI, LDA and tf-idf on 20 Newsgroups",
    minutes=8,
    data=("newsgroups",),
    settings={"rows": 0},
    quick={"rows": 100},
)
AREA_GOAL, SPEED_GOAL = 1.4, 50
TIMED_TOPICS, FOLD_IN_STEPS, ROUNDS = 100, 25, 7
Encoded = tuple[object, object]


@dataclass
class Corpus:
    """Counts and classes of training and test documents."""

    name: str
    train: scipy.sparse.csr_array
    train_labels: np.ndarray
    test: scipy.sparse.csr_array
    test_labels: np.ndarray

    def some(self, limit: int) -> Corpus:
        """At most so many documents of either part (0: all)."""
        train, test = few(len(self.train_labels), limit), few(len(self.test_labels), limit)
        return Corpus(self.name, self.train[train], self.train_labels[train], self.test[test], self.test_labels[test])

    def validation(self) -> Corpus:
        """Nine tenths of the training documents against the rest."""
        order = np.random.default_rng(1).permutation(len(self.train_labels))
        held_out, rest = np.sort(order[: len(order) // 10]), np.sort(order[len(order) // 10 :])
        labels = self.train_labels
        return Corpus(self.name, self.train[rest], labels[rest], self.train[held_out], labels[held_out])


def newsgroups() -> Corpus:
    """10 % held out at random, stemmed, the 10,000 words with the highest mutual information on training data."""
    data = load_newsgroups("all")
    counts, _ = text_counts(data.views["text"], stem=True, min_df=2)
    labels = np.asarray(data.target)
    order = np.random.default_rng(0).permutation(len(labels))
    test, train = np.sort(order[: len(order) // 10]), np.sort(order[len(order) // 10 :])
    words = np.sort(select_by_mutual_information(counts[train], labels[train], 10_000))
    counts = scipy.sparse.csr_array(counts[:, words])
    return Corpus("20 Newsgroups", counts[train], labels[train], counts[test], labels[test])


def encode_tf_idf(corpus: Corpus, weights: str) -> Encoded:
    """Weights of the published experiments, or those of scikit-learn."""
    if weights == PUBLISHED:
        train, idf = tf_idf(corpus.train)
        return train, tf_idf(corpus.test, idf)[0]
    train, test = Preparation(("words",), words=weights).matrices({"words": corpus.train}, {"words": corpus.test})
    return train, test


def encode_lsi(corpus: Corpus, topics: int, weights: str) -> Encoded:
    train, test = encode_tf_idf(corpus, weights)
    svd = TruncatedSVD(topics, random_state=0)
    return svd.fit_transform(train), svd.transform(test)


def encode_chance(corpus: Corpus) -> Encoded:
    """Documents in a random order."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(corpus.train.shape[0], 20)), rng.normal(size=(corpus.test.shape[0], 20))


def encode_plsi(corpus: Corpus, topics: int) -> Encoded:
    model = PLSI(topics, random_state=0).fit(corpus.train)
    return tuple(model.transform(part, n_iter=FOLD_IN_STEPS) for part in (corpus.train, corpus.test))


def encode_lda(corpus: Corpus, topics: int) -> Encoded:
    model = LDA(topics)
    return model.fit_transform(corpus.train), model.transform(corpus.test)


def encode_rap(corpus: Corpus, topics: int, epochs: int, decay: float) -> Encoded:
    driver = Stochastic(max_iter=epochs, learning_rate=0.01, weight_decay=decay)
    model = RAP(topics, driver=driver, random_state=0).fit(corpus.train)
    return model.transform(corpus.train), model.transform(corpus.test)


def encode_softmax(corpus: Corpus, topics: int, decay: float) -> Encoded:
    """The next step beyond the paper: RAP's parts with the length of a document given instead of modelled."""
    driver = Stochastic(max_iter=10, learning_rate=0.01, weight_decay=decay)
    model = RAP(topics, views=ReplicatedSoftmax(), driver=driver, random_state=0).fit(corpus.train)
    return model.transform(corpus.train), model.transform(corpus.test)


PUBLISHED = "share × idf"
WEIGHTS = (PUBLISHED, *(way for way in WORDS if way != "binary"))
METHODS: dict[str, tuple[Callable[..., Encoded], list[dict[str, Any]]]] = {
    "RAP": (
        encode_rap,
        [{"topics": topics, "epochs": 10, "decay": decay} for topics in (50, 100, 150) for decay in (0.5, 1.0)],
    ),
    "RAP with ReplicatedSoftmax": (
        encode_softmax,
        [{"topics": topics, "decay": decay} for topics in (50, 100) for decay in (0.5, 1.0)],
    ),
    "LSI (tf-idf)": (
        encode_lsi,
        [{"topics": topics, "weights": weights} for weights in WEIGHTS for topics in (25, 50, 100, 200)],
    ),
    "PLSI (tempered EM)": (encode_plsi, [{"topics": topics} for topics in (25, 50, 100)]),
    "LDA (Gibbs)": (encode_lda, [{"topics": topics} for topics in (15, 25, 50)]),
    "tf-idf words": (encode_tf_idf, [{"weights": weights} for weights in WEIGHTS]),
    "chance": (encode_chance, [{}]),
}


def report(corpus: Corpus, encoded: Encoded) -> RetrievalReport:
    train, test = encoded
    return retrieval_report(test, train, corpus.test_labels, corpus.train_labels)


def compare(corpus: Corpus, file: Path) -> list[list[object]]:
    """Choose settings on validation documents, evaluate on test documents, draw the curves."""
    part = corpus.validation()
    rows: list[list[object]] = []
    curves: dict[str, RetrievalReport] = {}
    by_topics: dict[str, dict[int, float]] = {}
    for name, (encode, grid) in METHODS.items():
        begin = time.perf_counter()
        scores = []
        for settings in grid:
            scores.append(report(part, encode(part, **settings)).area)
            print(f"{corpus.name}: {name} {settings}: validation area {scores[-1]:.4f}", flush=True)
            if "topics" in settings:
                best = by_topics.setdefault(name, {})
                best[int(settings["topics"])] = max(best.get(int(settings["topics"]), 0.0), scores[-1])
        chosen = grid[int(np.argmax(scores))]
        curves[name] = report(corpus, encode(corpus, **chosen))
        shown = ", ".join(f"{key} {value}" for key, value in chosen.items()) or "–"
        result = curves[name]
        rows.append([name, shown, max(scores), result.area, result.first_precision, result.average_precision])
        print(f"{corpus.name}: {name} took {time.perf_counter() - begin:.0f} s", flush=True)
    draw(corpus, curves, by_topics, file)
    areas = {name: curve.area for name, curve in curves.items()}
    for row in rows:
        row.append(areas[str(row[0])] / areas["LSI (tf-idf)"])
    return rows


def draw(
    corpus: Corpus, curves: dict[str, RetrievalReport], by_topics: dict[str, dict[int, float]], file: Path
) -> None:
    """Draw recall-precision curves, and the area over the number of topics (on validation documents)."""
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.4), layout="constrained")
    for name, curve in curves.items():
        left.semilogx(curve.recall, curve.precision, marker="o", markersize=3, label=name)
    left.set(xlabel="recall", ylabel="precision", title=f"{corpus.name}: test documents")
    left.legend()
    for name, values in by_topics.items():
        right.plot(list(values), list(values.values()), marker="o", markersize=3, label=name)
    right.set(xlabel="number of topics", ylabel="area under the curve", title="validation documents, best settings")
    right.legend()
    figure.savefig(file, dpi=110)


def encoding_times(corpus: Corpus) -> str:
    """Return the time to encode the test documents: RAP, and PLSI's folding-in written two ways."""
    rap = RAP(TIMED_TOPICS, driver=Stochastic(max_iter=1), random_state=0).fit(corpus.train)
    plsi = PLSI(TIMED_TOPICS, max_iter=3, random_state=0).fit(corpus.train)
    seconds = alternate(
        {
            "RAP": lambda: rap.transform(corpus.test),
            "vectorised": lambda: vectorised_fold_in(
                corpus.test, plsi.word_given_topic_.astype(np.float32), FOLD_IN_STEPS
            ),
            "kernel": lambda: plsi.transform(corpus.test, n_iter=FOLD_IN_STEPS),
        },
        ROUNDS,
    )
    rap_time = median(seconds["RAP"])
    ratio = {
        name: median([b / a for a, b in zip(seconds["RAP"], values, strict=True)]) for name, values in seconds.items()
    }
    return (
        f"Encoding the {corpus.test.shape[0]:,} test documents with {TIMED_TOPICS} topics: RAP {rap_time * 1e3:.1f} "
        f"ms; PLSI's folding-in, {FOLD_IN_STEPS} iterations, takes {ratio['vectorised']:.0f} times as long "
        f"vectorised in NumPy and SciPy, and {ratio['kernel']:.0f} times as long as a compiled kernel on two threads."
    )


def run(options: SimpleNamespace) -> Result:
    """Compare the methods."""
    result = Result()
    result.text(
        f"LSI and plain words choose among three weights: {', '.join(WEIGHTS)} (the first is that of the publication). "
        "Settings are chosen by the area under the recall-precision curve on a tenth of the training documents; test "
        f"documents are ranked by cosine against all training documents. Goals: RAP's area at least {AREA_GOAL} times "
        f"LSI's, and encoding at least {SPEED_GOAL} times faster than PLSI's "
        "folding-in."
    )
    corpus = newsgroups().some(options.rows)
    figure = "rap_retrieval_newsgroups.png"
    rows = compare(corpus, options.output / figure)
    result.heading(corpus.name)
    result.text(
        f"{corpus.train.shape[0]:,} training and {corpus.test.shape[0]:,} test documents, "
        f"{corpus.train.shape[1]:,} words, {len(np.unique(corpus.train_labels))} classes."
    )
    measures = ["validation area", "test area", "1-NN precision", "average precision", "area / LSI's"]
    result.table("newsgroups", ["method", "chosen", *measures], rows)
    result.text(encoding_times(corpus))
    result.figure(figure, "curves")
    return result
