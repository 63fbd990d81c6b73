"""Every Python block of the README runs, in order, in one namespace; the two commands are the ones CI runs."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)


def wines_are_here() -> bool:
    home = os.environ.get("HARMONIUM_DATA", "")
    return bool(home) and (Path(home) / "wines").is_dir()


def test_there_are_examples() -> None:
    assert len(BLOCKS) >= 2


def test_every_block_of_the_readme_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {}
    for number, block in enumerate(BLOCKS):
        if "load_wines" in block and not wines_are_here():
            continue
        exec(compile(block, f"README block {number + 1}", "exec"), namespace)


def test_the_test_command_is_the_one_ci_runs() -> None:
    commands = re.findall(r"```(?:bash|sh)\n(.*?)```", README, flags=re.DOTALL)
    assert any("harmonium demo" in command for command in commands)
    tests = next(command.strip() for command in commands if "pytest" in command)
    script = (ROOT / ".ci" / "run").read_text()
    for part in tests.split("&&"):
        # CI keeps pip quiet, nothing else differs
        assert part.strip().replace("pip install", "pip install --quiet") in script or part.strip() in script


def test_pictures_and_files_named_in_the_readme_exist() -> None:
    for target in re.findall(r"\]\(((?!http)[^)#]+)\)", README):
        assert (ROOT / target).exists(), target
