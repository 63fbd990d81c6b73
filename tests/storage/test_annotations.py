"""Values of a file against the annotations of fields."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pytest

from harmonium.core.targets import TargetSpec
from harmonium.storage.annotations import conforms

CLASSES = [np.array(["a", "b"])]
TRUE = [
    (1, int),
    (1, float),
    (0.5, float | None),
    (None, float | None),
    ("a", Literal["a", "b"]),
    (("a", "b"), tuple[str, ...]),
    ({"x": [1, 0.5]}, dict[str, list[float]]),
    (np.ones(2), np.ndarray),
    (object(), Any),
    (TargetSpec("class", CLASSES), TargetSpec | None),
]
FALSE = [
    (True, int),
    (True, float),
    ("1", int),
    (0.5, int),
    ("c", Literal["a", "b"]),
    (["a"], tuple[str, ...]),
    (("a", 1), tuple[str, ...]),
    ({"x": ["y"]}, dict[str, list[float]]),
    ({1: [0.5]}, dict[str, list[float]]),
    ([0.5], dict[str, float]),
    ([1.0], np.ndarray),
    (TargetSpec("colour", CLASSES), TargetSpec),  # type: ignore[arg-type]
    (TargetSpec("class", [["a", "b"]]), TargetSpec),  # type: ignore[list-item]
]


@pytest.mark.parametrize(("value", "annotation"), TRUE)
def test_what_an_annotation_says_conforms(value: Any, annotation: Any) -> None:
    assert conforms(value, annotation)


@pytest.mark.parametrize(("value", "annotation"), FALSE)
def test_what_it_does_not_say_does_not(value: Any, annotation: Any) -> None:
    assert not conforms(value, annotation)
