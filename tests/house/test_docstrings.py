"""Everything a user can import is documented in numpydoc form.

Public is what the `__all__` of a documented module names, and of its classes the methods and properties that harmonium
itself defines, inherited ones included. `numpydoc.validate` judges each docstring by all of its checks but those left
out below. A method that overrides one of a base class in harmonium may have a docstring of one line: its sections are
those of the base. Examples are asked of classes and functions, not of methods.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from functools import cached_property
from types import ModuleType
from typing import Any, NamedTuple

import pytest
from numpydoc.docscrape import get_doc_object
from numpydoc.validate import ERROR_MSGS, validate

import harmonium
import harmonium.features

FEATURES = [module.name for module in pkgutil.iter_modules(harmonium.features.__path__) if module.name[0] != "_"]
#: every module whose names are for users
DOCUMENTED = [
    "harmonium",
    "harmonium.datasets",
    "harmonium.exceptions",
    "harmonium.families",
    *(f"harmonium.features.{name}" for name in FEATURES),
    "harmonium.heads",
    "harmonium.hidden",
    "harmonium.inspection",
    "harmonium.metrics",
    "harmonium.model_folder",
    "harmonium.objectives",
    "harmonium.recipes",
    "harmonium.report",
    "harmonium.search",
    "harmonium.training",
    "harmonium.tables",
    "harmonium.views",
    "harmonium.weak",
]

#: the other modules: what of them is for users is imported by a module above
INTERNAL = {
    "additive",
    "cli",
    "core",
    "energy",
    "estimators",
    "evaluation",
    "explore",
    "files",
    "inference",
    "kernels",
    "linear",
    "loading",
    "persist",
    "queries",
    "storage",
}

#: checks of numpydoc that are left out, and why
LEFT_OUT = {
    "ES01": "a summary may say everything there is to say",
    "SA01": "'See Also' is written where it helps",
    "RT02": "a single returned value may have a name, which says more than its type alone",
}
CHECKED = ERROR_MSGS.keys() - LEFT_OUT.keys()
#: what a method may leave to the method that it overrides
LEFT_TO_THE_BASE = {"PR01", "RT01", "YD01"}
#: a summary must be shorter than this, so that it fits into an index
SUMMARY_WIDTH = 80


class Documented(NamedTuple):
    """An object whose docstring is judged, under the name that a user reads in a message."""

    name: str
    target: Any
    is_method: bool = False
    is_override: bool = False


def public_objects(module: ModuleType) -> Iterator[Documented]:
    for name in module.__all__:
        target = getattr(module, name)
        # `harmonium` gathers names that modules below it document; constants have no docstrings of their own
        if module is harmonium and is_listed_below(target):
            continue
        if inspect.isclass(target):
            yield Documented(f"{module.__name__}.{name}", target)
            yield from methods(target)
        elif inspect.isroutine(target):
            yield Documented(f"{module.__name__}.{name}", target)


def is_listed_below(target: Any) -> bool:
    below = (importlib.import_module(name) for name in DOCUMENTED if name != "harmonium")
    return any(target is getattr(module, name) for module in below for name in getattr(module, "__all__", ()))


def methods(owner: type) -> Iterator[Documented]:
    bases = [base for base in owner.__mro__ if base.__module__.partition(".")[0] == "harmonium"]
    for number, base in enumerate(bases):
        for name, member in vars(base).items():
            if name.startswith("_"):
                continue
            if isinstance(member, classmethod | staticmethod):
                member = member.__func__
            member = getattr(member, "fn", member)  # what scikit-learn's `available_if` decorates
            if inspect.isfunction(member) or isinstance(member, property | cached_property):
                overrides = any(name in vars(other) for other in bases[number + 1 :])
                yield Documented(f"{base.__module__}.{base.__qualname__}.{name}", member, True, overrides)


def faults(documented: Documented) -> list[str]:
    waived = {"EX01"} if documented.is_method else set()
    waived |= LEFT_TO_THE_BASE if documented.is_override else set()
    document = get_doc_object(documented.target)
    found = validate(document)["errors"]
    # numpydoc looks for return statements, which abstract methods do not have
    returned = getattr(documented.target, "__annotations__", {}).get("return")
    if returned not in (None, "None") and not document["Returns"] and not document["Yields"]:
        found.append(("RT01", ERROR_MSGS["RT01"]))
    found = dict.fromkeys(fault for fault in found if fault[0] in CHECKED - waived)
    messages = [f"{documented.name}: {code} {text}" for code, text in found]
    first_line = (inspect.getdoc(documented.target) or "").partition("\n")[0]
    if len(first_line) >= SUMMARY_WIDTH:
        messages.append(f"{documented.name}: the summary has {len(first_line)} characters, not below {SUMMARY_WIDTH}")
    return messages


def faults_of_module(name: str) -> list[str]:
    module = importlib.import_module(name)
    if not hasattr(module, "__all__"):
        return [f"{name}: a documented module must name in __all__ what is public"]
    # methods that several classes inherit are judged once
    return list(dict.fromkeys(message for item in public_objects(module) for message in faults(item)))


@pytest.mark.parametrize("name", DOCUMENTED)
def test_everything_public_is_documented(name: str) -> None:
    found = faults_of_module(name)
    assert not found, "\n".join([f"{len(found)} faults", *found])


def test_no_module_escapes() -> None:
    found = {module.name for module in pkgutil.iter_modules(harmonium.__path__) if not module.name.startswith("_")}
    assert found == {name.split(".")[1] for name in DOCUMENTED if "." in name} | INTERNAL
