"""What stands outside the package agrees with it: versions of Python, one list of checks, files that name no hosts."""

from __future__ import annotations

import re
import tomllib

import yaml

from tests.cases.repository import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
WORKFLOW = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text())
CHECKS = (ROOT / ".ci" / "run").read_text()


def test_every_python_that_is_promised_is_checked() -> None:
    promised = re.findall(r"Python :: (3\.\d+)", " ".join(PROJECT["classifiers"]))
    assert WORKFLOW["jobs"]["checks"]["strategy"]["matrix"]["python"] == promised
    assert PROJECT["requires-python"] == f">={promised[0]}"


def test_the_workflow_repeats_no_step() -> None:
    """It gives `.ci/run` an interpreter, and nothing else."""
    commands = [step for step in WORKFLOW["jobs"]["checks"]["steps"] if "run" in step]
    assert commands == [{"run": ".ci/run", "env": {"PYTHON": "python"}}]
    assert '"${PYTHON:-python3}" -m venv' in CHECKS


def test_hooks_are_local_and_are_checks_of_ci() -> None:
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
    assert [source["repo"] for source in hooks] == ["local"]
    for hook in hooks[0]["hooks"]:
        assert hook["entry"].removesuffix(" --force-exclude") in CHECKS, hook["id"]
