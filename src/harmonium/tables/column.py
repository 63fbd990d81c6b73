"""One column of a table, seen as whatever it may stand for: numbers, texts, lists or times."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd

from harmonium.tables.strings.formats import NumberFormat, date_format_of, dates_in, some_date_in
from harmonium.tables.strings.measures import MeasureFormat
from harmonium.tables.strings.naming import is_text_name

#: texts that stand for a missing value, in lower case
PLACEHOLDERS = frozenset({"", "?", "-", "na", "n/a", "#n/a", "nan", "nat", "null", "none", "<na>"})
# decimals of a whole number, as other types of the same column spell it
_DECIMALS = re.compile(r"^(-?\d+)\.0+$")


@dataclass(frozen=True)
class Column:
    """A column, and what can be read from it.

    Attributes
    ----------
    name : str
        Name of the column.
    series : narwhals.Series
        Its values, of any type.
    """

    name: str
    series: nw.Series

    def __len__(self) -> int:
        return len(self.series)

    # ---- what kind of values they are ------------------------------------------------------------------------------
    @cached_property
    def kind(self) -> str:
        """What the values are: "number", "bool", "time", "duration", "list", "text", "nothing" or "other"."""
        dtype = self.series.dtype
        if dtype == nw.Boolean:
            return "bool"
        if dtype.is_numeric():
            return "number"
        if dtype in (nw.Datetime, nw.Date):
            return "time"
        if dtype == nw.Duration:
            return "duration"
        if dtype in (nw.List, nw.Array):
            return "list"
        if dtype in (nw.String, nw.Categorical, nw.Enum):
            return "text"
        return self._kind_of_objects()

    def _kind_of_objects(self) -> str:
        """Return the kind of Python objects: that of all of them, or "text" if they are numbers and texts mixed."""
        kinds = {_kind_of(value) for value in self._objects if value is not None}
        if len(kinds) == 1:
            return kinds.pop()
        if kinds == {"number", "bool"}:
            return "number"
        if kinds <= {"number", "bool", "text"}:
            return "text" if kinds else "nothing"
        return "other"

    @property
    def values(self) -> list[Any]:
        """The values as Python objects, None where they are missing."""
        return self._objects

    @cached_property
    def _objects(self) -> list[Any]:
        """The values as Python objects, None where they are missing."""
        return [None if is_nothing(value) else value for value in self.series.to_list()]

    # ---- the values as something -----------------------------------------------------------------------------------
    @cached_property
    def is_declared(self) -> bool:
        """Whether the type of the column says that it holds categories, and they repeat."""
        return self.series.dtype in (nw.Categorical, nw.Enum) and self.n_distinct <= self.n_observed / 2

    @cached_property
    def number_format(self) -> NumberFormat | None:
        """How texts spell numbers, if nearly all of them do; None for everything that is no text."""
        return NumberFormat.of(self.texts) if self.kind == "text" and not self.is_declared else None

    @cached_property
    def measure_format(self) -> MeasureFormat | None:
        """How texts spell measures of several units or sides, if nearly all of them do, and they are no numbers."""
        is_plain = self.kind != "text" or self.is_declared or self.number_format is not None or bool(self.date_format)
        return None if is_plain else MeasureFormat.of(self.texts)

    @cached_property
    def numbers(self) -> np.ndarray | None:
        """The values as float64, NaN where they are missing; None if they are no numbers.

        Texts are numbers if nearly all of them are, with the same unit or currency, if any, as in "13%" or "$1,200".
        """
        if self.kind == "text":
            return None if self.number_format is None else self.number_format.read(self.texts)
        if self.kind in ("number", "bool"):
            return _as_float(self.series, self._objects)
        if self.kind == "duration":
            return np.array([np.nan if v is None else pd.Timedelta(v).total_seconds() for v in self._objects])
        return None

    @cached_property
    def texts(self) -> np.ndarray:
        """The values as texts without blanks around them, None where they are missing."""
        result = np.empty(len(self), dtype=object)
        for row, value in enumerate(self._objects):
            text = None if value is None else as_text(value)
            result[row] = None if text is None or text.lower() in PLACEHOLDERS else text
        return result

    @cached_property
    def plain_texts(self) -> np.ndarray:
        """The texts, in which whole numbers are spelled without decimals, as `as_text` spells numbers."""
        return np.array([text if text is None else _DECIMALS.sub(r"\1", text) for text in self.texts], dtype=object)

    @cached_property
    def date_format(self) -> str:
        """How texts spell dates, in the words of `harmonium.tables.strings.formats`, if nearly all do; otherwise empty.

        It is empty, too, if no time can be read from any of them, as those before 1677 are beyond what pandas counts.
        """
        order = date_format_of(self.texts) if self.kind == "text" and not self.is_declared else ""
        return order if order and some_date_in(self.texts, order) else ""

    @cached_property
    def times(self) -> pd.DatetimeIndex | None:
        """The values as times, NaT where they are missing; None if they are no times.

        Zones are left out, so that nine o'clock stays nine.
        """
        if self.kind == "text":
            return dates_in(self.texts, self.date_format) if self.date_format else None
        if self.kind != "time":
            return None
        local = [value.replace(tzinfo=None) if isinstance(value, datetime) else value for value in self._objects]
        return pd.DatetimeIndex(pd.to_datetime(pd.Series(local, dtype=object), errors="coerce"))

    @cached_property
    def lists(self) -> list[Sequence[Any] | None]:
        """The values as lists, None where they are missing; a value that is none is a list of itself."""
        return [
            None if value is None else list(value) if _kind_of(value) == "list" else [value] for value in self._objects
        ]

    @cached_property
    def observed(self) -> np.ndarray:
        """Texts of the values that are there."""
        return self.texts[self.texts != None]  # noqa: E711 (element by element)

    @cached_property
    def is_there(self) -> np.ndarray:
        """Mask of the rows that have a value."""
        if self.kind == "text":
            return np.array([text is not None for text in self.texts], dtype=bool)
        if self.kind == "number" and self.numbers is not None:
            return np.isfinite(self.numbers)
        return np.array([value is not None for value in self._objects], dtype=bool)

    @cached_property
    def n_observed(self) -> int:
        """Number of rows that have a value."""
        return int(self.is_there.sum())

    @cached_property
    def n_distinct(self) -> int:
        """Number of different values."""
        if self.kind == "number" and self.numbers is not None:
            return len(np.unique(self.numbers[np.isfinite(self.numbers)]))
        if self.kind == "list":
            return len({tuple(map(as_text, value)) for value in self.lists if value is not None})
        return len(set(self.observed))

    @cached_property
    def mean_words(self) -> float:
        """Mean number of words of a value, over different values."""
        different = set(self.observed)
        return sum(len(str(text).split()) for text in different) / max(len(different), 1)

    @property
    def holds_sentences(self) -> bool:
        """Whether the name says that values are texts, and they are more than single words."""
        return is_text_name(self.name) and self.mean_words >= 2

    def is_whole(self) -> bool:
        """Tell whether the values are whole numbers."""
        if self.numbers is None:
            return False
        known = self.numbers[np.isfinite(self.numbers)]
        return bool(len(known)) and bool((known == np.floor(known)).all())


def _kind_of(value: Any) -> str:
    """Return the kind of one Python object."""
    if isinstance(value, bool | np.bool_):
        return "bool"
    if isinstance(value, str):
        return "text"
    if isinstance(value, int | float | np.number):
        return "number"
    if isinstance(value, list | tuple | set | frozenset | np.ndarray | nw.Series) or hasattr(value, "__array__"):
        return "list"
    if isinstance(value, date | np.datetime64):  # datetimes are dates
        return "time"
    if isinstance(value, timedelta | np.timedelta64):
        return "duration"
    return "number" if hasattr(value, "__float__") else "other"


def is_nothing(value: Any) -> bool:
    """Tell whether a Python object stands for a missing value."""
    return (
        value is None
        or value is pd.NA
        or value is pd.NaT
        or (isinstance(value, float | np.floating) and value != value)
    )


def as_text(value: Any) -> str:
    """Return a value as text; whole numbers look the same as floats, which they become where some are missing."""
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value).strip()


def _as_float(series: nw.Series, objects: list[Any]) -> np.ndarray:
    """Return numbers as float64; what is not finite is missing."""
    if series.dtype.is_numeric() or series.dtype == nw.Boolean:
        numbers = np.asarray(series.cast(nw.Float64()).to_numpy(), dtype=np.float64)
    else:  # Python objects, such as decimals
        numbers = np.array([np.nan if value is None else float(value) for value in objects])
    return np.where(np.isfinite(numbers), numbers, np.nan)
