"""Fits that were killed go on to the same bits, and to those of no other fit."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.base import clone

import harmonium
from harmonium import Harmonium, Langevin, Stochastic
from harmonium.exceptions import IncompatiblePartsError, ModelFileError
from harmonium.objectives import SampledCD
from harmonium.storage import decode, encode
from harmonium.training import checkpoint
from harmonium.training.growth import grow
from tests.cases.checkpoints import (
    CASES,
    CLASSES,
    FEW,
    VIEWS,
    WORDS,
    Killed,
    assert_same_bits,
    ended_after,
    fitted,
    made,
)
from tests.cases.repository import ROOT

ONCE = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(autouse=True)
def quiet() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", harmonium.HarmoniumWarning)
        yield


def killed(name: str, path: Path, n_writes: int = 1, **settings: Any) -> bytes:
    """End a fit after so many checkpoints, and return the last of them."""
    with ended_after(n_writes), pytest.raises(Killed):
        fitted(name, path, **settings)
    return path.read_bytes()


@pytest.fixture(scope="module")
def whole() -> dict[str, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", harmonium.HarmoniumWarning)
        return {name: fitted(name) for name in CASES}


@pytest.mark.parametrize("name", CASES)
@settings(ONCE, max_examples=2)
@given(moments=st.lists(st.integers(1, 12), min_size=1, max_size=2))
def test_killed_fits_go_on_to_the_same_bits(
    name: str, moments: list[int], whole: dict[str, Any], tmp_path: Path
) -> None:
    path = tmp_path / "run"
    path.unlink(missing_ok=True)
    again = None
    for moment in moments:
        with ended_after(moment):
            try:
                again = fitted(name, path)
                break  # it was done before
            except Killed:
                assert path.exists()
    again = again or fitted(name, path)
    assert not path.exists()
    assert_same_bits(whole[name], again)


def test_growth_goes_on_to_the_same_bits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where new units count as weak, held-out rows also say for how many epochs units are trained."""
    rng = np.random.default_rng(1)
    topics = rng.dirichlet(np.full(40, 0.05), 10)
    lengths = 40 * rng.gamma(0.7, size=(80, 1))
    words = (rng.poisson(lengths * (rng.dirichlet(np.full(10, 0.2), 80) @ topics)) > 0) * 1.0
    path = tmp_path / "run"
    driver = Stochastic(max_iter=2, batch_size=40, checkpoint=path)
    model = Harmonium(hidden=harmonium.IBP(truncation=8), driver=driver, views=harmonium.Bernoulli(), random_state=0)
    levels: list[set[str]] = []
    write = checkpoint.Checkpoint.write

    def noting(self: Any) -> None:
        levels.append(set(self._levels))
        write(self)

    monkeypatch.setattr(grow, "_STRONG", 2.0)
    with patch.object(checkpoint.Checkpoint, "write", noting), ended_after(10**9) as count:
        whole = clone(model).fit(words)
    during = [kept for kept in levels if kept]
    assert len(during) == count[0]
    moments = [during.index({"growth"}) + 1, during.index({"growth", "epochs"}) + 1]
    for moment in moments:
        with ended_after(moment), pytest.raises(Killed):
            clone(model).fit(words)
        with ended_after(10**9) as left:
            again = clone(model).fit(words)
        assert left[0] == count[0] - moment  # what was done is not done again
        assert_same_bits(whole, again)


def test_warm_starts_go_on_to_the_same_bits(tmp_path: Path) -> None:
    for name in ("epochs", "Langevin", "classes"):
        data = CASES[name][1]
        expected = fitted(name, warm_start=True).fit(*data)
        model = fitted(name, tmp_path / "run", warm_start=True)
        with ended_after(2), pytest.raises(Killed):
            model.fit(*data)
        first = made(name, tmp_path / "run")
        with pytest.raises(ValueError, match="earlier training"):
            first.fit(*data)
        assert_same_bits(expected, model.fit(*data))


SCRIPT = """
import sys, warnings
warnings.simplefilter("ignore")
sys.path.insert(0, {root!r})
from harmonium.storage import decode, encode
from harmonium.training import checkpoint
from tests.conftest import shift_seeds
checkpoint._SECONDS = -1.0
shift_seeds({shift})
from tests.cases.checkpoints import fitted
from pathlib import Path
print("ready", flush=True)
for _ in range(1000):  # until it is killed
    fitted({name!r}, Path({path!r}))
"""


def test_a_process_may_be_killed_at_any_moment(
    whole: dict[str, Any], tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    name, path, shift = "classes in turn", tmp_path / "run", pytestconfig.getoption("--seed")
    script = SCRIPT.format(root=str(ROOT), name=name, path=str(path), shift=shift)
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE)
    assert process.stdout is not None and process.stdout.readline() == b"ready\n"
    while not path.exists():
        assert process.poll() is None
        time.sleep(0.002)
    time.sleep(0.3)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    process.stdout.close()
    assert_same_bits(whole[name], fitted(name, path))


# ---- whose it is -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("others", "what"),
    [
        ({"random_state": 1}, "random_state"),
        ({"random_state": None}, "random_state"),
        ({"n_components": 2}, "settings"),
        ({"hidden": harmonium.hidden.GaussianUnits()}, "settings"),
        ({"objective": SampledCD(n_steps=2)}, "settings"),
        ({"driver": Stochastic(5, 20)}, "settings"),
        ({"driver": Langevin()}, "settings"),
        ({"views": {"words": harmonium.families.Binomial(2)}}, "settings"),
        ({"view_weights": {"words": 3.0}}, "settings"),
    ],
    ids=str,
)
def test_a_checkpoint_of_another_fit_is_refused_and_left_alone(others: Any, what: str, tmp_path: Path) -> None:
    path = tmp_path / "run"
    written = killed("epochs", path)
    model = made("epochs", path, **others)
    with pytest.raises(ValueError, match=f"same settings and data.*other.*{what}"):
        model.fit(VIEWS)
    assert path.read_bytes() == written and not hasattr(model, "fitted_")


def test_a_checkpoint_of_other_data_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "run"
    written = killed("epochs", path)
    shifted = {**VIEWS, "colour": VIEWS["colour"] + 1e-3 * (np.arange(60) == 31)[:, None]}
    for other in ({"words": VIEWS["words"]}, {name: view[:50] for name, view in VIEWS.items()}, shifted):
        with pytest.raises(ValueError, match=r"of a fit with other.*data"):
            made("epochs", path).fit(other)
    killed("classes", tmp_path / "classes")
    with pytest.raises(ValueError, match="of a fit with other data"):
        made("classes", tmp_path / "classes").fit(WORDS, CLASSES[::-1])
    with pytest.raises(ValueError, match="of a fit with other settings"):
        made("classes", tmp_path / "classes", validation_fraction=0.3).fit(WORDS, CLASSES)
    assert path.read_bytes() == written


def test_fits_without_a_seed_go_on_with_the_random_numbers_they_had(tmp_path: Path) -> None:
    path = tmp_path / "run"
    np.random.seed(7)  # noqa: NPY002  (what random_state=None means)
    expected = fitted("epochs", None, None)
    np.random.seed(7)  # noqa: NPY002
    killed("epochs", path, 2, random_state=None)
    np.random.seed(8)  # noqa: NPY002
    with pytest.raises(ValueError, match="random_state"):
        fitted("epochs", path, 0)
    assert_same_bits(expected, fitted("epochs", path, None))
    stream = np.random.RandomState
    expected = fitted("epochs", None, stream(3))
    killed("epochs", path, 2, random_state=stream(3))
    with pytest.raises(ValueError, match="random_state"):
        fitted("epochs", path, stream(4))
    assert_same_bits(expected, fitted("epochs", path, stream(3)))


def test_paths_do_not_matter(tmp_path: Path) -> None:
    expected = fitted("epochs")
    killed("epochs", tmp_path / "run")
    (tmp_path / "run").rename(tmp_path / "moved")
    assert_same_bits(expected, fitted("epochs", tmp_path / "moved", n_jobs=1))


def test_what_cannot_be_kept_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="folder that exists"):
        fitted("epochs", tmp_path / "nowhere" / "run")
    with pytest.raises(ValueError, match="must be a file"):
        fitted("L-BFGS", tmp_path)
    start = FEW.with_fitted().set_params(checkpoint=tmp_path / "run")
    with pytest.raises(ValueError, match="Langevin alone"):
        Harmonium(2, driver=Langevin(start=start)).fit(VIEWS)

    class Odd(SampledCD):
        def start(self, *_: Any) -> object:
            return object()

    with ended_after(9), pytest.raises(IncompatiblePartsError, match="dict of arrays"):
        fitted("epochs", tmp_path / "run", objective=Odd())
    del harmonium.core.parts._REGISTRY["objective:Odd"]  # other suites try all objectives


# ---- damage ------------------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return killed("early stopping", tmp_path_factory.mktemp("run") / "run", 2)


@settings(ONCE, max_examples=40)
@given(data=st.data())
def test_damaged_checkpoints_are_refused_and_left_alone(data: st.DataObject, file: bytes, tmp_path: Path) -> None:
    place = data.draw(st.integers(0, len(file) - 1))
    if data.draw(st.booleans()):
        broken = file[:place]
    else:
        changed = file[place] ^ data.draw(st.integers(1, 255))
        broken = file[:place] + bytes([changed]) + file[place + 1 :]
    path = tmp_path / "run"
    path.write_bytes(broken)
    with pytest.raises(ModelFileError, match=r"as it was written.*delete the file"):
        fitted("early stopping", path)
    assert path.read_bytes() == broken


def test_model_files_and_other_versions_are_no_checkpoints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "run"
    fitted("epochs").save(tmp_path / "model.safetensors")
    with pytest.raises(ModelFileError, match="checkpoint"):
        fitted("epochs", tmp_path / "model.safetensors")
    killed("epochs", path)
    monkeypatch.setattr(checkpoint, "_FORMAT", 99)
    with pytest.raises(ModelFileError, match="this version"):
        fitted("epochs", path)


# ---- state -------------------------------------------------------------------------------------------------------
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@settings(deadline=None, max_examples=25)
@given(VALUES)
def test_states_survive_as_they_are(value: Any) -> None:
    arrays: dict[str, np.ndarray] = {}
    assert repr(decode(encode(value, "it", arrays), "it", arrays)) == repr(value)


def test_arrays_and_streams_survive_to_the_bit() -> None:
    arrays: dict[str, np.ndarray] = {}
    rng = np.random.default_rng(0)
    rng.random(3)
    array = np.asfortranarray(rng.random((3, 4)))
    again = decode(encode({"a": [array, rng]}, "it", arrays), "it", arrays)["a"]
    assert again[0].flags.f_contiguous and not again[0].flags.c_contiguous
    np.testing.assert_array_equal(again[0], array)
    assert again[1].random() == rng.random()
    with pytest.raises(TypeError, match="PCG64"):
        encode(np.random.Generator(np.random.MT19937(0)), "it", arrays)
