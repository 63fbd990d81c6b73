"""Files with a right digest and wrong numbers: they are refused, or whatever they answer is finite."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from harmonium import (
    Beta,
    EpsilonInsensitive,
    Gaussian,
    Harmonium,
    HarmoniumClassifier,
    HarmoniumRegressor,
    Hinge,
    Poisson,
    Stochastic,
)
from harmonium.exceptions import ModelFileError
from harmonium.families import Balanced, NegativeBinomial
from harmonium.persist import load_model
from harmonium.storage import read_sealed, write_sealed
from tests.cases.persist import COUNTS, DATA, SECOND

CLASSES = np.arange(len(SECOND)) % 3
TABLE = pd.DataFrame(
    {
        "text": ["clean quiet room", "rude noisy staff", "clean view of sea"] * 10,
        "place": list("abc") * 10,
        "price": np.r_[np.nan, np.arange(29.0)],
        "date": pd.date_range("2020-01-01", periods=30, freq="17D").astype(str),
    }
)
QUICK: dict[str, Any] = {"driver": Stochastic(max_iter=1), "random_state": 0}
SUPERVISED = {**QUICK, "validation_fraction": 0.0}
#: models, and what they are asked about
MODELS: dict[str, Callable[[], tuple[Any, Any]]] = {
    "families": lambda: (
        Harmonium(
            2,
            views={"x": "categorical", "y": Gaussian(), "z": Poisson(length_normalize=True), "b": Beta()},
            **QUICK,
        ),
        {"x": DATA["Categorical"], "y": SECOND, "z": COUNTS, "b": DATA["Beta"]},
    ),
    "more families": lambda: (
        Harmonium(2, views={"x": Balanced(), "y": Gaussian("learn"), "z": NegativeBinomial()}, **QUICK),
        {"x": DATA["Balanced"], "y": SECOND, "z": COUNTS},
    ),
    "classes": lambda: (HarmoniumClassifier(2, head=Hinge(C=1.0), **SUPERVISED), SECOND),
    "numbers": lambda: (HarmoniumRegressor(2, head=EpsilonInsensitive(C=1.0), **SUPERVISED), SECOND),
    "table": lambda: (HarmoniumClassifier(2, **QUICK), TABLE),
}
FORGED: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "infinite": lambda value: put_first(value, np.inf),
    "NaN": lambda value: put_first(value, np.nan),
    "negative": lambda value: put_first(value, -1),
    "zero": lambda value: np.zeros_like(value),
    "huge": lambda value: put_first(value, 1e300),
    "whole": lambda value: value.astype(np.int64),
    "unsigned": lambda value: value.astype(np.uint8),
    "short": lambda value: value[:-1] if value.ndim else np.repeat(value, 2),
}


def put_first(value: np.ndarray, number: float) -> np.ndarray:
    changed = np.array(value)
    with np.errstate(all="ignore"):
        changed.reshape(-1)[:1] = np.asarray(number).astype(changed.dtype)
    return changed


@pytest.fixture(scope="module", params=MODELS)
def saved(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    model, X = MODELS[request.param]()
    path = tmp_path_factory.mktemp("saved") / "model.safetensors"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        (model.fit(X) if type(model) is Harmonium else model.fit(X, CLASSES)).save(path)
    return path, X


def answers(model: Any, X: Any) -> Iterator[np.ndarray]:
    yield model.transform(X)
    for name in ("predict", "predict_proba", "decision_function"):
        if hasattr(model, name):
            yield getattr(model, name)(X)
    if isinstance(X, dict):
        for view in X:
            yield model.predict_view(view, {name: rows for name, rows in X.items() if name != view})


def is_refused(path: Path, X: Any) -> bool:
    """Whether a file is refused, in a sentence; if it is not, all answers must be finite."""
    try:
        model = load_model(path)
    except ModelFileError as refusal:
        assert "\n" not in str(refusal) and str(refusal).endswith("."), refusal
        return True
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for answer in answers(model, X):
            if np.asarray(answer).dtype.kind == "f" and not np.isfinite(answer).all():
                raise AssertionError("a number that is not finite")
    return False


def wrong(saved: tuple[Path, Any], folder: Path, forgeries: Iterator[tuple[str, dict, dict]]) -> list[str]:
    """What was forged and answered without a refusal, with numbers that are not finite or an error."""
    path, found = folder / "forged.safetensors", []
    for name, description, tensors in forgeries:
        write_sealed(path, description, tensors)
        try:
            is_refused(path, saved[1])
        except Exception as error:
            found.append(f"{name}: {type(error).__name__} {str(error)[:80]}")
    return found


def test_forged_tensors(saved: tuple[Path, Any], tmp_path: Path) -> None:
    def forgeries() -> Iterator[tuple[str, dict, dict]]:
        description, tensors = read_sealed(saved[0])
        for name, value in tensors.items():
            for kind, forge in FORGED.items():
                changed = forge(value)
                described = {**description["tensors"]}
                described[name] = {"dtype": changed.dtype.name, "shape": list(changed.shape)}
                yield f"{name} {kind}", {**description, "tensors": described}, {**tensors, name: changed}

    assert wrong(saved, tmp_path, forgeries()) == []


def numbers_of(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield where the numbers of a description stand."""
    if isinstance(value, dict | list):
        for key, entry in value.items() if isinstance(value, dict) else enumerate(value):
            yield from numbers_of(entry, (*place, key))
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield place


def test_forged_numbers_of_the_description(saved: tuple[Path, Any], tmp_path: Path) -> None:
    description, tensors = read_sealed(saved[0])
    places = [place for place in numbers_of(description) if place[0] not in ("tensors", "schema")]

    def forgeries() -> Iterator[tuple[str, dict, dict]]:
        for place in places[:: max(1, len(places) // 60)]:
            for number in ({"float": "nan"}, {"float": "inf"}, -1, 1e300, 0.5):
                changed = copy.deepcopy(description)
                holder = changed
                for key in place[:-1]:
                    holder = holder[key]
                holder[place[-1]] = number
                yield f"{place} {number}", changed, tensors

    assert wrong(saved, tmp_path, forgeries()) == []
