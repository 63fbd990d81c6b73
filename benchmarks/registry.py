"""What a benchmark says of itself, and how the runner finds it.

Every module of this folder with a ``BENCHMARK`` is a benchmark; its name is that of the module.
"""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from benchmarks.results import Result

FOLDER = Path(__file__).parent
Run = Callable[[SimpleNamespace], Result]


@dataclass(frozen=True)
class Benchmark:
    """What a benchmark shows and what it takes.

    Parameters
    ----------
    title : str
        Heading of its result.
    claim : str
        What it measures, in one line.
    minutes : int
        Expected time on two cores.
    first_minutes : int, default=0
        Time that the first run takes beyond that, for features that are then kept on disk.
    data : tuple of str, default=()
        Data sets that must be in the folder named by ``HARMONIUM_DATA``.
    settings : mapping, default={}
        Names and defaults of what can be set; each becomes an option of the command line and is recorded in the result.
        Values are numbers, strings, booleans or tuples of one kind of these.
    quick : mapping or None, default=None
        Settings with which a run ends in seconds and shows nothing but that it runs.
    long : mapping or None, default=None
        Settings of a run on demand that shows more in hours; its result takes the place of the standard one.
    """

    title: str
    claim: str
    minutes: int
    first_minutes: int = 0
    data: tuple[str, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    quick: Mapping[str, Any] | None = None
    long: Mapping[str, Any] | None = None

    @property
    def takes(self) -> str:
        """Expected time in words."""
        more = f" ({self.first_minutes} more the first time)" if self.first_minutes else ""
        return f"{self.minutes} min{more}"


class UnknownBenchmark(LookupError):
    """There is no benchmark of this name."""


def names() -> list[str]:
    """Return the names of all benchmarks, in alphabetical order."""
    modules = (module.name for module in pkgutil.iter_modules([str(FOLDER)]) if not module.ispkg)
    # the runner itself is no benchmark, and importing it would run it
    return sorted(name for name in modules if name != "__main__" and hasattr(_module(name), "BENCHMARK"))


def load(name: str) -> tuple[Benchmark, Run]:
    """Return a benchmark and its function by name."""
    exists = name.isidentifier() and importlib.util.find_spec(f"benchmarks.{name}") is not None
    if not exists or not hasattr(_module(name), "BENCHMARK"):
        raise UnknownBenchmark(f"There is no benchmark {name!r}; `python -m benchmarks list` shows all.")
    module = _module(name)
    return module.BENCHMARK, module.run


def _module(name: str) -> Any:
    return importlib.import_module(f"benchmarks.{name}")
