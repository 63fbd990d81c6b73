"""Print the lowest version of every dependency that pyproject.toml allows, as constraints for pip."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path


def lowest(extras: list[str]) -> list[str]:
    """Return a line ``name==version`` for each dependency of the package and of some of its extras."""
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
    wanted = [*project["dependencies"], *(need for extra in extras for need in project["optional-dependencies"][extra])]
    found = (re.fullmatch(r"([\w.-]+)(?:\[[\w,]*\])?>=([\w.]+)", need) for need in wanted)
    return [f"{match[1]}=={match[2]}" for match in found if match]


sys.stdout.write("\n".join(lowest(sys.argv[1:])) + "\n")
