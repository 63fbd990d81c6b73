"""Progress of commands: the first line before anything is imported, and signs of life."""

from __future__ import annotations

import subprocess
import sys
import time

import numpy as np
import pytest

from harmonium import Harmonium, Stochastic
from harmonium.cli import progress
from harmonium.cli.progress import Steps


def test_a_long_step_gives_signs_of_life(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(progress, "_FIRST", 0.0)
    monkeypatch.setattr(progress, "_AT_TERMINAL", 0.02)
    steps = Steps(silent=False)
    with steps.shown():
        steps("Fitting")
        Harmonium(2, driver=Stochastic(max_iter=3), random_state=0).fit(np.eye(20))
        time.sleep(0.3)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "Fitting …" and any(", epoch 3" in line for line in lines[1:])


def test_silence_is_silent(capsys: pytest.CaptureFixture[str]) -> None:
    steps = Steps(silent=True)
    with steps.shown():
        steps("Fitting")
    assert capsys.readouterr().err == ""


def test_the_first_line_comes_before_heavy_imports() -> None:
    code = (
        "import sys, harmonium.cli, harmonium.cli.progress\n"
        "assert not {'pandas', 'sklearn', 'scipy', 'numba', 'numpy'} & set(sys.modules), sorted(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
