"""Model files: what goes in comes out, and whatever is wrong is refused in one sentence."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors import safe_open
from safetensors.numpy import load_file, save_file
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import harmonium
from harmonium import (
    Adam,
    Bernoulli,
    Binomial,
    Categorical,
    Columns,
    EpsilonInsensitive,
    Gaussian,
    Harmonium,
    HarmoniumClassifier,
    HarmoniumRegressor,
    HarmoniumWarning,
    Hinge,
    IncompatiblePartsError,
    LabelView,
    MeanFieldCD,
    ModelFileError,
    MultiLabelHinge,
    Poisson,
    Sequences,
    SpikeSlab,
    Stochastic,
)
from harmonium.parts import registered
from harmonium.persist import load_model, save_model

from .conftest import REAL, hidden_names

RNG = np.random.default_rng(0)
ROWS = 30
DATA = {
    "Bernoulli": (RNG.random((ROWS, 5)) < 0.4).astype(float),
    "Gaussian": RNG.normal(3.0, 2.0, size=(ROWS, 5)),
    "Categorical": RNG.integers(0, 3, size=(ROWS, 5)).astype(float),
    "Chain": Sequences(RNG.random((3 * ROWS, 5)) < 0.4, np.arange(0, 3 * ROWS + 1, 3)),
}
COUNTS = RNG.integers(0, 4, size=(ROWS, 5)).astype(float)
SECOND = RNG.normal(size=(ROWS, 3))


def part(kind: str, name: str) -> Any:
    if name == REAL:
        return SpikeSlab(kind="real", variance=0.8)
    part_class: Any = registered(kind)[name]
    return part_class(4) if part_class is Binomial else part_class()


def fitted(**keywords: Any) -> Harmonium:
    settings_ = {"n_components": 3, "driver": Stochastic(max_iter=2), "random_state": 0} | keywords
    return Harmonium(**settings_).fit({"words": DATA["Bernoulli"], "colour": SECOND})


def assert_same(model: Harmonium, again: Harmonium, X: Any) -> None:
    for view in model.families_:
        assert model.loadings(view).equals(again.loadings(view))
    np.testing.assert_array_equal(model.transform(X), again.transform(X))
    np.testing.assert_array_equal(model.score_samples(X), again.score_samples(X))


# ---- round trips -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("ending", ["model.safetensors", "model"])
@pytest.mark.parametrize("hidden", hidden_names())
@pytest.mark.parametrize("family", sorted(registered("family")))
def test_every_pair_of_parts_survives(family: str, hidden: str, ending: str, tmp_path: Path) -> None:
    X = {"x": DATA.get(family, COUNTS), "other": SECOND}
    model = Harmonium(
        3,
        views={"x": part("family", family), "other": Gaussian("learn")},
        hidden=part("hidden", hidden),
        driver=Stochastic(max_iter=2),
        random_state=0,
    )
    try:
        model.fit(X)
    except IncompatiblePartsError:
        pytest.skip("cannot be normalised together")
    model.save(tmp_path / ending)
    again = harmonium.load(tmp_path / ending)
    assert_same(model, again, X)
    for name, other in (("x", "other"), ("other", "x")):
        given_view = {other: X[other]}
        np.testing.assert_array_equal(model.predict_view(name, given_view), again.predict_view(name, given_view))
    assert again.history_ == model.history_
    assert (again.n_iter_, again.n_components_) == (model.n_iter_, model.n_components_)
    assert repr(again) == repr(model)


@pytest.mark.parametrize(
    "views",
    [
        {"a": slice(0, 5), "b": Columns(slice(5, None, 1), Gaussian())},
        {"a": Columns([0, 1, 2, 3, 4], Bernoulli()), "b": (5, 6, 7)},
        {"a": range(5), "b": np.arange(5, 8)},
        {"a": Columns(np.arange(8) < 5), "b": np.arange(8) >= 5},
        {"a": [f"c{i}" for i in range(5)], "b": np.array(["c5", "c6", "c7"])},
    ],
)
def test_columns_of_one_frame_survive(views: Any, tmp_path: Path) -> None:
    X = pd.DataFrame(np.hstack([DATA["Bernoulli"], SECOND]), columns=[f"c{i}" for i in range(8)])
    model = Harmonium(2, views=views, driver=Stochastic(max_iter=1), random_state=0).fit(X)
    model.save(tmp_path / "model")
    again = load_model(tmp_path / "model")
    assert_same(model, again, X)
    assert list(again.feature_names_in_) == list(X.columns)
    assert again.n_features_in_ == 8
    clone(again).fit(X)
    with pytest.raises(ValueError, match="feature names"):
        again.transform(X.rename(columns={"c0": "other"}))


@pytest.mark.parametrize("views", [[Bernoulli(), "infer"], (Bernoulli(), Gaussian()), {"view0": Bernoulli()}])
def test_lists_of_families_survive(views: Any, tmp_path: Path) -> None:
    model = Harmonium(2, views=views, driver=Stochastic(max_iter=1, optimiser=Adam(beta1=0.8)), random_state=0)
    model.fit([DATA["Bernoulli"], SECOND]).save(tmp_path / "model.safetensors")
    again = load_model(tmp_path / "model.safetensors")
    assert type(again.views) is type(views)
    assert again.driver.optimiser.beta1 == 0.8
    assert repr(again.views) == repr(views)


def test_a_loaded_model_goes_on_learning_and_is_saved_again(tmp_path: Path) -> None:
    model = fitted(objective=MeanFieldCD(n_steps=2))
    X = {"words": DATA["Bernoulli"], "colour": SECOND}
    model.save(tmp_path / "model")
    again = load_model(tmp_path / "model").partial_fit(X).partial_fit(X)
    assert again.n_iter_ == model.n_iter_ + 2
    assert not np.array_equal(again.transform(X), model.transform(X))
    again.save(tmp_path / "model")
    assert_same(again, load_model(tmp_path / "model"), X)
    assert sorted(entry.name for entry in (tmp_path / "model").iterdir()) == ["model.json", "model.safetensors"]


def test_what_was_fitted_counts_rather_than_later_set_params(tmp_path: Path) -> None:
    model = fitted().set_params(n_components=9, output="natural")
    model.save(tmp_path / "model")
    again = load_model(tmp_path / "model")
    assert (again.n_components, again.n_components_) == (9, 3)
    assert_same(model, again, {"words": DATA["Bernoulli"], "colour": SECOND})


def test_views_without_feature_names(tmp_path: Path) -> None:
    model = fitted()
    del model.feature_names_["colour"]
    model.save(tmp_path / "model")
    again = load_model(tmp_path / "model")
    assert list(again.feature_names_) == ["words"]


def test_saving_twice_gives_the_same_bytes(tmp_path: Path) -> None:
    model = fitted()
    for name in ("a.safetensors", "b.safetensors"):
        model.save(tmp_path / name)
    assert (tmp_path / "a.safetensors").read_bytes() == (tmp_path / "b.safetensors").read_bytes()


def test_generators_are_saved_as_none_with_a_warning(tmp_path: Path) -> None:
    model = fitted(random_state=np.random.RandomState(0))
    with pytest.warns(HarmoniumWarning, match="saved as None"):
        model.save(tmp_path / "model")
    assert load_model(tmp_path / "model").random_state is None


def test_numpy_numbers_and_infinities_survive(tmp_path: Path) -> None:
    model = fitted(n_components=np.int64(3), random_state=np.int32(4))
    model.history_["odd"] = [float("nan"), float("inf"), np.float32(0.1)]
    model.save(tmp_path / "model")
    again = load_model(tmp_path / "model")
    assert again.random_state == 4
    np.testing.assert_array_equal(again.history_["odd"], model.history_["odd"])


# ---- what saving refuses -----------------------------------------------------------------------------------------
def test_saving_refuses(tmp_path: Path) -> None:
    with pytest.raises(NotFittedError):
        Harmonium().save(tmp_path / "model")
    with pytest.raises(TypeError, match="Only Harmonium"):
        save_model(object(), tmp_path / "model")
    with pytest.raises(TypeError, match=r"driver\.tol is of type complex"):
        fitted().set_params(driver=Stochastic(tol=1j)).save(tmp_path / "model")
    with pytest.raises(FileNotFoundError, match="create it first"):
        fitted().save(tmp_path / "nowhere" / "model")
    (tmp_path / "file").write_text("")
    with pytest.raises(FileExistsError, match="choose another path"):
        fitted().save(tmp_path / "file")
    (tmp_path / "folder.safetensors").mkdir()
    with pytest.raises(FileExistsError, match="choose another path"):
        fitted().save(tmp_path / "folder.safetensors")
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["file", "folder.safetensors"]


@pytest.mark.parametrize("name", ["model", "model.safetensors"])
def test_a_save_that_fails_leaves_the_old_model(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = fitted()
    model.save(tmp_path / name)

    def fail(*_: Any) -> None:
        raise OSError("disk full")

    monkeypatch.setattr("harmonium.persist.files._flush", fail)
    with pytest.raises(OSError, match="disk full"):
        model.set_params(output="natural").save(tmp_path / name)
    assert load_model(tmp_path / name).output == "mean"
    assert [entry.name for entry in tmp_path.iterdir()] == [name]


# ---- what loading refuses ----------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("saved") / "model.safetensors"
    model = Harmonium(2, views={"x": Categorical(), "y": Gaussian(), "z": Poisson()}, driver=Stochastic(max_iter=1))
    model.fit({"x": DATA["Categorical"], "y": SECOND, "z": COUNTS}).save(path)
    return path


def refused(path: Path, match: str) -> None:
    with pytest.raises(ModelFileError, match=match) as caught:
        load_model(path)
    message = str(caught.value)
    assert message.startswith(str(path))
    assert message.endswith(".")
    assert "\n" not in message


def parts_of(path: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    with safe_open(path, framework="numpy") as file:
        return json.loads(file.metadata()["harmonium"]), load_file(path)


def rewritten(saved: Path, folder: Path, change: Any) -> Path:
    description, tensors = parts_of(saved)
    change(description, tensors)
    save_file(tensors, folder / "changed.safetensors", metadata={"harmonium": json.dumps(description)})
    return folder / "changed.safetensors"


def put(*keys: str, value: Any) -> Any:
    def change(description: dict[str, Any], tensors: dict[str, np.ndarray]) -> None:
        place = description
        for key in keys[:-1]:
            place = place[key]
        place[keys[-1]] = value

    return change


def drop(*keys: str) -> Any:
    def change(description: dict[str, Any], tensors: dict[str, np.ndarray]) -> None:
        place = description
        for key in keys[:-1]:
            place = place[key]
        del place[keys[-1]]

    return change


def tensor(name: str, value: np.ndarray | None, described: bool = False) -> Any:
    """Change a tensor, and its description too if ``described``: the structure must still give it away."""

    def change(description: dict[str, Any], tensors: dict[str, np.ndarray]) -> None:
        if value is None:
            del tensors[name]
        else:
            tensors[name] = value
        if described:
            description["tensors"].pop(name, None)
            if value is not None:
                description["tensors"][name] = {"dtype": value.dtype.name, "shape": list(value.shape)}

    return change


SINGLE = np.float32
REFUSED = {
    "foreign format": (put("format", value="torch"), "format 'harmonium'"),
    "newer schema": (put("schema", value=2), "install a newer"),
    "older schema": (put("schema", value=0), "save the model again with this version"),
    "schema of another kind": (put("schema", value="1"), "schema 1"),
    "schema that is true": (put("schema", value=True), "schema 1"),
    "missing entry": (drop("views"), "'views' is missing"),
    "unknown entry": (put("code", value="import os"), "'code' is unknown"),
    "entry of another kind": (put("views", value=[]), "'views' is list"),
    "unknown estimator": (put("estimator", value="Pipeline"), "estimators Harmonium"),
    "unknown parameter": (put("parameters", "eval", value="1"), "'eval'"),
    "bad parameter": (put("parameters", "n_components", value=-3), "can be put together"),
    "unreadable parameter": (put("parameters", "n_components", value={"call": "os"}), "n_components"),
    "bad range": (put("parameters", "views", value={"range": ["a"]}), "views"),
    "bad array": (put("parameters", "views", value={"array": [1], "kind": "V8"}), "views"),
    "unhashable key": (put("parameters", "views", value={"mapping": [[[1], 2]]}), "views"),
    "unknown part": (put("parameters", "driver", "part", value="driver:Newton"), "driver:Newton"),
    "part of another role": (put("views", "z", "family", "part", value="hidden:BernoulliUnits"), "must have a family"),
    "unknown parameter of a part": (put("parameters", "driver", "parameters", "eval", value=1), "'eval'"),
    "part without parameters": (drop("views", "x", "family", "parameters"), "family of view 'x'"),
    "no units": (put("hidden", "n_units", value=0), "at least one unit"),
    "other units": (put("hidden", "n_units", value=3), "must be numbers of shape"),
    "incompatible parts": (put("hidden", "part", value="hidden:GaussianUnits"), "cannot be normalised"),
    "other width": (put("views", "y", "n_features", value=4), "each of its 4"),
    "huge width": (put("views", "y", "n_features", value=10**15), "10{15}"),
    "missing names": (put("views", "y", "feature_names", value=["a"]), "a name for each"),
    "names of another kind": (put("views", "y", "feature_names", value=[1, 2, 3]), "a name for each"),
    "constants of another family": (put("views", "y", "constants", value=["scale"]), "constants of Gaussian"),
    "view without tensors": (put("views", "w", value={}), "View 'w'"),
    "missing history": (drop("fitted", "history_"), "can be put together"),
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


# ---- heads -------------------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def saved_heads(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("heads")
    keywords: dict[str, Any] = {"n_components": 2, "driver": Stochastic(max_iter=1), "validation_fraction": 0}
    y = np.arange(ROWS) % 3
    models = {
        "classes": HarmoniumClassifier(head=Hinge(1.0), **keywords).fit(SECOND, np.array(["a", "b", "c"])[y]),
        "labels": HarmoniumClassifier(head=MultiLabelHinge(1.0), **keywords).fit(SECOND, np.eye(3)[y]),
        "label": HarmoniumClassifier(head=LabelView(), **keywords).fit(SECOND, y),
        "number": HarmoniumRegressor(head=EpsilonInsensitive(1.0), **keywords).fit(SECOND, y),
    }
    for name, model in models.items():
        model.save(folder / f"{name}.safetensors")
    return {name: folder / f"{name}.safetensors" for name in models}


def fact(name: str, value: Any) -> Any:
    return put("fitted", name, value=value)


TWO = {"array": [0, 1], "kind": "int64"}
REFUSED_HEADS = {
    "no head": ("classes", fact("head_", None), "the head is NoneType"),
    "no head at all": ("classes", drop("fitted", "head_"), "can be put together"),
    "a family for a head": ("classes", fact("head_", {"part": "family:Bernoulli", "parameters": {}}), "the head is"),
    "bad setting of the head": ("classes", put("fitted", "head_", "parameters", "cost", value=-1.0), "cost must hold"),
    "another head": ("classes", put("fitted", "head_", "part", value="head:MultiLabelHinge"), "head"),
    "weights of another shape": (
        "classes",
        tensor("extra/head.weights", np.ones((2, 4), SINGLE), True),
        r"head.weights must be finite numbers of shape \(2, 3\)",
    ),
    "weights that are not finite": (
        "classes",
        tensor("extra/head.weights", np.full((2, 3), np.inf, SINGLE), True),
        "head.weights must be finite",
    ),
    "no bias": ("classes", tensor("extra/head.bias", None, True), "head.bias must be finite"),
    "more than the head has": ("classes", tensor("extra/more", np.ones(1, SINGLE), True), "'more'"),
    "one class": ("classes", fact("classes", [{"array": ["a"], "kind": "str"}]), "the classes must be two or more"),
    "classes of no kind": ("classes", fact("classes", "abc"), "the classes must be two"),
    "classes twice": ("classes", fact("classes", [{"array": ["a", "b", "b"], "kind": "str"}]), "classes"),
    "other classes": ("classes", fact("classes", [TWO]), "shape"),
    "columns that are one": ("labels", fact("one_column", True), "classes"),
    "labels that are classes": ("labels", fact("is_multi_label", False), "classes"),
    "classes that are labels": ("classes", fact("is_multi_label", True), "classes"),
    "too many factors": ("classes", fact("factors", [1.0, 2.0]), "factors"),
    "one factor for labels": ("labels", fact("factors", [1.0]), "factors"),
    "factors that are words": ("classes", fact("factors", ["big"]), "can be put together"),
    "factors that are not finite": ("classes", fact("factors", [{"float": "nan"}]), "factors"),
    "no frequency": ("labels", tensor("extra/head.constant.frequency", None, True), "frequency"),
    "another frequency": ("labels", tensor("extra/head.constant.frequency", np.ones(5), True), "shape"),
    "no kind": ("label", tensor("extra/head.constant.kind", np.array(7), True), "can be put together"),
    "another location": ("label", tensor("extra/head.constant.location", np.zeros(5), True), "can be put together"),
    "no scale": ("number", tensor("extra/head.constant.scale", None, True), "scale"),
    "scale of another length": ("number", tensor("extra/head.constant.scale", np.ones(2), True), "put together"),
    "scale that is not finite": ("number", tensor("extra/head.constant.scale", np.full(1, np.nan), True), "finite"),
}


@pytest.mark.parametrize("case", sorted(REFUSED_HEADS))
def test_contradictions_of_heads_are_refused(case: str, saved_heads: dict[str, Path], tmp_path: Path) -> None:
    name, change, match = REFUSED_HEADS[case]
    refused(rewritten(saved_heads[name], tmp_path, change), match)


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


def test_folders_with_something_wrong_are_refused(saved: Path, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    refused(folder, "is missing")
    shutil.rmtree(folder)
    load_model(saved).save(folder)
    text = (folder / "model.json").read_text()
    for broken, match in ((text[:100], "valid JSON"), (text.replace('"schema": 1', '"schema": 8'), "schema 1")):
        (folder / "model.json").write_text(broken)
        refused(folder, match)
    (folder / "model.json").write_bytes(b"\xff\xfe")
    refused(folder, "UTF-8")
    (folder / "model.json").write_text(text)
    load_model(folder)
    # the tensors of another model, though of the same shapes
    other = load_model(saved)
    other.parameters_["hidden.bias"] += 1
    other.save(tmp_path / "other")
    shutil.copy(tmp_path / "other" / "model.safetensors", folder)
    refused(folder, "digest differs")


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(share=st.floats(0, 1, exclude_max=True))
def test_truncated_files_are_refused(share: float, saved: Path, tmp_path: Path) -> None:
    content = saved.read_bytes()
    path = tmp_path / "short.safetensors"
    path.write_bytes(content[: int(share * len(content))])
    refused(path, "complete safetensors file")


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_changed_byte_gives_a_model_or_a_refusal(data: st.DataObject, saved: Path, tmp_path: Path) -> None:
    content = bytearray(saved.read_bytes())
    # most of the file is the header, where a byte matters most
    content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path / "changed.safetensors"
    path.write_bytes(content)
    try:
        load_model(path)
    except ModelFileError as error:
        assert "\n" not in str(error)
