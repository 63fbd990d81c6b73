"""Filters of items by their columns, in the words of an address: ``place=Porto|Split``, ``price=50..80``."""

from __future__ import annotations

import numpy as np
import pandas as pd

from harmonium.core.validation import few_of, shown
from harmonium.report.summary.column_values import ColumnValues

#: what stands for rows without a value
MISSING = "(missing)"
#: between the ends of a range, and between names
RANGE, OR = "..", "|"


def matching(column: ColumnValues, values: pd.Series, wanted: str) -> np.ndarray:
    """Return which rows of a column match a filter.

    Parameters
    ----------
    column : ColumnValues
        The column.
    values : Series
        Its values as they are, in which texts are looked for.
    wanted : str
        For numbers and dates a range such as ``"50..80"``, one end of which may be empty, or one value; for classes and
        tags names with ``"|"`` between, any of which will do; for texts words that must all occur, whatever their case.
        ``"(missing)"`` stands for rows without a value.

    Returns
    -------
    ndarray of bool
        A truth value for each row.

    Raises
    ------
    ValueError
        If the filter cannot be read, in one sentence.

    Examples
    --------
    >>> from harmonium.report.summary.column_values import column_values
    >>> price = pd.Series([40.0, 60.0, None])
    >>> matching(column_values("price", price), price, "50..80").tolist()
    [False, True, False]
    >>> matching(column_values("price", price), price, "(missing)").tolist()
    [False, False, True]
    """
    if wanted == MISSING:
        return ~column.is_there
    if column.numbers is not None:
        low, high = (_end(column, text) for text in _ends(wanted))
        known = np.where(column.is_there, column.numbers, np.nan)
        known = np.floor(known) if column.kind == "date" else known
        return (known >= (-np.inf if low is None else low)) & (known <= (np.inf if high is None else high))
    if column.kind == "text":
        texts = values.fillna("").astype(str).str.casefold()
        found = np.ones(len(values), dtype=bool)
        for word in wanted.casefold().split():
            found &= texts.str.contains(word, regex=False).to_numpy(dtype=bool)
        return found & column.is_there
    assert column.has is not None
    names = wanted.split(OR)
    unknown = [name for name in names if name not in (*column.names, MISSING)]
    if unknown:
        raise ValueError(
            f"{column.name} must be one of {few_of(column.names)}; got {shown(unknown[0])}; correct the filter."
        )
    chosen = [column.names.index(name) for name in names if name != MISSING]
    found = np.asarray(column.has[:, chosen].sum(axis=1) > 0).ravel()
    return found | (~column.is_there if MISSING in names else False)


def _ends(wanted: str) -> tuple[str, str]:
    low, dots, high = wanted.partition(RANGE)
    return (low.strip(), high.strip()) if dots else (low.strip(), low.strip())


def _end(column: ColumnValues, text: str) -> float | None:
    """Return one end of a range; None if it is open."""
    if not text:
        return None
    try:
        if column.kind == "date":
            return float((pd.Timestamp(text).normalize() - pd.Timestamp(0)).days)
        value = float(text)
    except (ValueError, OverflowError):
        value = np.nan
    if np.isnan(value):
        what = "dates such as 2024-05-01..2024-06-30" if column.kind == "date" else "numbers such as 50..80"
        raise ValueError(f"{column.name} must be a range of {what}; got {text[:60]!r}; correct the filter.") from None
    return value


def inside(polygon: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Return which points lie inside a polygon.

    Parameters
    ----------
    polygon : ndarray of shape (n_corners, 2)
        Its corners, in order.
    points : ndarray of shape (n_points, 2)
        The points.

    Returns
    -------
    ndarray of bool
        A truth value for each point, by the even-odd rule.

    Examples
    --------
    >>> inside(np.array([[0, 0], [2, 0], [2, 2], [0, 2]]), np.array([[1.0, 1.0], [3.0, 1.0]])).tolist()
    [True, False]
    """
    x, y = points.T.astype(np.float64)
    found = np.zeros(len(points), dtype=bool)
    for (x1, y1), (x2, y2) in zip(polygon, np.roll(polygon, 1, axis=0), strict=True):
        if y1 != y2:
            found ^= ((y1 > y) != (y2 > y)) & (x < (x2 - x1) * (y - y1) / (y2 - y1) + x1)
    return found
