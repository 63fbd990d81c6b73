"""Contents of a model folder, written and read: the model in one file, its items in another, and ``model.json``.

Whoever needs the model alone does not read the items. Every claim of a file is checked; nothing in it is run.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from harmonium.evaluation.held_out import HeldOut
from harmonium.exceptions import ModelFileError
from harmonium.inspection.encoders import set_encoders
from harmonium.model_folder.columns import packed_columns, unpacked_columns
from harmonium.model_folder.embeddings import kept_embeddings, restored_encoders
from harmonium.model_folder.item_index import WordIndex
from harmonium.model_folder.json_values import json_value
from harmonium.model_folder.thumbnails import Thumbnails
from harmonium.persist import describe, rebuild
from harmonium.queries.topics.shown import divided_parts
from harmonium.storage import (
    check_fields,
    check_header,
    heading,
    in_a_sentence,
    read_whole_folder,
    rebuilds,
    write_model,
)

FORMAT = "harmonium.folder"
_FIELDS: dict[str, Any] = {
    "format": str,
    "schema": int,
    "library_version": str,
    "estimator": str,
    "model": dict,
    "items": dict,
}
_ITEM_FIELDS: dict[str, Any] = {
    "n_items": int,
    "columns": list,
    "target": list,
    "words": list,
    "scores": (dict, type(None)),
    "has_thumbnails": bool,
    "notes": dict,
}
# what parts raise when a file contradicts them
_CONTRADICTIONS = (ValueError, TypeError, KeyError, AttributeError, IndexError)


@dataclass(frozen=True, eq=False)
class Contents:
    """Everything that a model folder holds; attributes are those of `ModelFolder`."""

    model: Any
    items: pd.DataFrame
    coordinates: np.ndarray
    search_coordinates: np.ndarray
    map: np.ndarray
    target: list[str]
    stability: np.ndarray | None = None
    #: shares of the parts of units that were split, for each item
    shares: np.ndarray | None = None
    words: WordIndex | None = None
    held_out: HeldOut | None = None
    thumbnails: Thumbnails | None = None
    embeddings: dict[str, np.ndarray] = field(default_factory=dict)
    notes: dict[str, Any] = field(default_factory=dict)


def write_contents(path: str | os.PathLike[str], contents: Contents) -> None:
    """Write a folder; what was there is replaced in one step, once everything is written."""
    if Path(path).suffix == ".safetensors":
        raise ValueError(f"A model with its items is a folder, whose name has no ending; got {os.fspath(path)!r}.")
    model, tensors = describe(contents.model)
    columns, items = packed_columns(contents.items)
    items |= {
        "coordinates": np.asarray(contents.coordinates, dtype=np.float32),
        "search_coordinates": np.asarray(contents.search_coordinates, dtype=np.float32),
        "map": np.asarray(contents.map, dtype=np.float32),
    }
    for name in ("stability", "shares"):
        if getattr(contents, name) is not None:
            items[name] = np.asarray(getattr(contents, name), dtype=np.float32)
    items |= contents.embeddings
    for part in (contents.words, contents.held_out, contents.thumbnails):
        items |= {} if part is None else part.tensors()
    description = {
        **heading(FORMAT, model["estimator"]),
        "model": model,
        "items": {
            "n_items": len(contents.items),
            "columns": columns,
            "target": contents.target,
            "words": [] if contents.words is None else list(contents.words.views),
            "scores": None if contents.held_out is None else json_value(contents.held_out.scores),
            "has_thumbnails": contents.thumbnails is not None,
            "notes": json_value(contents.notes),
        },
    }
    write_model(path, description, tensors, {"items": items})


def read_contents(path: str | os.PathLike[str]) -> Contents:
    """Return the contents of a folder; every contradiction is a `ModelFileError`."""
    with in_a_sentence(path):
        return _read(Path(path))


def _read(folder: Path) -> Contents:
    if not folder.is_dir():
        found = "a file" if folder.exists() else "nothing"
        kind = ModelFileError if folder.exists() else FileNotFoundError
        raise kind(
            f"A model with its items is a folder; found {found} at {folder}; pass the folder that fit has written."
        )
    try:
        description, tensors, more = read_whole_folder(folder)
        check_header(description)
        if description["format"] != FORMAT:
            raise ModelFileError(
                "The folder must hold a model and its items; it holds a model alone; use harmonium.load, or fit again."
            )
        model = folder_model(description, tensors)
        check_fields(description["items"], _ITEM_FIELDS, "The items of a model folder")
        return _restored(model, description["items"], more.get("items", {}))
    except ModelFileError as error:
        raise ModelFileError(f"{folder}: {error}") from error


@rebuilds(FORMAT)
def folder_model(description: dict[str, Any], tensors: dict[str, np.ndarray]) -> Any:
    """Return the model of a folder."""
    check_fields(description, _FIELDS, "The description of a model folder")
    return rebuild(description["model"], tensors)


def _restored(model: Any, facts: dict[str, Any], tensors: dict[str, np.ndarray]) -> Contents:
    n_items = facts["n_items"]
    try:
        shapes: dict[str, tuple[int, ...]] = {
            "coordinates": (n_items, model.n_components_),
            "search_coordinates": (n_items, model.n_components_),
            "map": (n_items, 2),
        }
        if "stability" in tensors:
            shapes["stability"] = (model.fitted_.n_topics,)
        if parts := divided_parts(model.fitted_):
            shapes["shares"] = (n_items, len(parts))
        for name, shape in shapes.items():
            if tensors[name].shape != shape or not np.isfinite(tensors[name]).all():
                raise ValueError(f"{name} of shape {tensors[name].shape} for {n_items} items")
        items = unpacked_columns(facts["columns"], tensors, n_items)
        if not all(name in items.columns for name in facts["target"]):
            raise ValueError("a target that is no column")
        names = facts["words"]
        n_words = sum(model.families_[name].codec.n_columns for name in names)
        words = WordIndex.restored(tuple(names), tensors, n_items, n_words) if names else None
        scores = facts["scores"]
        held_out = None if scores is None else HeldOut.restored(tensors, scores, n_items)
        thumbnails = Thumbnails.restored(tensors, n_items) if facts["has_thumbnails"] else None
        encoders = restored_encoders(model.fitted_.table, tensors, n_items)
        if encoders:
            set_encoders(model, encoders)
    except _CONTRADICTIONS as error:
        if isinstance(error, ModelFileError):
            raise
        raise ModelFileError(
            f"The items of a model folder must go together; they do not ({str(error)[:120]}); write the folder again."
        ) from error
    arrays: dict[str, Any] = {name: tensors[name] for name in shapes}
    return Contents(
        model=model,
        items=items,
        target=facts["target"],
        words=words,
        held_out=held_out,
        thumbnails=thumbnails,
        embeddings=kept_embeddings(tensors),
        notes=facts["notes"],
        **arrays,
    )
