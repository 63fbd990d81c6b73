"""What pages of the reference show of a class, and docstrings as reStructuredText reads them."""

from __future__ import annotations

import importlib
import inspect
import re
from functools import cached_property
from typing import Any

from sphinx.application import Sphinx

#: names such as n_components_, which would be links to a target "n_components"; those in backticks are none
FITTED_NAME = re.compile(r"(``.*?``|`[^`]*`)|\b(\w+)_(?!\w)")


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


def escape_fitted_names(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Write ``n_components\\_`` for ``n_components_``, but not in examples."""
    for place, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "..")):
            lines[place] = FITTED_NAME.sub(lambda found: found[1] or rf"{found[2]}\_", line)


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("autodoc-process-docstring", escape_fitted_names, priority=900)  # after numpydoc
    return {"parallel_read_safe": True, "parallel_write_safe": True}
