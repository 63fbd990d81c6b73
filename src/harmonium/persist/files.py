"""A description and tensors on disk: written beside and moved into place, read without trusting anything."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import safe_open
from safetensors.numpy import save_file

from harmonium.exceptions import ModelFileError

FILE_ENDING = ".safetensors"
_KEY = "harmonium"
_TENSORS = "model.safetensors"
_DESCRIPTION = "model.json"
_DIGEST = "tensors_sha256"
# readers of safetensors refuse headers of more than 100 MB
_LARGEST_DESCRIPTION = 40_000_000

Tensors = dict[str, np.ndarray]


def write_file(path: Path, description: dict[str, Any], tensors: Tensors) -> None:
    """Write one file, with the description in its metadata."""
    _check_place(path, must_be_folder=False)
    text = json.dumps(description, allow_nan=False)
    if len(text) > _LARGEST_DESCRIPTION:
        raise ValueError(
            f"The description of a model in one file must stay below {_LARGEST_DESCRIPTION:,} characters; this one has "
            f"{len(text):,}; save to a folder instead (a path without {FILE_ENDING})."
        )
    with _beside(path) as partial:
        save_file(tensors, partial, metadata={_KEY: text})
        _flush(partial)
        os.replace(partial, path)


def write_folder(path: Path, description: dict[str, Any], tensors: Tensors) -> None:
    """Write a folder of two files; the description holds the digest of the tensors, so that mixtures are noticed."""
    _check_place(path, must_be_folder=True)
    with _beside(path) as partial:
        partial.mkdir()
        save_file(tensors, partial / _TENSORS)
        text = json.dumps(description | {_DIGEST: _digest(partial / _TENSORS)}, allow_nan=False, indent=2)
        (partial / _DESCRIPTION).write_text(text + "\n", encoding="utf-8")
        for name in (_TENSORS, _DESCRIPTION):
            _flush(partial / name)
        if path.exists():
            for name in (_TENSORS, _DESCRIPTION):
                os.replace(partial / name, path / name)
        else:
            os.replace(partial, path)


def read_file(path: Path) -> tuple[dict[str, Any], Tensors]:
    """Return the description and the tensors of one file."""
    metadata, tensors = _read_tensors(path)
    if _KEY not in metadata:
        raise ModelFileError(
            "A model file must be saved by harmonium; this safetensors file has no 'harmonium' entry in its metadata; "
            "pass the path that save was given."
        )
    return _parse(metadata[_KEY]), tensors


def read_folder(path: Path) -> tuple[dict[str, Any], Tensors]:
    """Return the description and the tensors of a folder."""
    for name in (_TENSORS, _DESCRIPTION):
        if not (path / name).is_file():
            raise ModelFileError(
                f"A model folder must hold {_TENSORS} and {_DESCRIPTION}; {name} is missing; save the model again."
            )
    try:
        text = (path / _DESCRIPTION).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ModelFileError(
            f"{_DESCRIPTION} must be UTF-8 text; found other bytes at position {error.start}; save the model again."
        ) from error
    description = _parse(text)
    if description.pop(_DIGEST, None) != _digest(path / _TENSORS):
        raise ModelFileError(
            f"{_TENSORS} must be the file that {_DESCRIPTION} was written with; its digest differs, so it is damaged "
            "or of another model; save the model again."
        )
    return description, _read_tensors(path / _TENSORS)[1]


def _read_tensors(path: Path) -> tuple[dict[str, str], Tensors]:
    """Return the metadata and the tensors of a safetensors file."""
    try:
        with safe_open(path, framework="numpy") as file:
            # copies, as further learning changes them in place
            tensors = {name: np.array(file.get_tensor(name)) for name in file.keys()}  # noqa: SIM118 (not a mapping)
            return file.metadata() or {}, tensors
    except Exception as error:  # foreign bytes fail in ways that safetensors does not list
        raise ModelFileError(
            f"A model file must be a complete safetensors file; reading it failed ({_one_line(error)}); save the model "
            "again, or pass the path that save was given."
        ) from error


def _parse(text: str) -> dict[str, Any]:
    """Return the description from its JSON text."""
    try:
        description = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise ModelFileError(
            f"The description of a model must be valid JSON; reading it failed ({_one_line(error)}); save the "
            "model again."
        ) from error
    if not isinstance(description, dict):
        raise ModelFileError(
            f"The description of a model must be a JSON object; found {type(description).__name__}; save the "
            "model again."
        )
    return description


def _refuse_constant(name: str) -> None:
    """Refuse NaN and infinity, which JSON does not have."""
    raise ValueError(f"{name} is not JSON")


def _one_line(error: Exception) -> str:
    """Return the first line of an error's message, cut to a reasonable length."""
    return (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")[:120]


def _check_place(path: Path, must_be_folder: bool) -> None:
    """Refuse a path that is already something else, or whose folder does not exist."""
    if path.exists() and path.is_dir() != must_be_folder:
        found = "a folder" if path.is_dir() else "a file"
        raise FileExistsError(
            f"A path that ends in {FILE_ENDING} is saved as a file and any other as a folder; {path} is already "
            f"{found}; choose another path."
        )
    if not path.absolute().parent.is_dir():
        raise FileNotFoundError(
            f"A model is saved into a folder that exists; {path.absolute().parent} does not; create it first."
        )


@contextmanager
def _beside(path: Path) -> Iterator[Path]:
    """Give a new name in the same folder (so that moving it is one step), removed whatever happens."""
    partial = path.absolute().parent / f".{path.name}.{secrets.token_hex(6)}.partial"
    try:
        yield partial
    finally:
        if partial.is_dir():
            shutil.rmtree(partial, ignore_errors=True)
        else:
            partial.unlink(missing_ok=True)


def _flush(path: Path) -> None:
    """Write the file to the disk, before the old one is given up."""
    with open(path, "rb+") as file:
        os.fsync(file.fileno())


def _digest(path: Path) -> str:
    """Return the SHA-256 digest of a file."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
