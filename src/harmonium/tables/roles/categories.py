"""Columns of categories, tags and times."""

from __future__ import annotations

import re
from collections import Counter
from functools import cached_property
from typing import Any, Self

import narwhals as nw
import numpy as np
import pandas as pd
import scipy.sparse

from harmonium.core.validation import IsInstance, Whole
from harmonium.exceptions import InvalidViewError
from harmonium.families import Bernoulli, Categorical, Gaussian
from harmonium.tables.base import Block, Reader, lacking_rows
from harmonium.tables.column import Column
from harmonium.tables.roles.numbers import NUMBERS
from harmonium.tables.strings.formats import dates_in
from harmonium.tables.strings.naming import is_code_name
from harmonium.tables.strings.ngrams import learned_ngrams, ngram_block, ngram_counter
from harmonium.tables.strings.separators import SEPARATORS, separator_of, tags_in, tags_of

CATEGORIES = "categories"

# Texts are categories if they repeat: this many rows a value on average, or this few values (the threshold of skrub's
# TableVectorizer), and this few words each. Whole numbers whose name says that they are codes need not repeat as often.
# All but the threshold are conventions.
_ROWS_A_VALUE = 5
_ROWS_A_CODE = 2
_FEW_VALUES = 40
_FEW_WORDS = 6


class Category(Reader):
    """Read a column of categories, for a Categorical view that all of them share.

    A category that occurs in fewer than ``min_rows`` rows of the training data, or in none of them, counts as missing.
    Where there are more than 40 texts, the linear part sees their characters as well, also those of other categories.

    Parameters
    ----------
    min_rows : int, default=2
        Smallest number of rows of a category.
    max_levels : int, default=1000
        Largest number of categories; the most frequent ones are kept.

    Attributes
    ----------
    levels_ : list of str
        The categories, in order.
    rare_ : list of str
        Categories of the training data that are too rare, in no order.
    ngrams_ : list of str
        Character n-grams of many texts, sorted; empty for others.

    Examples
    --------
    >>> import narwhals as nw, pandas as pd
    >>> column = Column("place", nw.from_native(pd.Series(["Rome", "Oslo", "Rome", "Oslo", "Bern"]), series_only=True))
    >>> reader = Category().bind(column)
    >>> reader.levels_, reader.read(column)[0].matrix.ravel().tolist()
    (['Oslo', 'Rome'], [1.0, 0.0, 1.0, 0.0, nan])
    """

    learned = {"levels_": list, "rare_": list, "ngrams_": list}
    added = {"ngrams_": []}
    settings = {"min_rows": Whole(remedy="2 is usual"), "max_levels": Whole(2, remedy="1000 is usual")}
    levels_: list[str]
    rare_: list[str]
    ngrams_: list[str]

    def __init__(self, min_rows: int = 2, max_levels: int = 1000) -> None:
        self.min_rows = min_rows
        self.max_levels = max_levels

    @classmethod
    def suits(cls, column: Column) -> bool:
        """Tell whether values repeat and have few words, or are codes by name."""
        if column.kind not in ("text", "number") or column.n_distinct < 2:
            return False
        if column.is_declared:
            return True
        if column.numbers is not None:
            repeats = column.n_observed >= _ROWS_A_CODE * column.n_distinct
            return repeats and column.is_whole() and is_code_name(column.name)
        repeats = column.n_observed >= _ROWS_A_VALUE * column.n_distinct
        few = column.n_distinct <= min(_FEW_VALUES, column.n_observed / 2)
        return (repeats or few) and column.mean_words <= _FEW_WORDS and not column.holds_sentences

    def bind(self, column: Column) -> Self:
        """Return a copy that knows the categories."""
        counts = Counter(column.observed)
        levels = [level for level, count in counts.most_common(self.max_levels) if count >= self.min_rows]
        if not levels:
            raise InvalidViewError(
                f"Column {column.name!r} as categories needs values that occur at least {self.min_rows} times; none "
                "does; use the role 'drop' or 'words'."
            )
        rare = sorted(set(counts) - set(levels))
        ngrams = learned_ngrams(column) if len(counts) > _FEW_VALUES and column.kind == "text" else []
        return self.with_fitted(levels_=_in_order(levels, column), rare_=rare, ngrams_=ngrams)

    def read(self, column: Column) -> list[Block]:
        """Return codes; a category that is not known is missing, but for its characters."""
        codes = self._codes(column).astype(np.float64)
        codes[codes < 0] = np.nan
        names = [f"{column.name}={level}" for level in self.levels_]
        block = Block(codes[:, None], [column.name], Categorical(), CATEGORIES, names)
        return [block, *([ngram_block(column, self.ngrams_, self._ngrams)] if self.ngrams_ else [])]

    def _codes(self, column: Column) -> np.ndarray:
        """Return the place of each category among the levels, -1 where it is none, whatever the type of the column."""
        levels = pd.Index(self.levels_)
        codes, plain = (
            levels.get_indexer(pd.Index(texts, dtype=object)) for texts in (column.texts, column.plain_texts)
        )
        return np.where(codes < 0, plain, codes)

    def strange(self, column: Column, blocks: list[Block]) -> int:
        """Return the number of rows of which neither category nor characters are known."""
        known = [*self.levels_, *self.rare_]
        is_known = [pd.Index(texts, dtype=object).isin(known) for texts in (column.texts, column.plain_texts)]
        is_new = column.is_there & ~np.logical_or(*is_known)
        return int((is_new & lacking_rows(column, blocks)).sum())

    @cached_property
    def _ngrams(self) -> Any:
        return ngram_counter(self.ngrams_)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in super().__getstate__().items() if name != "_ngrams"}

    @property
    def note(self) -> str:
        """Number of categories and of n-grams."""
        parts = [(self.levels_, "levels"), (self.rare_, "rare"), (self.ngrams_, "n-grams")]
        return ", ".join(f"{len(names):,} {what}" for names, what in parts if names)


# runs of letters and digits, as in texts that are searched for
_WORD = re.compile(r"\w+")


class Tags(Reader):
    """Read a column of tags as a Bernoulli view of its own.

    They are lists, or texts that separate tags by a mark.

    Parameters
    ----------
    separator : str, optional
        Mark between tags. By default it is the first of ``|``, ``;`` and ``,`` that makes tags of the texts.
    min_rows : int, default=2
        Smallest number of rows of a tag.
    max_features : int, default=5000
        Largest number of tags; the most frequent ones are kept.

    Attributes
    ----------
    mark_ : str
        The mark; empty for lists.
    tags_ : list of str
        The tags, sorted.

    Examples
    --------
    >>> import narwhals as nw, pandas as pd
    >>> column = Column("genre", nw.from_native(pd.Series(["drama|war", "war", "comedy|drama"]), series_only=True))
    >>> reader = Tags().bind(column)
    >>> reader.tags_, reader.read(column)[0].matrix.toarray().tolist()
    (['drama', 'war'], [[1.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
    """

    learned = {"mark_": str, "tags_": list}
    names_some = True
    settings = {
        "separator": IsInstance(str, "'|'"),
        "min_rows": Whole(remedy="2 is usual"),
        "max_features": Whole(remedy="5000 is usual"),
    }
    mark_: str
    tags_: list[str]

    def __init__(self, separator: str | None = None, min_rows: int = 2, max_features: int = 5000) -> None:
        self.separator = separator
        self.min_rows = min_rows
        self.max_features = max_features

    @classmethod
    def suits(cls, column: Column) -> bool:
        """Tell whether the values are lists, or texts that separate repeated words."""
        if column.kind != "text" or column.numbers is not None:
            return column.kind == "list"
        return separator_of(column) is not None

    def bind(self, column: Column) -> Self:
        """Return a copy that knows mark and tags."""
        found = "" if column.kind == "list" else separator_of(column)
        mark = self.separator or (next(iter(SEPARATORS)) if found is None else found)
        counts = Counter(tag for tags in _split(column, mark) if tags is not None for tag in tags)
        kept = sorted(tag for tag, count in counts.most_common(self.max_features) if count >= self.min_rows)
        if not kept:
            raise InvalidViewError(
                f"Column {column.name!r} as tags needs tags that occur in at least {self.min_rows} rows; none does; "
                "use the role 'drop' or 'words'."
            )
        return self.with_fitted(mark_=mark, tags_=kept)

    def read(self, column: Column) -> list[Block]:
        """Return which tags each row has; tags that are not known are left out."""
        rows = _split(column, self.mark_)
        places = self._places
        cells = [(row, places[tag]) for row, tags in enumerate(rows) for tag in tags or () if tag in places]
        row_numbers, columns = np.array(cells, dtype=np.int64).reshape(-1, 2).T
        shape = len(rows), len(self.tags_)
        matrix = scipy.sparse.csr_array((np.ones(len(cells), dtype=np.float32), (row_numbers, columns)), shape=shape)
        return [Block(matrix, self.tags_, Bernoulli(), present=np.array([tags is not None for tags in rows]))]

    def said_in(self, text: str) -> Any:
        """Return the tags whose words follow each other in the text, in any case."""
        said = f" {' '.join(_WORD.findall(text.lower()))} "
        return [tag for tag, words in zip(self.tags_, self._spoken, strict=True) if words in said] or None

    @cached_property
    def _places(self) -> dict[str, int]:
        """The column of each tag."""
        return {tag: place for place, tag in enumerate(self.tags_)}

    @cached_property
    def _spoken(self) -> list[str]:
        """The words of each tag, as a text would have them."""
        return [f" {' '.join(_WORD.findall(tag.lower()))} " for tag in self.tags_]

    @property
    def note(self) -> str:
        """The mark between tags."""
        return f"separated by {self.mark_!r}" if self.mark_ else "lists"


class Date(Reader):
    """Read a column of times as parts.

    They are a number for the trend, and categories for month, weekday and hour, which join the views of numbers and of
    categories. Parts that never vary are left out. Texts are times if they are dates of ISO 8601, have English names of
    months ("31-Dec-24", "December 31, 2024"), or are of the form 31/12/2024 where days and months can be told apart.

    Attributes
    ----------
    parts_ : dict of str to list of int
        Months (0 to 11), weekdays (0 is Monday) and hours that occur, for parts that vary.
    centre_, spread_ : float
        Mean and standard deviation of the time, in days since 1970.
    order_ : {"year", "day", "month", "named", ""}
        What comes first in texts that are dates, or that months have names.

    Examples
    --------
    >>> import narwhals as nw, pandas as pd
    >>> column = Column("day", nw.from_native(pd.Series(["2024-01-31", "2024-02-29"]), series_only=True))
    >>> Date().bind(column).note
    'trend, month, weekday'
    """

    forgives_texts = True
    learned = {"parts_": dict, "centre_": float, "spread_": float, "order_": str}
    parts_: dict[str, list[int]]
    centre_: float
    spread_: float
    order_: str

    @classmethod
    def suits(cls, column: Column) -> bool:
        """Tell whether the values are times."""
        return column.times is not None

    def bind(self, column: Column) -> Self:
        """Return a copy that knows which parts vary."""
        times = _times_of(column)
        known = times[times.notna()]
        days = _days(known)
        found = {part: np.unique(codes).astype(int).tolist() for part, codes in _parts(known).items()}
        parts = {part: codes for part, codes in found.items() if len(codes) > 1}
        spread = float(days.std()) if len(days) else 0.0
        centre = float(days.mean()) if len(days) else 0.0
        return self.with_fitted(parts_=parts, centre_=centre, spread_=spread or 1.0, order_=column.date_format)

    def read(self, column: Column) -> list[Block]:
        """Return the trend and the parts; what is no date in that order is missing."""
        times = _times_of(column, self.order_ or "year")  # texts where times were learned are ISO 8601
        trend = (_days(times) - self.centre_) / self.spread_
        blocks = [Block(trend[:, None], [column.name], Gaussian(), NUMBERS)]
        found = _parts(times)
        for part, known in self.parts_.items():
            codes = pd.Index(known).get_indexer(pd.Index(found[part])).astype(np.float64)
            codes[codes < 0] = np.nan
            label = f"{column.name}_{part}"
            names = [f"{label}={_LEVELS[part][code]}" for code in known]
            blocks.append(Block(codes[:, None], [label], Categorical(), CATEGORIES, names))
        return blocks

    @property
    def note(self) -> str:
        """The parts."""
        return ", ".join(["trend", *self.parts_])


_LEVELS: dict[str, list[Any]] = {
    "month": list(range(1, 13)),
    "weekday": ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"],
    "hour": list(range(24)),
}


def _parts(times: pd.DatetimeIndex) -> dict[str, np.ndarray]:
    """Return the codes of all parts, NaN where a time is missing."""
    parts = {"month": times.month - 1, "weekday": times.weekday, "hour": times.hour}
    return {name: np.asarray(values, dtype=np.float64) for name, values in parts.items()}


def _days(times: pd.DatetimeIndex) -> np.ndarray:
    """Return times as days since 1970."""
    return np.asarray((times - pd.Timestamp(0)) / pd.Timedelta(days=1), dtype=np.float64)


def _times_of(column: Column, order: str = "") -> pd.DatetimeIndex:
    """Return the times of a column; refuse one that has none.

    Texts spell them in the given order, or else in one that nearly all of them share.
    """
    times = column.times if not order or column.kind != "text" else dates_in(column.texts, order)
    if times is not None:
        return times
    if column.kind == "nothing" or not column.n_observed:
        return pd.DatetimeIndex([pd.NaT] * len(column))
    raise InvalidViewError(
        f"Column {column.name!r} must hold times; found {str(column.texts[column.texts != None][0])[:40]!r}; "  # noqa: E711
        "convert it with pandas.to_datetime."
    )


def _in_order(levels: list[str], column: Column) -> list[str]:
    """Return levels in the order that the column gives them, or else sorted, numbers by size."""
    given = _given_order(column)
    place = {level: number for number, level in enumerate(given)}
    if set(levels) <= set(place):
        return sorted(levels, key=place.__getitem__)
    try:
        return sorted(levels, key=float)
    except ValueError:
        return sorted(levels)


def _given_order(column: Column) -> list[str]:
    """Return the categories of a column whose type lists them."""
    dtype = column.series.dtype
    return [str(level).strip() for level in dtype.categories] if isinstance(dtype, nw.Enum) else []


def _split(column: Column, mark: str) -> list[list[str] | None]:
    """Return the tags of each row, None where they are missing."""
    if column.kind == "list":
        return [None if values is None else tags_of(values) for values in column.lists]
    return [None if text is None else tags_in(str(text), mark) for text in column.texts]
