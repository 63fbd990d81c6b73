"""Searches by words, judged by what guests rated: dirty rooms, rude staff, and what is denied."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.registry import Benchmark
from benchmarks.results import Result
from harmonium import HarmoniumRegressor, ModelFolder, TableViews, TopicModel
from harmonium.estimators.input import known_views
from harmonium.model_folder.query_views import query_views

BENCHMARK = Benchmark(
    title="Judged searches",
    claim="searches by words in reviews of hotels, judged by the ratings of cleanliness, service, … that guests gave, "
    "and in made-up reviews with denials: passages beside topics and words",
    minutes=3,
    data=("hotels",),
    settings={"rows": 3500, "made_up": 600, "n": 10, "seeds": 3},
    quick={"rows": 300, "made_up": 100, "seeds": 1},
)
#: what somebody types, and what the ratings of a review must be
_JUDGED: dict[str, dict[str, tuple[int, ...]]] = {
    "dirty room, rude staff": {"cleanliness": (1, 2), "service": (1, 2)},
    "dirty room rude staff": {"cleanliness": (1, 2), "service": (1, 2)},
    "dirty bathroom": {"cleanliness": (1, 2)},
    "room was not clean": {"cleanliness": (1, 2)},
    "stained carpet and dirty sheets": {"cleanliness": (1, 2)},
    "rude front desk": {"service": (1, 2)},
    "staff not helpful": {"service": (1, 2)},
    "unhelpful and unfriendly staff": {"service": (1, 2)},
    "bad service": {"service": (1, 2)},
    "not worth the money": {"value": (1, 2)},
    "overpriced": {"value": (1, 2)},
    "good value for money": {"value": (4, 5)},
    "small uncomfortable room": {"rooms": (1, 2)},
    "comfortable bed, spacious room": {"rooms": (4, 5)},
    "bad location": {"location": (1, 2)},
    "far from everything": {"location": (1, 2)},
    "perfect location": {"location": (5,)},
    "spotless room, friendly staff": {"cleanliness": (5,), "service": (5,)},
    "not dirty, not noisy": {"cleanliness": (3, 4, 5)},
    "no complaints": {"overall": (4, 5)},
}
# made-up sentences of an aspect: plain words for the bad and the good side, so that either may be denied
_ASPECTS = {
    "room": ("dirty", "clean"),
    "staff": ("rude", "friendly"),
    "street": ("noisy", "quiet"),
    "bed": ("hard", "comfortable"),
}
_PLAIN = ("the {noun} was {word}", "a {word} {noun}", "we had a very {word} {noun} on our first night")
_DENIED = ("the {noun} was not {word}", "never a {word} {noun}", "we found no {word} {noun} at all")


def run(options: SimpleNamespace) -> Result:
    """Ask each query of a folder, and count the items that are what it says."""
    result = Result()
    result.text(
        f"Share of the {options.n} best items that are what a query says. Hotels: {options.rows:,} reviews (the last "
        "ones of the file; the first 1,500 served to design passages), judged by the ratings of the same review, which "
        "no search reads. Made-up reviews have sentences on some of four aspects, half of them by a denial of the "
        f"opposite; an item is right if all aspects of a query are as it says. {options.seeds} seeds of the model and "
        "of the made-up reviews. “Topics and words” is the search without passages, “words” the cosine of tf-idf."
    )
    hotels = _hotels().tail(options.rows).reset_index(drop=True)
    rows, each = [], []
    for name, ask in (("hotels", _ask_hotels), ("made-up reviews", _ask_made_up)):
        found = pd.concat([ask(hotels, options, seed) for seed in range(options.seeds)])
        means = found.groupby("query", sort=False).mean()
        rows.append([name, len(means), *means.mean().tolist()])
        each += [[name, query, *shares] for query, *shares in means.itertuples()]
    names = ["passages, topics and words", "topics and words", "words", "any item"]
    result.table("means", ["data", "queries", *names], rows)
    result.table("queries", ["data", "query", *names], each)
    return result


def _hotels() -> pd.DataFrame:
    return pd.read_json(Path(os.environ["HARMONIUM_DATA"]) / "hotels" / "ratings.jsonl.gz", lines=True)


def _ask_hotels(hotels: pd.DataFrame, options: SimpleNamespace, seed: int) -> pd.DataFrame:
    """Return the share of right items for each query about hotels."""
    model = HarmoniumRegressor(views=TableViews({"text": "words"}), random_state=seed)
    model.fit(hotels[["text"]], hotels["overall"])
    right = {
        query: np.all([hotels[name].isin(values) for name, values in wanted.items()], axis=0)
        for query, wanted in _JUDGED.items()
    }
    return _shares(model, hotels[["text"]], right, options.n)


def _ask_made_up(hotels: pd.DataFrame, options: SimpleNamespace, seed: int) -> pd.DataFrame:
    """Return the share of right items for each query about made-up reviews."""
    texts, truth = made_up_reviews(options.made_up, seed)
    frame = pd.DataFrame({"text": texts})
    model = TopicModel(10, views=TableViews({"text": "words"}), random_state=seed).fit(frame)
    right = {}
    for noun, words in _ASPECTS.items():
        for bad, word in zip((1, 0), words, strict=True):
            right[f"{word} {noun}"] = truth[noun] == bad
            right[f"not {word} {noun}"] = truth[noun] == 1 - bad
    right["dirty room, rude staff"] = (truth["room"] == 1) & (truth["staff"] == 1)
    right["quiet street and comfortable bed"] = (truth["street"] == 0) & (truth["bed"] == 0)
    right["friendly staff but not clean room"] = (truth["staff"] == 0) & (truth["room"] == 1)
    return _shares(model, frame, right, options.n)


def made_up_reviews(n_rows: int, seed: int) -> tuple[list[str], pd.DataFrame]:
    """Return reviews of some aspects each, and for each aspect 1 (bad), 0 (good) or NaN (not mentioned)."""
    rng = np.random.default_rng(seed)
    truth = pd.DataFrame({noun: rng.choice([1.0, 0.0, np.nan], n_rows, p=[0.3, 0.4, 0.3]) for noun in _ASPECTS})
    texts = []
    for row in truth.itertuples(index=False):
        sentences = []
        for (noun, words), bad in zip(_ASPECTS.items(), row, strict=True):
            if np.isnan(bad):
                continue
            denied = rng.random() < 0.5
            word = words[0] if bool(bad) != denied else words[1]
            sentences.append(rng.choice(_DENIED if denied else _PLAIN).format(noun=noun, word=word))
        rng.shuffle(sentences)
        sentences = sentences or ["we stayed for three nights"]
        texts.append(". ".join(sentence.capitalize() for sentence in sentences) + ".")
    return texts, truth


def _shares(model: Any, frame: pd.DataFrame, right: dict[str, Any], n: int) -> pd.DataFrame:
    """Return, for each query, the share of right items among the best of each way to search, and among all."""
    rows = []
    with TemporaryDirectory() as parent:
        folder = ModelFolder.create(f"{parent}/folder", model, frame)
        words = folder._contents.words
        assert words is not None
        for query, is_right in right.items():
            is_right = np.asarray(is_right, dtype=float)
            views = known_views(model, query_views(model, query))
            weights = words.query_weights(views)
            ways = (
                folder.search(query, n)["row"],
                folder.index.query(model.search_coordinates(views), weights, n)["row"],
                np.argsort(-words.similarity(weights)[0], kind="stable")[:n],
            )
            rows.append([query, *(is_right[way].mean() for way in ways), is_right.mean()])
    return pd.DataFrame(rows, columns=["query", "passages", "index", "words", "all"])
