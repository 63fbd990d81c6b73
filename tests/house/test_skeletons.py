"""Skeletons of parts: the suites that find parts by registry pass on each of them, and estimators can use them."""

from __future__ import annotations

import doctest
import importlib.util
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from sklearn.base import clone

import harmonium
from harmonium.core import parts
from harmonium.inspection import log_partition
from harmonium.storage import values
from tests.cases.repository import ROOT

#: how test files find parts: those that do are run on the skeletons
BY_REGISTRY = re.compile(r"registered\(\"|compatible_pairs|hidden_names|LINEAR")
RNG = np.random.default_rng(0)
WORDS = (RNG.random((60, 6)) < np.where(np.arange(60)[:, None] % 2 == np.arange(6) % 2, 0.7, 0.2)).astype(float)
NUMBERS = WORDS @ [2.0, -1.0, 2.0, -1.0, 2.0, -1.0] + 0.1 * RNG.normal(size=60)
STARS = RNG.binomial(4, 0.2 + 0.6 * WORDS[:, :4]) + 1


def made(name: str) -> Any:
    """Import a skeleton as it would be imported in its package."""
    spec = importlib.util.spec_from_file_location(f"skeletons.{name}", ROOT / "skeletons" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def skeletons() -> Iterator[dict[str, Any]]:
    """All skeletons by kind, in registries that are put back in the end."""
    with patch.dict(parts._REGISTRY), patch.dict(values._KINDS):
        yield {name: made(name) for name in ("family", "layer", "head", "driver")}
    # these alone: what numba imports on the way registers itself once, and must not be imported again
    for name in [name for name in sys.modules if name.startswith("skeletons.")]:
        del sys.modules[name]


@pytest.mark.parametrize("name", ["family", "layer", "head", "driver"])
def test_examples_say_what_is_printed(skeletons: dict[str, Any], name: str) -> None:
    failed, tried = doctest.testmod(skeletons[name])
    assert tried and not failed


# ---- suites ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("skeleton", "chosen", "least"),
    [
        ("family", "Stars and not survives", 60),  # that test has counts from 0; files are tried below
        ("layer", "ThreeState", 100),
        ("head", "LeastSquares and not sooner", 20),  # it is solved in closed form, which no start makes quicker
    ],
)
def test_suites_find_it_and_pass(skeleton: str, chosen: str, least: int) -> None:
    """Enumeration, Gibbs moments, annealing, gradients by finite differences, files: whatever asks the registry."""
    files = [path for path in sorted((ROOT / "tests").rglob("test_*.py")) if path.name != Path(__file__).name]
    suites = [str(path) for path in files if BY_REGISTRY.search(path.read_text())]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    environment["PYTHONPATH"] = os.pathsep.join([str(ROOT), str(Path(harmonium.__file__).parents[1])])
    options = ["-p", f"skeletons.{skeleton}", "-p", "no:cacheprovider", "-o", "addopts=--import-mode=importlib"]
    command = [sys.executable, "-m", "pytest", *options, "-q", "-k", chosen, *suites]
    ended = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout[-3000:] + ended.stderr[-1000:]
    passed = re.search(r"(\d+) passed", ended.stdout)
    assert passed is not None and int(passed[1]) >= least, ended.stdout[-500:]


# ---- estimators ------------------------------------------------------------------------------------------------------
def assert_survives(model: Any, X: Any, path: Path) -> None:
    """A model answers the same after a round trip through a file."""
    model.save(path)
    again = harmonium.load(path)
    assert repr(again) == repr(model)
    np.testing.assert_array_equal(again.transform(X), model.transform(X))
    np.testing.assert_array_equal(again.score_samples(X), model.score_samples(X))


def test_the_family_is_fitted_and_saved(skeletons: dict[str, Any], tmp_path: Path) -> None:
    family = skeletons["family"].Stars()
    driver = harmonium.Stochastic(40, 10, learning_rate=0.05)
    model = harmonium.Harmonium(2, views={"stars": family}, driver=driver, random_state=0)
    model.fit({"stars": STARS})
    drawn = model.sample(50, random_state=0)
    assert set(np.unique(drawn)) <= {1, 2, 3, 4, 5}
    # what the model expects of rows lies nearer to them than the means do
    expected = model.reconstruct({"stars": STARS})
    assert np.square(expected - STARS).mean() < 0.9 * STARS.var(axis=0).mean()
    assert_survives(model, {"stars": STARS}, tmp_path / "model.safetensors")
    with pytest.raises(harmonium.exceptions.InvalidViewError, match="needs whole numbers from 1 to 5; found 0"):
        model.fit({"stars": STARS - 1})


def test_the_layer_is_fitted_by_name_and_saved(skeletons: dict[str, Any], tmp_path: Path) -> None:
    driver = harmonium.Stochastic(40, 10, learning_rate=0.05)
    model = harmonium.Harmonium(2, hidden="three_state", driver=driver, random_state=0).fit(WORDS)
    assert repr(model.fitted_.energy.hidden) == "ThreeStateUnits()"
    latent = model.transform(WORDS)
    assert latent.min() >= 0 and latent.max() <= 2 and np.ptp(latent, axis=0).max() > 0.5
    assert_survives(model, WORDS, tmp_path / "model")


@pytest.mark.parametrize("solver", ["joint", "alternate"])
def test_the_head_predicts_and_is_saved(skeletons: dict[str, Any], solver: str, tmp_path: Path) -> None:
    head = skeletons["head"].LeastSquares(solver=solver)
    driver = harmonium.Stochastic(40, 10, learning_rate=0.05)
    model = harmonium.HarmoniumRegressor(3, head=head, driver=driver, random_state=0).fit(WORDS, NUMBERS)
    assert model.score(WORDS, NUMBERS) > 0.6
    np.testing.assert_array_less(*(side.ravel() for side in model.predict(WORDS, interval=0.8)[1:]))
    assert_survives(model, WORDS, tmp_path / "model.safetensors")


# ---- the driver ------------------------------------------------------------------------------------------------------
def descended(skeletons: dict[str, Any], **settings: Any) -> Any:
    driver = skeletons["driver"].GradientDescent(**{"max_iter": 12, "learning_rate": 0.2, **settings})
    return harmonium.Harmonium(2, objective=harmonium.objectives.ExactLikelihood(), driver=driver, random_state=0)


def log_likelihood(model: Any) -> float:
    return float(model.score_samples(WORDS).mean() - log_partition(model, "exact").value)


def test_a_step_follows_the_gradient(skeletons: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """The likelihood rises by the step times the squared gradient, which the parameters have moved along."""
    # units that are turned over in the end are in other coordinates, in which the same step has another length
    monkeypatch.setattr("harmonium.training.fit.with_signs", lambda problem, training: training)
    one, two = (descended(skeletons, max_iter=steps, learning_rate=1e-3).fit(WORDS) for steps in (1, 2))
    moves = [two.fitted_.parameters[name] - value for name, value in one.fitted_.parameters.items()]
    squares = sum(float(np.square(move, dtype=np.float64).sum()) for move in moves) / 1e-3
    assert log_likelihood(two) - log_likelihood(one) == pytest.approx(squares, rel=0.05)


def test_steps_end_near_the_optimum(skeletons: dict[str, Any]) -> None:
    """One unit: several have optima that are different ones, of which each way may find another."""
    model = descended(skeletons, max_iter=600, learning_rate=1.0).set_params(n_components=1)
    oracle = clone(model).set_params(driver=harmonium.LBFGS(max_iter=300, weight_decay=0))
    assert log_likelihood(model.fit(WORDS)) == pytest.approx(log_likelihood(oracle.fit(WORDS)), abs=0.03)


class Killed(BaseException):
    """Stands for the end of a process."""


@contextmanager
def killed_after(n_writes: int) -> Iterator[None]:
    """A context in which clocks run so fast that every checkpoint is due, and a fit ends after some of them."""
    replace, monotonic, count, late = os.replace, time.monotonic, [0], [0.0]

    def ending(*paths: Any, **keywords: Any) -> None:
        replace(*paths, **keywords)
        count[0] += 1
        if count[0] == n_writes:
            raise Killed

    def hurried() -> float:
        late[0] += 1000.0
        return monotonic() + late[0]

    with patch.object(os, "replace", ending), patch.object(time, "monotonic", hurried), pytest.raises(Killed):
        yield


def test_a_killed_fit_goes_on_to_the_same_bits(skeletons: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "checkpoint"
    with killed_after(5):
        descended(skeletons, checkpoint=path).fit(WORDS)
    assert path.exists()
    resumed, peaceful = descended(skeletons, checkpoint=path).fit(WORDS), descended(skeletons).fit(WORDS)
    assert not path.exists() and resumed.n_iter_ == peaceful.n_iter_ == 12
    for name, value in peaceful.fitted_.parameters.items():
        np.testing.assert_array_equal(resumed.fitted_.parameters[name], value)


def test_an_interrupt_keeps_what_was_learned(skeletons: dict[str, Any], tmp_path: Path) -> None:
    model, driver = descended(skeletons), skeletons["driver"].GradientDescent
    move, count = driver._move, [0]

    def interrupted(*given: Any) -> None:
        count[0] += 1
        if count[0] == 8:
            raise KeyboardInterrupt
        move(*given)

    with patch.object(driver, "_move", interrupted), pytest.raises(KeyboardInterrupt), pytest.warns(match="interrupt"):
        model.fit(WORDS)
    assert model.fitted_.training.log.stopped == "interrupted" and 1 <= model.n_iter_ <= 7
    assert_survives(model, WORDS, tmp_path / "model.safetensors")
