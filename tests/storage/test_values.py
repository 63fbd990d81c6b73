"""Values as JSON and tensors: what goes in comes out, and names stand for one class."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from harmonium import Bernoulli
from harmonium.exceptions import ModelFileError
from harmonium.storage import SCRATCH, decode, encode, serializable
from harmonium.storage.values import _KINDS


@dataclass
class Held:
    """A state with everything that a file can hold."""

    arrays: dict[str, np.ndarray]
    part: Any = None
    scratch: int = field(default=0, metadata=SCRATCH)


@pytest.fixture
def registered() -> Any:
    yield serializable(Held)
    del _KINDS["Held"]


def test_dataclasses_come_back_with_their_arrays_as_tensors(registered: Any) -> None:
    tensors: dict[str, np.ndarray] = {}
    before = Held(
        {"a": np.arange(3.0), "b": np.float32(2) * np.ones((2, 1, 3)).T, "text": np.array(["x"])}, Bernoulli()
    )
    before.scratch = 7
    text = json.dumps(encode(before, "it", tensors), allow_nan=False)
    assert set(tensors) == {"it/arrays/a", "it/arrays/b"}
    after = decode(json.loads(text), "it", tensors)
    assert isinstance(after, Held) and isinstance(after.part, Bernoulli) and after.scratch == 0
    for name, value in before.arrays.items():
        np.testing.assert_array_equal(after.arrays[name], value)
        assert after.arrays[name].dtype == value.dtype and after.arrays[name].strides == value.strides


def test_fields_that_a_file_lacks_take_their_defaults(registered: Any) -> None:
    assert decode({"kind": "Held", "fields": {"arrays": {"mapping": []}}}, "it") == Held({})


@pytest.mark.parametrize(
    "value",
    [
        {"kind": "Held", "fields": {"arrays": {"mapping": []}, "code": 1}},
        {"kind": "Nobody", "fields": {}},
        {"kind": ["Held"], "fields": {}},
        {"tensor": "nowhere", "transposed": False},
        {"stream": {"bit_generator": "PCG64"}},
    ],
)
def test_what_is_not_written_is_refused(value: Any, registered: Any) -> None:
    with pytest.raises(ModelFileError, match="must describe it by values"):
        decode(value, "it", {})


def test_a_name_stands_for_one_class(registered: Any) -> None:
    with pytest.raises(TypeError, match="for that of"):
        serializable(type("Held", (), {}))
