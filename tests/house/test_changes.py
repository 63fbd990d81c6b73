"""Fragments of the changelog: their names, the section that is built of them, and the versions that a release sets."""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path
from types import ModuleType

import pytest

import harmonium
from tests.cases.repository import ROOT


def builder() -> ModuleType:
    spec = importlib.util.spec_from_file_location("changes_build", ROOT / "changes" / "build.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


BUILD = builder()


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A folder with what a release changes."""
    for name in ["CHANGELOG.md", *BUILD.VERSIONS]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "changes").mkdir()
    (tmp_path / "changes" / "README.md").write_text("how to write fragments")
    return tmp_path


def test_fragments_of_this_tree_are_well_formed() -> None:
    BUILD.fragments()


def test_every_type_is_explained() -> None:
    told = (ROOT / "changes" / "README.md").read_text()
    assert all(f"| `{kind}` | {heading} |" in told for kind, heading in BUILD.HEADINGS.items())


def test_a_release_moves_fragments_to_the_changelog(copy: Path) -> None:
    (copy / "changes" / "search.fixed.md").write_text("Search finds it.\n")
    (copy / "changes" / "maps.added.md").write_text("- One can draw maps\nof two lines.\n\nAnd a second paragraph.\n")
    before = (copy / "CHANGELOG.md").read_text()
    BUILD.release("9.8.7", "2031-02-03", copy)
    head, _, rest = (copy / "CHANGELOG.md").read_text().partition(BUILD.PLACE)
    built, _, older = rest.partition(f"\n## {harmonium.__version__}")
    assert built == (
        "\n## 9.8.7 (2031-02-03)\n\n### Added\n- One can draw maps\n  of two lines.\n\n  And a second paragraph.\n\n"
        "### Fixed\n- Search finds it.\n"
    )
    assert f"{head}{BUILD.PLACE}\n## {harmonium.__version__}{older}" == before
    assert [path.name for path in (copy / "changes").iterdir()] == ["README.md"]


def test_a_release_sets_the_version_everywhere(copy: Path) -> None:
    BUILD.release("9.8.7", "2031-02-03", copy)
    for name, start in BUILD.VERSIONS.items():
        assert f"{start}9.8.7" in (copy / name).read_text()
    assert "\ndate-released: 2031-02-03\n" in (copy / "CITATION.cff").read_text()


@pytest.mark.parametrize("name", ["search.md", "search.feature.md", "Search it.fixed.md", "search.fixed.txt"])
def test_other_names_are_refused(copy: Path, name: str) -> None:
    (copy / "changes" / name).write_text("Something.")
    with pytest.raises(ValueError, match=r"A fragment must be called <topic>\.<type>\.md"):
        BUILD.fragments(copy)


def test_empty_fragments_are_refused(copy: Path) -> None:
    (copy / "changes" / "search.fixed.md").write_text("\n")
    with pytest.raises(ValueError, match=r"and say something; got search\.fixed\.md"):
        BUILD.fragments(copy)


@pytest.mark.parametrize("version", ["0.2.0", "0.3", "next"])
def test_versions_that_are_none_or_there_are_refused(copy: Path, version: str) -> None:
    with pytest.raises(ValueError, match="must"):
        BUILD.release(version, "2031-02-03", copy)
