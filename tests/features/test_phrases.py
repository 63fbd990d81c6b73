"""Phrases: those of a planted text are found, as the formula says, and read again from new rows."""

from __future__ import annotations

from itertools import pairwise
from math import log
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import harmonium
from harmonium import Harmonium, Stochastic, TableViews
from harmonium.features.phrases import find_phrases
from harmonium.tables import Words

RNG = np.random.default_rng(0)
FILLER = [f"word{number}" for number in range(40)]


def text(phrase: str) -> str:
    words = [str(word) for word in RNG.choice(FILLER, 6)]
    return " ".join([*words[:3], phrase, *words[3:]])


TEXTS = [text(["thin walls", "bed and breakfast", "room"][row % 3]) for row in range(300)]


def test_planted_phrases_are_found_and_only_those() -> None:
    assert find_phrases(TEXTS) == ["bed and breakfast", "thin walls"]
    assert find_phrases(TEXTS, max_words=2) == ["thin walls"]
    assert find_phrases(TEXTS, min_texts=101) == [] and find_phrases([]) == []


def test_pairs_are_those_of_the_formula() -> None:
    lists = [line.split() for line in TEXTS]
    n = sum(map(len, lists))
    singles = pd.Series([word for words in lists for word in words]).value_counts()
    pairs = pd.Series([pair for words in lists for pair in pairwise(words)])
    counts, texts = pairs.value_counts(), pd.Series([p for w in lists for p in set(pairwise(w))]).value_counts()

    def npmi(pair: tuple[str, str]) -> float:
        together = counts[pair] / n
        return log(together / (singles[pair[0]] / n * singles[pair[1]] / n)) / -log(together)

    expected = [p for p in counts.index if texts[p] >= 3 and "and" not in p and npmi(p) >= 0.15]
    assert find_phrases(TEXTS, 2, 3, 0.15) == sorted(" ".join(pair) for pair in expected) and len(expected) > 5


def test_a_model_of_phrases_is_kept_and_reads_new_rows(tmp_path: Path) -> None:
    frame = pd.DataFrame({"text": TEXTS, "n": np.arange(300.0)})
    reader = TableViews({"text": Words(phrases=True), "n": "number"})
    model = Harmonium(2, views=reader, driver=Stochastic(max_iter=2), random_state=0).fit(frame)
    assert "2 phrases" in model.views_.loc["text", "note"]
    names = model.fitted_.feature_names["text"]
    model.save(tmp_path / "model")
    loaded = harmonium.load(tmp_path / "model")
    new = pd.DataFrame({"text": ["Thin walls!", "walls, thin"], "n": [0.0, 0.0]})
    np.testing.assert_array_equal(loaded.transform(new), model.transform(new))
    assert {"thin", "walls", "thin walls"} <= set(names)
    assert not np.array_equal(*model.transform(new))


def test_one_text_is_refused() -> None:
    with pytest.raises(TypeError, match="put it in a list"):
        find_phrases("thin walls")
