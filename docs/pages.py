"""The code of Markdown pages: run it, and write below each block what it printed.

    python docs/pages.py docs/walks/documents.md

Blocks marked ``python`` are run in the order of the page, in one namespace and an empty folder; figures that they save
there are kept in the folder ``pictures`` beside the page (those of the README in docs/pictures). A block marked
``output`` right below one of them holds what it printed.
A page that needs data sets of ``HARMONIUM_DATA`` names their folders in a comment: ``<!-- needs: hotels, emoji -->``.
`tests/pages/test_pages.py` runs all pages and compares.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
BLOCK = re.compile(r"^```python\n(?P<code>.*?)^```\n(?:\n```output\n(?P<shown>.*?)^```\n)?", re.DOTALL | re.MULTILINE)


class Block(NamedTuple):
    """A block of code, what the page shows below it (None if nothing), and what it printed."""

    code: str
    shown: str | None
    printed: str


def needs(page: str) -> list[str]:
    """Return the data sets that a page needs."""
    return [name for line in re.findall(r"<!-- needs: (.*?) -->", page) for name in re.split(r",\s*", line)]


def lacking(page: str) -> list[str]:
    """Return the data sets that a page needs and that are not there."""
    home = os.environ.get("HARMONIUM_DATA", "")
    return [name for name in needs(page) if not home or not (Path(home) / name).is_dir()]


def run(path: Path) -> Iterator[Block]:
    """Run the blocks of a page one after the other in the present folder."""
    namespace: dict[str, object] = {"__name__": "__main__"}
    for number, match in enumerate(BLOCK.finditer(path.read_text()), start=1):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(compile(match["code"], f"{path.name}, block {number}", "exec"), namespace)
        yield Block(match["code"], match["shown"], printed.getvalue())


def with_outputs(page: str, blocks: list[Block]) -> str:
    """Return a page in which every block is followed by what it printed."""
    rest = iter(blocks)

    def filled(match: re.Match[str]) -> str:
        printed = re.sub(r"[ \t]+$", "", next(rest).printed, flags=re.MULTILINE)
        shown = f"\n```output\n{printed}```\n" if printed else ""
        return f"```python\n{match['code']}```\n{shown}"

    return BLOCK.sub(filled, page)


def main(names: list[str]) -> None:
    """Run pages and write their outputs."""
    for path in map(Path, names):
        path = path.resolve()
        pictures = (path.parent if path.is_relative_to(HERE) else HERE) / "pictures"
        with tempfile.TemporaryDirectory() as elsewhere, contextlib.chdir(elsewhere):
            blocks = list(run(path))
            for figure in Path().glob("*.png"):
                pictures.mkdir(exist_ok=True)
                (pictures / figure.name).write_bytes(figure.read_bytes())
        path.write_text(with_outputs(path.read_text(), blocks))


if __name__ == "__main__":
    os.environ.setdefault("MPLBACKEND", "agg")
    main(sys.argv[1:])
