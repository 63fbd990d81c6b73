"""Colours of pictures on pages: squares of the colour itself, and everything else as text."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

pytest.importorskip("jinja2")

from harmonium.report.page.rendering import environment


def filled(names: object) -> str:
    return environment().from_string("{{ names | named }}").render(names=names)


def test_colours_are_squares_and_names_are_escaped() -> None:
    page = filled(["#ff8000", "#0080ff", "<script>", '#ff8000" onload="x'])
    root = ElementTree.fromstring(f"<p>{page}</p>")
    assert [rect.attrib["fill"] for rect in root.iter("rect")] == ["#ff8000", "#0080ff"]
    assert [svg.attrib["aria-label"] for svg in root.iter("svg")] == ["#ff8000", "#0080ff"]
    assert "style=" not in page and "<script>" not in page and "&lt;script&gt;" in page
    assert "".join(root.itertext()).endswith('<script>, #ff8000" onload="x')


def test_words_are_as_they_were() -> None:
    assert filled(["room", "staff & co"]) == "room, staff &amp; co"
    assert filled("room") == "room"
