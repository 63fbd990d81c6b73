"""Encoders in ONNX files, against the same sums by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from harmonium.features.encoders import OnnxModel, as_encoder
from tests.cases.bad_input import assert_one_sentence
from tests.cases.encoders import onnx_encoder, vectors_of

pytest.importorskip("onnxruntime", reason="needs onnxruntime (extra embed)")


def test_the_embedding_is_the_mean_over_tokens_of_length_one(tmp_path: Path) -> None:
    path = onnx_encoder(tmp_path / "words")
    vectors = vectors_of(path)
    texts = ["noise night", "eggs", "breakfast coffee unheard eggs"] * 20
    means = [np.mean([vectors.get(word, vectors["[UNK]"]) for word in text.split()], axis=0) for text in texts]
    expected = np.array(means) / np.linalg.norm(means, axis=1, keepdims=True)
    np.testing.assert_allclose(OnnxModel(path).encode(texts), expected, atol=1e-6)
    short = np.mean([vectors["breakfast"], vectors["coffee"]], axis=0)
    np.testing.assert_allclose(
        OnnxModel(path, max_tokens=2).encode(texts[2:3])[0], short / np.linalg.norm(short), atol=1e-6
    )


def test_the_digest_is_that_of_the_files(tmp_path: Path) -> None:
    one, copy, other = (onnx_encoder(tmp_path / name, seed) for name, seed in (("a", 0), ("b", 0), ("c", 1)))
    identity = as_encoder(one).identity()
    assert identity.name == "a/model.onnx" and identity.digest == OnnxModel(copy).digest
    assert identity.is_same(as_encoder(str(copy)).identity()) and not identity.is_same(as_encoder(other).identity())


def test_a_file_without_its_tokenizer_is_refused(tmp_path: Path) -> None:
    path = onnx_encoder(tmp_path / "words")
    (path.parent / "tokenizer.json").unlink()
    with pytest.raises(ValueError) as error:
        OnnxModel(path)
    assert_one_sentence(str(error.value))
