"""Paper → here, item by item: what each item names exists, and the page is that of the list."""

from __future__ import annotations

import re
import sys
from typing import Any

import pytest

import harmonium
from benchmarks import results
from tests.cases.repository import ROOT

sys.path.insert(0, str(ROOT / "docs"))

import paper_items

ITEMS = paper_items.items()
KEYS = {"paper", "place", "item", "here", "tests", "results"}
NAME = re.compile(r"`([A-Za-z_.]+)")


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item["item"][:40])
def test_what_an_item_names_exists(item: dict[str, Any]) -> None:
    assert set(item) <= KEYS and item["paper"] in paper_items.TITLES
    assert (ROOT / "docs" / "papers" / f"{item['paper']}.md").exists()
    for test in item.get("tests", ()):
        path, name = test.split("::")
        assert f"\ndef {name}(" in (ROOT / path).read_text(encoding="utf-8"), test
    for name in item.get("results", ()):
        assert name in results.names(), name
    built = not item["here"].startswith("not built")
    assert built == bool(item.get("tests") or item.get("results")), "an item is held by something, or not built"


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item["item"][:40])
def test_public_names_are_there(item: dict[str, Any]) -> None:
    homes = [harmonium, harmonium.hidden, harmonium.families, harmonium.training, harmonium.objectives, harmonium.heads]
    homes += [harmonium.weak, harmonium.search]
    for name in NAME.findall(item["here"]):
        first, *rest = name.rstrip(".").split(".")
        if not first[0].isupper() and not rest:
            continue  # a method, a setting, or a recipe in lower case
        if rest:
            assert hasattr(getattr(harmonium, first), rest[0]), name
        else:
            assert any(hasattr(home, first) for home in homes), name


def test_the_page_is_that_of_the_list() -> None:
    same = paper_items.page() == paper_items.PAGE.read_text(encoding="utf-8")
    assert same, "docs/papers/items.md is not that of items.toml; run `python docs/paper_items.py`"
