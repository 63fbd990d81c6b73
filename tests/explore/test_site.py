"""The site of files: written once, texts escaped, every address in it a file of its own."""

from __future__ import annotations

import json
import re
from pathlib import Path

from typer.testing import CliRunner

from harmonium import ModelFolder
from harmonium.cli import app
from harmonium.explore.site import data_script, site_script
from tests.cases.explore import SCRIPT


def test_the_command_writes_a_site_whose_addresses_are_there(rooms: ModelFolder, tmp_path: Path) -> None:
    arguments = ["explore", str(rooms.path), "--export", str(tmp_path / "site")]
    told = CliRunner().invoke(app, arguments)
    assert told.exit_code == 0, told.output
    pages = {path.name: path.read_text(encoding="utf-8") for path in (tmp_path / "site").glob("*.html")}
    assert {"index.html", "topics.html", "topic_0.html", "columns.html", "column_3.html"} <= set(pages)
    for page in pages.values():
        assert SCRIPT not in page
        for address in re.findall(r'(?:src|href|data-values)="([^"#]+)', page):
            assert address == "data:," or (tmp_path / "site" / address).is_file(), address
    first = (tmp_path / "site" / "data" / "items_0.js").read_text(encoding="utf-8")
    assert "<" not in first
    items = json.loads(first.partition(", ")[2].removesuffix(");\n"))
    assert [item["values"]["kind"] for item in items] == rooms.items["kind"].tolist()
    again = CliRunner().invoke(app, arguments)
    assert again.exit_code == 2
    assert "is not there yet" in " ".join(again.output.split())


def test_data_are_texts_whatever_they_hold() -> None:
    hostile = {"a": "</script><!--", "b": "\u2028\u2029", "c": "&lt;"}
    written = data_script("data/x.js", hostile)
    assert written.isascii() and not set(written) & set("<>&")
    assert json.loads(written.partition(", ")[2].removesuffix(");\n")) == hostile


def test_the_script_of_a_site_has_no_modules() -> None:
    script = site_script()
    assert not re.search(r"^\s*(import|export) ", script, re.MULTILINE)
