"""Packages of the extras: named in one sentence where they are missing."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harmonium.core.extras import _EXTRAS, require
from harmonium.weak import DissimilarityClassifier, IterativeLatentSVM, LatentSVM
from tests.cases.repository import ROOT

PYPROJECT = ROOT / "pyproject.toml"


@pytest.mark.parametrize("module", _EXTRAS)
def test_a_missing_package_gets_one_sentence(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    package, extra = _EXTRAS[module]
    monkeypatch.setitem(sys.modules, module, None)
    for name in (module, f"{module}.part"):
        with pytest.raises(ImportError) as refusal:
            require(name, "This test", instead="skip it")
        assert str(refusal.value) == (
            f'This test needs {package}, which is not installed; run pip install "harmonium[{extra}]" or skip it.'
        )


def test_a_broken_package_speaks_for_itself(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "piqp.py").write_text("import a_module_that_nobody_has")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "piqp", raising=False)
    with pytest.raises(ModuleNotFoundError, match="a_module_that_nobody_has"):
        require("piqp", "This test")


@pytest.mark.skipif(not PYPROJECT.is_file(), reason="pyproject.toml is not part of this installation")
def test_extras_are_declared_and_tested() -> None:
    extras = tomllib.loads(PYPROJECT.read_text())["project"]["optional-dependencies"]
    for package, extra in _EXTRAS.values():
        # Pillow comes with scikit-image
        wanted = "scikit-image" if package == "Pillow" else package
        assert any(line.startswith(wanted) for line in extras[extra]), (package, extra)
        assert extra in extras["test"][0], extra
    for extra in ("plot", "images", "scverse", "weak"):
        assert extra in extras["benchmark"][0], extra


@pytest.mark.skipif(not PYPROJECT.is_file(), reason="pyproject.toml is not part of this installation")
@pytest.mark.parametrize("page", ["README.md", "docs/guide/install.md"])
def test_pages_name_every_extra(page: str) -> None:
    extras = tomllib.loads(PYPROJECT.read_text())["project"]["optional-dependencies"]
    text = (PYPROJECT.parent / page).read_text()
    named = set(extras) - {"test", "lint", "docs", "benchmark"}
    assert {extra for extra in named if f"`{extra}`" not in text} == set()


@pytest.mark.parametrize("estimator", [LatentSVM, IterativeLatentSVM, DissimilarityClassifier])
def test_weak_classifiers_are_not_fitted_without_their_solver(
    estimator: Callable[[], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = estimator()
    monkeypatch.setitem(sys.modules, "piqp", None)
    with pytest.raises(ImportError, match=rf'^{estimator.__name__} needs piqp.* pip install "harmonium\[weak\]"\.$'):
        model.fit(np.zeros((4, 2, 3)), [0, 1, 0, 1])
    assert not hasattr(model, "coef_")


def test_importing_harmonium_needs_no_extra() -> None:
    blocked = "import sys; sys.modules.update(dict.fromkeys({!r}));".format([*_EXTRAS, "anndata"])
    modules = "harmonium, harmonium.weak, harmonium.report, harmonium.search, harmonium.datasets, harmonium.cli"
    features = "harmonium.features.images, harmonium.features.windows, harmonium.features.text"
    command = f"{blocked} import {modules}, {features}"
    outcome = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, check=False)
    assert outcome.returncode == 0, outcome.stderr
