"""Encoders: each value once, refused in a sentence, told from others."""

from __future__ import annotations

from copy import deepcopy

import numpy as np
import pytest

from harmonium.features.encoders import Encoder, as_encoder
from tests.cases.bad_input import assert_one_sentence
from tests.cases.encoders import Meanings


def test_values_are_encoded_once_and_come_in_order() -> None:
    model = Meanings()
    encoder = as_encoder(model)
    rows = encoder(["noise", "eggs", "noise"])
    assert model.asked == [2] and rows.dtype == np.float32
    np.testing.assert_array_equal(rows, Meanings().encode(["noise", "eggs", "noise"]).astype(np.float32))
    np.testing.assert_array_equal(encoder(["eggs", "loud"])[0], rows[1])
    assert model.asked == [2, 1]
    assert deepcopy(encoder) is encoder


def test_objects_that_encode_are_preferred_to_their_call() -> None:
    class Callable(Meanings):
        def __call__(self, texts: list[str]) -> np.ndarray:
            raise AssertionError

    assert as_encoder(Callable())(["noise"]).shape == (1, 8)
    assert as_encoder(lambda texts: [[len(text)] for text in texts])(["ab", "c"]).tolist() == [[2.0], [1.0]]


def test_a_matrix_is_known_by_its_texts() -> None:
    encoder = Encoder(name="computed elsewhere").remember(["a", "b"], [[1, 2], [3, 4]])
    assert encoder(["b", "a"]).tolist() == [[3, 4], [1, 2]]
    assert encoder.identity().is_same(Encoder(name="computed elsewhere").remember(["c"], [[0, 0]]).identity())
    assert not encoder.identity().is_same(Encoder(name="another").remember(["c"], [[0, 0]]).identity())
    with pytest.raises(ValueError) as error:
        encoder(["c"])
    assert_one_sentence(str(error.value))
    with pytest.raises(TypeError, match="which row belongs to which text"):
        as_encoder(np.eye(2))


def test_answers_go_on_to_the_same_encoder_alone() -> None:
    one = as_encoder(Meanings())
    kept = {one.identity().digest: one.answers_to(["noise", "eggs", "noise"])}
    assert kept[one.identity().digest][0].shape == (2, 32)
    model = Meanings()
    again, other = as_encoder(model), Encoder(lambda texts: np.ones((len(texts), 8)))
    for encoder in (again, other):
        encoder.offer(kept)
        encoder.identity()
    asked = len(model.asked)
    np.testing.assert_array_equal(again(["eggs"]), one(["eggs"]))
    assert len(model.asked) == asked and (other(["eggs"]) == 1).all()
    restored = Encoder.restored(one.identity(), *kept[one.identity().digest])
    np.testing.assert_array_equal(restored(["eggs"]), one(["eggs"]))
    assert not restored.takes_new and one.takes_new


@pytest.mark.parametrize("answers", [np.ones((2, 3)), np.ones(1), np.ones((1, 0)), [[np.nan]], [[1.0, np.inf]]])
def test_answers_that_are_none_are_refused(answers: object) -> None:
    with pytest.raises(ValueError) as error:
        Encoder(lambda texts: answers, name="odd")(["one"])
    assert_one_sentence(str(error.value))


def test_what_is_no_encoder_is_refused() -> None:
    for wrong, kind in ((3, TypeError), ("no.onnx", ValueError), ("model.bin", ValueError)):
        with pytest.raises(kind) as error:
            as_encoder(wrong)
        assert_one_sentence(str(error.value))
    with pytest.raises(ValueError, match="needs a name"):
        Encoder()
    with pytest.raises(ValueError, match="must know something"):
        Encoder(name="empty").identity()


def test_nothing_has_no_rows_and_answers_of_other_lengths_are_refused() -> None:
    assert Encoder(Meanings())([]).shape == (0, 8)
    assert [part.shape for part in Encoder(Meanings()).answers_to([])] == [(0, 32), (0, 8)]
    with pytest.raises(ValueError, match="of 2 numbers") as error:
        Encoder(name="computed elsewhere").remember(["a"], [[1, 2]]).remember(["b"], [[1]])
    assert_one_sentence(str(error.value))
