"""Marks that separate tags within a text."""

from __future__ import annotations

from harmonium.tables.column import Column

# Texts are lists of tags if a mark separates at least this many of them on average, they have this few words, and each
# occurs this often: conventions.
MARKS = ("|", ";", ",")
_TAGS_A_ROW = 1.3
_WORDS_A_TAG = 2.5
_ROWS_A_TAG = 3


def mark_of(column: Column) -> str | None:
    """Return the mark that separates tags in texts; None if there are none."""
    texts = [str(text) for text in column.observed]
    for mark in MARKS:
        if sum(mark in text for text in texts[:200]) < 0.1 * min(len(texts), 200):
            continue
        rows = [tags_in(text, mark) for text in texts]
        tags = [tag for row in rows for tag in row]
        if not tags or len(tags) < _TAGS_A_ROW * len(rows) or len(tags) < _ROWS_A_TAG * len(set(tags)):
            continue
        if sum(len(tag.split()) for tag in tags) <= _WORDS_A_TAG * len(tags):
            return mark
    return None


def tags_in(text: str, mark: str) -> list[str]:
    """Return the different tags of a text, in order."""
    return list(dict.fromkeys(tag.strip() for tag in text.split(mark) if tag.strip()))
