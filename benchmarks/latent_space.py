"""The latent space that a default classifier or regressor has: does it read, does it predict, and what does it take?

Each set is fitted with all defaults but the random state: ratings of hotels from counts of words, points of wines from
the words of their descriptions, classes of 20 Newsgroups (bodies without quotes and footers) and the ten largest topics
of Reuters-21578. Words are the 5,000 most frequent that are no stop words, of letters alone, in three texts or more.

Topics to read: NPMI over the training texts, and over test texts that no topic has seen (`topics()` ranks words by what
occurs together in training texts), of the ten words that `topics()` names, the share of different words among them
(diversity), topics that share fewer than half of their words with earlier ones (distinct), and the share of words that
come again with other seeds (stability). Explained is the share of the variance of words in test texts that least
squares on topics alone predict. NMF sees tf-idf with counts by logarithms, with as many topics; frequent words, ten by
ten, are the trivial baseline. Prediction: error on test rows beside a linear model whose preparation and strength
cross-validation chooses. Seconds of both include all choices, and kernels are compiled before.

The map: 1,500 test items where a model folder of them would put them, and where that of the training items places new
ones, beside t-SNE and PCA of their tf-idf (t-SNE after an SVD to 50 directions). Trustworthiness says whether the 15
nearest on the map are near by tf-idf; agreement is the share of them that have the same class or, for numbers, the part
of the variance that neighbours' means explain. Ours has seen classes and numbers of training items, t-SNE and PCA none.
"""

from __future__ import annotations

import time
import warnings
from types import SimpleNamespace
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.decomposition import NMF, PCA, TruncatedSVD
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.manifold import TSNE, trustworthiness
from sklearn.metrics.pairwise import cosine_distances
from sklearn.neighbors import NearestNeighbors

from benchmarks.comparing import error, r_squared
from benchmarks.features.words import few, reuters
from benchmarks.measuring import median, with_deviation
from benchmarks.registry import Benchmark
from benchmarks.results import Result
from benchmarks.rivals.prepared import RIVALS, trivial, tuned
from harmonium import HarmoniumClassifier, HarmoniumRegressor, Views
from harmonium.datasets import load_hotels, load_newsgroups, load_wines
from harmonium.metrics import topic_coherence, topic_diversity, topic_stability
from harmonium.model_folder import ItemMap

SETS = ("hotels", "wines", "20 Newsgroups", "Reuters-21578")
BENCHMARK = Benchmark(
    title="The latent space of a default model",
    claim="topics, prediction and seconds of a default classifier or regressor against NMF and a tuned linear model",
    minutes=3,
    data=("hotels", "wines", "newsgroups", "reuters21578"),
    settings={"sets": SETS, "words": 5000, "seeds": 3, "rows": 0},
    quick={"sets": ("hotels",), "words": 300, "seeds": 2, "rows": 200},
)
LETTERS = r"(?u)\b[a-zA-Z][a-zA-Z]+\b"
N_WORDS, N_MAPPED, N_NEAREST = 10, 1500, 15


class Task:
    """Counts of words and targets of training and test rows."""

    def __init__(self, name: str, words: int, rows: int) -> None:
        train, y, test, truth = _texts(name)
        kept, new = few(len(y), rows), few(len(truth), rows)
        vectorizer = CountVectorizer(max_features=words, stop_words="english", token_pattern=LETTERS, min_df=3)
        seen = vectorizer.fit_transform(np.asarray(train, dtype=object)[kept])
        counts = scipy.sparse.csr_array(seen, dtype=np.float32)
        full = np.flatnonzero(counts.sum(axis=1))
        self.names = vectorizer.get_feature_names_out().tolist()
        self.counts, self.y = counts[full], np.asarray(y)[kept][full]
        unseen = vectorizer.transform(np.asarray(test, dtype=object)[new])
        self.unseen, self.truth = scipy.sparse.csr_array(unseen, dtype=np.float32), np.asarray(truth)[new]
        self.classes = name not in ("hotels", "wines")

    def wrong(self, predicted: np.ndarray) -> float:
        """Return the share of wrong classes, or 1 - R²."""
        return error(self.truth, predicted) if self.classes else 1 - r_squared(self.truth, predicted)

    def fitted(self, seed: int) -> tuple[Any, float]:
        """Return a model with all defaults, and its seconds."""
        kind = HarmoniumClassifier if self.classes else HarmoniumRegressor
        views = Views({"words": self.counts}, feature_names={"words": self.names})
        begin = time.perf_counter()
        model = kind(random_state=seed).fit(views, self.y)
        return model, time.perf_counter() - begin

    def topics_of(self, model: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return how much training and test texts have of each topic."""
        seen, unseen = (model.transform({"words": words}) for words in (self.counts, self.unseen))
        return seen[:, : model.n_topics_], unseen[:, : model.n_topics_]

    def reading(self, topics: list[list[list[str]]]) -> list[Any]:
        """Return coherence on both kinds of texts, diversity, the share of distinct topics, and stability over fits."""
        coherence, unseen = (
            [topic_coherence(found, counts, self.names).mean() for found in topics]
            for counts in (self.counts, self.unseen)
        )
        diversity = np.mean([topic_diversity(found) for found in topics])
        stability = topic_stability(topics).mean() if len(topics) > 1 else None
        share = np.mean([distinct(found) for found in topics])
        return [with_deviation(coherence), with_deviation(unseen), diversity, share, stability]


def _texts(name: str) -> tuple[Any, Any, Any, Any]:
    if name == "hotels":
        (train, y), (test, truth) = load_hotels().train(), load_hotels().test()
        return train["text"], y, test["text"], truth
    if name == "wines":
        table = load_wines().dropna(subset=["description"])
        order = np.random.default_rng(0).permutation(len(table))
        first, second = table.iloc[order[: len(table) // 2]], table.iloc[order[len(table) // 2 :]]
        return first["description"], first["points"], second["description"], second["points"]
    if name == "20 Newsgroups":
        loaded = load_newsgroups(remove=("headers", "footers", "quotes"))
        texts, y = np.asarray(loaded.views["text"], dtype=object), np.asarray(loaded.target)
        train, test = loaded.split == "train", loaded.split == "test"
        return texts[train], y[train], texts[test], y[test]
    stories = reuters(10)
    return stories.train, stories.y, stories.test, stories.truth


def distinct(topics: list[list[str]]) -> float:
    """Return the share of topics that share fewer than half of their words with each earlier one."""
    kept: list[set[str]] = []
    for words in map(set, topics):
        if all(len(words & other) < len(words) / 2 for other in kept):
            kept.append(words)
    return len(kept) / len(topics)


def nmf(task: Task, n_topics: int, seed: int) -> tuple[list[list[str]], float, float]:
    """Return the topics of NMF on tf-idf, its seconds, and what it explains of test texts."""
    begin = time.perf_counter()
    tfidf = TfidfTransformer(sublinear_tf=True)
    weighted = tfidf.fit_transform(task.counts)
    model = NMF(n_topics, init="nndsvdar", max_iter=300, random_state=seed).fit(weighted)
    order = np.argsort(-model.components_, axis=1, kind="stable")[:, :N_WORDS]
    seconds = time.perf_counter() - begin
    share = explained(task, model.transform(weighted), model.transform(tfidf.transform(task.unseen)))
    return [[task.names[word] for word in row] for row in order], seconds, share


def explained(task: Task, seen: np.ndarray, unseen: np.ndarray) -> float:
    """Return the share of the variance of words that are present in test texts, by least squares on coordinates."""
    present, new = ((words > 0).astype(np.float32) for words in (task.counts, task.unseen))
    mean = np.asarray(present.mean(axis=0)).ravel()
    seen, unseen = (np.column_stack([np.ones(len(rows)), rows]) for rows in (seen, unseen))
    weights = np.linalg.solve(seen.T @ seen + 1e-3 * np.eye(seen.shape[1]), np.asarray(present.T @ seen).T)

    def squares(predicted: np.ndarray) -> float:
        # ‖x - p‖² = ‖x‖² - 2 x·p + ‖p‖², which leaves the words sparse
        return float(new.sum() - 2 * new.multiply(predicted).sum() + np.square(predicted).sum())

    return 1 - squares(unseen @ weights) / squares(np.broadcast_to(mean, new.shape))


def frequent(task: Task, n_topics: int) -> list[list[str]]:
    """Return the most frequent words, ten by ten."""
    order = np.argsort(-np.asarray(task.counts.sum(axis=0)).ravel(), kind="stable")[: n_topics * N_WORDS]
    return [[task.names[word] for word in row] for row in order.reshape(-1, N_WORDS)]


def maps(task: Task, model: Any) -> list[list[Any]]:
    """Return trustworthiness and agreement of neighbours, for the map of a model and its rivals."""
    rows = few(len(task.truth), N_MAPPED)
    rows = rows[np.diff(task.unseen.indptr)[rows] > 0]
    weighted = TfidfTransformer(sublinear_tf=True).fit_transform(task.unseen[rows])
    directions = TruncatedSVD(min(50, weighted.shape[1] - 1), random_state=0).fit_transform(weighted)
    coordinates = model.search_coordinates({"words": task.unseen[rows]})
    of_training = ItemMap().fit(model.search_coordinates({"words": task.counts}))
    placed = {
        "all defaults": ItemMap().fit_transform(coordinates),
        "all defaults, new items": of_training.transform(coordinates),
        "t-SNE of tf-idf": TSNE(random_state=0).fit_transform(directions),
        "PCA of tf-idf": PCA(2).fit_transform(weighted.toarray()),
        "random places": np.random.default_rng(0).random((len(rows), 2)),
    }
    distance, found = cosine_distances(weighted), []
    for name, places in placed.items():
        nearest = NearestNeighbors(n_neighbors=N_NEAREST).fit(places).kneighbors(return_distance=False)
        y = task.truth[rows]
        same = np.mean(y[nearest] == y[:, None]) if task.classes else r_squared(y, y[nearest].mean(axis=1))
        near = trustworthiness(distance, places, n_neighbors=N_NEAREST, metric="precomputed")
        found.append([name, near, float(same)])
    return found


def run(options: SimpleNamespace) -> Result:
    """Fit all defaults and the rivals to each set."""
    warnings.simplefilter("ignore")
    reading: list[list[Any]] = []
    predicting: list[list[Any]] = []
    mapped: list[list[Any]] = []
    printed: dict[str, Any] = {}
    for name in options.sets:
        task = Task(name, options.words, options.rows)
        task.fitted(0)  # compiles
        models, seconds = zip(*(task.fitted(seed) for seed in range(options.seeds)), strict=True)
        topics = [[list(row) for row in model.topics(n=N_WORDS).to_numpy()] for model in models]
        n_topics = len(topics[0])
        others, took, shares_of_nmf = zip(*(nmf(task, n_topics, seed) for seed in range(options.seeds)), strict=True)
        own_share = np.mean([explained(task, *task.topics_of(model)) for model in models])
        reading.append([name, "all defaults", n_topics, *task.reading(topics), own_share, median(seconds)])
        reading.append([name, "NMF", n_topics, *task.reading(list(others)), np.mean(shares_of_nmf), median(took)])
        baseline = frequent(task, n_topics)
        reading.append([name, "frequent words", n_topics, *task.reading([baseline])[:4], None, 0.0, None])
        rival = "linear SVM" if task.classes else "ridge"
        found = tuned(RIVALS[rival], {"words": task.counts}, task.y, {"words": task.unseen})
        wrong = [task.wrong(model.predict({"words": task.unseen})) for model in models]
        shares = ", ".join(f"{part} {share:.2f}" for part, share in models[0].fitted_.shares.items())
        nothing = task.wrong(trivial(task.y, len(task.truth), task.classes).predicted)
        own = median(seconds)
        ratio = own / found.seconds
        theirs = task.wrong(found.predicted)
        predicting.append([name, with_deviation(wrong), rival, theirs, nothing, shares, own, ratio])
        mapped += [[name, *row] for row in maps(task, models[0])]
        printed[name] = (topics[0], topic_coherence(topics[0], task.counts, task.names))
        print(reading[-3], reading[-2], predicting[-1], sep="\n", flush=True)
    result = Result()
    result.text(f"Means of {options.seeds} seeds ± standard deviation; shares are those of the first seed.")
    columns = (
        "data",
        "topics of",
        "number",
        "NPMI",
        "NPMI, test texts",
        "diversity",
        "distinct",
        "stability",
        "explained",
        "s",
    )
    result.table("reading", columns, reading)
    columns = ("data", "error, all defaults", "tuned rival", "its error", "trivial", "shares", "s", "times as long")
    result.table("predicting", columns, predicting)
    result.table("maps", ("data", "map", "trustworthiness", "agreement of neighbours"), mapped)
    for name, (topics, npmi) in printed.items():
        result.heading(f"All topics of the default model, {name}, first seed")
        pairs = enumerate(zip(topics, npmi, strict=True))
        rows = [[number, ", ".join(words), value] for number, (words, value) in pairs]
        result.table(f"topics of {name}", {"topic": "{:d}", "words": None, "NPMI": "{:.2f}"}, rows)
    return result
