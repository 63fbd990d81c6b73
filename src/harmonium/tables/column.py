"""One column of a table, seen as whatever it may stand for: numbers, texts, lists or times."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd

#: texts that stand for a missing value, in lower case
PLACEHOLDERS = frozenset({"", "?", "-", "na", "n/a", "#n/a", "nan", "nat", "null", "<na>"})

# Share of the values that must agree for a text to be read as a number or a date: a convention, which forgives typing
# errors. What does not agree is missing.
_AGREEMENT = 0.95
# a number with an optional sign, thousands and decimals, between an optional currency and an optional unit
_NUMBER = (
    r"^(?P<before>[$€£¥]?) ?(?P<number>[-+]?(?:\d[\d,' ]*)?\.?\d+(?:e[-+]?\d+)?) ?(?P<after>%|[$€£¥]|[^\W\d_]{0,12})$"
)
_THOUSANDS = r"^[-+]?\d{1,3}(?:[,' ]\d{3})+(?:\.\d+)?$"
_DECIMAL_COMMA = r"^[-+]?\d+,\d+$"
_ISO_DATE = r"^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)?(?:Z|[-+]\d{2}:?\d{2})?$"
_OTHER_DATE = r"^\d{1,2}(?P<mark>[/.])\d{1,2}(?P=mark)\d{4}$"


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

    @cached_property
    def _objects(self) -> list[Any]:
        """The values as Python objects, None where they are missing."""
        return [None if _is_nothing(value) else value for value in self.series.to_list()]

    # ---- the values as something -----------------------------------------------------------------------------------
    @cached_property
    def numbers(self) -> np.ndarray | None:
        """The values as float64, NaN where they are missing; None if they are no numbers.

        Texts are numbers if nearly all of them are, with the same unit or currency, if any, as in "13%" or "$1,200".
        """
        if self.kind in ("number", "bool"):
            return _as_float(self.series, self._objects)
        if self.kind == "duration":
            return np.array([np.nan if v is None else v.total_seconds() for v in self._objects])
        return _parsed_numbers(self.texts) if self.kind == "text" else None

    @cached_property
    def texts(self) -> np.ndarray:
        """The values as texts without blanks around them, None where they are missing."""
        result = np.empty(len(self), dtype=object)
        for row, value in enumerate(self._objects):
            text = None if value is None else _as_text(value)
            result[row] = None if text is None or text.lower() in PLACEHOLDERS else text
        return result

    @cached_property
    def times(self) -> pd.DatetimeIndex | None:
        """The values as times without a zone, NaT where they are missing; None if they are no times."""
        if self.kind == "time":
            return _without_zone(pd.to_datetime(pd.Series(self._objects, dtype=object), errors="coerce", utc=True))
        return _parsed_times(self.texts) if self.kind == "text" else None

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
    def missing(self) -> float:
        """Share of the rows that have no value."""
        return 1.0 - self.n_observed / max(len(self), 1)

    @cached_property
    def n_observed(self) -> int:
        """Number of rows that have a value."""
        if self.kind == "text":
            return len(self.observed)
        if self.kind == "number" and self.numbers is not None:
            return int(np.isfinite(self.numbers).sum())
        return sum(value is not None for value in self._objects)

    @cached_property
    def n_distinct(self) -> int:
        """Number of different values."""
        if self.kind == "number" and self.numbers is not None:
            return len(np.unique(self.numbers[np.isfinite(self.numbers)]))
        if self.kind == "list":
            return len({tuple(map(_as_text, value)) for value in self.lists if value is not None})
        return len(set(self.observed))

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


def _is_nothing(value: Any) -> bool:
    """Tell whether a Python object stands for a missing value."""
    return value is None or value is pd.NA or value is pd.NaT or (isinstance(value, float) and value != value)


def _as_text(value: Any) -> str:
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


def _parsed_numbers(texts: np.ndarray) -> np.ndarray | None:
    """Return the numbers in texts, or None if not nearly all of them are numbers of one unit."""
    there = np.flatnonzero(texts != None)  # noqa: E711 (element by element)
    # the common case of prose is decided quickly
    if not len(there) or not any(re.match(_NUMBER, str(text).lower()) for text in texts[there[:20]]):
        return None
    parts = pd.Series(texts[there], dtype=object).str.lower().str.extract(_NUMBER)
    digits = parts["number"].fillna("").str.strip()
    # the same number of digits after a zero, as in postal codes: no numbers that one counts with
    if (digits.str.match(r"^0\d")).any():
        return None
    units = (parts["before"] + parts["after"])[parts["number"].notna()]
    if not len(units) or (units == units.mode()[0]).sum() < _AGREEMENT * len(there):
        return None
    plain = digits.where(~digits.str.match(_THOUSANDS), digits.str.replace(r"[,' ]", "", regex=True))
    plain = plain.where(~plain.str.match(_DECIMAL_COMMA), plain.str.replace(",", "."))
    values = np.asarray(pd.to_numeric(plain, errors="coerce"), dtype=np.float64)
    values[(parts["before"] + parts["after"]).to_numpy() != units.mode()[0]] = np.nan
    if np.isfinite(values).sum() < _AGREEMENT * len(there):
        return None
    result = np.full(len(texts), np.nan)
    result[there] = np.where(np.isfinite(values), values, np.nan)
    return result


def _parsed_times(texts: np.ndarray) -> pd.DatetimeIndex | None:
    """Return the times in texts, or None if not nearly all of them are dates that can be read in one way only."""
    there = pd.Series(texts[texts != None], dtype=object)  # noqa: E711 (element by element)
    if not len(there) or not re.match(r"^\d{1,4}[-/.]\d", str(there.iloc[0])):
        return None
    if there.str.match(_ISO_DATE).mean() >= _AGREEMENT:
        settings: dict[str, Any] = {"format": "ISO8601"}
    elif there.str.match(_OTHER_DATE).mean() >= _AGREEMENT:
        first, second = (pd.to_numeric(there.str.extract(rf"^{mark}")[0]) for mark in (r"(\d+)", r"\d+[/.](\d+)"))
        if (first > 12).any() == (second > 12).any():
            return None  # days and months cannot be told apart
        settings = {"format": "mixed", "dayfirst": bool((first > 12).any())}
    else:
        return None
    return _without_zone(pd.to_datetime(pd.Series(texts, dtype=object), errors="coerce", utc=True, **settings))


def _without_zone(times: pd.Series) -> pd.DatetimeIndex:
    """Return times without their zone."""
    return pd.DatetimeIndex(times.dt.tz_localize(None))
