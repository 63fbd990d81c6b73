"""Interpretable features of the tone and the form of texts."""

import os
from pathlib import Path

import numpy as np
import pytest

from harmonium.datasets import load_hotels
from harmonium.features.contextual import (
    CONTEXTUAL_FEATURES,
    NEGATIVE_ADJECTIVES,
    POSITIVE_ADJECTIVES,
    contextual_features,
)

HOTELS = Path(os.environ.get("HARMONIUM_DATA", "")) / "hotels" / "ratings.jsonl.gz"


def counts(text: str) -> dict[str, float]:
    """The features of one text, with the logarithm undone."""
    features, names = contextual_features([text])
    return dict(zip(names, np.expm1(features[0].astype(np.float64)).round(4).tolist(), strict=True))


def test_adjectives_are_plain_words_of_one_kind() -> None:
    assert len(POSITIVE_ADJECTIVES) >= 140 and len(NEGATIVE_ADJECTIVES) >= 140
    assert not POSITIVE_ADJECTIVES & NEGATIVE_ADJECTIVES
    assert all(word.isalpha() and word.islower() for word in POSITIVE_ADJECTIVES | NEGATIVE_ADJECTIVES)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A good, clean place.", (2, 0, 0, 0, 0)),
        ("Not a very good place", (0, 1, 0, 0, 1)),
        ("Not at all what anyone calls good", (1, 0, 0, 0, 1)),
        ("No. Good!", (1, 0, 0, 0, 1)),
        ("It isn't dirty", (0, 0, 0, 1, 1)),
        ("It isn’t dirty, it was TERRIBLE", (0, 0, 1, 1, 1)),
        ("It didnt seem noisy and was not great", (0, 1, 0, 1, 2)),
        ("never dirty\nor noisy", (0, 0, 0, 2, 1)),
        ("never\n\ndirty", (0, 0, 1, 0, 1)),
        ("", (0, 0, 0, 0, 0)),
    ],
)
def test_adjectives_are_turned_round_by_denying_words(text: str, expected: tuple[int, ...]) -> None:
    found = counts(text)
    names = ("pos_adj", "re_pos_adj", "neg_adj", "re_neg_adj", "denying")
    assert tuple(found[name] for name in names) == expected


def test_form_of_a_text() -> None:
    found = counts("WOW!! I've paid 3.50 for the TV... But why?\n\nWe really, REALLY liked your UK staff")
    expected = {"exclamation": 2, "question": 1, "shouted": 2, "contrast": 1, "pronoun": 3, "intensifier": 2}
    assert {name: found[name] for name in expected} == expected
    assert (found["sentences"], found["words"], found["sentence_length"]) == (4, 15, 3.75)


def test_features_are_finite_and_named() -> None:
    texts = ["", "...", "1 2 3", "Grand.", "good " * 5000]
    features, names = contextual_features(iter(texts))
    assert features.shape == (5, 14) and features.dtype == np.float32 and names == list(CONTEXTUAL_FEATURES)
    assert np.isfinite(features).all() and features.min() == 0 and features.max() < 9
    assert not features[:3].any()
    assert contextual_features([])[0].shape == (0, 14)
    with pytest.raises(TypeError, match="put it in a list"):
        contextual_features("one string")


@pytest.mark.skipif(not HOTELS.is_file(), reason="needs HARMONIUM_DATA with the folder hotels")
def test_signs_agree_with_the_ratings_of_hotels() -> None:
    views, ratings = load_hotels().train()
    features, names = contextual_features(views["text"])
    correlation = {name: np.corrcoef(column, ratings)[0, 1] for name, column in zip(names, features.T, strict=True)}
    assert correlation["pos_adj"] > 0.35 and correlation["neg_adj"] < -0.4
    assert correlation["re_pos_adj"] < -0.1 and correlation["denying"] < -0.2
    assert correlation["re_neg_adj"] > correlation["neg_adj"] + 0.3
    assert correlation["contrast"] < 0 < correlation["exclamation"]
    assert (features.std(axis=0) > 0.2).all() and (features.std(axis=0) < 1.2).all()
