"""Columns that tell nothing: constants and identifiers."""

from __future__ import annotations

import re
from collections import Counter
from typing import Self

import numpy as np

from harmonium.tables.base import Block, Reader
from harmonium.tables.column import Column
from harmonium.tables.strings.naming import is_id_name
from harmonium.tables.strings.separators import separator_of

# Below this many rows nothing is taken for an identifier: a convention.
_FEWEST_ROWS = 20
# Identifiers have at most this many rows a value on average, and texts this many words: conventions.
_ROWS_A_VALUE = 1.05
_WORDS = 1.5
# Single words that differ in nearly all rows are codes or addresses, and no identifiers, if parts of them repeat: parts
# that this many rows have, but not nearly all of them, are in this share of the rows on average. Conventions.
_ROWS_A_PART, _NEARLY_ALL, _PARTS_A_ROW = 5, 0.95, 0.5
# parts: what stands between marks, and runs of letters in it
_PART = re.compile(r"[^\W_]+")
_LETTERS = re.compile(r"[^\W\d_]{3,}")
# hashes and the like, whose parts repeat by chance
_HEXADECIMAL = re.compile(r"(?i)^(?:0x)?[0-9a-f-]{8,}$")


class Drop(Reader):
    """Leave a column out.

    By itself it is chosen for columns that are empty or never vary, and for identifiers: whole numbers in a row from 0
    or 1, single words that differ in nearly all rows and whose parts do not repeat, and whole numbers that differ and
    are called id or the like.

    Attributes
    ----------
    reason_ : str
        Why the column is left out.

    Examples
    --------
    >>> import narwhals as nw, pandas as pd
    >>> column = Column("row", nw.from_native(pd.Series(range(30)), series_only=True))
    >>> Drop().bind(column).note
    'an identifier'
    """

    learned = {"reason_": str}
    reason_: str

    @classmethod
    def suits(cls, column: Column) -> bool:
        """Tell whether the column tells nothing."""
        return bool(_reason(column))

    def bind(self, column: Column) -> Self:
        """Return a copy that knows the reason."""
        return self.with_fitted(reason_=_reason(column) or "as asked")

    def read(self, column: Column) -> list[Block]:
        """Return nothing."""
        return []

    @property
    def note(self) -> str:
        """The reason."""
        return self.reason_


def _reason(column: Column) -> str:
    """Return why a column tells nothing; an empty text if it may tell something."""
    if not column.n_observed:
        return "empty"
    if column.kind == "other":
        return "neither numbers, texts, times nor lists"
    if column.n_distinct == 1:
        return "always the same"
    return "an identifier" if _is_identifier(column) else ""


def _is_identifier(column: Column) -> bool:
    """Tell whether values name rows."""
    if column.n_observed < _FEWEST_ROWS or column.n_observed > _ROWS_A_VALUE * column.n_distinct:
        return False
    if column.kind == "number" and column.is_whole():
        assert column.numbers is not None
        known = np.sort(column.numbers[np.isfinite(column.numbers)])
        # numbers of rows; years in a row do not begin at zero or one
        in_a_row = known[0] in (0, 1) and known[-1] - known[0] + 1 <= _ROWS_A_VALUE * len(known)
        return bool(in_a_row) or is_id_name(column.name)
    if column.kind != "text" or column.times is not None or separator_of(column) is not None:
        return False
    if column.numbers is not None or column.measure_format is not None:
        return is_id_name(column.name)
    is_short = sum(len(str(text).split()) for text in column.observed) <= _WORDS * column.n_observed
    return is_short and not _has_repeated_parts([str(text) for text in column.observed])


def _has_repeated_parts(texts: list[str]) -> bool:
    """Tell whether parts of different words repeat, as in addresses of pages and codes of products.

    Examples
    --------
    >>> _has_repeated_parts([f"https://shop.org/{kind}/{n}" for n in range(20) for kind in ("hats", "bags")])
    True
    >>> _has_repeated_parts([f"s{n}" for n in range(40)])
    False
    """
    if sum(_HEXADECIMAL.match(text) is not None for text in texts) > 0.5 * len(texts):
        return False
    rows = Counter(part for text in texts for part in {*_PART.findall(text), *_LETTERS.findall(text)})
    repeated = sum(n for n in rows.values() if _ROWS_A_PART <= n <= _NEARLY_ALL * len(texts))
    return repeated >= _PARTS_A_ROW * len(texts)
