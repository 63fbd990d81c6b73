"""Encoders that need no packages: one that knows what words mean, and a small transformer in an ONNX file."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

MEANINGS = {
    "noise": ("noise", "night", "sleep", "walls", "loud", "awake"),
    "food": ("breakfast", "eggs", "coffee", "bread", "kitchen", "dinner"),
    "staff": ("reception", "porter", "smile", "helpful", "greeted", "polite"),
}


class Meanings:
    """Count the words of each meaning; remember how many texts were asked for."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    def encode(self, texts: list[str]) -> np.ndarray:
        self.asked.append(len(texts))
        words = [re.findall(r"\w+", text.lower()) for text in texts]
        counts = [[sum(word in known for word in own) for known in MEANINGS.values()] for own in words]
        rows = np.array(counts, dtype=float) + 0.01
        # as many directions as meanings would be as good as labels
        return rows @ np.random.default_rng(0).normal(size=(3, 8)) / np.linalg.norm(rows, axis=1, keepdims=True)


def reviews(n_rows: int = 90) -> pd.DataFrame:
    """Return reviews of one meaning each, of words that seldom meet, and stars that go with the meaning."""
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 3, n_rows)
    texts = [" ".join(rng.choice(list(MEANINGS.values())[k], 2, replace=False)) for k in kind]
    return pd.DataFrame({"review": texts, "price": rng.normal(size=n_rows).round(2), "stars": kind + 1.0})


def onnx_encoder(folder: Path, seed: int = 0) -> Path:
    """Write a transformer without layers: a vector for each of a few words, and their tokenizer."""
    onnx = pytest.importorskip("onnx", reason="needs onnx (pip install onnx)")
    tokenizers = pytest.importorskip("tokenizers", reason="needs tokenizers (extra embed)")
    words = ["[PAD]", "[UNK]", *(word for known in MEANINGS.values() for word in known)]
    table = np.random.default_rng(seed).normal(size=(len(words), 6)).astype(np.float32)
    helper, kinds = onnx.helper, onnx.TensorProto
    inputs = [helper.make_tensor_value_info(name, kinds.INT64, ["n", "t"]) for name in ("input_ids", "attention_mask")]
    outputs = [helper.make_tensor_value_info("last_hidden_state", kinds.FLOAT, ["n", "t", 6])]
    nodes = [helper.make_node("Gather", ["table", "input_ids"], ["last_hidden_state"])]
    graph = helper.make_graph(nodes, "words", inputs, outputs, [onnx.numpy_helper.from_array(table, "table")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    folder.mkdir(exist_ok=True)
    onnx.save(model, folder / "model.onnx")
    tokenizer = tokenizers.Tokenizer(
        tokenizers.models.WordLevel({word: place for place, word in enumerate(words)}, unk_token="[UNK]")
    )
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    assert json.loads((folder / "tokenizer.json").read_text())["model"]["type"] == "WordLevel"
    return folder / "model.onnx"


def vectors_of(path: Path) -> dict[str, Any]:
    """Return the vector of each word of `onnx_encoder`."""
    import onnx

    (table,) = onnx.load(path).graph.initializer
    words = json.loads((path.parent / "tokenizer.json").read_text())["model"]["vocab"]
    rows = onnx.numpy_helper.to_array(table)
    return {word: rows[place] for word, place in words.items()}
