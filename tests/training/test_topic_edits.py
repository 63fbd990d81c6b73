"""Edits of topics: what they make of units, and what they refuse."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harmonium.inspection import TopicEdits
from tests.cases.bad_input import assert_one_sentence


def made(edits: TopicEdits, n_units: int = 5) -> dict[object, list[int]]:
    return {topic.key: topic.units for topic in edits.shown(n_units)}


def test_numbers_stay_whatever_is_done_to_others() -> None:
    edits = TopicEdits().hide(0).merge(3, 1).rename(3, " thin  walls ").order(4)
    assert made(edits) == {4: [4], 2: [2], "thin walls": [1, 3]}
    assert list(made(edits)) == [4, 2, "thin walls"]


def test_the_last_edit_is_undone_and_edits_never_change() -> None:
    first = TopicEdits().merge(0, 1)
    second = first.hide(2)
    assert second.undo() == first and second != first and first.undo() == TopicEdits()
    assert TopicEdits().undo() == TopicEdits()


def test_a_merged_topic_falls_apart_again() -> None:
    edits = TopicEdits().merge(3, 1, 4).rename(3, "three").split(3)
    assert made(edits) == {0: [0], 2: [2], "three": [3], 1: [1], 4: [4]}


def test_a_part_that_is_split_off_has_a_new_number() -> None:
    edits = TopicEdits().split(1, ["walls", "thin"]).split(1, "walls").merge(0, 6).split(0)
    assert [topic.number for topic in edits.shown(5)] == [0, 7, 1, 5, 2, 3, 4]
    first, again = edits.shown(5)[2].parts[0], edits.shown(5)[3].parts[0]
    assert first.has(["walls", "bed"]).tolist() == [False, True]
    assert again.has(["walls", "bed"]).tolist() == [True, False]


@pytest.mark.parametrize(
    "edit",
    [
        lambda: TopicEdits().merge(0).shown(3),
        lambda: TopicEdits().merge(0, 3).shown(3),
        lambda: TopicEdits().merge(0, 0),
        lambda: TopicEdits().hide("noise"),  # type: ignore[arg-type]
        lambda: TopicEdits().hide(0, 1, 2).shown(3),
        lambda: TopicEdits().hide(0).rename(0, "a").shown(3),
        lambda: TopicEdits().rename(0, "a").rename(1, "a").shown(3),
        lambda: TopicEdits().split(0).shown(3),
    ],
)
def test_what_makes_no_sense_is_refused(edit: Callable[[], object]) -> None:
    with pytest.raises(ValueError) as caught:
        edit()
    assert_one_sentence(str(caught.value))
