"""Serialiser of model files and checkpoints: values as JSON and tensors, and back.

Values are numbers, texts, containers, arrays, random streams, parts by their registered names, and dataclasses that are
`serializable`. Everything but numbers, texts and lists becomes a JSON object with one telling key.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields
from numbers import Integral, Real
from typing import Any, TypeVar

import numpy as np

from harmonium.core.parts import Part, part_by_name
from harmonium.exceptions import ModelFileError

Tensors = dict[str, np.ndarray]
# truth values, numbers, texts, bytes, dates and durations, objects
_ARRAY_KINDS = "biufUSMmO"
# no class or name is that long, and a file must not ask for more memory than it has content
_LARGEST_ITEM = 1_000_000
# letters of a reason; what parts there are makes some very long
_LONGEST_REASON = 150
_KINDS: dict[str, type] = {}
_Kind = TypeVar("_Kind", bound=type)
#: metadata of fields that files leave out; they have their defaults when they are read
SCRATCH = {"scratch": True}


def serializable(kind: _Kind) -> _Kind:
    """Let files hold a dataclass by its name, which no other may have: a class decorator."""
    registered = _KINDS.setdefault(kind.__name__, kind)
    if registered is not kind:
        raise TypeError(f"A file would take {kind.__module__}.{kind.__name__} for that of {registered.__module__}.")
    return kind


def encode(value: Any, where: str, tensors: Tensors | None = None) -> Any:
    """Return JSON for a value.

    Parameters
    ----------
    value : object
        What a constructor was given, or what was learned.
    where : str
        Name of the value, for tensors and for the message if it cannot be saved.
    tensors : dict of str to ndarray, optional
        Where arrays of numbers go, by names that begin with ``where``. Default: they become lists.

    Returns
    -------
    object
        Numbers, texts, lists and dicts of them.

    Examples
    --------
    >>> encode({"words": slice(0, 3)}, "views")
    {'mapping': [['words', {'slice': [0, 3, None]}]]}
    >>> decode(encode({"words": slice(0, 3)}, "views"), "views")
    {'words': slice(0, 3, None)}
    """
    if value is None or isinstance(value, str | bool | np.bool_):
        return bool(value) if isinstance(value, np.bool_) else value
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        number = float(value)
        return number if math.isfinite(number) else {"float": str(number)}
    if isinstance(value, list | tuple):
        entries = [encode(entry, f"{where}/{number}", tensors) for number, entry in enumerate(value)]
        return entries if isinstance(value, list) else {"tuple": entries}
    if isinstance(value, dict):
        # pairs, as keys need not be texts
        return {"mapping": [[encode(k, where), encode(entry, f"{where}/{k}", tensors)] for k, entry in value.items()]}
    if isinstance(value, slice):
        return {"slice": [encode(bound, where) for bound in (value.start, value.stop, value.step)]}
    if isinstance(value, range):
        return {"range": [value.start, value.stop, value.step]}
    if isinstance(value, np.ndarray) and value.dtype.kind in _ARRAY_KINDS and value.dtype != np.longdouble:
        if tensors is not None and value.dtype.kind in "biuf" and value.dtype.isnative:
            return _encode_tensor(value, where, tensors)
        return _encode_array(value, where)
    if isinstance(value, np.random.Generator):
        return {"stream": _stream_state(value)}
    kind: Any = _KINDS.get(type(value).__name__)
    if kind is type(value):
        kept = [entry.name for entry in fields(kind) if "scratch" not in entry.metadata]
        held = {name: encode(getattr(value, name), f"{where}/{name}", tensors) for name in kept}
        return {"kind": kind.__name__, "fields": held}
    if isinstance(value, Part):
        return encode_part(value, where)
    raise TypeError(
        f"A file holds numbers, texts, arrays and parts, and containers of them; {where} is of type "
        f"{type(value).__name__}; replace it by one of them before saving."
    )


def encode_part(part: Part, where: str) -> dict[str, Any]:
    """Return registered name and constructor parameters of a part; refuse settings that make no sense."""
    name = part.registered_name()
    try:
        known = part_by_name(name) is type(part)
    except ValueError:
        known = False
    if not known:
        raise TypeError(
            f"A model is saved with parts that are registered under their own name; {where} is {type(part).__name__}, "
            "which is not; give its class a role and a name of its own."
        )
    parameters = {key: entry for key, entry in part.get_params(deep=False).items() if key not in part.not_saved}
    encoded = {key: encode(entry, f"{where}.{key}") for key, entry in parameters.items()}
    type(part)(**parameters).check()  # what could not be loaded is not saved
    return {"part": name, "parameters": encoded}


def decode(value: Any, where: str, tensors: Mapping[str, np.ndarray] | None = None) -> Any:
    """Return the value that `encode` wrote; refuse, with a `ModelFileError`, what it does not write."""
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, list):
        return [decode(entry, where, tensors) for entry in value]
    if not isinstance(value, dict):
        raise _unreadable(value, where)
    try:
        return _decode_object(value, where, tensors or {})
    except (TypeError, ValueError, KeyError, OverflowError, AttributeError) as error:
        if isinstance(error, ModelFileError):
            raise
        raise _unreadable(value, where) from error


def _decode_object(value: dict[str, Any], where: str, tensors: Mapping[str, np.ndarray]) -> Any:
    """Return what a JSON object stands for, which its keys say."""
    match len(value), value:
        case 1, {"float": number}:
            return float(number)
        case 1, {"tuple": entries}:
            return tuple(decode(entries, where, tensors))
        case 1, {"mapping": pairs}:
            return {decode(key, where): decode(entry, where, tensors) for key, entry in pairs}
        case 1, {"slice": [start, stop, step]}:
            return slice(*(decode(bound, where) for bound in (start, stop, step)))
        case 1, {"range": bounds}:
            return range(*bounds)
        case 2 | 3, {"array": _, "dtype": _} if len(value) == 2 or "shape" in value:
            return _decode_array(value, where)
        case 2, {"tensor": name, "transposed": transposed}:
            return tensors[name].T if transposed else tensors[name]
        case 1, {"stream": state}:
            return _decode_stream(state)
        case 2, {"kind": kind, "fields": held}:
            return _decode_kind(kind, held, where, tensors)
        case 3, {"columns": _, "family": _, "feature_names": _}:
            return _decode_kind("Columns", value, where, tensors)
        case 2, {"part": _, "parameters": _}:
            return decode_part(value, where)
    raise _unreadable(value, where)


def decode_part(value: Any, where: str) -> Part:
    """Return a part from its registered name and parameters, which it checks itself."""
    if not isinstance(value, dict) or set(value) != {"part", "parameters"}:
        raise _unreadable(value, where)
    name, parameters = value["part"], value["parameters"]
    if not isinstance(name, str) or not isinstance(parameters, dict):
        raise _unreadable(value, where)
    try:
        part = part_by_name(name)
    except ValueError as error:
        raise ModelFileError(
            f"A model file may only name parts of this version of harmonium; {where} is {name!r}; use the version "
            "that saved it, or import the module that defines the part first."
        ) from error
    parameters = {part.formerly.get(key, key): entry for key, entry in parameters.items()}
    kept = [key for key in part._get_param_names() if key not in part.not_saved]
    check_names(parameters, kept, f"{where} ({name})")
    decoded = {key: decode(entry, f"{where}.{key}") for key, entry in parameters.items()}
    try:
        result = part(**decoded)
    except TypeError as error:
        raise ModelFileError(
            f"A part in a model file needs all of its required parameters; {where} ({name}) has only "
            f"{sorted(parameters)}; save the model again."
        ) from error
    try:
        result.check()
    except (ValueError, TypeError, ArithmeticError) as error:
        raise ModelFileError(
            f"A part in a model file must have settings that make sense; {where} has others ({reason_of(error)}); save "
            "the model again."
        ) from error
    return result


def reason_of(error: Exception) -> str:
    """Return what an error says, without its full stop, cut to a length that is read within a sentence."""
    text = str(error).rstrip(".")
    return text if len(text) <= _LONGEST_REASON else f"{text[:_LONGEST_REASON]}…"


def check_names(given: dict[str, Any], known: list[str], where: str) -> None:
    """Refuse constructor parameters that this version does not have."""
    unknown = sorted(set(given) - set(known))
    if unknown:
        raise ModelFileError(
            f"A model file may only hold parameters that this version of harmonium knows; {where} has {unknown[0]!r}; "
            "use the version that saved it."
        )


def _unreadable(value: Any, where: str) -> ModelFileError:
    """Return the error for a value that `encode` does not write."""
    return ModelFileError(
        f"A model file must describe {where} by values this version of harmonium writes; found {str(value)[:60]!r}; "
        "save the model again."
    )


def _encode_tensor(array: np.ndarray, where: str, tensors: Tensors) -> dict[str, Any]:
    """Return the name of an array, which goes to the tensors."""
    # products round differently where rows and columns lie in memory the other way round
    transposed = array.flags.f_contiguous and not array.flags.c_contiguous
    tensors[where] = np.asarray(array.T if transposed else array, order="C")
    return {"tensor": where, "transposed": transposed}


def _stream_state(rng: np.random.Generator) -> dict[str, Any]:
    """Return the state of a random stream; refuse generators whose state JSON cannot hold."""
    state = dict(rng.bit_generator.state)
    if state["bit_generator"] != "PCG64":  # the only one that estimators make
        raise TypeError(f"A checkpoint needs the random numbers of PCG64; got {state['bit_generator']}; pass a seed.")
    return state


def _decode_stream(state: dict[str, Any]) -> np.random.Generator:
    rng = np.random.default_rng(0)
    rng.bit_generator.state = state
    return rng


def _decode_kind(kind: str, held: dict[str, Any], where: str, tensors: Mapping[str, np.ndarray]) -> Any:
    """Return a dataclass from its fields; those that a file does not have take their defaults."""
    return _KINDS[kind](**{name: decode(entry, f"{where}/{name}", tensors) for name, entry in held.items()})


def _encode_array(array: np.ndarray, where: str) -> dict[str, Any]:
    """Return the entries of an array, its dtype, and its shape unless it has one dimension."""
    flat = array.ravel()
    if array.dtype.kind in "Mm":
        flat = flat.view(np.int64)  # dates and durations are counts of their unit
    entries = [entry.decode("latin-1") for entry in flat.tolist()] if array.dtype.kind == "S" else flat.tolist()
    shape = {} if array.ndim == 1 else {"shape": list(array.shape)}
    return {"array": [encode(entry, where) for entry in entries], "dtype": array.dtype.str, **shape}


def _decode_array(value: dict[str, Any], where: str) -> np.ndarray:
    dtype = np.dtype(str(value["dtype"]))
    if dtype.kind not in _ARRAY_KINDS or dtype == np.longdouble or dtype.itemsize > _LARGEST_ITEM:
        raise _unreadable(value, where)
    entries = [decode(entry, where) for entry in value["array"]]
    if dtype.kind == "S":
        entries = [entry.encode("latin-1") for entry in entries]
    flat = np.empty(len(entries), dtype=np.int64 if dtype.kind in "Mm" else dtype)
    for place, entry in enumerate(entries):  # one by one, as an object may be a list
        flat[place] = entry
    return flat.view(dtype).reshape(value.get("shape", -1))
