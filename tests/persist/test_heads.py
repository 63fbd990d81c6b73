"""Files of models that predict: whatever contradicts the head, or what it predicts, is refused in one sentence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harmonium import EpsilonInsensitive, HarmoniumClassifier, HarmoniumRegressor, Hinge, Stochastic, load
from harmonium.heads import LabelView, MultiLabelHinge
from tests.cases.persist import ROWS, SECOND, SINGLE, drop, put, refused, rewritten, tensor


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


def target(name: str, value: Any) -> Any:
    """Change what the description says of the targets."""

    def change(description: dict[str, Any], tensors: dict[str, np.ndarray]) -> None:
        fields = description["fitted"]["meaning"]["fields"]
        assert name in fields
        fields[name] = value

    return change


def several(*changes: Any) -> Any:
    """Make several changes."""

    def change(description: dict[str, Any], tensors: dict[str, np.ndarray]) -> None:
        for one in changes:
            one(description, tensors)

    return change


TWO = {"array": [0, 1], "dtype": "<i8"}
FOUR = {"array": [0, 1, 2, 3], "dtype": "<i8"}
REFUSED_HEADS = {
    "no head": ("classes", put("head", value=None), "does not go with the head NoneType"),
    "no head at all": ("classes", drop("head"), "'head' is missing"),
    "no targets": ("classes", put("fitted", "meaning", value=None), "does not go with the head NoneType"),
    "a family for a head": (
        "classes",
        put("head", value={"part": "family:Bernoulli", "parameters": {}}),
        "the head is",
    ),
    "bad setting of the head": ("classes", put("head", "parameters", "cost", value=-1.0), "cost must hold"),
    "another head": ("classes", put("head", "part", value="head:MultiLabelHinge"), "head"),
    "no weight of the head": ("classes", put("fitted", "C", value=None), "goes with a head"),
    "weights of another shape": (
        "classes",
        tensor("parameters/head.weights", np.ones((32, 4), SINGLE), True),
        r"head.weights' must be numbers of shape \(32, 3\)",
    ),
    "weights that are not finite": (
        "classes",
        tensor("parameters/head.weights", np.full((32, 3), np.inf, SINGLE), True),
        "finite numbers; tensor 'parameters/head.weights'",
    ),
    "no bias": ("classes", tensor("parameters/head.bias", None, True), "head.bias' must be numbers.*found none"),
    "more than the head has": ("classes", tensor("head/more", np.ones(1, SINGLE), True), "'head/more' belongs to none"),
    "one class": ("classes", target("classes", [{"array": ["a"], "dtype": "<U1"}]), "the classes must be two or more"),
    "classes of no kind": ("classes", target("classes", "abc"), "meaning must be of the type"),
    "classes twice": ("classes", target("classes", [{"array": ["a", "b", "b"], "dtype": "<U1"}]), "be different"),
    "other classes": ("classes", target("classes", [TWO]), "shape"),
    "columns that are one": ("labels", target("one_column", True), "classes"),
    "one column that is several": ("classes", target("one_column", False), "columns"),
    "labels that are classes": ("labels", target("kind", "class"), "for targets of kind 'class'"),
    "classes that are labels": ("classes", target("kind", "label"), "for targets of kind 'label'"),
    "numbers for a classifier": ("label", target("kind", "number"), "unless they are numbers"),
    "numbers that have classes": ("number", target("classes", [TWO]), "unless they are numbers"),
    "targets of no kind": ("label", target("kind", "colour"), "meaning must be of the type"),
    "a view of classes for labels": (
        "label",
        several(
            target("kind", "label"),
            tensor("head/frequency", np.full(1, 0.5), True),
            tensor("head/n_known", np.ones(1), True),
        ),
        "view 'label' must be Bernoulli",
    ),
    "labels without a frequency": ("label", target("kind", "label"), "frequency of the head"),
    "more classes than the view has": ("label", target("classes", [FOUR]), "view 'label' must be .* 4 features"),
    "too many factors": ("classes", tensor("head/factors", np.ones(2), True), "factors"),
    "one factor for labels": ("labels", tensor("head/factors", np.ones(1), True), "factors"),
    "factors of two dimensions": ("classes", tensor("head/factors", np.ones((1, 1)), True), "factors"),
    "factors that are not finite": ("classes", tensor("head/factors", np.full(1, np.nan), True), "factors"),
    "no factors": ("classes", tensor("head/factors", None, True), "factors"),
    "errors out of order": ("number", tensor("head/factors", np.array([2.0, 1.0, 1.0, 1.0]), True), "factors"),
    "errors without weights": ("number", tensor("head/factors", np.ones(3), True), "factors"),
    "no frequency": ("labels", tensor("head/frequency", None, True), "frequency"),
    "another frequency": ("labels", tensor("head/frequency", np.ones(5), True), "shape"),
    "frequency above 1": ("labels", tensor("head/frequency", np.full(3, 2.0), True), "shares of the rows"),
    "no number of rows": ("labels", tensor("head/n_known", None, True), "n_known"),
    "another location": ("label", tensor("head/location", np.zeros(5), True), "'head/location' belongs to none"),
    "no scale": ("number", tensor("head/scale", None, True), "scale"),
    "scale of another length": ("number", tensor("head/scale", np.ones(2), True), "put together"),
    "scale that is not finite": ("number", tensor("head/scale", np.full(1, np.nan), True), "finite"),
}


@pytest.mark.parametrize("case", sorted(REFUSED_HEADS))
def test_contradictions_of_heads_are_refused(case: str, saved_heads: dict[str, Path], tmp_path: Path) -> None:
    name, change, match = REFUSED_HEADS[case]
    refused(rewritten(saved_heads[name], tmp_path, change), match)


def test_a_file_with_the_former_name_of_a_setting_loads(tmp_path: Path, saved_heads: dict[str, Path]) -> None:
    def change(description: dict[str, Any], tensors: dict[str, np.ndarray]) -> None:
        for part in (description["parameters"]["head"], description["head"]):
            part["parameters"]["direct"] = part["parameters"].pop("linear_part")

    earlier = load(rewritten(saved_heads["classes"], tmp_path, change))
    np.testing.assert_array_equal(earlier.predict(SECOND), load(saved_heads["classes"]).predict(SECOND))
    assert earlier.head.linear_part == "auto"
