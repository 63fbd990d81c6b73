"""Saved models: a file or a folder by its path, and estimators by the format that their description names."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from harmonium._version import __version__
from harmonium.exceptions import ModelFileError
from harmonium.storage.folders import read_folder, write_folder
from harmonium.storage.replacing import in_a_sentence
from harmonium.storage.sealed import Tensors, read_sealed, write_sealed

#: what is written; the one before it is read as well
SCHEMA = 7
FILE_ENDING = ".safetensors"
_FORMS = f"A model is saved to a file whose name ends in {FILE_ENDING}, or to a folder, whose name has no ending"

Rebuilder = TypeVar("Rebuilder", bound=Callable[[dict[str, Any], Tensors], Any])
_REBUILDERS: dict[str, Callable[[dict[str, Any], Tensors], Any]] = {}


def rebuilds(format: str) -> Callable[[Rebuilder], Rebuilder]:
    """Let a function rebuild estimators from descriptions of a format: a decorator."""

    def register(rebuilder: Rebuilder) -> Rebuilder:
        _REBUILDERS[format] = rebuilder
        return rebuilder

    return register


def heading(format: str, estimator: str) -> dict[str, Any]:
    """Return the entries that every description of a model begins with."""
    return {"format": format, "schema": SCHEMA, "library_version": __version__, "estimator": estimator}


def write_model(
    path: str | os.PathLike[str],
    description: Mapping[str, Any],
    tensors: Mapping[str, Any],
    more: Mapping[str, Mapping[str, Any]] | None = None,
) -> None:
    """Write a description and tensors to a file or a folder.

    Parameters
    ----------
    path : str or path
        One file if it ends in ``.safetensors``. A folder if it has no ending, ends in a slash, or is a folder already;
        an ending begins with a letter, so that ``model-0.2`` has none. Any other path is refused.
    description : dict
        What JSON can hold, with the entries of `heading`.
    tensors : dict of str to array
        Arrays of numbers or truth values.
    more : dict of str to dict of str to array, optional
        Tensors that have files of their own, by a word; only folders can hold them.

    Raises
    ------
    ValueError
        If the path is empty or has another ending.
    OSError
        If the path cannot be written; what was there is left as it was.
    """
    place, ends_in_slash = _place(path), os.fspath(path).endswith((os.sep, os.altsep or os.sep))
    with in_a_sentence(place):
        _write(place, ends_in_slash, description, tensors, more)


def _write(
    place: Path,
    ends_in_slash: bool,
    description: Mapping[str, Any],
    tensors: Mapping[str, Any],
    more: Mapping[str, Mapping[str, Any]] | None,
) -> None:
    """Write a file or a folder, whichever the path says."""
    as_file = place.suffix == FILE_ENDING and not ends_in_slash and more is None
    if not (as_file or ends_in_slash or place.is_dir()) and place.suffix[1:2].isalpha():
        raise ValueError(
            f"{_FORMS}; got {os.fspath(place)!r}; choose one of them, or end the path in {os.sep!r} for a folder of "
            "that name."
        )
    if place.exists() and place.is_dir() == as_file:
        found = "a folder" if place.is_dir() else "a file"
        raise FileExistsError(f"{_FORMS}; {place} is already {found}; choose another path.")
    if not place.absolute().parent.is_dir():
        raise FileNotFoundError(
            f"A model is saved into a folder that exists; {place.absolute().parent} does not; create it first."
        )
    if as_file:
        write_sealed(place, description, tensors)
    else:
        write_folder(place, description, tensors, more)


def load_model(path: str | os.PathLike[str]) -> Any:
    """Return the model at a path, as whoever rebuilds models of its format makes it; see `harmonium.load`.

    Parameters
    ----------
    path : str or path
        The file or the folder.

    Returns
    -------
    estimator
        The fitted estimator.
    """
    source = _place(path)
    try:
        with in_a_sentence(source):
            return _read(source)
    except ModelFileError as error:
        raise ModelFileError(f"{source}: {error}") from error


def _read(source: Path) -> Any:
    """Return the model of a file or a folder."""
    if not source.exists():
        raise FileNotFoundError(
            f"A model is loaded from a file or folder that exists; found nothing at {source}; correct the path."
        )
    description, tensors = read_folder(source) if source.is_dir() else read_sealed(source)
    check_header(description)
    return _REBUILDERS[description["format"]](description, tensors)


def check_fields(found: Any, expected: Mapping[str, Any], where: str) -> None:
    """Refuse entries that are missing, unknown, or of the wrong kind.

    Parameters
    ----------
    found : object
        What should be a JSON object.
    expected : dict of str to type
        Kinds of its entries by name.
    where : str
        What it describes, for the message.
    """
    if not isinstance(found, dict):
        raise ModelFileError(f"{where} must be a JSON object; found {type(found).__name__}; save the model again.")
    for name in sorted(set(found) ^ set(expected)):
        problem = "is missing" if name in expected else "is unknown"
        raise ModelFileError(
            f"{where} must have the entries {', '.join(expected)}; {name!r} {problem}; save the model again."
        )
    for name, kind in expected.items():
        if not isinstance(found[name], kind) or (kind is int and isinstance(found[name], bool)):
            raise ModelFileError(
                f"{where} must have the right kind of value in every entry; {name!r} is "
                f"{type(found[name]).__name__}; save the model again."
            )


def _place(path: str | os.PathLike[str]) -> Path:
    """Return the path; refuse what is none."""
    if not isinstance(path, str | os.PathLike) or not isinstance(os.fspath(path), str):
        raise TypeError(f"A model has a path that is a text or a Path; got {type(path).__name__}; pass one of them.")
    if not os.fspath(path).strip():
        raise ValueError(f"{_FORMS}; got the empty path {os.fspath(path)!r}; choose one of them.")
    return Path(path)


def check_header(description: dict[str, Any]) -> None:
    """Refuse files of another format or schema."""
    if str(description.get("format")) not in _REBUILDERS:
        raise ModelFileError(
            f"A model file must be of the format {' or '.join(map(repr, sorted(_REBUILDERS)))}; got "
            f"{str(description.get('format'))[:60]!r}; pass the path that save was given."
        )
    schema = description.get("schema")
    if isinstance(schema, bool) or not isinstance(schema, int) or schema not in (SCHEMA - 1, SCHEMA):
        newer = isinstance(schema, int) and schema > SCHEMA
        advice = "install a newer harmonium" if newer else "save the model again with this version"
        raise ModelFileError(
            f"This version of harmonium reads model files of schema {SCHEMA - 1} and {SCHEMA}; got {str(schema)[:60]}; "
            f"{advice}."
        )
