"""Embeddings of the items of a model folder: kept with them, and known to the next fit of the same texts."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from harmonium.exceptions import ModelFileError
from harmonium.features.encoders import Encoder
from harmonium.features.encoders.encoder import Answers, digest_of
from harmonium.storage import read_sealed, read_whole_folder, write_sealed
from harmonium.tables import Table
from harmonium.tables.table import columns_of
from harmonium.tables.transformer import encoders_of, frame_of

_PREFIX, _ROWS = "embeddings/", "rows"
#: name of the file beside a folder that is being made
FILE = "embeddings.safetensors"


def embedding_tensors(table: Table | None, frame: Any) -> dict[str, np.ndarray]:
    """Return what encoders have said of the columns of a frame, as a folder keeps it.

    Parameters
    ----------
    table : Table or None
        The table of a model, with its encoders.
    frame : data frame
        Items; columns that it lacks are left out.

    Returns
    -------
    dict of str to ndarray
        Digests of values and their embeddings, by the digest of the encoder, and which of them each item has, by view.
    """
    embedded = () if table is None else [column for column in table.columns if column.embedding is not None]
    there = {column.name: column for column in columns_of(frame_of(frame))} if embedded else {}
    values: dict[str, tuple[Encoder, list[Any]]] = {}
    items: dict[str, tuple[str, list[Any]]] = {}
    for name, reader, embedding in ((column.name, column.reader, column.embedding) for column in embedded):
        if name in there and embedding is not None and embedding.encoder is not None:
            said = embedding.values(reader.opened(there[name]))
            _, known = values.setdefault(embedding.identity.digest, (embedding.encoder, []))
            known += [value for value in said if value is not None]
            items[embedding.view] = embedding.identity.digest, said
    answers = {digest: encoder.answers_to(known) for digest, (encoder, known) in values.items()}
    places = {digest: {bytes(key): row for row, key in enumerate(keys)} for digest, (keys, _) in answers.items()}
    return _tensors(answers) | {
        f"{_PREFIX}{digest}/{_ROWS}/{view}": np.array(
            [-1 if value is None else places[digest][digest_of(value)] for value in said], dtype=np.int64
        )
        for view, (digest, said) in items.items()
    }


def embedded_items(tensors: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the embedding of each item, by view; items without a value have a row of zeros.

    Parameters
    ----------
    tensors : mapping of str to ndarray
        What `embedding_tensors` returned, or a folder keeps of it.

    Returns
    -------
    dict of str to ndarray of shape (n_items, dimension)
        Embeddings by the name of their view.
    """
    result: dict[str, np.ndarray] = {}
    for digest, (_, answers) in _answers(tensors).items():
        prefix = f"{_PREFIX}{digest}/{_ROWS}/"
        # -1 is the last row, of zeros
        known = np.concatenate([answers, np.zeros((1, answers.shape[1]), dtype=np.float32)])
        views = [name.removeprefix(prefix) for name in tensors if name.startswith(prefix)]
        result |= {view: known[tensors[f"{prefix}{view}"]] for view in views}
    return result


def kept_embeddings(tensors: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return those tensors of a folder that `embedding_tensors` made.

    Parameters
    ----------
    tensors : mapping of str to ndarray
        Tensors of the folder.

    Returns
    -------
    dict of str to ndarray
        Some of them.
    """
    return {name: tensor for name, tensor in tensors.items() if name.startswith(_PREFIX)}


def restored_encoders(table: Table | None, tensors: Mapping[str, np.ndarray], n_items: int) -> dict[str, Encoder]:
    """Return encoders that know what a folder keeps, by column; raise a ValueError if it is no such thing.

    Parameters
    ----------
    table : Table or None
        The table of the model.
    tensors : mapping of str to ndarray
        Tensors of the folder, those of `embedding_tensors` among them.
    n_items : int
        Number of items.

    Returns
    -------
    dict of str to Encoder
        Encoders that refuse everything else.
    """
    kept, embedded = _answers(tensors), {} if table is None else table.embeddings
    identities = {name: embedding.identity for name, embedding in embedded.items()}
    for digest, (_, answers) in kept.items():
        dimensions = {identity.dimension for identity in identities.values() if identity.digest == digest}
        if dimensions != {answers.shape[1]}:
            raise ValueError("embeddings of an encoder that the model does not have")
    for name, rows in tensors.items():
        if name.startswith(_PREFIX) and f"/{_ROWS}/" in name:
            n_known = len(kept[name.split("/")[1]][1])
            if rows.dtype != np.int64 or rows.shape != (n_items,) or not ((rows >= -1) & (rows < n_known)).all():
                raise ValueError("embeddings that items cannot have")
    return {
        name: Encoder.restored(identity, *kept[identity.digest])
        for name, identity in identities.items()
        if identity.digest in kept
    }


def recall_embeddings(path: str | os.PathLike[str], views: Any) -> None:
    """Let the encoders of a `TableViews` know what a model folder, or a fit that was interrupted, keeps of them.

    Parameters
    ----------
    path : str or path
        A model folder, or the work on one; neither need be there.
    views : object
        What reads the table; everything but a `TableViews` has no encoders.
    """
    encoders, folder = encoders_of(views), Path(path)
    kept: dict[str, Answers] = {}
    try:
        if encoders and (folder / FILE).is_file():
            kept = _answers(read_sealed(folder / FILE)[1])
        elif encoders and (folder / "model.json").is_file():
            kept = _answers(read_whole_folder(folder)[2].get("items", {}))
    except (ModelFileError, ValueError, KeyError):
        kept = {}  # what is damaged is encoded again, and replaced when the fit ends
    for encoder in encoders:
        encoder.offer(kept)


def keep_embeddings(folder: Path, views: Any) -> None:
    """Keep everything that the encoders of a `TableViews` have said, for a fit that may be interrupted.

    Parameters
    ----------
    folder : Path
        The work on a model folder; it is made if it is not there.
    views : object
        What has read the table.
    """
    encoders = [encoder for encoder in encoders_of(views) if encoder.is_asked]
    if encoders:
        folder.mkdir(exist_ok=True)
        write_sealed(folder / FILE, {}, _tensors({one.identity().digest: one.answers() for one in encoders}))


def _tensors(kept: Mapping[str, Answers]) -> dict[str, np.ndarray]:
    named = {f"{_PREFIX}{digest}/": answers for digest, answers in kept.items()}
    return {f"{name}{part}": array for name, pair in named.items() for part, array in zip(_PARTS, pair, strict=True)}


_PARTS = ("keys", "answers")


def _answers(tensors: Mapping[str, np.ndarray]) -> dict[str, Answers]:
    """Return what was said by the digest of who said it; raise a ValueError if arrays are not such."""
    digests: Iterable[str] = dict.fromkeys(name.split("/")[1] for name in tensors if name.startswith(_PREFIX))
    kept = {}
    for digest in digests:
        keys, answers = (tensors[f"{_PREFIX}{digest}/{part}"] for part in _PARTS)
        if keys.dtype != np.uint8 or keys.shape != (len(answers), 32) or answers.dtype != np.float32:
            raise ValueError("embeddings that do not go with their digests")
        if answers.ndim != 2 or not np.isfinite(answers).all():
            raise ValueError("embeddings that are no finite numbers")
        kept[digest] = (keys, answers)
    return kept
