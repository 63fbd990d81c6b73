"""Determinism classes by registry: every estimator and recipe keeps what its class promises."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.base import ClassifierMixin
from threadpoolctl import threadpool_limits

import harmonium
from harmonium import (
    IBP,
    HarmoniumClassifier,
    HarmoniumRegressor,
    Langevin,
    Sequences,
    Stochastic,
    estimators,
    recipes,
    weak,
)
from harmonium.inspection.determinism import DETERMINISM
from harmonium.kernels.runtime import threads
from harmonium.kernels.runtime.adaptive_threading import AdaptiveThreading
from harmonium.kernels.runtime.thread_pool import Job
from harmonium.training import Distributed
from tests.cases.checkpoints import Killed, ended_after
from tests.cases.clusters import Alone, in_this_process

N_ROWS, N_UNITS = 160, 6
RNG = np.random.default_rng(0)
Y = RNG.integers(0, 2, N_ROWS)
WORDS = scipy.sparse.random_array((N_ROWS, 2500), density=0.01, rng=RNG, format="csr")
WORDS.data[:] = 1
COLOUR = RNG.normal(size=(N_ROWS, 4)) + Y[:, None]
TARGETS = pd.DataFrame({"number": RNG.normal(size=N_ROWS) + Y, "class": np.where(Y, "one", "other")})
MODELS = [name for name in DETERMINISM if not name.startswith("weak.")]


def public() -> set[str]:
    """Names of all estimators that users can import."""
    kinds = {f"weak.{name}": getattr(weak, name) for name in weak.__all__}
    learners = {name for name, kind in kinds.items() if isinstance(kind, type) and issubclass(kind, ClassifierMixin)}
    return {*estimators.__all__, *recipes.__all__, *learners}


def data_for(name: str) -> Any:
    if name in ("BDWH", "DWH", "MMH", "TWH", "ClusterSpace"):
        return {"words": WORDS, "colour": COLOUR}
    if name.startswith("struct"):
        return Sequences(WORDS[np.repeat(np.arange(N_ROWS), 2)], np.arange(0, 2 * N_ROWS + 1, 2))
    return {"words": WORDS}


def made(name: str, n_jobs: int = 1, driver: Any = None) -> Any:
    """A model of a few epochs; a driver of one's own takes the place of the usual kind."""
    if name == "HarmoniumMultiOutput":
        parts = {"classifier": HarmoniumClassifier, "regressor": HarmoniumRegressor}
        some = {key: made(kind.__name__, n_jobs, driver) for key, kind in parts.items()}
        return harmonium.HarmoniumMultiOutput(**some, random_state=0)
    if driver is None:
        driver = usual(name)
    return getattr(harmonium, name)(N_UNITS, driver=driver, n_jobs=n_jobs, random_state=0)


def usual(name: str, **settings: Any) -> Any:
    """A short run of the kind of driver that a model has by default."""
    if name.startswith("B"):
        few = Stochastic(max_iter=1, batch_size=60)
        return Langevin(n_draws=2, n_warmup=2, thin=1, n_chains=2, start=few, **settings)
    return None if name == "ClusterSpace" else Stochastic(max_iter=3, batch_size=60, **settings)


def fitted(name: str, model: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        targets: tuple[Any, ...] = (TARGETS,) if name == "HarmoniumMultiOutput" else (Y,) * hasattr(model, "predict")
        return model.fit(data_for(name), *targets)


def bits(model: Any) -> list[np.ndarray]:
    """All numbers that a model has learned."""
    if hasattr(model, "estimators_"):
        return [value for one in model.estimators_.values() for value in bits(one)]
    head = {} if model.fitted_.head is None else model.fitted_.head.constants()
    draws = [draw for each in model.fitted_.draws for draw in each.values()]
    return [*model.fitted_.parameters.values(), *head.values(), *draws]


def assert_same_bits(one: Any, two: Any) -> None:
    first, second = bits(one), bits(two)
    assert first and len(first) == len(second)
    for expected, found in zip(first, second, strict=True):
        np.testing.assert_array_equal(found, expected)


def test_every_public_estimator_has_a_class() -> None:
    assert public() == set(DETERMINISM)


@pytest.fixture
def jobs(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Let threads share small jobs too, whether that pays or not; the numbers of blocks of those they shared."""
    shared: list[int] = []
    count, run = threads.block_count, Job.run

    def in_small_blocks(size: int, largest: int) -> int:
        return count(size, max(largest // 50, 1))

    def counted(job: Job, workers: Any) -> None:
        shared.append(job._n_blocks)
        run(job, workers)

    for module in [module for name, module in sys.modules.items() if name.startswith("harmonium.")]:
        if getattr(module, "block_count", None) is count:
            monkeypatch.setattr(module, "block_count", in_small_blocks)
    monkeypatch.setattr(AdaptiveThreading, "use_threads", lambda timings: True)
    monkeypatch.setattr(Job, "run", counted)
    return shared


@pytest.mark.parametrize("name", MODELS)
def test_the_same_bits_on_any_number_of_threads(name: str, jobs: list[int]) -> None:
    assert DETERMINISM[name].threads
    assert_same_bits(*(fitted(name, made(name, n_jobs)) for n_jobs in (1, 3)))
    assert jobs or name == "ClusterSpace"  # found in closed form, by one thread


@pytest.mark.parametrize("name", [name for name in DETERMINISM if name.startswith("weak.")])
def test_learners_of_bags_have_the_same_bits_on_any_number_of_threads(name: str) -> None:
    bags = [RNG.normal(size=(40, 60)) + label for label in Y]
    found = []
    for n_threads in (1, 2):
        with threadpool_limits(n_threads):  # of BLAS, by which those without n_jobs go
            model = getattr(weak, name.removeprefix("weak."))(random_state=0).fit(bags, Y)
            found.append(model.decision_function(bags))
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("name", MODELS)
def test_a_killed_fit_goes_on_where_it_was(name: str, tmp_path: Path) -> None:
    if not DETERMINISM[name].goes_on:
        pytest.skip("begins anew")
    model, path = made(name, driver=usual(name, checkpoint=tmp_path / "run")), tmp_path / "run"
    with ended_after(2), pytest.raises(Killed):
        fitted(name, model)
    assert path.exists()
    resumed = fitted(name, made(name, driver=usual(name, checkpoint=path)))
    assert not path.exists()
    assert_same_bits(fitted(name, made(name)), resumed)


@pytest.mark.parametrize("name", MODELS)
def test_any_number_of_workers_make_the_same_bits_or_one_process_fits(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    clusters, local = in_this_process(monkeypatch), Stochastic(max_iter=2, batch_size=20)
    if not DETERMINISM[name].workers:
        if isinstance(made(name, driver=local).hidden, IBP):
            with pytest.raises(ValueError, match="Distributed trains layers that keep all their units"):
                fitted(name, made(name, driver=Distributed(local)))
        else:  # another driver would be another model
            assert not isinstance(usual(name), Stochastic)
        return
    found = []
    for n_workers in (1, 4):
        clusters["next"] = Alone(n_workers=n_workers)
        found.append(fitted(name, made(name, driver=Distributed(local, n_replicas=4, n_steps=2))))
    assert_same_bits(*found)
