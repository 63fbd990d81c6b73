"""Identities: the same weights are the same encoder, whatever their last digits; others are not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from harmonium.features.encoders import Encoder, EncoderIdentity
from harmonium.features.encoders.identity import PROBE_TEXTS
from tests.cases.encoders import Meanings


def of(change: Any) -> EncoderIdentity:
    return Encoder(lambda texts: change(Meanings().encode(texts)), name="changed").identity()


def test_last_digits_do_not_count_and_others_do() -> None:
    identity = Encoder(Meanings()).identity()
    noise = np.random.default_rng(0).normal(size=(len(PROBE_TEXTS), 8))
    assert (identity.name, identity.dimension, len(identity.digest)) == ("Meanings", 8, 64)
    assert identity.is_same(of(lambda rows: rows)) and identity.is_same(of(lambda rows: rows + 1e-5 * noise))
    for change in (
        lambda rows: 2 * rows,
        lambda rows: rows[:, ::-1],
        lambda rows: rows[:, :4],
        lambda rows: rows + noise,
    ):
        assert not identity.is_same(of(change))


def test_facts_come_back_and_others_are_refused() -> None:
    facts = Encoder(Meanings()).identity().facts()
    assert EncoderIdentity.restored(facts) == Encoder(Meanings()).identity()
    for change in (
        {"dimension": 0},
        {"dimension": 7},
        {"answers": [[float("nan")] * 8]},
        {"more": 1},
        {"dimension": True},
    ):
        with pytest.raises(ValueError):
            EncoderIdentity.restored({**facts, **change})


def test_pictures_are_asked_for_where_values_are_pictures() -> None:
    shapes = []

    def encode(pictures: list[np.ndarray]) -> np.ndarray:
        shapes.extend(picture.shape for picture in pictures)
        return np.array([picture.mean(axis=(0, 1)) for picture in pictures])

    assert Encoder(encode).identity(of_pictures=True).dimension == 3
    assert set(shapes) == {(64, 64, 3)}
