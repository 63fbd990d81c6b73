"""Small data and models to save, and model files to break: descriptions and tensors changed by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harmonium import Harmonium, Sequences, Stochastic
from harmonium.exceptions import ModelFileError
from harmonium.persist import load_model
from harmonium.storage import read_sealed, write_sealed

RNG = np.random.default_rng(0)
ROWS = 30
DATA = {
    "Bernoulli": (RNG.random((ROWS, 5)) < 0.4).astype(float),
    "Ising": (np.random.default_rng(2).random((ROWS, 5)) < 0.4).astype(float),
    "Potts": np.random.default_rng(3).integers(0, 3, size=(ROWS, 5)).astype(float),
    "Gaussian": RNG.normal(3.0, 2.0, size=(ROWS, 5)),
    "GaussianMRF": np.random.default_rng(4).normal(3.0, 2.0, size=(ROWS, 5)),
    "Balanced": np.random.default_rng(1).normal(3.0, 2.0, size=(ROWS, 5)),
    "Categorical": RNG.integers(0, 3, size=(ROWS, 5)).astype(float),
    "Beta": np.random.default_rng(1).beta(2.0, 5.0, size=(ROWS, 5)),
    "Chain": Sequences(RNG.random((3 * ROWS, 5)) < 0.4, np.arange(0, 3 * ROWS + 1, 3)),
}
COUNTS = RNG.integers(0, 4, size=(ROWS, 5)).astype(float)
SECOND = RNG.normal(size=(ROWS, 3))


SINGLE = np.float32


def fitted(**keywords: Any) -> Harmonium:
    settings_ = {"n_components": 3, "driver": Stochastic(max_iter=2), "random_state": 0} | keywords
    return Harmonium(**settings_).fit({"words": DATA["Bernoulli"], "colour": SECOND})


def refused(path: Path, match: str) -> None:
    with pytest.raises(ModelFileError, match=match) as caught:
        load_model(path)
    message = str(caught.value)
    assert message.startswith(str(path))
    assert message.endswith(".")
    assert "\n" not in message


def parts_of(path: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    return read_sealed(path)


def rewritten(saved: Path, folder: Path, change: Any) -> Path:
    description, tensors = parts_of(saved)
    change(description, tensors)
    write_sealed(folder / "changed.safetensors", description, tensors)  # whoever forges can seal, too
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
