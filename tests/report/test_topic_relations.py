"""Relations of topics in reports: strengths of features, neighbours and the tree, against pandas and `topic_tree`."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from harmonium import ModelFolder
from harmonium.queries.topics.features import ranking
from harmonium.report import topic_tree
from harmonium.report.page.rendering import environment, ticks
from harmonium.report.summary import summarise
from harmonium.report.summary.column_values import column_values
from harmonium.report.summary.columns import association
from harmonium.report.summary.topic_relations import topic_correlations, tree_of_topics


@pytest.fixture(scope="module")
def summary(rooms: ModelFolder) -> dict:
    return summarise(rooms)


def test_strengths_are_shares_of_the_strongest_feature(rooms: ModelFolder, summary: dict) -> None:
    table = ranking(rooms.model.fitted_, "review")
    for topic in summary["topics"]:
        names, found = topic["features"]["review"], topic["strengths"]["review"]
        sizes = table.iloc[:, topic["topic"]].loc[names].clip(lower=0)
        assert found == pytest.approx((sizes / sizes.max()).tolist(), abs=1e-4)
        assert found == sorted(found, reverse=True)


def test_correlations_and_neighbours_are_those_of_numpy(rooms: ModelFolder, summary: dict) -> None:
    expected = np.corrcoef(rooms.topic_coordinates, rowvar=False)
    np.testing.assert_allclose(topic_correlations(rooms.topic_coordinates), expected, atol=1e-5)
    for topic in summary["topics"]:
        for other in topic["neighbours"]:
            assert other["correlation"] == pytest.approx(expected[topic["topic"], other["topic"]], abs=1e-5)
            assert other["correlation"] > 0


def test_the_tree_has_the_groups_of_topic_tree(rooms: ModelFolder) -> None:
    table = topic_tree(rooms.model, rooms.items[["review", "tags", "price"]], n_groups=2)
    groups = table.reset_index()
    tree = tree_of_topics(topic_correlations(rooms.topic_coordinates), range(4))
    assert tree is not None
    last = tree["joins"][-1]
    cut = [topic for place, topic in enumerate(tree["order"]) if place <= min(last["one"], last["other"]) + 0.99]
    members = [set(group["topic"]) for _, group in groups.groupby("group")]
    assert set(cut) in members or set(range(4)) - set(cut) in members
    heights = [join["height"] for join in tree["joins"]]
    assert heights == sorted(heights)
    assert all(max(join["one_height"], join["other_height"]) <= join["height"] for join in tree["joins"])


def test_topics_go_with_the_columns_that_they_were_learned_from(rooms: ModelFolder, summary: dict) -> None:
    price, kind = rooms.items["price"], rooms.items["kind"] == "good"
    for topic in summary["topics"]:
        own = rooms.topic_coordinates[:, topic["topic"]]
        found = {entry["name"]: entry["size"] for entry in topic["columns"]}
        assert found["price"] == pytest.approx(np.corrcoef(own, price)[0, 1], rel=1e-4)
        assert found["kind"] == pytest.approx(abs(np.corrcoef(own, kind)[0, 1]), rel=1e-4)
        assert "review" not in found


def test_cramers_v_of_two_by_two_is_phi() -> None:
    rng = np.random.default_rng(0)
    one, other = rng.integers(0, 2, (2, 100))
    other = np.where(rng.random(100) < 0.6, one, other)
    names = np.array(["a", "b"], dtype=object)
    found = association(*(column_values("", pd.Series(names[codes])) for codes in (one, other)))
    assert found["measure"] == "Cramér's V"
    assert found["size"] == pytest.approx(abs(np.corrcoef(one, other)[0, 1]))


@pytest.mark.parametrize(("low", "high"), [(0, 1), (-3.2, 17.9), (0.123, 0.124), (1e6, 5e6), (2, 2)])
def test_ticks_are_round_and_within_the_ends(low: float, high: float) -> None:
    found = ticks(low, high)
    assert all(low - 1e-9 <= tick <= high + 1e-9 for tick in found)
    assert 1 <= len(found) <= 8
    if high > low:
        steps = np.diff(found)
        np.testing.assert_allclose(steps, steps[0], rtol=1e-6)


def test_marks_are_whole_words_and_texts_stay_texts() -> None:
    template = environment().from_string("{{ text | marked(words) }}")
    found = template.render(text="Clean <b>rooms</b>, uncleaned; a CLEAN bed", words=["clean", "<b>"])
    assert found == "<mark>Clean</mark> &lt;b&gt;rooms&lt;/b&gt;, uncleaned; a <mark>CLEAN</mark> bed"
