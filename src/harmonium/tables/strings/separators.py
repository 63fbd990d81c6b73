"""Separators of tags within a text."""

from __future__ import annotations

import re
from ast import literal_eval
from collections import Counter
from collections.abc import Iterable
from typing import Any

from harmonium.tables.column import Column, is_nothing

#: separators, and how often each tag must occur on average for a text to be tags: prose has commas, but few bars
SEPARATORS = {"|": 1.2, ";": 1.5, ",": 3.0}
# A separator divides at least this many tags on average, and they have this few words: conventions, as are those above.
_TAGS_A_ROW = 1.3
_WORDS_A_TAG = 2.5
# Parts between commas are fields, as in "Last, First" or "City, State", and no tags, if this share of the texts has as
# many, and parts are in the place where they are most often in this share of cases. Conventions.
_AS_MANY, _IN_PLACE = 0.9, 0.85


# how NumPy shows a text in a list
_NUMPY_TEXT = re.compile(r"np\.str_\(('[^']*'|\"[^\"]*\")\)")


def separator_of(column: Column) -> str | None:
    """Return the separator of tags in texts, empty for texts such as "['a', 'b']"; None if there are none."""
    texts = [str(text) for text in column.observed]
    if column.is_declared or any(text[:1] == "{" for text in texts[:20]):
        return None
    if texts and all(_listed(text) is not None for text in texts[:20]):
        return ""
    for separator, rows_a_tag in SEPARATORS.items():
        if sum(separator in text for text in texts[:200]) < 0.1 * min(len(texts), 200):
            continue
        rows = [tags_in(text, separator) for text in texts]
        tags = [tag for row in rows for tag in row]
        # values that are few as wholes are categories with commas in them, as "Paris, France"
        are_wholes = separator == "," and (len(set(texts)) <= len(set(tags)) or _are_fields(rows))
        if not tags or are_wholes or len(tags) < _TAGS_A_ROW * len(rows) or len(tags) < rows_a_tag * len(set(tags)):
            continue
        if sum(len(tag.split()) for tag in tags) <= _WORDS_A_TAG * len(tags):
            return separator
    return None


def _are_fields(rows: list[list[str]]) -> bool:
    """Tell whether parts of texts are fields, each with its place, rather than tags in any number and order.

    Examples
    --------
    >>> _are_fields([["Lee", "Ana"], ["Ray", "Bob"], ["Lee", "Bob"]]), _are_fields([["war"], ["drama", "war"]])
    (True, False)
    """
    number, n_rows = Counter(map(len, rows)).most_common(1)[0]
    if number < 2 or n_rows < _AS_MANY * len(rows):
        return False
    places = Counter((part, place) for row in rows for place, part in enumerate(row))
    most: dict[str, int] = {}
    for (part, _), count in places.items():
        most[part] = max(most.get(part, 0), count)
    return sum(most.values()) >= _IN_PLACE * places.total()


def tags_in(text: str, separator: str) -> list[str]:
    """Return the different tags of a text, in order: those of a list in it, or those between separators."""
    values = _listed(text)
    if values is not None:
        return tags_of(values)
    # lists were learned, but texts came
    separator = separator or next((other for other in SEPARATORS if other in text), "")
    return tags_of(text.split(separator) if separator else [text])


def tags_of(values: Iterable[Any]) -> list[str]:
    """Return the different tags of a list, in order."""
    there = (str(value).strip() for value in values if not is_nothing(value))
    return list(dict.fromkeys(tag for tag in there if tag))


def _listed(text: str) -> list[Any] | None:
    """Return the list that a text spells in Python or JSON, as CSV files hold it; None if it spells none."""
    if text[:1] + text[-1:] != "[]":
        return None
    text = _NUMPY_TEXT.sub(r"\1", text)
    try:
        values = literal_eval(text)  # literals only: nothing is run
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    return values if isinstance(values, list) else None
