"""Figures in sentences are those of the results that their paragraph links to: a new run finds the old sentences."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchmarks import results
from tests.cases.repository import ROOT

#: tables that are made from results, and lists of tests and results
MADE = re.compile(r"<!-- results:begin -->.*?<!-- results:end -->", re.DOTALL)
PARAGRAPHS = re.compile(r"\n\n|\n(?=- )")
LINK = re.compile(r"(?:stored|benchmarks/results)/([a-z_]+)\.md|benchmarks run ([a-z_]+)")
#: "0.93", ".8 %", "19 %"; not sections, versions or parts of names
FIGURE = re.compile(r"(?<![\w.§])-?\d*\.\d+(?![\w.])|(?<![\w.])\d+(?= %)")
NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?")


def paragraphs(page: Path) -> list[tuple[set[str], str]]:
    """Paragraphs of a page that link to results, with the names of these."""
    text = MADE.sub("", page.read_text(encoding="utf-8")).replace("−", "-")
    found = [({one or other for one, other in LINK.findall(part)}, part) for part in PARAGRAPHS.split(text)]
    return [(names & set(results.names()), part) for names, part in found if names & set(results.names())]


def figures(name: str) -> list[float]:
    """All numbers that the page of a result shows, as they are and in per cent."""
    text = (results.FOLDER / f"{name}.md").read_text(encoding="utf-8").replace("−", "-")
    shown = [float(number.replace(",", "")) for number in NUMBER.findall(text)]
    return [*shown, *(100 * number for number in shown), *(number / 100 for number in shown)]


PAGES = [path for path in sorted((ROOT / "docs").rglob("*.md")) if not {"_build", "stored"} & set(path.parts)]
CASES = {
    f"{page.relative_to(ROOT).with_suffix('')}:{place}": found
    for page in [ROOT / "README.md", *PAGES]
    for place, found in enumerate(paragraphs(page))
    if page.name != "items.md"
}


@pytest.mark.parametrize("case", CASES)
def test_figures_of_a_sentence_are_those_of_its_results(case: str) -> None:
    names, text = CASES[case]
    known = [number for name in names for number in figures(name)]
    strange = []
    for figure in FIGURE.findall(text):
        half = 0.51 * 10.0 ** -len(figure.partition(".")[2])  # of the last digit that is shown
        if not any(abs(abs(number) - abs(float(figure))) <= half for number in known):
            strange.append(figure)
    assert not strange, f"{', '.join(strange)} in “{' '.join(text.split())[:200]}…” stand in none of {sorted(names)}"
