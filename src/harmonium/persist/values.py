"""Constructor parameters as JSON and back: plain values, containers, columns, and parts by their registered names."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

import numpy as np

from harmonium.exceptions import ModelFileError
from harmonium.parts import Part, part_by_name
from harmonium.views import Columns

_ARRAY_KINDS = {"b": "bool", "i": "int64", "u": "int64", "f": "float64", "U": "str", "O": "str"}


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
    if isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype.kind in _ARRAY_KINDS:
        kind = _ARRAY_KINDS[value.dtype.kind]
        entries = [str(entry) for entry in value] if kind == "str" else value.tolist()
        return {"array": [encode(entry, where) for entry in entries], "kind": kind}
    if isinstance(value, np.ndarray) and value.ndim == 2 and value.dtype.kind in "bif":
        return {"rows": [encode(row, where) for row in value]}
    if isinstance(value, Columns):
        entries = (value.columns, value.family, value.feature_names)
        return dict(
            zip(("columns", "family", "feature_names"), (encode(entry, where) for entry in entries), strict=True)
        )
    if isinstance(value, Part):
        return encode_part(value, where)
    raise TypeError(
        f"A model is saved with parameters that are numbers, texts, parts, or containers of them; {where} is of type "
        f"{type(value).__name__}; change it with set_params before saving."
    )


def encode_part(part: Part, where: str) -> dict[str, Any]:
    """Return registered name and constructor parameters of a part."""
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
    parameters = part.get_params(deep=False)
    return {"part": name, "parameters": {key: encode(entry, f"{where}.{key}") for key, entry in parameters.items()}}


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
            except (TypeError, ValueError, OverflowError) as error:
                if isinstance(error, ModelFileError):
                    raise
                raise _unreadable(value, where) from error
    raise _unreadable(value, where)


def decode_part(value: Any, where: str) -> Part:
    """Return a part from its registered name and parameters; its constructor only stores them."""
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
    check_names(parameters, part._get_param_names(), f"{where} ({name})")
    decoded = {key: decode(entry, f"{where}.{key}") for key, entry in parameters.items()}
    try:
        return part(**decoded)
    except TypeError as error:
        raise ModelFileError(
            f"A part in a model file needs all of its required parameters; {where} ({name}) has only "
            f"{sorted(parameters)}; save the model again."
        ) from error


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


def _decode_array(value: dict[str, Any], where: str) -> np.ndarray:
    if value["kind"] not in _ARRAY_KINDS.values():
        raise _unreadable(value, where)
    entries = [decode(entry, where) for entry in value["array"]]
    return np.array(entries, dtype=object if value["kind"] == "str" else value["kind"])


_DECODERS: dict[frozenset[str], Any] = {
    frozenset({"float"}): lambda value, where: float(value["float"]),
    frozenset({"tuple"}): lambda value, where: tuple(decode(entry, where) for entry in value["tuple"]),
    frozenset({"mapping"}): _decode_mapping,
    frozenset({"slice"}): _decode_slice,
    frozenset({"range"}): lambda value, where: range(*value["range"]),
    frozenset({"array", "kind"}): _decode_array,
    frozenset({"rows"}): lambda value, where: np.stack([decode(row, where) for row in value["rows"]]),
    frozenset({"columns", "family", "feature_names"}): lambda value, where: Columns(
        *(decode(value[key], where) for key in ("columns", "family", "feature_names"))
    ),
    frozenset({"part", "parameters"}): decode_part,
}
