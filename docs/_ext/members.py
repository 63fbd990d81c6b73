"""Which members of a class its page of the reference shows: those that harmonium defines."""

from __future__ import annotations

import importlib
import inspect
from functools import cached_property


def own_members(full_name: str) -> dict[str, list[str]]:
    """Return the names of methods and properties that a class has from harmonium, inherited ones included."""
    module, _, name = full_name.rpartition(".")
    owner = getattr(importlib.import_module(module), name)
    found: dict[str, list[str]] = {"methods": [], "properties": []}
    for member in sorted(dir(owner)):
        value = inspect.getattr_static(owner, member)
        home = next((base for base in owner.__mro__ if member in vars(base)), object)
        if member.startswith("_") or home.__module__.partition(".")[0] != "harmonium":
            continue
        if isinstance(value, property | cached_property):
            found["properties"].append(member)
        elif callable(getattr(value, "__func__", value)) or hasattr(value, "fn"):
            found["methods"].append(member)
    return found
