"""Check of values from a file against the annotations of the fields that are to hold them."""

from __future__ import annotations

from dataclasses import is_dataclass
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints


def conforms(value: Any, annotation: Any) -> bool:
    """Return whether a value is what an annotation says: a class, a container of them, or one of several.

    Parameters
    ----------
    value : object
        Any value; all fields of a dataclass are looked at.
    annotation : type
        The annotation. A whole number is also a float, but a truth value is neither.

    Returns
    -------
    bool
        Whether it is.

    Examples
    --------
    >>> conforms({"error": [0.5, 1]}, dict[str, list[float]]), conforms(True, float), conforms(None, float | None)
    (True, False, True)
    >>> conforms(("words", 3), tuple[str, int]), conforms(("words", "bed"), tuple[str, int])
    (True, False)
    """
    origin, inner = get_origin(annotation), get_args(annotation)
    if annotation is Any:
        return True
    if origin in (Union, UnionType):
        return any(conforms(value, one) for one in inner)
    if origin is Literal:
        return isinstance(value, str) and value in inner
    if origin is dict:
        key, entry = inner
        return isinstance(value, dict) and all(conforms(k, key) and conforms(v, entry) for k, v in value.items())
    if origin is tuple and len(inner) > 1 and inner[1] is not Ellipsis:
        same = isinstance(value, tuple) and len(value) == len(inner)
        return same and all(conforms(entry, one) for entry, one in zip(value, inner, strict=True))
    if origin in (list, tuple):
        return isinstance(value, origin) and all(conforms(entry, inner[0]) for entry in value)
    if annotation in (int, float):
        return isinstance(value, int | annotation) and not isinstance(value, bool)
    if not isinstance(value, annotation):
        return False
    hints = get_type_hints(annotation) if is_dataclass(annotation) else {}
    return all(conforms(getattr(value, name), hint) for name, hint in hints.items())
