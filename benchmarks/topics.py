"""Topics to read: coherence, diversity and stability of `TopicModel` against NMF and LDA, and what reading costs.

Training texts alone, as topics have no test: the 5,000 most frequent words that are no stop words, of letters alone.
NMF sees them by tf-idf, with counts as they are or by logarithms; LDA sees counts; `TopicModel` sees which words are
there. Ten words a topic, each method's own: the largest weights of NMF and LDA, `topics()` of ours. NPMI and C_V count
documents of the same texts. All settings of ours are defaults.

The second part asks what it costs a classifier if its topics are to be read: signed and non-negative weights, with the
linear part and without, for two weights C of the loss and two numbers of units; error on the test messages, NPMI of the
topics on the training messages.
"""

from __future__ import annotations

import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.decomposition import NMF, LatentDirichletAllocation
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer

from benchmarks.datasets import load_reuters21578
from benchmarks.features.words import few
from benchmarks.registry import Benchmark
from benchmarks.results import Result
from harmonium import HarmoniumClassifier, Hinge, TopicModel, Views
from harmonium.datasets import load_newsgroups
from harmonium.hidden import BernoulliUnits
from harmonium.metrics import topic_coherence, topic_diversity, topic_stability

BENCHMARK = Benchmark(
    title="Topics to read",
    claim="coherence and diversity of `TopicModel` against NMF and LDA; what reading costs a classifier",
    minutes=25,
    data=("newsgroups", "reuters21578"),
    settings={"words": 5000, "topics": 50, "seeds": 3, "rows": 0, "trade_topics": "20,50", "trade_C": "0.1,1.6"},
    quick={"words": 300, "topics": 5, "seeds": 2, "rows": 300, "trade_topics": "5", "trade_C": "0.4"},
)
LETTERS = r"(?u)\b[a-zA-Z][a-zA-Z]+\b"
N_WORDS = 10


class Corpus:
    """Texts as counts of words, with classes and test texts where there are any."""

    def __init__(self, name: str, words: int, rows: int) -> None:
        if name == "20 Newsgroups":
            data = load_newsgroups(remove=("headers", "footers", "quotes"))
        else:
            data = load_reuters21578()
        texts = np.asarray(data.views["text"], dtype=object)
        train, test = np.flatnonzero(data.split == "train"), np.flatnonzero(data.split == "test")
        train, test = train[few(len(train), rows)], test[few(len(test), rows)]
        vectorizer = CountVectorizer(max_features=words, stop_words="english", token_pattern=LETTERS)
        counts = vectorizer.fit_transform(texts[train])
        kept = np.flatnonzero(counts.sum(axis=1))
        self.names = vectorizer.get_feature_names_out().tolist()
        self.counts = scipy.sparse.csr_array(counts.astype(np.float32))[kept]
        self.test = scipy.sparse.csr_array(vectorizer.transform(texts[test]).astype(np.float32))
        if name == "20 Newsgroups":
            self.y, self.truth = data.target[train][kept], data.target[test]

    @property
    def presence(self) -> scipy.sparse.csr_array:
        """Which words are there."""
        return scipy.sparse.csr_array((self.counts > 0).astype(np.float32))

    def words_of(self, components: np.ndarray) -> list[list[str]]:
        """Return the words with the largest weights of each topic."""
        order = np.argsort(-components, axis=1, kind="stable")[:, :N_WORDS]
        return [[self.names[word] for word in row] for row in order]

    def views(self, words: Any) -> Views:
        """Return words as a view with names."""
        return Views({"words": words}, feature_names={"words": self.names})


def topic_models(corpus: Corpus, n_topics: int) -> dict[str, Any]:
    """Return functions from a seed to topics, by method."""
    counts = corpus.counts

    def nmf(sublinear: bool) -> Any:
        def fitted(seed: int) -> list[list[str]]:
            weighted = TfidfTransformer(sublinear_tf=sublinear).fit_transform(counts)
            model = NMF(n_topics, init="nndsvdar", max_iter=300, random_state=seed)
            return corpus.words_of(model.fit(weighted).components_)

        return fitted

    def lda(seed: int) -> list[list[str]]:
        return corpus.words_of(LatentDirichletAllocation(n_topics, random_state=seed).fit(counts).components_)

    def ours(seed: int) -> list[list[str]]:
        model = TopicModel(n_topics, random_state=seed).fit(corpus.views(corpus.presence))
        return [list(row) for row in model.topics(n=N_WORDS).to_numpy()]

    def frequent(seed: int) -> list[list[str]]:
        total = np.asarray(counts.sum(axis=0)).ravel()
        order = np.argsort(-total, kind="stable")[: n_topics * N_WORDS]
        return [[corpus.names[word] for word in row] for row in order.reshape(n_topics, N_WORDS)]

    return {
        "NMF, tf-idf": nmf(sublinear=False),
        "NMF, tf-idf by logarithms": nmf(sublinear=True),
        "LDA": lda,
        "the most frequent words, ten by ten": frequent,
        "`TopicModel`": ours,
    }


def measured(corpus: Corpus, options: SimpleNamespace) -> tuple[list[list[Any]], list[list[str]]]:
    """Return a row for each method, and the topics of ours for the first seed."""
    rows, shown = [], []
    for name, fitted in topic_models(corpus, options.topics).items():
        found, seconds = [], []
        for seed in range(options.seeds):
            begin = time.perf_counter()
            found.append(fitted(seed))
            seconds.append(time.perf_counter() - begin)
        coherence = {
            measure: [topic_coherence(topics, corpus.counts, corpus.names, measure).mean() for topics in found]
            for measure in ("npmi", "cv")
        }
        spread = {key: {"mean": np.mean(values), "spread": np.std(values)} for key, values in coherence.items()}
        diversity = np.mean([topic_diversity(topics) for topics in found])
        stability = topic_stability(found).mean() if options.seeds > 1 else None
        rows.append([name, spread["npmi"], spread["cv"], diversity, stability, np.median(seconds)])
        print(rows[-1], flush=True)
        shown = found[0]
    return rows, shown


def trade(corpus: Corpus, options: SimpleNamespace) -> list[dict[str, Any]]:
    """Return error and NPMI of classifiers with different units, paths, weights of the loss and numbers of units."""
    records = []
    presence, unseen = corpus.presence, scipy.sparse.csr_array((corpus.test > 0).astype(np.float32))
    for weights in ("signed", "nonnegative"):
        for linear_part in (False, "auto"):
            for n_topics in map(int, options.trade_topics.split(",")):
                for C in map(float, options.trade_C.split(",")):
                    begin = time.perf_counter()
                    model = HarmoniumClassifier(
                        n_topics,
                        hidden=BernoulliUnits(weights=weights),
                        head=Hinge(C=C, linear_part=linear_part),
                        random_state=0,
                    ).fit(corpus.views(presence), corpus.y)
                    error = float(np.mean(model.predict({"words": unseen}) != corpus.truth))
                    topics = model.topics(n=N_WORDS)
                    records.append(
                        {
                            "weights": weights,
                            "linear part": "yes" if linear_part else "no",
                            "topics": n_topics,
                            "C": C,
                            "error": error,
                            "NPMI": topic_coherence(topics, corpus.counts, corpus.names).mean(),
                            "diversity": topic_diversity(topics),
                            "seconds": time.perf_counter() - begin,
                        }
                    )
                    print(records[-1], flush=True)
    return records


def draw(records: list[dict[str, Any]], file: Path) -> None:
    """Draw error against NPMI."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 4.5), layout="constrained")
    ax = figure.subplots()
    for weights, colour in (("signed", "C3"), ("nonnegative", "C0")):
        for linear_part, marker in (("no", "o"), ("yes", "s")):
            chosen = [r for r in records if r["weights"] == weights and r["linear part"] == linear_part]
            label = f"{weights}, {'with' if linear_part == 'yes' else 'without'} the linear part"
            ax.scatter([r["NPMI"] for r in chosen], [r["error"] for r in chosen], c=colour, marker=marker, label=label)
            for r in chosen:
                ax.annotate(f"{r['topics']}, C {r['C']:g}", (r["NPMI"], r["error"]), fontsize=7)
    ax.set_xlabel("NPMI of the topics (training messages)")
    ax.set_ylabel("error (test messages)")
    ax.legend(fontsize=8)
    figure.savefig(file, dpi=120)


def run(options: SimpleNamespace) -> Result:
    """Measure topics of two collections, then what reading costs a classifier."""
    result = Result()
    result.text(
        f"{options.topics} topics of ten words; means of {options.seeds} seeds ± standard deviation. Stability is the "
        "share of a topic's ten words that come again in the topic of another seed that is matched with it. Seconds "
        "are those of one fit."
    )
    columns = ("method", "NPMI", "C_V", "diversity", "stability", "seconds")
    corpora = {name: Corpus(name, options.words, options.rows) for name in ("20 Newsgroups", "Reuters-21578")}
    printed = {}
    for name, corpus in corpora.items():
        result.heading(f"{name}: {corpus.counts.shape[0]:,} training texts")
        rows, printed[name] = measured(corpus, options)
        result.table(name.split("-")[0].replace("20 ", "").lower(), columns, rows)
    result.heading("What reading costs a classifier")
    result.text(
        "20 Newsgroups without headers, footers and quotes, presence of words: error on the test messages and "
        "coherence of the topics on the training messages. The linear part chooses its own "
        "strength."
    )
    records = trade(corpora["20 Newsgroups"], options)
    result.table("trade", list(records[0]), records)
    draw(records, options.output / "topics.png")
    result.figure("topics.png", "error against NPMI; beside each point the number of topics and C")
    for name, topics in printed.items():
        result.heading(f"All topics of `TopicModel`, {name}, first seed")
        npmi = topic_coherence(topics, corpora[name].counts, corpora[name].names)
        rows = [
            [number, ", ".join(words), value] for number, (words, value) in enumerate(zip(topics, npmi, strict=True))
        ]
        result.table(f"words of {name}", {"topic": "{:d}", "words": None, "NPMI": "{:.2f}"}, rows)
    return result
