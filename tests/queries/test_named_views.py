"""Views whose features people read: words name topics, coordinates do not."""

from __future__ import annotations

from typing import Any

import numpy as np

from harmonium import Harmonium, Stochastic, Views
from harmonium.queries.named_views import named_views

RNG = np.random.default_rng(0)
WORDS = (RNG.random((40, 5)) < 0.5).astype(float)
COORDINATES = RNG.normal(size=(40, 32))


def named(views: Any) -> list[str]:
    return named_views(Harmonium(2, driver=Stochastic(max_iter=1), random_state=0).fit(views).fitted_)


def test_an_embedding_beside_words_is_not_read() -> None:
    assert named({"words": WORDS, "vector": COORDINATES}) == ["words"]
    names = {"words": list("abcde"), "vector": [f"gene {number}" for number in range(32)]}
    views = Views({"words": WORDS, "vector": COORDINATES}, feature_names=names)
    assert named(views) == ["words", "vector"]


def test_measurements_alone_are_read() -> None:
    assert named({"a": COORDINATES, "b": COORDINATES[:, :6]}) == ["a", "b"]
    assert named({"words": WORDS, "few": COORDINATES[:, :6]}) == ["words", "few"]
    assert named({"vector": COORDINATES}) == ["vector"]
