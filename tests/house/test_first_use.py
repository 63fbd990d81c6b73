"""What is loaded when, so that nobody waits for what they do not use, and where compiled kernels are kept."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

import harmonium

# what only fits, texts or pictures need; `sklearn.base` brings the rest
LATE = ["numba", "sklearn.svm", "sklearn.linear_model", "sklearn.model_selection", "sklearn.feature_extraction"]
EVEN_LATER = ["numpy", "scipy", "pandas", "sklearn", "rich"]


def run(code: str, **environment: str) -> str:
    variables = {**os.environ, **environment}
    done = subprocess.run([sys.executable, "-c", code], env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize(
    ("statement", "late"),
    [
        ("import harmonium; dir(harmonium); harmonium.__version__", [*LATE, *EVEN_LATER]),
        ("from harmonium import *", LATE),
    ],
)
def test_what_is_not_used_yet_is_not_imported(statement: str, late: list[str]) -> None:
    assert run(f"{statement}\nimport sys; print([name for name in {late} if name in sys.modules])") == "[]"


def test_every_public_name_and_subpackage_can_be_reached() -> None:
    code = "import harmonium; print(harmonium.views.Views is harmonium.Views, harmonium.load.__name__)"
    assert run(code) == "True load"
    assert set(harmonium.__all__) <= set(dir(harmonium))
    for name in harmonium.__all__:
        assert getattr(harmonium, name) is not None


def test_type_checkers_are_told_the_same_names() -> None:
    stub = ast.parse(Path(harmonium.__file__).with_suffix(".pyi").read_text())
    told = [node.value for node in stub.body if isinstance(node, ast.Assign)]
    assert sorted(ast.literal_eval(told[0])) == harmonium.__all__


def test_unknown_names_are_refused_as_python_does() -> None:
    with pytest.raises(AttributeError, match="module 'harmonium' has no attribute 'Harmonum'"):
        harmonium.Harmonum  # noqa: B018
    with pytest.raises(ImportError, match="cannot import name 'Harmonum'"):
        exec("from harmonium import Harmonum")


def test_models_load_in_a_process_that_has_used_nothing_else(tmp_path: Path) -> None:
    import numpy as np

    path = tmp_path / "model.safetensors"
    harmonium.Harmonium(2, driver=harmonium.Stochastic(max_iter=1), random_state=0).fit(np.eye(4)).save(path)
    assert run(f"import harmonium; print(type(harmonium.load({str(path)!r})).__name__)") == "Harmonium"


_COMPILE = """
import numpy as np
from numba.core import caching
def refuse(self):
    raise OSError(30, "Read-only file system")
for locator in caching.CacheImpl._locator_classes:
    if "InTree" in locator.__name__:
        locator.ensure_cache_path = refuse
from harmonium.kernels.sparse.csr import add_row_sums
add_row_sums(np.array([0, 2]), np.array([1.0, 2.0]), 1.0, np.zeros(1))
"""


def test_kernels_are_kept_in_the_cache_of_the_user_where_the_installation_is_read_only(tmp_path: Path) -> None:
    variables = {"NUMBA_CACHE_DIR": "", "XDG_CACHE_HOME": str(tmp_path), "HOME": str(tmp_path)}
    run(_COMPILE, **variables)
    assert [path.name for path in tmp_path.rglob("csr.add_row_sums*.nbi")]


_ANNOUNCE = """
import numpy as np
from rich.progress import Progress
from harmonium.kernels.sparse.csr import add_row_sums
from harmonium.core.progress_bar import reporting
shown = []
Progress.update = lambda self, task, **fields: shown.append(fields.get("state"))
with reporting(verbose=True):
    add_row_sums(np.array([0, 2]), np.array([1.0, 2.0]), 1.0, np.zeros(1))
print(shown)
"""


def test_the_bar_says_that_kernels_are_compiled_but_not_that_kept_ones_are_read(tmp_path: Path) -> None:
    first, second = (run(_ANNOUNCE, NUMBA_CACHE_DIR=str(tmp_path)) for _ in range(2))
    assert "['compiling, once']" in first
    assert "[]" in second
