"""Tests mirror the package, so that from a module one goes to its test without a search."""

from __future__ import annotations

from pathlib import Path

import pytest

import harmonium

SOURCE = Path(harmonium.__file__).parent
TESTS = Path(__file__).parents[1]
MOST = 20  # files of tests in a folder; more are no longer taken in at a glance

# folders of tests that are of no one package
CROSS_CUTTING = {
    "benchmarks",  # the folder of that name beside the package
    "cases",  # models and data that several tests share
    "house",  # rules of the code
    "input",  # what people pass, right or wrong, whatever reads it
    "pages",  # README, guide and reference
    "released",  # model files of each version, and what makes them
    "sklearn",  # its checks and tools, for all estimators
}
# tests that already lie where the rooms of a package are to be
ROOMS = {
    "training": {
        f"training/{concern}" for concern in ("drivers", "posterior", "supervised", "growth", "distributed", "finalize")
    },
}
# modules beside the packages that are tested through all that use them
USED_BY_ALL = {"progress_bar", "batch", "energy", "exceptions", "raw_target", "loading", "targets"}


def folders(root: Path) -> dict[str, Path]:
    """The folders with Python files below a root, at any depth, by their relative names."""
    found = sorted({path.parent for path in root.rglob("*.py")} - {root})
    return {path.relative_to(root).as_posix(): path for path in found}


PACKAGES, FOLDERS = folders(SOURCE), folders(TESTS)


def has_tests(folder: str) -> bool:
    return any((TESTS / folder).rglob("test_*.py"))


def test_every_package_has_its_folder_of_tests() -> None:
    packages = [name for name in PACKAGES if "/" not in name]
    assert not [name for name in packages if not any(map(has_tests, {name} | ROOMS.get(name, set())))]


def test_every_module_beside_the_packages_has_its_file_of_tests() -> None:
    modules = {path.stem for path in SOURCE.glob("[a-z]*.py")}
    assert {name for name in modules if not list(TESTS.glob(f"test_{name}*.py"))} <= USED_BY_ALL
    strangers = [
        path.name
        for path in TESTS.glob("test_*.py")
        if not any(path.stem == f"test_{name}" or path.stem.startswith(f"test_{name}_") for name in modules)
    ]
    assert not strangers, "a test of a package lies in the folder of its name"


def test_every_folder_of_tests_has_its_package() -> None:
    rooms = set().union(*(rooms for package, rooms in ROOMS.items() if package in PACKAGES))
    assert not FOLDERS.keys() - PACKAGES.keys() - CROSS_CUTTING - rooms


@pytest.mark.parametrize("folder", [TESTS, *FOLDERS.values()], ids=["tests", *FOLDERS])
def test_folders_can_be_taken_in_at_a_glance(folder: Path) -> None:
    assert len(list(folder.glob("test_*.py"))) <= MOST
