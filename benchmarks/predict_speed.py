"""Predictions for a raw table of texts: a model folder against CountVectorizer + LinearSVC on the same table."""

from __future__ import annotations

from tempfile import TemporaryDirectory
from types import SimpleNamespace

import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.svm import LinearSVC

from benchmarks.measuring import alternate, median
from benchmarks.registry import Benchmark
from benchmarks.results import Result
from harmonium import HarmoniumClassifier, Hinge, ModelFolder, Stochastic, TableViews
from harmonium.datasets import load_hotels

BENCHMARK = Benchmark(
    title="Prediction speed on a raw table of texts",
    claim="`ModelFolder.predict` against CountVectorizer + LinearSVC on a table of 30,000 reviews",
    minutes=10,
    data=("hotels",),
    settings={"rows": 30_000, "topics": 50, "rounds": 3},
    quick={"rows": 2000, "rounds": 2},
)
GOAL = 1.3


def run(options: SimpleNamespace) -> Result:
    """Time predictions from texts to classes."""
    data = load_hotels()
    texts = np.array(data.views["text"], dtype=object)
    good = np.asarray(data.target) >= 4
    train = pd.DataFrame({"text": texts[:2000]})
    # how long a prediction takes does not depend on how long a model was trained
    model = HarmoniumClassifier(
        options.topics,
        views=TableViews({"text": "words"}),
        head=Hinge(C=1.0),
        driver=Stochastic(max_iter=1),
        validation_fraction=0.0,
        random_state=0,
    ).fit(train, good[:2000])
    words = CountVectorizer(min_df=2, max_features=20_000)
    rival = LinearSVC(dual=True).fit(words.fit_transform(train["text"]), good[:2000])
    table = pd.DataFrame({"text": texts[np.arange(options.rows) % len(texts)]})
    with TemporaryDirectory() as place:
        folder = ModelFolder.create(f"{place}/model", model, train)
    seconds = alternate(
        {
            "folder": lambda: folder.predict(table),
            "rival": lambda: rival.predict(words.transform(table["text"])),
        },
        options.rounds,
    )
    ratio = median([a / b for a, b in zip(seconds["folder"], seconds["rival"], strict=True)])
    result = Result()
    result.text(
        f"{options.rows:,} reviews as they are, {options.topics} topics, {len(words.vocabulary_):,} words; in turn, "
        f"median of {options.rounds}. The folder also gives the probability of each prediction. Goal: at most {GOAL} "
        f"times the rival (here {ratio:.2f})."
    )
    result.table(
        "prediction",
        ["method", "seconds", "rows/s", "time / rival's"],
        [
            ["ModelFolder.predict", median(seconds["folder"]), options.rows / median(seconds["folder"]), ratio],
            ["CountVectorizer + LinearSVC", median(seconds["rival"]), options.rows / median(seconds["rival"]), 1.0],
        ],
    )
    return result
