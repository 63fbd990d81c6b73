"""Rows that go together by name, or by position: the rule for views and targets alike."""

from __future__ import annotations

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harmonium.exceptions import InvalidViewError
from harmonium.views.index import row_names, rows_in_order

NAMES = st.one_of(
    st.lists(st.text(max_size=3), min_size=1, max_size=8, unique=True),
    st.lists(st.integers(-5, 20), min_size=1, max_size=8, unique=True),
    st.lists(st.dates(), min_size=1, max_size=8, unique=True),
)


@settings(deadline=None, max_examples=50)
@given(NAMES, st.randoms(use_true_random=False))
def test_the_same_names_in_any_order_are_put_in_order(names, random):
    order = pd.Index(random.sample(names, len(names)))
    index = pd.Index(names)
    rows = rows_in_order("y", index, "X", order)
    assert (index if rows is None else index[rows]).equals(order)


@settings(deadline=None, max_examples=50)
@given(NAMES)
def test_other_names_are_refused_by_name(names):
    index, order = pd.Index(names), pd.Index([*names[1:], "a name that is not there"])
    with pytest.raises(InvalidViewError, match=r"View 'words' must name the same rows as X; .*not there"):
        rows_in_order("View 'words'", index, "X", order, InvalidViewError)


@pytest.mark.parametrize(
    "data", [[1, 2], np.ones(2), pd.Series([1, 2]), pd.DataFrame({"a": [1, 2]}), pl.Series([1, 2]), None, "text"]
)
def test_only_an_index_that_was_given_names_rows(data):
    assert row_names(data) is None


def test_names_of_rows_are_found_in_frames_and_series():
    frame = pd.DataFrame({"a": [1, 2]}, index=["x", "y"])
    for data in (frame, frame["a"], nw.from_native(frame)):
        assert row_names(data).tolist() == ["x", "y"]
    assert row_names(pd.Series([1, 2], index=[1, 0])).tolist() == [1, 0]
    assert row_names(pd.Series([1, 2, 3])[1:]).tolist() == [1, 2]


def test_names_that_occur_twice_are_taken_only_in_the_same_order():
    twice, order = pd.Index(["a", "a", "b"]), pd.Index(["a", "b", "a"])
    assert rows_in_order("y", twice, "X", twice) is None
    with pytest.raises(ValueError, match="'a' is twice in the index of y"):
        rows_in_order("y", twice, "X", order)


def test_where_one_side_has_no_names_rows_go_by_position():
    names = pd.Index(["a", "b"])
    assert rows_in_order("y", None, "X", names) is None
    assert rows_in_order("y", names, "X", None) is None
