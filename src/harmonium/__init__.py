"""harmonium: one predictive, readable latent space from several kinds of data at once."""

from __future__ import annotations

import ast
import importlib
import pkgutil
from typing import Any


def _origins() -> dict[str, tuple[str, str]]:
    """Return the module of each public name and its name there, as the stub beside this file says."""
    stub = ast.parse(pkgutil.get_data(__name__, "__init__.pyi") or b"")
    imports = [node for node in stub.body if isinstance(node, ast.ImportFrom)]
    return {name.asname or name.name: (str(node.module), name.name) for node in imports for name in node.names}


_ORIGINS = _origins()
__all__ = sorted(_ORIGINS)


def __getattr__(name: str) -> Any:
    """Import a public name or a subpackage when it is first asked for, as all of them together take seconds."""
    module, original = _ORIGINS.get(name, (__name__, name))
    if module != __name__:
        value = getattr(importlib.import_module(module), original)
        globals()[name] = value
        return value
    try:
        return importlib.import_module(f"{__name__}.{name}")
    except ModuleNotFoundError as error:
        if error.name != f"{__name__}.{name}":
            raise
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None


def __dir__() -> list[str]:
    """Return what is there and what can be imported."""
    return sorted({*globals(), *__all__})
