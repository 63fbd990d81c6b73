"""Model files with something wrong are refused in one sentence."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors.numpy import save_file

from harmonium import Categorical, Gaussian, Harmonium, Poisson, Stochastic
from harmonium.persist import load_model
from harmonium.storage.sealed import seal_text
from tests.cases.persist import COUNTS, DATA, SECOND, SINGLE, drop, put, refused, rewritten, tensor


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("saved") / "model.safetensors"
    model = Harmonium(2, views={"x": Categorical(), "y": Gaussian(), "z": Poisson()}, driver=Stochastic(max_iter=1))
    model.fit({"x": DATA["Categorical"], "y": SECOND, "z": COUNTS}).save(path)
    return path


# ---- contradictions --------------------------------------------------------------------------------------------------
REFUSED = {
    "foreign format": (put("format", value="torch"), "format 'harmonium'"),
    "newer schema": (put("schema", value=8), "install a newer"),
    "older schema": (put("schema", value=1), "save the model again with this version"),
    "schema of another kind": (put("schema", value="7"), "schema 6 and 7"),
    "schema that is true": (put("schema", value=True), "schema 6 and 7"),
    "missing entry": (drop("views"), "'views' is missing"),
    "unknown entry": (put("code", value="import os"), "'code' is unknown"),
    "entry of another kind": (put("views", value=[]), "'views' is list"),
    "unknown estimator": (put("estimator", value="Pipeline"), "estimators Harmonium"),
    "unknown parameter": (put("parameters", "eval", value="1"), "'eval'"),
    "bad parameter": (put("parameters", "n_components", value=-3), "can be put together"),
    "unreadable parameter": (put("parameters", "n_components", value={"call": "os"}), "n_components"),
    "bad range": (put("parameters", "views", value={"range": ["a"]}), "views"),
    "bad array": (put("parameters", "views", value={"array": [1], "dtype": "V8"}), "views"),
    "huge array": (put("parameters", "views", value={"array": ["a"], "dtype": "<U1000000000"}), "views"),
    "array of another shape": (put("parameters", "views", value={"array": [1], "dtype": "<i8", "shape": [9]}), "views"),
    "unhashable key": (put("parameters", "views", value={"mapping": [[[1], 2]]}), "views"),
    "unknown part": (put("parameters", "driver", "part", value="driver:Newton"), "driver:Newton"),
    "part of another role": (
        put("views", "z", "family", value={"part": "hidden:BernoulliUnits", "parameters": {}}),
        "must have a family",
    ),
    "unknown parameter of a part": (put("parameters", "driver", "parameters", "eval", value=1), "'eval'"),
    "part without parameters": (drop("views", "x", "family", "parameters"), "family of view 'x'"),
    "no units": (put("hidden", "n_units", value=0), "at least one unit"),
    "other units": (put("hidden", "n_units", value=3), "must be numbers of shape"),
    "incompatible parts": (
        put("hidden", value={"part": "hidden:GaussianUnits", "parameters": {"n_units": None}, "n_units": 2}),
        "cannot be normalised",
    ),
    "other width": (put("views", "y", "n_features", value=4), r"must be numbers of shape \(4,\)"),
    "huge width": (put("views", "y", "n_features", value=10**15), "10{15}"),
    "missing names": (put("views", "y", "feature_names", value=["a"]), "a name for each"),
    "names of another kind": (put("views", "y", "feature_names", value=[1, 2, 3]), "a name for each"),
    "constants of another family": (put("views", "y", "constants", value=["scale"]), "constants of Gaussian"),
    "view without tensors": (put("views", "w", value={}), "View 'w'"),
    "unknown fact": (put("fitted", "code", value="import os"), "'code' is unknown"),
    "unknown fact of the input": (put("input", "transform", value=1), "'transform' is unknown"),
    "weight of a head that is not there": (put("fitted", "C", value=1.0), "goes with a head"),
    "missing log": (drop("fitted", "log"), "can be put together"),
    "missing tensor": (tensor("parameters/x.weights", None), "'parameters/x.weights' is missing"),
    "missing described tensor": (tensor("parameters/y.weights", None, True), "found none"),
    "missing constant": (tensor("constants/y/scale", None, True), "constants of Gaussian"),
    "extra tensor": (tensor("more", np.ones(1, SINGLE)), "'more' is not described"),
    "extra described tensor": (tensor("more", np.ones(1, SINGLE), True), "belongs to none"),
    "extra parameter": (tensor("parameters/more", np.ones(1, SINGLE), True), "no such tensor"),
    "wrong shape": (tensor("parameters/hidden.bias", np.ones(3, SINGLE)), "as described"),
    "wrong described shape": (tensor("parameters/hidden.bias", np.ones(3, SINGLE), True), "shape"),
    "wrong type": (tensor("parameters/hidden.bias", np.ones(2, np.int32), True), "int32"),
    "wrong constant": (tensor("constants/y/scale", np.ones(7), True), "constants of Gaussian"),
    "wrong groups": (tensor("constants/x/groups", np.arange(9), True), "constants of Categorical"),
    "wrong reference": (tensor("reference/z", np.ones(2, SINGLE), True), "reference/z"),
    "numbers that are not finite": (tensor("parameters/hidden.bias", np.full(2, np.nan, SINGLE)), "finite"),
}


@pytest.mark.parametrize("case", sorted(REFUSED))
def test_contradictions_are_refused(case: str, saved: Path, tmp_path: Path) -> None:
    change, match = REFUSED[case]
    refused(rewritten(saved, tmp_path, change), match)


def test_facts_that_a_file_lacks_take_their_defaults(saved: Path, tmp_path: Path) -> None:
    """So that a new one needs a field and no more."""
    fitted = load_model(rewritten(saved, tmp_path, drop("fitted", "missing"))).fitted_
    assert fitted.missing == {} and load_model(saved).fitted_.missing.keys() == {"x", "y", "z"}


# ---- bytes -----------------------------------------------------------------------------------------------------------
def test_files_of_others_are_refused(saved: Path, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        load_model(tmp_path / "nothing")
    foreign = tmp_path / "foreign.safetensors"
    save_file({"x": np.ones(2)}, foreign)
    refused(foreign, "no 'harmonium' entry")
    for text in ("{", "[1]", '{"format": NaN}', "[" * 100_000, ""):
        save_file({"x": np.ones(2)}, foreign, metadata={"harmonium": text})
        refused(foreign, "JSON")
    foreign.write_bytes(b"PK\x03\x04 not safetensors")
    refused(foreign, "complete safetensors file")
    foreign.write_bytes(b"")
    refused(foreign, "complete safetensors file")
    os.mkfifo(tmp_path / "pipe")
    refused(tmp_path / "pipe", "a pipe or a device")  # and does not hang


def test_folders_with_something_wrong_are_refused(saved: Path, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    refused(folder, "is missing")
    shutil.rmtree(folder)
    load_model(saved).save(folder)
    text = (folder / "model.json").read_text()
    for broken, match in ((text[:100], "valid JSON"), (text.replace('"schema": 7', '"schema": 8'), "digest differs")):
        (folder / "model.json").write_text(broken)
        refused(folder, match)
    (folder / "model.json").write_bytes(b"\xff\xfe")
    refused(folder, "UTF-8")
    (folder / "model.json").write_text('{"format": "harmonium", "schema": 2}')
    refused(folder, "this one has none")
    for name in ("../model.safetensors", None):
        (folder / "model.json").write_bytes(seal_text({"tensors_file": name}))
        refused(folder, "must name the file of its tensors")
    (folder / "model.json").write_text(text)
    load_model(folder)
    # the tensors of another model, though of the same shapes
    other = load_model(saved)
    other.fitted_.parameters["hidden.bias"] += 1
    other.save(tmp_path / "other")
    (tensors,), (others,) = folder.glob("tensors-*"), (tmp_path / "other").glob("tensors-*")
    shutil.copy(others, tensors)
    refused(folder, "digest differs")
    refused(others, "harmonium.tensors")
    tensors.unlink()
    refused(folder, f"{tensors.name} is missing")


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(share=st.floats(0, 1, exclude_max=True))
def test_truncated_files_are_refused(share: float, saved: Path, tmp_path: Path) -> None:
    content = saved.read_bytes()
    path = tmp_path / "short.safetensors"
    path.write_bytes(content[: int(share * len(content))])
    refused(path, "complete safetensors file")


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(share=st.floats(0, 1, exclude_max=True), bits=st.integers(1, 255))
def test_a_changed_byte_is_refused(share: float, bits: int, saved: Path, tmp_path: Path) -> None:
    content = bytearray(saved.read_bytes())
    content[int(share * len(content))] ^= bits
    path = tmp_path / "changed.safetensors"
    path.write_bytes(content)
    refused(path, "A model file|JSON")


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(share=st.floats(0, 1, exclude_max=True), bits=st.integers(1, 255), cut=st.booleans())
def test_a_changed_or_missing_byte_of_a_folder_is_refused(
    share: float, bits: int, cut: bool, saved: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "model"
    if not folder.exists():
        load_model(saved).save(folder)
    for path in folder.iterdir():
        content = path.read_bytes()
        place = int(share * len(content))
        path.write_bytes(
            content[:place] if cut else content[:place] + bytes([content[place] ^ bits]) + content[place + 1 :]
        )
        refused(folder, "A model file|JSON|UTF-8|digest|must name")
        path.write_bytes(content)
    load_model(folder)
