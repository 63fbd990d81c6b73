"""Labels of topics: the same everywhere, free of function words and of names that stand in one item only."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from harmonium import Harmonium, ModelFolder, Stochastic, TableViews
from harmonium.cli import app
from harmonium.core.parts import registered
from harmonium.explore.handlers import Handlers
from harmonium.families import Binomial
from harmonium.features._function_words import FUNCTION_WORDS, are_function_words
from harmonium.queries.topics.features import function_words
from harmonium.report import near_duplicates, summarise, topic_labels, topic_table
from tests.cases.explore import small_folder
from tests.cases.persist import COUNTS, DATA

THEMES = ["beach sand palm sea shell wave", "desk printer office chair paper lamp", "soup bread cheese salad wine cake"]
FEW = {"driver": Stochastic(max_iter=8, learning_rate=0.05), "random_state": 0}


def texts(glue: str, n: int = 240) -> list[str]:
    """Texts of three themes, each held together by function words of its own."""
    rng, ties = np.random.default_rng(0), [part.split() for part in glue.split("|")]
    found = []
    for row in range(n):
        theme = row % 3
        words = [*rng.choice(THEMES[theme].split(), 4, replace=False), *rng.choice(ties[theme], 3)]
        found.append(" ".join(words))
    return found


# ---- views of every family ---------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", sorted(registered("family")))
def test_every_family_has_labels(name: str) -> None:
    """Where columns have several statistics, labels name the first of them."""
    family: Any = Binomial(4) if name == "Binomial" else registered("family")[name]()
    X = {"x": DATA.get(name, np.clip(COUNTS, family.support.lower, family.support.upper))}
    model = Harmonium(2, views={"x": family}, driver=Stochastic(max_iter=2), random_state=0).fit(X)
    first = next(iter(model.families_["x"].codec.feature_groups.values()))
    names = [part for label in topic_labels(model) for part in label.removesuffix(" (2)").split(", ")]
    assert set(names) <= set(model.fitted_.feature_names["x"][first])
    assert set(near_duplicates(model, X, 1e-9)["label"]) <= set(topic_labels(model))


# ---- which words are function words ------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("sentence", "content"),
    [
        ("the room was on the second floor of it", {"room", "second", "floor"}),
        ("das zimmer war in der mitte und die dusche hat mit dem man", {"zimmer", "mitte", "dusche"}),
        ("la chambre est dans le centre mais pour les enfants", {"chambre", "centre", "enfants"}),
        ("la habitación está en el centro pero sin baño", {"habitación", "centro", "baño"}),
        ("la camera è nel centro ma non come questa", {"camera", "centro"}),
        ("o quarto não está em uma rua", {"quarto", "rua"}),
        ("het hotel ligt niet aan de straat van het dorp", {"hotel", "ligt", "straat", "dorp"}),
        ("rummet är inte på gatan men det var bra", {"rummet", "gatan", "bra"}),
        ("værelset er ikke på gaden men det var godt", {"værelset", "gaden", "godt"}),
        ("pokój nie jest na ulicy ale to jest", {"pokój", "ulicy"}),
        ("номер не был на улице и это", {"номер", "улице"}),
    ],
)
def test_sentences_keep_what_they_are_about(sentence: str, content: set[str]) -> None:
    words = sorted(set(sentence.split()))
    frequency = np.array([sentence.split().count(word) for word in words], dtype=float)
    assert set(np.array(words)[~are_function_words(words, frequency)]) == content


def test_words_that_mean_something_in_another_language_are_kept() -> None:
    words = ["the", "and", "of", "die", "van", "door", "war", "sea", "car", "son", "mais", "und"]
    found = are_function_words(words, np.r_[9.0, 9.0, 9.0, np.ones(9)])
    assert np.array(words)[~found].tolist() == ["die", "van", "door", "war", "sea", "car", "son"]
    for clear, doubtful in FUNCTION_WORDS.values():
        assert not clear & doubtful and all(word == word.lower() for word in clear | doubtful)


# ---- labels ------------------------------------------------------------------------------------------------------
def test_labels_of_texts_have_no_function_words() -> None:
    glue = ["when they had", "mais les de", "und der auch"]
    frame = pd.DataFrame({"text": texts("|".join(glue))})
    model = Harmonium(3, views=TableViews({"text": "words"}), **FEW).fit(frame)
    content = set(" ".join(THEMES).split())
    assert set(model.topics(n=6).to_numpy().ravel()) <= content
    assert {word for label in topic_labels(model) for word in label.split(", ")} <= content
    assert {word for line in topic_table(model, n_features=6)["text"] for word in line.split(", ")} <= content
    assert "when" in model.fitted_.feature_names["text"]  # the model knows it
    assert model.topics(n=None, by="effect").loc["when"].any()


def test_features_that_are_no_words_are_never_dropped() -> None:
    """A table of numbers or tags may have columns called like function words."""
    rng = np.random.default_rng(0)
    kind = rng.integers(2, size=200)
    counts = pd.DataFrame(
        {
            name: rng.poisson(np.where(kind == number % 2, 4, 0.5))
            for number, name in enumerate(["de", "en", "es", "it"])
        }
    )
    model = Harmonium(2, views="poisson", **FEW).fit(counts)
    assert model.topics(n=None).all(axis=None)
    tags = pd.DataFrame({"tags": np.where(kind == 1, "de|es", "en|it")})
    model = Harmonium(2, views=TableViews({"tags": "tags"}), **FEW).fit(tags)
    labels = [label.removesuffix(" (2)") for label in topic_labels(model)]  # both units may speak of the same tags
    assert set(", ".join(labels).split(", ")) <= {"de", "es", "en", "it"}


def test_topics_of_function_words_alone_keep_them() -> None:
    frame = pd.DataFrame({"text": ["the of and", "und der die"] * 60})
    model = Harmonium(2, views=TableViews({"text": "words"}), **FEW).fit(frame)
    assert all(topic_labels(model) != "–")


def vocabulary(n: int, seed: int = 0) -> tuple[np.ndarray, list[str]]:
    """Presence of many words, of which the first ten are in most texts and the last in one."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(3, size=n)
    rate = np.where(np.arange(120) % 3 == kind[:, None], 0.3, 0.05)
    rate[:, :10] = np.where(np.arange(10) % 3 == kind[:, None], 0.95, 0.6)
    X = (rng.random((n, 120)) < rate).astype(float)
    X[:, -1] = 0
    X[np.argmax(kind == 2), -1] = 1
    names = ["the", "and", "to", "was", "we", "in", "of", "hotel", "room", "stay"]
    return X, [*names, *(f"word{number}" for number in range(109)), "drisco"]


@pytest.mark.parametrize("n", [60, 300])
def test_words_of_most_texts_and_of_one_are_not_ranked(n: int) -> None:
    """Words are known without a table where the most frequent ones are function words."""
    X, names = vocabulary(n)
    model = Harmonium(3, **FEW).fit({"words": pd.DataFrame(X, columns=names)})
    shown = set(model.topics(n=15).to_numpy().ravel())
    assert not shown & {*names[:10], "drisco"}
    plain = [f"gene{number}" for number in range(120)]
    genes = Harmonium(3, **FEW).fit({"genes": pd.DataFrame(X, columns=plain)})
    assert not function_words(genes.fitted_, "genes").any()  # what is frequent is no function word


# ---- one label ---------------------------------------------------------------------------------------------------
def test_labels_are_the_same_everywhere(tmp_path: Path) -> None:
    folder = small_folder(tmp_path)
    labels = topic_labels(folder.model).to_dict()
    assert {topic["topic"]: topic["label"] for topic in folder.summary()["topics"]} == labels
    assert {topic["topic"]: topic["label"] for topic in summarise(folder)["topics"]} == labels
    answers = Handlers(ModelFolder.open(folder.path))
    assert {topic["topic"]: topic["label"] for topic in answers.topics()["topics"]} == labels
    assert {topic["topic"]: topic["label"] for topic in answers.item(0)["explanation"]["topics"]} == labels
    told = CliRunner().invoke(app, ["topics", str(folder.path), "--json"])
    assert {topic["topic"]: topic["label"] for topic in json.loads(told.stdout)} == labels
    printed = CliRunner().invoke(app, ["topics", str(folder.path)]).stdout
    assert all(
        line.split(": ")[1].split(", for")[0].split(", against")[0] in labels.values()
        for line in printed.splitlines()
        if line.startswith("topic")
    )
    assert folder.explain(0).labels == list(labels.values())
