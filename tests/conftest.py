"""How tests are run, and what is made once for all of them; small models and data to share are in `tests/cases/`."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest
import threadpoolctl

# Workers share the processors. Threads of OpenMP and BLAS, which scikit-learn uses, wait for one another by spinning,
# and so take them from the other worker: a map of 160 items took 10 s of processor time in place of 0.4. Libraries that
# are loaded from now on, and other processes, obey the variables. Numba has threads of its own, which rivals of the
# benchmarks use: beside other work their tests took 2 to 11 s of processor time in place of 1.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.setdefault("NUMBA_NUM_THREADS", "1")
    threadpoolctl.threadpool_limits(1)

import harmonium

# pytest explains a failed assertion of tests by itself, of the modules that several of them share only if asked
pytest.register_assert_rewrite("tests.cases")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--seed", type=int, default=0, help="added to every seed: what holds must not hang on one draw")


def pytest_configure(config: pytest.Config) -> None:
    shift_seeds(config.getoption("--seed"))


def shift_seeds(shift: int) -> None:
    """Shift the seeds of tests, and of the library where it was given a number, before modules draw anything."""
    if not shift:
        return
    made = np.random.default_rng

    def default_rng(seed: Any = None) -> np.random.Generator:
        return made(seed + shift if isinstance(seed, int | np.integer) else seed)

    np.random.default_rng = default_rng


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Give each worker tests that follow one another, so that what a file makes for its tests is made by one worker."""
    if config.getoption("dist") != "load":  # somebody has asked for another order
        return None
    from xdist.scheduler import WorkStealingScheduling

    return WorkStealingScheduling(config, log)


@pytest.fixture(scope="session")
def data_home() -> str:
    home = os.environ.get("HARMONIUM_DATA")
    if not home:
        pytest.skip("HARMONIUM_DATA does not name a folder with the data sets")
    return home


@pytest.fixture(scope="session")
def rooms(tmp_path_factory: pytest.TempPathFactory) -> harmonium.ModelFolder:
    """The small model folder of `tests/cases/explore.py`, made once."""
    from tests.cases.explore import small_folder

    return small_folder(tmp_path_factory.mktemp("rooms"))
