"""Columns of y: of which kind each is, whatever library it comes from."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from harmonium.estimators.input.several_targets import read_targets

COLUMNS: dict[str, list[Any]] = {
    "stars": [1.0, None, 4.0, 5.0],
    "share": ["13%", "20%", None, "7%"],
    "is_good": [True, False, None, True],
    "place": ["Rome", None, "Oslo", "Oslo"],
    "tags": [["war"], [], None, ["war", "drama"]],
}
KINDS = ["number", "number", "class", "class", "label"]


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_kinds_of_columns(make: Any) -> None:
    found = read_targets(make(COLUMNS))
    assert [target.kind for target in found] == KINDS and [target.name for target in found] == list(COLUMNS)
    np.testing.assert_array_equal(found[0].values, [1.0, np.nan, 4.0, 5.0])
    np.testing.assert_allclose(found[1].values * 100 / found[1].values[0], [100, 2000 / 13, np.nan, 700 / 13])


def test_categories_are_classes_and_arrays_have_numbers_as_names() -> None:
    frame = pd.DataFrame({"grade": pd.Categorical([1, 2, 3, 4])})
    assert read_targets(frame)[0].kind == "class"
    found = read_targets([[1.5, "a"], [2.5, "b"], [3.5, None]])
    assert [(target.name, target.kind) for target in found] == [("0", "number"), ("1", "class")]
    weighted = read_targets(frame, np.arange(4.0))[0]
    np.testing.assert_array_equal(weighted.weight, np.arange(4.0))  # type: ignore[arg-type]
