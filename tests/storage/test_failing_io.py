"""Operations on files that fail leave the old or the new, never a part, and one sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cases.failing_io import CASES, ERRORS, sweep

_SLOW = ("fit a folder", "write a site", "write a report")


@pytest.mark.filterwarnings("ignore:A checkpoint is removed:harmonium.exceptions.HarmoniumWarning")
@pytest.mark.parametrize("name", CASES)
def test_every_operation_may_fail(name: str, tmp_path: Path) -> None:
    """Other errors, and all operations of what takes longer, are tried by the benchmark `io_errors`."""
    counts = sweep(CASES[name](tmp_path), ERRORS["broken"], step=9 if name in _SLOW else 1)
    assert counts["refused"] > 0 and counts["passed"] == 1
