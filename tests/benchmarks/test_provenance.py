"""A stored result knows the code that it was made by."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks import __main__ as command_line
from benchmarks import provenance, results

MODULES = {
    "benchmarks/__init__.py": "",
    "benchmarks/fast.py": "from harmonium import Model\nfrom benchmarks.measuring import median\n",
    "benchmarks/measuring.py": "def median(values):\n    from harmonium.late import sort\n    return sort(values)\n",
    "src/harmonium/__init__.py": "",
    "src/harmonium/__init__.pyi": "from harmonium.estimators import Model\n",
    "src/harmonium/estimators/__init__.py": "from harmonium.estimators.model import Model\n",
    "src/harmonium/estimators/model.py": 'class Model:\n    """A model."""\n\n    rate = 1\n',
    "src/harmonium/late.py": "sort = sorted\n",
    "src/harmonium/unused.py": "x = 1\n",
}


def forget() -> None:
    for function in (provenance._tree, provenance._digest, provenance._named, provenance._public):
        function.cache_clear()


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    for name, text in MODULES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    packages = {"harmonium": tmp_path / "src" / "harmonium", "benchmarks": tmp_path / "benchmarks"}
    monkeypatch.setattr(provenance, "PACKAGES", packages)
    forget()
    yield tmp_path
    forget()


def state_after(tree: Path, name: str, text: str) -> str:
    recorded = {"benchmark": "fast", "sources": provenance.sources("fast")}
    (tree / name).write_text(text)
    forget()
    return provenance.state(recorded)


def test_lazy_names_and_imports_in_functions_count(tree: Path) -> None:
    found = provenance.imported("benchmarks.fast")
    assert {"harmonium.estimators.model", "harmonium.late", "benchmarks.measuring"} <= found
    assert "harmonium.unused" not in found


def test_relative_imports_and_packages_that_are_not_installed_are_seen(tree: Path) -> None:
    (tree / "benchmarks/fast.py").write_text("def f():\n    from .measuring import median\n    import nowhere.else_\n")
    assert "harmonium.late" in provenance.imported("benchmarks.fast")
    assert provenance.lacking("fast") == ["nowhere"]


def test_what_another_process_runs_counts(tree: Path) -> None:
    text = 'CODE = "from harmonium.late import sort"\ndef f():\n    run([python, "-m", "harmonium", "serve"])\n'
    (tree / "benchmarks/fast.py").write_text(text)
    (tree / "src/harmonium/__main__.py").write_text(
        "for name in NAMES:\n    import_module(f'harmonium.parts.{name}')\n"
    )
    (tree / "src/harmonium/parts").mkdir()
    for name in ("__init__", "one", "two"):
        (tree / f"src/harmonium/parts/{name}.py").write_text("x = 1\n")
    found = provenance.imported("benchmarks.fast")
    assert {"harmonium.late", "harmonium.__main__", "harmonium.parts.one", "harmonium.parts.two"} <= found


def test_what_a_benchmark_says_of_itself_makes_no_result_stale(tree: Path) -> None:
    text = "BENCHMARK = Benchmark(title='{}', minutes={}, settings={{'rows': {}}})\n"
    (tree / "benchmarks/fast.py").write_text(text.format("Fast", 1, 5))
    forget()
    assert state_after(tree, "benchmarks/fast.py", text.format("Faster", 2, 5)) == "current"
    assert state_after(tree, "benchmarks/fast.py", text.format("Faster", 2, 6)) == "older than benchmarks.fast"


@pytest.mark.parametrize(
    ("name", "text", "state"),
    [
        ("src/harmonium/estimators/model.py", "class Model:\n    rate = 2\n", "older than harmonium.estimators"),
        (
            "src/harmonium/estimators/model.py",
            'class Model:\n    """Another text."""\n\n    rate = 1  # so\n',
            "current",
        ),
        ("src/harmonium/late.py", "sort = list\n", "older than harmonium.late"),
        ("src/harmonium/unused.py", "x = 2\n", "current"),
        ("benchmarks/fast.py", "from harmonium import unused\n", "older than benchmarks.fast, benchmarks.measuring"),
    ],
)
def test_a_result_is_older_than_code_that_changed(tree: Path, name: str, text: str, state: str) -> None:
    assert state_after(tree, name, text).startswith(state)


def test_a_result_without_sources_is_not_current() -> None:
    assert provenance.state({"benchmark": "fast", "sources": {}}) == "made before sources were recorded"


def test_check_and_plan_agree(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    old = results.names()[0]
    monkeypatch.setattr(provenance, "state", lambda result: "old" if result["benchmark"] == old else "current")
    monkeypatch.setattr(provenance, "lacking", lambda name: [])  # whatever is installed here
    assert command_line.main(["check"]) == 1
    states = [line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines()]
    assert [old, "old"] in states
    assert command_line.main(["all", "--plan"]) == 0
    planned = [line.split(":")[0] for line in capsys.readouterr().out.splitlines()]
    assert planned == [name for name, state in states if state != "current"]
    assert old in planned
