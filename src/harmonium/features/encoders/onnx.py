"""Encoders in ONNX files, with their tokenizers (extra ``embed``)."""

from __future__ import annotations

import hashlib
import os
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from harmonium.core.extras import require

# Texts at a time, tokens of a text at most where the tokenizer names no limit: conventions, for memory.
_BATCH = 32
_TOKENS = 256
# output that holds a row for each text, as exporters of sentence-transformers call it
_WHOLE = "sentence_embedding"
# types of inputs, in the words of onnxruntime
_TYPES = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}


class OnnxModel:
    """Encode texts by an ONNX file and the ``tokenizer.json`` beside it.

    An output called ``sentence_embedding`` is the embedding; otherwise it is the mean over tokens of the first output
    that has a row for each of them, or, without any, the first output. Rows are brought to length 1.

    Parameters
    ----------
    path : str or path
        The ONNX file. Its tokenizer lies in the same folder, or in the one above, as ``tokenizer.json``.
    max_tokens : int, default=256
        Tokens of a text that are read; those behind them are left out.

    Attributes
    ----------
    name : str
        Name of the folder and of the file.
    digest : str
        SHA-256 of both files.

    Examples
    --------
    >>> from harmonium.features.encoders import Encoder, OnnxModel
    >>> encoder = Encoder(OnnxModel("minilm/model.onnx"))  # doctest: +SKIP
    >>> encoder(["a quiet room"]).shape  # doctest: +SKIP
    (1, 384)
    """

    def __init__(self, path: str | os.PathLike[str], max_tokens: int = _TOKENS) -> None:
        self.path = Path(path)
        if self.path.suffix != ".onnx" or not self.path.is_file():
            found = "is no such file" if self.path.suffix == ".onnx" else "has another ending"
            raise ValueError(
                f"An encoder in a file must be an ONNX file; {os.fspath(path)!r} {found}; correct the path."
            )
        folders = (self.path.parent, self.path.absolute().parent.parent)
        found_at = [folder / "tokenizer.json" for folder in folders if (folder / "tokenizer.json").is_file()]
        if not found_at:
            raise ValueError(
                f"An ONNX encoder needs its tokenizer.json beside it; {os.fspath(self.path.parent)!r} has none; put it "
                "there."
            )
        self._tokenizer_path = found_at[0]
        self.max_tokens = max_tokens
        self.name = f"{self.path.absolute().parent.name}/{self.path.name}"

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the model, of its tokenizer, and of how many tokens are read."""
        parts = [hashlib.sha256(path.read_bytes()).hexdigest() for path in (self.path, self._tokenizer_path)]
        return hashlib.sha256(" ".join([*parts, str(self.max_tokens)]).encode()).hexdigest()

    @cached_property
    def _tokenizer(self) -> Any:
        tokenizers = require("tokenizers", "An ONNX encoder")
        tokenizer = tokenizers.Tokenizer.from_file(str(self._tokenizer_path))
        tokenizer.enable_truncation(self.max_tokens)
        padding = tokenizer.padding or {}
        tokenizer.enable_padding(pad_id=padding.get("pad_id", 0), pad_token=padding.get("pad_token", "[PAD]"))
        return tokenizer

    @cached_property
    def _session(self) -> Any:
        runtime = require("onnxruntime", "An ONNX encoder")
        return runtime.InferenceSession(str(self.path), providers=["CPUExecutionProvider"])

    def encode(self, texts: list[str]) -> np.ndarray:
        """Return the embedding of texts.

        Parameters
        ----------
        texts : list of str
            The texts.

        Returns
        -------
        ndarray of float32 of shape (n_texts, dimension)
            Rows of length 1.
        """
        # texts of one length side by side need little padding
        order = np.argsort([-len(text) for text in texts], kind="stable")
        pieces = [order[first : first + _BATCH] for first in range(0, len(order), _BATCH)]
        rows = np.concatenate([self._encoded([texts[at] for at in piece]) for piece in pieces])
        result = np.empty_like(rows)
        result[order] = rows
        return result / np.maximum(np.linalg.norm(result, axis=1, keepdims=True), np.finfo(np.float32).tiny)

    def _encoded(self, texts: list[str]) -> np.ndarray:
        """Return the means over tokens, or what the model itself makes of them."""
        tokens = self._tokenizer.encode_batch(texts)
        given = {
            "input_ids": [text.ids for text in tokens],
            "attention_mask": [text.attention_mask for text in tokens],
            "token_type_ids": [text.type_ids for text in tokens],
        }
        wanted = {entry.name: entry.type for entry in self._session.get_inputs()}
        unknown = [name for name in wanted if name not in given or wanted[name] not in _TYPES]
        if unknown:
            raise ValueError(
                f"An ONNX encoder of texts takes {', '.join(given)}; {self.name} asks for {unknown[0]!r}; pass another "
                "file, or a callable of your own."
            )
        feeds = {name: np.array(given[name], dtype=_TYPES[kind]) for name, kind in wanted.items()}
        names = [entry.name for entry in self._session.get_outputs()]
        outputs = dict(zip(names, self._session.run(None, feeds), strict=True))
        by_token = [output for output in outputs.values() if output.ndim == 3]
        if _WHOLE in outputs or not by_token:
            return np.asarray(outputs.get(_WHOLE, outputs[names[0]]), dtype=np.float32)
        mask = np.array(given["attention_mask"], dtype=np.float32)[:, :, None]
        return np.asarray((by_token[0] * mask).sum(axis=1) / np.maximum(mask.sum(axis=1), 1), dtype=np.float32)
