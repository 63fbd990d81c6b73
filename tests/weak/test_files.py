"""Weakly supervised classifiers in files: what goes in comes out, and what a file cannot hold is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import harmonium
from harmonium.exceptions import ModelFileError
from harmonium.storage import read_sealed, write_sealed
from harmonium.weak import (
    Bags,
    Definition,
    DissimilarityClassifier,
    FunctionLoss,
    IterativeLatentSVM,
    LatentSVM,
    MatrixLoss,
    OverlapLoss,
    ZeroOneLoss,
)

ALL = [LatentSVM, IterativeLatentSVM, DissimilarityClassifier]
Y = np.arange(12) % 2
RNG = np.random.default_rng(0)
BOXES = [np.array([[0, 2 * h, 4, 2 * h + 4] for h in range(3)])] * 12
BAGS = Bags.from_list(list(RNG.normal(size=(12, 3, 4)) + 3 * Y[:, None, None] * np.eye(3, 4)), BOXES)
TABLE = RNG.random((2, 3, 2, 3)) * (1 - np.eye(6).reshape(2, 3, 2, 3))
QUICK: dict[str, Any] = {"max_iter": 2, "random_state": 0}


class Own(Definition):
    def n_candidates(self, sample: Any) -> int:
        return 2

    def joint_features(self, sample: Any, label: Any) -> np.ndarray:
        return np.eye(2) * (label + sample)


class OwnSVM(LatentSVM):
    pass


def fitted_values(model: Any) -> dict[str, Any]:
    return {name: value for name, value in vars(model).items() if name.endswith("_")}


@pytest.mark.parametrize("name", ["model", "model.safetensors"])
@pytest.mark.parametrize("loss", [None, ZeroOneLoss(), OverlapLoss(), MatrixLoss([[0, 1], [2, 0]]), MatrixLoss(TABLE)])
@pytest.mark.parametrize("kind", ALL)
def test_classifiers_come_back(kind: Any, loss: Any, name: str, tmp_path: Path) -> None:
    model = kind(loss=loss, initial=np.zeros(12, dtype=int), **QUICK).fit(BAGS, np.array(["no", "yes"])[Y])
    model.save(tmp_path / name)
    for load in (harmonium.load, kind.load):
        again = load(tmp_path / name)
        assert type(again) is kind and repr(again) == repr(model)
        assert fitted_values(again).keys() == fitted_values(model).keys()
        for key, value in fitted_values(model).items():
            np.testing.assert_equal(getattr(again, key), value)
        for one, other in zip(model.predict_latent(BAGS), again.predict_latent(BAGS), strict=True):
            np.testing.assert_array_equal(one, other)
            assert one.dtype == other.dtype
        posteriors = (each.latent_posterior(BAGS, model.classes_[Y]) for each in (model, again))
        np.testing.assert_array_equal(*map(np.concatenate, posteriors))
        assert again.score(BAGS, model.classes_[Y]) == model.score(BAGS, model.classes_[Y])
    clone(again).fit(BAGS, Y).save(tmp_path / name)
    np.testing.assert_array_equal(harmonium.load(tmp_path / name).classes_, [0, 1])


@pytest.mark.parametrize(
    "classes",
    [
        np.array([False, True]),
        np.array([-3, 7], dtype=np.int8),
        np.array([1, 2**64 - 1], dtype=np.uint64),
        np.array(["a", "b"], dtype=object),
    ],
    ids=lambda classes: str(classes.dtype),
)
def test_classes_of_every_dtype_come_back(classes: np.ndarray, tmp_path: Path) -> None:
    model = LatentSVM(**QUICK).fit(BAGS, classes[Y])
    model.save(tmp_path / "model")
    again = harmonium.load(tmp_path / "model")
    assert again.classes_.dtype == model.classes_.dtype
    np.testing.assert_array_equal(again.predict(BAGS), model.predict(BAGS))


def test_names_of_columns_come_back_and_are_compared(tmp_path: Path) -> None:
    frames = [pd.DataFrame(bag.features, columns=list("abcd")) for bag in BAGS]
    path = tmp_path / "model.safetensors"
    LatentSVM(**QUICK).fit(frames, Y).save(path)
    again = harmonium.load(path)
    assert again.feature_names_in_.tolist() == list("abcd") and again.n_features_in_ == 4
    with pytest.raises(ValueError, match="reorder or rename"):
        again.predict([frame.rename(columns={"a": "z"}) for frame in frames])
    write_sealed_columns(path, ["a", "b", "c"])
    with pytest.raises(ModelFileError, match="name each of its 4 columns"):
        harmonium.load(path)


def write_sealed_columns(path: Path, columns: list[str]) -> None:
    description, tensors = read_sealed(path)
    description["names"] = columns
    write_sealed(path, description, tensors)


@pytest.mark.filterwarnings("ignore::harmonium.HarmoniumWarning")
def test_what_a_file_cannot_hold_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotFittedError):
        LatentSVM().save(tmp_path / "model")
    with pytest.raises(TypeError, match="problem is Own, whose code a file cannot hold"):
        LatentSVM(problem=Own(), **QUICK).fit([1, 2, 3, 4], [0, 1, 0, 1]).save(tmp_path / "model")
    with pytest.raises(TypeError, match="got OwnSVM, whose code a file cannot hold"):
        OwnSVM(**QUICK).fit(BAGS, Y).save(tmp_path / "model")
    model = LatentSVM(**QUICK).fit(BAGS, Y)
    with pytest.raises(TypeError, match=r"loss\.function is of type function"):
        clone(model).set_params(loss=FunctionLoss(lambda y1, h1, y2, h2: float(y1 != y2))).fit(BAGS, Y).save(
            tmp_path / "model"
        )
    with pytest.raises(ValueError, match="needs a number C > 0"):
        model.set_params(C=-1.0).save(tmp_path / "model")
    with pytest.raises(ValueError, match=r"ends in \.safetensors"):
        model.set_params(C=1.0).save(tmp_path / "model.pkl")
    assert not list(tmp_path.iterdir())
    with pytest.warns(UserWarning, match="saved as None"):
        model.set_params(random_state=np.random.RandomState(0)).save(tmp_path / "model")


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("weak") / "model.safetensors"
    DissimilarityClassifier(loss=OverlapLoss(), **QUICK).fit(BAGS, Y).save(path)
    return path


def fact(name: str, value: Any) -> Any:
    return lambda description, tensors: description["fitted"].update({name: value})


def setting(name: str, value: Any) -> Any:
    return lambda description, tensors: description["parameters"].update({name: value})


BROKEN = {
    "unknown estimator": (lambda d, t: d.update(estimator="Harmonium"), "may only name the estimators LatentSVM"),
    "another format": (lambda d, t: d.update(format="harmonium"), "'head' is missing"),
    "unknown format": (lambda d, t: d.update(format=["harmonium"]), "must be of the format"),
    "unknown entry": (lambda d, t: d.update(code="import os"), "'code' is unknown"),
    "lost entry": (lambda d, t: d["fitted"].pop("n_iter"), "'n_iter' is missing"),
    "bad setting": (setting("C", -1.0), "C > 0"),
    "unknown setting": (setting("eval", 1), "'eval'"),
    "loss of another role": (setting("loss", {"part": "family:Bernoulli", "parameters": {}}), "loss"),
    "problem": (setting("problem", {"part": "problem:Own", "parameters": {}}), "classifier of bags"),
    "one class": (fact("classes", {"array": [1], "dtype": "<i8"}), "two or more"),
    "classes twice": (fact("classes", {"array": [1, 1], "dtype": "<i8"}), "different"),
    "classes of two kinds": (fact("classes", {"array": [1, "a"], "dtype": "|O"}), "two or more"),
    "three classes": (fact("classes", {"array": [1, 2, 3], "dtype": "<i8"}), "each of 3 classes"),
    "no history": (fact("history", {"float": "nan"}), "history"),
    "rounds that are true": (fact("n_iter", True), "'n_iter' is bool"),
    "no weights": (lambda d, t: t.pop("coef_"), "coef_ and theta_"),
    "other weights": (lambda d, t: t.update(theta_=np.zeros((2, 3))), "of one shape"),
    "scalars": (lambda d, t: t.update(theta_=np.array(1.0), coef_=np.array(1.0)), "of one shape"),
    "more weights": (lambda d, t: t.update(more=np.zeros((2, 4))), "coef_ and theta_"),
    "weights that are not finite": (lambda d, t: t["coef_"].fill(np.nan), "finite"),
    "whole weights": (lambda d, t: t.update(coef_=np.ones((2, 4), dtype=int)), "float64"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_contradictions_are_refused(case: str, saved: Path, tmp_path: Path) -> None:
    change, match = BROKEN[case]
    description, tensors = read_sealed(saved)
    change(description, tensors)
    write_sealed(tmp_path / "changed.safetensors", description, tensors)
    with pytest.raises(ModelFileError, match=match) as caught:
        harmonium.load(tmp_path / "changed.safetensors")
    assert "\n" not in str(caught.value)
    assert str(caught.value).endswith(".")


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(share=st.floats(0, 1, exclude_max=True), bits=st.integers(1, 255))
def test_a_changed_byte_is_refused(share: float, bits: int, saved: Path, tmp_path: Path) -> None:
    content = bytearray(saved.read_bytes())
    content[int(share * len(content))] ^= bits
    (tmp_path / "changed.safetensors").write_bytes(content)
    with pytest.raises(ModelFileError):
        harmonium.load(tmp_path / "changed.safetensors")
