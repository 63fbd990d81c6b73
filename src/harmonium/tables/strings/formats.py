"""Formats of numbers and dates in texts: decided once for a column of training data, and kept for new data."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

#: share of the values that must agree for texts to be read as numbers or dates: a convention, which forgives typing
#: errors; what does not agree is missing
AGREEMENT = 0.95
# Texts by which the common case of prose is decided quickly, spread over the column.
_GLANCE = 50
#: signs and codes of currencies, as a regular expression
CURRENCY = r"[$€£¥₹]|usd|eur|gbp|chf|jpy|cny|inr"
# a sign, a currency, digits with marks between them, and a unit, of which only the digits have to be there
_NUMBER = re.compile(
    rf"^(?P<sign>[-+−]?) ?(?P<before>{CURRENCY}|) ?(?P<sign2>[-+−]?)(?P<digits>\d[\d.,' \u00a0\u202f]*|[.,]\d+)"
    rf"(?P<power>e[-+]?\d+)? ?(?P<after>%|‰|{CURRENCY}|°?[^\W\d_]{{0,12}})$"
)
# digits in groups of three; in India the groups before the last have two
_GROUPS = {
    ",": re.compile(r"^[1-9]\d{0,2}(?:,\d{3})+$|^[1-9]\d?(?:,\d{2})+,\d{3}$"),
    ".": re.compile(r"^[1-9]\d{0,2}(?:\.\d{3})+$"),
}
_TIME = r"(?:[T ]\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?)?"
_ZONE = re.compile(r"(?<=\d)(?:Z|[-+]\d{2}:?\d{2})$")
_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_MONTH = "|".join(f"{month[:3]}(?:{month[3:]})?" for month in _MONTHS)
_DATES = {
    "year": re.compile(rf"^\d{{4}}[-/.]\d{{1,2}}[-/.]\d{{1,2}}{_TIME}$"),
    "other": re.compile(rf"^(?P<first>\d{{1,2}})(?P<mark>[/.])(?P<second>\d{{1,2}})(?P=mark)\d{{4}}{_TIME}$"),
    "named": re.compile(
        rf"^(?:(?P<day>\d{{1,2}})[- ./]?(?P<month>{_MONTH})|(?P<month2>{_MONTH})\.? (?P<day2>\d{{1,2}}))(?:, ?|[- ./])"
        rf"(?P<year>\d{{4}}|\d{{2}})(?P<time>{_TIME})$",
        re.IGNORECASE,
    ),
}
# Two digits of a year from this on are of the last century: a convention of POSIX.
_LAST_CENTURY = 69


@dataclass(frozen=True)
class NumberFormat:
    """How the texts of a column spell numbers.

    Parameters
    ----------
    unit : str
        Currency or unit beside the digits, in lower case; may be empty.
    decimal : str
        Mark before decimals: a point or a comma.

    Examples
    --------
    >>> texts = np.array(["1.200,50 €", "80,00 €", None], dtype=object)
    >>> NumberFormat.of(texts), NumberFormat.of(texts).read(texts).tolist()
    (NumberFormat(unit='€', decimal=','), [1200.5, 80.0, nan])
    """

    unit: str
    decimal: str

    @classmethod
    def of(cls, texts: np.ndarray) -> NumberFormat | None:
        """Return the format that nearly all texts agree with; None if there is none."""
        there = [str(text).lower() for text in texts if text is not None]
        glance = glance_at(there)
        if sum(_NUMBER.match(text) is not None for text in glance) < 0.5 * len(glance) or not there:
            return None
        found = [match for match in map(_NUMBER.match, there) if match is not None]
        units = pd.Series([match["before"] + match["after"] for match in found])
        unit = str(units.mode()[0])
        digits = [_joined(match["digits"]) for match in found if match["before"] + match["after"] == unit]
        # the same number of digits behind a zero, as in postal codes, is nothing to count with
        codes = sum(re.match(r"^0\d+$", text) is not None for text in digits)
        if len(digits) < AGREEMENT * len(there) or codes > (1 - AGREEMENT) * len(there):
            return None
        form = cls(unit, decimal_mark(digits, bool(re.fullmatch(CURRENCY, unit))))
        return form if np.isfinite(form.read(texts)).sum() >= AGREEMENT * len(there) else None

    def read(self, texts: np.ndarray) -> np.ndarray:
        """Return the numbers; NaN for what has another unit, or is no number in this format."""
        return np.array([self._number(text) for text in texts], dtype=np.float64)

    def _number(self, text: Any) -> float:
        match = None if text is None else _NUMBER.match(str(text).lower())
        if match is None or match["before"] + match["after"] not in ("", self.unit):
            return np.nan
        value = number_in(_joined(match["digits"]), self.decimal, match["power"] or "")
        return -value if (match["sign"] or match["sign2"]) in ("-", "−") else value


def number_in(digits: str, decimal: str, power: str = "") -> float:
    """Return the number that digits spell with a mark before decimals; NaN if they spell none.

    Examples
    --------
    >>> number_in("1.234,5", ","), number_in("1.2.3", ".")
    (1234.5, nan)
    """
    other = "." if decimal == "," else ","
    whole, _, decimals = digits.partition(decimal)
    if other in whole and _GROUPS[other].match(whole) is None:
        return np.nan
    try:
        return float(f"{whole.replace(other, '') or 0}.{decimals or 0}{power}")
    except ValueError:
        return np.nan


def glance_at(texts: Any) -> Any:
    """Return some texts, spread over all."""
    return texts[:: max(1, len(texts) // _GLANCE)]


def _joined(digits: str) -> str:
    """Return digits without blanks and apostrophes between thousands."""
    return re.sub(r"[' \u00a0\u202f]", "", digits)


def decimal_mark(digits: list[str], is_money: bool) -> str:
    """Return the mark before decimals; one that only ever separates three digits may stand between thousands."""
    both = [text for text in digits if "," in text and "." in text]
    if both:
        return "," if both[0].rindex(",") > both[0].rindex(".") else "."
    with_comma = [text for text in digits if "," in text]
    if with_comma:
        return "." if all(_GROUPS[","].match(text) for text in with_comma) else ","
    with_point = [text for text in digits if "." in text]
    grouped = bool(with_point) and all(_GROUPS["."].match(text) for text in with_point)
    several = any(text.count(".") > 1 for text in with_point)
    return "," if grouped and (several or (is_money and len(with_point) < len(digits))) else "."


def date_format_of(texts: np.ndarray) -> str:
    """Return how nearly all texts spell dates; empty if they do not, or it is unclear.

    It is "year", "day" or "month" first, or "named" for English names of months.

    Examples
    --------
    >>> date_format_of(np.array(["2021-03-04 10:00", "2021-03-05"], dtype=object))
    'year'
    >>> date_format_of(np.array(["31/12/2021", "01/02/2022"], dtype=object))
    'day'
    >>> date_format_of(np.array(["25-Sep-21", "March 1, 2022"], dtype=object))
    'named'
    >>> date_format_of(np.array(["01/02/2022", "03/04/2022"], dtype=object))  # February or January?
    ''
    """
    there = [_ZONE.sub("", str(text)) for text in texts if text is not None]
    if not any(form.match(text) for form in _DATES.values() for text in glance_at(there)):
        return ""
    for order in ("year", "named"):
        if sum(_DATES[order].match(text) is not None for text in there) >= AGREEMENT * len(there):
            return order
    found = [match for match in map(_DATES["other"].match, there) if match is not None]
    days_first, months_first = (sum(int(match[part]) > 12 for match in found) for part in ("first", "second"))
    if len(found) < AGREEMENT * len(there) or days_first == months_first:
        return ""
    if min(days_first, months_first) > (1 - AGREEMENT) * len(there):
        return ""
    return "day" if days_first > months_first else "month"


def dates_in(texts: np.ndarray, order: str) -> pd.DatetimeIndex:
    """Return the times that texts spell in an order, by their own clock; NaT for what does not fit."""
    form = _DATES.get(order, _DATES["other"])
    plain = [None if text is None else _ZONE.sub("", str(text)) for text in texts]
    fitting = [None if text is None or form.match(text) is None else _iso(text, order) for text in plain]
    return pd.DatetimeIndex(pd.to_datetime(pd.Series(fitting, dtype=object), errors="coerce", format="mixed"))


def _iso(text: str, order: str) -> str:
    """Return a text that spells a date in an order with year, month and day in front.

    Examples
    --------
    >>> _iso("2021.3.4", "year"), _iso("31/12/2021 10:00", "day"), _iso("Sep 1, 70", "named")
    ('2021-3-4', '2021-12-31 10:00', '1970-09-01')
    """
    if order == "year":
        return re.sub(r"[/.]", "-", text[:10]) + text[10:]
    match = _DATES["named" if order == "named" else "other"].match(text)
    assert match is not None
    if order == "named":
        day, month = match["day"] or match["day2"], (match["month"] or match["month2"]).lower()
        number = 1 + next(place for place, name in enumerate(_MONTHS) if name.startswith(month))
        year = match["year"]
        century = "" if len(year) == 4 else "19" if int(year) >= _LAST_CENTURY else "20"
        return f"{century}{year}-{number:02d}-{int(day):02d}{match['time']}"
    day, month = (match["first"], match["second"]) if order == "day" else (match["second"], match["first"])
    rest = text[match.end("second") + 1 :]
    return f"{rest[:4]}-{int(month):02d}-{int(day):02d}{rest[4:]}"


def some_date_in(texts: np.ndarray, order: str) -> bool:
    """Tell whether a time can be read from at least one text.

    A few are tried first, as nearly always they suffice.

    Examples
    --------
    >>> some_date_in(np.array(["1492-10-12", "2021-03-05"], dtype=object), "year")
    True
    >>> some_date_in(np.array(["1492-10-12", None], dtype=object), "year")
    False
    """
    return any(bool(dates_in(part, order).notna().any()) for part in (glance_at(texts), texts))
