"""Every Python block of the README and of the site runs, and prints what its page shows."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer

from harmonium.cli import app
from tests.cases.repository import ROOT

sys.path.insert(0, str(ROOT / "docs"))

import pages

MARKDOWN = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
# pages that a build of the site has made are no source
WITH_CODE = [path for path in MARKDOWN if "_build" not in path.parts and pages.BLOCK.search(path.read_text())]


@pytest.mark.parametrize("path", WITH_CODE, ids=lambda path: str(path.relative_to(ROOT).with_suffix("")))
def test_the_code_of_a_page_runs_and_prints_what_is_shown(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    for block in pages.run(path):
        if block.shown is not None:
            assert not (how := pages.disagreement(block.shown, block.printed)), f"{how}; printed:\n{block.printed}"


def test_every_page_begins_without_any_data_folder() -> None:
    for path in WITH_CODE:
        page = path.read_text()
        (first, *_) = pages.BLOCK.finditer(page)
        assert not pages.needs(page[: first.start()]), path


def test_blocks_below_a_need_wait_for_the_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    show = "```python\nimport os\n\nprint(os.environ.get('HARMONIUM_DATA'))\n```\n"
    page = tmp_path / "page.md"
    page.write_text(f"{show}\n<!-- needs: hotels -->\n\n{show}")
    monkeypatch.setenv("HARMONIUM_DATA", str(tmp_path))
    assert [block.printed for block in pages.run(page)] == ["None\n"]
    assert pages.with_outputs(page.read_text(), list(pages.run(page))).count("```output") == 1
    (tmp_path / "hotels").mkdir()
    assert [block.printed for block in pages.run(page)] == ["None\n", f"{tmp_path}\n"]


@pytest.mark.parametrize(
    ("shown", "printed", "how"),
    [
        ("accuracy 0.95, 12 topics", "accuracy 0.97, 12 topics", ""),
        ("accuracy 0.95", "accuracy 0.75", "0.95 is shown, 0.75 was printed"),
        ("12 topics", "15 topics", "12 is shown, 15 was printed"),
        ("gold, silver", "iron, lead", "only 0% of the words are the same"),
        ("1 2", "1 2 3", "2 numbers are shown, 3 were printed"),
    ],
)
def test_what_differs_is_found(shown: str, printed: str, how: str) -> None:
    assert pages.disagreement(shown, printed) == how


def test_outputs_are_written_below_their_blocks() -> None:
    page = "Look:\n\n```python\nprint(1)\n```\n\n```output\n0\n```\n\nand\n\n```python\nx = 1\n```\n"
    blocks = [pages.Block("print(1)\n", "0\n", "1\n"), pages.Block("x = 1\n", None, "")]
    assert pages.with_outputs(page, blocks) == page.replace("```output\n0", "```output\n1")


def test_pages_for_users_say_for_whom_they_are() -> None:
    for folder in ("guide", "walks", "coming_from", "how_it_works", "papers"):
        for path in sorted((ROOT / "docs" / folder).glob("*.md")):
            first = "\n".join(path.read_text().split("\n\n", 2)[1].splitlines()[:2])
            assert re.search(r"\bfor (whoever|people|readers)\b", first), f"{path}: {first}"


# ---- commands --------------------------------------------------------------------------------------------------------
def commands(page: str) -> Iterator[list[str]]:
    """Yield the words of each call of ``harmonium`` in the shell blocks of a page."""
    for block in re.findall(r"^```(?:bash|sh)\n(.*?)^```", page, flags=re.DOTALL | re.MULTILINE):
        for line in block.replace("\\\n", " ").splitlines():
            for call in re.split(r"&&|\||;", line.partition(" #")[0]):
                words = shlex.split(call)
                if words[:1] == ["harmonium"]:
                    yield words[1:]


def unknown(call: list[str]) -> list[str]:
    """Return the command of a call, or the options of it, that ``harmonium`` does not have."""
    known = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    if call[0].startswith("-"):
        return []
    if call[0] not in known:
        return call[:1]
    options = {option for parameter in known[call[0]].params for option in (*parameter.opts, *parameter.secondary_opts)}
    given = [word.partition("=")[0] for word in call[1:] if word.startswith("--")]
    return [option for option in given if option not in {*options, "--help"}]


def test_commands_of_pages_and_their_options_exist() -> None:
    calls = [(path.name, call) for path in MARKDOWN for call in commands(path.read_text())]
    assert ("README.md", ["demo"]) in calls
    assert not [(page, call, wrong) for page, call in calls if (wrong := unknown(call))]


def test_commands_that_do_not_exist_are_found() -> None:
    (call,) = commands("```bash\npip list && harmonium demo --colour red  # no\n```\n")
    assert unknown(call) == ["--colour"]
    assert unknown(["dance"]) == ["dance"]
