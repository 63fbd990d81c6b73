"""What an installation costs before anything is learned: bytes, seconds of an import, and of a first fit.

The closure is that of the environment it is run in: a package and all that it asks for without extras or markers,
without compiled Python files. Each import and fit has a process of its own, whose processor seconds are counted. The
first fit of an installation compiles, into an empty folder; later processes read what it kept. All fit the 1,797 digits
of scikit-learn, with the settings that a model comes with.
"""

from __future__ import annotations

import importlib.metadata
import inspect
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

from benchmarks.measuring import median
from benchmarks.registry import FOLDER, Benchmark
from benchmarks.results import Result

BENCHMARK = Benchmark(
    title="Sizes: wheel, installation, import and first fit",
    claim="bytes of the wheel and of all that comes with it, seconds of an import and of a first fit, beside others",
    minutes=1,
    settings={"rounds": 3},
    quick={"rounds": 1},
)
SOURCES = FOLDER.parent
WHEEL = ("pyproject.toml", "README.md", "LICENSE", "harmonium.cdx.json")


# ---- what new processes run ------------------------------------------------------------------------------------------
def import_harmonium() -> None:
    import harmonium.estimators  # noqa: F401


def import_sklearn() -> None:
    import sklearn.linear_model  # noqa: F401


def import_mofapy2() -> None:
    import mofapy2.run.entry_point  # noqa: F401


def fit_harmonium() -> None:
    from sklearn.datasets import load_digits

    from harmonium import HarmoniumClassifier

    HarmoniumClassifier().fit(*load_digits(return_X_y=True))


def fit_sklearn() -> None:
    from sklearn.datasets import load_digits
    from sklearn.linear_model import LogisticRegressionCV

    LogisticRegressionCV().fit(*load_digits(return_X_y=True))


PACKAGES: dict[str, tuple[Callable[[], None], Callable[[], None] | None]] = {
    "harmonium": (import_harmonium, fit_harmonium),
    "scikit-learn": (import_sklearn, fit_sklearn),
    "mofapy2": (import_mofapy2, None),
}


# ---- measuring -------------------------------------------------------------------------------------------------------
def wheel_bytes() -> int:
    """Return the size of the wheel that the sources make."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        shutil.copytree(SOURCES / "src", place / "src", ignore=shutil.ignore_patterns("__pycache__"))
        for name in WHEEL:
            shutil.copy(SOURCES / name, place / name)
        command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel"]
        subprocess.run(command, cwd=place, check=True, capture_output=True)
        (wheel,) = (place / "dist").glob("*.whl")
        return wheel.stat().st_size


def closure(package: str) -> set[str]:
    """Return a package and all installed ones that it asks for without extras, in lower case."""
    found, waiting = set[str](), [package]
    while waiting:
        name = waiting.pop().lower().replace("_", "-")
        if name not in found:
            found.add(name)
            needs = importlib.metadata.requires(name) or ()
            # markers of platforms that this is not would name packages that are not there
            waiting += [match[0] for need in needs if ";" not in need and (match := re.match(r"[\w.-]+", need))]
    return found


def installed_bytes(package: str) -> int:
    """Return the size of the files of an installed package, without compiled ones; of harmonium that of its sources."""
    if package == "harmonium":
        paths = list((SOURCES / "src").rglob("*"))
    else:
        paths = [Path(str(file.locate())) for file in importlib.metadata.files(package) or ()]
    return sum(path.stat().st_size for path in paths if path.is_file() and path.suffix != ".pyc")


def seconds_of(function: Callable[[], None], cache: Path) -> float:
    """Return the processor seconds that a new process takes for a function, without the imports of this module."""
    code = f"from __future__ import annotations\n{inspect.getsource(function)}\n{function.__name__}()"
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    before = os.times()
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True, env=environment, cwd=SOURCES)
    after = os.times()
    return sum(after[2:4]) - sum(before[2:4])  # user and system of children


def is_installed(package: str) -> bool:
    try:
        importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


def run(options: SimpleNamespace) -> Result:
    """Measure harmonium, and those others that are installed."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        cache = Path(folder)

        def later(function: Callable[[], None]) -> float:
            return median([seconds_of(function, cache) for _ in range(options.rounds)])

        for package, (imports, fits) in PACKAGES.items():
            if is_installed(package):
                names = closure(package)
                size = sum(map(installed_bytes, names)) / 1e6
                times = [later(imports), seconds_of(fits, cache) if fits else None, later(fits) if fits else None]
                rows.append([package, len(names), size, *times])
                print(rows[-1], flush=True)
    result = Result()
    result.text(
        f"The wheel has {wheel_bytes() / 1e6:.2f} MB. Processor seconds of new processes: a first fit is that of a new "
        "installation, which compiles; a later one finds what was compiled. Both include the import and the digits, "
        "and both sides choose their settings."
    )
    columns = {"package": None, "packages": None, "MB": "{:.0f}", "import, s": "{:.2f}"}
    result.table("sizes", columns | {"first fit, s": "{:.1f}", "later fit, s": "{:.1f}"}, rows)
    return result
