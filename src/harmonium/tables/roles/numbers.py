"""Columns of numbers: quantities, counts, vectors and flags."""

from __future__ import annotations

from contextlib import suppress
from typing import Literal, Self

import numpy as np

from harmonium.core.validation import Choice
from harmonium.exceptions import InvalidViewError
from harmonium.families import Bernoulli, Gaussian
from harmonium.families.counts import LARGEST_COUNT, looks_like_counts
from harmonium.tables.base import Block, Reader
from harmonium.tables.column import Column
from harmonium.tables.strings.formats import NumberFormat
from harmonium.views import Views

#: numbers without a unit
PLAIN = NumberFormat("", ".")
NUMBERS, COUNTS, FLAGS = "numbers", "counts", "flags"

# Values bend towards this many robust standard deviations, so that a few outliers do not set the scale: the default of
# skrub's SquashingScaler.
_BORDER = 3.0
# Quartiles of a normal distribution lie this many standard deviations apart.
_QUARTILES = 1.349
# Skewness from 5 %, 50 % and 95 % quantiles (0 if symmetric, 1 at most) above which logarithms are tried: a convention.
_SKEWED = 0.3
# A column that looks like counts is read as such if its variance is at most this multiple of its mean; numbers that
# vary more (amounts of money with many zeros) do better on a log scale. A convention.
_DISPERSION = 5.0
_TRUE = frozenset({"true", "yes", "y", "t", "1"})
_FALSE = frozenset({"false", "no", "n", "f", "0"})


class Number(Reader):
    """Read a column of quantities, for a Gaussian view that all of them share.

    They are scaled by median and quartiles. Outliers are bent towards three robust standard deviations on either side.
    Texts such as "13%" or "$1,200" are numbers too.

    Parameters
    ----------
    scale : {"auto", "linear", "log"}, default="auto"
        "log" takes logarithms first (where there are zeros, after adding a little). "auto" does so for numbers that are
        never negative, are skewed to the right, and are less skewed after it, as prices are.

    Attributes
    ----------
    log_ : bool
        Whether logarithms are taken.
    shift_ : float
        What is added before: 0, or where there are zeros the smallest number above them, 1 at most.
    centre_, spread_ : float
        Median, and distance of the quartiles in units of a standard deviation.
    unit_, decimal_ : str
        How texts spell the numbers: their unit or currency, and the mark before decimals.

    Examples
    --------
    >>> import narwhals as nw, pandas as pd
    >>> column = Column("price", nw.from_native(pd.Series([5.0, 8, 13, 20, 900]), series_only=True))
    >>> Number().bind(column).note
    'log scale'
    """

    forgives_texts = True
    learned = {"log_": bool, "shift_": float, "centre_": float, "spread_": float, "unit_": str, "decimal_": str}
    settings = {"scale": Choice(("auto", "linear", "log"), remedy="'auto' looks at the data")}
    log_: bool
    shift_: float
    centre_: float
    spread_: float
    unit_: str
    decimal_: str

    def __init__(self, scale: Literal["auto", "linear", "log"] = "auto") -> None:
        self.scale = scale

    @classmethod
    def suits(cls, column: Column) -> bool:
        """Tell whether the values are numbers, whatever they are."""
        return column.numbers is not None

    def bind(self, column: Column) -> Self:
        """Return a copy that knows the scale."""
        values = numbers_of(column)
        known = values[np.isfinite(values)]
        smallest = known.min(initial=0.0)
        if self.scale == "log" and smallest < 0:
            raise InvalidViewError(
                f"Column {column.name!r} on a log scale needs numbers >= 0; found {smallest:g}; pass "
                "Number(scale='linear')."
            )
        shift = min(1.0, float(known[known > 0].min(initial=1.0))) if (known == 0).any() else 0.0
        log = self.scale == "log" or (self.scale == "auto" and smallest >= 0 and _is_better_as_log(known, shift))
        shift = shift if log else 0.0
        known = np.log(known + shift) if log else known
        centre, spread = _robust_scale(known)
        form = column.number_format or PLAIN
        fitted = {"log_": bool(log), "shift_": shift, "centre_": centre, "spread_": spread}
        return self.with_fitted(**fitted, unit_=form.unit, decimal_=form.decimal)

    def read(self, column: Column) -> list[Block]:
        """Return the scaled numbers; what has another unit or no logarithm is missing."""
        values = numbers_of(column, NumberFormat(self.unit_, self.decimal_))
        if self.log_:
            with np.errstate(invalid="ignore", divide="ignore"):
                values = np.where(values >= 0, np.log(values + self.shift_), np.nan)
            values = np.where(np.isfinite(values), values, np.nan)
        distance = (values - self.centre_) / self.spread_
        squashed = distance / np.sqrt(1 + (distance / _BORDER) ** 2)
        return [Block(squashed[:, None], [column.name], Gaussian(), NUMBERS)]

    @property
    def note(self) -> str:
        """The unit, and whether logarithms are taken."""
        return ", ".join(filter(None, [f"in {self.unit_}" if self.unit_ else "", "log scale" if self.log_ else ""]))


class Count(Reader):
    """Read a column of counts, for a view that all of them share.

    By itself it is chosen only for whole numbers that look like counts (from zero up, with a tail; see
    `harmonium.families.counts.looks_like_counts`) and whose variance is at most five times the mean. Other whole
    numbers (ages, years, prices, ratings) are quantities.

    Examples
    --------
    >>> import narwhals as nw, pandas as pd
    >>> children = Column("children", nw.from_native(pd.Series([0, 0, 1, 2, 0, 3, 1, 0]), series_only=True))
    >>> years = Column("year", nw.from_native(pd.Series([2013, 2014, 2014, 2015]), series_only=True))
    >>> Count.suits(children), Count.suits(years)
    (True, False)
    """

    forgives_texts = True

    @classmethod
    def suits(cls, column: Column) -> bool:
        """Tell whether the values behave like counts."""
        if not column.is_whole() or column.kind != "number":
            return False
        values = numbers_of(column)
        if np.nanmax(values, initial=0) > LARGEST_COUNT:  # identifiers may be too large for any view
            return False
        summary = Views({column.name: values[:, None]}).source(column.name).summary()
        return bool(looks_like_counts(summary)[0] and summary.variance[0] <= _DISPERSION * summary.mean[0])

    def bind(self, column: Column) -> Self:
        """Return a copy; nothing is learned."""
        values = numbers_of(column, PLAIN)
        known = values[np.isfinite(values)]
        if column.n_observed and not len(known):
            raise InvalidViewError(
                f"Column {column.name!r} as counts needs whole numbers without a unit; found {column.observed[0]!r}; "
                "use the role 'number'."
            )
        if (known < 0).any() or (known != np.floor(known)).any():
            wrong = known[(known < 0) | (known != np.floor(known))][0]
            raise InvalidViewError(
                f"Column {column.name!r} as counts needs whole numbers >= 0; found {wrong:g}; use the role 'number'."
            )
        return self.with_fitted()

    def read(self, column: Column) -> list[Block]:
        """Return the counts; what is none is missing."""
        values = numbers_of(column, PLAIN)
        with np.errstate(invalid="ignore"):
            values = np.where((values >= 0) & (values == np.floor(values)), values, np.nan)
        return [Block(values[:, None], [column.name], None, COUNTS)]


class Flag(Reader):
    """Read a column of truth values, for a Bernoulli view that all of them share.

    Zeros and ones and the pairs true/false, yes/no, y/n and t/f are truth values too.

    Examples
    --------
    >>> import narwhals as nw, pandas as pd
    >>> column = Column("open", nw.from_native(pd.Series(["Yes", "no", None]), series_only=True))
    >>> Flag().bind(column).read(column)[0].matrix.ravel().tolist()
    [1.0, 0.0, nan]
    """

    @classmethod
    def suits(cls, column: Column) -> bool:
        """Tell whether the values are truth values."""
        if column.kind == "bool":
            return True
        if column.kind not in ("number", "text"):
            return False
        found = {str(text).lower() for text in column.observed}
        return len(found) == 2 and len(found & _TRUE) == len(found & _FALSE) == 1

    def bind(self, column: Column) -> Self:
        """Return a copy; nothing is learned."""
        wrong = [text for text in column.observed if str(text).lower() not in _TRUE | _FALSE]
        if wrong:
            raise InvalidViewError(
                f"Column {column.name!r} as a flag needs true and false, yes and no, or 1 and 0; found {wrong[0]!r}; "
                "use the role 'category'."
            )
        return self.with_fitted()

    def read(self, column: Column) -> list[Block]:
        """Return zeros and ones; what is no truth value is missing."""
        lower = [None if text is None else str(text).lower() for text in column.plain_texts]
        values = [1.0 if text in _TRUE else 0.0 if text in _FALSE else np.nan for text in lower]
        return [Block(np.array(values)[:, None], [column.name], Bernoulli(), FLAGS)]


class Vector(Reader):
    """Read a column of vectors, such as embeddings, as a Gaussian view.

    All have the same length.

    Attributes
    ----------
    length_ : int
        Number of values of each vector.

    Examples
    --------
    >>> import narwhals as nw, pandas as pd
    >>> column = Column("embedding", nw.from_native(pd.Series([[0.5, 1.0], [2.0, 0.25]]), series_only=True))
    >>> Vector().bind(column).read(column)[0].columns
    ['embedding_0', 'embedding_1']
    """

    learned = {"length_": int}
    length_: int

    @classmethod
    def suits(cls, column: Column) -> bool:
        """Tell whether the values are lists of as many numbers, not all of them whole."""
        if column.kind != "list":
            return False
        lists = [values for values in column.lists if values is not None]
        if len({len(values) for values in lists}) != 1 or len(lists[0]) < 2:
            return False
        kinds = {type(cell) for values in lists for cell in values if cell is not None}
        numbers = all(issubclass(kind, int | float | np.number) for kind in kinds)
        return numbers and any(issubclass(kind, float | np.floating) for kind in kinds)

    def bind(self, column: Column) -> Self:
        """Return a copy that knows the length."""
        lengths = {len(values) for values in column.lists if values is not None}
        if column.kind != "list" or len(lengths) != 1:
            raise InvalidViewError(
                f"Column {column.name!r} as vectors needs lists of numbers, all of the same length; found others; use "
                "the role 'tags' or 'drop'."
            )
        bound = self.with_fitted(length_=lengths.pop())
        if bound.strange(column, bound.read(column)):
            raise InvalidViewError(
                f"Column {column.name!r} as vectors needs lists of numbers; found something else in them; use the role "
                "'tags' or 'drop'."
            )
        return bound

    def read(self, column: Column) -> list[Block]:
        """Return the vectors; what has another length, or is no numbers, is missing."""
        matrix = np.full((len(column), self.length_), np.nan)
        for row, values in enumerate(column.lists):
            if values is None:
                continue
            with suppress(TypeError, ValueError):
                vector = np.array(values, dtype=np.float64)
                if vector.shape == (self.length_,):
                    matrix[row] = np.where(np.isfinite(vector), vector, np.nan)
        return [Block(matrix, [f"{column.name}_{number}" for number in range(self.length_)], Gaussian())]


def numbers_of(column: Column, form: NumberFormat | None = None) -> np.ndarray:
    """Return the numbers of a column; refuse one that has none.

    Texts spell them in the given form, or else in one that nearly all of them share.
    """
    numbers = column.numbers if form is None or column.kind != "text" else form.read(column.texts)
    if numbers is not None:
        return numbers
    if column.kind == "nothing" or not column.n_observed:
        return np.full(len(column), np.nan)
    shown = next((text for text in column.observed), "something else")
    raise InvalidViewError(
        f"Column {column.name!r} must hold numbers; found {str(shown)[:40]!r}; use another role, such as 'category' or "
        "'words'."
    )


def _robust_scale(values: np.ndarray) -> tuple[float, float]:
    """Return centre and spread by quartiles; by mean square where more than half of the values are the same."""
    if not len(values):
        return 0.0, 1.0
    low, centre, high = np.quantile(values, [0.25, 0.5, 0.75])
    spread = (high - low) / _QUARTILES or float(values.std())
    return float(centre), float(spread) if np.isfinite(spread) and spread > 0 else 1.0


def _is_better_as_log(values: np.ndarray, shift: float) -> bool:
    """Tell whether numbers are skewed to the right, and less so after taking logarithms."""
    before = _skewness(values)
    return before > _SKEWED and abs(_skewness(np.log(values + shift))) < before


def _skewness(values: np.ndarray) -> float:
    """Return a skewness that outliers do not rule: 0 if symmetric, 1 if all of it lies on the right."""
    if not len(values):
        return 0.0
    low, middle, high = np.quantile(values, [0.05, 0.5, 0.95])
    return float((high + low - 2 * middle) / (high - low)) if high > low else 0.0
