"""Tables of any library come in through one door: eager or lazy, pandas, polars, pyarrow or anything of Arrow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from harmonium import HarmoniumWarning, Views
from harmonium.exceptions import InvalidViewError
from harmonium.views.frames import as_frame, is_frame
from tests.cases.bad_input import quick, real, refuse

TABLE = pd.DataFrame({"age": [30.0, np.nan, 41.0], "height": [1.7, 1.8, 1.6]})


class Relation:
    """What a database returns: nothing but the Arrow interface."""

    def __init__(self, table: Any) -> None:
        self.table = table

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.table.__arrow_c_stream__(requested_schema)


FORMS: dict[str, Callable[[], Any]] = {
    "pandas": lambda: TABLE,
    "pandas_nullable": TABLE.convert_dtypes,
    "pandas_arrow": lambda: TABLE.convert_dtypes(dtype_backend="pyarrow"),
    "polars": lambda: pl.from_pandas(TABLE),
    "polars_nulls": lambda: pl.DataFrame({"age": [30, None, 41], "height": [1.7, 1.8, 1.6]}),
    "pyarrow": lambda: pa.table({"age": [30, None, 41], "height": [1.7, 1.8, 1.6]}),
    "record_batch": lambda: pa.record_batch({"age": [30, None, 41], "height": [1.7, 1.8, 1.6]}),
    "relation": lambda: Relation(pa.table({"age": [30, None, 41], "height": [1.7, 1.8, 1.6]})),
    "narwhals": lambda: nw.from_native(TABLE),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_table_holds_the_same_numbers(form: str) -> None:
    table = FORMS[form]()
    assert is_frame(table)
    frame = as_frame("people", table)
    assert frame is not None and frame.columns == ["age", "height"] and len(frame) == 3
    source = Views({"people": table}).source("people")
    assert source.columns == ["age", "height"]
    np.testing.assert_array_equal(source.matrix, TABLE.to_numpy())


@pytest.mark.parametrize("form", FORMS)
def test_every_table_can_be_fitted(form: str) -> None:
    latent = quick(n_components=2).fit(TABLE).transform(TABLE)
    for wrapped in (FORMS[form](), {"view0": FORMS[form]()}):
        np.testing.assert_array_equal(quick(n_components=2).fit(wrapped).transform(wrapped), latent)


def test_lazy_frames_are_read_once_and_one_notice_tells_so() -> None:
    lazy = pl.from_pandas(TABLE).lazy()
    for X, name, called in ((lazy, "view0", "X"), ({"people": lazy}, "people", "people")):
        with pytest.warns(HarmoniumWarning, match=f"View '{called}' is a lazy frame") as notices:
            model = quick(n_components=2).fit(X)
        (notice,) = (one for one in notices if "lazy frame" in str(one.message))  # another asks for more rows
        assert notice.filename == __file__
        assert model.fitted_.feature_names[name] == ["age", "height"]


@pytest.mark.parametrize("series", [TABLE["age"], pl.Series("age", [30, None, 41])], ids=["pandas", "polars"])
def test_a_series_is_a_column_with_its_name(series: Any) -> None:
    source = Views({"people": series}).source("people")
    assert source.columns == ["age"]
    np.testing.assert_array_equal(source.matrix, TABLE[["age"]].to_numpy())


def test_a_series_without_a_name_is_called_like_its_view() -> None:
    assert Views({"age": pd.Series([1.0, 2.0])}).source("age").columns == ["age"]
    assert Views({"age": pl.Series([1.0, 2.0])}).source("age").columns == ["age"]


@pytest.mark.parametrize("other", [None, "text", [[1.0, 2.0]], {"a": 1}, np.eye(2), 3.0], ids=repr)
def test_nothing_else_is_a_table(other: Any) -> None:
    assert as_frame("x", other) is None
    assert not is_frame(other)


def test_what_is_no_table_is_refused() -> None:
    vector = Relation(pa.chunked_array([[1.0, 2.0]]))
    refuse(lambda: as_frame("x", vector), InvalidViewError, "View 'x' must be a table of Arrow columns; got a Relation")
    twice = pd.DataFrame(real(2), columns=["a", "a"])
    refuse(lambda: as_frame("x", twice), InvalidViewError, "View 'x' must have columns of different names")
