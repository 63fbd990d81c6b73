"""Formats of measures in texts: numbers with units that differ, that are added up, or that stand beside each other."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from harmonium.tables.strings.formats import AGREEMENT, CURRENCY, decimal_mark, glance_at, number_in

# Units of one system, and what they are in its first.
_SYSTEMS: tuple[dict[str, float], ...] = (
    {"min": 1, "minute": 1, "s": 1 / 60, "sec": 1 / 60, "second": 1 / 60, "h": 60, "hr": 60, "hour": 60, "d": 1440}
    | {"day": 1440, "wk": 10080, "week": 10080},
    {"month": 1, "mo": 1, "yr": 12, "year": 12},
    {"kg": 1, "kilo": 1, "g": 1e-3, "gm": 1e-3, "gram": 1e-3, "mg": 1e-6, "lb": 0.45359237, "lbs": 0.45359237}
    | {"pound": 0.45359237, "oz": 0.028349523125, "ounce": 0.028349523125},
    {"m": 1, "mm": 1e-3, "cm": 1e-2, "km": 1e3, "in": 0.0254, "inch": 0.0254, "inche": 0.0254, '"': 0.0254, "″": 0.0254}
    | {"ft": 0.3048, "foot": 0.3048, "feet": 0.3048, "'": 0.3048, "′": 0.3048, "yd": 0.9144, "mi": 1609.344}
    | {"mile": 1609.344},
    {"l": 1, "liter": 1, "litre": 1, "ml": 1e-3, "cl": 1e-2, "dl": 0.1, "gal": 3.785411784, "gallon": 3.785411784},
    {"mb": 1, "kb": 1e-3, "gb": 1e3, "tb": 1e6},
)
_UNITS = {unit: (next(iter(system)), factor) for system in _SYSTEMS for unit, factor in system.items()}
_MULTIPLES = {"k": 1e3, "m": 1e6, "mn": 1e6, "b": 1e9, "bn": 1e9}
_HOURS = frozenset({"h", "hr", "hour"})
# Most shapes of measures, and most texts without a number beside them, that a column may have; fewest rows of one, as a
# share; fewest different numbers of a column that has such texts; and most numbers in a text. Conventions.
_MAX_SHAPES, _MAX_TEXTS, _FEWEST, _FEWEST_NUMBERS, _MAX_NUMBERS = 8, 3, 0.005, 5, 4
_RANGE = "low to high"
_LETTER = r"[^\W\d_]"
# a word that is no separator
_WORD = rf"(?!(?:x|by|to|and)(?!{_LETTER})){_LETTER}{{1,12}}\.?"
_ABOUT = re.compile(r"^(?:[~<>≤≥≈]|up to\b|about\b|approx\.?|from\b|over\b|under\b)\s*")
_TERM = re.compile(
    rf"(?P<before>{CURRENCY}|)\s?(?P<digits>\d[\d.,]*(?<![.,])|\.\d+)(?:(?:st|nd|rd|th)\b)?\+?(?:\s|-(?={_LETTER}))?"
    rf"(?P<after>%|‰|°[cf]?|[\"'′″]|{CURRENCY}|{_WORD}(?:[ /]{_WORD})?[²³]?|)"
)
_SEPARATOR = re.compile(r"\s*(?:(?P<beside>x\b|x(?=\d)|×|\*|by\b)|(?P<range>to\b|[-–])|(?P<added>,|and\b|&|))\s*")


@dataclass(frozen=True)
class Quantities:
    """The numbers in a text, each by the name of its part, and what the text looks like without them."""

    numbers: dict[str, float]
    shape: str


@dataclass(frozen=True)
class MeasureFormat:
    """How the texts of a column spell measures.

    Parameters
    ----------
    decimal : str
        Mark before decimals: a point or a comma.
    letter_m : {"m", "min", "million"}
        What the letter m stands for: meters; minutes, where there are hours; or millions, where there are thousands.
    shapes : tuple of str
        What texts look like without their numbers: units, "low to high", or texts that have none.

    Examples
    --------
    >>> texts = np.array(["90 min", "2 Seasons", "1 h 5 min", "1 Season", None] * 4, dtype=object)
    >>> form = MeasureFormat.of(texts)
    >>> form.shapes, [form.read(text).numbers for text in ("1 h 5 min", "1 Season")]
    (('min', 'season'), [{'min': 65.0}, {'season': 1.0}])
    """

    decimal: str
    letter_m: str
    shapes: tuple[str, ...]

    @classmethod
    def of(cls, texts: np.ndarray) -> MeasureFormat | None:
        """Return the format that nearly all texts agree with; None if there is none, or they are bare numbers."""
        there = pd.Series([str(text).lower() for text in texts if text is not None], dtype=object)
        if not any(_terms(text) for text in glance_at(there.tolist())):
            return None
        rows = there.value_counts(sort=False)
        terms = {text: _terms(text) for text in rows.index}
        found = [(text, term) for text, parts in terms.items() for term in parts or ()]
        digits = [term["digits"] for _, term in found]
        # the same number of digits behind a zero is nothing to count with
        codes = sum(int(rows[text]) for text, term in found if re.match(r"^0\d+$", term["digits"]))
        if not found or codes > (1 - AGREEMENT) * len(there):
            return None
        units = {_unit(term) for _, term in found}
        letter_m = "million" if "k" in units and units <= {"", *_MULTIPLES} else "min" if units & _HOURS else "m"
        trial = cls(decimal_mark(digits, bool({term["before"] for _, term in found} - {""})), letter_m, ())
        return trial._with_shapes(rows, {text: trial._measure(parts) for text, parts in terms.items() if parts})

    def _with_shapes(self, rows: pd.Series, measures: dict[str, Quantities | None]) -> MeasureFormat | None:
        """Return the format with the shapes that texts have, of which the numbers of rows are given."""
        shapes, words, numbers = Counter[str](), Counter[str](), set[float]()
        for text, n_rows in rows.items():
            measure = measures.get(str(text))
            if measure is not None:
                shapes[measure.shape] += int(n_rows)
                numbers |= set(measure.numbers.values())
            elif not re.search(r"\d", str(text)):
                words[str(text)] += int(n_rows)
        fewest = max(2, _FEWEST * rows.sum())
        kept = [shape for shape, n_rows in shapes.most_common(_MAX_SHAPES) if n_rows >= fewest]
        others = [text for text, n_rows in words.most_common(_MAX_TEXTS) if n_rows >= fewest] if kept else []
        covered = sum(shapes[shape] for shape in kept) + sum(words[text] for text in others)
        # ranges without a unit that do not repeat may be anything, such as telephone numbers
        has_unit = self.letter_m == "million" or not set(kept) <= {""}
        is_bare = not others and (not has_unit or (set(kept) <= {"", _RANGE} and len(rows) > rows.sum() / 2))
        is_code = bool(others) and len(numbers) < _FEWEST_NUMBERS
        if is_bare or is_code or covered < AGREEMENT * rows.sum():
            return None
        return replace(self, shapes=(*sorted(kept), *sorted(others)))

    def read(self, text: str | None) -> Quantities | None:
        """Return the measure in a text; None if there is none of a shape that is known."""
        if text is None:
            return None
        lower = str(text).lower()
        terms = _terms(lower)
        measure = Quantities({}, lower) if terms is None else self._measure(terms)
        return measure if measure is not None and measure.shape in self.shapes else None

    def _measure(self, terms: list[dict[str, str]]) -> Quantities | None:
        """Return what terms say together; None if they do not go together."""
        kinds = {term["kind"] for term in terms[1:]}
        values = [number_in(term["digits"], self.decimal) for term in terms]
        if np.isnan(values).any() or len(kinds) > 1:
            return None
        units = [_unit(term) for term in terms]
        if kinds in ({"beside"}, {"range"}):
            return self._in_a_row(units, values, kinds == {"range"})
        return self._added(units, values)

    def _in_a_row(self, units: list[str], values: list[float], is_range: bool) -> Quantities | None:
        """Return sides of a thing, or the ends of a range; a unit at the end holds for all."""
        units = [unit or units[-1] for unit in units]
        known = [self._converted(unit, value) for unit, value in zip(units, values, strict=True)]
        if len({base for base, _ in known}) > 1 or (is_range and (len(known) != 2 or known[0][1] > known[1][1])):
            return None
        base, names = known[0][0], ("low", "high") if is_range else tuple(str(n + 1) for n in range(len(known)))
        numbers = {f"{base} {name}".strip(): value for name, (_, value) in zip(names, known, strict=True)}
        return Quantities(numbers, f"{base} {_RANGE if is_range else ' x '.join(names)}".strip())

    def _added(self, units: list[str], values: list[float]) -> Quantities | None:
        """Return numbers of different units, those of one system added up."""
        if len(units) > 1 and ("" in units or len(set(units)) < len(units)):
            return None
        numbers: dict[str, float] = {}
        for unit, value in zip(units, values, strict=True):
            base, converted = self._converted(unit, value)
            numbers[base] = numbers.get(base, 0.0) + converted
        return Quantities(numbers, ", ".join(sorted(numbers)))

    def _converted(self, unit: str, value: float) -> tuple[str, float]:
        """Return a number in the first unit of its system."""
        if self.letter_m == "million":
            return "", value * _MULTIPLES.get(unit, 1.0)
        unit = self.letter_m if unit == "m" else unit
        base, factor = _UNITS.get(unit, (unit, 1.0))
        return base, value * factor


def _terms(text: str) -> list[dict[str, str]] | None:
    """Return the numbers of a text with what stands beside them; None if there is anything else in it."""
    place, kind, found = len(match[0]) if (match := _ABOUT.match(text)) else 0, "", list[dict[str, str]]()
    while len(found) < _MAX_NUMBERS:
        term = _TERM.match(text, place)
        if term is None:
            return None
        found.append({**term.groupdict(), "kind": kind})
        if text[term.end() :].strip(" +.") == "":
            return found
        separator = _SEPARATOR.match(text, term.end())
        if separator is None or (separator.end() == term.end() and not term["after"]):
            return None
        kind, place = str(separator.lastgroup), separator.end()
    return None


def _unit(term: dict[str, str]) -> str:
    """Return the unit of a term, in the singular."""
    unit = (term["before"] + term["after"]).replace(".", "")
    is_plural = unit.endswith("s") and len(unit) > 3 and not unit.endswith("ss")
    return unit[:-1] if is_plural else unit
