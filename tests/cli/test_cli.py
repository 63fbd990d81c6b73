"""The command line."""

from __future__ import annotations

import errno
import re
import subprocess
import sys
from pathlib import Path
from typing import TextIO

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import harmonium
from harmonium.cli import app
from harmonium.cli.demo import write_pages
from tests.cases.bad_input import assert_one_sentence

RUNNER = CliRunner(env={"COLUMNS": "120"})


def test_version() -> None:
    result = RUNNER.invoke(app, ["--version"])
    assert result.exit_code == 0
    assert result.output.strip() == f"harmonium {harmonium.__version__}"


def test_help_names_the_commands() -> None:
    result = RUNNER.invoke(app, ["--help"])
    assert "demo" in result.output
    assert "info" in result.output


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    pytest.importorskip("matplotlib")
    pytest.importorskip("jinja2")
    folder = tmp_path_factory.mktemp("demo") / "made" / "here"
    result = RUNNER.invoke(app, ["demo", "--quick", "--output", str(folder)], catch_exceptions=False)
    assert result.exit_code == 0
    return folder, result.output


def test_demo_shows_what_harmonium_is_for(demo: tuple[Path, str]) -> None:
    folder, output = demo
    for text in ("A view is", "A topic is", "A score is", "What the columns were read as", "linear model", "boosting"):
        assert text in output
    for text in (
        "topic_0",
        "tags filled in",
        "dirty bathroom, rude manager",
        "Why this review is predicted",
        "Go on with:",
    ):
        assert text in output
    assert output.count("  harmonium ") == 3
    assert output.startswith("Making up reviews") and "Fitting on 150 rows" in output  # it says what it is doing
    assert (folder / "map.png").read_bytes().startswith(b"\x89PNG")
    assert "<html" in (folder / "report.html").read_text(encoding="utf-8")


def test_the_table_and_the_model_of_the_demo_can_be_used(demo: tuple[Path, str]) -> None:
    frame = pd.read_csv(demo[0] / "reviews.csv")
    model = harmonium.load(demo[0] / "reviews")
    assert np.isfinite(model.predict(frame)).all() and len(frame) == 200


def test_info_prints_views_and_topics(demo: tuple[Path, str]) -> None:
    result = RUNNER.invoke(app, ["info", str(demo[0] / "reviews"), "--topics", "3", "--features", "2"])
    assert result.exit_code == 0
    for text in ("HarmoniumRegressor", "review", "categories", "topics"):
        assert text in result.output


def test_info_prints_which_units_are_in_use(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    has = rng.random((300, 3)) < [0.6, 0.4, 0.2]
    X = has @ rng.normal(size=(3, 20)) * 3 + rng.normal(size=(300, 20))
    model = harmonium.iEFH(8, random_state=0).fit(X)
    model.save(tmp_path / "model.safetensors")
    result = RUNNER.invoke(app, ["info", str(tmp_path / "model.safetensors"), "--features", "2"])
    assert result.exit_code == 0
    assert f"{model.n_components_} of truncation 8 units in use" in result.output
    rows = [line.split("│")[1:3] for line in result.output.splitlines() if "%" in line]
    order = np.argsort(-model.fitted_.usage)
    assert [int(topic) for topic, _ in rows] == order.tolist()
    assert [usage.strip() for _, usage in rows] == [f"{share:.0%}" for share in model.fitted_.usage[order]]


def test_info_refuses_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"not a model")
    bags = np.eye(4).reshape(4, 1, 4)
    harmonium.weak.LatentSVM(max_iter=1).fit(bags, [0, 1, 0, 1]).save(tmp_path / "weak")
    for path in (tmp_path / "model.safetensors", tmp_path / "nowhere", tmp_path / "weak"):
        result = RUNNER.invoke(app, ["info", str(path)])
        assert result.exit_code == 2
        assert "Traceback" not in result.output


def test_demo_goes_on_without_matplotlib_and_jinja(
    demo: tuple[Path, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for package in ("matplotlib", "jinja2"):
        for module in [name for name in sys.modules if name.split(".")[0] == package]:
            monkeypatch.setitem(sys.modules, module, None)
        monkeypatch.setitem(sys.modules, package, None)
    said: list[str] = []
    write_pages(harmonium.ModelFolder.open(demo[0] / "reviews"), tmp_path, said.append)
    assert 'pip install "harmonium[app]"' in said[0] and 'pip install "harmonium[plot]"' in said[1]
    assert not list(tmp_path.iterdir())


# ---- refusals --------------------------------------------------------------------------------------------------------
def refused(arguments: list[str], pattern: str, code: int = 2) -> None:
    result = RUNNER.invoke(app, arguments)
    assert result.exit_code == code and "Traceback" not in result.output
    assert re.search(pattern, result.stderr), result.stderr
    steps = re.compile(r"(?m)^(.* …|  \d+:\d\d)\n")  # what it says that it does, before it is refused
    assert_one_sentence(steps.sub("", result.stderr).strip())


@pytest.mark.parametrize("seed", ["-1", str(2**32)])
def test_a_seed_that_is_none_is_refused(tmp_path: Path, seed: str) -> None:
    refused(["demo", "--quick", "--seed", seed, "--output", str(tmp_path / "new")], f"got {seed}; 0 is usual")
    assert not (tmp_path / "new").exists()


def test_output_that_cannot_be_written_is_refused_before_anything_is_computed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harmonium.cli.demo.train_model", None)
    (tmp_path / "file").touch()
    for place in (tmp_path / "file", tmp_path / "file" / "below", Path("/proc/nowhere")):
        refused(["demo", "--quick", "--output", str(place)], "--output must be a folder that can be written to")


@pytest.mark.parametrize(
    ("error", "pattern", "code"),
    [
        (OSError(errno.ENOSPC, "No space left on device", "model"), r"model failed \(no space left on device\)", 2),
        (PermissionError(errno.EACCES, "Permission denied", "map.png"), r"map.png failed \(permission denied\)", 2),
        (KeyboardInterrupt(), "interrupted; run it again", 130),
    ],
    ids=["full", "forbidden", "interrupted"],
)
def test_what_happens_on_the_way_is_told_in_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException, pattern: str, code: int
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr("harmonium.cli.demo.train_model", fail)
    refused(["demo", "--quick", "--output", str(tmp_path)], pattern, code)


def run_module(*arguments: str, stdout: int | TextIO = subprocess.PIPE) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "harmonium", *arguments]
    return subprocess.run(command, stdout=stdout, stderr=subprocess.PIPE, text=True, check=False)


def test_the_package_is_a_command() -> None:
    result = run_module("--version")
    assert (result.returncode, result.stdout.strip()) == (0, f"harmonium {harmonium.__version__}")


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="there is no /dev/full")
def test_output_to_a_full_disk_is_told_in_one_sentence() -> None:
    with open("/dev/full", "w") as full:
        result = run_module("--version", stdout=full)
    assert result.returncode == 2 and "no space left on device" in result.stderr
    assert_one_sentence(result.stderr.strip())
