"""Kernels where nothing compiled can be kept: read-only systems, full disks."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

_USE = """
import numpy as np
from harmonium.kernels.sparse.csr import add_row_sums
total = np.zeros(1)
add_row_sums(np.array([0, 2]), np.array([1.0, 2.0]), 1.0, total)
assert total[0] == 3
"""
# what Numba does where neither the package nor the home nor NUMBA_CACHE_DIR can be written to
_READ_ONLY = """
from numba.core import caching
caching.CacheImpl._locator_classes = []
"""
_FULL = """
from numba.core import caching
def save(self, key, data):
    raise OSError(28, "No space left on device")
caching.IndexDataCacheFile.save = save
"""


@pytest.mark.parametrize("system", [_READ_ONLY, _FULL])
def test_kernels_compile_where_nothing_can_be_kept(system: str, tmp_path: Path) -> None:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    run = subprocess.run(
        [sys.executable, "-c", system + _USE], env=environment, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    assert not list(tmp_path.rglob("*.nbi"))
