"""Operations on files that fail leave the old or the new, never a part, and one sentence."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from tests.cases.failing_io import CASES, sweep


@pytest.mark.parametrize("name", [name for name in CASES if name != "fit a folder"])
def test_every_operation_may_fail(name: str, tmp_path: Path) -> None:
    """Folders are fitted, and other errors tried, by the benchmark `io_errors`."""
    counts = sweep(CASES[name](tmp_path), (errno.EIO,))
    assert counts["refused"] > 0 and counts["passed"] == 1
