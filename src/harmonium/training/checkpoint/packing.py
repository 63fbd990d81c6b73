"""Packing of states into text and arrays, as a checkpoint writes them, and back.

A state is a dataclass that is marked as `resumable`, of numbers, texts, arrays, random streams, other states, and lists
and dicts of these.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, TypeVar

import numpy as np

from harmonium.exceptions import IncompatiblePartsError

Arrays = dict[str, np.ndarray]
_KINDS: dict[str, type] = {}
_Kind = TypeVar("_Kind", bound=type)
# entry by which a JSON object says what it stands for
_KIND = "kind"
#: metadata of fields that checkpoints leave out; after a resumption they have their defaults
SCRATCH = {"scratch": True}


def resumable(kind: _Kind) -> _Kind:
    """Snapshot a dataclass as one that checkpoints can hold, by its name, which no other may have."""
    registered = _KINDS.setdefault(kind.__name__, kind)
    if registered is not kind:
        raise TypeError(
            f"A checkpoint would take {kind.__module__}.{kind.__name__} for that of {registered.__module__}."
        )
    return kind


def pack(value: Any, name: str, arrays: Arrays) -> Any:
    """Return a state as what JSON can hold; its arrays are added to ``arrays``, by names that begin with ``name``."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if np.isfinite(value) else {_KIND: "float", "value": repr(value)}
    if isinstance(value, np.ndarray):
        # products round differently where rows and columns lie in memory the other way round
        turned = value.flags.f_contiguous and not value.flags.c_contiguous
        arrays[name] = np.ascontiguousarray(value.T if turned else value)
        return {_KIND: "array", "name": name, "turned": turned}
    if isinstance(value, np.random.Generator):
        return {_KIND: "stream", "state": stream_state(value)}
    if isinstance(value, list | tuple):
        return [pack(item, f"{name}/{number}", arrays) for number, item in enumerate(value)]
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {_KIND: "dict", "items": {key: pack(item, f"{name}/{key}", arrays) for key, item in value.items()}}
    kind = type(value).__name__
    if _KINDS.get(kind) is not type(value):
        raise IncompatiblePartsError(
            f"A checkpoint holds numbers, texts and arrays, in lists and dicts; got {value!r} as {name}; let the part "
            "keep a dict of arrays from batch to batch, or pass no checkpoint."
        )
    kept = [entry.name for entry in fields(_KINDS[kind]) if "scratch" not in entry.metadata]
    items = {entry: pack(getattr(value, entry), f"{name}/{entry}", arrays) for entry in kept}
    return {_KIND: kind, "items": items}


def unpack(packed: Any, arrays: Mapping[str, np.ndarray]) -> Any:
    """Return the state that `pack` was given."""
    if isinstance(packed, list):
        return [unpack(item, arrays) for item in packed]
    if not isinstance(packed, dict):
        return packed
    kind = packed[_KIND]
    if kind == "float":
        return float(packed["value"])
    if kind == "array":
        array = arrays[packed["name"]]
        return array.T if packed["turned"] else array
    if kind == "stream":
        return stream_in(packed["state"])
    items = {key: unpack(item, arrays) for key, item in packed["items"].items()}
    return items if kind == "dict" else _KINDS[kind](**items)


def stream_state(rng: np.random.Generator) -> dict[str, Any]:
    """Return the state of a random stream; refuse generators whose state JSON cannot hold."""
    state = dict(rng.bit_generator.state)
    if state["bit_generator"] != "PCG64":  # the only one that estimators make
        raise TypeError(f"A checkpoint needs the random numbers of PCG64; got {state['bit_generator']}; pass a seed.")
    return state


def stream_in(state: dict[str, Any]) -> np.random.Generator:
    """Return a random stream in a state."""
    rng = np.random.default_rng(0)
    rng.bit_generator.state = state
    return rng
