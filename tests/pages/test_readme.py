"""The README is short, and its two commands are the ones CI runs; `tests/pages/test_pages.py` runs its code."""

from __future__ import annotations

import re

from tests.cases.repository import ROOT

README = (ROOT / "README.md").read_text()


def test_it_can_be_read_in_two_minutes() -> None:
    assert len(README.splitlines()) <= 150
    (example,) = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    lines = [line for line in example.splitlines() if line and not line.startswith(("import", "from"))]
    assert len(lines) <= 15


def test_the_commands_are_the_ones_ci_runs() -> None:
    commands = re.findall(r"```(?:bash|sh)\n(.*?)```", README, flags=re.DOTALL)
    assert any("harmonium demo" in command for command in commands)
    tests = next(command.strip() for command in commands if "pytest" in command)
    script = (ROOT / ".ci" / "run").read_text()
    site = next(one for one in re.findall(r"`([^`\n]+)`", README) if "sphinx" in one)
    # CI keeps pip and Sphinx quiet, and installs what the site needs together with the tools of lint
    assert tests.replace("pip install", "pip install --quiet") in script.splitlines()
    install, build = (part.strip() for part in site.split("&&"))
    assert build.replace("-m sphinx", "-m sphinx -q") in script
    assert install.replace("pip install", "pip install --quiet").replace("[docs]", "[lint,docs]") in script
