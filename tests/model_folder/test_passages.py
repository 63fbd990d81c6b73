"""Passages: which texts say a phrase, and which part of a text is shown."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from harmonium import ModelFolder, TableViews, TopicModel
from harmonium.model_folder.passages import SoughtPhrases

#: queries, texts that say them, and texts that have the words and do not
JUDGED = [
    (
        "dirty room",
        ["A dirty room.", "Our rooms were really dirty!"],
        ["The room was not dirty.", "Never a dirty room."],
    ),
    (
        "not clean",
        ["It wasn’t clean", "Not very clean, though cheap", "Unclean!"],
        ["Clean.", "Not only cheap but clean"],
    ),
    ("clean", ["Not only clean", "Not loud, clean"], ["It is not clean", "Far from the sea, unclean"]),
    ("friendly staff", ["staff who are friendly"], ["unfriendly staff", "staff that nobody would call friendly"]),
    ("unhelpful staff", ["staff not helpful", "unhelpful staff"], ["helpful staff"]),
    ("room with a view", ["A room with quite a view"], ["No view from the room", "A room"]),
    ("dirty room, rude staff", ["Dirty room and rude staff"], ["Quite clean, and staff not rude", "rude waiters"]),
    ("kein Frühstück", ["es gab kein Frühstück"], ["Frühstück gab es"]),
]


@pytest.mark.parametrize(("query", "right", "wrong"), JUDGED)
def test_texts_that_say_a_phrase_come_before_those_that_deny_it(query: str, right: list[str], wrong: list[str]) -> None:
    sought = SoughtPhrases(query)
    assert min(sought.score([text]) for text in right) > max(sought.score([text]) for text in wrong)


def test_words_close_together_count_more_than_words_far_apart() -> None:
    sought = SoughtPhrases("dirty room")
    texts = ["a dirty room", "the room was dirty", "dirty shoes. A room.", "dirty shoes.", "shoes"]
    scores = [sought.score([text]) for text in texts]
    assert scores == sorted(scores, reverse=True) and len(set(scores)) == 5 and scores[0] == 1


def test_the_passage_is_where_the_phrases_are_and_marks_their_words() -> None:
    filler = "We came by train and stayed for a while with friends of ours. " * 20
    text = f"{filler}The bathroom was dirty. {filler}And the staff\x1b were rude, not helpful. {filler}"
    sought = SoughtPhrases("dirty bathroom, rude staff, helpful")
    passage = sought.passage([text], letters=100)
    assert passage is not None and str(passage).startswith("… ") and str(passage).endswith(" …")
    assert len(passage.text) < 130 and passage.text.isprintable()
    assert [passage.text[a:b] for a, b in passage.matches] == ["bathroom", "dirty", "staff", "rude"]
    assert sought.passage(["nothing of it"]) is None and SoughtPhrases("…").passage(["…"]) is None


def test_a_search_finds_what_is_said_and_not_what_is_denied(tmp_path: Path) -> None:
    bad = ["A dirty room, and rude staff.", "The staff were rude. Our room was dirty."] * 10
    good = ["Quite clean, a room that is not dirty; staff not rude.", "No dirty room, never rude staff."] * 10
    frame = pd.DataFrame({"text": [*good, *bad], "stars": [5] * 20 + [1] * 20})
    model = TopicModel(3, views=TableViews({"text": "words"}), random_state=0).fit(frame)
    folder = ModelFolder.create(tmp_path / "folder", model, frame)
    found = folder.search("dirty room, rude staff", n=20)
    assert (folder.items["stars"].iloc[found["row"]] == 1).all() and found["score"].is_monotonic_decreasing
    assert (folder.items["stars"].iloc[folder.search("not dirty", n=20)["row"]] == 5).all()
    assert folder.search({"text": "dirty room, rude staff"}, n=20).equals(found)
    shown = folder.passages("dirty room", found["row"].head(2))
    assert all("dirty" in str(passage) for passage in shown)
