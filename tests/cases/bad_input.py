"""Bad input gets one sentence (what must hold, what was got, what to do), and a refused call changes nothing."""

from __future__ import annotations

import re
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from harmonium import Harmonium, Stochastic
from harmonium.training import FittedModel

N_ROWS = 30


def quick(**keywords: Any) -> Harmonium:
    defaults: dict[str, Any] = {"n_components": 3, "driver": Stochastic(max_iter=2, batch_size=10), "random_state": 0}
    return Harmonium(**{**defaults, **keywords})


def binary(n_columns: int = 6, n_rows: int = N_ROWS) -> np.ndarray:
    return (np.random.default_rng(0).random((n_rows, n_columns)) < 0.4).astype(np.float64)


def real(n_columns: int = 3, n_rows: int = N_ROWS) -> np.ndarray:
    return np.random.default_rng(1).normal(size=(n_rows, n_columns))


def at(matrix: np.ndarray, row: int, column: int, value: float) -> np.ndarray:
    """The matrix with one value replaced."""
    matrix[row, column] = value
    return matrix


def assert_one_sentence(message: str) -> None:
    assert message.endswith("."), message
    # a full stop, or the like, followed by a capital would begin a second one
    assert not re.search(r"[.!?]\s+[A-Z]", message), message
    assert len(re.findall("[;:] ", message)) >= 2, f"says what must hold, what was got and what to do: {message}"
    assert "\n" not in message


@dataclass(frozen=True)
class Snapshot:
    """The fitted model itself, if there is one, and a copy of everything that an estimator has."""

    fitted: FittedModel | None
    attributes: dict[str, Any]


def snapshot(model: Harmonium) -> Snapshot:
    return Snapshot(getattr(model, "fitted_", None), deepcopy(vars(model)))


def assert_unchanged(model: Harmonium, before: Snapshot) -> None:
    """The fitted model is the same object, and nothing was done to it."""
    assert list(vars(model)) == list(before.attributes)
    assert vars(model).get("n_features_in_") == before.attributes.get("n_features_in_")
    for name in model.get_params(deep=False):
        assert repr(getattr(model, name)) == repr(before.attributes[name])
    assert getattr(model, "fitted_", None) is before.fitted
    if before.fitted is None:
        return
    now, copy = before.fitted, before.attributes["fitted_"]
    assert now.feature_names == copy.feature_names and list(now.families) == list(copy.families)
    assert (now.training.log, now.training.n_items) == (copy.training.log, copy.training.n_items)
    if copy.training.optimizer is not None:
        assert now.training.optimizer.n_updates == copy.training.optimizer.n_updates
    assert now.training.stream.bit_generator.state == copy.training.stream.bit_generator.state
    assert list(now.parameters) == list(copy.parameters)
    for name, value in copy.parameters.items():
        np.testing.assert_array_equal(now.parameters[name], value)


def refuse(call: Callable[[], Any], kind: type[Exception], pattern: str) -> None:
    with pytest.raises(kind, match=pattern) as refusal:
        call()
    assert_one_sentence(str(refusal.value))


def refuse_fit(model: Harmonium, X: Any, kind: type[Exception], pattern: str) -> None:
    """Refused by fit and partial_fit, of a new model and of a fitted one, none of which it changes."""
    for fitted in (False, True):
        tried = deepcopy(model)
        if fitted:
            good = quick().fit(real(2))
            vars(tried).update({name: value for name, value in vars(good).items() if name not in vars(tried)})
        before = snapshot(tried)
        refuse(lambda tried=tried: tried.fit(X), kind, pattern)  # type: ignore[misc]
        assert_unchanged(tried, before)
    before = snapshot(model)
    if hasattr(model, "partial_fit"):
        refuse(lambda: model.partial_fit(X), kind, pattern)
        assert_unchanged(model, before)
