"""Everything public has a page of the reference, and the pages of the site point at things that exist."""

from __future__ import annotations

import ast
import importlib
import re
from pathlib import Path
from typing import Any

import pytest
from docutils.utils.math.latex2mathml import tex2mathml

from benchmarks import results
from tests.cases.repository import ROOT
from tests.house.test_docstrings import DOCUMENTED

DOCS = ROOT / "docs"
ENTRY = re.compile(r"^   (harmonium\.[\w.]+)$", flags=re.MULTILINE)
MADE = ("_build", "gallery", "generated", "stored")  # folders that a build of the site makes
PAGES = [path for path in sorted(DOCS.rglob("*.md")) if not set(path.relative_to(DOCS).parts) & set(MADE)]
SOURCES = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "benchmarks/README.md")] + PAGES


def found(name: str) -> Any:
    """Return what a dotted name stands for."""
    module, _, last = name.rpartition(".")
    return getattr(importlib.import_module(module), last)


def entries() -> list[str]:
    return [name for page in sorted((DOCS / "api").glob("*.md")) for name in ENTRY.findall(page.read_text())]


def lacking(listed: list[str], modules: list[str]) -> list[str]:
    """Return public names of modules that are not listed, neither by this name nor by another."""
    shown = {id(found(name)) for name in listed}
    public = [f"{module}.{name}" for module in modules for name in importlib.import_module(module).__all__]
    # the version, and modules that `harmonium` names, are no entries of their own
    return [name for name in public if id(found(name)) not in shown and name not in {"harmonium.__version__", *modules}]


def test_everything_public_has_a_page() -> None:
    assert not (names := lacking(entries(), DOCUMENTED)), f"add to docs/api: {', '.join(names)}"


def test_a_name_without_a_page_is_found() -> None:
    assert lacking(["harmonium.families.Poisson"], ["harmonium.heads"])[0].startswith("harmonium.heads.")
    assert "harmonium.Poisson" not in lacking(["harmonium.families.Poisson"], ["harmonium"])


def test_every_entry_is_listed_once() -> None:
    listed = [id(found(name)) for name in entries()]
    assert len(listed) == len(set(listed)) > 100


# ---- links -----------------------------------------------------------------------------------------------------------
def exists(page: Path, target: str) -> bool:
    """Say whether a relative link of a page leads to a file, or to a page that a build makes."""
    place = (page.parent / target).resolve()
    if place.parent == DOCS / "results" / "stored":
        return place.stem in [*results.names(), "index"]
    if place.parent == DOCS / "gallery":
        return place.stem == "index" or (DOCS / "examples" / f"{place.stem}.py").exists()
    # pages of the site link to pages of the site; pictures may come from elsewhere
    leaves = page.is_relative_to(DOCS) and place.suffix == ".md" and not place.is_relative_to(DOCS)
    return place.exists() and not leaves


@pytest.mark.parametrize("page", SOURCES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
    targets = re.findall(r"\]\((?!https?:|#)([^)#\s]+)", text)
    assert not [target for target in targets if not exists(page, target)]


def test_pages_are_linked_from_a_table_of_contents() -> None:
    """What Sphinx would warn of, without building the site."""
    listed = set()
    for page in [*PAGES, DOCS / "results" / "stored" / "index.md"]:
        for tree in re.findall(r"```\{toctree\}\n(.*?)```", page.read_text() if page.exists() else "", flags=re.DOTALL):
            for name in (line.strip() for line in tree.splitlines() if line.strip() and not line.startswith(":")):
                matches = page.parent.glob(f"{name}.md") if "*" in name else [page.parent / f"{name}.md"]
                listed |= {path.resolve() for path in matches}
    orphans = [page for page in PAGES if page not in listed and "orphan: true" not in page.read_text()]
    assert orphans == [DOCS / "index.md"]


# ---- what pages say of the code --------------------------------------------------------------------------------------
def test_sources_and_oracles_of_the_maths_exist() -> None:
    for page in (DOCS / "how_it_works").glob("*.md"):
        text = page.read_text()
        for path in re.findall(r"`((?:src|tests|benchmarks)/[\w/.]+)`", text):
            assert (ROOT / path).exists(), (page.name, path)
        oracles = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", text)
        assert oracles, page.name
        for path, name in oracles:
            tree = ast.parse((ROOT / path).read_text())
            assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}, (page.name, name)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(DOCS)))
def test_formulas_can_be_drawn(page: Path) -> None:
    text = re.sub(r"```.*?```|`[^`]*`", "", page.read_text(), flags=re.DOTALL)
    for block, inline in re.findall(r"\$\$(.*?)\$\$|\$([^$\n]+)\$", text, flags=re.DOTALL):
        assert "<math" in tex2mathml((block or inline).strip())


def test_the_citation_has_the_version_of_the_package() -> None:
    version = found("harmonium.__version__")
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text()
    assert f'"version": "{version}"' in (DOCS / "_static" / "switcher.json").read_text()


def test_python_blocks_are_marked_as_such() -> None:
    """A fence without a language, or with an unknown one, would escape the tests of pages."""
    for page in SOURCES:
        marks = re.findall(r"^```([^\n`]*)\n(?:.*?)^```\n", page.read_text(), flags=re.DOTALL | re.MULTILINE)
        known = {"python", "output", "bash", "sh", "text", "yaml", "toml", "json"}
        assert not [mark for mark in marks if mark not in known and not mark.startswith("{")], page.name
