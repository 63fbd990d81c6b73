"""Settings and results as JSON and back: plain values, containers, arrays, and parts by their registered names."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

import numpy as np

from harmonium.exceptions import ModelFileError
from harmonium.parts import Part, part_by_name

# truth values, numbers, texts, bytes, dates and durations, objects
_ARRAY_KINDS = "biufUSMmO"
# no class or name is that long, and a file must not ask for more memory than it has content
_LARGEST_ITEM = 1_000_000
_BY_FIELDS: dict[type, tuple[str, ...]] = {}


def keep_by_fields(kind: type, *fields: str) -> None:
    """Let files hold objects of a class by the arguments of its constructor, which are its attributes.

    Parameters
    ----------
    kind : type
        The class.
    *fields : str
        Names of the arguments; no other class has the same.
    """

    def decode_fields(value: dict[str, Any], where: str) -> Any:
        return kind(**{field: decode(value[field], where) for field in fields})

    _BY_FIELDS[kind] = fields
    _DECODERS[frozenset(fields)] = decode_fields


def encode(value: Any, where: str) -> Any:
    """Return JSON for a value; everything but numbers, texts and lists becomes an object with one telling key.

    Parameters
    ----------
    value : object
        What a constructor was given.
    where : str
        Name of the parameter, for the message if it cannot be saved.

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
    if isinstance(value, list):
        return [encode(entry, where) for entry in value]
    if isinstance(value, tuple):
        return {"tuple": [encode(entry, where) for entry in value]}
    if isinstance(value, dict):
        # pairs, as keys need not be texts
        return {"mapping": [[encode(key, where), encode(entry, where)] for key, entry in value.items()]}
    if isinstance(value, slice):
        return {"slice": [encode(bound, where) for bound in (value.start, value.stop, value.step)]}
    if isinstance(value, range):
        return {"range": [value.start, value.stop, value.step]}
    if isinstance(value, np.ndarray) and value.dtype.kind in _ARRAY_KINDS and value.dtype != np.longdouble:
        return _encode_array(value, where)
    if type(value) in _BY_FIELDS:
        return {field: encode(getattr(value, field), where) for field in _BY_FIELDS[type(value)]}
    if isinstance(value, Part):
        return encode_part(value, where)
    raise TypeError(
        f"A model is saved with parameters that are numbers, texts, parts, or containers of them; {where} is of type "
        f"{type(value).__name__}; change it with set_params before saving."
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


def decode(value: Any, where: str) -> Any:
    """Return the value that `encode` wrote; refuse, with a `ModelFileError`, what it does not write."""
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, list):
        return [decode(entry, where) for entry in value]
    if isinstance(value, dict):
        decoder = _DECODERS.get(frozenset(value))
        if decoder is not None:
            try:
                return decoder(value, where)
            except (TypeError, ValueError, OverflowError, AttributeError) as error:
                if isinstance(error, ModelFileError):
                    raise
                raise _unreadable(value, where) from error
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
            f"A part in a model file must have settings that make sense; {where} has others "
            f"({str(error).rstrip('.')}); save the model again."
        ) from error
    return result


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


def _decode_mapping(value: dict[str, Any], where: str) -> dict[Any, Any]:
    return {decode(key, where): decode(entry, where) for key, entry in value["mapping"]}


def _decode_slice(value: dict[str, Any], where: str) -> slice:
    start, stop, step = (decode(bound, where) for bound in value["slice"])
    return slice(start, stop, step)


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


_DECODERS: dict[frozenset[str], Any] = {
    frozenset({"float"}): lambda value, where: float(value["float"]),
    frozenset({"tuple"}): lambda value, where: tuple(decode(entry, where) for entry in value["tuple"]),
    frozenset({"mapping"}): _decode_mapping,
    frozenset({"slice"}): _decode_slice,
    frozenset({"range"}): lambda value, where: range(*value["range"]),
    frozenset({"array", "dtype"}): _decode_array,
    frozenset({"array", "dtype", "shape"}): _decode_array,
    frozenset({"part", "parameters"}): decode_part,
}
