"""What y may be in reports: classes in their order, labels by name, numbers in ranges; rows by their index."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harmonium import Harmonium, Stochastic
from harmonium.metrics import topic_distribution
from harmonium.report import (
    ClassTopicsDisplay,
    MapDisplay,
    TopicsDisplay,
    UsageDisplay,
    class_table,
    feature_examples,
    latent_means,
    topic_table,
    usage_table,
)
from harmonium.report.tables.groups import read_groups, read_labels
from tests.cases.bad_input import assert_one_sentence

N_ROWS = 300
RNG = np.random.default_rng(0)
X = pd.DataFrame((RNG.random((N_ROWS, 6)) < 0.4).astype(float), columns=[*"abcdef"])
NUMBERS = RNG.normal(size=N_ROWS)
LEVELS = ["low", "middle", "high"]
MOODS = np.array(LEVELS)[np.arange(N_ROWS) % 3]
TAGS = pd.DataFrame({"sea": X["a"], "sky": X["b"], "sun": 1 - X["a"] * X["b"]}).astype(int)


@pytest.fixture(scope="module")
def model() -> Harmonium:
    return Harmonium(2, driver=Stochastic(max_iter=2), random_state=0).fit(X)


def groups_named(model: Harmonium, y: Any) -> list[list[Any]]:
    """The names of the groups in tables."""
    return [class_table(model, X, y).index.tolist(), usage_table(model, X, y).columns[2:-2].tolist()]


@pytest.mark.parametrize("y", [NUMBERS, NUMBERS.astype(np.float32), (NUMBERS * 1000).astype(int), NUMBERS.tolist()])
def test_numbers_are_cut_into_ranges(model: Harmonium, y: Any) -> None:
    edges = np.quantile(np.asarray(y, dtype=float), [0.25, 0.5, 0.75])
    bins = np.searchsorted(edges, np.asarray(y, dtype=float))
    table = class_table(model, X, y)
    for named in groups_named(model, y):
        assert named == table.index.tolist() and len(named) == 4
    assert table.index[0].startswith("[") and all(name.endswith("]") for name in table.index)
    expected = [topic_distribution(latent_means(model, X))[bins == number].mean(axis=0) for number in range(4)]
    np.testing.assert_allclose(table, expected)
    assert topic_table(model, X, y)["classes"].str.count(r"\]").le(3).all()
    assert set(feature_examples(model, X, y=y)["class"]) <= set(table.index)


def test_a_few_numbers_that_are_not_whole_are_classes_and_unknown_ones_are_left_out(model: Harmonium) -> None:
    halves = np.where(np.arange(N_ROWS) % 2, 0.5, 1.5)
    assert class_table(model, X, halves).index.tolist() == [0.5, 1.5]
    some = np.where(np.arange(N_ROWS) < 100, np.nan, NUMBERS)
    assert (read_groups(X, some, N_ROWS).items >= 100).all()


@pytest.mark.parametrize(
    "y",
    [
        pd.Categorical(MOODS, categories=[*LEVELS, "never"], ordered=True),
        pl.Series(MOODS.tolist(), dtype=pl.Enum(LEVELS)),
        pd.Series(MOODS).astype(pd.CategoricalDtype(LEVELS, ordered=True)),
    ],
    ids=["array", "polars", "pandas"],
)
def test_ordered_categories_stay_in_order(model: Harmonium, y: Any) -> None:
    assert groups_named(model, y) == [LEVELS] * 2
    assert groups_named(model, MOODS) == [sorted(LEVELS)] * 2
    np.testing.assert_array_equal(class_table(model, X, y).loc[sorted(LEVELS)], class_table(model, X, MOODS))


@pytest.mark.parametrize("make", [pd.DataFrame, pl.from_pandas], ids=["pandas", "polars"])
def test_labels_are_groups_by_name(model: Harmonium, make: Any) -> None:
    y = make(TAGS)
    assert groups_named(model, y) == [["sea", "sky", "sun"]] * 2
    assert groups_named(model, TAGS.to_numpy()) == [[0, 1, 2]] * 2
    latent = topic_distribution(latent_means(model, X))
    expected = [latent[TAGS[name] == 1].mean(axis=0) for name in TAGS]
    np.testing.assert_allclose(class_table(model, X, y), expected)
    examples = feature_examples(model, X, y=y)
    assert set(examples["class"]) <= set(TAGS) and examples["class share"].between(0, 1).all()


def test_displays_show_the_groups_of_the_tables(model: Harmonium) -> None:
    ordered = pd.Categorical(MOODS[:12], categories=LEVELS, ordered=True)
    for y, named in ((ordered, LEVELS), (TAGS[:12], ["sea", "sky", "sun"])):
        profiles = TopicsDisplay.from_estimator(model, X[:12], y).profiles
        assert profiles is not None and profiles.index.tolist() == named
        assert ClassTopicsDisplay.from_estimator(model, X[:12], y).table.index.tolist() == named
    assert UsageDisplay.from_estimator(model, X[:12], ordered, by_class=True).table.columns[2:-2].tolist() == LEVELS
    legend = MapDisplay.from_estimator(model, X[:12], ordered).ax_.get_legend()
    assert [text.get_text() for text in legend.get_texts()] == LEVELS


def test_a_map_colours_by_one_column_and_tables_by_labels_or_one_column(model: Harmonium) -> None:
    for call in (
        lambda: MapDisplay.from_estimator(model, X, TAGS),
        lambda: class_table(model, X, np.stack([NUMBERS, NUMBERS], axis=1)),
        lambda: class_table(model, X, pd.DataFrame({"a": MOODS, "b": MOODS})),
    ):
        with pytest.raises(ValueError, match=r"columns.*; pass one of them") as refusal:
            call()
        assert_one_sentence(str(refusal.value))


def test_rows_of_y_go_by_the_index_of_x(model: Harmonium) -> None:
    frame = X.set_axis([f"item {row}" for row in range(N_ROWS)])
    y = pd.Series(MOODS, index=frame.index)
    shuffled = y.sample(frac=1, random_state=0)
    expected = class_table(model, X, MOODS)
    for table in (class_table(model, frame, y), class_table(model, frame, shuffled)):
        pd.testing.assert_frame_equal(table, expected)
    pd.testing.assert_frame_equal(usage_table(model, frame, shuffled), usage_table(model, X, MOODS))
    assert read_labels(frame, shuffled, N_ROWS).tolist() == MOODS.tolist()
    with pytest.raises(ValueError, match="its index lacks 'item 0'") as refusal:
        topic_table(model, frame, y.rename({"item 0": "item 999"}))
    assert_one_sentence(str(refusal.value))


@settings(deadline=None, max_examples=60)
@given(
    st.one_of(
        st.lists(st.floats(-1e6, 1e6) | st.none(), min_size=1, max_size=200),
        st.lists(st.integers(-5, 10**6) | st.none(), min_size=1, max_size=200),
        st.lists(st.text(max_size=2) | st.none(), min_size=1, max_size=50),
        st.lists(st.booleans() | st.none(), min_size=1, max_size=50),
        st.lists(st.sampled_from(["a", "b", 1, 2.5]), min_size=1, max_size=20),
    )
)
def test_groups_are_few_and_every_known_item_is_in_one(values: list[Any]) -> None:
    for y in (values, pd.Series(values, dtype=object)):
        try:
            groups = read_groups(np.zeros((len(values), 1)), y, len(values))
        except ValueError as refusal:
            assert_one_sentence(str(refusal))
            continue
        assert len(groups.names) <= 100
        np.testing.assert_array_equal(np.flatnonzero(groups.labelled), groups.items)
        assert not any(known and value is None for known, value in zip(groups.labelled, values, strict=True))
        assert ((groups.numbers >= 0) & (groups.numbers < len(groups.names))).all()
        assert len(groups.means(np.ones((len(values), 2)))) <= len(groups.names)
