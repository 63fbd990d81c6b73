"""Fits in other environments: the same bits on more threads, the same answers without compiled loops or wide registers.

In 1,000 epochs one draw that rounds otherwise would change all that come after it; these fits are so short that none
does, so that what is compared is the arithmetic.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy._core._multiarray_umath import __cpu_dispatch__

from tests.cases.small_fits import answers

# Of the largest answer, in single precision: what differs most are coordinates of a fit that has seen 20 rows (1e-4).
_TOLERANCE = 1e-3
THREADS = {"OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2", "NUMBA_NUM_THREADS": "2"}
ENVIRONMENTS = {
    "interpreted loops": {"NUMBA_DISABLE_JIT": "1"},
    # NumPy's and OpenBLAS's loops of processors of the year 2004
    "no wide registers": {"OPENBLAS_CORETYPE": "Prescott", "NPY_DISABLE_CPU_FEATURES": " ".join(__cpu_dispatch__)},
}


@pytest.fixture(scope="module")
def expected() -> dict[str, np.ndarray]:
    return answers()


def answers_with(variables: dict[str, str], place: Path) -> dict[str, np.ndarray]:
    command = [sys.executable, "-m", "tests.cases.small_fits", str(place / "answers.npz")]
    subprocess.run(command, env={**os.environ, **variables}, check=True, timeout=300)
    with np.load(place / "answers.npz") as found:
        return dict(found)


def test_threads_change_no_bit(expected: dict[str, np.ndarray], tmp_path: Path) -> None:
    found = answers_with(THREADS, tmp_path)
    assert found.keys() == expected.keys()
    for question, answer in expected.items():
        np.testing.assert_array_equal(found[question], answer, err_msg=question)


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_answers_do_not_need_fast_loops(name: str, expected: dict[str, np.ndarray], tmp_path: Path) -> None:
    found = answers_with(ENVIRONMENTS[name], tmp_path)
    assert found.keys() == expected.keys()
    for question, answer in expected.items():
        atol = _TOLERANCE * np.abs(answer).max()
        np.testing.assert_allclose(found[question], answer, rtol=0, atol=atol, err_msg=question)
