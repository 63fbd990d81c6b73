"""Coherence of topics: `topic_coherence` against tomotopy and, where it is installed, gensim, on the same documents.

Windows of all three are whole documents. tomotopy and gensim add 1e-12 to joint probabilities, which matters for pairs
of words that never meet: there NPMI is -1 here, as its limit is. So topics all of whose words meet are compared apart.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from types import SimpleNamespace

import numpy as np

from benchmarks.measuring import alternate, median
from benchmarks.registry import Benchmark
from benchmarks.results import Result
from benchmarks.rivals.lda import LDA, documents
from harmonium.datasets import load_newsgroups
from harmonium.features.text import text_counts
from harmonium.metrics import topic_coherence

BENCHMARK = Benchmark(
    title="Coherence of topics on 20 Newsgroups",
    claim="`topic_coherence` against tomotopy and gensim: the same numbers, and seconds",
    minutes=1,
    data=("newsgroups",),
    settings={"topics": 50, "words": 5000, "top": 10, "sweeps": 50, "rounds": 3},
    quick={"topics": 5, "words": 500, "top": 5, "sweeps": 2, "rounds": 1},
)
Topics = list[list[str]]
Measure = Callable[[], np.ndarray]
WHOLE = 100_000  # words of a window, more than a document has


def run(options: SimpleNamespace) -> Result:
    """Measure the topics of a short LDA by all implementations."""
    data = load_newsgroups("train", remove=("headers", "footers", "quotes"))
    counts, _ = text_counts(data.views["text"], max_features=options.words)
    counts = counts[np.diff(counts.indptr) > 0]  # tomotopy keeps no empty documents
    lda = LDA(options.topics, n_iter=options.sweeps)
    lda.fit_transform(counts)
    topics = [
        [word for word, _ in lda.model_.get_topic_words(number, top_n=options.top)] for number in range(options.topics)
    ]
    texts, names = list(documents(counts)), [str(word) for word in range(counts.shape[1])]

    others = {("tomotopy", "npmi"): _tomotopy(texts, topics)}
    if importlib.util.find_spec("gensim") is not None:
        others |= {("gensim", measure): _gensim(texts, topics, measure) for measure in ("npmi", "cv")}
    columns = np.array(topics).astype(int)
    meeting = np.array([bool((_meetings(counts[:, words]) > 0).all()) for words in columns])
    rows = []
    for (name, measure), theirs in others.items():

        def ours(measure: str = measure) -> np.ndarray:
            return topic_coherence(topics, counts, names, measure)

        seconds = alternate({"harmonium": ours, name: theirs}, options.rounds)
        found, expected = ours(), theirs()
        difference = np.abs(found - expected)
        rows.append(
            [
                measure,
                name,
                float(found.mean()),
                float(expected.mean()),
                float(difference.max()),
                float(difference[meeting].max()) if meeting.any() else None,
                median(seconds["harmonium"]),
                median(seconds[name]),
            ]
        )
    result = Result()
    result.text(
        f"{counts.shape[0]:,} training documents × {options.words:,} words, the {options.top} most probable words of "
        f"{options.topics} topics of LDA; in {meeting.sum()} topics all words meet. Seconds are for all topics, the "
        f"median of {options.rounds} rounds that alternate, and include counting."
    )
    result.table(
        "coherence",
        dict.fromkeys(["measure", "rival", "mean here", "mean there"])
        | dict.fromkeys(["largest difference", "largest where all words meet"], "{:.1e}")
        | dict.fromkeys(["seconds here", "seconds there"]),
        rows,
    )
    return result


def _tomotopy(texts: list[list[str]], topics: Topics) -> Measure:
    from tomotopy.coherence import Coherence, ConfirmMeasure, ProbEstimation, Segmentation
    from tomotopy.utils import Corpus

    corpus = Corpus()
    for tokens in texts:
        corpus.add_doc(tokens)
    targets = {word for words in topics for word in words}

    def measured() -> np.ndarray:
        parts = (ProbEstimation.DOCUMENT, Segmentation.ONE_ONE, ConfirmMeasure.NPMI)
        coherence = Coherence(corpus, parts, targets=targets)
        return np.array([coherence.get_score(words=words) for words in topics])

    return measured


def _gensim(texts: list[list[str]], topics: Topics, measure: str) -> Measure:
    from gensim.corpora import Dictionary
    from gensim.models import CoherenceModel

    dictionary = Dictionary(texts)
    name = {"npmi": "c_npmi", "cv": "c_v"}[measure]

    def measured() -> np.ndarray:
        coherence = CoherenceModel(
            topics=topics, texts=texts, dictionary=dictionary, coherence=name, window_size=WHOLE, processes=1
        )
        return np.array(coherence.get_coherence_per_topic())

    return measured


def _meetings(counts: np.ndarray) -> np.ndarray:
    present = (counts > 0).astype(int)
    meetings: np.ndarray = (present.T @ present).toarray()
    return meetings
