"""Forged model files, with a right digest and wrong numbers, and what becomes of them."""

from __future__ import annotations

import copy
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from harmonium import (
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
from harmonium.families import Balanced, Beta, NegativeBinomial
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


def save(name: str, folder: Path) -> tuple[Path, Any]:
    """Save one of the models, and return where, and what it may be asked about."""
    model, X = MODELS[name]()
    path = folder / "model.safetensors"
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


def tensor_forgeries(path: Path) -> Iterator[tuple[str, dict, dict]]:
    """Yield name, description and tensors with one tensor forged."""
    description, tensors = read_sealed(path)
    for name, value in tensors.items():
        for kind, forge in FORGED.items():
            changed = forge(value)
            entry = {"dtype": changed.dtype.name, "shape": list(changed.shape)}
            described = {**description, "tensors": {**description["tensors"], name: entry}}
            yield f"{name} {kind}", described, {**tensors, name: changed}


def number_forgeries(path: Path) -> Iterator[tuple[str, dict, dict]]:
    """Yield name, description and tensors with one number of the description forged."""
    description, tensors = read_sealed(path)
    for place in numbers_of(description):
        if place[0] in ("tensors", "schema"):
            continue
        for number in ({"float": "nan"}, {"float": "inf"}, -1, 1e300, 0.5):
            changed = copy.deepcopy(description)
            holder = changed
            for key in place[:-1]:
                holder = holder[key]
            holder[place[-1]] = number
            yield f"{place} {number}", changed, tensors


def numbers_of(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield where the numbers of a description stand."""
    if isinstance(value, dict | list):
        for key, entry in value.items() if isinstance(value, dict) else enumerate(value):
            yield from numbers_of(entry, (*place, key))
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield place


def outcomes(path: Path, X: Any, most: int | None = None) -> tuple[Counter[str], list[str]]:
    """Load forged files, all or some of them.

    Returns how many were refused and how many answered, and what was neither refused in a sentence nor answered with
    finite numbers.
    """
    forged = [*tensor_forgeries(path), *number_forgeries(path)]
    step = 1 if most is None else max(1, len(forged) // most)
    counts: Counter[str] = Counter()
    found, place = [], path.with_name("forged.safetensors")
    for name, description, tensors in forged[::step]:
        write_sealed(place, description, tensors)
        try:
            counts["refused" if is_refused(place, X) else "answered"] += 1
        except Exception as error:
            found.append(f"{name}: {type(error).__name__} {str(error)[:80]}")
    return counts, found
