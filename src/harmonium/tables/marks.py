"""Marks that separate tags within a text."""

from __future__ import annotations

from harmonium.tables.column import Column

#: marks, and how often each tag must occur on average for a text to be tags: prose has commas, but hardly ever bars
MARKS = {"|": 1.2, ";": 1.5, ",": 3.0}
# A mark separates at least this many tags on average, and they have this few words: conventions, as are those above.
_TAGS_A_ROW = 1.3
_WORDS_A_TAG = 2.5


def mark_of(column: Column) -> str | None:
    """Return the mark that separates tags in texts; None if there are none."""
    texts = [str(text) for text in column.observed]
    for mark, rows_a_tag in MARKS.items():
        if sum(mark in text for text in texts[:200]) < 0.1 * min(len(texts), 200):
            continue
        rows = [tags_in(text, mark) for text in texts]
        tags = [tag for row in rows for tag in row]
        if not tags or len(tags) < _TAGS_A_ROW * len(rows) or len(tags) < rows_a_tag * len(set(tags)):
            continue
        if sum(len(tag.split()) for tag in tags) <= _WORDS_A_TAG * len(tags):
            return mark
    return None


def tags_in(text: str, mark: str) -> list[str]:
    """Return the different tags of a text, in order."""
    return list(dict.fromkeys(tag.strip() for tag in text.split(mark) if tag.strip()))
