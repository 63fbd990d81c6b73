"""Whatever y is: its values, missing ones, names, order and index are kept, or it is refused in one sentence."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harmonium.estimators.input.labels import in_order_of, read_classes, read_numbers
from harmonium.estimators.input.read_input import as_data
from tests.cases.bad_input import assert_one_sentence
from tests.cases.targets import COLUMNS, FRAMES

pytestmark = pytest.mark.filterwarnings("ignore::harmonium.exceptions.HarmoniumWarning")
QUICK = settings(deadline=None, max_examples=60)
TEXT = st.text(st.characters(exclude_characters="\0"), max_size=2)  # texts of NumPy do not end in that one
CLASSES = st.one_of(
    st.lists(st.integers(0, 5) | st.none(), min_size=1, max_size=12),
    st.lists(st.sampled_from(["a", "b", "nan", "None", "-1", ""]) | st.none(), min_size=1, max_size=12),
    st.lists(st.booleans() | st.none(), min_size=1, max_size=12),
)
CELLS = st.one_of(
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.text(max_size=2),
    st.none(),
    st.booleans(),
    st.binary(max_size=2),
    st.complex_numbers(),
    st.dates(),
    st.lists(st.integers(), max_size=2),
)


@QUICK
@given(values=CLASSES, make=st.sampled_from(sorted(COLUMNS)))
def test_classes_come_back_as_they_were_given(values: list[Any], make: str) -> None:
    if all(value is None for value in values):
        return
    labels = read_classes(COLUMNS[make](values), None)
    classes, codes = labels.meaning.classes[0].tolist(), labels.targets.values[:, 0]
    assert [None if code < 0 else classes[code] for code in codes] == values
    assert classes == sorted(set(values) - {None})


@QUICK
@given(
    values=st.lists(st.floats(-1e9, 1e9, width=32) | st.none(), min_size=1, max_size=12),
    make=st.sampled_from(sorted(set(COLUMNS) - {"pandas categories", "pyarrow dictionary"})),
)
def test_numbers_come_back_as_they_were_given(values: list[Any], make: str) -> None:
    if all(value is None for value in values):
        return
    found = read_numbers(COLUMNS[make](values), None).targets.values[:, 0]
    np.testing.assert_array_equal(found, [np.nan if value is None else value for value in values])


@QUICK
@given(values=st.lists(CELLS, max_size=8) | st.lists(st.lists(CELLS, max_size=3), max_size=4) | CELLS)
def test_anything_is_read_or_refused_in_one_sentence(values: Any) -> None:
    for read in (read_classes, read_numbers):
        for y in (values, pd.Series([values], dtype=object), np.array(values, dtype=object)):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    read(y, None)
                except ValueError as refusal:
                    assert_one_sentence(str(refusal))


@QUICK
@given(
    names=st.lists(st.text(min_size=1, max_size=4), min_size=2, max_size=4, unique=True),
    make=st.sampled_from(sorted(FRAMES)),
    data=st.data(),
)
def test_names_of_columns_and_labels_are_kept(names: list[str], make: str, data: st.DataObject) -> None:
    rows = st.lists(st.sampled_from([0, 1, None]), min_size=3, max_size=3)
    columns = {name: [0, 1, *data.draw(rows)] for name in names}
    labels = read_classes(FRAMES[make](columns), None)
    assert labels.meaning.names == tuple(names) and labels.meaning.kind == "label"
    expected = [[np.nan if value is None else value for value in column] for column in columns.values()]
    np.testing.assert_array_equal(labels.targets.values.T, expected)


@QUICK
@given(categories=st.lists(TEXT | st.integers(0, 9).map(str), min_size=2, max_size=6, unique=True))
def test_ordered_categories_give_the_order_of_the_classes(categories: list[str]) -> None:
    used = categories[: max(2, len(categories) - 1)]
    labels = read_classes(pd.Categorical([*used, None], categories=categories, ordered=True), None)
    assert labels.order is not None
    assert labels.meaning.classes[0][labels.order].tolist() == used
    assert read_classes(pd.Categorical(used, categories=categories), None).order is None


@QUICK
@given(
    index=st.lists(st.text(max_size=3), min_size=2, max_size=8, unique=True) | st.just([3, 1, 2]),
    random=st.randoms(use_true_random=False),
    as_frame=st.booleans(),
)
def test_rows_of_y_follow_the_index_of_x(index: list[Any], random: Any, as_frame: bool) -> None:
    y = pd.Series(np.arange(len(index)), index=index, name="y")
    shuffled = y.loc[random.sample(index, len(index))]
    given = shuffled.to_frame() if as_frame else shuffled
    X = pd.DataFrame({"x": y})
    for data in (X, {"first": np.zeros((len(index), 1)), "second": X}, [X]):
        aligned = in_order_of(as_data(data), "y", given)
        assert aligned.index.tolist() == index and np.ravel(aligned).tolist() == y.tolist()
    assert in_order_of(X.to_numpy(), "y", given) is given
    with pytest.raises(ValueError, match="y must name the same rows as X") as refusal:
        in_order_of(X, "y", given.rename({index[0]: "another name"}))
    assert_one_sentence(str(refusal.value))
