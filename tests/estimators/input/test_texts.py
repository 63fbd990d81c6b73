"""Texts as people hold them: lists, arrays, series, columns by name."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from harmonium import HarmoniumRegressor, Stochastic, TopicModel
from harmonium.estimators.input.texts import as_table
from harmonium.exceptions import HarmoniumWarning

TEXTS = ["cats and dogs", "dogs bark at night", "stocks rose", "markets and stocks fell", "cats sleep at night"] * 8


@pytest.mark.parametrize(
    "X",
    [TEXTS, tuple(TEXTS), np.array(TEXTS), np.array(TEXTS, dtype=object), pd.Series(TEXTS), {"text": pd.Series(TEXTS)}],
    ids=["list", "tuple", "array", "objects", "series", "dict"],
)
def test_texts_are_words_however_they_come(X: Any) -> None:
    model = TopicModel(2, random_state=0).fit(X)
    assert model.views_["role"].to_dict() == {"text": "words"}
    np.testing.assert_array_equal(model.transform(X), model.transform(pd.DataFrame({"text": TEXTS})))
    assert "stocks" in model.topics().to_numpy()


def test_columns_by_name_are_a_table() -> None:
    model = TopicModel(2, random_state=0).fit({"text": TEXTS, "price": np.linspace(0.1, 9.3, len(TEXTS))})
    assert model.views_["role"].to_dict() == {"text": "words", "price": "number"}


@pytest.mark.parametrize("X", [[], [[1.0]], np.eye(2), {"a": np.eye(2)}, "text", {"a": [1, 2]}, [np.eye(2)]], ids=str)
def test_what_is_no_texts_stays_what_it_is(X: Any) -> None:
    assert as_table(X) is None


def test_missing_texts_are_missing() -> None:
    with pytest.warns(HarmoniumWarning, match="1 of 41 rows lack every view"):
        TopicModel(2, random_state=0).fit([None, *TEXTS])


@pytest.mark.parametrize(
    "order",
    [
        ("rating", pd.DataFrame(np.eye(4))),
        (np.arange(4), np.eye(4)),
        ([1, 5, 3, 4], np.eye(4)),
        (["good", "bad", "good", "bad"], np.eye(4)),
    ],
    ids=["name", "array", "numbers", "classes"],
)
def test_targets_before_items_are_refused(order: tuple[Any, Any]) -> None:
    with pytest.raises(ValueError, match="Items must come before targets"):
        HarmoniumRegressor().fit(*order)


def test_texts_before_several_targets_are_items() -> None:
    model = HarmoniumRegressor(2, driver=Stochastic(max_iter=1)).fit(
        TEXTS, np.random.default_rng(0).normal(size=(40, 2))
    )
    assert model.predict(TEXTS[:3]).shape == (3, 2)


def test_a_misspelt_target_is_named_beside_what_was_meant() -> None:
    frame = pd.DataFrame({"text": TEXTS, "rating": range(40)})
    with pytest.raises(ValueError, match=r"'text', 'rating'; got 'ratng' \(did you mean 'rating'\?\); correct"):
        HarmoniumRegressor().fit(frame, "ratng")


def test_explanations_print_as_a_table_and_are_drawn() -> None:
    pytest.importorskip("matplotlib").use("agg")
    frame = pd.DataFrame({"text": TEXTS, "rating": np.arange(40.0) % 5})
    why = HarmoniumRegressor(2, random_state=0).fit(frame, "rating").explain(frame[:2])
    assert isinstance(why, list) and "average item's" in repr(why) and len(repr(why).splitlines()) <= 14
    table = why.table()
    for row in (0, 1):
        assert table[table["row"] == row]["total"].sum() == pytest.approx(
            why[row].scores[0] - why[row].base[0], abs=1e-6
        )
    assert len(why.plot().patches) == min(10, len(why[0].table()))


def test_a_topic_model_says_what_it_is() -> None:
    assert repr(TopicModel(20)).startswith("TopicModel(")


def test_columns_without_labels_go_by_order_and_have_as_many_rows() -> None:
    texts = pd.Series(["cats", "dogs"], index=["x", "y"])
    assert as_table({"text": texts, "price": [1, 2]}).loc["y"].tolist() == ["dogs", 2]
    with pytest.raises(ValueError, match="same rows; got 2 and 3 rows"):
        as_table({"text": texts, "price": [1, 2, 3]})
    with pytest.raises(ValueError, match="same rows; got other labels"):
        as_table({"text": texts, "price": [1, 2], "size": texts[::-1]})
