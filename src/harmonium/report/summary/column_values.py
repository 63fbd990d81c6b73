"""Values of a column as what filters, comparisons and column pages take: numbers, dates, classes, tags or texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import scipy.sparse

from harmonium.tables.column import Column, as_text
from harmonium.tables.strings.separators import separator_of, tags_in, tags_of

#: classes and tags that can be chosen from: a column of more different texts holds names or prose
MOST_NAMES = 200
_DAY = pd.Timedelta(days=1)


@dataclass(frozen=True, eq=False)
class ColumnValues:
    """What a column holds, row by row.

    Attributes
    ----------
    name : str
        Name of the column.
    kind : {"number", "date", "class", "tags", "text"}
        What the values are.
    numbers : ndarray of float or None
        Numbers, or dates as days since 1970; NaN where missing.
    names : list of str
        Classes or tags, the most frequent first.
    has : csc_array of bool of shape (n_rows, n_names) or None
        Which rows have which class or tags.
    is_there : ndarray of bool
        Which rows have a value.
    """

    name: str
    kind: str
    is_there: np.ndarray
    numbers: np.ndarray | None = None
    names: Sequence[str] = ()
    has: scipy.sparse.csc_array | None = None

    @property
    def can_filter(self) -> bool:
        """Whether one can choose among the values by a list or a range."""
        if self.numbers is not None:
            there = self.numbers[self.is_there]
            return len(there) > 0 and bool(there.min() < there.max())
        return len(self.names) > 1

    def codes(self) -> np.ndarray:
        """Return the class of each row as a number among the names; -1 where it is missing."""
        codes = np.full(len(self.is_there), -1)
        if self.has is not None:
            rows = self.has.tocoo()
            codes[rows.row] = rows.col
        return codes


def column_values(name: str, values: pd.Series) -> ColumnValues:
    """Return what a column holds.

    Parameters
    ----------
    name : str
        Name of the column.
    values : Series
        A value for each item.

    Returns
    -------
    ColumnValues
        Texts that spell numbers or dates are numbers and dates; texts with few different values are classes; lists, and
        texts that separate tags, are tags.

    Examples
    --------
    >>> column = column_values("place", pd.Series(["Porto", "Split", "Porto", None]))
    >>> column.kind, list(column.names), column.codes().tolist()
    ('class', ['Porto', 'Split'], [0, 1, 0, -1])
    >>> column_values("price", pd.Series(["€ 80", "€ 120"])).numbers.tolist()
    [80.0, 120.0]
    """
    column = Column(name, nw.from_native(values, series_only=True))
    there = column.is_there
    if column.kind == "list":
        return _tags(name, there, [None if value is None else tags_of(value) for value in column.lists])
    if column.kind != "bool" and column.numbers is not None:
        return ColumnValues(name, "number", np.isfinite(column.numbers), column.numbers)
    if column.times is not None:
        days = np.asarray((column.times - pd.Timestamp(0)) / _DAY, dtype=np.float64)
        return ColumnValues(name, "date", np.isfinite(days), days)
    separator = separator_of(column) if column.kind == "text" else None
    if separator is not None:
        return _tags(name, there, [None if text is None else tags_in(str(text), separator) for text in column.texts])
    texts = [None if text is None else as_text(text) for text in column.texts]
    names = set(texts) - {None}
    # one value for nearly every item is a name
    if len(names) > min(MOST_NAMES, max(2, int(there.sum()) // 4)):
        return ColumnValues(name, "text", there)
    return _named(name, "class", there, [None if text is None else [text] for text in texts])


def _tags(name: str, there: np.ndarray, rows: list[list[str] | None]) -> ColumnValues:
    return _named(name, "tags", there, rows)


def _named(name: str, kind: str, there: np.ndarray, rows: Sequence[Sequence[str] | None]) -> ColumnValues:
    """Return a column of classes or tags, of which the most frequent are kept."""
    counts = Counter(entry for row in rows for entry in row or ())
    names = [entry for entry, _ in counts.most_common(MOST_NAMES)]
    places = {entry: place for place, entry in enumerate(names)}
    pairs = [(row, places[entry]) for row, entries in enumerate(rows) for entry in entries or () if entry in places]
    at = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    shape = (len(rows), len(names))
    has = scipy.sparse.csc_array((np.ones(len(at), dtype=bool), (at[:, 0], at[:, 1])), shape=shape)
    return ColumnValues(name, kind, there, None, names, has)


def _rounded(numbers: np.ndarray) -> np.ndarray:
    """Return numbers with six digits, which tell apart whatever can be seen.

    Examples
    --------
    >>> _rounded(np.array([0.0, 1.23456789, -0.00123456789, 1234567.0])).tolist()
    [0.0, 1.23457, -0.00123457, 1234570.0]
    """
    size = np.floor(np.log10(np.maximum(np.abs(numbers), 1e-300))).astype(int)
    scale = 10.0 ** np.clip(5 - size, -300, 300)
    rounded: np.ndarray = np.where(numbers == 0, 0.0, np.round(numbers * scale) / scale)
    return rounded


def as_date(days: float) -> str:
    """Return a day since 1970 as it is written.

    Examples
    --------
    >>> as_date(19000)
    '2022-01-08'
    """
    return str(np.datetime64(0, "D") + int(np.floor(days)))


def plain_values(column: ColumnValues) -> dict[str, Any]:
    """Return the values as JSON can hold them: what a page filters and colours by.

    Parameters
    ----------
    column : ColumnValues
        The column.

    Returns
    -------
    dict
        ``kind``; ``names`` of classes or tags; and ``values``, one for each row: a number (dates as days since 1970),
        the number of a class, a list of numbers of tags, or None.

    Examples
    --------
    >>> plain_values(column_values("place", pd.Series(["Porto", "Split", "Porto", None])))
    {'kind': 'class', 'names': ['Porto', 'Split'], 'values': [0, 1, 0, None]}
    """
    values: Any
    if column.numbers is not None:
        numbers = np.where(column.is_there, column.numbers, 0.0)
        kept = np.floor(numbers).astype(int) if column.kind == "date" else _rounded(numbers)
        values = kept.astype(object)
        values[~column.is_there] = None
        return {"kind": column.kind, "names": [], "values": values.tolist()}
    if column.kind == "tags" and column.has is not None:
        by_row = column.has.tocsr()
        rows = np.split(by_row.indices, by_row.indptr[1:-1])
        values = [sorted(row.tolist()) if there else None for row, there in zip(rows, column.is_there, strict=True)]
    else:
        values = [int(code) if code >= 0 else None for code in column.codes()]
    return {"kind": column.kind, "names": list(column.names), "values": values}
