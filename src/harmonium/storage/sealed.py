"""A description and tensors in one safetensors file that carries a digest over every one of its bytes.

The description is JSON in the metadata under ``harmonium``. Its first entry, ``sha256``, is the digest of the whole
file with zeros in the place of the digest; the second, ``order``, is the order of the tensors, which safetensors does
not keep. The same description and tensors give the same bytes.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import safetensors.numpy

from harmonium.exceptions import ModelFileError
from harmonium.storage.replacing import replace_file

Tensors = dict[str, np.ndarray]

_DIGEST, _ORDER = "sha256", "order"
_ZEROS = "0" * 64
# how the description begins within the header, where its quotation marks are escaped; no name of a tensor and no text
# of the description looks like it, as theirs are escaped once more
_BEGIN = rb'"harmonium":"{\"sha256\": \"'
# how readable descriptions begin
_BEGIN_OF_TEXT = b'{\n  "sha256": "'
# readers of safetensors refuse headers of more than 100 MB, and quotation marks take two characters there
_LARGEST_DESCRIPTION = 40_000_000


class Sealed(NamedTuple):
    """The bytes of a sealed file, in pieces that are not copied, and their digest."""

    pieces: tuple[bytes | memoryview, ...]
    digest: str


def write_sealed(path: str | os.PathLike[str], description: Mapping[str, Any], tensors: Mapping[str, Any]) -> str:
    """Write a description and tensors to one file, in one step and with a digest over all of it.

    Parameters
    ----------
    path : str or path
        The file. What was there is replaced once everything is written; see `replace_file`.
    description : dict
        What JSON can hold: texts, finite numbers, lists, dicts with texts as keys. No entry is named ``sha256`` or
        ``order``.
    tensors : dict of str to array
        Arrays of numbers or truth values.

    Returns
    -------
    str
        The digest.

    Raises
    ------
    OSError
        If the file cannot be written.
    """
    sealed = seal(description, tensors)
    replace_file(Path(path), sealed.pieces)
    return sealed.digest


def read_sealed(path: str | os.PathLike[str]) -> tuple[dict[str, Any], Tensors]:
    """Return the description and the tensors of a file that `write_sealed` wrote.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    description : dict
        What JSON could hold.
    tensors : dict of str to ndarray
        Arrays of their own, which may be changed, in the order in which they were written.

    Raises
    ------
    FileNotFoundError
        If there is nothing at the path.
    ModelFileError
        If a single byte is not as it was written, or the file is of another kind.
    """
    _, description, tensors = unseal(read_bytes(Path(path)))
    return description, tensors


def seal(description: Mapping[str, Any], tensors: Mapping[str, Any]) -> Sealed:
    """Return the bytes of a sealed file."""
    text = json.dumps({_DIGEST: _ZEROS, _ORDER: list(tensors), **description}, allow_nan=False)
    if len(text) > _LARGEST_DESCRIPTION:
        raise ValueError(
            f"The description in one file must stay below {_LARGEST_DESCRIPTION:,} characters; this one has "
            f"{len(text):,}; save to a folder instead (a path without .safetensors)."
        )
    arrays = {name: np.asarray(value, order="C") for name, value in tensors.items()}
    content = memoryview(safetensors.numpy.save(arrays, metadata={"harmonium": text}))
    begin = _place_of_digest(bytes(content[: 8 + _header_length(content)]))
    end = begin + len(_ZEROS)
    digest = _digest(content, begin, end)
    return Sealed((content[:begin], digest.encode(), content[end:]), digest)


def unseal(content: bytes) -> tuple[str, dict[str, Any], Tensors]:
    """Return digest, description and tensors of a sealed file; refuse one that is not as it was written."""
    try:
        # copies, as further learning changes them in place
        tensors = {name: np.array(value) for name, value in safetensors.numpy.load(content).items()}
        header = content[: 8 + _header_length(content)]
        metadata = json.loads(header[8:]).get("__metadata__", {})
    except Exception as error:  # foreign bytes fail in ways that safetensors does not list
        raise ModelFileError(
            f"A model file must be a complete safetensors file; reading it failed ({_one_line(error)}); save the model "
            "again, or pass the path that save was given."
        ) from error
    if "harmonium" not in metadata:
        raise ModelFileError(
            "A model file must be saved by harmonium; this safetensors file has no 'harmonium' entry in its metadata; "
            "pass the path that save was given."
        )
    description = parse_description(metadata["harmonium"])
    digest = description.pop(_DIGEST, None)
    _check_digest(digest, content, _place_of_digest(header))
    order = description.pop(_ORDER, None)
    if not isinstance(order, list) or len(order) != len(tensors) or not all(name in order for name in tensors):
        raise ModelFileError(
            f"A model file must name its tensors in their order; found {str(order)[:60]}; save the model again."
        )
    return digest, description, {name: tensors[name] for name in order}


def seal_text(description: Mapping[str, Any]) -> bytes:
    """Return a description as readable JSON whose first entry is the digest of the text."""
    text = json.dumps({_DIGEST: _ZEROS, **description}, allow_nan=False, indent=2) + "\n"
    content = memoryview(text.encode())
    begin = len(_BEGIN_OF_TEXT)
    end = begin + len(_ZEROS)
    return bytes(content[:begin]) + _digest(content, begin, end).encode() + bytes(content[end:])


def unseal_text(content: bytes, name: str) -> dict[str, Any]:
    """Return the description from its sealed text; refuse one that is not as it was written."""
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        raise ModelFileError(
            f"{name} must be UTF-8 text; found other bytes at position {error.start}; save the model again."
        ) from error
    description = parse_description(text)
    begin = len(_BEGIN_OF_TEXT) if content.startswith(_BEGIN_OF_TEXT) else -1
    _check_digest(description.pop(_DIGEST, None), content, begin)
    return description


def read_bytes(path: Path) -> bytes:
    """Return the content of a file; refuse folders, and pipes and devices, which might never end."""
    try:
        kind = path.stat().st_mode
        if not stat.S_ISREG(kind):
            found = "a folder" if stat.S_ISDIR(kind) else "a pipe or a device"
            raise ModelFileError(f"A model file must be a file; {path} is {found}; pass the path that save was given.")
        return path.read_bytes()
    except FileNotFoundError as error:
        raise FileNotFoundError(f"A file is read from a path that exists; found nothing at {path}.") from error
    except OSError as error:
        raise type(error)(f"A model file must be readable; {path} is not ({error.strerror}); see to it.") from error


def parse_description(text: str) -> dict[str, Any]:
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


def _header_length(content: bytes | memoryview) -> int:
    """Return the length of the header of a safetensors file, which stands in its first eight bytes."""
    return int.from_bytes(content[:8], "little")


def _place_of_digest(header: bytes) -> int:
    """Return where the digest begins, or -1 if there is none."""
    found = header.find(_BEGIN)
    return found + len(_BEGIN) if found >= 0 else -1


def _check_digest(digest: Any, content: bytes, begin: int) -> None:
    """Refuse content without a digest, or with that of another content."""
    if digest is None or begin < 0:
        raise ModelFileError(
            "A model file must carry the digest of its content; this one has none, as files of harmonium before "
            "schema 3; save the model again with this version."
        )
    if digest != _digest(memoryview(content), begin, begin + len(_ZEROS)):
        raise ModelFileError(
            "A model file must be as it was written; its digest differs, so it is damaged or was changed; save the "
            "model again."
        )


def _digest(content: memoryview, begin: int, end: int) -> str:
    """Return the digest of a file with zeros in its place."""
    digest = hashlib.sha256(content[:begin])
    digest.update(_ZEROS.encode())
    digest.update(content[end:])
    return digest.hexdigest()


def _refuse_constant(name: str) -> None:
    """Refuse NaN and infinity, which JSON does not have."""
    raise ValueError(f"{name} is not JSON")


def _one_line(error: Exception) -> str:
    """Return the first line of an error's message, cut to a reasonable length."""
    return (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")[:120]
