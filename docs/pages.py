"""The code of Markdown pages: run it, and write below each block what it printed.

    python docs/pages.py docs/walks/documents.md

Blocks marked ``python`` are run in the order of the page, in one namespace and an empty folder; figures that they save
there are kept in the folder ``pictures`` beside the page (those of the README in docs/pictures). A block marked
``output`` right below one of them holds what it printed.
Blocks run without any data folder, up to a comment that names folders of ``HARMONIUM_DATA``, such as
``<!-- needs: hotels -->``; what stands below it runs if they are there.
`tests/pages/test_pages.py` runs all pages and compares, and ``python docs/pages.py --check PAGE`` some of them.
"""

from __future__ import annotations

import contextlib
import difflib
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


HOME = "HARMONIUM_DATA"
NUMBER = re.compile(r"[-−]?\d+(?:[.,]\d+)?")
# Fits end in other last digits on other processors, and words that are nearly as typical change places.
NUMBERS_MAY_DIFFER = 0.1
WORDS_IN_COMMON = 0.8


def needs(text: str) -> list[str]:
    """Return the data sets that the end of a text needs."""
    return [name for line in re.findall(r"<!-- needs: (.*?) -->", text) for name in re.split(r",\s*", line)]


def are_there(names: list[str], home: str) -> bool:
    """Tell whether data sets lie in a folder."""
    return bool(home) and all((Path(home) / name).is_dir() for name in names)


@contextlib.contextmanager
def data_folder(home: str) -> Iterator[None]:
    """Let the environment name a folder of data sets, or none."""
    before = os.environ.pop(HOME, None)
    try:
        if home:
            os.environ[HOME] = home
        yield
    finally:
        os.environ.pop(HOME, None)
        if before is not None:
            os.environ[HOME] = before


def run(path: Path) -> Iterator[Block]:
    """Run the blocks of a page one after the other in the present folder, as far as the data sets are there."""
    namespace: dict[str, object] = {"__name__": "__main__"}
    page, home = path.read_text(), os.environ.get(HOME, "")
    for number, match in enumerate(BLOCK.finditer(page), start=1):
        names = needs(page[: match.start()])
        if names and not are_there(names, home):
            return
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), warnings.catch_warnings(), data_folder(home if names else ""):
            warnings.simplefilter("ignore")
            exec(compile(match["code"], f"{path.name}, block {number}", "exec"), namespace)
        yield Block(match["code"], match["shown"], printed.getvalue())


def with_outputs(page: str, blocks: list[Block]) -> str:
    """Return a page in which every block is followed by what it printed."""
    rest = iter(blocks)

    def filled(match: re.Match[str]) -> str:
        block = next(rest, None)
        if block is None:  # it was not run
            return match[0]
        printed = re.sub(r"[ \t]+$", "", block.printed, flags=re.MULTILINE)
        shown = f"\n```output\n{printed}```\n" if printed else ""
        return f"```python\n{match['code']}```\n{shown}"

    return BLOCK.sub(filled, page)


def disagreement(shown: str, printed: str) -> str:
    """Say how what a page shows differs from what its code printed, beyond what processors do; empty if it does not."""
    words = [NUMBER.sub(" ", text).split() for text in (shown, printed)]
    alike = difflib.SequenceMatcher(None, *words, autojunk=False).ratio()
    if alike < WORDS_IN_COMMON:
        return f"only {alike:.0%} of the words are the same"
    numbers = [[_value(one) for one in NUMBER.findall(text)] for text in (shown, printed)]
    if len(numbers[0]) != len(numbers[1]):
        return f"{len(numbers[0])} numbers are shown, {len(numbers[1])} were printed"
    for there, here in zip(*numbers, strict=True):
        if abs(there - here) > NUMBERS_MAY_DIFFER * max(abs(there), abs(here), 1.0):
            return f"{there:g} is shown, {here:g} was printed"
    return ""


def _value(text: str) -> float:
    return float(text.replace("−", "-").replace(",", ""))


def check(names: list[str]) -> None:
    """Run pages and compare what they print with what they show; refuse those that differ, as commands do."""
    for path in map(Path, names):
        path = path.resolve()
        with tempfile.TemporaryDirectory() as elsewhere, contextlib.chdir(elsewhere):
            for block in run(path):
                how = "" if block.shown is None else disagreement(block.shown, block.printed)
                if how:
                    sys.exit(f"{path.name}: {how}; printed:\n{block.printed}")


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
    if sys.argv[1:2] == ["--check"]:
        check(sys.argv[2:])
    else:
        main(sys.argv[1:])
