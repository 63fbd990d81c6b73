"""Selected models are saved whole; files that were changed are refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import harmonium
from harmonium import IBP, Harmonium, HarmoniumClassifier, Hinge
from harmonium.exceptions import ModelFileError
from harmonium.storage import read_sealed, write_sealed
from tests.cases.selection import FEW, HAS, X, classes_of, quick, select


@pytest.fixture(scope="module")
def selected() -> Harmonium:
    return select()


@pytest.mark.parametrize("ending", ["model.safetensors", "model"])
def test_saved_models_are_the_same_and_go_on(selected: Harmonium, tmp_path: Path, ending: str) -> None:
    selected.save(tmp_path / ending)
    again = harmonium.load(tmp_path / ending)
    np.testing.assert_array_equal(again.transform(X), selected.transform(X))
    np.testing.assert_array_equal(again.score_samples(X), selected.score_samples(X))
    np.testing.assert_array_equal(again.fitted_.usage, selected.fitted_.usage)
    assert again.fitted_.usage.dtype == selected.fitted_.usage.dtype
    assert again.fitted_.truncation_reached is selected.fitted_.truncation_reached is False
    assert again.history_ == selected.history_ and repr(again) == repr(selected)
    for name, value in selected.fitted_.parameters.items():
        np.testing.assert_array_equal(again.fitted_.parameters[name], value)
    training = again.fitted_.training
    assert (training.n_items, training.n_settled) == (
        300,
        selected.fitted_.training.n_settled,
    ) and training.n_settled > 1
    again.partial_fit(X[:60])
    assert again.n_components_ == 3 and again.fitted_.training.n_items == 360
    again.set_params(warm_start=True, driver=FEW).fit(X)
    assert again.n_components_ == 3 and again.n_iter_ == selected.n_iter_ + 4


def test_models_of_partial_fit_and_with_heads_are_saved_too(tmp_path: Path) -> None:
    model = quick().partial_fit(X)
    model.save(tmp_path / "model.safetensors")
    again = harmonium.load(tmp_path / "model.safetensors")
    assert again.fitted_.usage is None and again.n_components_ == 8
    np.testing.assert_array_equal(again.transform(X), model.transform(X))
    classifier = HarmoniumClassifier(
        hidden=IBP(truncation=8), head=Hinge(C=1.0), driver=FEW, validation_fraction=0, random_state=0
    ).fit(X, classes_of(HAS))
    classifier.save(tmp_path / "classifier.safetensors")
    again = harmonium.load(tmp_path / "classifier.safetensors")
    np.testing.assert_array_equal(again.decision_function(X), classifier.decision_function(X))
    np.testing.assert_array_equal(again.fitted_.usage, classifier.fitted_.usage)


def tensor(name: str, value: np.ndarray) -> Any:
    def change(description: dict[str, Any], tensors: dict[str, np.ndarray]) -> None:
        tensors[name] = value
        description["tensors"][name] = {"dtype": value.dtype.name, "shape": list(value.shape)}

    return change


def fact(name: str, value: Any) -> Any:
    def change(description: dict[str, Any], tensors: dict[str, np.ndarray]) -> None:
        description["fitted"][name] = value

    return change


def setting(name: str, value: Any) -> Any:
    def change(description: dict[str, Any], tensors: dict[str, np.ndarray]) -> None:
        place = description["hidden"]
        (place if name == "n_units" else place["parameters"])[name] = value

    return change


def lost_fact(description: dict[str, Any], tensors: dict[str, np.ndarray]) -> None:
    del description["fitted"]["n_settled"]


BROKEN = {
    "odds of other units": (tensor("parameters/hidden.log_odds", np.zeros(4, np.float32)), "must be numbers of shape"),
    "odds that are infinite": (tensor("parameters/hidden.log_odds", np.full(3, np.inf, np.float32)), "finite"),
    "sticks of another shape": (tensor("parameters/hidden.beta", np.ones((3, 3), np.float32)), "of shape"),
    "two alphas": (tensor("parameters/hidden.alpha", np.ones(2, np.float32)), "of shape"),
    "usage of other units": (tensor("usage", np.full(2, 0.5, np.float32)), "usage must have 3 numbers"),
    "usage that is text": (tensor("usage", np.frombuffer(b"yes", np.uint8)), "usage must have 3 numbers"),
    "number that is text": (fact("n_items", "many"), "can be put together"),
    "lost number": (lost_fact, "n_settled"),
    "more units than memory": (setting("n_units", 10**15), "of shape"),
    "bad truncation": (setting("truncation", "many"), "truncation >= 1; got 'many'"),
    "bad alpha": (setting("alpha", -1.0), "alpha > 0; got -1"),
    "bad kind": (setting("kind", "complex"), "kind 'binary' or 'real'; got 'complex'"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_broken_files_are_refused(selected: Harmonium, tmp_path: Path, case: str) -> None:
    change, pattern = BROKEN[case]
    selected.save(tmp_path / "model.safetensors")
    description, tensors = read_sealed(tmp_path / "model.safetensors")
    change(description, tensors)
    write_sealed(tmp_path / "changed.safetensors", description, tensors)
    with pytest.raises(ModelFileError, match=pattern) as error:
        harmonium.load(tmp_path / "changed.safetensors")
    assert str(error.value).endswith(".")
