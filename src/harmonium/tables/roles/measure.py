"""Columns of measures whose units differ, are added up, or that have several sides."""

from __future__ import annotations

from typing import Any, Self

import narwhals as nw
import numpy as np
import pandas as pd

from harmonium.exceptions import InvalidViewError
from harmonium.families import Categorical
from harmonium.tables.base import Block, Reader
from harmonium.tables.column import Column
from harmonium.tables.roles.categories import CATEGORIES
from harmonium.tables.roles.numbers import Number
from harmonium.tables.strings.measures import MeasureFormat


class Measure(Reader):
    """Read a column of measures in texts, as numbers and the kind of measure.

    Units of one system are converted, as in "1.5 lb" and "24 oz", and added up, as in "2 h 5 min"; the numbers of "90
    min" and "2 Seasons" are two columns, and so are the sides of "10 x 12 in" and the ends of "51-200 employees". A few
    texts without a number, such as "varies", may stand among them. Numbers join the view of numbers; which kind of
    measure a row has, if there are several, joins the view of categories.

    Attributes
    ----------
    decimal_ : str
        Mark before decimals.
    letter_m_ : {"m", "min", "million"}
        What the letter m stands for.
    shapes_ : list of str
        Kinds of measures, by their units, and texts without a number.
    parts_ : dict of str to dict
        Scales of the numbers, by their unit, as `Number` learns them.

    Examples
    --------
    >>> values = pd.Series(["90 min", "2 Seasons", "1 h 40 min", "3 Seasons", "1 Season", "80 min"] * 5)
    >>> column = Column("duration", nw.from_native(values, series_only=True))
    >>> reader = Measure().bind(column)
    >>> reader.note, [block.columns for block in reader.read(column)]
    ('in min, season', [['duration (min)'], ['duration (season)'], ['duration']])
    """

    forgives_texts = True
    learned = {"decimal_": str, "letter_m_": str, "shapes_": list, "parts_": dict}
    decimal_: str
    letter_m_: str
    shapes_: list[str]
    parts_: dict[str, dict[str, Any]]

    @classmethod
    def suits(cls, column: Column) -> bool:
        """Tell whether nearly all values are measures."""
        return column.measure_format is not None

    def bind(self, column: Column) -> Self:
        """Return a copy that knows the kinds of measures and the scales of their numbers."""
        form = MeasureFormat.of(column.texts)
        if form is None:
            raise InvalidViewError(
                f"Column {column.name!r} as measures needs numbers with units, such as '90 min'; found something else; "
                "use the role 'number', 'category' or 'words'."
            )
        parts = _numbers(column, form)
        scales = {part: Number().bind(numbers).facts() for part, numbers in sorted(parts.items())}
        return self.with_fitted(
            decimal_=form.decimal, letter_m_=form.letter_m, shapes_=list(form.shapes), parts_=scales
        )

    def read(self, column: Column) -> list[Block]:
        """Return the numbers and kinds of measures; what is no measure is missing."""
        form = MeasureFormat(self.decimal_, self.letter_m_, tuple(self.shapes_))
        found, blocks = _numbers(column, form), []
        for part, scale in self.parts_.items():
            numbers = found.get(part, _column(_title(column, part), np.full(len(column), np.nan)))
            blocks += Number().restore(scale).read(numbers)
        if len(self.shapes_) > 1:
            shapes = [None if (one := form.read(text)) is None else one.shape for text in column.texts]
            codes = pd.Index(self.shapes_).get_indexer(pd.Index(shapes, dtype=object)).astype(np.float64)
            codes[codes < 0] = np.nan
            names = [f"{column.name}={shape or 'number'}" for shape in self.shapes_]
            blocks.append(Block(codes[:, None], [column.name], Categorical(), CATEGORIES, names))
        return blocks

    @property
    def note(self) -> str:
        """The units."""
        return f"in {', '.join(part or 'numbers' for part in self.parts_)}"


def _numbers(column: Column, form: MeasureFormat) -> dict[str, Column]:
    """Return the numbers of each part of the measures in a column; NaN where there is none."""
    codes, values = pd.factorize(column.texts)
    parts: dict[str, np.ndarray] = {}
    for place, text in enumerate(values):
        measure = form.read(text)
        for part, number in ({} if measure is None else measure.numbers).items():
            parts.setdefault(part, np.full(len(values) + 1, np.nan))[place] = number
    # the last one, which is NaN, stands for what is missing
    return {part: _column(_title(column, part), numbers[codes]) for part, numbers in parts.items()}


def _title(column: Column, part: str) -> str:
    return f"{column.name} ({part})" if part else column.name


def _column(name: str, numbers: np.ndarray) -> Column:
    return Column(name, nw.from_native(pd.Series(numbers), series_only=True))
