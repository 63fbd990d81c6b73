"""A description and tensors in a folder: a readable ``model.json`` that names the files of tensors beside it.

There is one file of tensors, and as many more as have a name of their own, so that whoever needs the first alone does
not read the others. Every save writes its tensors under new names. The swap of ``model.json`` is the one step in which
the new model takes the place of the old one, whose tensors are removed after it. A reader whose tensors were removed
meanwhile reads ``model.json`` again; a writer who is killed leaves the model that was there.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from harmonium.exceptions import ModelFileError
from harmonium.storage.replacing import living_partials, refuse, replace_file, sweep, written_beside
from harmonium.storage.sealed import Tensors, read_bytes, seal, seal_text, unseal, unseal_text

_DESCRIPTION = "model.json"
# what else lies in a folder is the user's, and is left alone
_TENSORS = re.compile(r"(?:tensors|items)-[0-9a-f]{12}\.safetensors")
_FILE, _DIGEST, _MORE = "tensors_file", "tensors_sha256", "more_files"
# nobody saves so often that a reader comes too late this many times in a row
_MOST_READINGS = 1000


def check_place(path: Path) -> None:
    """Refuse a path where no folder can be, before anything long is computed; nothing is left there.

    Parameters
    ----------
    path : Path
        Of a folder, which may be there.

    Raises
    ------
    OSError
        If it is not there and cannot be made.
    """
    folder, is_new = _made(path)
    if is_new:
        with suppress(OSError):
            folder.rmdir()


def _made(path: Path) -> tuple[Path, bool]:
    """Return a folder, and whether it had to be made."""
    try:
        folder = path.resolve()
        is_new = not folder.is_dir()
        if is_new:
            folder.mkdir()
    except (OSError, RuntimeError) as error:  # a ring of links is a RuntimeError before Python 3.13
        refuse(path, error)
    return folder, is_new


def write_folder(
    path: Path,
    description: Mapping[str, Any],
    tensors: Mapping[str, Any],
    more: Mapping[str, Mapping[str, Any]] | None = None,
) -> None:
    """Write a description and tensors to a folder, which is made if it does not exist.

    Parameters
    ----------
    path : Path
        The folder. Of what it holds, only an earlier model is replaced.
    description : dict
        What JSON can hold.
    tensors : dict of str to array
        Arrays of numbers or truth values.
    more : dict of str to dict of str to array, optional
        Tensors with files of their own, by a word; "items" is the only one.

    Raises
    ------
    OSError
        If the folder cannot be written; what was there is left as it was.
    """
    all_tensors = {"tensors": tensors, **(more or {})}
    sealed = {word: seal({"format": f"harmonium.{word}"}, content) for word, content in all_tensors.items()}
    names = {word: f"{word}-{secrets.token_hex(6)}.safetensors" for word in sealed}
    first = {_FILE: names["tensors"], _DIGEST: sealed["tensors"].digest}
    others = {word: [names[word], sealed[word].digest] for word in more or {}}
    text = seal_text({**first, **({_MORE: others} if others else {}), **description})
    folder, is_new = _made(path)
    try:
        # the description is written first, so that other writers can see whose tensors these are
        with written_beside(folder / _DESCRIPTION, [text]) as put_in_place:
            for word, file in sealed.items():
                replace_file(folder / names[word], file.pieces)
            put_in_place()
    finally:
        _remove_unnamed_tensors(folder)
        if is_new:
            with suppress(OSError):  # it is empty only if nothing could be written
                folder.rmdir()


def read_folder(path: Path) -> tuple[dict[str, Any], Tensors]:
    """Return the description and the tensors of a folder, also while others write to it.

    Parameters
    ----------
    path : Path
        The folder.

    Returns
    -------
    description : dict
        What JSON could hold.
    tensors : dict of str to ndarray
        Arrays of their own, which may be changed.

    Raises
    ------
    ModelFileError
        If a single byte is not as it was written, or something is missing.
    """
    return _read_consistently(path, more=False)[:2]


def read_whole_folder(path: Path) -> tuple[dict[str, Any], Tensors, dict[str, Tensors]]:
    """Return the description and all tensors of a folder, those with files of their own by their word."""
    return _read_consistently(path, more=True)


def _read_consistently(path: Path, more: bool) -> tuple[dict[str, Any], Tensors, dict[str, Tensors]]:
    """Return what one save has written, whoever saves meanwhile."""
    before = None
    for _ in range(_MOST_READINGS):
        text = _read(path, _DESCRIPTION)
        description = unseal_text(text, _DESCRIPTION)
        first = [description.pop(_FILE, None), description.pop(_DIGEST, None)]
        others = description.pop(_MORE, {})
        wanted = {"": first, **(others if more and isinstance(others, dict) else {})}
        for entry in wanted.values():
            _check_entry(entry)
        try:
            contents = {word: _read(path, name) for word, (name, _) in wanted.items()}
        except ModelFileError:
            # a save that came between the two readings has removed the tensors, and written other ones
            if text == before:
                raise
            before = text
            continue
        found = {word: _unsealed(contents.pop(word), *entry) for word, entry in wanted.items()}
        return description, found.pop(""), found
    raise ModelFileError(
        f"A model folder must be at rest for a moment; {path} is not; read it when nobody saves to it."
    )


def _check_entry(entry: Any) -> None:
    """Refuse what does not name a file of tensors and its digest."""
    is_pair = isinstance(entry, list) and len(entry) == 2
    name = entry[0] if is_pair else None
    if not isinstance(name, str) or not _TENSORS.fullmatch(name):
        raise ModelFileError(
            f"{_DESCRIPTION} must name the file of its tensors; found {str(name)[:60]!r}; save the model again."
        )


def _unsealed(content: bytes, name: str, expected: Any) -> Tensors:
    """Return the tensors of a file, if it is the one that the description was written with."""
    digest, _, tensors = unseal(content)
    if digest != expected:
        raise ModelFileError(
            f"{name} must be the file that {_DESCRIPTION} was written with; its digest differs, so it is damaged "
            "or of another model; save the model again."
        )
    return tensors


def _read(folder: Path, name: str) -> bytes:
    """Return the content of a file of the folder."""
    try:
        return read_bytes(folder / name)
    except FileNotFoundError as error:
        raise ModelFileError(
            f"A model folder must hold {_DESCRIPTION} and the tensors that it names; {name} is missing; save the "
            "model again."
        ) from error


def _remove_unnamed_tensors(folder: Path) -> None:
    """Remove tensors that no description names, in place or being written, and whatever killed writers left behind.

    The order matters: tensors that are found first were claimed by a description before, and the description is either
    still being written when the second line looks, or in place when the third does.
    """
    with suppress(OSError):  # the model is in place, whatever becomes of the rest
        found = [entry for entry in folder.iterdir() if _TENSORS.fullmatch(entry.name)]
        claims = [_content(partial) for partial in living_partials(folder, _DESCRIPTION)]
        claims.append(_content(folder / _DESCRIPTION))
        for entry in found:
            if not any(entry.name.encode() in claim for claim in claims):
                entry.unlink(missing_ok=True)
        sweep(folder)


def _content(path: Path) -> bytes:
    """Return the content of a file, which is empty if the file is no longer there."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""
