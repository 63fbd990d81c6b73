"""Everything that a fit has found comes back: each public fitted attribute, and classes of each dtype."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from harmonium import (
    IBP,
    EpsilonInsensitive,
    Harmonium,
    HarmoniumClassifier,
    HarmoniumRegressor,
    Hinge,
    Langevin,
    Stochastic,
)
from harmonium.core.parts import Part
from harmonium.heads import MultiLabelHinge, Ordinal
from harmonium.persist import load_model
from harmonium.storage import decode, encode
from tests.cases.persist import DATA, ROWS, SECOND

X = {"words": DATA["Bernoulli"], "colour": pd.DataFrame(SECOND, columns=["red", "green", "blue"])}
Y = np.arange(ROWS) % 3
QUICK: dict[str, Any] = {"n_components": 2, "driver": Stochastic(max_iter=2), "random_state": 0}
FITTED: dict[str, tuple[Any, Any]] = {
    "plain": (Harmonium(**QUICK), None),
    "patient": (Harmonium(2, driver=Stochastic(max_iter=40, tol=1.0), random_state=0), None),
    "classifier": (HarmoniumClassifier(**QUICK), np.array(["a", "b", "c"])[Y]),
    "classifier of columns": (HarmoniumClassifier(**QUICK, head=Hinge(1.0)), np.stack([Y, Y[::-1]], axis=1)),
    "regressor": (HarmoniumRegressor(**QUICK), SECOND[:, 0]),
    "regressor of columns": (HarmoniumRegressor(**QUICK, head=EpsilonInsensitive(1.0)), SECOND[:, :2]),
    "labels": (HarmoniumClassifier(**QUICK, head=MultiLabelHinge(1.0)), np.eye(3)[Y]),
    "ordinal": (HarmoniumClassifier(**QUICK, head=Ordinal(1.0)), Y),
    "selected": (Harmonium(hidden=IBP(truncation=4), driver=Stochastic(max_iter=3), random_state=0), None),
    "draws": (Harmonium(2, driver=Langevin(n_draws=4, n_warmup=6, thin=1, n_chains=2), random_state=0), None),
}


def assert_same(before: Any, after: Any, where: str) -> None:
    """Compare values by what they hold: types, dtypes, settings and fitted attributes of parts."""
    assert type(before) is type(after), where
    if isinstance(before, np.ndarray):
        assert before.dtype == after.dtype, where
        np.testing.assert_array_equal(before, after, err_msg=where)
    elif isinstance(before, pd.DataFrame):
        pd.testing.assert_frame_equal(before, after)
    elif isinstance(before, dict):
        assert list(before) == list(after), where
        for key in before:
            assert_same(before[key], after[key], f"{where}[{key!r}]")
    elif isinstance(before, list | tuple):
        assert len(before) == len(after), where
        for number, (one, other) in enumerate(zip(before, after, strict=True)):
            assert_same(one, other, f"{where}[{number}]")
    elif isinstance(before, Part):
        assert_same(vars(before), vars(after), where)
    elif dataclasses.is_dataclass(before):
        for field in dataclasses.fields(before):
            assert_same(getattr(before, field.name), getattr(after, field.name), f"{where}.{field.name}")
    elif type(before).__module__.startswith("harmonium."):
        assert_same(vars(before), vars(after), where)
    else:
        assert before == after or (before != before and after != after), where


def fitted_names(model: Any) -> list[str]:
    """Return the names of the fitted attributes that a user can read."""
    names = {name for name in (*dir(type(model)), *vars(model)) if name.endswith("_") and not name.startswith("_")}
    return sorted(name for name in names - {"fitted_"} if hasattr(model, name))


@pytest.mark.filterwarnings("ignore::harmonium.HarmoniumWarning")
@pytest.mark.parametrize("case", FITTED)
def test_everything_fitted_comes_back(case: str, tmp_path: Path) -> None:
    model, y = FITTED[case]
    model = model.fit(X) if y is None else model.fit(X, y)
    path = tmp_path / ("model" if len(case) % 2 else "model.safetensors")
    model.save(path)
    again = load_model(path)
    names = fitted_names(model)
    assert fitted_names(again) == names
    assert {"history_", "n_iter_", "components_", "families_"} <= set(names)
    for name in names:
        assert_same(getattr(model, name), getattr(again, name), name)
    for name in ("remarks", "baseline_nll", "C", "validation", "usage", "meaning", "feature_names", "reference"):
        assert_same(getattr(model.fitted_, name), getattr(again.fitted_, name), name)
    assert_same(model.get_params(deep=False), again.get_params(deep=False), case)
    np.testing.assert_array_equal(again.transform(X), model.transform(X))


def test_remarks_come_back(tmp_path: Path) -> None:
    model = Harmonium(hidden=IBP(truncation=4), driver=Stochastic(max_iter=1), random_state=0)
    with pytest.warns(UserWarning, match="stands out of chance"):
        model.fit(np.random.default_rng(0).normal(size=(100, 10)))
    model.save(tmp_path / "model")
    assert load_model(tmp_path / "model").fitted_.remarks == model.fitted_.remarks != ()


CLASSES = {
    **{name: np.arange(3).astype(name) for name in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64")},
    "uint64": np.array([0, 5, 2**64 - 1], dtype=np.uint64),
    "bool": np.array([False, True, True]),
    **{name: np.arange(3).astype(name) for name in ("float16", "float32", "float64")},
    "str": np.array(["a", "bee", "ü"]),
    "wide str": np.array(["a", "bee", "ü"], dtype="<U20"),
    "object": np.array(["a", "bee", "ü"], dtype=object),
    "swapped": np.arange(3).astype(">i4"),
}


@pytest.mark.parametrize("case", CLASSES)
def test_classes_keep_their_dtype(case: str, tmp_path: Path) -> None:
    model = HarmoniumClassifier(2, head=Hinge(1.0), driver=Stochastic(max_iter=1), validation_fraction=0)
    model.fit(SECOND, CLASSES[case][Y])
    path = tmp_path / ("model" if len(case) % 2 else "model.safetensors")
    model.save(path)
    again = load_model(path)
    assert again.classes_.dtype == model.classes_.dtype
    np.testing.assert_array_equal(again.classes_, model.classes_)
    np.testing.assert_array_equal(again.predict(SECOND), model.predict(SECOND))
    assert again.predict(SECOND).dtype == model.predict(SECOND).dtype
    again.partial_fit(SECOND, CLASSES[case][Y])


DTYPES = st.one_of(
    arrays.boolean_dtypes(),
    arrays.integer_dtypes(endianness="?"),
    arrays.unsigned_integer_dtypes(endianness="?"),
    arrays.floating_dtypes(sizes=(16, 32, 64), endianness="?"),
    arrays.unicode_string_dtypes(),
    arrays.byte_string_dtypes(),
    arrays.datetime64_dtypes(),
    arrays.timedelta64_dtypes(),
)


@settings(max_examples=200, deadline=None)
@given(array=arrays.arrays(DTYPES, arrays.array_shapes(min_dims=0, min_side=0, max_side=3)))
def test_arrays_of_every_kind_survive(array: np.ndarray) -> None:
    again = decode(encode(array, "setting"), "setting")
    assert (again.dtype, again.shape) == (array.dtype, array.shape)
    np.testing.assert_array_equal(again, array)


def test_objects_in_arrays_survive_and_others_are_refused() -> None:
    array = np.array(["a", 1, None, 0.5, 3], dtype=object)
    array[4] = ["a", "list"]
    again = decode(encode(array, "setting"), "setting")
    assert again.dtype == object
    assert again.tolist() == array.tolist()
    for wrong in (np.ones(2, dtype=complex), np.ones(2, dtype=np.longdouble), np.zeros(2, dtype="i4,f8")):
        with pytest.raises(TypeError, match="setting is of type ndarray"):
            encode(wrong, "setting")
