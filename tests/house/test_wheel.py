"""The wheel: the same bytes from every build, with a bill of materials that is that of pyproject.toml."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from tests.cases.repository import ROOT

sys.path.insert(0, str(ROOT / "docs"))

import closure

pytest.importorskip("hatchling", reason="hatchling is not installed")
PARTS = ("pyproject.toml", "README.md", "LICENSE", "harmonium.cdx.json")


def built(place: Path, age: float) -> bytes:
    """The wheel that is made of a copy of the sources, whose files were touched at some time."""
    shutil.copytree(ROOT / "src", place / "src", ignore=shutil.ignore_patterns("__pycache__"))
    for name in PARTS:
        shutil.copy(ROOT / name, place / name)
    for path in place.rglob("*"):
        os.utime(path, (age, age))
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel"]
    subprocess.run(command, cwd=place, check=True, capture_output=True)
    [wheel] = (place / "dist").glob("*.whl")
    return wheel.read_bytes()


def test_two_builds_give_the_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    wheels = []
    for number, age in enumerate((1.6e9, 1.7e9)):
        place = tmp_path / f"{'long' * 9 * number}{number}"
        place.mkdir()
        wheels.append(built(place, age))
    assert wheels[0] == wheels[1]
    (tmp_path / "x.whl").write_bytes(wheels[0])
    with zipfile.ZipFile(tmp_path / "x.whl") as archive:
        [bill] = [name for name in archive.namelist() if ".dist-info/sboms/" in name]
        assert archive.read(bill).decode() == closure.bill()
        assert not [name for name in archive.namelist() if "__pycache__" in name or name.startswith("tests")]


def test_the_bill_of_materials_is_that_of_the_project() -> None:
    text = closure.BILL.read_text(encoding="utf-8")
    assert text == closure.bill(), "write it again: python docs/closure.py"
    names = {component["name"] for component in json.loads(text)["components"]}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert names >= {re.split("[><=]", need)[0] for need in project["dependencies"]}


def test_the_table_of_the_page_has_every_dependency() -> None:
    """Sizes and licences are measured by hand, and by no test, as that takes an installation."""
    [written] = closure.TABLE.findall(closure.PAGE.read_text(encoding="utf-8"))
    rows = {line.split("|")[1].strip().lower().replace("_", "-") for line in written.splitlines() if "|" in line}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert {re.split("[><=]", need)[0].lower() for need in project["dependencies"]} <= rows
